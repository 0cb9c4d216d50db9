"""One PostgreSQL for a test run, whatever number of workers it has; an empty database for each test."""

import asyncio
import gc
import os
import shutil
import sys
import tempfile
import uuid
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, cast

import asyncpg
import httpx2
import pytest
import structlog
from argon2 import PasswordHasher
from hypothesis import HealthCheck, settings

from afterword.core.organizations.access import SCOPES, Caller
from afterword.core.wire.site import Site
from afterword.kit import db, zones
from afterword.kit.db import FifoSemaphore
from afterword.kit.web import openapi
from afterword.run import embedded, migrations
from afterword.tenants.logins import service
from tests import bar, newer
from tests.bar import (
    FIGURE as FIGURE,  # noqa: PLC0414  for those who tell one
    Tell,
)
from tests.clusters import let_end_others
from tests.databases import (
    TEMPLATE,
    address_of,
    administer,
    emptied_database,
    end_administration,
    end_pools,
    fresh_database,
    keep_pool,
    take_pool,
)
from tests.sizes import DRAW_VARIABLE, FULL, draw_by, size, touched

MEMORY_BYTES_MIN = 2_000_000_000
MEMORY = Path("/dev/shm")  # noqa: S108  a clone there takes 8 ms, on a disk 250
TESTS = Path(__file__).parent
FAULT_FOLDERS = {
    "deploy",
    "events",
    "journeys",
    "run/backups",
    "run/worker",
}  # FAULTS in the Makefile: to look through all tests takes long
POOL_SIZE = 4
SETTLED_SECONDS_MAX = 60.0
GARBAGE_THRESHOLDS = (100_000, 50, 100)  # those of the interpreter cost a fourteenth of a run
POLL_SECONDS = 0.005
PATIENCE_SECONDS = 30.0
FILL_SECONDS_MAX = 600.0
PATIENCE = {"statement_timeout": "30s", "lock_timeout": "10s"}
SITE = Site("http://localhost:8080", b"k" * 32)
TIME_ZONE = "Europe/Athens"
EMAIL = 1
NEWER = os.environ.get("AFTERWORD_TEST_SCHEMA") == "newer"  # each table has columns that this code does not know
zones.use_newest()
SETTINGS = {"shared_buffers": "64MB", "max_connections": "200", "max_wal_size": "4GB", "autovacuum": "off"}


def _runs() -> Path:
    return (MEMORY if _is_good(MEMORY) else Path(tempfile.gettempdir())) / f"afterword-tests-{os.geteuid()}"


def _is_good(folder: Path) -> bool:
    if not os.access(folder, os.W_OK | os.X_OK):
        return False
    status = os.statvfs(folder)
    return status.f_bavail * status.f_frsize > MEMORY_BYTES_MIN and not status.f_flag & os.ST_NOEXEC


RUNS = _runs()

# Before any test is read: what a test says of its own rests on it. How long an example takes says something about the
# machine, and about what else runs on it.
settings.register_profile(
    "afterword", max_examples=size(50, 500), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("afterword")

# A password's hash takes 60 ms and 19 MiB, which is its purpose, and no test's.
HASHER = service._hasher
service._hasher = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)

# structlog's own way to show an exception, with all variables of each frame, takes up to a second of a core.
structlog.configure(
    processors=[
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.dev.ConsoleRenderer(colors=False, exception_formatter=structlog.dev.plain_traceback),
    ]
)

# Without it httpx2 looks through all folders for sniffio at each request to an application.
sys.modules.setdefault("sniffio", cast("Any", None))

# The system's authorities take 25 ms to load for each client and channel; nobody outside of this machine is called.
os.environ["SSL_CERT_FILE"] = str(TESTS / "authority.pem")
os.environ["SSL_CERT_DIR"] = os.devnull

# Each worker, and each process that a test starts, would compile all of the source anew, where the machine forbids to
# keep what was compiled.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

_server: embedded.Server | None = None
_server_url = ""
_filled: set[str] = set()  # templates of this process
_house: "House | None" = None  # the one in this process's template


@pytest.hookimpl(optionalhook=True)  # of xdist
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """One worker more than cores: tests that wait would leave theirs idle."""
    return (os.cpu_count() or 1) + 1


def pytest_report_header() -> str:
    """Where the parts come from that tests draw for this commit."""
    return f"drawn parts: {'none, all of it' if FULL else f'by {draw_by()} ({DRAW_VARIABLE} gives them back)'}"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--drawn",
        action="store_true",
        help="of the costly tests and those of faults as many as a run has time for, beside those of every change",
    )
    parser.addoption("--write-costs", action="store_true", help="write tests/costs.txt, by which a part is drawn")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Each test knows which numbers of the bar it proves; those that run alone stand where `make` looks for them."""
    bar.mark(items)
    files = {item.path.relative_to(TESTS).as_posix() for item in items if item.get_closest_marker("faults")}
    alone = {file for file in files if not any(file.startswith(f"{folder}/") for folder in FAULT_FOLDERS)}
    if alone:
        raise pytest.UsageError(f"FAULTS in the Makefile lacks {', '.join(sorted(alone))}")
    if config.getoption("--drawn") and not FULL:
        tests = {bar.test_of(item.nodeid) for item in items}
        faults = {bar.test_of(item.nodeid) for item in items if item.get_closest_marker("faults")}
        left_out = bar.left_out(faults, draw_by(), bar.FAULTS_SECONDS_MAX, touched())
        left_out |= bar.left_out(tests - faults, draw_by(), bar.COSTLY_SECONDS_MAX, touched())
        config.hook.pytest_deselected(items=[item for item in items if bar.test_of(item.nodeid) in left_out])
        items[:] = [item for item in items if bar.test_of(item.nodeid) not in left_out]


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Exempt the collected tests from garbage collection, which would walk them again and again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(*GARBAGE_THRESHOLDS)
        gc.enable()


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print the outcome of each number of the bar, and the figures of the tests, one a line."""
    reports = [one for found in terminalreporter.stats.values() for one in found if hasattr(one, "nodeid")]
    if terminalreporter.config.getoption("--write-costs"):
        bar.write_costs(one for one in reports if hasattr(one, "duration"))
    told = list(bar.lines(reports))
    if told:
        terminalreporter.section("figures")
        for line in told:
            terminalreporter.write_line(line)


def pytest_configure(config: pytest.Config) -> None:
    """Workers get the address of the server that their controller started before them."""
    global _server_url  # noqa: PLW0603
    workerinput = getattr(config, "workerinput", None)  # of xdist
    if workerinput is not None:
        _server_url = workerinput["server_url"]
    elif getattr(config.option, "numprocesses", None):
        _server_url = _start()


@pytest.hookimpl(optionalhook=True)  # of xdist, which may be switched off
def pytest_configure_node(node: Any) -> None:
    node.workerinput["server_url"] = _server_url


def pytest_unconfigure(config: pytest.Config) -> None:
    end_administration()
    if _server is not None:
        asyncio.run(_server.stop())
        shutil.rmtree(RUNS / str(os.getpid()), ignore_errors=True)


@pytest.fixture
def tell(record_property: Callable[[str, object], None]) -> Tell:
    """Says what a test measured, for the end of the run; equal texts of one test are added up, whatever its cases."""
    return lambda figure, **counts: record_property(FIGURE, (figure, counts))


@pytest.fixture(scope="session")
def scratch() -> Path:
    """A quick place for folders with a short path that every user can reach, which pytest's own is not."""
    return RUNS.parent


@pytest.fixture(scope="session")
def server_url() -> str:
    """The address of the run's server, for a role that may create databases."""
    return _server_url or _start()


@pytest.fixture
async def pool_url(request: pytest.FixtureRequest, server_url: str) -> AsyncGenerator[str]:
    """A migrated database with the house if the test asks for it; its own if the test asks for the address."""
    template = await _house_template(server_url) if "standing_house" in request.fixturenames else TEMPLATE
    is_cloned = "database_url" in request.fixturenames
    async with (fresh_database if is_cloned else emptied_database)(server_url, template=template) as url:
        yield url


@pytest.fixture
def database_url(pool_url: str) -> str:
    """The address of a database that other processes may use as well."""
    return pool_url


@asynccontextmanager
async def filled_database(
    server_url: str, name: str, fill: Callable[[db.Pool, "House"], Awaitable[None]]
) -> AsyncGenerator[str]:
    """A clone of a database with a house and many rows, which `fill` writes once for each process and name."""
    template = f"{TEMPLATE}_{name}_{os.getpid()}"
    empty = await _house_template(server_url)
    assert _house is not None
    if template not in _filled:
        await administer(server_url, f"create database {template} template {empty} strategy file_copy")
        url = address_of(server_url, template)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(db, "COMMAND_TIMEOUT_SECONDS", FILL_SECONDS_MAX)
            async with await db.open_pool(url, size_max=1, server_settings={"statement_timeout": "0"}) as pool:
                await fill(pool, _house)
        _filled.add(template)
    async with fresh_database(server_url, template=template) as url:
        yield url


@pytest.fixture
async def empty_database_url(server_url: str) -> AsyncGenerator[str]:
    """A database of the test's own with nothing in it, not even the schema."""
    name = f"test_{uuid.uuid4().hex}"
    await administer(server_url, f"create database {name}")
    yield address_of(server_url, name)
    await administer(server_url, f"drop database {name} with (force)")


@asynccontextmanager
async def patient_pool(database_url: str) -> AsyncGenerator[db.Pool]:
    """A small pool, which bears many at once and many rows on a slow machine too."""
    async with await _open_patiently(database_url) as pool:
        yield pool


async def _open_patiently(database_url: str) -> db.Pool:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(db, "COMMAND_TIMEOUT_SECONDS", 2 * PATIENCE_SECONDS)
        return await db.open_pool(
            database_url, size_max=POOL_SIZE, server_settings=PATIENCE, acquire_seconds=PATIENCE_SECONDS
        )


@pytest.fixture
async def pool(pool_url: str) -> AsyncGenerator[db.Pool]:
    """A small pool on the test's database."""
    opened = take_pool(pool_url) or await _open_patiently(pool_url)
    turns = FifoSemaphore(POOL_SIZE, waiting_max=db.WAITING_MAX_DEFAULT, seconds=PATIENCE_SECONDS)
    pool = replace(opened, clock=db.Clock(), turns=turns)
    before = asyncio.all_tasks()
    yield pool
    left = asyncio.all_tasks() - before - {asyncio.current_task()}
    for task in left:  # all tests share a loop
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)
    if not await keep_pool(pool_url, pool):
        pool.raw.terminate()


@pytest.fixture(scope="session", autouse=True)
async def _end_of_pools() -> AsyncGenerator[None]:
    yield
    end_pools()


@dataclass(frozen=True)
class House:
    """A small organization in Athens, made by the services themselves, and a token that opens all of it."""

    site: Site
    organization_id: str
    domain: str
    application_id: str
    user_id: str
    token_id: str
    token: str
    questionnaire_id: str
    version_id: str
    pipeline_id: str

    @property
    def headers(self) -> dict[str, str]:
        """Headers of the organization's requests."""
        return {"Authorization": f"Bearer {self.token}"}

    @property
    def caller(self) -> Caller:
        """Whom the token speaks for."""
        return Caller(
            organization_id=self.organization_id,
            token_id=self.token_id,
            user_id=None,
            scopes=SCOPES,
            application_ids=(),
            domain=self.domain,
            time_zone=TIME_ZONE,
            default_locale="en",
        )


@pytest.fixture
def standing_house(pool_url: str) -> House:
    """The house that the test's database has from the start: a clone of one takes half the time of building it."""
    assert _house is not None
    _forget()
    return _house


@pytest.fixture
async def house(standing_house: House, pool: db.Pool) -> House:
    """The organization `demo`: application, owner, token with all scopes, a questionnaire, an e-mail pipeline."""
    async with db.transaction(pool):  # from here on the pool knows the database's time
        return standing_house


@pytest.fixture
async def neighbour(pool: db.Pool) -> House:
    """A second organization with all the same, to see that nothing passes between the two."""
    return await build_house(pool, domain="neighbour")


@pytest.fixture
async def client(pool: db.Pool) -> AsyncGenerator[httpx2.AsyncClient, None]:
    """The whole web application on the test's database, without a socket between."""
    from afterword.run.app import create_app  # noqa: PLC0415  tests of the ground need none of the slices

    app: Any = create_app(pool=pool, site=SITE)
    transport = httpx2.ASGITransport(app)
    hooks = {"response": [_only_codes_of_the_document]}
    async with httpx2.AsyncClient(transport=transport, base_url=SITE.public_url, event_hooks=hooks) as client:
        yield client


async def _only_codes_of_the_document(response: httpx2.Response) -> None:
    if response.headers.get("Content-Type") == "application/problem+json":
        await response.aread()
        assert set() == {error["code"] for error in response.json()["errors"]} - set(openapi.ERROR_CODES)


@pytest.fixture
def one_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    """All requests of the test fall into the same minute of the limits, whose windows go by the real clock else."""
    from afterword.run import app  # noqa: PLC0415  tests of the ground need none of the slices

    monkeypatch.setattr(app, "Limiter", partial(app.Limiter, clock=lambda: 600.0))


def note_statements(patch: pytest.MonkeyPatch, pool: db.Pool | None = None) -> list[str]:
    """Every statement that is sent from now on, of this pool alone where one is given, in order."""
    sent: list[str] = []
    for name in ("fetch", "fetch_row", "fetch_value", "execute", "fetch_list"):
        bare = getattr(db.Database, name)

        async def noted(
            database: db.Database, query: Any, *values: object, _bare: Any = bare, **options: object
        ) -> Any:
            if pool is None or database.clock is pool.clock:
                sent.append(" ".join(query.split()))
            return await _bare(database, query, *values, **options)

        patch.setattr(db.Database, name, noted)
    return sent


@pytest.fixture
def statements(monkeypatch: pytest.MonkeyPatch, pool: db.Pool) -> list[str]:
    return note_statements(monkeypatch, pool)  # not those of the probes, which share the loop


async def settled(pool: db.Pool) -> None:
    """Wait until readers may read all that is committed: until older transactions, of other tests too, are over."""
    async with asyncio.timeout(SETTLED_SECONDS_MAX), db.connection(pool) as database:
        while await database.fetch_value(
            "select exists (select from event where xid >= pg_snapshot_xmin(pg_current_snapshot()))"
        ):
            await asyncio.sleep(POLL_SECONDS)


async def build_house(pool: db.Pool, *, domain: str) -> House:
    from afterword.asking.questionnaires import library, service as questionnaires  # noqa: PLC0415
    from afterword.sending.pipelines import service as pipelines  # noqa: PLC0415
    from afterword.tenants.organizations import service as accounts  # noqa: PLC0415  tests of the ground need none of the slices

    async with db.transaction(pool) as database:
        now = database.clock.now()
        organization = await accounts.create_organization(
            database,
            domain=domain,
            display_name=domain.title(),
            time_zone=TIME_ZONE,
            postal_address="1 Harbour Street, 18531 Piraeus",
            now=now,
        )
        organization_id = organization.organization_id
        application = await accounts.create_application(
            database, organization_id=organization_id, display_name="Shop", now=now
        )
        user = await accounts.create_user(
            database, organization_id=organization_id, email=f"owner@{domain}.example", role="owner", now=now
        )
        token, text = await accounts.create_token(
            database,
            organization_id=organization_id,
            title="Tests",
            scopes=SCOPES,
            kind="organization",
            user_id=None,
            now=now,
        )
        imported = await questionnaires.import_file(
            database,
            organization_id=organization_id,
            application_id=application.application_id,
            text=library.text("after_delivery"),
            slug="after_delivery",
            now=now,
        )
        pipeline = await pipelines.create_pipeline(
            database,
            organization_id=organization_id,
            now=now,
            questionnaire_id=imported.questionnaire.questionnaire_id,
            channel_id=EMAIL,
            title="Invitation",
            sender_name=domain.title(),
            message_subject="How was your delivery?",
            message_body="Hello,\n\nyour order has arrived. How did it go?",
        )
    return House(
        site=SITE,
        organization_id=organization_id,
        domain=domain,
        application_id=application.application_id,
        user_id=user.user_id,
        token_id=token.token_id,
        token=text,
        questionnaire_id=imported.questionnaire.questionnaire_id,
        version_id=imported.version.version_id,
        pipeline_id=pipeline.pipeline_id,
    )


async def _house_template(server_url: str) -> str:
    """A database with a house in it, made by the first test of this process that wants one."""
    global _house  # noqa: PLW0603
    name = f"{TEMPLATE}_house_{os.getpid()}"
    if _house is None:
        await administer(server_url, f"create database {name} template {TEMPLATE} strategy file_copy")
        async with await db.open_pool(address_of(server_url, name), size_max=1) as pool:
            _house = await build_house(pool, domain="demo")
    return name


def _forget() -> None:
    """Empty what the process remembers by id: the houses of all its tests have the same."""
    from afterword.asking.questionnaires import metadata, store as questionnaires  # noqa: PLC0415
    from afterword.sending.messages import composing  # noqa: PLC0415

    for kept in (
        questionnaires._versions,
        metadata._kept,
        metadata._owners,
        composing._compiled,
        composing._minutes,
    ):
        kept.clear()


def _start() -> str:
    global _server, _server_url  # noqa: PLW0603
    _sweep()
    folder = RUNS / str(os.getpid())
    RUNS.mkdir(exist_ok=True, mode=0o711)
    _server = asyncio.run(embedded.start(folder, durable=False, settings=SETTINGS))
    asyncio.run(let_end_others(_server))
    asyncio.run(_make_template(_server.url))
    _server_url = _server.url
    return _server_url


async def _make_template(url: str) -> None:
    admin: Any = await asyncpg.connect(url)
    try:
        await admin.execute(f"create database {TEMPLATE}")
    finally:
        await admin.close()
    template = address_of(url, TEMPLATE)
    await migrations.migrate(template)
    if NEWER:
        connection: Any = await asyncpg.connect(template)
        await newer.alter_all(connection, newer.COLUMNS)
        await connection.close()


def _sweep() -> None:
    """Remove what killed runs left behind."""
    for folder in RUNS.glob("[0-9]*"):
        try:
            os.kill(int(folder.name), 0)
        except ProcessLookupError:
            embedded.clear_leftovers(folder / "postgresql/cluster")
            shutil.rmtree(folder, ignore_errors=True)
