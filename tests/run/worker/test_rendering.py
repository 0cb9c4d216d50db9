"""The way back of a message from a process of its own: the same message, or why there is none."""

import pytest

from afterword.kit.transport.base import Message
from afterword.run.worker import sender
from tests.sending.channels.conftest import MESSAGE


def test_failed() -> None:
    def compose() -> Message:
        raise ValueError("no ann@example.com")

    with pytest.raises(sender.Failed, match=r"ValueError: no \[address\]"):
        sender.read(sender.written(compose, "ann@example.com"))


def test_the_same_message() -> None:
    assert MESSAGE == sender.read(sender.written(lambda: MESSAGE))
