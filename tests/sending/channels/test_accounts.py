"""Kinds of accounts as the documentation shows them: its examples are settings that would be taken, and work."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from afterword.kit.transport.http import check_url
from afterword.sending.channels import accounts as kinds
from afterword.sending.channels.sms import gateway
from tests.sending.channels import calls
from tests.sending.channels.calls import TEXT, Begin, kind
from tests.sending.channels.receiver import Receiver, Reply

PAGE = Path(__file__).parents[3] / "docs" / "sms.md"
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
    asked = dict(parse_qsl(urlsplit(receiver.given[0].target).query))
    assert (TEXT.text, "306912345678", "2") == (asked["text"], asked["to"], asked["coding"])
    called = urlsplit(asked["dlr-url"].replace("%d", "16")).query  # as the gateway calls it
    found = gateway.parse_callback({}, called, b"", "", gateway.settings_of(settings))
    assert [(TEXT.item_id, "failed")] == [(report.item_id, report.kind) for report in found]


def test_every_kind_makes_a_channel_of_its_number() -> None:
    assert {"smtp": 1, "sms_http": 2, "sms_twilio": 2, "smpp": 2, "webhook": 3} == dict(kinds.CHANNELS)
    assert kinds.kind_of("default") is None
