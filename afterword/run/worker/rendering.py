"""Encodes a message for the way back from a process of its own."""

from collections.abc import Callable
from typing import Final

import msgspec

from afterword.kit.transport.base import Message
from afterword.run.worker.failures import cause_of

_MESSAGE: Final = msgspec.json.Decoder(Message)
_DONE, _FAILED = b"m", b"e"


class Failed(Exception):
    """Composing failed there; the sentence is for the item's result, addresses masked."""


def written(compose: Callable[[], Message], *addresses: str) -> bytes:
    try:
        return _DONE + msgspec.json.encode(compose())
    except Exception as error:  # noqa: BLE001  it becomes the item's result
        return _FAILED + cause_of("", error, *addresses).removeprefix(": ").encode()


def read(content: bytes) -> Message:
    """The message; raises Failed."""
    if content[:1] != _DONE:
        raise Failed(content[1:].decode())
    return _MESSAGE.decode(content[1:])
