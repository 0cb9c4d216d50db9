"""Organizations and their billing over HTTP: refusals, then what comes of the rest."""

import base64

import pytest

from tests.tenants.organizations.conftest import Desk


class TestOrganization:
    async def test_ok(self, desk: Desk) -> None:
        path = f"/organization/{desk.house.organization_id}"
        before = await desk.ask("GET", path)
        assert "demo" == before.json()["domain"]
        change = {
            "default_locale": "EL_gr",
            "time_zone": "America/New_York",
            "minimum_base": 9,
            "first_weekday": 7,
        }
        reply = await desk.ask("PATCH", path, json={**change, "domain": "stolen"})
        after = reply.json()
        assert 200 == reply.status_code
        assert ("demo", "el-gr", 9, 7) == tuple(
            after[n] for n in ("domain", "default_locale", "minimum_base", "first_weekday")
        )
        assert after["created_time"].endswith(("-05:00", "-04:00"))  # its own zone, at once
        assert after == (await desk.ask("GET", path)).json()
        stale = await desk.ask("PATCH", path, json={"minimum_base": 10}, headers={"If-Match": before.headers["etag"]})
        assert 412 == stale.status_code

    async def test_no_change(self, desk: Desk) -> None:
        path = f"/organization/{desk.house.organization_id}"
        before = await desk.ask("GET", path)
        after = await desk.ask("PATCH", path, json=before.json())  # the whole model, sent back
        assert (200, before.headers["etag"], before.json()) == (after.status_code, after.headers["etag"], after.json())

    async def test_null_clears(self, desk: Desk) -> None:
        path = f"/organization/{desk.house.organization_id}"
        await desk.ask("PATCH", path, json={"legal_name": "Demo SA"})
        after = (await desk.ask("PATCH", path, json={"legal_name": None})).json()
        assert after["legal_name"] is None

    @pytest.mark.parametrize("name", ["anonymize_after_days", "delete_after_days"])
    async def test_retention(self, desk: Desk, name: str) -> None:
        path = f"/organization/{desk.house.organization_id}"
        assert 60 == (await desk.ask("PATCH", path, json={name: 60})).json()[name]
        assert 60 == (await desk.ask("GET", f"{path}/retention")).json()[name]
        refused = await desk.ask("PATCH", path, json={name: 0})
        assert (422, [f"/{name}"]) == (refused.status_code, [each["pointer"] for each in refused.json()["errors"]])
        assert (await desk.ask("PATCH", path, json={name: None})).json()[name] is None

    async def test_languages_logo_and_address(self, desk: Desk) -> None:
        path = f"/organization/{desk.house.organization_id}"
        for wrong, pointer in (
            ({"brand": {"logo": "data:image/png;base64,AAAA"}}, "/brand/logo"),
            ({"brand": {"logo": "https://shop.example/logo.png"}}, "/brand/logo"),
            ({"brand": {"logo": f"/asset/{'0' * 22}/{'0' * 10}-1x1.png"}}, "/brand/logo"),
            ({"brand": {"font": "comic"}}, "/brand/font"),
            ({"brand": {"layout": "one_page"}}, "/brand/layout"),
            ({"brand": None}, "/brand"),
            ({"postal_address": "a" * 501}, "/postal_address"),
            ({"locales": ["xx-yy-zz-?"]}, "/locales/0"),
            ({"locales": ["el", "de"]}, "/default_locale"),
        ):
            refused = await desk.ask("PATCH", path, json=wrong)
            assert 422 == refused.status_code, wrong
            assert pointer == refused.json()["errors"][0]["pointer"]
        logo = f"data:image/png;base64,{base64.b64encode(bytes.fromhex('89504e470d0a1a0a')).decode()}"
        given = {"postal_address": "1 Harbour Street", "locales": ["en", "el"], "brand": {"logo": logo, "font": None}}
        changed = (await desk.ask("PATCH", path, json=given)).json()
        assert ("1 Harbour Street", ["en", "el"], {"logo": logo}) == tuple(
            changed[name] for name in ("postal_address", "locales", "brand")
        )
        removed = (await desk.ask("PATCH", path, json={"brand": {}})).json()
        assert (["en", "el"], {}) == (removed["locales"], removed["brand"])


class TestBilling:
    @pytest.mark.parametrize(
        ("name", "value", "code"),
        [
            ("country", "ZZ", "unknown_value"), ("country", "EU", "unknown_value"),
            ("currency", "DEM", "unknown_value"),
            ("email", "nobody", "invalid_address"), ("address_lines", ["a"] * 5, "too_many"), ("name", "", "too_short"),
        ],
    )  # fmt: skip
    async def test_wrong(self, desk: Desk, name: str, value: object, code: str) -> None:
        reply = await desk.ask("PATCH", f"/organization/{desk.house.organization_id}/billing", json={name: value})
        assert (422, [(f"/{name}", code)]) == (
            reply.status_code, [(wrong["pointer"], wrong["code"]) for wrong in reply.json()["errors"]]
        )  # fmt: skip

    async def test_before_anything_was_set(self, desk: Desk) -> None:
        reply = await desk.ask("GET", f"/organization/{desk.house.organization_id}/billing")
        billing = reply.json()
        assert ("Demo", "EUR", [], None) == tuple(billing[n] for n in ("name", "currency", "address_lines", "country"))
        assert '"1"' == reply.headers["etag"]

    async def test_ok(self, desk: Desk) -> None:
        path = f"/organization/{desk.house.organization_id}/billing"
        etag = (await desk.ask("GET", path)).headers["etag"]
        change = {"name": "Demo SA", "address_lines": ["1 Harbour", "Hall B"], "country": "gr", "currency": "usd"}
        reply = await desk.ask("PATCH", path, json=change, headers={"If-Match": etag})
        assert 200 == reply.status_code
        more = await desk.ask("PATCH", path, json={"city": "Piraeus", "email": "bills@demo.example"})
        expected = {**change, "country": "GR", "currency": "USD", "city": "Piraeus", "email": "bills@demo.example"}
        assert expected == {name: more.json()[name] for name in expected}
        assert desk.house.token_id == more.json()["updated_by"]
        assert 412 == (await desk.ask("PATCH", path, json={"city": None}, headers={"If-Match": etag})).status_code
        same = await desk.ask("PATCH", path, json=more.json())
        assert (more.headers["etag"], more.json()) == (same.headers["etag"], same.json())
