"""Which passwords are taken: by length, and not the first ones that are tried."""

import pytest
from hypothesis import given, strategies as st

from afterword.core.organizations.passwords import CHARACTERS_MAX, COMMON, normal, password_errors

OWN = ("olga@kalamata.example", "Olga Nikolaou", "Kalamata Books")


@pytest.mark.parametrize(
    ("password", "code"),
    [
        ("", "too_short"),
        ("fourteen chars", "too_short"),
        ("x" * 257, "too_long"),
        ("a" * 20, "too_common"),
        ("abcdefghijklmnopqrs", "too_common"),
        ("987654321098765", "too_common"),
        ("qwerty1qwerty1qwerty1", "too_common"),
        ("Password-12345678", "too_common"),
        ("PASSWORD PASSWORD", "too_common"),
        ("olganikolaou2026", "too_personal"),
        ("Kalamata Books 1!", "too_personal"),
        ("four words make a password", None),
        ("τέσσερις λέξεις αρκούν", None),
        ("aB3$" + "k" * 3 + "Zq9!mW2@x", None),
        ("correct horse battery staple 7 kalamata", None),
    ],
)
def test_judged(password: str, code: str | None) -> None:
    assert ([code] if code else []) == [one.code for one in password_errors(password, own=OWN)]


def test_with_a_second_factor() -> None:
    assert [] == password_errors("eight ch", has_second_factor=True)
    assert ["too_short"] == [one.code for one in password_errors("seven c", has_second_factor=True)]


@given(st.text(max_size=CHARACTERS_MAX + 5))
def test_any_text_is_judged_with_a_field(password: str) -> None:
    found = password_errors(password, own=OWN, name="secret")
    assert all(one.pointer == "/secret" for one in found)
    assert len(found) <= 1


def test_the_same_however_it_is_composed() -> None:
    assert normal("O\u0301lga") == normal("\u00d3lga")
    assert all(word == "".join(filter(str.isalnum, word.casefold())) for word in COMMON)
