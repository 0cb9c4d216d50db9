"""The tokens and draws of a form: the same each time, other ones for another purpose, subject or secret."""

import pytest

from afterword.core.answers.suspicion import TOKEN_CHARACTERS, draws_of, is_token, number_of, token_of

SECRET = b"s" * 32


def test_a_token_is_for_one_purpose_and_subject() -> None:
    token = token_of(SECRET, "answer", "I1")

    assert TOKEN_CHARACTERS == len(token)
    assert token == token_of(SECRET, "answer", "I1")
    assert is_token(token, secret=SECRET, purpose="answer", subject="I1")
    assert not is_token(token, secret=SECRET, purpose="start", subject="I1")
    assert not is_token(token, secret=SECRET, purpose="answer", subject="I2")
    assert not is_token(token, secret=b"t" * 32, purpose="answer", subject="I1")


@pytest.mark.parametrize("token", ["", "0" * TOKEN_CHARACTERS, "\u0663", "\ud800", "x" * 10_000])
def test_other_texts_are_refused(token: str) -> None:
    assert not is_token(token, secret=SECRET, purpose="answer", subject="I1")


def test_numbers_and_draws_repeat() -> None:
    draws, again, others = (draws_of(SECRET, "draw", subject) for subject in ("I1", "I1", "I2"))
    drawn = [draws() for _ in range(100)]

    assert number_of(SECRET, "draw", "I1") == number_of(SECRET, "draw", "I1") < 1 << 128
    assert drawn == [again() for _ in range(100)]
    assert drawn != [others() for _ in range(100)]
    assert 100 == len(set(drawn))
    assert all(0 <= one < 1 for one in drawn)
