"""The worker process: a pool, the sender, its heartbeat and the jobs, from the first connection to a clean stop."""

import asyncio
import contextlib
import random
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import structlog

from afterword import errors
from afterword.asking.links import domains
from afterword.cases import chats
from afterword.core.wire.site import Site
from afterword.events import sending as webhooks
from afterword.kit import db
from afterword.kit.db.replicas import Replica
from afterword.kit.transport.base import EMAIL, LINK, OUTBOX, Channel, Message
from afterword.kit.transport.http import Caller
from afterword.run import renderings
from afterword.run.demonstration import service as demonstration
from afterword.run.worker import timeouts
from afterword.run.worker.deliverer import FAN_OUT, Deliverer
from afterword.run.worker.flights import AWAY_SECONDS_MAX, Flights, Pace, Repeat, first_of, jitter, repeat, wait
from afterword.run.worker.guard import Guard
from afterword.run.worker.heartbeat import Heartbeat
from afterword.run.worker.jobs import DomainChecks, Job, Mailboxes, jobs_of
from afterword.run.worker.long_work import SHIPPERS, BatchWorker, Exporter, Importer, LongWorker, Shipper
from afterword.run.worker.messages import Calls, CaseMessages, Notices, TestMessages
from afterword.run.worker.rota import Rota
from afterword.run.worker.sender import Sender
from afterword.sending.channels.outbox import LinkChannel, OutboxChannel
from afterword.sending.intake.sources import notes
from afterword.sending.queue import outbox, retention
from afterword.sending.queue.sending.store import LeaseKey

# A worker probes by key only, and a plan that was made while a table was small must not survive its growth. (To plan
# at each execution would also plan each foreign key's check anew, a fifth of the database's work.)
PLANNER: Final[Mapping[str, str]] = {
    "enable_seqscan": "off", "enable_hashjoin": "off", "enable_mergejoin": "off", "random_page_cost": "1.1",
}  # fmt: skip
STATEMENT_SECONDS_MAX: Final = 60
BATCHES_MAX: Final = 20  # of one job in a row
DEMONSTRATION_SECONDS: Final = 3.0
Channels = Callable[[db.Pool], Mapping[int, Channel]]

logger: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)


async def run(
    *,
    database_url: str,
    site: Site,
    channels: Channels,
    mail_from: str,
    stop: asyncio.Event,
    pace: Pace = Pace(),  # noqa: B008  frozen
    statement_cache_size: int | None = None,
    queue_days: int = retention.DAYS_DEFAULT,
    folder: Path | None = None,
    reader: Replica | None = None,
) -> None:
    """Work until `stop` is set; while the database is away, wait for it.

    `channels` makes the installation's channels, by channel_id, once there is a pool: those of `captured`, EmailChannel
    and others. Items on other channels are left for other workers. `folder` keeps the sending mark.
    `reader`: a standby that exports read from.
    """
    pool = await _opened(database_url, stop, pace.pool_size, statement_cache_size)
    if pool is None:
        return
    async with pool:
        defaults = channels(pool)
        guard = Guard(pool=pool, folder=folder, pace=pace)
        rota = Rota(pool=pool, poll_seconds=pace.poll_seconds, run_id=guard.run_id)
        sender = Sender(pool=pool, site=site, channels=defaults, mail_from=mail_from, pace=pace, guard=guard, rota=rota)
        heartbeat = _heartbeat(database_url, sender, pace)
        logger.info("worker started", run_id=str(sender.run_id), channel_ids=sorted(defaults), slots=pace.slots)
        heartbeat.start()
        with contextlib.suppress(errors.Unavailable):  # then the guard looks again
            await guard.is_open()  # before any reader of the event log
        await domains.try_refresh(pool, site=site)  # before any message is written
        try:
            async with asyncio.TaskGroup() as group:
                jobs = jobs_of(lease=sender.lease, site=site, pace=pace, draw=random.random, queue_days=queue_days)
                readers = {job.name: job.reader for job in jobs if job.reader} | {FAN_OUT: webhooks.READER}
                group.create_task(rota.run(stop, readers))
                for job in jobs:
                    group.create_task(_repeat(job, pool, stop, rota.repeat))
                mails: Mapping[str, Any] = {"pool": pool, "site": site, "mail_from": mail_from}
                works: list[Flights[Any] | LongWorker[Any]] = [
                    Exporter(pool, sender.run_id, reader),
                    *(Shipper(pool, sender.run_id, site) for _ in range(SHIPPERS)),
                    Importer(pool, sender.run_id, secret=site.secret),
                    BatchWorker(pool, sender.run_id, secret=site.secret),
                    Deliverer(pool=pool, site=site, caller=Caller(allowed=site.networks), render=renderings.render),
                    *(make(pool=pool, site=site) for make in (DomainChecks, Mailboxes)),
                    *(Calls(module, pool=pool, site=site) for module in (chats, notes)),
                    *(make(**mails, channels=sender.channels) for make in (TestMessages, CaseMessages)),
                    *([Notices(**mails, channel=defaults[EMAIL])] if EMAIL in defaults else []),
                ]
                for work in works:
                    group.create_task(work.run(stop, rota.repeat))
                if site.has_demonstration:
                    make_next = partial(demonstration.make_next, pool, database_url=database_url, secret=site.secret)
                    group.create_task(
                        rota.repeat(make_next, name="demonstration", seconds=DEMONSTRATION_SECONDS, stop=stop)
                    )
                group.create_task(guard.run(stop))
                group.create_task(sender.tick(stop))
                group.create_task(_send(sender, heartbeat, stop))
        finally:
            await heartbeat.stop()
            await sender.channels.close()
            for channel in {id(channel): channel for channel in defaults.values()}.values():
                await channel.close()
        logger.info("worker stopped", run_id=str(sender.run_id))


def captured(pool: db.Pool, channel_ids: Sequence[int] = ()) -> dict[int, Channel]:
    """The channels that need nothing from outside: links, the outbox, and the outbox in place of `channel_ids`."""

    async def save(message: Message) -> None:
        await db.change(pool, outbox.insert_message, message=message)

    channel = OutboxChannel(save)
    return {LINK: LinkChannel(), OUTBOX: channel, **dict.fromkeys(channel_ids, channel)}


async def _opened(
    database_url: str, stop: asyncio.Event, size_max: int, statement_cache_size: int | None
) -> db.Pool | None:
    while not stop.is_set():
        try:
            return await db.open_pool(
                database_url,
                size_max=size_max,
                application_name="afterword worker",
                server_settings=PLANNER,
                statement_cache_size=statement_cache_size,
                statement_seconds_max=STATEMENT_SECONDS_MAX,
            )
        except errors.Unavailable as error:
            logger.warning("the database is away", cause=str(error.__cause__ or error))
            await wait(stop, AWAY_SECONDS_MAX * jitter())
    return None


def _heartbeat(database_url: str, sender: Sender, pace: Pace) -> Heartbeat:
    loop = asyncio.get_running_loop()

    def lose(holds: Collection[LeaseKey]) -> None:
        loop.call_soon_threadsafe(sender.lose, holds)

    return Heartbeat(database_url=database_url, pace=pace, lease_keys=sender.lease_keys, lose=lose, watch=sender.watch)


async def _send(sender: Sender, heartbeat: Heartbeat, stop: asyncio.Event) -> None:
    await first_of(heartbeat.connected, stop)
    await sender.run(stop)


async def _repeat(job: Job, pool: db.Pool, stop: asyncio.Event, repeat: Repeat = repeat) -> None:
    """Run a job until `stop`; its errors are logged and end nothing."""

    async def turn() -> bool:
        try:
            for _ in range(BATCHES_MAX):
                if await db.change(pool, job.run) < job.batch or stop.is_set():
                    break
        except db.Slow:  # again at its own time: to try at once would cost as much for nothing
            logger.error("job took longer than a statement may", job=job.name)  # noqa: TRY400  the server's own limit
            async with db.transaction(pool) as database:
                await timeouts.insert_timeout(database, name=job.name, now=database.clock.now())
        return False

    await repeat(turn, name=job.name, seconds=job.seconds, stop=stop)
