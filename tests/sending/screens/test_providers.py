"""Sending accounts in the console: one with its figures, pause, test message, default, removal."""

from dataclasses import replace

import httpx2
import pytest

from afterword.asking.questionnaires import library, service as questionnaires
from afterword.kit import db
from afterword.sending.intake import test_messages as intake_test_messages
from afterword.sending.pipelines import service as pipelines
from afterword.sending.providers import service
from afterword.sending.screens.providers import PROVIDERS
from tests.sending.intake.test_test_messages import sending_of
from tests.sending.screens.test_provider_forms import NEW
from tests.tenants.logins.conftest import SITE, Office, browser_of, log_in


async def test_the_operator_s(office: Office, owner: httpx2.AsyncClient) -> None:
    async with db.transaction(office.pool) as database:
        ours, _ = await service.add_account(
            database, organization_id=office.organization_id, kind="smtp", title="Theirs",
            settings={"url": "smtp://ann:hunter2@10.0.0.9"}, is_default=True, site=SITE, now=database.clock.now(),
        )  # fmt: skip
        await service.pause_account(database, account_id=ours.account_id, reason="not paid")
    path = f"{PROVIDERS}/{ours.account_id}"
    page = (await owner.get(path)).text
    assert ("not paid" in page, "10.0.0.9" in page, "/edit" in page) == (True, False, False)
    for way in ("edit", "removal"):
        assert 403 == (await owner.get(f"{path}/{way}")).status_code
    assert ("must resume it" in page, "/resume" in page) == (True, False)
    assert 403 == (await owner.post(f"{path}/resume")).status_code


async def test_paused_resumed_and_removed(office: Office, owner: httpx2.AsyncClient) -> None:
    assert "No account yet." in (await owner.get(PROVIDERS)).text
    path = (await owner.post(f"{PROVIDERS}/new", data=NEW)).headers["location"].partition("?")[0]
    assert "Our relay" in (await owner.get(PROVIDERS)).text
    assert 422 == (await owner.post(f"{path}/pause", data={"reason": ""})).status_code
    assert "0 pipelines" not in (await owner.get(f"{path}/pause")).text
    paused = await owner.post(f"{path}/pause", data={"reason": "moving house"})
    assert "moving house" in (await owner.get(paused.headers["location"])).text
    assert "Resume" not in (await owner.get((await owner.post(f"{path}/resume")).headers["location"])).text
    assert "“Our relay”" in (await owner.get(f"{path}/removal")).text.replace("\u2068", "").replace("\u2069", "")
    assert f"{PROVIDERS}?done=removed" == (await owner.post(f"{path}/removal")).headers["location"]
    assert 404 == (await owner.get(path)).status_code


async def test_in_use(office: Office, owner: httpx2.AsyncClient) -> None:
    """The pipelines that move are counted, and stand on the page that refuses to remove."""
    async with db.transaction(office.pool) as database:
        now = database.clock.now()
        imported = await questionnaires.import_file(
            database,
            organization_id=office.organization_id,
            application_id=office.application_id,
            text=library.text("relationship"),
            slug="in_use",
            now=now,
        )
        await pipelines.create_pipeline(
            database,
            organization_id=office.organization_id,
            now=now,
            questionnaire_id=imported.questionnaire.questionnaire_id,
            channel_id=1,
            title="After delivery",
        )
    path = (await owner.post(f"{PROVIDERS}/new", data=NEW)).headers["location"].partition("?")[0]
    assert "1 pipeline moves to it at once." in (await owner.get(f"{path}/default")).text
    await owner.post(f"{path}/default")
    page = await owner.get(f"{path}/removal")
    assert (">After delivery</a>" in page.text, 'action="' + path in page.text) == (True, False)


async def test_test_message(office: Office, monkeypatch: pytest.MonkeyPatch, owner: httpx2.AsyncClient) -> None:
    monkeypatch.setattr(intake_test_messages, "TAKEN_SECONDS_MAX", 0.1)
    async with db.transaction(office.pool) as database:
        await database.execute(
            "insert into channel_account (organization_id, account_id, channel_id) values ($1, $2, 1)",
            *(office.organization_id, "d" * 22),
        )
    path, body = f"{PROVIDERS}/{'d' * 22}", {"responder_channel_identifier": "ann@example.com"}
    assert 'value="olga@kalamata.example"' in (await owner.get(path)).text
    assert 422 == (await owner.post(f"{path}/test", data={"responder_channel_identifier": "ann"})).status_code
    assert 503 == (await owner.post(f"{path}/test", data=body)).status_code  # nobody sends
    monkeypatch.setattr(intake_test_messages, "TAKEN_SECONDS_MAX", 5.0)
    async with sending_of(office.pool, SITE):
        page = await owner.post(f"{path}/test", data=body)
    assert ("The provider accepted it." in page.text, "captured" in page.text) == (True, True)


async def test_an_account_that_keeps_messages(office: Office) -> None:
    """Without a mail server every page says so, until the organization's own account is in use."""
    banner = "No e-mail is sent yet"
    async with db.transaction(office.pool) as database:
        await database.execute(
            """insert into channel_account (organization_id, account_id, channel_id, is_default)
               values ($1, $2, 1, true)""",
            *(office.organization_id, "d" * 22),
        )
    site = replace(SITE, sends_mail=False)
    async with browser_of(office.pool, site=site) as client, browser_of(office.pool) as other:
        await log_in(client)
        await log_in(other)
        assert banner not in (await other.get("/console")).text
        assert "sends" in (await other.get(PROVIDERS)).text
        assert banner in (await client.get("/console")).text
        async with db.transaction(office.pool) as database:
            await database.execute("update organization set demonstration_time = now()")
        demo = (await client.get("/console")).text
        assert ("This is a demo." in demo, banner in demo) == (True, True)
        assert "keeps messages in the outbox" in (await client.get(PROVIDERS)).text
        assert "Keeps messages in the outbox" in (await client.get(f"{PROVIDERS}/{'d' * 22}")).text
        async with db.transaction(office.pool) as database:
            settings = {"url": "smtp://ann:hunter2@10.0.0.9"}
            await service.add_account(
                database, organization_id=office.organization_id, kind="smtp", title="Ours", settings=settings,
                is_default=True, site=SITE, now=database.clock.now(),
            )  # fmt: skip
        assert banner not in (await client.get("/console")).text
