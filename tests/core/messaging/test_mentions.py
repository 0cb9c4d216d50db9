"""Whom a comment mentions."""

import pytest

from afterword.core.messaging.reply_text import mentioned

PEOPLE = {"anna": ["anna@demo.example", "Anna"], "maria": ["maria@demo.example", "Anna Maria"], "eleni": ["Ελένη", ""]}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", set[str]()),
        ("@ nobody", set[str]()),
        ("@anna@demo.example please", {"anna"}),
        ("Please, @anna.", {"anna"}),
        ("(@ANNA)", {"anna"}),
        ("@Annabel", set[str]()),
        ("anna@anna", set[str]()),  # an address, no mention
        ("mail@anna, but @anna too", {"anna"}),
        ("@Anna Maria knows", {"anna", "maria"}),
        ("@ελένη!", {"eleni"}),
    ],
)
def test_mentioned(text: str, expected: set[str]) -> None:
    assert expected == mentioned(text, PEOPLE)
