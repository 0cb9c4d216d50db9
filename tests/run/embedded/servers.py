"""Servers on data folders as a test wants them: running, owned by another process, killed; and what they say."""
# ruff: noqa: ASYNC220  these tests are about processes and files, one at a time

import asyncio
import os
import re
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from afterword.run import embedded

DEADLINE_SECONDS = 30
POLL_SECONDS = 0.01
SETTINGS = {"shared_buffers": "16MB", "max_connections": "20"}
OWNER = """
import asyncio, sys
from pathlib import Path
from afterword.run import embedded
async def main():
    server = await embedded.start(Path(sys.argv[1]), durable=False, settings={"shared_buffers": "16MB"})
    print(server.process.pid, flush=True)
    await asyncio.Event().wait()
asyncio.run(main())
"""
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="mounting and changing users is root's")


@asynccontextmanager
async def running(folder: Path, *, bin_folder: Path | None = None) -> AsyncGenerator[embedded.Server]:
    async with await start(folder, bin_folder=bin_folder) as server:
        yield server


@asynccontextmanager
async def owner(folder: Path) -> AsyncGenerator[tuple["subprocess.Popen[str]", int]]:
    """A process of its own that owns a server on the folder, and that server's number."""
    process = subprocess.Popen([sys.executable, "-c", OWNER, folder], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        line = await asyncio.to_thread(process.stdout.readline)
        yield process, int(line)
    finally:
        process.kill()
        process.communicate()


async def start(folder: Path, **arguments: Any) -> embedded.Server:
    settings = {**SETTINGS, **arguments.pop("settings", {})}
    return await embedded.start(folder, durable=False, settings=settings, **arguments)


async def row(url: str, query: str) -> Any:
    connection: Any = await asyncpg.connect(url)
    try:
        return await connection.fetchrow(query)
    finally:
        await connection.close()


async def value(url: str, query: str) -> Any:
    return (await row(url, query))[0]


async def answers(url: str) -> None:
    async with asyncio.timeout(DEADLINE_SECONDS):
        while True:
            with suppress(OSError, asyncpg.PostgresError):
                assert 1 == await value(url, "select 1")
                return
            await asyncio.sleep(POLL_SECONDS)


async def execute(url: str, query: str) -> None:
    connection: Any = await asyncpg.connect(url)
    try:
        await connection.execute(query)
    finally:
        await connection.close()


def url_of(folder: Path) -> str:
    """The address of the server that runs there."""
    url = embedded.running_url(folder)
    assert url is not None
    return url


def kill_postgres(server: embedded.Server) -> None:
    assert server.process is not None
    server.process.kill()
    server.process.wait()


def busy(server: int) -> bool:
    return any(_is_busy_child(process, server) for process in Path("/proc").glob("[0-9]*"))


def _is_busy_child(process: Path, server: int) -> bool:
    try:
        is_child = f"PPid:\t{server}\n" in (process / "status").read_text()
        return is_child and b"SELECT" in (process / "cmdline").read_bytes()
    except OSError:  # it is gone by now
        return False


def is_alive(process: int) -> bool:
    try:
        return "Z" not in re.findall(r"State:\s+(\w)", Path(f"/proc/{process}/status").read_text())
    except OSError:
        return False


class small_disk:  # noqa: N801  reads as a function
    """A file system of a few megabytes, mounted on the folder."""

    def __init__(self, folder: Path, *, megabytes: int) -> None:
        self.folder, self.megabytes = folder, megabytes

    def __enter__(self) -> None:
        command = ["/bin/mount", "-t", "tmpfs", "-o", f"size={self.megabytes}m", "tmpfs", os.fspath(self.folder)]
        if subprocess.run(command, check=False, capture_output=True).returncode != 0:
            pytest.skip("mounting is not allowed here")

    def __exit__(self, *_: object) -> None:
        embedded.clear_leftovers(self.folder / "postgresql/cluster")
        # Lazily: a process that was just ended may hold it a moment longer.
        subprocess.run(["/bin/umount", "--lazy", os.fspath(self.folder)], check=True)


def program(path: Path, script: str) -> None:
    path.parent.chmod(0o755)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
