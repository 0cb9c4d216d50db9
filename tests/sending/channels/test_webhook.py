"""The webhook channel: what is posted, that its receiver can verify it with the public library, what answers mean."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from msgspec.structs import replace
from standardwebhooks import Webhook, WebhookVerificationError

from afterword.kit.transport.base import WEBHOOK, Fenced, Message, Outcome
from afterword.sending.channels import webhook
from afterword.sending.channels.webhook import WebhookChannel
from tests.sending.channels import calls
from tests.sending.channels.calls import Begin, kind
from tests.sending.channels.conftest import MESSAGE
from tests.sending.channels.receiver import Receiver, Reply

SECRETS = [webhook.secret_of(b"k" * 32, "one"), webhook.secret_of(b"k" * 32, "two")]


def posting(url: str | None) -> Message:
    now = datetime.now(UTC)
    return replace(MESSAGE, channel_id=WEBHOOK, text='{"a": "ü"}', target_url=url, composed_time=now)


async def post(url: str | None, *, begin: Begin | None = None, secrets: list[str] = SECRETS) -> Outcome:
    async with calls.calling() as caller:
        channel = WebhookChannel(caller=caller, secrets_of=lambda _organization_id: secrets)
        return await channel.send(posting(url), begin=begin or Begin())


class TestSecrets:
    @pytest.mark.parametrize(
        "document",
        [{}, {"secrets": []}, {"secrets": ["x"]}, {"secrets": ["whsec_c2hvcnQ="]}, {"secrets": [*SECRETS, SECRETS[0]]},
         {"secrets": [SECRETS[0].removeprefix("whsec_")]}, {"secrets": SECRETS, "more": 1}],
    )  # fmt: skip
    def test_refused(self, document: dict[str, Any]) -> None:
        with pytest.raises(ValueError) as refused:
            webhook.settings_of(document)
        assert SECRETS[0] not in str(refused.value)

    def test_derived(self) -> None:
        assert SECRETS[0] == webhook.secret_of(b"k" * 32, "one") != SECRETS[1]
        assert webhook.secret_of(b"j" * 32, "one") != SECRETS[0]
        assert tuple(SECRETS) == tuple(webhook.settings_of({"secrets": SECRETS}).secrets)


class TestSend:
    async def test_signed_with_each_secret(self) -> None:
        async with Receiver() as receiver:
            assert "sent" == kind(await post(f"{receiver.url}/hook?a=1"))
        (given,) = receiver.given
        assert ("POST", "/hook?a=1", "application/json") == (given.method, given.target, given.headers["content-type"])
        assert MESSAGE.item_id == given.headers["webhook-id"]
        for secret in SECRETS:
            assert {"a": "ü"} == Webhook(secret).verify(given.body, dict(given.headers))
        with pytest.raises(WebhookVerificationError):
            Webhook(webhook.secret_of(b"k" * 32, "three")).verify(given.body, dict(given.headers))
        with pytest.raises(WebhookVerificationError):
            Webhook(SECRETS[0]).verify(json.dumps({"a": "b"}), dict(given.headers))

    @pytest.mark.parametrize(("status", "expected"), [(410, "refused"), (500, "recipient"), (401, "recipient")])
    async def test_answers(self, status: int, expected: str) -> None:
        async with Receiver(Reply(status)) as receiver:
            assert expected == kind(await post(receiver.url))

    @pytest.mark.parametrize("status", [429, 503])
    async def test_a_throttle_is_the_receiver_s(self, status: int) -> None:
        async with Receiver(Reply(status)) as receiver:
            outcome = await post(receiver.url)
            assert f"127.0.0.1:{receiver.port}" == getattr(outcome, "domain", None)

    async def test_a_lost_answer_is_unknown(self) -> None:
        async with Receiver(Reply(way="drop")) as receiver:
            assert "unknown" == kind(await post(receiver.url))

    async def test_nowhere(self) -> None:
        begin = Begin()
        assert "refused" == kind(await post(None, begin=begin))
        assert "recipient" == kind(await post("http://10.1.2.3/", begin=begin))  # whatever was saved
        assert 0 == begin.count

    async def test_fenced(self) -> None:
        async with Receiver() as receiver:
            with pytest.raises(Fenced):
                await post(receiver.url, begin=Begin(Fenced()))
            assert [] == receiver.given
