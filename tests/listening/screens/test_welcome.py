"""The set-up after the first log-in: refusals, then the way from the organization to a test message."""

import re
from typing import Any

import pytest

from afterword.kit import db
from afterword.sending.intake import test_messages
from tests.contract.world import PIXEL
from tests.tenants.logins.conftest import EMAIL, Office, browser_of, found, log_in

WELCOME = "/console/welcome"
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
        for method, path in (("GET", message), ("POST", message), ("POST", message.replace("message", "answer"))):
            assert 404 == (await stranger.request(method, path)).status_code, path
    async with db.connection(office.pool) as database:
        count = "select count(*) from questionnaire where organization_id = $1"
        assert [1, 0] == [await database.fetch_value(count, one.organization_id) for one in (office, other)]


def answering(outcome: str, reply: str) -> Any:
    """In place of a worker that sends the message."""

    async def send(*_: object, **__: object) -> tuple[None, test_messages.TestResult]:
        return None, test_messages.TestResult(
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
        frame = re.search(r'<iframe src="([^"]+)"', shown.text)
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
            ("accepted", "captured", "kept in the outbox"),
            ("accepted", "250 ok", "Look into your mailbox"),
            ("refused", "550 <no such user>", "550 &lt;no such user&gt;"),
        ):
            monkeypatch.setattr(test_messages, "send", answering(outcome, reply))
            assert said in (await client.post(message, data={"email": EMAIL})).text
        answered = await client.post(message.replace("message", "answer"))
        assert 200 == (await client.get(answered.headers["location"])).status_code
        overview = await client.get("/console")
        assert "Begin here" not in overview.text
        assert message in overview.text.replace("&#x2f;", "/")
    async with db.connection(office.pool) as database:
        counts = await database.fetch_one(
            """select (select count(*) from questionnaire) as questionnaires, (select count(*) from pipeline) as ways,
                 (select count(*) from questionnaire_instance where test) as tests, o.time_zone,
                 o.brand ->> 'logo' like '/asset/%' and o.brand ->> 'color_primary' = '#aa3300'
               from organization o"""
        )
        assert [1, 1, 1, "Europe/Athens", True] == list(counts)
