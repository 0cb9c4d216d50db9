"""Commands in processes of their own, which may be killed."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

from tests.run.cli.shell import environment
from tests.sizes import SEED_VARIABLE

SECONDS_MAX: Final = 3_600


class Command:
    """A command in a process of its own, which is killed after a random part of the time that it takes."""

    def __init__(self, place: Path, url: str, *words: str) -> None:
        self.random = random.Random(f"{os.environ.get(SEED_VARIABLE)} {words}")  # noqa: S311
        self.words = [sys.executable, "-m", "afterword", *words]
        self.place, self.environment = place, environment(url, place)
        self.kills = self.ends = 0

    def killed(self, seconds: float) -> None:
        """Let it run for a part of the seconds that it takes to its end; it may be quicker."""
        process = subprocess.Popen(
            self.words, env=self.environment, cwd=self.place, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            start_new_session=True,
        )  # fmt: skip
        try:
            _, text = process.communicate(timeout=self.random.uniform(0.1, 1) * seconds)
            assert 0 == process.returncode, text
            self.ends += 1
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            self.kills += 1

    def done(self) -> float:
        """Run it to its end; the seconds that it took."""
        began = time.monotonic()
        ended = subprocess.run(
            self.words, env=self.environment, cwd=self.place, capture_output=True, text=True, timeout=SECONDS_MAX,
            check=False,
        )  # fmt: skip
        assert 0 == ended.returncode, ended
        return time.monotonic() - began


def copy_of(folder: Path, to: Path) -> None:
    """A copy with owners and rights."""
    subprocess.run(["/bin/cp", "-a", folder, to], check=True)
