"""The stage of all measurements: a durable, seeded PostgreSQL in a temporary folder, and real processes."""

import asyncio
import os
import shutil
import socket
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path

import httpx2

from afterword.core.organizations.access import Caller
from afterword.core.wire.site import Site
from afterword.kit import db
from afterword.run import embedded, migrations
from afterword.run.cli import demo
from afterword.run.cli.demo import Seeded
from afterword.tenants.organizations.tokens import access
from benchmarks.pgbench import Ceiling

CHECKOUT = Path(__file__).parents[1]
SECRET = "a-secret-for-benchmarks-alone-0123456789"  # noqa: S105
POOL_SIZE = 8
READY_SECONDS_MAX = 30.0
READY_POLL_SECONDS = 0.02
STOP_SECONDS_MAX = 30.0


@dataclass(frozen=True, slots=True)
class Stage:
    """The database, the organization in it, and what of the product's parts the measurements call themselves."""

    folder: Path
    url: str = field(repr=False)
    pool: db.Pool
    site: Site
    seeded: Seeded
    caller: Caller
    pgbench: Ceiling
    postgres: int  # its major version


@asynccontextmanager
async def stage(kept: Path | None = None) -> AsyncGenerator[Stage, None]:
    """Set all of it up; leaving removes it, unless it is in a folder that is `kept` for the next time."""
    with temporary_folder() if kept is None else nullcontext(kept) as folder:
        async with await embedded.start(folder) as server:
            await migrations.migrate(server.url)
            async with await db.open_pool(server.url, size_max=POOL_SIZE) as pool:
                site = Site("http://localhost:8080", SECRET.encode())
                seeded = await demo.seed(pool, site)
                async with db.connection(pool) as database:
                    caller = await access.authenticate(
                        database, authorization=f"Bearer {seeded.token}", esat_auth=None, esat_domain=None
                    )
                ceiling = Ceiling(_pgbench(server.binaries.folder), server.url)
                major = server.binaries.major
                yield Stage(folder, server.url, pool, site, seeded, caller, ceiling, major)


class temporary_folder:  # noqa: N801  reads like a function
    """A folder that the database's own user can pass through; removed with everything in it."""

    def __enter__(self) -> Path:
        self._path = Path(tempfile.mkdtemp(prefix="afterword-bench-"))
        self._path.chmod(0o711)
        return self._path

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self._path, ignore_errors=True)


@asynccontextmanager
async def running(
    *command: str, settings: Mapping[str, str], checkout: Path = CHECKOUT, core: int | None = None
) -> AsyncGenerator[asyncio.subprocess.Process, None]:
    """Run `python -m …` of a checkout with these AFTERWORD settings and no others; leaving stops it.

    `core`: the one that it runs on, where the system lets one be chosen.
    """
    own = {f"AFTERWORD_{name.upper()}": value for name, value in settings.items()}
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("AFTERWORD_")}
    pinned = () if core is None or sys.platform != "linux" else ("taskset", "--cpu-list", str(core))
    process = await asyncio.create_subprocess_exec(
        *(*pinned, sys.executable, "-m", *command),
        env={**inherited, **own, "PYTHONPATH": str(checkout)},
        cwd=checkout,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.terminate()
            try:
                await asyncio.wait_for(process.wait(), STOP_SECONDS_MAX)
            except TimeoutError:
                process.kill()
                await process.wait()


@asynccontextmanager
async def web(
    stage: Stage, *, checkout: Path = CHECKOUT, core: int | None = None, **settings: str
) -> AsyncGenerator[tuple[asyncio.subprocess.Process, int], None]:
    """One `afterword web`, without rate limits; the process and its port."""
    port = free_port()
    unlimited = dict.fromkeys(
        ("token_requests_per_minute", "organization_requests_per_minute", "failed_authentications_per_minute"), "0"
    )
    chosen = {
        "database_url": stage.url,
        "data_dir": str(stage.folder / "web"),
        "port": str(port),
        "secret": SECRET,
        "log_level": "warning",
    }
    settings = {**chosen, **unlimited, **settings}
    async with running("afterword", "web", settings=settings, checkout=checkout, core=core) as process:
        await answers(f"http://127.0.0.1:{port}/readyz", process)
        yield process, port


async def answers(url: str, process: asyncio.subprocess.Process) -> float:
    """Wait until `url` answers 200; how many seconds that took."""
    begun = time.perf_counter()
    async with httpx2.AsyncClient() as client:
        while time.perf_counter() - begun < READY_SECONDS_MAX:
            if process.returncode is not None:
                raise RuntimeError(f"The process ended with exit code {process.returncode}.")
            try:
                response = await client.get(url)
            except httpx2.TransportError:
                pass
            else:
                if response.status_code == HTTPStatus.OK:
                    return time.perf_counter() - begun
            await asyncio.sleep(READY_POLL_SECONDS)
    raise RuntimeError(f"Nothing was ready within {READY_SECONDS_MAX} seconds.")


def free_port() -> int:
    """A port that nobody listens on at the moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _pgbench(folder: Path) -> Path:
    """The one beside the server's own programs, else that of the system."""
    if (folder / "pgbench").exists():
        return folder / "pgbench"
    found = shutil.which("pgbench")
    if found is None:
        raise RuntimeError("There is no pgbench; install PostgreSQL's client programs.")
    return Path(found)
