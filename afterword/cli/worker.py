"""`afterword worker`: sends what is due; start as many as you like."""

import asyncio
import signal
from collections.abc import Mapping
from contextlib import suppress

import structlog

from afterword import db, errors, migrations
from afterword import worker as work
from afterword.channels import webhook
from afterword.channels.base import EMAIL, WEBHOOK, Channel
from afterword.channels.email import EmailChannel
from afterword.channels.http import Caller
from afterword.channels.webhook import WebhookChannel
from afterword.cli import CommandError, context, serve
from afterword.core.wire.site import Site
from afterword.settings import Settings

logger = structlog.get_logger(__name__)


async def worker() -> None:
    """Work until SIGTERM or SIGINT: finish messages under way, return the others. A second signal ends it at once."""
    chosen = context.read_settings()
    stop = serve.stop_on_signals()
    async with context.open_context(chosen, migrate=False) as opened, serve.process(stop):
        await _require_schema(opened.database_url, chosen.statement_cache)
        hurrying = asyncio.create_task(_give_way(stop))
        try:
            await work.run(
                database_url=opened.database_url,
                site=opened.site,
                channels=lambda pool: installation_channels(chosen, opened.site, pool),
                mail_from=chosen.mail_from,
                stop=stop,
                pace=work.Pace(
                    slots=chosen.worker_slots,
                    lease_seconds=chosen.worker_lease_seconds,
                    heartbeat_seconds=chosen.worker_heartbeat_seconds,
                    poll_seconds=chosen.worker_poll_seconds,
                ),
                statement_cache_size=chosen.statement_cache,
                folder=chosen.data_dir,
                queue_days=chosen.queue_retention_days,
            )
        finally:
            hurrying.cancel()


async def _require_schema(url: str, statement_cache_size: int) -> None:
    """Raise CommandError for a schema that this release cannot work on; a database that is away is waited for later."""
    with suppress(errors.Unavailable):
        async with (
            await db.open_pool(url, size_max=1, statement_cache_size=statement_cache_size) as pool,
            db.connection(pool) as database,
        ):
            if await migrations.is_usable(database):
                return
            is_empty = await migrations.current(database) is None
        what = "The database is empty" if is_empty else "The database's schema is not one that this release works on"
        raise CommandError(f"{what}. Run: afterword migrate")


async def _give_way(stop: asyncio.Event) -> None:
    """After the first signal, let the next one end the process as signals do."""
    await stop.wait()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.remove_signal_handler(number)
    logger.info("stopping; another signal ends it at once")


def installation_channels(chosen: Settings, site: Site, pool: db.Pool) -> Mapping[int, Channel]:
    """The installation's own ways out, for organizations without an account of theirs; for SMS there is none."""
    posting = WebhookChannel(
        caller=Caller(allowed=site.networks),
        secrets_of=lambda organization_id: [webhook.secret_of(site.secret, organization_id)],
    )
    if chosen.smtp_url is None:
        return {**work.captured(pool, [EMAIL]), WEBHOOK: posting}
    email = EmailChannel(chosen.smtp_url, slots=chosen.worker_slots)
    return {**work.captured(pool), WEBHOOK: posting, EMAIL: email}
