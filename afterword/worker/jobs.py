"""Periodic jobs: each is one call into a service, in one bounded transaction."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final

from afterword.alerts import service as alerts
from afterword.alerts.mails import service as mails
from afterword.alerts.notifications import service as notifications
from afterword.core.scheduling.lanes import START, LaneKey
from afterword.core.scheduling.retries import JITTER_MAX
from afterword.db import Database
from afterword.events.deliveries import service as deliveries
from afterword.events.log import service as log
from afterword.exports import service as exports
from afterword.instances.expiry import service as expiry
from afterword.intake.imports import service as imports
from afterword.intake.sequences import service as sequences
from afterword.intake.test_messages import service as test_messages
from afterword.organizations.idempotency import service as idempotency
from afterword.organizations.plans import service as plans
from afterword.organizations.tokens import service as tokens
from afterword.privacy import service as erasures
from afterword.providers.rates import service as rates
from afterword.queue import service as queue
from afterword.queue.lanes import store as lanes_store
from afterword.queue.lanes.service import SettingsCache
from afterword.queue.reminders import service as reminders
from afterword.queue.restores import service as restores
from afterword.queue.retention import service as retention
from afterword.queue.sending import service as sending
from afterword.queue.sending.dispatches import Draw
from afterword.queue.sending.outcomes import Waits
from afterword.queue.sending.service import Lease
from afterword.reports import service as reports
from afterword.reports.rollups import service as rollups
from afterword.worker.pace import BATCH_ITEMS_MAX, REAP_ITEMS_MAX, Pace

ERASE_SECONDS: Final = 2.0
ENDED_SECONDS: Final = 30.0
EXPIRE_SECONDS: Final = 60.0
EXPIRE_LANES_MAX: Final = 200
PLANS_SECONDS: Final = 60.0
PLANS_MAX: Final = 100
PRUNE_SECONDS: Final = 600.0
PRUNE_ROWS_MAX: Final = 1_000
STALLED_SECONDS: Final = 5.0
STALLED_MAX: Final = 1_000  # more connections than a server has
RETENTION_SECONDS: Final = 60.0
RETENTION_STEPS_MAX: Final = 100  # of one transaction
RATES_SECONDS: Final = 60.0
PRUNE_PIECES_MAX: Final = 200  # of files, up to a megabyte each
READ_SECONDS: Final = 2.0  # how long after an answer its alert is raised, at most
READ_EVENTS_MAX: Final = 200
FOLLOW_SECONDS: Final = 5.0  # reports read live whatever the kept counts do not know yet
KEEP_SECONDS: Final = 10.0
SURVEY_SECONDS: Final = 300.0
FIGURES_SECONDS: Final = 60.0
FIGURES_ALERTS_MAX: Final = 5  # their rows are locked until the last of them has its figures


@dataclass(frozen=True, slots=True)
class Job:
    """`run` does one batch of at most `batch` and says how many it did; a full batch is followed by another at once."""

    name: str
    seconds: float
    batch: int
    run: Callable[[Database], Awaitable[int]]


def jobs_of(*, lease: Lease, secret: bytes, pace: Pace, draw: Draw, queue_days: int) -> Sequence[Job]:
    """All jobs of a worker; every worker runs every job, and whoever comes first does the work."""
    expiry = _Expiry(lease=lease, secret=secret, draw=draw)

    async def reap(db: Database) -> int:
        return await sending.reap(db, limit=REAP_ITEMS_MAX, waits=Waits(JITTER_MAX, pace.backoff_factor))

    async def follow_sequences(db: Database) -> int:
        return await sequences.follow(db, secret=secret, now=db.clock.now(), limit=READ_EVENTS_MAX)

    return (
        Job("reap", pace.reap_seconds, REAP_ITEMS_MAX, reap),
        Job("end stalled sessions", STALLED_SECONDS, STALLED_MAX, restores.end_stalled),
        Job("expire items of closed lanes", EXPIRE_SECONDS, BATCH_ITEMS_MAX, expiry.run),
        Job("renew and end plans", PLANS_SECONDS, PLANS_MAX, _turn_plans),
        Job("prune access tokens", PRUNE_SECONDS, PRUNE_ROWS_MAX, _prune_access_tokens),
        Job("prune idempotency keys", PRUNE_SECONDS, PRUNE_ROWS_MAX, _prune_idempotency_keys),
        Job("prune exports", PRUNE_SECONDS, PRUNE_PIECES_MAX, _prune_exports),
        Job("prune imports", PRUNE_SECONDS, PRUNE_ROWS_MAX, _prune_imports),
        Job("remove old items", RETENTION_SECONDS, PRUNE_ROWS_MAX, _Retention(queue_days).run),
        Job("prune the outbox", PRUNE_SECONDS, PRUNE_ROWS_MAX, _prune_outbox),
        Job("prune test messages", PRUNE_SECONDS, PRUNE_ROWS_MAX, _prune_test_messages),
        Job("prune domain rates", RATES_SECONDS, PRUNE_ROWS_MAX, _prune_rates),
        Job("prune deliveries", PRUNE_SECONDS, PRUNE_ROWS_MAX, _prune_deliveries),
        Job("prune the event log", PRUNE_SECONDS, PRUNE_ROWS_MAX, _prune_events),
        Job("raise alerts", READ_SECONDS, READ_EVENTS_MAX, _raise_alerts),
        Job("follow sequences", READ_SECONDS, READ_EVENTS_MAX, follow_sequences),
        Job("end answered reminders", READ_SECONDS, READ_EVENTS_MAX, _end_answered_reminders),
        Job("notify users", READ_SECONDS, READ_EVENTS_MAX, _notify_users),
        Job("prune notifications", PRUNE_SECONDS, PRUNE_ROWS_MAX, _prune_notifications),
        Job("prune notice mails", PRUNE_SECONDS, PRUNE_ROWS_MAX, _prune_notice_mails),
        Job("follow answers", FOLLOW_SECONDS, rollups.EVENTS_MAX, _follow_answers),
        Job("keep counts", KEEP_SECONDS, 1, _keep_counts),
        Job("survey kept counts", SURVEY_SECONDS, rollups.SURVEY_MAX, _Survey().run),
        Job("tell of ended instances", ENDED_SECONDS, 1, _tell_ended),
        Job("erase people", ERASE_SECONDS, 1, _erase),
        Job("evaluate daily alerts", FIGURES_SECONDS, FIGURES_ALERTS_MAX, _evaluate_alerts),
    )


class _Expiry:
    """Walks the closed lanes, some at a time."""

    def __init__(self, *, lease: Lease, secret: bytes, draw: Draw) -> None:
        self._lease = lease
        self._secret = secret
        self._draw = draw
        self._cache = SettingsCache()
        self._cursor: LaneKey = START

    async def run(self, db: Database) -> int:
        closed = await lanes_store.list_closed_lanes(db, after=self._cursor, limit=EXPIRE_LANES_MAX)
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
        if count < BATCH_ITEMS_MAX:
            self._cursor = closed[-1] if len(closed) == EXPIRE_LANES_MAX else START
        return count


class _Retention:
    """Walks the items of all organizations, the oldest first."""

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
            if passed >= PRUNE_ROWS_MAX or self._cursor == retention.RetentionCursor():
                break
        return passed


class _Survey:
    """Walks all questionnaires, some at a time."""

    def __init__(self) -> None:
        self._after = ""

    async def run(self, db: Database) -> int:
        count, last = await rollups.survey(db, after=self._after, now=db.clock.now())
        self._after = last if count == rollups.SURVEY_MAX else ""
        return count


async def _turn_plans(db: Database) -> int:
    return await plans.turn_plans(db, now=db.clock.now(), limit=PLANS_MAX)


async def _prune_access_tokens(db: Database) -> int:
    return await tokens.prune_access_tokens(db, now=db.clock.now(), limit=PRUNE_ROWS_MAX)


async def _prune_idempotency_keys(db: Database) -> int:
    return await idempotency.prune_idempotency_keys(db, now=db.clock.now(), limit=PRUNE_ROWS_MAX)


async def _prune_exports(db: Database) -> int:
    return await exports.prune(db, now=db.clock.now(), limit=PRUNE_PIECES_MAX)


async def _prune_imports(db: Database) -> int:
    return await imports.prune(db, now=db.clock.now(), limit=PRUNE_ROWS_MAX)


async def _prune_outbox(db: Database) -> int:
    return await queue.prune_outbox(db, now=db.clock.now(), limit=PRUNE_ROWS_MAX)


async def _prune_test_messages(db: Database) -> int:
    return await test_messages.prune(db, now=db.clock.now(), limit=PRUNE_ROWS_MAX)


async def _prune_rates(db: Database) -> int:
    return await rates.prune(db, limit=PRUNE_ROWS_MAX)


async def _prune_deliveries(db: Database) -> int:
    return await deliveries.prune(db, now=db.clock.now(), limit=PRUNE_ROWS_MAX)


async def _prune_events(db: Database) -> int:
    return await log.prune(db, now=db.clock.now(), limit=PRUNE_ROWS_MAX)


async def _end_answered_reminders(db: Database) -> int:
    return await reminders.end_answered(db, limit=READ_EVENTS_MAX)


async def _raise_alerts(db: Database) -> int:
    return await alerts.raise_next(db, now=db.clock.now(), limit=READ_EVENTS_MAX)


async def _notify_users(db: Database) -> int:
    return await notifications.notify_next(db, now=db.clock.now(), limit=READ_EVENTS_MAX)


async def _prune_notifications(db: Database) -> int:
    return await notifications.prune(db, now=db.clock.now(), limit=PRUNE_ROWS_MAX)


async def _prune_notice_mails(db: Database) -> int:
    return await mails.prune(db, now=db.clock.now(), limit=PRUNE_ROWS_MAX)


async def _follow_answers(db: Database) -> int:
    return await rollups.follow(db, now=db.clock.now())


async def _keep_counts(db: Database) -> int:
    return await rollups.keep(db, now=db.clock.now())


async def _evaluate_alerts(db: Database) -> int:
    return await reports.evaluate_alerts(db, now=db.clock.now(), limit=FIGURES_ALERTS_MAX)


async def _erase(db: Database) -> int:
    return await erasures.work_next(db, now=db.clock.now())


async def _tell_ended(db: Database) -> int:
    return await expiry.record_next(db, now=db.clock.now())
