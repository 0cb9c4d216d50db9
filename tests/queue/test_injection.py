"""Hostile texts wherever a mail is made of texts, sent over SMTP: the raw message has its headers and one reader."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from afterword.channels.base import Message, Refused, Sent
from afterword.channels.email import EmailChannel
from afterword.queue import mail
from tests.channels.sink import Mail, Sink
from tests.channels.test_mime import ATTACKS
from tests.queue.test_mail import Pipeline, compose

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
    "external reference": lambda text: compose(pipeline=_pipeline(), occasion=mail.Occasion(external_reference=text)),
    "locale": lambda text: replace(
        compose(pipeline=_pipeline()), headers={**compose(pipeline=_pipeline()).headers, "Content-Language": text}
    ),
    "unsubscribe link": lambda text: compose(pipeline=_pipeline(), unsubscribe_id=text or "u"),
}


def _pipeline(**fields: Any) -> Pipeline:
    """All variables in the subject too, and a cache key of its own."""
    known: dict[str, Any] = {"message_subject": EVERYWHERE, "message_body": EVERYWHERE, "reply_to": "help@shop.example"}
    mail.forget()
    return Pipeline(**{**known, **fields})


async def deliver(*messages: Message) -> tuple[list[Mail], list[str]]:
    async with Sink() as sink:
        channel = EmailChannel(sink.url, 4)

        async def begin() -> None:
            pass

        outcomes = await asyncio.gather(*(channel.send(message, begin=begin) for message in messages))
        await channel.close()
        assert [Sent] * len(messages) == [type(outcome) for outcome in outcomes]
        return sink.mails, sink.commands


@pytest.mark.parametrize("place", PLACES)
async def test_in_every_place(place: str) -> None:
    messages = [PLACES[place](text) for text in ATTACKS]
    mails, commands = await deliver(*messages)
    assert len(ATTACKS) == len(mails)
    for one in mails:
        head, _, _ = one.content.partition(b"\r\n\r\n")
        names = [line.partition(b":")[0].decode() for line in head.split(b"\r\n") if not line.startswith(b" ")]
        assert HEADERS == names
        assert ["ann@example.org"] == one.recipients
        assert "survey@localhost.example" == one.sender
        assert max(len(line) for line in one.content.split(b"\r\n")) <= 998
        assert b"\n" not in one.content.replace(b"\r\n", b"")
        assert b"\r" not in one.content.replace(b"\r\n", b"")
        assert b"\0" not in one.content
        assert "help@shop.example" == one.parsed["Reply-To"]
        assert [] == [part for part in one.parsed.walk() if part.defects]
    verbs = [command.partition(" ")[0] for command in commands]
    assert {"EHLO", "MAIL", "RCPT", "DATA", "QUIT"} == set(verbs)
    assert len(ATTACKS) == verbs.count("MAIL") == verbs.count("RCPT") == verbs.count("DATA")


@pytest.mark.parametrize(
    "fields",
    [
        {"recipient": "ann@example.org>\r\nRCPT TO:<eve@example.org"},
        {"recipient": "ann@example.org> SIZE=1"},
        {"recipient": "<ann@example.org>"},
        {"recipient": "ann@example.org\u2028eve@example.org"},
        {"recipient": "ann@example.org\0"},
        {"recipient": "ann,eve@example.org"},
        {"recipient": "@relay.example:ann@example.org"},
        {"sender": "survey@shop.example> SMTPUTF8"},
        {"reply_to": "eve@example.org\nBcc: all@example.org"},
    ],
)
async def test_an_address_that_is_more_than_one(fields: dict[str, str]) -> None:
    message = replace(compose(pipeline=_pipeline()), **fields)  # pyright: ignore[reportArgumentType]
    async with Sink() as sink:
        channel = EmailChannel(sink.url, 1)

        async def begin() -> None:
            raise AssertionError

        outcome = await channel.send(message, begin=begin)
        await channel.close()
        assert isinstance(outcome, Refused)
        assert [] == sink.commands
