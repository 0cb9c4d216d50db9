"""Visuals over HTTP: refusals, raw configurations untouched, one active at a time, what an instance shows of it."""

import asyncio
from typing import Any

import pytest

from afterword.asking.questionnaires import visuals
from tests.asking.questionnaires.http import Api
from tests.conftest import House

VISUAL = {
    "visual_id", "questionnaire_id", "title", "active", "configuration", "problems", "created_time", "updated_time",
    "created_by", "updated_by",
}  # fmt: skip
RAW = {"z": 1.0, "color_primary": "#0B6E4F", "a": {"nested": [None, "ä", 1e3]}, "font": "serif"}


@pytest.fixture
def path(house: House) -> str:
    return f"/q/questionnaire/{house.questionnaire_id}/visual"


async def made(api: Api, path: str, **more: Any) -> dict[str, Any]:
    response = await api.post(path, {"title": "Green", "configuration": RAW, **more})
    assert 201 == response.status_code, response.text
    return response.json()


class TestRefused:
    async def test_configuration(self, api: Api, path: str) -> None:
        assert [("/configuration", "required")] == api.wrong(await api.post(path, {"title": "Green"}))
        one = f"{path}/{(await made(api, path))['visual_id']}"
        for configuration, code in (([1], "wrong_type"), ({"mine": "x" * 65_536}, "too_long")):
            wrong = {"configuration": configuration}
            assert [("/configuration", code)] == api.wrong(await api.post(path, {"title": "Green", **wrong}))
            assert [("/configuration", code)] == api.wrong(await api.patch(one, wrong))

    async def test_too_many(self, api: Api, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(visuals, "VISUALS_MAX", 1)
        await made(api, path)
        assert [("", "too_many")] == api.wrong(await api.post(path, {"title": "Second", "configuration": {}}))


class TestRaw:
    async def test_untouched(self, api: Api, path: str) -> None:
        """Key by key in the order that was sent, numbers as they were, unknown keys too."""
        visual = await made(api, path)
        assert VISUAL == visual.keys()
        assert (RAW, list(RAW)) == (visual["configuration"], list(visual["configuration"]))
        response = await api.get(f"{path}/{visual['visual_id']}")
        assert (visual, list(RAW)) == (response.json(), list(response.json()["configuration"]))
        assert '"z":1.0' in response.text
        assert [visual] == (await api.get(path)).json()

    async def test_what_pages_cannot_use_is_kept_and_told(self, api: Api, path: str) -> None:
        cases: tuple[tuple[dict[str, Any], str, str], ...] = (
            ({"color_primary": "red"}, "color_primary", "invalid_format"),
            ({"color_text": "#777777", "color_background": "#888888"}, "color_text", "out_of_range"),
            ({"logo": "https://example.com/a.png"}, "logo", "invalid_format"),
            ({"corner_radius": 25}, "corner_radius", "out_of_range"),
            ({"corner_radius": "wide"}, "corner_radius", "wrong_type"),
            ({"layout": "carousel"}, "layout", "unknown_value"),
            ({"widget": {"side": "left"}}, "widget", "unknown_member"),
        )
        for configuration, key, code in cases:
            visual = await made(api, path, configuration=configuration, active=True)
            assert configuration == visual["configuration"]
            assert [(key, code)] == [(one["key"], one["code"]) for one in visual["problems"]]
            assert visual == (await api.get(f"{path}/{visual['visual_id']}")).json()
            sources = (await api.get(f"{path.removesuffix('visual')}theme")).json()["sources"]
            assert key not in sources or key == "color_text", "pages show a colour that can be read in its place"

    async def test_empty(self, api: Api, path: str) -> None:
        assert {} == (await made(api, path, configuration={}))["configuration"]

    async def test_replaced_as_a_whole(self, api: Api, path: str) -> None:
        place = f"{path}/{(await made(api, path))['visual_id']}"
        changed = await api.patch(place, {"configuration": {"font": "mono"}})
        assert ({"font": "mono"}, "Green", '"2"') == (
            changed.json()["configuration"], changed.json()["title"], changed.headers["ETag"]
        )  # fmt: skip

    async def test_nothing_changed(self, api: Api, path: str) -> None:
        visual = await made(api, path)
        again = await api.patch(f"{path}/{visual['visual_id']}", visual)
        assert (visual, '"1"') == (again.json(), again.headers["ETag"])


class TestActive:
    async def active(self, api: Api, path: str) -> list[str]:
        return [one["title"] for one in (await api.get(path)).json() if one["active"]]

    async def test_one(self, api: Api, path: str) -> None:
        """Activating one ends the other, at its creation and by PATCH."""
        assert [] == await self.active(api, path)
        green = await made(api, path, active=True)
        blue = await made(api, path, title="Blue", active=True)
        assert ["Blue"] == await self.active(api, path)
        ended = await api.get(f"{path}/{green['visual_id']}")
        assert ('"2"', False) == (ended.headers["ETag"], ended.json()["active"])
        assert (await api.patch(f"{path}/{green['visual_id']}", {"active": True})).json()["active"]
        assert ["Green"] == await self.active(api, path)
        await api.patch(f"{path}/{green['visual_id']}", {"active": False})
        assert [] == await self.active(api, path)
        assert blue["configuration"] == RAW

    async def test_at_the_same_moment(self, api: Api, path: str) -> None:
        places = [f"{path}/{(await made(api, path, title=str(n)))['visual_id']}" for n in range(3)]
        replies = await asyncio.gather(*(api.patch(place, {"active": True}) for place in places))
        assert {200} == {reply.status_code for reply in replies}
        assert 1 == len(await self.active(api, path))

    async def test_instance_content(self, api: Api, path: str) -> None:
        made_there = await api.post(f"/q/questionnaire/{api.house.questionnaire_id}/instance")
        content = f"/q/instance/{made_there.json()['instance_id']}/content"
        await made(api, path, configuration={"font": "mono"})
        assert (await api.get(content)).json()["visual"] is None
        await made(api, path, active=True)
        assert RAW == (await api.get(content)).json()["visual"]


class TestTheme:
    async def test_inherited(self, api: Api, path: str) -> None:
        """From the organization, the application and the active visual, on pages too; others may not read it."""
        place = path.replace("/visual", "/theme")
        plain = (await api.get(place)).json()
        assert (None, "system", {}) == (plain["color_primary"], plain["font"], plain["sources"])
        house = api.house
        for address, brand in (
            (f"/organization/{house.organization_id}", {"color_primary": "#ffdd00", "font": "slab"}),
            (f"/application/{house.application_id}", {"font": "mono", "density": "compact"}),
        ):
            assert 200 == (await api.patch(address, {"brand": brand})).status_code
            assert [("/brand/font", "unknown_value")] == api.wrong(await api.patch(address, {"brand": {"font": "a"}}))
        visual = await made(
            api, path, configuration={"corner_radius": 3, "font": None, "widget": {"side": "left"}}, active=True
        )
        theme = (await api.get(place)).json()
        assert ("#ffdd00", "mono", "compact", 3, visual["visual_id"]) == tuple(
            theme[name] for name in ("color_primary", "font", "density", "corner_radius", "visual_id")
        )
        assert theme["sources"] == {
            "color_primary": "organization", "font": "application", "density": "application", "corner_radius": "visual",
        }  # fmt: skip
        assert ([], ["widget"]) == (plain["unused"], theme["unused"])
        link = next(each for each in theme["contrasts"] if (each["subject"], each["scheme"]) == ("link", "light"))
        assert (False, True) == (link["is_enough"], link["shown_ratio"] >= 4.5)
        issued = (await api.post(path.replace("/visual", "/instance"), {})).json()
        page = await api.client.get(f"/a/{issued['instance_id']}")
        assert "/theme/pffdd00fmonor3c.css" in page.text.replace("&#x2f;", "/")
        other = await api.token(application_ids=[await api.application()])
        assert 404 == (await api.get(place, token=other)).status_code
