"""The people of the organization: their roles, invitations, removal."""

import html
import re

import httpx2
import pytest

from afterword.asking.questionnaires import library, service as questionnaires
from afterword.kit import db
from afterword.tenants.logins.links import LINKS_PER_HOUR
from afterword.tenants.screens.account import ACCOUNT
from afterword.tenants.screens.members import PEOPLE, SERVICES
from tests.making import make_application
from tests.tenants.logins.conftest import EMAIL, Browser, Office, browser_of, log_in


@pytest.fixture
async def ben(office: Office) -> str:
    return await office.add_user("ben@kalamata.example")


class TestPeople:
    async def change(self, client: httpx2.AsyncClient, user_id: str, **data: str) -> httpx2.Response:
        return await client.post(f"{PEOPLE}/{user_id}", data=data)

    async def test_list(self, ben: str, browser: Browser) -> None:
        """The address stands below the name, and once where it is the name."""
        named = {"email": "eva@kalamata.example", "name": "Eva", "role": "agent"}
        assert 303 == (await browser.post(PEOPLE, data=named)).status_code
        listed = html.unescape((await browser.get(PEOPLE)).text)
        assert "<bdi>Eva</bdi></a></span><br>" in listed
        assert [1, 1] == [listed.count(f"<bdi>{one}<wbr>@kalamata.example</bdi>") for one in ("ben", "eva")]

    async def test_more_than_are_listed(
        self, office: Office, ben: str, browser: Browser, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Applications behind the end of the list stay when the role changes: none would mean all of them."""
        second_id = await make_application(office.pool, office.organization_id, "Second shop")
        third_id = await make_application(office.pool, office.organization_id, "Third shop")
        monkeypatch.setattr("afterword.tenants.screens.members.LISTED_MAX", 1)
        async with db.transaction(office.pool) as database:
            await database.execute(
                "update organization_user set application_ids = $1 where user_id = $2", [second_id, third_id], ben
            )
        page = (await browser.get(f"{PEOPLE}/{ben}")).text
        assert "1 that is not listed" in page
        ticked = re.findall(r'name="application" value="([^"]+)" checked', page)
        version = re.search(r'name="version" value="(\d+)"', page)
        assert version is not None
        form = {"role": "reporting", "version": version[1], "application": ticked}
        assert 303 == (await browser.post(f"{PEOPLE}/{ben}", data=form)).status_code
        async with db.connection(office.pool) as database:
            kept = await database.fetch_value("select application_ids from organization_user where user_id = $1", ben)
        assert {second_id, third_id} == {*kept}
        listed = html.unescape((await browser.get(PEOPLE)).text)
        following = re.search(r'rel="next" href="([^"]+)"', listed)
        assert following is not None
        pages = [listed, html.unescape((await browser.get(following[1])).text)]
        assert [False, True] == sorted(f"{PEOPLE}/{ben}" in one for one in pages)

    async def test_role(self, office: Office, ben: str, browser: Browser) -> None:
        page = await browser.get(f"{PEOPLE}/{ben}")
        version = re.search(r'name="version" value="(\d+)"', page.text)
        assert version is not None
        assert 422 == (await self.change(browser, ben, role="boss", version=version[1])).status_code
        assert 303 == (await self.change(browser, ben, role="admin", version=version[1])).status_code
        stale = await self.change(browser, ben, role="owner", version=version[1])
        assert 412 == stale.status_code
        assert 403 == (await self.change(browser, office.user_id, role="agent", version="1")).status_code

    async def test_removed_at_once(self, office: Office, ben: str, browser: Browser) -> None:
        async with browser_of(office.pool) as bens:
            await log_in(bens, email="ben@kalamata.example")
            assert f"{PEOPLE}/{ben}/remove" in (await browser.get(f"{PEOPLE}/{ben}")).text.replace("&#x2f;", "/")
            assert "Remove \u2068ben@kalamata.example" in html.unescape(
                (await browser.get(f"{PEOPLE}/{ben}/remove")).text
            )
            assert 303 == (await browser.post(f"{PEOPLE}/{ben}/remove")).status_code
            assert 303 == (await bens.get(ACCOUNT)).status_code
            assert 403 == (await log_in(bens, email="ben@kalamata.example")).status_code

    async def test_two_applications(self, office: Office, browser: Browser) -> None:
        """Which ones a person has is asked, and what was chosen stays when the form is refused."""
        second_id = await make_application(office.pool, office.organization_id, "Second shop")
        box = f'name="application" value="{second_id}"'
        account = {"role": "agent", "application": second_id}
        for page, action, wrong, right in (
            (PEOPLE, PEOPLE, {"email": "nobody"}, {"email": "dora@kalamata.example"}),
            (f"{SERVICES}/new", SERVICES, {"display_name": ""}, {"display_name": "Shop system"}),
        ):
            asked = await browser.get(page)
            assert 200 == asked.status_code
            assert box in asked.text
            assert f"{box} checked" not in asked.text
            refused = await browser.post(action, data={**account, **wrong})
            assert 422 == refused.status_code
            assert f"{box} checked" in refused.text
            assert 303 == (await browser.post(action, data={**account, **right})).status_code
        async with db.connection(office.pool) as database:
            made = await database.fetch(
                "select application_ids from organization_user where role = 'agent' and organization_id = $1",
                office.organization_id,
            )
        assert 2 * [[second_id]] == [row["application_ids"] for row in made]

    async def test_limit(self, office: Office, ben: str, browser: Browser) -> None:
        """The form keeps a mistake beside its sentence; the limit closes the console, whose chip names the branch."""
        page = await browser.get(f"{PEOPLE}/{ben}")
        assert '<option value="store_id">Only where' in page.text
        version = re.search(r'name="version" value="(\d+)"', page.text)
        assert version is not None
        document = {
            "role": "admin",
            "version": version[1],
            "only_where": "",
            "only_values": "Station\n\n Harbour Street ",
        }
        refused = await self.change(browser, ben, **document)
        assert 422 == refused.status_code
        assert "Say by which metadata these values limit it." in refused.text
        assert "Station\nHarbour Street" in refused.text
        assert 303 == (await self.change(browser, ben, **{**document, "only_where": "store_id"})).status_code
        page = await browser.get(f"{PEOPLE}/{ben}")
        assert '<option value="store_id" selected>' in page.text
        async with browser_of(office.pool) as bens:
            await log_in(bens, email="ben@kalamata.example")
            assert 403 == (await bens.get(PEOPLE)).status_code
            assert '<span class="chip">Station, Harbour Street</span>' in (await bens.get(ACCOUNT)).text
        assert '<span class="chip">Station' not in (await browser.get(ACCOUNT)).text

    async def test_limit_by_values_of_responses(self, office: Office, ben: str, browser: Browser) -> None:
        """Values that came again are boxes to tick beside the free text; those of other names do not count."""
        assert 'type="checkbox" name="only_values-' not in (await browser.get(f"{PEOPLE}/{ben}")).text
        async with db.transaction(office.pool) as database:
            now = database.clock.now()
            imported = await questionnaires.import_file(
                database,
                organization_id=office.organization_id,
                application_id=office.application_id,
                text=library.text("relationship"),
                slug="branches",
                now=now,
            )
            await database.execute(
                "insert into responder (organization_id, responder_id, created_time) values ($1, $2, now())",
                *(office.organization_id, "r" * 22),
            )
            await database.execute(
                """insert into questionnaire_instance (organization_id, instance_id, questionnaire_id, version_id,
                     responder_id, short_code, valid_days, editable, question_ids, locale, metadata,
                     created_time)
                   select $1, repeat(n::text, 22), $2, $3, repeat('r', 22), repeat(n::text, 12), 30, true, '{}', 'en',
                     jsonb_build_object('store_id', 'Station',
                     'transaction_id', n::text), now()
                   from generate_series(1, 3) n""",
                *(office.organization_id, imported.questionnaire.questionnaire_id),
                imported.questionnaire.published_version_id,
            )
        page = (await browser.get(f"{PEOPLE}/{ben}")).text
        assert '<input type="checkbox" name="only_values-store_id" value="Station">' in page
        assert "only_values-transaction_id" not in page
        version = re.search(r'name="version" value="(\d+)"', page)
        assert version is not None
        document = {
            "role": "agent",
            "version": version[1],
            "only_where": "store_id",
            "only_values": "Station\nHarbour Street",
        }
        ticked = {"only_values-store_id": "Station", "only_values-carrier": "DHL"}
        assert 303 == (await self.change(browser, ben, **document, **ticked)).status_code
        page = (await browser.get(f"{PEOPLE}/{ben}")).text
        assert '<input type="checkbox" name="only_values-store_id" value="Station" checked>' in page
        assert ">\nHarbour Street</textarea>" in page

    async def test_invited_again_and_again(self, office: Office, browser: Browser) -> None:
        """The address may be a stranger's."""
        await browser.post(PEOPLE, data={"email": "zoe@b.example", "role": "agent"})
        async with db.connection(office.pool) as database:
            user_id = await database.fetch_value("select user_id from organization_user where email = 'zoe@b.example'")
        again = [await browser.post(f"{PEOPLE}/{user_id}/invitation") for _ in range(LINKS_PER_HOUR)]
        assert [*(LINKS_PER_HOUR - 1) * [303], 429] == [one.status_code for one in again]

    async def test_invited_twice(self, ben: str, browser: Browser) -> None:
        refused = await browser.post(PEOPLE, data={"email": "BEN@kalamata.example", "role": "agent"})
        assert 409 == refused.status_code
        assert EMAIL in refused.text
