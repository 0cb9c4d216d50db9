"""Workers that begin at once, so that very many can die: copies of one process which has imported everything.

`python -m tests.run.worker.faults.nursery` makes one for each line on its standard input, a log and orders, and answers
with the process id. It waits for none before it is asked for its exit code, so that no number is given twice meanwhile.
"""

import asyncio
import json
import os
import select
import signal
import subprocess
import sys
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn

import uvloop

from afterword.kit import log
from tests.journeys.processes import ROOT
from tests.run.worker.faults.runner import Orders, main

LOG_FLAGS = os.O_WRONLY | os.O_APPEND | os.O_CREAT


class Nursery:
    """Where they come from, in a process of its own; to be stopped when no worker of it lives any more."""

    def __init__(self, *, env: Mapping[str, str], path: Path) -> None:
        with path.open("ab") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.run.worker.faults.nursery"],
                cwd=ROOT,
                env=dict(env),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=output,
                start_new_session=True,
            )
        self._path = path

    def bear(self, orders: Orders, *, path: Path) -> "Born":
        """One more worker with a log there; the first takes as long as everything that is to be imported."""
        path.touch()
        return Born(self, self._ask([str(path), orders.text]))

    def code_of(self, pid: int) -> int:
        """The exit code of a worker that has ended; -1 where the nursery has ended too."""
        return self._ask(pid) if self._process.poll() is None else -1

    def _ask(self, question: object) -> int:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(question).encode() + b"\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        assert answer, self._path.read_text()
        return int(answer)

    def stop(self) -> None:
        """End it; those that it made are not its concern."""
        self._process.kill()
        self._process.communicate()


class Born:
    """A worker of the nursery, with what tests use of `subprocess.Popen`."""

    def __init__(self, nursery: Nursery, pid: int) -> None:
        self.pid = pid
        self._nursery = nursery
        self._handle = os.pidfd_open(pid)
        self._code: int | None = None

    def poll(self) -> int | None:
        """None while it runs."""
        return self._ended(0)

    def wait(self) -> int:
        """Until it has ended."""
        code = self._ended(None)
        assert code is not None
        return code

    def send_signal(self, sign: signal.Signals) -> None:
        """If it still runs."""
        if self.poll() is None:
            os.kill(self.pid, sign)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def _ended(self, seconds: float | None) -> int | None:
        if self._code is None and select.select([self._handle], [], [], seconds)[0]:
            self._code = self._nursery.code_of(self.pid)
            os.close(self._handle)
        return self._code


def serve() -> None:
    """A worker for each line, or the exit code of the one whose number it says."""
    for line in sys.stdin.buffer:
        question = json.loads(line)
        if isinstance(question, int):
            answer = os.waitstatus_to_exitcode(os.waitpid(question, 0)[1])
        elif (answer := os.fork()) == 0:
            _work(*question)
        sys.stdout.write(f"{answer}\n")
        sys.stdout.flush()


def _work(path: str, orders: str) -> NoReturn:  # pyrefly: ignore[bad-return]
    """The copy: a session and a log of its own, then what `runner` does."""
    code = 1
    try:
        os.setsid()
        with open(os.devnull, "rb") as nothing:  # noqa: PTH123
            os.dup2(nothing.fileno(), 0)
        output = os.open(path, LOG_FLAGS, 0o644)
        os.dup2(output, 1)
        os.dup2(output, 2)
        log.set_up(level="info", as_json=True)
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(main(Orders(**json.loads(orders))))
        code = 0
    except BaseException:  # noqa: BLE001  nothing is above
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    serve()
