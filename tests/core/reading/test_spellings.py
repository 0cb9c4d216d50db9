"""Characters that mean nothing where they stand: which go, and which stay."""

import sys
import unicodedata

import pytest

from afterword.core.reading import structs


def test_invisible_characters() -> None:
    formats = [chr(one) for one in range(sys.maxunicode + 1) if unicodedata.category(chr(one)) == "Cf"]
    shown = {"Arabic", "Syriac", "Kaithi", "Egyptian", "Musical"}  # marks that are drawn, or part of a script
    hidden = [one for one in formats if unicodedata.name(one, "TAG").split()[0].title() not in shown]
    assert len(hidden) > 130
    assert not [hex(ord(one)) for one in hidden if not structs.INVISIBLE.fullmatch(one)]
    assert not structs.INVISIBLE.search("aé 1٣-\u00a0\u2011\n\t")


@pytest.mark.parametrize(
    ("text", "trimmed"),
    [
        (" a b ", "a b"),
        ("\u202a\u00a0a\u200bb\u200b \u202c", "a\u200bb"),
        ("\ufeff", ""),
        ("\u200b" * 100_000 + "a" + "\u200b " * 50_000 + "b", "a" + "\u200b " * 50_000 + "b"),
    ],
)
def test_trimmed(text: str, trimmed: str) -> None:
    assert trimmed == structs.trimmed(text)


@pytest.mark.parametrize(
    ("text", "plain"),
    [("+30 691", "+30 691"), ("\u202a+٣٠\u00a0\u2011\u2013\u2212\u202f\u06f1\u00ad", "+30 --- 1"), ("½x", "½x")],
)
def test_plain(text: str, plain: str) -> None:
    assert plain == structs.plain(text)


@pytest.mark.parametrize(
    ("text", "unmarked"),
    [
        ("'+30", "+30"),
        ("'0001043", "0001043"),
        ("'=1+1", "=1+1"),
        ("'-5", "-5"),
        ("'@ann", "@ann"),
        ("''5", "''5"),
        ("'til noon", "'til noon"),
        ("5'", "5'"),
        ("", ""),
    ],
)
def test_unmarked(text: str, unmarked: str) -> None:
    assert unmarked == structs.unmarked(text)
