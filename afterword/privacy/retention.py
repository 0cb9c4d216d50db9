"""Removing personal data by its age: a run a day for each kind of data that an organization has a period for."""

import secrets
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Annotated, Any, Final, Literal, LiteralString

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from afterword import ids
from afterword.cases.alert_instances import service as alert_instances
from afterword.core.figures import periods
from afterword.core.organizations.access import Caller
from afterword.core.wire import times
from afterword.core.wire.lists import Page, Rows
from afterword.events import log, service as events
from afterword.kit.db import Database, walks
from afterword.kit.db.columns import columns_of, qualified
from afterword.kit.db.leases import StepResult, take
from afterword.kit.db.walks import Position
from afterword.kit.nouns.declaration import Hidden
from afterword.kit.nouns.structs import shown_as, update_of
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call, Routes
from afterword.listening.reports.daily_counts import service as daily_counts
from afterword.listening.responses import rows as responses
from afterword.privacy import rows
from afterword.privacy.rows import NO_FILE, WORDS
from afterword.privacy.subjects import Person
from afterword.tenants.organizations import retention
from afterword.tenants.organizations.retention import DAYS, PATH, RETENTION


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """A run over one kind of data. `counts`: rows that it changed or removed, by resource."""

    organization_id: Annotated[str, Hidden()]
    run_id: fields.Id
    kind: str
    days: int
    before_time: Annotated[datetime, Meta(description="What is older was removed.")]
    state: Literal["running", "done"]
    counts: fields.Computed[dict[str, int]]
    mark: Annotated[str, Hidden()]  # the last row that its walk has passed
    started_time: datetime
    finished_time: datetime | None


_RUN: Final = columns_of(Run)
_RUN_R: Final = qualified(_RUN, "r")
# The last thing that the person or the sender did with an instance `i`.
_LAST: Final[LiteralString] = """greatest(i.created_time, i.sent_time, i.viewed_time, i.flow_time,
  i.held_submitted_time, i.held_completed_time, i.submitted_time, i.completed_time)"""
# People and addresses under a legal hold; those of others are looked for in `held`.
_HELD: Final[LiteralString] = """held as materialized (
    select h.responder_id, a.address_key from legal_hold h
    left join responder_address a on a.organization_id = h.organization_id and a.responder_id = h.responder_id
    where h.organization_id = $1 and h.responder_id is not null)"""

# Of organization $1, true for what a run over data from before $3 takes. Runs and previews read the same.
_OLD_ITEM: Final[LiteralString] = """p.status >= 4 and p.anonymized_time is null and p.updated_time < $3
  and not exists (select from held h where h.responder_id = p.responder_id or h.address_key = p.address_key)
  and not exists (select from attempt a
    where a.organization_id = $1 and a.item_id = p.item_id and a.outcome is null)"""
_INSTANCE: Final[LiteralString] = f"""select i.instance_id, i.responder_id, {_LAST} as last_time,
    case $4 when 'texts' then i.texts_removed_time when 'people' then i.anonymized_time end as done_time
  from questionnaire_instance i where i.organization_id = $1"""
_OLD_INSTANCE: Final[LiteralString] = """p.last_time < $3 and (p.done_time is null or p.done_time < p.last_time)
  and not exists (select from held h where h.responder_id = p.responder_id)"""
_OLD_PERSON: Final[LiteralString] = f"""p.created_time < $3 and p.anonymized_time is null
  and not exists (select from held h where h.responder_id = p.responder_id)
  and not exists (select from questionnaire_instance i
    where i.organization_id = $1 and i.responder_id = p.responder_id and {_LAST} >= $3)
  and not exists (select from responder_address a
    join queue_item q on q.organization_id = a.organization_id and q.address_key = a.address_key
      and q.status::integer = 1
    where a.organization_id = $1 and a.responder_id = p.responder_id)
  and not exists (select from alert_instance c
    join alert_message m on m.organization_id = c.organization_id and m.alert_instance_id = c.alert_instance_id
    where c.organization_id = $1 and c.responder_id = p.responder_id and m.created_time >= $3)"""
_WITH_FILES: Final[LiteralString] = """select f.instance_id, max(f.created_time) as last_time from response_file f
  where f.organization_id = $1"""
_OLD_FILES: Final[LiteralString] = """p.last_time < $3 and not exists (select from held h
  join questionnaire_instance i on i.organization_id = $1 and i.responder_id = h.responder_id
  where i.instance_id = p.instance_id)"""
_OLD_EXPORT: Final[LiteralString] = "organization_id = $1 and state = 'done' and finished_time < $3"
# Walks over rows, by name: the id, the rows behind the id $2, and which of them are old. $4: of items an id as old as
# $3, else the kind of the run.
_WALKS: Final[Mapping[str, tuple[LiteralString, LiteralString, LiteralString]]] = {
    "items": (
        "item_id",
        """select q.item_id, q.status, q.updated_time, q.anonymized_time, q.responder_id, q.address_key
           from queue_item q where q.organization_id = $1 and q.item_id > $2 and q.item_id < $4""",
        _OLD_ITEM,
    ),
    "instances": ("instance_id", f"{_INSTANCE} and i.instance_id > $2", _OLD_INSTANCE),
    "files": ("instance_id", f"{_WITH_FILES} and f.instance_id > $2 group by f.instance_id", _OLD_FILES),
    "people": (
        "responder_id",
        """select r.responder_id, r.created_time, r.anonymized_time from responder r
           where r.organization_id = $1 and r.responder_id > $2""",
        _OLD_PERSON,
    ),
}
# By kind: the rows that a run would touch, as its ledger counts them. The parameters are those of walks, $2 the limit.
_TOUCHED: Final[Mapping[str, LiteralString]] = {
    "items": f"select from queue_item p where p.organization_id = $1 and p.item_id < $4 and {_OLD_ITEM}",
    "texts": f"""select from ({_INSTANCE}) p join answer a on a.organization_id = $1 and a.instance_id = p.instance_id
        where {_OLD_INSTANCE} and ({WORDS} and {NO_FILE} or not {WORDS} and a.other_text is not null)""",
    "people": f"select from responder p where p.organization_id = $1 and {_OLD_PERSON}",
    "uploads": f"""select from ({_WITH_FILES} group by f.instance_id) p
        join response_file f on f.organization_id = $1 and f.instance_id = p.instance_id where {_OLD_FILES}""",
    "answers": f"select from ({_INSTANCE}) p where {_OLD_INSTANCE}",
    "audit": "select from audit_entry where organization_id = $1 and created_time < $3",
    "exports": f"select from export where {_OLD_EXPORT} and expires_time > now()",
}


def _walk(name: str) -> LiteralString:
    id_, passed, old = _WALKS[name]
    return f"""with {_HELD}, passed as materialized ({passed} order by {id_} limit $5),
      old as materialized (
        select p.{id_} from passed p where {old} and $4::text is not null order by p.{id_} limit $6)
      select array(select {id_} from old order by {id_}) as ids, (select count(*) from passed) as count,
        (select max({id_}) from passed) as last"""


def _touched(kind: str) -> LiteralString:
    return f"with {_HELD} select count(*) from ({_TOUCHED[kind]} and $4::text is not null limit $2) old"


def _bound(kind: str, before: datetime) -> str:
    return ids.ordered_first(before) if kind == "items" else kind


async def _claim_run(db: Database, *, now: datetime) -> Run | None:  # any tenant: one job serves all
    """The running run that has waited longest, locked. Those of organizations under a legal hold wait for its end."""
    return await db.records(Run).fetch_row(
        f"""select {_RUN_R} from retention_run r where r.state = 'running' and r.due_time <= $1
             and not exists (select from legal_hold h
               where h.organization_id = r.organization_id and h.responder_id is null)
           order by r.due_time limit 1 for update of r skip locked""",
        now,
    )


async def _insert_next_run(  # any tenant: one job serves all
    db: Database, *, after: Position, now: datetime
) -> Run | None:
    """Begin a run over what none has looked through for EVERY; None where nothing is due, or another worker began it.

    Looks at the next organizations alone.

    Deleted rows go everywhere, without a period.
    """
    row = await db.fetch_row(
        f"""select o.organization_id, k.kind, k.days, o.time_zone from (
             select organization_id from organization where organization_id > $4 order by organization_id limit $5) n
           join organization o using (organization_id) cross join lateral (
             select k.kind, k.days from {DAYS} where k.days is not null
             union all
             select 'deleted', $2 where exists (select from questionnaire_instance i
                 where i.organization_id = o.organization_id and i.deleted_time < $3)
               or exists (select from queue_item i where i.organization_id = o.organization_id
                 and i.deleted_time < $3 and i.anonymized_time is null)) k
           where not exists (select from legal_hold h
               where h.organization_id = o.organization_id and h.responder_id is null)
             and not exists (select from retention_run r where r.organization_id = o.organization_id
               and r.kind = k.kind and r.started_time > $1)
             and not exists (select from retention_run r where r.organization_id = o.organization_id
               and r.kind = k.kind and r.state = 'running')
           order by o.organization_id, k.kind limit 1""",
        *(now - EVERY, DELETED_DAYS, now - timedelta(days=DELETED_DAYS), *after, ORGANIZATIONS_MAX),
    )
    if row is None:
        return None
    before = before_time(row["kind"], row["days"], row["time_zone"], now=now)
    return await db.records(Run).fetch_row(
        f"""insert into retention_run (organization_id, run_id, kind, days, before_time, due_time, started_time)
           values ($1, $2, $3, $4, $5, $6, $6) on conflict do nothing returning {_RUN}""",
        *(row["organization_id"], ids.ordered(now), row["kind"], row["days"], before, now),
    )


async def _settle_turn(
    db: Database, *, run: Run, mark: str | None, counts: Mapping[str, int], due_time: datetime
) -> None:
    """`mark`: None where the run has come to its end."""
    await db.execute(
        """update retention_run set mark = coalesce($3, ''), counts = $4, due_time = $5::timestamptz,
             state = case when $3::text is null then 'done' else state end,
             finished_time = case when $3 is null then $5::timestamptz end
           where organization_id = $1 and run_id = $2 and state = 'running'""",
        *(run.organization_id, run.run_id, mark, dict(counts), due_time),
    )


async def _prune_runs(db: Database, *, organization_id: str, before: datetime) -> int:
    return await db.execute(
        "delete from retention_run where organization_id = $1 and started_time < $2 and state = 'done'",
        *(organization_id, before),
    )


async def list_runs(db: Database, *, organization_id: str, page: Page) -> Rows[Run]:
    return await db.records(Run).fetch_list(
        f"select {_RUN} from retention_run where organization_id = $1", organization_id, page=page
    )


async def _list_old(db: Database, run: Run, walk: str, *, limit: int) -> tuple[list[str], str | None]:
    """The ids that are old enough, and the row that the walk goes on behind; None: it has come to its end."""
    row = await db.fetch_one(
        _walk(walk),
        *(run.organization_id, run.mark, run.before_time, _bound(run.kind, run.before_time), SCANNED_MAX, limit),
    )
    found: list[str] = row["ids"]
    if len(found) == limit:
        return found, found[-1]
    return found, row["last"] if row["count"] == SCANNED_MAX else None


async def _list_instances_locked(
    db: Database, *, organization_id: str, instance_ids: Sequence[str], before: datetime
) -> list[str]:
    """Those of the instances that are still as old, locked, without those with which somebody is busy."""
    return await db.fetch_column(
        f"""select i.instance_id from questionnaire_instance i
           where i.organization_id = $1 and i.instance_id = any($2::text[]) and {_LAST} < $3
           order by i.instance_id for update skip locked""",
        *(organization_id, instance_ids, before),
    )


async def _list_deleted_instances_locked(
    db: Database, *, organization_id: str, before: datetime, limit: int
) -> list[str]:
    """Instances that were deleted before, without those of people under a legal hold."""
    return await db.fetch_column(
        f"""with {_HELD} select i.instance_id from questionnaire_instance i
           where i.organization_id = $1 and i.deleted_time < $2
             and not exists (select from held h where h.responder_id = i.responder_id)
           order by i.instance_id limit $3 for update of i skip locked""",
        *(organization_id, before, limit),
    )


async def _list_deleted_items(db: Database, *, organization_id: str, before: datetime, limit: int) -> list[str]:
    """Items that were deleted before and still have their address, without those of people under a legal hold."""
    return await db.fetch_column(
        f"""with {_HELD} select p.item_id from queue_item p
           where p.organization_id = $1 and p.deleted_time < $3 and {_OLD_ITEM} order by p.item_id limit $2""",
        *(organization_id, limit, before),
    )


async def _list_identifiers(db: Database, *, organization_id: str, responder_ids: Sequence[str]) -> list[Person]:
    return await db.records(Person).fetch(
        """select r.responder_id, array_remove(array_agg(a.address_key), null) as keys,
             array_remove(array_agg(a.identifier), null) as written
           from unnest($2::text[]) r (responder_id)
             left join responder_address a on a.organization_id = $1 and a.responder_id = r.responder_id
           group by r.responder_id order by r.responder_id""",
        *(organization_id, responder_ids),
    )


async def _list_instances_of(db: Database, *, organization_id: str, responder_ids: Sequence[str]) -> list[str]:
    return await db.fetch_column(
        """select instance_id from questionnaire_instance where organization_id = $1 and responder_id = any($2::text[])
           order by instance_id""",
        *(organization_id, responder_ids),
    )


async def _update_instances_passed(
    db: Database, *, organization_id: str, instance_ids: Sequence[str], kind: str, now: datetime
) -> int:
    return await db.execute(
        """update questionnaire_instance
           set texts_removed_time = case $3 when 'texts' then $4 else texts_removed_time end,
             anonymized_time = case $3 when 'people' then $4 else anonymized_time end
           where organization_id = $1 and instance_id = any($2::text[])""",
        *(organization_id, instance_ids, kind, now),
    )


async def _delete_answers_with_files(
    db: Database, *, organization_id: str, instance_ids: Sequence[str], before: datetime
) -> int:
    """Remove answers that are files, with the files, if all of them came before; return the number of files."""
    return await db.fetch_value(
        """with gone as (
             delete from answer a where a.organization_id = $1 and a.instance_id = any($2::text[])
               and (select max(f.created_time) from response_file f where f.organization_id = $1
                 and f.instance_id = a.instance_id and f.question_id = a.question_id) < $3
             returning a.instance_id, a.question_id)
           select count(*) from gone g join response_file f on f.organization_id = $1
             and f.instance_id = g.instance_id and f.question_id = g.question_id""",
        *(organization_id, instance_ids, before),
    )


async def _update_suppressions_of_nobody(db: Database, run: Run) -> StepResult:
    """Leave of old suppressions whose address belongs to no person the key by which they work."""
    rows_found = await db.fetch(
        f"""with {_HELD}, old as (
             select s.suppression_id from suppression s
             where s.organization_id = $1 and s.created_time < $2
               and (s.identifier <> encode(s.address_key, 'hex') or s.note is not null)
               and not exists (select from responder_address a where a.organization_id = $1
                 and a.channel_id = s.channel_id and a.address_key = s.address_key)
               and not exists (select from held h where h.address_key = s.address_key)
             order by s.suppression_id limit $3)
           update suppression s set identifier = encode(s.address_key, 'hex'), note = null, version = s.version + 1
           from old where s.organization_id = $1 and s.suppression_id = old.suppression_id
           returning s.suppression_id""",
        *(run.organization_id, run.before_time, ITEMS_MAX),
    )
    found = [row["suppression_id"] for row in rows_found]
    counts = await rows.blank_events(
        db, organization_id=run.organization_id, subject_ids=found, blanks=rows.SUPPRESSION_BLANKS
    )
    counts["Suppression"] += len(found)
    return StepResult(counts=counts, mark=found[-1] if len(found) == ITEMS_MAX else None)


async def _update_events_of_suppressions(db: Database, run: Run) -> StepResult:
    """Blank the addresses in the next events of suppressions, lifted ones too."""
    row = await db.fetch_one(
        """with passed as materialized (
             select event_id, type from event where organization_id = $1 and event_id > $2 and event_id < $3
             order by event_id limit $5),
           blanked as (
             update event e set data = e.data || $4 from passed p
             where e.organization_id = $1 and e.event_id = p.event_id and p.type like 'suppression.%'
               and not e.data @> $4
             returning 1)
           select (select count(*) from blanked) as found, (select count(*) from passed) as count,
             (select max(event_id) from passed) as last""",
        *(run.organization_id, run.mark, ids.ordered_first(run.before_time), rows.SUPPRESSION_BLANKS, SCANNED_MAX),
    )
    last = row["last"] if row["count"] == SCANNED_MAX else None
    return StepResult(counts=Counter({"Event": row["found"]}), mark=last)


async def _update_exports(db: Database, run: Run, now: datetime) -> StepResult:
    """End files that were written before; `prune exports` removes their pieces."""
    count = await db.execute(
        f"update export set expires_time = $2 where {_OLD_EXPORT} and expires_time > $2",
        *(run.organization_id, now, run.before_time),
    )
    return StepResult(counts=Counter({"Export": count}))


async def _prune_audit(db: Database, run: Run, _now: datetime) -> StepResult:
    count = await db.fetch_value(
        "select prune_audit_entries($2, $3, $1)", *(run.organization_id, run.before_time, ROWS_MAX)
    )
    return StepResult(counts=Counter({"Audit": count}), mark="more" if count == ROWS_MAX else None)


Kind = Literal["texts", "people", "items", "uploads", "answers", "events", "audit", "exports", "deleted"]

EVERY: Final = timedelta(hours=20)  # so that a day at most passes from one run to the end of the next
WAIT_SECONDS: Final = 10  # after a fault, or for another process
LEDGER_DAYS: Final = 730
START: Final[Position] = ("",)
ORGANIZATIONS_MAX: Final = 200  # looked through for the next run, each with all kinds of data
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


KindShown = Annotated[
    Kind,
    Meta(
        description=(
            "`texts`: words in answers. `people`: addresses and values of people, and personal metadata of responses. "
            "`items`: addresses and values of queue items. `uploads`: files that came with answers. `answers`: whole "
            "responses. `events`, `audit`: entries of the event log and of the audit log. `exports`: files of exports. "
            f"`deleted`: responses and items that were deleted {DELETED_DAYS} days before; it needs no period."
        )
    ),
]


class RetentionPreviewPart(fields.Resource):
    """The rows that one kind of run would touch now."""

    kind: KindShown
    days: int
    count: Annotated[
        int, Meta(description="Items, answers, people, files, responses or entries, as the run will count them.")
    ]
    is_more: Annotated[bool, Meta(description="More than `count`, which is where counting ends.")]


Work = Callable[[Database, Run, datetime], Awaitable[StepResult]]
Act = Callable[[Database, Run, datetime, Sequence[str]], Awaitable[Counter[str]]]


async def work_next(db: Database, *, after: Position, now: datetime) -> tuple[int, Position]:
    """A turn of the run that waited longest, or of the next one of some organizations behind `after`.

    0: there is none, and no organization is left; else 1, and the position to go on from. A failed turn is logged and
    tried again later.
    """
    run = await _claim_run(db, now=now) or await _insert_next_run(db, after=after, now=now)
    if run is None:
        end = await walks.get_next(db, "organization", "organization_id", after=after, limit=ORGANIZATIONS_MAX)
        return (0, START) if end is None else (1, end)
    turn = await take(db, TURNS[run.kind](db, run, now), run_id=run.run_id, kind=run.kind)
    mark, due_time = turn.mark, now
    if turn.waits:
        mark, due_time = run.mark, now + timedelta(seconds=WAIT_SECONDS)
    await _settle_turn(db, run=run, mark=mark, counts=Counter(run.counts) + turn.counts, due_time=due_time)
    if mark is None:
        await _prune_runs(db, organization_id=run.organization_id, before=now - timedelta(days=LEDGER_DAYS))
    return 1, after


def before_time(kind: str, days: int, time_zone: str, *, now: datetime) -> datetime:
    """Data from before this moment goes; responses by whole days of the organization, as their counts are kept."""
    before = now - timedelta(days=days)
    if kind != "answers":
        return before
    zone = times.zone_of(time_zone)
    return periods.day_start(periods.day_of(before, zone), zone)


async def _items(db: Database, run: Run, _now: datetime) -> StepResult:
    found, last = await _list_old(db, run, "items", limit=ITEMS_MAX)
    return StepResult(counts=await _blank_items(db, run, found), mark=last)


async def _blank_items(db: Database, run: Run, item_ids: Sequence[str]) -> Counter[str]:
    if not item_ids:
        return Counter()
    salt = secrets.token_bytes(SALT_BYTES)  # used once: the hashes of one person do not match
    return await rows.blank_items(
        db, organization_id=run.organization_id, item_ids=item_ids, salt=salt, is_change=False
    )


async def _remove_texts(db: Database, run: Run, now: datetime, instance_ids: Sequence[str]) -> Counter[str]:
    key: dict[str, Any] = {"organization_id": run.organization_id, "instance_ids": instance_ids}
    counts = Counter({"Answer": await rows.delete_texts(db, **key, has_files=False)})
    counts += await rows.blank_events(
        db, organization_id=run.organization_id, subject_ids=instance_ids, blanks=TEXT_BLANKS
    )
    await alert_instances.erase_answers(
        db, responses=[(run.organization_id, each) for each in instance_ids], responders=()
    )
    await _update_instances_passed(db, **key, kind="texts", now=now)
    return counts


async def _people(db: Database, run: Run, now: datetime) -> StepResult:
    """First the values of responses, then people, suppressed addresses that are nobody's, and what the log has of them.

    The mark begins with the name of the part.
    """
    part, _, mark = run.mark.rpartition(":")
    at = replace(run, mark=mark)
    match part:
        case "":
            turn = await _of_instances(_remove_values)(db, at, now)
            following = "people:"
        case "people":
            turn = await _step("people", PEOPLE_MAX, _forget_people)(db, at, now)
            following = "suppressions:"
        case "suppressions":
            turn = await _update_suppressions_of_nobody(db, at)
            following = "events:"
        case _:
            turn = await _update_events_of_suppressions(db, at)
            following = None
    if turn.waits:
        return turn
    return replace(turn, mark=following if turn.mark is None else f"{part}:{turn.mark}" if part else turn.mark)


async def _remove_values(db: Database, run: Run, now: datetime, instance_ids: Sequence[str]) -> Counter[str]:
    key: dict[str, Any] = {"organization_id": run.organization_id, "instance_ids": instance_ids}
    counts = Counter({"Questionnaire Instance": await rows.blank_values(db, **key)})
    counts += await rows.blank_events(
        db, organization_id=run.organization_id, subject_ids=instance_ids, blanks=VALUE_BLANKS
    )
    await _update_instances_passed(db, **key, kind="people", now=now)
    return counts


async def _forget_people(db: Database, run: Run, _now: datetime, responder_ids: Sequence[str]) -> Counter[str]:
    key = {"organization_id": run.organization_id}
    counts = Counter[str]()
    for person in await _list_identifiers(db, **key, responder_ids=responder_ids):
        more, _ = await rows.blank_person(db, **key, person=person)
        counts += more
    instance_ids = await _list_instances_of(db, **key, responder_ids=responder_ids)
    await responses.rewrite(db, **key, instance_ids=instance_ids)
    return counts


async def _remove_files(db: Database, run: Run, _now: datetime, instance_ids: Sequence[str]) -> Counter[str]:
    key: dict[str, Any] = {"organization_id": run.organization_id}
    count = await _delete_answers_with_files(db, **key, instance_ids=instance_ids, before=run.before_time)
    counts = await rows.blank_events(db, **key, subject_ids=instance_ids, blanks=TEXT_BLANKS)
    await responses.rewrite(db, **key, instance_ids=instance_ids)
    return Counter({"File": count}) + counts


async def _answers(db: Database, run: Run, now: datetime) -> StepResult:
    """The counts of these days are closed first, so that reports go on showing them."""
    if not run.mark and not await daily_counts.freeze(db, organization_id=run.organization_id, before=run.before_time):
        return StepResult(waits=True)
    return await _of_instances(_delete_all_instances)(db, run, now)


async def _delete_all_instances(db: Database, run: Run, _now: datetime, instance_ids: Sequence[str]) -> Counter[str]:
    key: dict[str, Any] = {"organization_id": run.organization_id}
    counts = await rows.blank_events(db, **key, subject_ids=instance_ids, blanks=WHOLE_BLANKS)
    await alert_instances.erase_answers(
        db, responses=[(run.organization_id, each) for each in instance_ids], responders=()
    )
    counts["Questionnaire Instance"] += await rows.remove(db, "instances", run.organization_id, instance_ids)
    return counts


async def _deleted(db: Database, run: Run, now: datetime) -> StepResult:
    """Responses go whole. Items stay, without the person, until the installation's own limit."""
    key: dict[str, Any] = {"organization_id": run.organization_id, "before": run.before_time}
    if not await events.claim_reader(db, reader=responses.READER):
        return StepResult(waits=True)
    found = await _list_deleted_instances_locked(db, **key, limit=INSTANCES_MAX)
    if found:
        return StepResult(counts=await _delete_all_instances(db, run, now, found), mark="more")
    found = await _list_deleted_items(db, **key, limit=ITEMS_MAX)
    return StepResult(counts=await _blank_items(db, run, found), mark="more" if found else None)


def _of_instances(act: Act) -> Work:
    """One step of the walk over instances. Their rows of responses are made anew of what is left."""

    async def locked(db: Database, run: Run, now: datetime, instance_ids: Sequence[str]) -> Counter[str]:
        key = {"organization_id": run.organization_id}
        still_old = await _list_instances_locked(db, **key, instance_ids=instance_ids, before=run.before_time)
        counts = await act(db, run, now, still_old)
        await responses.rewrite(db, **key, instance_ids=still_old)
        return counts

    return _step("instances", INSTANCES_MAX, locked)


def _step(walk: str, limit: int, act: Act) -> Work:
    """One step of a walk whose rows are in responses too: it waits for another process that writes these."""

    async def step(db: Database, run: Run, now: datetime) -> StepResult:
        found, last = await _list_old(db, run, walk, limit=limit)
        if not found:
            return StepResult(mark=last)
        if not await events.claim_reader(db, reader=responses.READER):
            return StepResult(waits=True)
        return StepResult(counts=await act(db, run, now, found), mark=last)

    return step


async def _events(db: Database, run: Run, _now: datetime) -> StepResult:
    count = await log.prune_of(db, organization_id=run.organization_id, before=run.before_time, limit=ROWS_MAX)
    return StepResult(counts=Counter({"Event": count}), mark="more" if count == ROWS_MAX else None)


TURNS: Final[Mapping[str, Work]] = {
    "items": _items, "texts": _of_instances(_remove_texts), "people": _people,
    "uploads": _step("files", INSTANCES_MAX, _remove_files), "answers": _answers, "events": _events,
    "audit": _prune_audit, "exports": _update_exports, "deleted": _deleted,
}  # fmt: skip


async def _count_touched(db: Database, *, organization_id: str, kind: str, before: datetime, limit: int) -> int:
    """Up to `limit` rows that a run of this kind would touch."""
    if kind == "events":
        return await log.count_events_of(db, organization_id=organization_id, before=before, limit=limit)
    return await db.fetch_value(_touched(kind), *(organization_id, limit, before, _bound(kind, before)))


async def preview(
    db: Database, *, caller: Caller, changes: Mapping[str, Any], now: datetime
) -> list[RetentionPreviewPart]:
    """The rows that changed periods would remove now, by kind: none while all is held. Raises Forbidden."""
    caller.require_all()
    key: dict[str, Any] = {"organization_id": caller.organization_id}
    days = await retention.list_days(db, **key, changes=changes)
    is_held = await retention.get_is_held(db, **key, responder_id=None)
    found: list[RetentionPreviewPart] = []
    for kind in TURNS:
        if kind in days:
            before = before_time(kind, days[kind], caller.time_zone, now=now)
            count = 0 if is_held else await _count_touched(db, **key, kind=kind, before=before, limit=PREVIEWED_MAX + 1)
            part: dict[str, Any] = {"kind": kind, "days": days[kind], "count": min(count, PREVIEWED_MAX)}
            found.append(RetentionPreviewPart(**part, is_more=count > PREVIEWED_MAX))
    return found


routes = Routes(tag="Organizations")


class RetentionPreview(fields.Resource):
    """The rows that retention would touch now. Kinds without a period are left out."""

    parts: list[RetentionPreviewPart]


RetentionRun: Final = shown_as("RetentionRun", Run, types={"kind": KindShown})
RUNS: Final = fields.listing_of(RetentionRun, order=(("started_time", "desc"),))


@routes.post(
    f"{PATH}/preview",
    scope="Organization.Read",
    body=update_of(RETENTION),
    answer=RetentionPreview,
    status=200,
    summary="Try retention periods before they are saved",
    description=(
        "Nothing is stored. Periods that are not named are those of now. Counting ends at "
        f"{PREVIEWED_MAX:,} for each kind. What a legal hold keeps is not counted."
    ),
)
async def preview_retention(call: Call[Any], db: Database) -> Answer:
    found = await preview(db, caller=call.caller, changes=call.body.named(), now=call.now)
    return Answer(RetentionPreview(parts=found))


@routes.list(
    f"{PATH}/run",
    scope="Organization.Read",
    answer=RetentionRun,
    listing=RUNS,
    summary="Get all retention runs",
    description="The ledger of what was removed by its age, for two years. Nothing in it says of whom it was.",
)
async def list_retention_runs(call: Call[None], db: Database) -> Rows[Run]:
    call.caller.require_all()
    return await list_runs(db, organization_id=call.caller.organization_id, page=call.page)
