"""`make test`, `check` and `nightly` run both halves of the tests whatever becomes of the first one, and then fail."""

import os
import re
import stat
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FIRST, SECOND = "not faults and not nightly", "faults and not nightly"
STUB = """#!/bin/sh
echo "$(basename $0) $*" >> "$RUNS"
case "$(basename $0) $*" in *"$RED"*) exit 1;; esac
"""


@pytest.fixture
def venv(tmp_path: Path) -> Path:
    """An installed environment, as make sees it, of programs that only note that they ran."""
    folder = tmp_path / "venv"
    (folder / "bin").mkdir(parents=True)
    for name in ("python", "pytest", "ruff", "lint-imports", "pyrefly"):
        stub = folder / "bin" / name
        stub.write_text(STUB)
        stub.chmod(stub.stat().st_mode | stat.S_IXUSR)
    (folder / ".installed").touch()
    return folder


def made(venv: Path, target: str, *, red: str) -> tuple[bool, list[str]]:
    """Whether the target succeeds where the command with `red` in it fails; the commands that were run."""
    runs = venv.parent / "runs"
    outcome = subprocess.run(
        ["/usr/bin/env", "make", target, f"VENV={venv}"],
        cwd=ROOT,
        env={**{name: text for name, text in os.environ.items() if name not in {"MAKEFLAGS", "MAKELEVEL"}},
             "RUNS": str(runs), "RED": red},
        capture_output=True,
        check=False,
    )  # fmt: skip
    return outcome.returncode == 0, runs.read_text().splitlines()


@pytest.mark.parametrize("target", ["test", "check"])
@pytest.mark.parametrize("red", [f"-m {FIRST}", f"-m {SECOND}"])
def test_both_halves_run_though_one_fails(venv: Path, target: str, red: str) -> None:
    is_green, runs = made(venv, target, red=red)
    assert not is_green
    assert [FIRST, SECOND] == [run.rpartition("-m ")[2] for run in runs if run.startswith("pytest ")]


def test_both_halves_run_at_night(venv: Path) -> None:
    is_green, runs = made(venv, "nightly", red=f"-m {FIRST}")
    assert not is_green
    assert [FIRST, "faults or nightly"] == [run.rpartition("-m ")[2] for run in runs if run.startswith("pytest ")]
    assert "python -m release" in runs


def test_a_release_that_fails_at_night(venv: Path) -> None:
    assert not made(venv, "nightly", red="-m release")[0]


def test_every_test_that_kills_is_found() -> None:
    """`make faults` looks into some folders alone."""
    named = re.search(r"^FAULTS := ([\w/ ]+)", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert named
    folders = [ROOT / name for name in named[1].split()]
    files = [
        file for file in (ROOT / "tests").rglob("test_*.py") if re.search(r"pytest\.mark\.faults", file.read_text())
    ]
    assert [] == [file for file in files if not any(file.is_relative_to(folder) for folder in folders)]
    assert all(any(file.is_relative_to(folder) for file in files) for folder in folders)


@pytest.mark.parametrize("red", ["ruff format", "ruff check", "lint-imports", "pyrefly check"])
def test_a_quick_check_that_fails_spares_the_tests(venv: Path, red: str) -> None:
    is_green, runs = made(venv, "check", red=red)
    assert not is_green
    assert [] == [run for run in runs if run.startswith("pytest ")]


def test_green(venv: Path) -> None:
    for target in ("test", "check", "nightly"):
        assert made(venv, target, red="nothing")[0], target
