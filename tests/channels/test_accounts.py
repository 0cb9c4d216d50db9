"""Kinds of accounts as the documentation shows them: its examples are settings that would be taken, and work."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from afterword.channels import accounts as kinds
from afterword.channels.http import check_url
from afterword.channels.sms import gateway
from tests.channels import calls
from tests.channels.calls import TEXT, Begin, kind
from tests.channels.receiver import Receiver, Reply

PAGE = Path(__file__).parents[2] / "docs" / "sms.md"
NAMES = {"gateway": "sms_http", "sms_twilio": "sms_twilio", "smpp": "smpp"}
EXAMPLES = [
    (NAMES[name], tomllib.loads(text))
    for name, text in re.findall(r"<!-- (\w+) -->\n```toml\n(.*?)```", PAGE.read_text(), re.DOTALL)
]


def test_the_page_has_examples() -> None:
    assert ["sms_http", "sms_http", "sms_twilio", "smpp"] == [name for name, _ in EXAMPLES]


@pytest.mark.parametrize(("name", "settings"), EXAMPLES)
def test_examples_would_be_taken(name: str, settings: dict[str, Any]) -> None:
    known = kinds.kind_of(name)
    assert known is not None
    kinds.check(known, settings)
    assert [None] * len(kinds.urls_of(known, settings)) == [
        check_url(url, ()) for url in kinds.urls_of(known, settings)
    ]


async def test_the_first_gateway_is_spoken_to_as_it_says() -> None:
    settings = dict(EXAMPLES[0][1])
    body = {"messages": [{"message_id": "g1", "status": "accepted"}]}
    async with Receiver(Reply(200, json.dumps(body).encode())) as receiver, calls.calling() as caller:
        settings["url"] = receiver.url
        channel = gateway.GatewayChannel(gateway.settings_of(settings), caller=caller)
        outcome = await channel.send(TEXT, begin=Begin())
        assert "sent" == kind(outcome)
        assert "g1" == getattr(outcome, "reference", None)
        asked = json.loads(receiver.given[0].body)
        assert (TEXT.item_id, "306912345678") == (asked["client_id"], asked["messages"][0]["to"])
        receiver.reply = Reply(200, b'{"messages": [{"status": "no_credit"}]}')
        assert "account" == kind(await channel.send(TEXT, begin=Begin()))


async def test_the_second_gateway_too() -> None:
    settings = dict(EXAMPLES[1][1])
    async with Receiver(Reply(200, b"OK")) as receiver, calls.calling() as caller:
        settings["url"] = settings["url"].replace("https://sms.gateway.example", receiver.url)
        channel = gateway.GatewayChannel(gateway.settings_of(settings), caller=caller)
        assert "sent" == kind(await channel.send(TEXT, begin=Begin()))
        assert receiver.given[0].target.startswith("/send?user=harbour&key=9d2f&to=306912345678&text=%CE%93")
    found = gateway.parse_callback(
        {"x-token": "another secret of the gateway"}, "ref=item&status=16", b"", "", gateway.settings_of(settings)
    )
    assert [("item", "failed", True)] == [(report.item_id, report.kind, report.is_hard) for report in found]


def test_every_kind_makes_a_channel_of_its_number() -> None:
    assert {"smtp": 1, "sms_http": 2, "sms_twilio": 2, "smpp": 2, "webhook": 3} == dict(kinds.CHANNELS)
    assert kinds.kind_of("default") is None
