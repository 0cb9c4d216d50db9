"""A person's own words in answers, by kind of quotation."""

import pytest

from afterword.core.messaging import reply_text


@pytest.mark.parametrize(
    "text",
    ["Thanks.", "Thanks.\n\nOn Tue, 5 Jan 2021 Ben wrote:\n> Hello", "Thanks.\n> Hello\n> Ann"],
)
def test_quoted_text_goes(text: str) -> None:
    assert "Thanks." == reply_text.own_words(text)
