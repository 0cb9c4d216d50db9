"""A provider's text as it is kept: one line, short, without addresses."""

import pytest

from afterword.kit.transport.mime import TEXT_CHARACTERS_MAX, worded


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("", ""),
        ("550 <ann@example.com>\r\n unknown\x00", "550 <[address]> unknown"),
        ("no +306912345678 here", "no [address] here"),
        ("x" * 3000, "x" * TEXT_CHARACTERS_MAX),
    ],
)
def test_worded(text: str, kept: str) -> None:
    assert kept == worded(text, "+306912345678")
