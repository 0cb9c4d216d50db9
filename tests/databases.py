"""Databases of tests: clones of a template, and one per process that is emptied instead of cloned again."""

import asyncio
import threading
import uuid
from collections.abc import AsyncGenerator, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeVar

import asyncpg

from afterword.kit import db

T = TypeVar("T")
TEMPLATE = "afterword_template"
USES_MAX = 100  # dead rows of that many tests may stay in a database
END_MILLISECONDS_MAX = 5_000

# Whether tables, their statistics, constraints, defaults, triggers, functions or settings are as they were.
FINGERPRINT = """
    select (select (count(*), max(xmin::text::bigint), sum(reltuples)) from pg_class where oid >= 16384),
           (select (count(*), max(xmin::text::bigint)) from pg_constraint),
           (select (count(*), max(xmin::text::bigint)) from pg_attrdef),
           (select (count(*), max(xmin::text::bigint)) from pg_trigger),
           (select (count(*), max(xmin::text::bigint)) from pg_proc where oid >= 16384),
           (select count(*) from pg_namespace where nspname !~ '^pg_'), (select count(*) from pg_db_role_setting)"""
END_OTHERS = f"""
    select coalesce(bool_and(pg_terminate_backend(pid, {END_MILLISECONDS_MAX})), true)
    from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and pid <> all($1::integer[])"""


@asynccontextmanager
async def fresh_database(server_url: str, *, template: str = TEMPLATE) -> AsyncGenerator[str]:
    """A migrated, empty database for as long as it is used."""
    name = f"test_{uuid.uuid4().hex}"
    await administer(server_url, f"create database {name} template {template} strategy file_copy")
    yield address_of(server_url, name)
    await administer(server_url, f"drop database {name} with (force)")


@asynccontextmanager
async def emptied_database(server_url: str, *, template: str) -> AsyncGenerator[str]:
    """The same, by emptying the process's own, which takes a tenth of the time.

    For tests that keep no process, task or thread that may write after their end.
    """
    kept = _kept.get(template)
    if kept is None:
        kept = _kept[template] = await _aside(_clone(server_url, template))
    yield kept.url
    kept.uses += 1
    if kept.uses >= USES_MAX or not await _aside(kept.empty()):
        del _kept[template]
        kept.end_pool()
        await _aside(kept.session.close())
        await administer(server_url, f"drop database {kept.name} with (force)")


def take_pool(url: str) -> db.Pool | None:
    """The pool that the test before kept for this database."""
    for kept in _kept.values():
        if kept.url == url:
            pool, kept.pool = kept.pool, None
            return pool
    return None


async def keep_pool(url: str, pool: db.Pool) -> bool:
    """Keep its connections for the next test, as a new one knows neither tables nor plans; False if it cannot be."""
    for kept in _kept.values():
        if kept.url == url:
            while pool.raw.get_idle_size():  # where a refusal has left them
                pool.idle.append(await pool.raw.acquire())
            is_sound = pool.raw.get_size() == len(pool.idle) and not any(
                one.is_closed() or one.is_in_transaction() for one in pool.idle
            )
            if is_sound:
                kept.pool = pool
            return is_sound
    return False


def end_pools() -> None:
    for kept in _kept.values():
        kept.end_pool()


def address_of(server_url: str, name: str) -> str:
    return server_url.replace("/afterword?", f"/{name}?")


async def administer(server_url: str, statement: str) -> None:
    """Create or drop a database, over a connection that outlives the loops of the tests: a new one takes 7 ms."""
    await _aside(_execute(server_url, statement))


def end_administration() -> None:
    if _sessions:
        loop = _administrators_loop()
        asyncio.run_coroutine_threadsafe(_close_sessions(), loop).result()
        loop.call_soon_threadsafe(loop.stop)


@dataclass
class _Kept:
    """A clone and a session on it, which knows its first rows."""

    name: str
    url: str
    session: Any
    fingerprint: object
    deletion: str
    insertion: str
    sequences: list[tuple[str, int]]  # with the next value of each
    uses: int = field(default=0)
    pool: db.Pool | None = field(default=None)  # of the test before

    async def empty(self) -> bool:
        """Restore the first rows; False if anything but rows has changed, or if a connection does not end."""
        ours = [one.get_server_pid() for one in self.pool.idle] if self.pool else []
        if (
            not await self.session.fetchval(END_OTHERS, ours)
            or await self.session.fetchrow(FINGERPRINT) != self.fingerprint
        ):
            return False
        async with self.session.transaction():
            await self.session.fetch(self.deletion)
            await self.session.fetch(self.insertion)
            for sequence, start in self.sequences:
                await self.session.fetchval("select setval($1::text::regclass, $2, false)", sequence, start)
        return True

    def end_pool(self) -> None:
        if self.pool is not None:
            self.pool.raw.terminate()
            self.pool = None


async def _clone(server_url: str, template: str) -> _Kept:
    name = f"kept_{uuid.uuid4().hex}"
    await _execute(server_url, f"create database {name} template {template} strategy file_copy")
    session: Any = await asyncpg.connect(address_of(server_url, name))
    _sessions[name] = session
    await session.execute("set session_replication_role = replica")  # no triggers, so that tables have no order
    tables = await session.fetch(
        """select relname as name, string_agg(quote_ident(attname), ', ' order by attnum) as columns
           from pg_class c
           join pg_attribute on attrelid = c.oid and attnum > 0 and not attisdropped and attgenerated = ''
           where relkind = 'r' and relnamespace = 'public'::regnamespace group by 1 order by 1"""
    )
    deletions, insertions = [], []
    for table, columns in tables:
        deletions.append(f"d_{table} as (delete from {table})")
        if await session.fetchval(f"select exists (select from {table})"):
            await session.execute(f"create temporary table first_{table} as table {table}")
            insertions.append(
                f"i_{table} as (insert into {table} ({columns}) overriding system value "
                f"select {columns} from first_{table})"
            )
    return _Kept(
        name,
        address_of(server_url, name),
        session,
        await session.fetchrow(FINGERPRINT),
        f"with {', '.join(deletions)} select",
        f"with {', '.join(insertions)} select",
        await session.fetch("select sequencename, coalesce(last_value + 1, start_value) from pg_sequences"),
    )


async def _execute(server_url: str, statement: str) -> None:
    async with _administration:
        session = _sessions.get(server_url)
        if session is None or session.is_closed():
            session = _sessions[server_url] = await asyncpg.connect(server_url)
        await session.execute(statement)


async def _aside(work: Coroutine[Any, Any, T]) -> T:
    return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, _administrators_loop()))


@cache
def _administrators_loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()
    return loop


async def _close_sessions() -> None:
    for session in _sessions.values():
        await session.close()


_kept: dict[str, _Kept] = {}  # by the template
_sessions: dict[str, Any] = {}  # by the address of their server, or the database's name; all on one loop
_administration = asyncio.Lock()
