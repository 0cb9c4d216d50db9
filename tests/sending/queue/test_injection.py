"""Hostile texts wherever a mail is made of texts, sent over SMTP: the raw message has its headers and one reader."""

import asyncio
from collections.abc import Callable
from typing import Any

import httpx2
import pytest
from msgspec.structs import replace

from afterword.kit.transport.base import Message, Outcome, Refused, Sent
from afterword.sending.channels.email import EmailChannel
from afterword.sending.messages import composing
from tests.bar import Tell
from tests.kit.transport.test_mime import ATTACKS, MEASURED
from tests.sending.channels.sink import Mail, Sink
from tests.sending.messages.test_email import Pipeline, compose
from tests.sending.queue.conftest import BODY, Client, Queue

HEADERS = [
    "From", "To", "Reply-To", "Subject", "Date", "Message-ID", "MIME-Version", "Auto-Submitted", "Content-Language",
    "List-Unsubscribe", "List-Unsubscribe-Post", "X-Afterword-Item", "Feedback-ID", "Content-Type",
]  # fmt: skip
EVERYWHERE = "{{ item.external_reference | x }} {{ responder.first_name | x }} {{ questionnaire.order | x }}"
PLACES: dict[str, Callable[[str], Message]] = {
    "subject": lambda text: compose(pipeline=_pipeline(message_subject=text)),
    "body": lambda text: compose(pipeline=_pipeline(message_body=text or "x")),
    "fallback": lambda text: compose(pipeline=_pipeline(message_subject=f"{{{{ responder.no | {text} }}}}")),
    "sender name": lambda text: compose(pipeline=_pipeline(sender_name=text or None)),
    "organization": lambda text: compose(pipeline=_pipeline(), organization_name=text),
    "postal address": lambda text: compose(pipeline=_pipeline(), postal_address=text),
    "responder's metadata": lambda text: compose(pipeline=_pipeline(), responder={"first_name": text}),
    "questionnaire's metadata": lambda text: compose(pipeline=_pipeline(), metadata={"order": text}),
    "external reference": lambda text: compose(pipeline=_pipeline(), external_reference=text),
    "locale": lambda text: replace(
        compose(pipeline=_pipeline()), headers={**compose(pipeline=_pipeline()).headers, "Content-Language": text}
    ),
    "unsubscribe link": lambda text: compose(pipeline=_pipeline(), unsubscribe_id=text or "u"),
}


def _pipeline(**fields: Any) -> Pipeline:
    """All variables in the subject too, and a cache key of its own."""
    known: dict[str, Any] = {"message_subject": EVERYWHERE, "message_body": EVERYWHERE, "reply_to": "help@shop.example"}
    composing._compiled.clear()
    return Pipeline(**{**known, **fields})


@pytest.mark.parametrize("place", PLACES)
async def test_in_every_place(place: str, tell: Tell) -> None:
    async with Sink() as sink:
        channel = EmailChannel(sink.url, 4)

        async def deliver(text: str) -> Outcome:
            return await channel.send(PLACES[place](text), begin=nothing)

        outcomes = await asyncio.gather(*map(deliver, ATTACKS), return_exceptions=True)
        await channel.close()
    crashes = [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
    exact = [one for one in sink.mails if names_of(one) == HEADERS and one.recipients == ["ann@example.org"]]
    tell(MEASURED, messages=len(outcomes), exact=len(exact), crashes=len(crashes), whole=len(PLACES))
    assert [] == crashes
    assert [Sent] * len(ATTACKS) == [type(outcome) for outcome in outcomes]
    assert len(ATTACKS) == len(sink.mails)
    for one in sink.mails:
        assert HEADERS == names_of(one)
        assert ["ann@example.org"] == one.recipients
        assert "survey@localhost.example" == one.sender
        assert max(len(line) for line in one.content.split(b"\r\n")) <= 998
        assert b"\n" not in one.content.replace(b"\r\n", b"")
        assert b"\r" not in one.content.replace(b"\r\n", b"")
        assert b"\0" not in one.content
        assert "help@shop.example" == one.parsed["Reply-To"]
        assert [] == [part for part in one.parsed.walk() if part.defects]
    verbs = [command.partition(" ")[0] for command in sink.commands]
    assert {"EHLO", "MAIL", "RCPT", "DATA", "QUIT"} == set(verbs)
    assert len(ATTACKS) == verbs.count("MAIL") == verbs.count("RCPT") == verbs.count("DATA")


def names_of(one: Mail) -> list[str]:
    """The names of its headers, in their order."""
    head, _, _ = one.content.partition(b"\r\n\r\n")
    return [line.partition(b":")[0].decode() for line in head.split(b"\r\n") if not line.startswith(b" ")]


async def nothing() -> None:
    """No step of the caller's own before the message."""


ADDRESSES: list[dict[str, str]] = [
    {"recipient": "ann@example.org>\r\nRCPT TO:<eve@example.org"},
    {"recipient": "ann@example.org\rRCPT TO:<eve@example.org>"},
    {"recipient": "ann@example.org\nRCPT TO:<eve@example.org>"},
    {"recipient": "ann@example.org> SIZE=1"},
    {"recipient": "<ann@example.org>"},
    {"recipient": "ann@example.org\u2028eve@example.org"},
    {"recipient": "ann@example.org\0"},
    {"recipient": "ann,eve@example.org"},
    {"recipient": "@relay.example:ann@example.org"},
    {"recipient": "=?utf-8?q?ann=40example.org=2C_eve?= <eve@example.org>"},
    {"recipient": f"{'a' * 1_000}@example.org"},
    {"recipient": f"jürgen@{'ä' * 1_000}.example"},
    {"sender": "survey@shop.example> SMTPUTF8"},
    {"sender": "survey@shop.example\r\nDATA"},
    {"sender": f"{'a' * 1_000}@shop.example"},
    {"reply_to": "eve@example.org\nBcc: all@example.org"},
    {"reply_to": "eve@example.org\u2028Bcc: all@example.org"},
    {"reply_to": f"{'a' * 1_000}@shop.example"},
]


@pytest.mark.parametrize("fields", ADDRESSES, ids=lambda fields: ascii(fields)[:60])
async def test_an_address_that_is_more_than_one(fields: dict[str, str], tell: Tell) -> None:
    message = replace(compose(pipeline=_pipeline()), **fields)
    async with Sink(extensions=("SMTPUTF8", "8BITMIME")) as sink:
        channel = EmailChannel(sink.url, 1)

        async def begin() -> None:
            raise AssertionError

        outcome = await channel.send(message, begin=begin)
        await channel.close()
    tell(
        "{addresses} addresses that are none: refused {refused}, commands to the server {commands}",
        addresses=1, refused=isinstance(outcome, Refused), commands=len(sink.commands), whole=len(ADDRESSES),
    )  # fmt: skip
    assert isinstance(outcome, Refused)
    assert [] == sink.commands


RECIPIENTS = [fields["recipient"] for fields in ADDRESSES if "recipient" in fields]


async def test_such_recipients_are_refused_at_the_door(http: httpx2.AsyncClient, queue: Queue, tell: Tell) -> None:
    client = Client(http, queue)
    answers = [
        await client.send("POST", client.items, {**BODY, "responder_channel_identifier": each}) for each in RECIPIENTS
    ]
    statuses = [answer.status_code for answer in answers]
    tell(f"{len(statuses)} of them as recipients over HTTP: refused {sum(each in {400, 422} for each in statuses)}")
    # A body with NUL in a text is none that can be read, before anything looks at its members.
    assert [400 if "\0" in each else 422 for each in RECIPIENTS] == statuses
    assert 0 == await queue.value("select count(*) from queue_item")


@pytest.mark.parametrize("is_able", [True, False])
async def test_letters_beyond_ascii_in_the_address(*, is_able: bool) -> None:
    """One reader where the server can carry it, and else no mail at all."""
    message = replace(compose(pipeline=_pipeline()), recipient="jürgen@bücher.example")
    async with Sink(extensions=("SMTPUTF8", "8BITMIME") if is_able else ()) as sink:
        channel = EmailChannel(sink.url, 1)
        outcome = await channel.send(message, begin=nothing)
        await channel.close()
    assert (Sent if is_able else Refused) is type(outcome)
    assert [["jürgen@xn--bcher-kva.example"]] * is_able == [one.recipients for one in sink.mails]
    assert [HEADERS] * is_able == [names_of(one) for one in sink.mails]
