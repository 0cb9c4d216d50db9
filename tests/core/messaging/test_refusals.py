"""Judging refusals: the code that counts, and whether it is certain that the address does not exist."""

import tomllib
from pathlib import Path
from typing import Final

import pytest

from afterword.core.messaging.refusals import SAID_CHARACTERS_MAX, SUPPRESSING, code_of, judge

ANN: Final = "<ann@example.org>"
TABLES: Final = tomllib.loads(Path(__file__).with_name("refusals.toml").read_text())


@pytest.mark.parametrize(("code", "status", "said"), TABLES["gone"])
def test_nobody_is_there(code: str, status: str, said: str) -> None:
    assert (code, True) == judge(status, said)


@pytest.mark.parametrize(("code", "status", "said"), TABLES["not_gone"])
def test_not_certain(code: str, status: str, said: str) -> None:
    assert (code, False) == judge(status, said)


def test_words_after_the_whole_message_may_be_about_it() -> None:
    for around in ("SMTP error from remote mail server after end of data:", "(in reply to end of DATA command)"):
        assert ("5.0.0", False) == judge("5.0.0", f"550 {ANN}: User unknown", around)
        assert ("5.1.1", True) == judge("5.0.0", f"550 5.1.1 {ANN}: User unknown", around)


@pytest.mark.parametrize("code", sorted(SUPPRESSING))
def test_the_codes_alone(code: str) -> None:
    assert (code, True) == judge(code, "") == judge("", f"550 {code} no")


@pytest.mark.parametrize(
    ("code", "status", "said"),
    [
        ("5.1.1", "5.0.0", "550 5.1.1 x"),
        ("5.7.1", "5.7.1", "550 5.1.1 x"),
        ("5.1.1", "5.1.1", "550 5.0.0 x"),
        ("550", "", "host mx.example [192.0.2.55] said: 550 No"),
        ("", "", "at 550.5.1 in 5500 of 192.5.1.1"),
    ],
)
def test_code_of(code: str, status: str, said: str) -> None:
    assert code == code_of(status, said)


def test_a_long_reply_is_cut() -> None:
    assert ("", False) == judge("", "a" * SAID_CHARACTERS_MAX + " 550 5.1.1")
