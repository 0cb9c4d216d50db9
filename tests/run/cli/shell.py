"""Commands as operators run them: in this process where that will do, else in a process of their own."""

import asyncio
import contextlib
import io
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from afterword import __main__
from afterword.core.wire.site import Site
from afterword.kit import db
from afterword.tenants.organizations.tokens import access

SITE = Site("https://survey.example.com", b"k" * 32)
SECONDS_MAX = 60
MORE: dict[str, str] = {}  # settings beside those of every command


def environment(url: str, tmp_path: Path) -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("AFTERWORD_")}
    own = {"AFTERWORD_DATABASE_URL": url} if url else {}
    return {
        **inherited,
        **own,
        "AFTERWORD_DATA_DIR": str(tmp_path / "data"),
        "AFTERWORD_SECRET": SITE.secret.decode(),
        **MORE,
    }


def program(url: str, tmp_path: Path, *words: str, seconds: float = SECONDS_MAX) -> "subprocess.CompletedProcess[str]":
    """A command as a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "afterword", *words],
        env=environment(url, tmp_path),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )


def shell(url: str, tmp_path: Path, *words: str, typed: str = "") -> "subprocess.CompletedProcess[str]":
    """A command on a loop of its own, in this process: a program of its own takes most of a second to start."""
    out, err = io.StringIO(), io.StringIO()

    def run() -> int | None:
        try:
            return asyncio.run(__main__.run(words))
        except SystemExit as exited:  # words that cannot be understood
            return int(exited.code or 0)

    with (
        mock.patch.dict(os.environ, environment(url, tmp_path), clear=True),
        mock.patch("afterword.kit.log.set_up"),
        mock.patch("sys.stdin", io.TextIOWrapper(io.BytesIO(typed.encode()))),
        contextlib.chdir(tmp_path),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        ThreadPoolExecutor(1) as thread,
    ):
        code = thread.submit(run).result(SECONDS_MAX)
    return subprocess.CompletedProcess(words, code or 0, out.getvalue(), err.getvalue())


@dataclass(frozen=True)
class Operator:
    """Types commands for one database in one folder."""

    url: str
    folder: Path

    def run(self, *words: str, typed: str = "") -> "subprocess.CompletedProcess[str]":
        return shell(self.url, self.folder, *words, typed=typed)

    def done(self, *words: str, typed: str = "") -> str:
        """The output of a command that does its work."""
        ended = self.run(*words, typed=typed)
        assert 0 == ended.returncode, ended
        return ended.stdout

    def refused(self, *words: str, code: int = 1) -> str:
        """The sentences of a command that is refused."""
        ended = self.run(*words)
        assert code == ended.returncode, ended
        assert code != 1 or ended.stderr.startswith("afterword: "), ended
        assert "Traceback" not in ended.stderr
        return ended.stderr

    def found(self) -> dict[str, str]:
        """The ids of a new organization."""
        words = ("organization", "create", "acme", "--name", "Acme", "--owner", "ann@acme.example")
        return dict(line.split("=", 1) for line in self.done(*words).splitlines())


async def opened_by(pool: db.Pool, token: str) -> frozenset[str]:
    async with db.connection(pool) as database:
        caller = await access.authenticate(
            database, authorization=f"Bearer {token}", esat_auth=None, esat_domain=None, query_names=()
        )
    return caller.scopes
