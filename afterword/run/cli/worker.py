"""`afterword worker`: sends what is due; start as many as you like."""

import asyncio
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from typing import Final

import structlog

from afterword import errors
from afterword.core.wire.site import Site
from afterword.kit import db
from afterword.kit.settings import Settings
from afterword.kit.transport.base import EMAIL, WEBHOOK, Channel
from afterword.kit.transport.http import Caller
from afterword.run import migrations, worker as work
from afterword.run.backups import service as backups
from afterword.run.cli import CommandError, context, copies, serve
from afterword.run.worker.flights import wait
from afterword.sending.channels import webhook
from afterword.sending.channels.email import EmailChannel
from afterword.sending.channels.webhook import WebhookChannel

BACKUP_LOOK_SECONDS: Final = 60.0
BACKUP_AGAIN_SECONDS: Final = 600.0  # after a failure
logger = structlog.get_logger(__name__)


async def worker() -> None:
    """Work until SIGTERM or SIGINT: finish messages under way, return the others. A second signal ends it at once."""
    chosen = context.read_settings()
    serve.require_mail_server(chosen)
    stop = serve.stop_on_signals()
    async with (
        context.open_context(chosen, migrate=False) as opened,
        context.telemetry("worker"),
        context.open_reader(chosen) as reader,
        serve.process(stop),
    ):
        await _require_schema(opened.database_url)
        hurrying = asyncio.create_task(_give_way(stop))
        backing_up = asyncio.create_task(_back_up(opened, stop)) if chosen.backup_to else None
        try:
            await work.run(
                database_url=opened.database_url,
                site=opened.site,
                channels=lambda pool: installation_channels(chosen, opened.site, pool),
                mail_from=chosen.mail_from,
                stop=stop,
                pace=work.Pace(
                    slots=chosen.worker_slots,
                    pool_size=chosen.worker_pool,
                    lease_seconds=chosen.worker_lease_seconds,
                    heartbeat_seconds=chosen.worker_heartbeat_seconds,
                    poll_seconds=chosen.worker_poll_seconds,
                ),
                statement_cache_size=chosen.statement_cache,
                folder=chosen.data_dir,
                reader=reader,
                queue_days=chosen.queue_retention_days,
            )
        finally:
            hurrying.cancel()
            if backing_up is not None:
                stop.set()
                await backing_up


async def _require_schema(url: str) -> None:
    """Raise CommandError for a schema that this release cannot work on; a database that is away is waited for later."""
    with suppress(errors.Unavailable):
        async with (
            await db.open_pool(url, size_max=1, statement_cache_size=0) as pool,
            db.connection(pool) as database,
        ):
            if await migrations.is_usable(database):
                return
            is_empty = await migrations.current(database.fetch_value) is None
        what = "The database is empty" if is_empty else "The database's schema is not one that this release works on"
        raise CommandError(f"{what}. Run: afterword migrate")


async def _back_up(opened: context.Context, stop: asyncio.Event) -> None:
    """Make backups when they are due and keep the ledgers beside them, in a process of its own."""
    seen: tuple[datetime | None, datetime | None] = None, None
    async with await db.open_pool(opened.database_url, size_max=1, statement_cache_size=0) as pool:
        while not stop.is_set():
            pause = BACKUP_LOOK_SECONDS
            try:
                changed = await backups.get_ledger_times(pool)
                if changed != seen or await copies.is_due(pool, opened.settings, now=datetime.now(UTC)):
                    if await _run_backup(opened, stop):
                        seen = changed
                    else:
                        pause = BACKUP_AGAIN_SECONDS
            except errors.Unavailable:
                pass  # the sender says so
            await wait(stop, pause)


async def _run_backup(opened: context.Context, stop: asyncio.Event) -> bool:
    """True if it did its work; it is ended when we are, and leaves nothing that a restore would take."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "afterword", "backup", "--if-due"),
        env=serve.environment_of(opened),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    ended, stopped = asyncio.create_task(process.communicate()), asyncio.create_task(stop.wait())
    await asyncio.wait({ended, stopped}, return_when=asyncio.FIRST_COMPLETED)
    stopped.cancel()
    if not ended.done():
        process.terminate()
    _, text = await ended
    if process.returncode and not stop.is_set():
        logger.error("a backup failed", cause=text.decode(errors="replace").strip().rpartition("\n")[2])
    return process.returncode == 0


async def _give_way(stop: asyncio.Event) -> None:
    """After the first signal, let the next one end the process as signals do."""
    await stop.wait()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.remove_signal_handler(number)
    logger.info("stopping; another signal ends it at once")


def installation_channels(chosen: Settings, site: Site, pool: db.Pool) -> Mapping[int, Channel]:
    """The installation's own ways out, for organizations without an account of theirs; for SMS there is none."""
    posting = WebhookChannel(caller=Caller(allowed=site.networks), secrets_of=partial(webhook.secrets_of, site.secret))
    if chosen.smtp_url is None:
        return {**work.captured(pool, [EMAIL]), WEBHOOK: posting}
    email = EmailChannel(chosen.smtp_url, slots=chosen.worker_slots)
    return {**work.captured(pool), WEBHOOK: posting, EMAIL: email}
