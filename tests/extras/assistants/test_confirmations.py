"""A code confirms one change of one caller, once, for a quarter of an hour."""

from typing import Any

import pytest

from afterword.extras.assistants.client import Refused
from afterword.extras.assistants.tools import CODE_CHARACTERS_MAX, CONFIRMATION_SECONDS, Confirmations

CHANGE: dict[str, Any] = {"caller": "a", "tool": "cancel_item", "arguments": {"item_id": "1", "why": "x"}}
NOW = 1_790_000_000.0


@pytest.mark.parametrize(
    "other",
    [{"caller": "b"}, {"tool": "comment_case"}, {"arguments": {"item_id": "2", "why": "x"}}],
)
def test_of_another_change(other: dict[str, Any]) -> None:
    confirmations = Confirmations(b"k" * 32, clock=lambda: NOW)
    code = confirmations.issue(**CHANGE, version='"1"')
    with pytest.raises(Refused, match="not for this change"):
        confirmations.check(code, **{**CHANGE, **other})


def test_of_another_installation_or_made_up() -> None:
    confirmations = Confirmations(b"k" * 32, clock=lambda: NOW)
    code = Confirmations(b"m" * 32, clock=lambda: NOW).issue(**CHANGE, version="")
    for wrong in (code, code[:-3], "", "yes", "é", "a" * 77):
        with pytest.raises(Refused, match="Call the tool without a confirmation"):
            confirmations.check(wrong, **CHANGE)


def test_ends() -> None:
    now = [NOW]
    confirmations = Confirmations(b"k" * 32, clock=lambda: now[0])
    code = confirmations.issue(**CHANGE, version='"1"')
    now[0] += CONFIRMATION_SECONDS
    assert '"1"' == confirmations.check(code, **CHANGE).version
    now[0] += 1
    with pytest.raises(Refused, match="older than 15 minutes"):
        confirmations.check(code, **CHANGE)


def test_each_dry_run_confirms_a_change_of_its_own() -> None:
    confirmations = Confirmations(b"k" * 32, clock=lambda: NOW)
    codes = [confirmations.issue(**CHANGE, version="") for _ in range(2)]
    keys = [confirmations.check(code, **CHANGE).key for code in codes]
    assert len(set(keys)) == len(codes)
    assert keys[0] == confirmations.check(codes[0], **CHANGE).key
    assert max(map(len, codes)) < CODE_CHARACTERS_MAX
