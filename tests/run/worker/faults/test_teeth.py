"""The fault tests themselves: each fails when the guard that it is about is broken."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.journeys.processes import ROOT
from tests.run.worker.faults import mutants
from tests.run.worker.faults.rig import FULL

pytestmark = pytest.mark.faults

SECONDS_MAX = 300


@pytest.mark.skipif(not FULL, reason="at full size only")
@pytest.mark.parametrize(("test", "mutant"), mutants.RED)
def test_red(test: str, mutant: str) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "AFTERWORD_TEST_FAULTS"}
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", str(Path(__file__).with_name(test))],
        cwd=ROOT,
        env={**environment, mutants.VARIABLE: mutant},
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
        check=False,
    )
    assert 1 == run.returncode, run.stdout[-4_000:]
