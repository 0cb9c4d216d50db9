"""`afterword web`: the API and the pages, one process; start as many as you like behind a balancer."""

import asyncio
from typing import cast

import asyncpg
import structlog
import uvicorn
from uvicorn import _types

from afterword import errors
from afterword.asking.links import domains
from afterword.core.wire.site import Site
from afterword.kit import db
from afterword.kit.db.replicas import Replica
from afterword.kit.settings import Settings
from afterword.kit.telemetry import Telemetry
from afterword.kit.web.limits import Limits
from afterword.kit.web.middleware import LoadShedder
from afterword.kit.web.protocol import Protocol, Server
from afterword.run import migrations
from afterword.run.app import MakeEndpoint, create_app, queue_figures
from afterword.run.cli import CommandError, context, serve
from afterword.tenants.logins import sessions
from afterword.tenants.organizations.tokens import service as tokens
from afterword.tenants.organizations.tokens.access import SessionUses, TokenUses

BACKLOG_CONNECTIONS = 2048
GRACE_SECONDS = 25
WAITING_MAX = 200  # requests for a connection: a tenth of a second of them
ACQUIRE_SECONDS = 1.0  # a client would rather be told to come back than wait
TICK_SECONDS = 60.0
KEEP_ALIVE_SECONDS = 75  # longer than the 60 s of common proxies, so that the proxy closes first

logger: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)


async def web(*, read_only: bool = False) -> None:
    """Serve until SIGTERM or SIGINT; requests under way are finished.

    Parameters
    ----------
    read_only
        The database is a standby: serve what reads, and name the primary for the rest.
    """
    chosen = context.read_settings()
    if read_only and chosen.database_url is None:
        raise CommandError("AFTERWORD_DATABASE_URL must name the standby that is read from.")
    serve.require_free_port(chosen)
    gone = serve.stop_on_signals()  # uvicorn raises what it caught once more at its end, which must not end us here
    async with (
        context.open_context(chosen, migrate=False) as opened,
        context.telemetry("web") as collecting,
        await db.open_pool(
            opened.database_url,
            size_max=chosen.database_pool,
            application_name="afterword web",
            statement_cache_size=chosen.statement_cache,
            acquire_seconds=ACQUIRE_SECONDS,
            waiting_max=WAITING_MAX,
            server_settings={"default_transaction_read_only": "on"} if read_only else None,
        ) as pool,
        context.open_reader(chosen, acquire_seconds=ACQUIRE_SECONDS) as reader,
    ):
        ticks, seen = TokenUses(), SessionUses()
        copy = Replica(pool, lag_seconds_max=chosen.database_read_lag_seconds) if read_only else None
        config = _config(chosen, opened, pool, ticks, seen, telemetry=collecting, copy=copy, reader=reader)
        server, kept_in = Server(config), None if read_only else pool
        beside = [
            _end_when(gone, server),
            _write_ticks(kept_in, ticks, seen),
            _keep_fresh(pool, opened.site, await _refresh(pool, opened.site, ""), gone),
        ]
        if collecting is not None:
            beside.append(collecting.keep_published(queue_figures(pool, chosen.backup_every)))
        tasks = [asyncio.create_task(each) for each in beside]
        try:
            async with serve.process(gone):
                await server.serve()
        finally:
            for task in tasks:
                task.cancel()
            await _write(kept_in, ticks, seen)


def _config(
    chosen: Settings,
    opened: context.Context,
    pool: db.Pool,
    ticks: TokenUses,
    seen: SessionUses,
    *,
    telemetry: Telemetry | None = None,
    copy: Replica | None = None,
    reader: Replica | None = None,
) -> uvicorn.Config:
    app = create_app(
        pool=pool,
        site=opened.site,
        limits=Limits(
            token_requests=chosen.token_requests_per_minute,
            organization_requests=chosen.organization_requests_per_minute,
            failed_authentications=chosen.failed_authentications_per_minute,
            link_starts=chosen.link_starts_per_minute,
            link_burst=chosen.link_burst_per_minute,
        ),
        metrics_access=chosen.metrics,
        origins=chosen.origins,
        show_outbox=chosen.smtp_url is None,
        make_endpoint=_endpoint(chosen),
        ticks=ticks,
        seen=seen,
        load_shedder=LoadShedder(),
        telemetry=telemetry,
        backup_every=chosen.backup_every,
        copy=copy,
        reader=reader,
    )
    return uvicorn.Config(
        cast("_types.ASGIApplication", app),
        host=chosen.host,
        port=chosen.port,
        http=Protocol,
        loop="none",  # the one that we run on
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=chosen.trusted_proxies != "",
        forwarded_allow_ips=chosen.trusted_proxies,
        backlog=BACKLOG_CONNECTIONS,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )


def _endpoint(chosen: Settings) -> MakeEndpoint | None:
    """The endpoint for assistants where it is switched on. Raises CommandError without the extra."""
    if not chosen.mcp:
        return None
    from afterword.run.cli import mcp  # noqa: PLC0415  an extra

    try:
        from afterword.extras.assistants.server import Endpoint  # noqa: PLC0415  an extra
    except ModuleNotFoundError as error:
        raise CommandError(mcp.MISSING) from error
    return Endpoint


async def _end_when(gone: asyncio.Event, server: uvicorn.Server) -> None:
    await gone.wait()
    server.should_exit = True


async def _keep_fresh(pool: db.Pool, site: Site, before: str, gone: asyncio.Event) -> None:
    ending = asyncio.create_task(gone.wait())
    while not (await asyncio.wait([ending], timeout=domains.FRESH_SECONDS))[0]:
        before = await _refresh(pool, site, before)


async def _refresh(pool: db.Pool, site: Site, before: str) -> str:
    """Read custom domains; why the database cannot be used, else empty: the log tells what is not as `before`."""
    try:
        async with db.connection(pool) as database:
            cause = "" if await migrations.is_usable(database) else "It is not at this release: run afterword migrate."
    except (errors.Refusal, asyncpg.PostgresError) as error:
        cause = str(error.__cause__ or error)
    if cause != before:
        logger.warning("the database cannot be used" if cause else "the database can be used again", cause=cause)
    if not cause:
        await domains.try_refresh(pool, site=site)
    return cause


async def _write_ticks(pool: db.Pool | None, ticks: TokenUses, seen: SessionUses) -> None:
    """Write when tokens and sessions were used, once a minute: requests themselves write nothing for it."""
    while True:
        await asyncio.sleep(TICK_SECONDS)
        await _write(pool, ticks, seen)


async def _write(pool: db.Pool | None, ticks: TokenUses, seen: SessionUses) -> None:
    """Write the noted uses of tokens and sessions; without a database a minute of them is lost, of a copy all."""
    used, sessions_seen = ticks.take(), seen.take()
    if pool is None or (not used and not sessions_seen):
        return
    try:
        async with db.transaction(pool) as database:
            await tokens.note_use(database, used=used)
            await sessions.update_sessions_seen(database, used=sessions_seen)
    except errors.Unavailable:
        return
    except Exception:
        logger.exception("the use of tokens was not written")
