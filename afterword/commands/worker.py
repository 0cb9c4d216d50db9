"""`afterword worker`: sends what is due; start as many as you like."""

import asyncio
import signal
from collections.abc import Mapping

import structlog

from afterword import db
from afterword import worker as work
from afterword.channels.base import EMAIL, Channel
from afterword.channels.email import EmailChannel
from afterword.commands import ground, serve
from afterword.settings import Settings

logger = structlog.get_logger(__name__)


async def worker(chosen: Settings) -> None:
    """Work until SIGTERM or SIGINT: finish what is being sent, hand back the rest. A second signal ends it at once."""
    stop = serve.stop_on_signals()
    async with ground.stand(chosen, migrate=False) as standing:
        watching = asyncio.create_task(serve.watch_parent(stop))
        hurrying = asyncio.create_task(_give_way(stop))
        try:
            await work.run(
                database_url=standing.database_url,
                site=standing.site,
                channels=lambda pool: _channels(chosen, pool),
                mail_from=chosen.mail_from,
                stop=stop,
                pace=work.Pace(
                    slots=chosen.worker_slots,
                    lease_seconds=chosen.worker_lease_seconds,
                    heartbeat_seconds=chosen.worker_heartbeat_seconds,
                    poll_seconds=chosen.worker_poll_seconds,
                ),
                statement_cache_size=chosen.statement_cache,
            )
        finally:
            watching.cancel()
            hurrying.cancel()


async def _give_way(stop: asyncio.Event) -> None:
    """After the first signal, let the next one end the process as signals do."""
    await stop.wait()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.remove_signal_handler(number)
    logger.info("stopping; another signal ends it at once")


def _channels(chosen: Settings, pool: db.Pool) -> Mapping[int, Channel]:
    if chosen.smtp_url is None:
        return work.captured(pool, [EMAIL])
    return {**work.captured(pool), EMAIL: EmailChannel(chosen.smtp_url, slots=chosen.worker_slots)}
