"""One's own notifications in the console: as the API keeps them, within the role, and nobody else's."""

import html
import re
from collections.abc import Mapping
from typing import Any

import httpx2
import pytest

from afterword.cases import notifications as cases_notifications
from afterword.cases.notifications import Watch
from afterword.cases.screens import notifications
from afterword.cases.screens.notifications import CASES, GROUPS, NOTIFICATIONS
from afterword.core.messaging import notices
from afterword.kit import db
from tests.console.conftest import office as office  # noqa: PLC0414  a fixture
from tests.tenants.logins.conftest import EMAIL, Office, browser_of, log_in

BEN = "ben@kalamata.example"
INPUT = re.compile(r'<input type="(?:checkbox|radio)" name="(\w+)" value="([^"]*)"([^>]*)>')


def form_of(page: str) -> dict[str, Any]:
    """The form as a browser posts it when nothing is touched."""
    version = re.search(r'name="version" value="(\d+)"', page)
    assert version is not None
    form: dict[str, Any] = {"version": version[1], "email": [], "web": [], "watch": []}
    for name, value, more in INPUT.findall(html.unescape(page)):
        if " checked" in more:
            form[name] = value if name == "digest" else [*form[name], value]
    return form


async def stored(office: Office, user_id: str) -> tuple[dict[str, Any], str, list[Watch]]:
    async with db.connection(office.pool) as database:
        key = {"organization_id": office.organization_id, "user_id": user_id}
        subscription = await cases_notifications.get_subscription_record(database, **key)
        watches = await cases_notifications.list_watches(database, **key, limit=10)
    assert subscription is not None
    return subscription.types, subscription.digest, watches


async def choose(
    office: Office, user_id: str, *watches: Watch, types: Mapping[str, Mapping[str, bool]] | None = None
) -> None:
    async with db.transaction(office.pool) as database:
        key = {"organization_id": office.organization_id, "user_id": user_id}
        now = database.clock.now()
        await cases_notifications.update_subscription(database, **key, types=types or {}, digest="none", now=now)
        await cases_notifications.insert_watches(database, **key, watches=watches)


def test_every_type_has_a_group() -> None:
    assert {*notices.FEW, *notices.MASS} == {family for families in GROUPS.values() for family in families}
    assert {f"alert_instance.{name}" for name in notices.FEW["alert_instance"]} == {*CASES}


class TestRefused:
    @pytest.mark.parametrize(
        ("changes", "place"),
        [
            ({"digest": "hourly"}, "digest"),
            ({"email": ["moon.rises"]}, "types"),
            ({"watch": ["galaxy/" + "0" * 22]}, "watches"),
            ({"watch": ["application/" + "0" * 22]}, "watches"),
            ({"watch": ["nothing"]}, "watches"),
        ],
    )
    async def test_wrong_field(
        self, office: Office, changes: dict[str, Any], place: str, owner: httpx2.AsyncClient
    ) -> None:
        form = form_of((await owner.get(NOTIFICATIONS)).text)
        wrong = await owner.post(NOTIFICATIONS, data={**form, "web": ["token.created"], **changes})
        assert 422 == wrong.status_code
        assert f'href="#{place}"' in wrong.text
        assert f'id="{place}"' in wrong.text
        assert ["token.created"] == form_of(wrong.text)["web"]
        assert ({}, "none", []) == await stored(office, office.user_id)

    async def test_changed_elsewhere(self, office: Office, owner: httpx2.AsyncClient) -> None:
        """The typed values stay, and may be saved again."""
        form = form_of((await owner.get(NOTIFICATIONS)).text)
        await owner.post(NOTIFICATIONS, data=form)
        stale = await owner.post(NOTIFICATIONS, data={**form, "digest": "weekly"})
        assert 412 == stale.status_code
        again = form_of(stale.text)
        assert ("weekly", "1") == (again["digest"], again["version"])
        assert 303 == (await owner.post(NOTIFICATIONS, data=again)).status_code
        assert "weekly" == (await stored(office, office.user_id))[1]


class TestSave:
    async def test_untouched(self, office: Office, owner: httpx2.AsyncClient) -> None:
        """The defaults are shown, and stay defaults: no type is named that nobody chose."""
        form = form_of((await owner.get(NOTIFICATIONS)).text)
        saved = await owner.post(NOTIFICATIONS, data=form)
        assert f"{NOTIFICATIONS}?done=saved" == saved.headers["location"]
        assert {"alert_instance.created", "plan.expired"} <= {*form["email"]}
        assert notices.FEW_TYPES == {*form["web"]}
        assert ({}, "none", []) == await stored(office, office.user_id)

    async def test_ok(self, office: Office, owner: httpx2.AsyncClient) -> None:
        ben_id = await office.add_user(BEN)
        form = form_of((await owner.get(NOTIFICATIONS)).text)
        form["email"] = [name for name in form["email"] if name != "alert_instance.created"]
        form["web"] += ["queue_item.failed"]
        watches = [("organization", office.organization_id), ("application", office.application_id)]
        watches += [("user", ben_id)]
        form |= {"digest": "daily", "watch": ["/".join(each) for each in watches]}
        assert 303 == (await owner.post(NOTIFICATIONS, data=form)).status_code
        types = {
            "alert_instance.created": {"web": True, "email": False},
            "queue_item.failed": {"web": True, "email": False},
        }
        assert (types, "daily", watches) == await stored(office, office.user_id)
        after = form_of((await owner.get(NOTIFICATIONS)).text)
        assert {name: sorted(value) for name, value in form.items() if name != "version"} == {
            name: sorted(value) for name, value in after.items() if name != "version"
        }
        assert ({}, "none", []) == await stored(office, ben_id)

    async def test_within_the_role(self, office: Office) -> None:
        """An agent chooses among what the role opens; what a former role chose is kept."""
        ben_id = await office.add_user(BEN)
        types = {"token.created": {"web": False, "email": True}}
        await choose(office, ben_id, types=types)
        async with browser_of(office.pool) as browser:
            await log_in(browser, email=BEN)
            page = (await browser.get(NOTIFICATIONS)).text
            assert "token.created" not in page
            assert BEN in html.unescape(page)
            assert EMAIL in html.unescape(page)  # a colleague, who can be followed
            assert 303 == (await browser.post(NOTIFICATIONS, data={**form_of(page), "digest": "daily"})).status_code
        assert (types, "daily", []) == await stored(office, ben_id)

    async def test_not_listed(self, office: Office, monkeypatch: pytest.MonkeyPatch, owner: httpx2.AsyncClient) -> None:
        """Things beyond the list are kept in one box, which lets go of them together."""
        ids = [await office.add_user(f"{name}@kalamata.example") for name in ("ann", "bob", "cat")]
        await choose(office, office.user_id, *(("user", user_id) for user_id in ids[:2]))
        monkeypatch.setattr(notifications, "LISTED_MAX", 1)
        page = (await owner.get(NOTIFICATIONS)).text
        assert "2 that are not listed" in page
        form = form_of(page)
        assert 303 == (await owner.post(NOTIFICATIONS, data=form)).status_code
        assert {("user", each) for each in ids[:2]} == {*(await stored(office, office.user_id))[2]}
        form = form_of((await owner.get(NOTIFICATIONS)).text)
        assert 303 == (await owner.post(NOTIFICATIONS, data={**form, "watch": []})).status_code
        assert [] == (await stored(office, office.user_id))[2]

    async def test_removed_thing(self, office: Office, owner: httpx2.AsyncClient) -> None:
        """It has no box, and does not stand in the way of saving."""
        await choose(office, office.user_id, ("alert", "0" * 22))
        form = form_of((await owner.get(NOTIFICATIONS)).text)
        assert [] == form["watch"]
        assert 303 == (await owner.post(NOTIFICATIONS, data=form)).status_code
        assert [] == (await stored(office, office.user_id))[2]
