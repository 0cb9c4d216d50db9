"""Periodic jobs: each is one call into a service, in one bounded transaction."""

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final, Protocol

import msgspec
from msgspec import structs

from afterword.asking.instances import choices, expiry as instances_expiry, files
from afterword.asking.links import domains
from afterword.asking.links.domains import CustomDomainRecord
from afterword.cases import escalation, mailboxes, notifications, service as cases
from afterword.core.scheduling.lanes import START, LaneKey
from afterword.core.scheduling.retries import JITTER_MAX
from afterword.core.wire.site import Site
from afterword.events import log
from afterword.kit import db
from afterword.kit.db import Database
from afterword.kit.db.retention import prune_next
from afterword.kit.db.walks import get_next
from afterword.listening.exports import schedules
from afterword.listening.imports import service as response_imports, uploads
from afterword.listening.reports import results as reports
from afterword.listening.reports.daily_counts import service as daily_counts
from afterword.listening.responses import rows, taggings
from afterword.listening.screens import digests
from afterword.privacy import retention as ages, service as erasures
from afterword.run.worker.flights import BATCH_ITEMS_MAX, REAP_ITEMS_MAX, Flights, Pace
from afterword.run.worker.retention import RETENTION
from afterword.sending.intake import sequences
from afterword.sending.providers import rates
from afterword.sending.queue import lanes, reminders, restores, retention
from afterword.sending.queue.lanes import SettingsCache
from afterword.sending.queue.sending import service as sending
from afterword.sending.queue.sending.dispatches import Draw
from afterword.sending.queue.sending.outcomes import Waits
from afterword.sending.queue.sending.service import Lease
from afterword.tenants import audit
from afterword.tenants.organizations import plans


class DomainChecks(Flights[CustomDomainRecord]):
    name = "checks of custom domains"
    slots = 5
    poll_seconds = domains.FRESH_SECONDS
    grace_seconds = 2 * domains.ASK_SECONDS_MAX
    _after = ""

    async def claim(self, limit: int) -> tuple[Sequence[CustomDomainRecord], bool]:
        await domains.try_refresh(self._pool, site=self._site)
        async with db.transaction(self._pool) as database:
            now = database.clock.now()
            claimed = await domains.claim_due(database, after=self._after, now=now, limit=limit)
            if len(claimed) < limit:
                end = await get_next(database, "custom_domain", "organization_id", after=(self._after,))
                self._after = "" if end is None else end[0]
        return claimed, bool(claimed)

    async def serve(self, domain: CustomDomainRecord) -> None:
        await domains.ask(self._pool, domain=domain, site=self._site, now=self._pool.clock.now())


class Mailboxes(Flights[mailboxes.Reading]):
    name = "mailboxes of cases"
    slots = 3
    poll_seconds = 5.0
    grace_seconds = 10.0

    async def claim(self, limit: int) -> tuple[Sequence[mailboxes.Reading], bool]:
        claimed = await db.change(self._pool, mailboxes.claim_due, now=self._pool.clock.now(), limit=limit)
        return claimed, bool(claimed)

    async def serve(self, reading: mailboxes.Reading) -> None:
        await mailboxes.read(self._pool, reading=reading, site=self._site)


SLOW_SECONDS: Final = 0.02
WHOLE_SECONDS: Final = 1.0
MARGIN: Final = timedelta(seconds=2)  # transactions that committed later than others which came after them


class LowWaterMarks:
    """The due time of each lane before which nothing is left, as far as this worker has seen."""

    def __init__(self) -> None:
        self._empty_until: dict[LaneKey, datetime] = {}
        self._is_slow = False
        self._whole_at = float("-inf")
        self._is_whole = True

    def begin(self) -> Mapping[LaneKey, datetime]:
        """Begin a poll: the due times at which it may begin, none for lanes that are read from their first row."""
        now = time.monotonic()
        self._is_whole = not self._is_slow or now - self._whole_at >= WHOLE_SECONDS
        if self._is_whole:
            self._whole_at = now
            self._empty_until.clear()
            return {}
        return self._empty_until

    def looked(self, seconds: float) -> None:
        """Note the time of the poll; only a whole one shows whether dead rows make it slow."""
        if self._is_whole:
            self._is_slow = seconds > SLOW_SECONDS

    def reached(self, claimed: Mapping[LaneKey, datetime]) -> None:
        """Note the last due time that was claimed of each lane: claims go in the order of due times."""
        if self._is_slow:
            self._empty_until |= {lane: due_time - MARGIN for lane, due_time in claimed.items()}


ERASE_SECONDS: Final = 2.0
AGES_SECONDS: Final = 60.0
ENDED_SECONDS: Final = 30.0
JUDGE_SECONDS: Final = 30.0
EXPIRE_SECONDS: Final = 60.0
EXPIRE_LANES_MAX: Final = 200
TIDY_LANES_MAX: Final = 500
PLANS_SECONDS: Final = 60.0
PLANS_MAX: Final = 100
PRUNE_SECONDS: Final = 600.0
PRUNE_ROWS_MAX: Final = 1_000
STALLED_SECONDS: Final = 5.0
STALLED_MAX: Final = 1_000  # more connections than a server has
RETENTION_SECONDS: Final = 60.0
RETENTION_STEPS_MAX: Final = 100  # of one transaction
RATES_SECONDS: Final = 60.0
READ_SECONDS: Final = 2.0  # how long after an answer its alert is raised, at most
READ_EVENTS_MAX: Final = 200
FOLLOW_SECONDS: Final = 5.0  # reports read responses live that the kept counts lack
KEEP_SECONDS: Final = 10.0
SURVEY_SECONDS: Final = 300.0
AGED_SECONDS: Final = 60.0
FIGURES_SECONDS: Final = 60.0
SCHEDULES_SECONDS: Final = 5.0
SCHEDULES_MAX: Final = 100
DIGESTS_SECONDS: Final = 10.0
DIGESTS_MAX: Final = 5  # with the figures of a report each
FIGURES_ALERTS_MAX: Final = 5  # their rows are locked until the last of them has its figures


class Job(msgspec.Struct, frozen=True):
    """`run` does one batch of at most `batch` and returns its size; a full batch is followed by another at once.

    `reader`: of the event log, where it does nothing else.
    """

    name: str
    seconds: float
    batch: int
    run: Callable[[Database], Awaitable[int]]
    reader: str | None = None


class BatchWork(Protocol):
    def __call__(self, db: Database, /, *, now: datetime, limit: int) -> Awaitable[int]: ...


class SingleWork(Protocol):
    def __call__(self, db: Database, /, *, now: datetime) -> Awaitable[int]: ...


class PagedWork(Protocol):
    def __call__(self, db: Database, /, *, after: Any, now: datetime) -> Awaitable[tuple[int, Any]]: ...


def batches(name: str, seconds: float, limit: int, work: BatchWork, reader: str | None = None) -> Job:
    return Job(name, seconds, limit, lambda db: work(db, now=db.clock.now(), limit=limit), reader)


def steps(name: str, seconds: float, work: SingleWork, *, batch: int = 1, reader: str | None = None) -> Job:
    return Job(name, seconds, batch, lambda db: work(db, now=db.clock.now()), reader)


def walk(name: str, seconds: float, batch: int, work: PagedWork, *, start: Any) -> Job:
    """Looks at the next rows only, and goes on behind them; after less than a full batch it begins anew."""
    after = start

    async def run(db: Database) -> int:
        nonlocal after
        count, after = await work(db, after=after, now=db.clock.now())
        if count < batch:
            after = start
        return count

    return Job(name, seconds, batch, run)


def removal(job: Job) -> Job:
    """It removes by age, so it waits while the clock may be wrong."""

    async def run(db: Database) -> int:
        return await job.run(db) if await restores.get_removals_time(db) is None else 0

    return structs.replace(job, run=run)


def jobs_of(*, lease: Lease, site: Site, pace: Pace, draw: Draw, queue_days: int) -> Sequence[Job]:
    """All jobs of a worker. They are turns: all workers together run each of them."""
    secret = site.secret
    expiry = _Expiry(lease=lease, secret=secret, draw=draw)

    async def reap(db: Database) -> int:
        return await sending.reap(db, limit=REAP_ITEMS_MAX, waits=Waits(JITTER_MAX, pace.backoff_factor))

    by_age = (
        *(
            walk(f"prune {name}", PRUNE_SECONDS, old.batch, partial(prune_next, old=old), start=old.start)
            for name, old in RETENTION.items()
        ),
        Job("remove old items", RETENTION_SECONDS, PRUNE_ROWS_MAX, _Retention(queue_days).run),
        walk(
            "prune the event log",
            PRUNE_SECONDS,
            PRUNE_ROWS_MAX,
            partial(log.prune_events, limit=PRUNE_ROWS_MAX),
            start=log.BEGINNING,
        ),
        batches("prune the audit log", PRUNE_SECONDS, PRUNE_ROWS_MAX, audit.prune_entries),
        walk("remove what is too old", AGES_SECONDS, 1, ages.work_next, start=ages.START),
    )
    return (
        *map(removal, by_age),
        Job("reap", pace.reap_seconds, REAP_ITEMS_MAX, reap),
        Job("end stalled sessions", STALLED_SECONDS, STALLED_MAX, restores.prune_stalled_sessions),
        Job(
            "tidy notes of lanes", lanes.TIDY_SECONDS, TIDY_LANES_MAX, partial(lanes.settle_notes, limit=TIDY_LANES_MAX)
        ),
        walk("expire items of closed lanes", EXPIRE_SECONDS, BATCH_ITEMS_MAX, expiry.run, start=START),
        batches("renew and end plans", PLANS_SECONDS, PLANS_MAX, plans.turn_plans),
        batches("begin exports on a timetable", SCHEDULES_SECONDS, SCHEDULES_MAX, schedules.begin_due),
        steps(
            "remove files that no answer lists",
            RETENTION_SECONDS,
            partial(files.remove_strays, file_folder=site.file_folder),
            batch=files.STRAYS_MAX,
        ),
        Job("prune domain rates", RATES_SECONDS, PRUNE_ROWS_MAX, partial(rates.prune, limit=PRUNE_ROWS_MAX)),
        *_readers(secret),
        walk("see to open cases", AGED_SECONDS, escalation.LOOKED_MAX, escalation.see_to_open, start=escalation.START),
        steps("write rows of older responses", KEEP_SECONDS, rows.fill, batch=rows.FILLED_MAX),
        steps("tag many responses", READ_SECONDS, taggings.work_next),
        steps("remove imported responses", READ_SECONDS, response_imports.remove_next),
        steps("check and import files of responses", READ_SECONDS, partial(uploads.work_next, secret=secret)),
        walk("keep counts", KEEP_SECONDS, 1, daily_counts.keep, start=daily_counts.START),
        walk("survey kept counts", SURVEY_SECONDS, daily_counts.SURVEY_MAX, daily_counts.survey, start=""),
        steps("tell of ended instances", ENDED_SECONDS, instances_expiry.record_next),
        batches("judge provisional answers", JUDGE_SECONDS, choices.JUDGED_MAX, choices.judge_due),
        steps("erase people", ERASE_SECONDS, erasures.work_next),
        batches("mail digests of reports", DIGESTS_SECONDS, DIGESTS_MAX, partial(digests.mail_due, secret=secret)),
        batches("evaluate daily alerts", FIGURES_SECONDS, FIGURES_ALERTS_MAX, reports.evaluate_alerts),
    )


def _readers(secret: bytes) -> Sequence[Job]:
    """Those of the event log that do nothing else."""
    return (
        batches("raise alerts", READ_SECONDS, READ_EVENTS_MAX, cases.raise_next, cases.READER),
        batches(
            "follow sequences",
            READ_SECONDS,
            READ_EVENTS_MAX,
            partial(sequences.follow, secret=secret),
            sequences.READER,
        ),
        Job(
            "end answered reminders",
            READ_SECONDS,
            READ_EVENTS_MAX,
            partial(reminders.end_answered, limit=READ_EVENTS_MAX),
            reminders.READER,
        ),
        batches("notify users", READ_SECONDS, READ_EVENTS_MAX, notifications.notify_next, notifications.READER),
        steps("write rows of responses", READ_SECONDS, rows.follow, batch=rows.EVENTS_MAX, reader=rows.READER),
        steps(
            "follow answers",
            FOLLOW_SECONDS,
            daily_counts.follow,
            batch=daily_counts.EVENTS_MAX,
            reader=daily_counts.READER,
        ),
    )


class _Expiry:
    def __init__(self, *, lease: Lease, secret: bytes, draw: Draw) -> None:
        self._lease = lease
        self._secret = secret
        self._draw = draw
        self._cache = SettingsCache()

    async def run(self, db: Database, *, after: LaneKey, now: datetime) -> tuple[int, LaneKey]:  # noqa: ARG002  as of all walks
        closed = await lanes.list_closed_lanes(db, after=after, limit=EXPIRE_LANES_MAX)
        count = 0
        if closed:
            count = await sending.claim_expired(
                db,
                closed=closed,
                lease=self._lease,
                cache=self._cache,
                secret=self._secret,
                draw=self._draw,
                limit=BATCH_ITEMS_MAX,
            )
        if count == BATCH_ITEMS_MAX:
            return count, after
        end = await get_next(db, "lane_due", "organization_id, pipeline_id", after=after, limit=EXPIRE_LANES_MAX)
        return (count, START) if end is None else (BATCH_ITEMS_MAX, (end[0], end[1]))


class _Retention:
    def __init__(self, days: int) -> None:
        self._days = days
        self._cursor = retention.RetentionCursor()

    async def run(self, db: Database) -> int:
        passed = 0
        for _ in range(RETENTION_STEPS_MAX):
            count, self._cursor = await retention.prune(
                db, cursor=self._cursor, days=self._days, now=db.clock.now(), limit=PRUNE_ROWS_MAX - passed
            )
            passed += count
            if not count or passed >= PRUNE_ROWS_MAX or self._cursor == retention.RetentionCursor():
                break
        return passed
