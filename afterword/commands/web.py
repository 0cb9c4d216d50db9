"""`afterword web`: the API and the pages, one process; start as many as you like behind a balancer."""

import asyncio
import gc
from typing import cast

import uvicorn
from uvicorn import _types

from afterword import db
from afterword.app import create_app
from afterword.commands import ground, serve
from afterword.settings import Settings
from afterword.web.limits import Limits
from afterword.web.protocol import Protocol

BACKLOG_CONNECTIONS = 2048
GRACE_SECONDS = 25
ACQUIRE_SECONDS = 1.0  # a client would rather be told to come back than wait
KEEP_ALIVE_SECONDS = 75  # longer than the 60 s of common proxies, so that the proxy closes first


async def web(chosen: Settings) -> None:
    """Serve until SIGTERM or SIGINT; requests under way are finished."""
    gone = serve.stop_on_signals()  # uvicorn raises what it caught once more at its end, which must not end us here
    async with (
        ground.stand(chosen, migrate=False) as standing,
        await db.open_pool(
            standing.database_url,
            size_max=chosen.database_pool,
            application_name="afterword web",
            statement_cache_size=chosen.statement_cache,
            acquire_seconds=ACQUIRE_SECONDS,
        ) as pool,
    ):
        server = uvicorn.Server(_config(chosen, standing, pool))
        gc.collect()
        gc.freeze()  # what start-up made stays; looking through it again and again took a request's time
        watching = asyncio.create_task(serve.watch_parent(gone))
        ending = asyncio.create_task(_end_when(gone, server))
        try:
            await server.serve()
        finally:
            watching.cancel()
            ending.cancel()


def _config(chosen: Settings, standing: ground.Ground, pool: db.Pool) -> uvicorn.Config:
    app = create_app(
        pool=pool,
        site=standing.site,
        limits=Limits(
            token_requests=chosen.token_requests_per_minute,
            organization_requests=chosen.organization_requests_per_minute,
            failed_authentications=chosen.failed_authentications_per_minute,
            link_starts=chosen.link_starts_per_minute,
        ),
        metrics_access=chosen.metrics,
        show_outbox=chosen.smtp_url is None,
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


async def _end_when(gone: asyncio.Event, server: uvicorn.Server) -> None:
    await gone.wait()
    server.should_exit = True
