"""How much of a test runs: a part in every change, all of it at night; and what that part is drawn by."""

import os
import subprocess
from functools import cache
from pathlib import Path
from typing import Final

FULL: Final = os.environ.get("AFTERWORD_TEST_FAULTS") == "full"
SEED_VARIABLE: Final = "AFTERWORD_TEST_SEED"
DRAW_VARIABLE: Final = "AFTERWORD_TEST_DRAW"


def size(here: int, full: int) -> int:
    """A volume: in every change, and at full size."""
    return full if FULL else here


@cache
def draw_by() -> str:
    """The text that picks a part of many: the same in all processes of a run, another one for each commit."""
    return os.environ.get(DRAW_VARIABLE) or _commit()


def _commit() -> str:
    """The commit that is tested; "none" outside of a repository."""
    found = subprocess.run(
        ["/usr/bin/env", "git", "rev-parse", "HEAD"],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=False,
    )
    return found.stdout.strip() or "none"
