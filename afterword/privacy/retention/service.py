"""Removing personal data by its age: a run a day for each kind of data that an organization has a period for."""

import secrets
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final, Literal

from afterword import ids
from afterword.cases.alert_instances import service as cases
from afterword.core.figures import periods
from afterword.core.organizations.access import Caller
from afterword.core.wire import times
from afterword.events import log
from afterword.events import service as events
from afterword.kit.db import Database
from afterword.kit.db.steps import StepResult, take
from afterword.listening.reports.daily_counts import service as daily_counts
from afterword.listening.responses import rows as responses
from afterword.privacy import rows
from afterword.privacy.retention import store
from afterword.privacy.retention.store import Due, Run, ScanStep
from afterword.privacy.subjects import Person
from afterword.tenants.organizations import retention

Kind = Literal["texts", "people", "items", "uploads", "answers", "events", "audit", "exports", "deleted"]

EVERY: Final = timedelta(hours=20)  # so that a day at most passes from one run to the end of the next
WAIT_SECONDS: Final = 10  # after a fault, or for another process
LEDGER_DAYS: Final = 730
DELETED_DAYS: Final = 30  # a deleted row stays so long, to answer whoever asks for what was deleted
SALT_BYTES: Final = 32
SCANNED_MAX: Final = 2_000  # rows that a turn passes
ITEMS_MAX: Final = 100  # blanked in one transaction, with their attempts and events
INSTANCES_MAX: Final = 50
PEOPLE_MAX: Final = 20
ROWS_MAX: Final = 1_000  # of logs, which are removed whole
PREVIEWED_MAX: Final = 10_000  # counted of a kind
TEXT_BLANKS: Final[Mapping[str, Any]] = {"answers": []}
VALUE_BLANKS: Final[Mapping[str, Any]] = {
    name: rows.INSTANCE_BLANKS[name] for name in rows.INSTANCE_BLANKS if name != "answers"
}
WHOLE_BLANKS: Final[Mapping[str, Any]] = {**rows.INSTANCE_BLANKS, **rows.TAG_BLANKS}


@dataclass(frozen=True, slots=True)
class Preview:
    """The rows that a run of this kind would touch; `is_more`: more than `count`."""

    kind: str
    days: int
    count: int
    is_more: bool


Work = Callable[[Database, Run, datetime], Awaitable[StepResult]]


async def work_next(db: Database, *, now: datetime) -> int:
    """A turn of the run that waited longest, or of the next; 0: none. A failed turn is logged and tried again later."""
    run = await store.claim_run(db, now=now) or await _begin(db, now=now)
    if run is None:
        return 0
    turn = await take(db, TURNS[run.kind](db, run, now), run_id=run.run_id, kind=run.kind)
    counts = Counter(run.counts) + turn.counts
    key = {"organization_id": run.organization_id, "run_id": run.run_id}
    if turn.waits:
        due_time = now + timedelta(seconds=WAIT_SECONDS)
        await store.settle_turn(db, **key, mark=run.mark, counts=counts, due_time=due_time)
    elif turn.mark is not None:
        await store.settle_turn(db, **key, mark=turn.mark, counts=counts, due_time=now)
    else:
        await store.settle_run(db, **key, counts=counts, now=now)
        before = now - timedelta(days=LEDGER_DAYS)
        await store.prune_runs(db, organization_id=run.organization_id, before=before)
    return 1


async def _begin(db: Database, *, now: datetime) -> Run | None:
    due = await store.get_next_due(
        db, since=now - EVERY, deleted_days=DELETED_DAYS, deleted_before=now - timedelta(days=DELETED_DAYS)
    )
    if due is None:
        return None
    return await store.insert_run(
        db,
        organization_id=due.organization_id,
        run_id=ids.ordered(now),
        due=due,
        before_time=before_time(due, now=now),
        now=now,
    )


def before_time(due: Due, *, now: datetime) -> datetime:
    """Data from before this moment goes; responses by whole days of the organization, as their counts are kept."""
    before = now - timedelta(days=due.days)
    if due.kind != "answers":
        return before
    zone = times.zone_of(due.time_zone)
    return periods.day_start(periods.day_of(before, zone), zone)


async def _items(db: Database, run: Run, now: datetime) -> StepResult:
    del now
    found = await store.list_old_items(
        db,
        organization_id=run.organization_id,
        after=run.mark,
        before=run.before_time,
        before_id=ids.ordered_first(run.before_time),
        scanned_max=SCANNED_MAX,
        limit=ITEMS_MAX,
    )
    counts = Counter[str]()
    if found.ids:
        salt = secrets.token_bytes(SALT_BYTES)  # used once: the hashes of one person do not match
        counts = await rows.blank_items(
            db, organization_id=run.organization_id, item_ids=found.ids, salt=salt, is_change=False
        )
    return StepResult(counts=counts, mark=found.last)


async def _texts(db: Database, run: Run, now: datetime) -> StepResult:
    return await _of_instances(db, run, now, partial(_remove_texts, db, run, now))


async def _remove_texts(db: Database, run: Run, now: datetime, instance_ids: Sequence[str]) -> Counter[str]:
    key: dict[str, Any] = {"organization_id": run.organization_id, "instance_ids": instance_ids}
    counts = await rows.remove_texts(db, **key, blanks=TEXT_BLANKS)
    await cases.erase_answers(db, responses=[(run.organization_id, each) for each in instance_ids], responders=())
    await store.update_instances_passed(db, **key, kind="texts", now=now)
    return counts


async def _people(db: Database, run: Run, now: datetime) -> StepResult:
    """First the values of responses, then people, suppressed addresses that are nobody's, and what the log has of them.

    The mark begins with the name of the part.
    """
    part, _, mark = run.mark.rpartition(":")
    at = replace(run, mark=mark)
    match part:
        case "":
            turn = await _of_instances(db, at, now, partial(_remove_values, db, run, now))
            following = "people:"
        case "people":
            turn = await _forget_people(db, at)
            following = "suppressions:"
        case "suppressions":
            turn = await _forget_suppressions(db, at)
            following = "events:"
        case _:
            turn = await _forget_lifted(db, at)
            following = None
    if turn.waits:
        return turn
    return replace(turn, mark=following if turn.mark is None else f"{part}:{turn.mark}" if part else turn.mark)


async def _remove_values(db: Database, run: Run, now: datetime, instance_ids: Sequence[str]) -> Counter[str]:
    key: dict[str, Any] = {"organization_id": run.organization_id, "instance_ids": instance_ids}
    counts = await rows.remove_values(db, **key, blanks=VALUE_BLANKS)
    await store.update_instances_passed(db, **key, kind="people", now=now)
    return counts


async def _forget_people(db: Database, run: Run) -> StepResult:
    key = {"organization_id": run.organization_id}
    found = await store.list_old_responders(
        db, **key, after=run.mark, before=run.before_time, scanned_max=SCANNED_MAX, limit=PEOPLE_MAX
    )
    counts = Counter[str]()
    if found.ids:
        if not await events.claim_reader(db, reader=responses.READER):
            return StepResult(waits=True)
        known = await store.list_identifiers(db, **key, responder_ids=found.ids)
        for responder_id, (keys, written) in known.items():
            texts = sorted({text.lower() for text in written})
            person = Person(responder_id=responder_id, keys=keys, written=written, texts=texts)
            more, _ = await rows.blank_person(db, **key, person=person)
            counts += more
        instance_ids = await store.list_instances_of(db, **key, responder_ids=found.ids)
        await responses.rewrite(db, **key, instance_ids=instance_ids)
    return StepResult(counts=counts, mark=found.last)


async def _forget_suppressions(db: Database, run: Run) -> StepResult:
    found = await store.update_suppressions_of_nobody(
        db, organization_id=run.organization_id, before=run.before_time, limit=ITEMS_MAX
    )
    counts = await rows.blank_events(
        db, organization_id=run.organization_id, subject_ids=found, blanks=rows.SUPPRESSION_BLANKS
    )
    counts["Suppression"] += len(found)
    return StepResult(counts=counts, mark=found[-1] if len(found) == ITEMS_MAX else None)


async def _forget_lifted(db: Database, run: Run) -> StepResult:
    count, last = await store.update_events_of_suppressions(
        db,
        organization_id=run.organization_id,
        after=run.mark,
        before_id=ids.ordered_first(run.before_time),
        blanks=rows.SUPPRESSION_BLANKS,
        scanned_max=SCANNED_MAX,
    )
    return StepResult(counts=Counter({"Event": count}), mark=last)


async def _uploads(db: Database, run: Run, now: datetime) -> StepResult:
    del now
    key = {"organization_id": run.organization_id}
    found = await store.list_instances_with_files(
        db, **key, after=run.mark, before=run.before_time, scanned_max=SCANNED_MAX, limit=INSTANCES_MAX
    )
    counts = Counter[str]()
    if found.ids:
        if not await events.claim_reader(db, reader=responses.READER):
            return StepResult(waits=True)
        counts["File"] += await store.delete_answers_with_files(
            db, **key, instance_ids=found.ids, before=run.before_time
        )
        counts += await rows.blank_events(db, **key, subject_ids=found.ids, blanks=TEXT_BLANKS)
        await responses.rewrite(db, **key, instance_ids=found.ids)
    return StepResult(counts=counts, mark=found.last)


async def _answers(db: Database, run: Run, now: datetime) -> StepResult:
    """The counts of these days are closed first, so that reports go on showing them."""
    if not run.mark and not await daily_counts.freeze(db, organization_id=run.organization_id, before=run.before_time):
        return StepResult(waits=True)
    return await _of_instances(db, run, now, partial(_delete_instances, db, run))


async def _delete_instances(db: Database, run: Run, instance_ids: Sequence[str]) -> Counter[str]:
    key: dict[str, Any] = {"organization_id": run.organization_id}
    counts = await rows.blank_events(db, **key, subject_ids=instance_ids, blanks=WHOLE_BLANKS)
    await cases.erase_answers(db, responses=[(run.organization_id, each) for each in instance_ids], responders=())
    counts["Questionnaire Instance"] += await store.delete_instances(db, **key, instance_ids=instance_ids)
    return counts


async def _deleted(db: Database, run: Run, now: datetime) -> StepResult:
    """Responses go whole. Items stay, without the person, until the installation's own limit."""
    del now
    key: dict[str, Any] = {"organization_id": run.organization_id, "before": run.before_time}
    if not await events.claim_reader(db, reader=responses.READER):
        return StepResult(waits=True)
    found = await store.list_deleted_instances_locked(db, **key, limit=INSTANCES_MAX)
    if found:
        return StepResult(counts=await _delete_instances(db, run, found), mark="more")
    found = await store.list_deleted_items(db, **key, limit=ITEMS_MAX)
    if not found:
        return StepResult()
    counts = await rows.blank_items(
        db, organization_id=run.organization_id, item_ids=found, salt=secrets.token_bytes(SALT_BYTES), is_change=False
    )
    return StepResult(counts=counts, mark="more")


async def _of_instances(
    db: Database, run: Run, now: datetime, act: Callable[[Sequence[str]], Awaitable[Counter[str]]]
) -> StepResult:
    """One step of the walk over instances. Their rows of responses are made anew of what is left."""
    del now
    key = {"organization_id": run.organization_id}
    found: ScanStep = await store.list_old_instances(
        db, **key, after=run.mark, before=run.before_time, kind=run.kind, scanned_max=SCANNED_MAX, limit=INSTANCES_MAX
    )
    counts = Counter[str]()
    if found.ids:
        if not await events.claim_reader(db, reader=responses.READER):
            return StepResult(waits=True)
        locked = await store.list_instances_locked(db, **key, instance_ids=found.ids, before=run.before_time)
        counts = await act(locked)
        await responses.rewrite(db, **key, instance_ids=locked)
    return StepResult(counts=counts, mark=found.last)


async def _events(db: Database, run: Run, now: datetime) -> StepResult:
    del now
    count = await log.prune_of(db, organization_id=run.organization_id, before=run.before_time, limit=ROWS_MAX)
    return StepResult(counts=Counter({"Event": count}), mark="more" if count == ROWS_MAX else None)


async def _audit(db: Database, run: Run, now: datetime) -> StepResult:
    del now
    count = await store.prune_audit(db, organization_id=run.organization_id, before=run.before_time, limit=ROWS_MAX)
    return StepResult(counts=Counter({"Audit": count}), mark="more" if count == ROWS_MAX else None)


async def _exports(db: Database, run: Run, now: datetime) -> StepResult:
    count = await store.update_exports_to_end(db, organization_id=run.organization_id, before=run.before_time, now=now)
    return StepResult(counts=Counter({"Export": count}))


TURNS: Final[Mapping[str, Work]] = {
    "items": _items, "texts": _texts, "people": _people, "uploads": _uploads, "answers": _answers, "events": _events,
    "audit": _audit, "exports": _exports, "deleted": _deleted,
}  # fmt: skip
COUNTS: Final = {**store.COUNTS, "events": log.count_events_of}


async def preview(db: Database, *, caller: Caller, changes: Mapping[str, Any], now: datetime) -> list[Preview]:
    """The rows that changed periods would remove now, by kind: none while all is held. Raises Forbidden."""
    retention.require_reach(caller)
    key: dict[str, Any] = {"organization_id": caller.organization_id}
    days = await retention.list_days(db, **key, changes=changes)
    is_held = await retention.get_is_held(db, **key, responder_id=None)
    found: list[Preview] = []
    for kind in TURNS:
        if kind in days:
            before = before_time(Due(caller.organization_id, kind, days[kind], caller.time_zone), now=now)
            count = 0 if is_held else await COUNTS[kind](db, **key, before=before, limit=PREVIEWED_MAX + 1)
            found.append(Preview(kind, days[kind], min(count, PREVIEWED_MAX), count > PREVIEWED_MAX))
    return found
