"""The set-up after the first log-in: refusals, then the way from the organization to a test message."""

import re
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final

import httpx2
import pytest

from afterword.asking.instances import issuing
from afterword.core.organizations.access import installation
from afterword.kit import db
from afterword.sending.intake import test_messages
from afterword.sending.screens.providers import PROVIDERS
from tests.contract.world import PIXEL
from tests.sending.screens.test_provider_forms import NEW
from tests.tenants.logins.conftest import EMAIL, SITE, Office, browser_of, found, log_in

WELCOME = "/console/welcome"
EPOCH: Final = datetime(2026, 1, 1, tzinfo=UTC)
GIVEN: dict[str, Any] = {
    "display_name": "Kalamata Books",
    "time_zone": "Europe/Athens",
    "locales": ["el", "ar"],
    "default_locale": "el",
}


async def test_refusals(office: Office) -> None:
    await office.add_user("ann@kalamata.example")
    other = await found(office.pool, domain="patras", email="pan@patras.example")
    async with browser_of(office.pool) as client, browser_of(office.pool) as agent, browser_of(office.pool) as stranger:
        await log_in(client)
        await log_in(agent, email="ann@kalamata.example")
        await log_in(stranger, email="pan@patras.example")
        for path in ("", "/organization", "/questionnaire", "/preview"):
            assert 403 == (await agent.get(WELCOME + path)).status_code, path
        for wrong in (
            {"display_name": ""},
            {"display_name": "a" * 201},
            {"time_zone": "Mars/Base"},
            {"default_locale": "?"},
            {"default_locale": "de"},
            {"locales": []},
            {"postal_address": "a" * 501},
        ):
            page = await client.post(f"{WELCOME}/organization", data={**GIVEN, **wrong})
            assert 422 == page.status_code, wrong
            assert "field wrong" in page.text, wrong
        for image, said in (
            (b"GIF89a", "no picture"),
            (PIXEL + b"0" * (11 << 20), "10,485,760 bytes"),  # the text of the form is kept
        ):
            page = await client.post(f"{WELCOME}/organization", data=GIVEN, files={"logo": ("logo", image)})
            assert 422 == page.status_code
            assert said in page.text
            assert GIVEN["display_name"] in page.text
        wrong_color = await client.post(f"{WELCOME}/questionnaire", data={"color": "url(evil)"})
        assert 422 == wrong_color.status_code
        made = await client.post(f"{WELCOME}/questionnaire", data={"name": "support_case"})
        message = made.headers["location"]
        assert 403 == (await agent.post(f"{WELCOME}/closing")).status_code
        for method, path in (("GET", message), ("POST", message)):
            assert 404 == (await stranger.request(method, path)).status_code, path
    async with db.connection(office.pool) as database:
        count = "select count(*) from questionnaire where organization_id = $1"
        assert [1, 0] == [await database.fetch_value(count, one.organization_id) for one in (office, other)]


def answering(outcome: str, reply: str) -> Any:
    """In place of a worker that sends the message."""

    async def send(*_: object, **__: object) -> tuple[test_messages.TestMessage, test_messages.TestResult]:
        test = test_messages.TestMessage(
            organization_id="", trial_id="t" * 22, channel_id=1, recipient="", locale="", metadata={},
            external_reference=None, created_time=EPOCH,
        )  # fmt: skip
        return test, test_messages.TestResult(
            state="done", subject="", body="", outcome=outcome, reply=reply, finished_time=None
        )

    return send


async def test_step_by_step(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each step leads to the next one, and the set-up goes on where it was left."""
    monkeypatch.setattr(test_messages, "TAKEN_SECONDS_MAX", 0.0)  # no worker is there
    async with browser_of(office.pool) as client:
        await log_in(client)
        assert f"{WELCOME}/organization" == (await client.get(WELCOME)).headers["location"]
        assert f'href="{WELCOME}"' in (await client.get("/console")).text.replace("&#x2f;", "/")
        page = await client.get(f"{WELCOME}/organization")
        assert 'aria-current="step"' in page.text
        address = {"postal_address": "1 Harbour Street\nKalamata"}
        files = {"logo": ("logo.png", PIXEL, "image/png")}
        saved = await client.post(f"{WELCOME}/organization", data={**GIVEN, **address}, files=files)
        assert f"{WELCOME}/questionnaire" == saved.headers["location"]
        assert f"{WELCOME}/questionnaire" == (await client.get(WELCOME)).headers["location"]
        shown = await client.get(f"{WELCOME}/questionnaire?name=relationship&color=%23aa3300")
        frame = re.search(r'<iframe id="preview" src="([^"]+)"', shown.text)
        assert frame is not None
        preview = await client.get(frame[1].replace("&#x2f;", "/").replace("&amp;", "&"))
        assert '<html lang="el"' in preview.text  # in the language of the customers
        assert "/theme/paa3300.css" in preview.text.replace("&#x2f;", "/")
        policy = preview.headers["content-security-policy"]
        assert "frame-ancestors 'self'" in policy
        assert "form-action 'none'" in policy
        choice = {"name": "relationship", "color": "#aa3300"}
        client.headers["Accept-Language"] = "el"
        message, again = [
            (await client.post(f"{WELCOME}/questionnaire", data=choice)).headers["location"] for _ in range(2)
        ]
        assert message == again
        assert "E-mail: Θα μας συστήνατε;" in (await client.get("/console/sending/pipelines")).text
        client.headers["Accept-Language"] = "en"
        assert "/console" == (await client.get(WELCOME)).headers["location"]
        page = await client.get(message)
        assert EMAIL in page.text
        assert ["en", "el", "ar"] == re.findall(r'<option value="(\w\w)"', page.text)
        again = await client.get(f"{WELCOME}/organization")
        assert "1 Harbour Street\nKalamata" in again.text
        assert re.search(r'src="/asset/\w{22}/', again.text.replace("&#x2f;", "/"))
        assert 2 == again.text.count(" checked")
        for data, said in (({"email": "no address"}, 422), ({"email": EMAIL}, 503)):
            refused = await client.post(message, data=data)
            assert said == refused.status_code
            assert "Send the test message" in refused.text
        for outcome, reply, said in (
            ("accepted", "captured", "is in the outbox"),
            ("accepted", "250 ok", "Check your inbox"),
            ("refused", "550 <no such user>", "550 &lt;no such user&gt;"),
        ):
            monkeypatch.setattr(test_messages, "send", answering(outcome, reply))
            page = (await client.post(message, data={"email": EMAIL})).text.replace("&#x2f;", "/")
            assert said in page
            assert f"/a/{'t' * 22}" in page
            assert (reply == "captured") is (f"/console/sending/outbox/{'t' * 22}" in page)
        overview = await client.get("/console")
        assert "Get started" not in overview.text
        assert message in overview.text.replace("&#x2f;", "/")
    async with db.connection(office.pool) as database:
        counts = await database.fetch_one(
            """select (select count(*) from questionnaire) as questionnaires, (select count(*) from pipeline) as ways,
                 (select count(*) from alert where active) as alerts, o.time_zone,
                 o.brand ->> 'logo' like '/asset/%' and o.brand ->> 'color_primary' = '#aa3300'
               from organization o"""
        )
        assert [1, 1, 1, "Europe/Athens", True] == list(counts)


async def test_the_first_alert(office: Office) -> None:
    """Low scores open a case from the first day, and the owner is told; the set-up made once more makes no other."""
    async with browser_of(office.pool) as client:
        await log_in(client)
        for name in ("relationship", "relationship", "after_delivery", "support_case"):
            await client.post(f"{WELCOME}/questionnaire", data={"name": name})
        page = (await client.get("/console/settings/alerts")).text
    assert 3 == page.count("Unhappy customer")
    async with db.connection(office.pool) as database:
        rows = await database.fetch(
            """select a.active, a.conditions #>> '{all,0,operator}' as operator,
                 a.conditions #> '{all,0,value}' as most,
                 a.subscriber_user_ids = array[u.user_id] and a.assigned_user_id = u.user_id as is_told, q.slug
               from alert a join organization_user u using (organization_id)
                 join questionnaire q on q.questionnaire_id = a.questionnaire_ids[1]
               order by q.slug"""
        )
    highest = {"after_delivery": 2, "relationship": 6, "support_case": 2}
    assert [(True, "less_equal", most, True, slug) for slug, most in highest.items()] == [tuple(row) for row in rows]


async def test_first_steps(office: Office) -> None:
    """One is next, what is done has its tick, and the list goes when somebody closes it."""
    async with browser_of(office.pool, site=replace(SITE, sends_mail=False)) as client:
        await log_in(client)
        made = await client.post(f"{WELCOME}/questionnaire", data={"name": "relationship"})
        assert ["Send yourself a test message and answer it", (1, 5)] == await steps_of(client)
        async with db.transaction(office.pool) as database:
            questionnaire_id = made.headers["location"].split("/")[3]
            await answered_test(database, office, questionnaire_id)
        assert ["Connect your mail server", (2, 5)] == await steps_of(client)
        added = await client.post(f"{PROVIDERS}/new", data=NEW)
        await client.post(added.headers["location"].partition("?")[0] + "/default")
        assert ["Send it to a list of people", (3, 5)] == await steps_of(client)
        async with db.transaction(office.pool) as database:
            await database.execute("update channel_account set failures = 1 where is_default")
        assert ["Connect your mail server", (2, 5)] == await steps_of(client)
        assert "E-mail is held up" in (await client.get("/console/settings")).text
        assert "last message failed" in (await client.get(PROVIDERS)).text
        assert "/console" == (await client.post(f"{WELCOME}/closing")).headers["location"]
        assert "First steps" not in (await client.get("/console")).text


async def steps_of(client: httpx2.AsyncClient) -> list[Any]:
    """The step that stands out, and how many of them are done."""
    page = (await client.get("/console")).text
    found = re.search(r"(\d) of (\d) done", page)
    assert found is not None
    [following] = re.findall(r'<li><a class="button" href="[^"]+">([^<]+)</a></li>', page)
    assert int(found[1]) == page.count('class="is-done"')
    return [following, (int(found[1]), int(found[2]))]


async def answered_test(database: db.Database, office: Office, questionnaire_id: str) -> None:
    """Somebody answers a test instance."""
    now = database.clock.now()
    instance, _ = await issuing.issue(
        database,
        caller=replace(installation(office.organization_id), test=True),
        questionnaire_id=questionnaire_id,
        request=issuing.IssueInput(),
        now=now,
        secret=SITE.secret,
        draw=lambda: 0.0,
    )
    await database.execute(
        "update questionnaire_instance set submitted_time = $2 where instance_id = $1", instance.instance_id, now
    )


async def test_the_zone_that_the_operator_chose_stays(office: Office) -> None:
    async with browser_of(office.pool) as client:
        await log_in(client)
        page = (await client.get(f"{WELCOME}/organization", headers={"Accept-Language": "de"})).text
        assert 'value="Europe/Athens" selected' in page.replace("&#x2f;", "/")
        assert "/console/zone." not in page.replace("&#x2f;", "/")


@pytest.mark.parametrize(
    ("language", "zone"), [("el-GR,en;q=0.5", "Europe/Athens"), ("en-US,de", "Europe/Berlin"), ("en-US", "UTC")]
)
async def test_the_zone_that_is_proposed(office: Office, language: str, zone: str) -> None:
    """Without scripts by the language; what was chosen stays."""
    async with db.transaction(office.pool) as database:
        await database.execute("update organization set time_zone = 'UTC'")
    async with browser_of(office.pool) as client:
        await log_in(client)
        client.headers["Accept-Language"] = language
        page = (await client.get(f"{WELCOME}/organization")).text
        assert f'value="{zone}" selected' in page.replace("&#x2f;", "/")
        assert "/console/zone." in page.replace("&#x2f;", "/")
        await client.post(f"{WELCOME}/organization", data={**GIVEN, "time_zone": "Asia/Tokyo"})
        async with db.connection(office.pool) as database:
            assert 7 == await database.fetch_value("select first_weekday from organization")
        page = (await client.get(f"{WELCOME}/organization")).text
        assert 'value="Asia/Tokyo" selected' in page.replace("&#x2f;", "/")
        assert "/console/zone." not in page.replace("&#x2f;", "/")
