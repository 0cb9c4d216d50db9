"""Provider accounts: refused settings, sealed secrets, the default of a channel, what may be removed; and callbacks."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

import httpx2
import pytest

from afterword import errors
from afterword.core.wire.site import Site
from afterword.kit import db, sealing
from afterword.kit.transport.base import Refused, Sent
from afterword.kit.transport.mime import REFERENCE_CHARACTERS_MAX
from afterword.sending.channels import accounts as kinds
from afterword.sending.channels.sms import twilio
from afterword.sending.providers import api, health, service
from afterword.sending.providers.service import Account
from tests.conftest import (
    SITE,
    House,
    client as client,  # noqa: PLC0414  a fixture
)
from tests.sending.queue.conftest import SMS, Queue

LOGIN = {"account_sid": "AC1", "auth_token": "a very secret token", "sender": "Shop"}
GATEWAY = {"url": "https://gateway.example/send", "body": {"to": "{to}", "text": "{text}"}}
PHONE = "+306912345678"


async def add(
    queue: Queue, kind: str = "sms_twilio", settings: Mapping[str, Any] = LOGIN, *, is_default: bool = True
) -> tuple[Account, int]:
    return await queue.run(
        service.add_account,
        organization_id=queue.house.organization_id,
        kind=kind,
        title="Ours",
        settings=settings,
        is_default=is_default,
        site=SITE,
        now=await queue.now(),
    )


@pytest.fixture
async def sms(queue: Queue) -> Queue:
    return await queue.pipeline(channel_id=SMS)


class TestRefused:
    @pytest.mark.parametrize(
        ("kind", "settings", "words"),
        [
            ("fax", {}, "An account is one of"), ("default", {}, "An account is one of"),
            ("smtp", {}, "one setting, url"),
            ("smtp", {"url": "http://x"}, "smtp"), ("smtp", {"url": "smtp://a:hunter2@"}, "cannot be used"),
            ("sms_twilio", {**LOGIN, "url": "http://api.twilio.com"}, "https://"),
            ("sms_twilio", {**LOGIN, "url": "https://127.0.0.1"}, "open internet"),
            ("sms_http", {**GATEWAY, "url": "https://10.0.0.1/{to}"}, "open internet"),
            ("sms_http", {**GATEWAY, "url": "https://u:hunter2@gateway.example"}, "web address"),
            ("sms_http", {**GATEWAY, "headers": {"A": "x" * 4001}}, "headers"),
            ("webhook", {"secrets": ["x"]}, "whsec_"),
            ("smpp", {"host": "x"}, "system_id"),
        ],
    )  # fmt: skip
    async def test_settings(self, queue: Queue, kind: str, settings: dict[str, Any], words: str) -> None:
        with pytest.raises(errors.Invalid) as refused:
            await add(queue, kind, settings)
        assert words in refused.value.detail
        assert "hunter2" not in refused.value.detail
        assert 1 == await queue.value("select count(*) from channel_account")

    async def test_unknown_account(self, pool: db.Pool) -> None:
        async with db.transaction(pool) as database:
            for work in (
                service.get_account(database, account_id="z" * 22),
                service.change_account(database, account_id="z" * 22, site=SITE),
                service.pause_account(database, account_id="z" * 22, reason="x"),
                service.resume_account(database, account_id="z" * 22),
                service.remove_account(database, account_id="z" * 22),
                service.limit_rate(database, account_id="z" * 22, rate=1),
            ):
                with pytest.raises(errors.NotFound):
                    await work

    @pytest.mark.parametrize("change", [{"slots_max": 0}, {"slots_max": 201}, {"title": ""}, {"title": "x" * 201}])
    async def test_changes(self, queue: Queue, change: dict[str, Any]) -> None:
        account, _ = await add(queue)
        async with db.transaction(queue.pool) as database:
            with pytest.raises(errors.Invalid):
                await service.change_account(database, account_id=account.account_id, site=SITE, **change)
            with pytest.raises(errors.Invalid):
                await service.limit_rate(database, account_id=account.account_id, rate=0.0)

    async def test_settings_of_the_installation_s_own_way(self, queue: Queue) -> None:
        account_id = await queue.value("select account_id from channel_account")
        async with db.transaction(queue.pool) as database:
            with pytest.raises(errors.Invalid, match="installation's own way"):
                await service.change_account(database, account_id=account_id, site=SITE, settings={"url": "smtp://x"})

    async def test_removing_one_that_is_used(self, queue: Queue) -> None:
        account_id = await queue.value("select account_id from channel_account")
        async with db.transaction(queue.pool) as database:
            with pytest.raises(service.InUse):
                await service.remove_account(database, account_id=account_id)


class TestSecrets:
    async def test_sealed(self, queue: Queue) -> None:
        account, _ = await add(queue)
        assert account.settings is not None
        assert b"secret" not in account.settings
        assert LOGIN == service.settings_of(account, site=SITE)
        with pytest.raises(sealing.Unreadable):
            service.settings_of(account, site=Site(SITE.public_url, b"j" * 32))

    async def test_moved_to_another_account_they_do_not_open(self, queue: Queue) -> None:
        account, _ = await add(queue)
        other, _ = await add(queue, "sms_http", GATEWAY, is_default=False)
        await queue.execute(
            "update channel_account set settings = $2 where account_id = $1", other.account_id, account.settings
        )
        async with db.transaction(queue.pool) as database:
            with pytest.raises(sealing.Unreadable):
                await service.open_account(
                    database, organization_id=other.organization_id, account_id=other.account_id, site=SITE
                )

    def test_shown_masked(self) -> None:
        hidden = {
            name
            for name, value in kinds.masked({**LOGIN, "url": "u", "api_key": "k", "status_url": "u?key=k"}).items()
            if value == kinds.MASK
        }
        assert {"auth_token", "url", "api_key", "status_url"} == hidden
        assert {"secrets": kinds.MASK} == kinds.masked({"secrets": ["whsec_x"]})
        assert {"headers": kinds.MASK, "body": kinds.MASK, "receipt": kinds.MASK} == kinds.masked(
            {"headers": {}, "body": {}, "receipt": {}}
        )


class TestDefault:
    async def test_pipelines_move_to_it_also_later_ones(self, queue: Queue, sms: Queue) -> None:
        before = await queue.value("select version from pipeline where pipeline_id = $1", sms.pipeline_id)
        account, moved = await add(queue)
        assert (1, 1, True) == (moved, account.pipelines, account.is_default)
        assert before + 1 == await queue.value("select version from pipeline where pipeline_id = $1", sms.pipeline_id)
        later = await queue.pipeline(channel_id=SMS)
        assert account.account_id == await later.account_id()
        assert account.account_id != await queue.account_id()  # e-mail stays where it was

    async def test_beside(self, queue: Queue, sms: Queue) -> None:
        account, moved = await add(queue, is_default=False)
        assert (0, 0, False) == (moved, account.pipelines, account.is_default)
        async with db.transaction(queue.pool) as database:
            removed = await service.remove_account(database, account_id=account.account_id)
            assert account.account_id == removed.account_id
            with pytest.raises(errors.NotFound):
                await service.get_account(database, account_id=account.account_id)

    async def test_the_former_one_can_be_removed(self, queue: Queue, sms: Queue) -> None:
        former = await sms.account_id()
        await add(queue)
        await queue.run(service.remove_account, account_id=former)
        assert 1 == await queue.value("select count(*) from channel_account where channel_id = 2")

    async def test_one_default_a_channel_says_the_table(self, queue: Queue, sms: Queue) -> None:
        with pytest.raises(Exception, match="channel_account_default"):
            await queue.execute(
                """insert into channel_account (organization_id, account_id, channel_id, is_default)
                   values ($1, $1, 2, true)""",
                queue.house.organization_id,
            )

    async def test_of_one_organization_alone(self, queue: Queue, neighbour: House) -> None:
        theirs = await Queue(queue.pool, neighbour, neighbour.pipeline_id).pipeline(channel_id=SMS)
        account, moved = await add(queue)
        assert 0 == moved
        assert account.account_id != await theirs.account_id()


class TestLimits:
    async def test_rate(self, queue: Queue) -> None:
        account, _ = await add(queue)
        async with db.transaction(queue.pool) as database:
            limited = await service.limit_rate(database, account_id=account.account_id, rate=5)
            lifted = await service.limit_rate(database, account_id=account.account_id, rate=None)
        assert (5, 5) == (limited.rate, limited.rate_ceiling)
        assert (None, None) == (lifted.rate, lifted.rate_ceiling)

    async def test_a_ceiling_survives_throttles(self, queue: Queue) -> None:
        account, _ = await add(queue)
        key = (account.organization_id, account.account_id)
        await queue.run(service.limit_rate, account_id=account.account_id, rate=8)
        await queue.execute("update channel_account set updated_time = now() - interval '1 minute'")
        await queue.run(health.slow_down, account=key)
        row = await queue.fetch(
            "select rate, rate_ceiling from channel_account where account_id = $1", account.account_id
        )
        assert (4.0, 8.0) == (row[0]["rate"], row[0]["rate_ceiling"])

    async def test_slots_and_title_make_a_new_version(self, queue: Queue) -> None:
        account, _ = await add(queue)
        after, _ = await queue.run(
            service.change_account, account_id=account.account_id, site=SITE, slots_max=3, title="Theirs"
        )
        assert (3, "Theirs", account.version + 1) == (after.slots_max, after.title, after.version)
        assert LOGIN == service.settings_of(after, site=SITE)

    async def test_pause_and_resume(self, queue: Queue) -> None:
        account, _ = await add(queue)
        async with db.transaction(queue.pool) as database:
            paused = await service.pause_account(database, account_id=account.account_id, reason="looking")
            resumed = await service.resume_account(database, account_id=account.account_id)
        assert ("looking", None, None) == (paused.paused_reason, resumed.paused_reason, resumed.paused_time)


async def called(
    client: httpx2.AsyncClient, url: str, fields: Mapping[str, str], *, token: str = LOGIN["auth_token"]
) -> int:
    """The status of the answer to the provider's request, signed with this token."""
    pairs = list(fields.items())
    headers = {
        "X-Twilio-Signature": twilio.sign(url, pairs, token),
        "Content-Type": "application/x-www-form-urlencoded",
    }
    return (await client.post(url, content=urlencode(pairs).encode(), headers=headers)).status_code


class TestCallbacks:
    async def test_a_receipt_of_the_account_s_provider(
        self, queue: Queue, sms: Queue, client: httpx2.AsyncClient
    ) -> None:
        account, _ = await add(queue)
        inbound_id = account.inbound_id or ""
        opened = await queue.run(
            service.open_account, organization_id=account.organization_id, account_id=account.account_id, site=SITE
        )
        assert opened is not None
        assert SITE.inbound_url(inbound_id) == opened.settings["status_url"]
        item = await sms.schedule(PHONE)
        await sms.worker().send(Sent("SM1", 201, "HTTP 201"))

        url = f"{SITE.inbound_url(inbound_id)}?{urlencode({'item': item.item_id})}"
        fields = {"MessageSid": "SM1", "MessageStatus": "undelivered", "To": PHONE, "ErrorCode": "30005"}
        assert 401 == await called(client, url, fields, token="another token")
        assert [] == await queue.fetch("select from suppression")
        assert 204 == await called(client, url, fields)
        assert 1 == await queue.value("select count(*) from event where type = 'queue_item.bounced'")
        assert "hard_bounce" == await queue.value("select reason from suppression")

    async def test_somebody_writes_stop(self, queue: Queue, sms: Queue, client: httpx2.AsyncClient) -> None:
        """Also somebody of whom nothing is known, and again without another trace; nobody else is touched."""
        account, _ = await add(queue)
        inbound_id = account.inbound_id or ""
        await sms.schedule(PHONE)
        await sms.worker().send(Sent("SM1", 201, "HTTP 201"))

        url = SITE.inbound_url(inbound_id)
        fields = {"MessageSid": "SM9", "SmsStatus": "received", "Body": "Stop"}
        assert 401 == await called(client, url, {**fields, "From": PHONE}, token="another token")
        assert [] == await queue.fetch("select from suppression")
        for sender in (PHONE, PHONE, "+306900000001", "Shop"):
            assert 204 == await called(client, url, {**fields, "From": sender})
        rows = await queue.fetch("select organization_id, channel_id, reason from suppression")
        assert [(queue.house.organization_id, SMS, "unsubscribed")] * 2 == [tuple(row.values()) for row in rows]
        assert 1 == await queue.value("select count(*) from event where type = 'responder.unsubscribed'")
        await sms.schedule(PHONE)
        assert [] == await sms.worker().claim()
        assert 1 == await queue.value("select count(*) from queue_item where status = 8 and reason = 'unsubscribed'")

    async def test_somebody_who_had_opted_out(self, sms: Queue) -> None:
        await sms.schedule(PHONE)
        await sms.worker().send(Refused("HTTP 400, 21610", 400, is_opt_out=True))
        assert "unsubscribed" == await sms.value("select reason from suppression where channel_id = 2")

    async def test_a_number_that_is_none_is_suppressed(self, sms: Queue) -> None:
        await sms.schedule(PHONE)
        await sms.worker().send(Refused("HTTP 400, 21211", 400, suppress=True))
        assert 1 == await sms.value("select count(*) from suppression where channel_id = 2")


@pytest.mark.parametrize("text", ["", "a\nb", "a\x00", "x" * (REFERENCE_CHARACTERS_MAX + 1)])
def test_no_reference(text: str) -> None:
    assert not api.is_reference(text)


async def test_each_is_kept_once(queue: Queue) -> None:
    item = await queue.schedule()
    account_id = await queue.value("select account_id from channel_account limit 1")
    known = (queue.house.organization_id, account_id, "SM1", item.item_id)
    async with db.transaction(queue.pool) as database:
        for _ in range(2):
            await api.keep_references(
                database, references=[known, (*known[:2], "a\nb", item.item_id)], now=database.clock.now()
            )
        await api.keep_references(database, references=[], now=database.clock.now())
    rows = await queue.fetch("select * from provider_reference order by 1, 2, 3 desc")
    assert ["~sm1", "SM1"] == [row["provider_reference"] for row in rows]
