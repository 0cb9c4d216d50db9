"""Sizes and kinds of files in words."""

import pytest

from afterword.asking.instances import answer_page
from afterword.core.answers.files import RefusedFile
from afterword.kit.texts import texts
from tests.core.answers.questions import question


@pytest.mark.parametrize(
    ("size", "language", "text"),
    [
        (1, "en", "1 kB"),
        (81_920, "en", "80 kB"),
        (5_242_880, "en", "5 MB"),
        (1_572_864, "de", "1,5 MB"),
        (10_000, "en", "10 kB"),
        (1_000_000, "en", "1 MB"),
        (2_500_000, "de", "2,5 MB"),
    ],
)
def test_sizes(size: int, language: str, text: str) -> None:
    assert text == answer_page.written_size(size, texts("pages", language))


def test_the_first_that_was_refused() -> None:
    asked, words = question("file", file_types=("picture", "text")), texts("pages", "en")
    assert ("JPG, PNG, WEBP, GIF, TXT, CSV", "10 kB") == answer_page.allowed_files(asked, words)
    assert not answer_page.refused_text(asked, (), words)
    told = answer_page.refused_text(asked, [RefusedFile("a", "empty"), RefusedFile("b", "damaged")], words)
    assert "“\u2068a\u2069” is empty." == told
