"""The drawn part of a test: small in every change, all of it at night."""

import math
import os
import random
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final, NoReturn, TypeVar

import pytest

FULL: Final = os.environ.get("AFTERWORD_TEST_FAULTS") == "full"
SEED_VARIABLE: Final = "AFTERWORD_TEST_SEED"
DRAW_VARIABLE: Final = "AFTERWORD_TEST_DRAW"

T = TypeVar("T")


def size(here: int, full: int) -> int:
    """A volume: in every change, and at full size."""
    return full if FULL else here


def lack(what: str) -> NoReturn:
    """Something that this test needs is not here: it is left out, but at full size that is a failure."""
    if FULL:
        pytest.fail(f"a nightly run needs {what}")
    pytest.skip(f"needs {what}")


def one_of(cases: Sequence[T]) -> Sequence[T]:
    """One of the cases, another one for each commit; all of them at full size."""
    return cases if FULL else [random.Random(f"{draw_by()} {cases}").choice(cases)]  # noqa: S311


def share_of(cases: Sequence[T], share: float) -> Sequence[T]:
    """So large a part of the cases, another one for each commit; all of them at full size."""
    if FULL:
        return cases
    return random.Random(f"{draw_by()} {cases}").sample(cases, math.ceil(share * len(cases)))  # noqa: S311


@cache
def draw_by() -> str:
    """The text that picks a part of many: the same in all processes of a run, another one for each commit."""
    return os.environ.get(DRAW_VARIABLE) or _commit()


@cache
def touched() -> tuple[str, ...]:
    """The folders of tests of what this commit changes; its pages and styles are tested in the browser."""
    changed = _git("diff-tree", "--no-commit-id", "--name-only", "-r", draw_by()).split("\n")
    areas = {path.split("/")[1] for path in changed if path.startswith(("afterword/", "tests/"))}
    return tuple(f"tests/{'browser' if one in {'locale', 'static', 'templates'} else one}/" for one in sorted(areas))


def _commit() -> str:
    """The commit that is tested; "none" outside of a repository."""
    return _git("rev-parse", "HEAD") or "none"


def _git(*words: str) -> str:
    git = ["/usr/bin/env", "git", *words]
    return subprocess.run(git, cwd=Path(__file__).parent, capture_output=True, text=True, check=False).stdout.strip()
