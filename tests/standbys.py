"""A primary and its standby, both on this machine; the standby replays at once, with a delay, or not at all."""

import asyncio
import shutil
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from afterword.kit import db
from afterword.kit.db.replicas import LAG_SECONDS_DEFAULT, Replica
from afterword.run import embedded, migrations
from tests.conftest import RUNS
from tests.journeys.processes import until
from tests.run.embedded.servers import answers, execute, value

SETTINGS = {"shared_buffers": "32MB", "max_connections": "60", "wal_level": "replica", "autovacuum": "off"}


@dataclass
class Pair:
    """`url` is the primary's, `read_url` that of the standby, both for the role of the product."""

    url: str
    read_url: str
    superuser_url: str
    read_superuser_url: str

    async def caught_up(self) -> None:
        """Wait until the standby has what the primary has now."""
        lsn = await value(self.url, "select pg_current_wal_flush_lsn()::text")

        async def is_there() -> bool:
            return await value(self.read_url, f"select pg_last_wal_replay_lsn() >= '{lsn}'")

        await until(is_there, seconds=60, what="the standby has caught up")

    async def pause(self) -> None:
        """The standby replays nothing from now on."""
        await execute(self.read_superuser_url, "select pg_wal_replay_pause()")

        async def has_stopped() -> bool:
            return await value(self.read_url, "select pg_get_wal_replay_pause_state() = 'paused'")

        await until(has_stopped, what="the standby stands still")

    async def resume(self) -> None:
        await execute(self.read_superuser_url, "select pg_wal_replay_resume()")


@asynccontextmanager
async def pair(*, delay: str = "0") -> AsyncGenerator[Pair]:
    """`delay`: the standby replays each commit so much later."""
    folder = _folder()
    try:
        async with await embedded.start(folder / "data", durable=False, settings=SETTINGS) as server:
            await migrations.migrate(server.url)
            async with _standby(server, folder / "standby", delay=delay) as socket:
                urls = [_elsewhere(url, socket) for url in (server.url, server.superuser_url)]
                yield Pair(server.url, urls[0], server.superuser_url, urls[1])
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _folder() -> Path:
    RUNS.mkdir(exist_ok=True, mode=0o711)
    folder = Path(tempfile.mkdtemp(prefix="pair-", dir=RUNS))
    folder.chmod(0o711)
    return folder


@asynccontextmanager
async def _standby(server: embedded.Server, folder: Path, *, delay: str) -> AsyncGenerator[Path]:
    """The folder of its socket."""
    cluster, socket = folder / "cluster", folder / "socket"
    for one in (folder, cluster, socket):
        one.mkdir(mode=0o711 if one is folder else 0o700)
        server.user.own(one)
    copy = [str(server.binaries.folder / "pg_basebackup"), f"--pgdata={cluster}", "--checkpoint=fast", "-R"]
    await asyncio.to_thread(
        server.user.run, [*copy, f"--dbname={server.superuser_url}"], failure="no base backup", folder=cluster
    )
    settings = {**server.settings, "unix_socket_directories": str(socket), "recovery_min_apply_delay": delay}
    options = [f"-c{name}={value}" for name, value in settings.items()]
    with (folder / "log").open("wb") as log:
        command = [str(server.binaries.folder / "postgres"), "-D", str(cluster), *options]
        process: Any = await asyncio.to_thread(server.user.spawn, command, log)
    try:
        await answers(_elsewhere(server.url, socket))
        yield socket
    finally:
        await asyncio.to_thread(embedded.end, process, cluster)


def _elsewhere(url: str, socket: Path) -> str:
    parts = urlsplit(url)
    return f"postgresql://{parts.netloc}{parts.path}?host={quote(str(socket))}"


class Told(Replica):
    """A replica that is this old at each look, whatever its server is; None: nobody knows."""

    def __init__(self, pool: db.Pool, age: float | None, *, lag_seconds_max: float = LAG_SECONDS_DEFAULT) -> None:
        super().__init__(pool, lag_seconds_max=lag_seconds_max)
        self.age = age

    async def _look(self) -> None:
        async with db.connection(self.pool):
            now = self.pool.clock.now()
        self.as_of = None if self.age is None else now - timedelta(seconds=self.age - 0.5)
