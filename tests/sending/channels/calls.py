"""A caller that may reach this machine, a counter of beginnings, and the kinds of outcomes: for channels over HTTP."""

import ipaddress
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from msgspec.structs import replace

from afterword.kit.transport.base import SMS, Message, Outcome, Refused, Retry, Sent, Unknown
from afterword.kit.transport.http import Caller
from tests.sending.channels.conftest import MESSAGE

LOOPBACK = (ipaddress.ip_network("127.0.0.0/8"),)
TEXT = replace(MESSAGE, channel_id=SMS, recipient="+306912345678", text="Γεια 100% & {to}?", subject="", html="")


@asynccontextmanager
async def calling() -> AsyncGenerator[Caller]:
    caller = Caller(allowed=LOOPBACK)
    try:
        yield caller
    finally:
        await caller.close()


class Begin:
    """Counts how often the point of no return was reached; `fault` is raised there."""

    def __init__(self, fault: BaseException | None = None) -> None:
        self.count, self.fault = 0, fault

    async def __call__(self) -> None:
        self.count += 1
        if self.fault is not None:
            raise self.fault


def kind(outcome: Outcome) -> str:
    match outcome:
        case Sent():
            return "sent"
        case Unknown():
            return "unknown"
        case Refused(suppress=suppress):
            return "no address" if suppress else "refused"
        case Retry(cause=cause):
            return cause


def sms(text: str = TEXT.text) -> Message:
    return replace(TEXT, text=text)
