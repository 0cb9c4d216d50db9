"""The reason codes of `core.scheduling` are those that the code gives, and those that docs/rules.md explains."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from afterword.core.scheduling import statuses
from afterword.kit.transport.base import Cause
from afterword.people.responders.suppressions import REASONS as SUPPRESSION_REASONS

SOURCE = Path(__file__).parents[3] / "afterword"
PAGE = Path(__file__).parents[3].joinpath("docs/rules.md").read_text(encoding="utf-8")
PLACES = {"_skip": 1, "Check": 2, "Block": 0, "Decision": 1}  # which argument of a call is a reason
FILES = (
    "core/scheduling/decisions.py",
    "sending/queue/lanes.py",
    "sending/queue/sending/dispatches.py",
    "sending/queue/sending/outcomes.py",
)


def given(path: Path) -> Iterator[str]:
    """The literals that stand where a reason does."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            name = node.func.id if isinstance(node.func, ast.Name) else ""
            found = [node.args[PLACES[name]]] if len(node.args) > PLACES.get(name, 9) else []
            found += [keyword.value for keyword in node.keywords if keyword.arg == "reason"]
            for value in found:
                if isinstance(value, ast.Constant) and isinstance(value.value, str):
                    yield value.value


@pytest.mark.parametrize("file", FILES)
def test_every_code_that_is_given_is_listed(file: str) -> None:
    found = set(given(SOURCE / file))
    assert found
    assert set() == found - statuses.REASONS


def test_every_code_that_is_listed_is_given() -> None:
    text = "\n".join(path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py") if path.name != "reasons.py")
    assert set() == {code for code in statuses.REASONS if f'"{code}"' not in text}


def test_those_of_others() -> None:
    assert set(SUPPRESSION_REASONS) == set(statuses.SUPPRESSED)
    assert {"recipient", "throttle"} == set(get_args(Cause)) - set(statuses.BY_ATTEMPT)


def test_the_page_explains_them_all() -> None:
    table = PAGE.partition("## The nine, in their order")[2].partition("## The contact policy")[0]
    rows = re.findall(r"^\|.*\|.*\|.*\|(.*)\|$", table, re.MULTILINE)[2:]
    told = {code for row in rows for code in re.findall(r"`([a-z_]+)`", row)}
    assert told == {*statuses.BY_RULE, *statuses.BY_LANE, *statuses.SKIPPED}
    after = table.partition("After an attempt")[2].partition("\n## ")[0]
    assert {*statuses.BY_ATTEMPT, *statuses.FAILED} == set(re.findall(r"`([a-z]+(?:_[a-z]+)?)`", after)) - {"reason"}
