"""The SQL of acts on many items: the jobs, their progress, and the items of a step."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, LiteralString
from uuid import UUID

from afterword.core.wire.lists import Page, Rows
from afterword.kit.db import Database, Row
from afterword.kit.db.columns import qualified
from afterword.kit.db.leases import Leases
from afterword.sending.queue.lists.store import Key
from afterword.sending.queue.records import ITEM_COLUMNS, QueueItem


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    organization_id: str
    batch_id: str
    action: Any
    send_time: datetime | None
    send_offset_minutes: int | None
    dry_run: bool
    reason: str | None
    application_id: str | None
    questionnaire_id: str | None
    pipeline_id: str | None
    import_id: str | None
    from_time: datetime | None
    to_time: datetime | None
    application_ids: Sequence[str]
    test: bool
    after_time: datetime | None
    after_id: str | None
    items_changed: int
    items_held: int
    items_skipped: int
    items_refused: int
    state: Any
    error: str | None
    attempts: int
    finished_time: datetime | None
    version: int
    created_time: datetime
    created_by: str | None
    actor_kind: str

    @property
    def has_ended(self) -> bool:
        return self.finished_time is not None

    @property
    def items_done(self) -> int:
        return self.items_changed + self.items_held + self.items_skipped + self.items_refused


_GIVEN: Final[LiteralString] = """batch_id, action, send_time, send_offset_minutes, dry_run, reason, application_id,
  questionnaire_id, pipeline_id, import_id, from_time, to_time, application_ids, test, created_by, actor_kind"""
_COLUMNS: Final[LiteralString] = f"""organization_id, {_GIVEN}, created_time, after_time, after_id, items_changed,
  items_held, items_skipped, items_refused, state, error, attempts, finished_time, version"""
BATCHES: Final = Leases(
    record=Batch,
    table="queue_batch",
    id="batch_id",
    columns=_COLUMNS,
    turn="turn_time",
    on_release=", turn_time = now()",
)


async def insert_batch(db: Database, *, organization_id: str, columns: Mapping[str, Any]) -> Batch:
    """Made at the time of the transaction, as items are: it acts on those that were there."""
    row = await db.fetch_one(
        f"""insert into queue_batch (organization_id, {_GIVEN}, created_time, turn_time)
           select $1, {_GIVEN}, now(), now() from jsonb_populate_record(null::queue_batch, $2::jsonb)
           returning {_COLUMNS}""",
        *(organization_id, dict(columns)),
    )
    return _batch(row)


async def get_batch(
    db: Database, *, organization_id: str, batch_id: str, application_ids: Sequence[str], test_only: bool
) -> Batch | None:
    """The act, unless it reaches further than these applications (none: all)."""
    row = await db.fetch_row(
        f"""select {_COLUMNS} from queue_batch
           where organization_id = $1 and batch_id = $2 and (test or not $4)
             and (cardinality($3::text[]) = 0 or (cardinality(application_ids) > 0 and application_ids <@ $3))""",
        *(organization_id, batch_id, list(application_ids), test_only),
    )
    return None if row is None else _batch(row)


async def list_batches(
    db: Database, *, organization_id: str, application_ids: Sequence[str], test_only: bool, page: Page
) -> Rows[Batch]:
    rows = await db.fetch_list(
        f"""select {_COLUMNS} from queue_batch
           where organization_id = $1 and (test or not $3)
             and (cardinality($2::text[]) = 0 or (cardinality(application_ids) > 0 and application_ids <@ $2))""",
        *(organization_id, list(application_ids), test_only),
        page=page,
    )
    return rows.map(_batch)


async def list_whole_items(db: Database, *, organization_id: str, item_ids: Sequence[str]) -> list[QueueItem]:
    rows = await db.fetch(
        f"select {ITEM_COLUMNS} from queue_item where organization_id = $1 and item_id = any($2::text[])",
        *(organization_id, list(item_ids)),
    )
    return [QueueItem.of(row) for row in rows]


async def get_pipeline_of_import(db: Database, *, organization_id: str, import_id: str, test_only: bool) -> str | None:
    return await db.fetch_value(
        """select pipeline_id from queue_import
           where organization_id = $1 and import_id = $2 and not dry_run and (test or not $3)""",
        *(organization_id, import_id, test_only),
    )


async def list_items_of_import(
    db: Database, *, organization_id: str, import_id: str, test_only: bool, after: int, limit: int
) -> list[tuple[int, QueueItem]]:
    """The items that rows behind this number made, each with its number."""
    rows = await db.fetch(
        f"""select r.row as row_number, {qualified(ITEM_COLUMNS, "i")} from queue_import_row r
           join queue_item i on i.organization_id = r.organization_id and i.item_id = r.item_id
           where r.organization_id = $1 and r.import_id = $2 and r.row > $4 and r.state = 'created'
             and i.deleted_time is null and (i.test or not $3)
           order by r.row limit $5""",
        *(organization_id, import_id, test_only, after, limit),
    )
    return [(row["row_number"], QueueItem.of(row)) for row in rows]


async def count_items_of_import(db: Database, *, organization_id: str, import_id: str, limit: int) -> int:
    return await db.fetch_value(
        """select count(*) from (
             select from queue_import_row r
             join queue_item i on i.organization_id = r.organization_id and i.item_id = r.item_id
             where r.organization_id = $1 and r.import_id = $2 and r.state = 'created' and i.status = 1
               and i.deleted_time is null limit $3) waiting""",
        *(organization_id, import_id, limit),
    )


async def list_repeated(db: Database, *, organization_id: str, item_ids: Sequence[str]) -> set[str]:
    """Those of the items in whose place another one was sent or will be."""
    rows = await db.fetch(
        """select distinct previous_item_id from queue_item
           where organization_id = $1 and previous_item_id = any($2::text[]) and source = 'repetition'""",
        *(organization_id, list(item_ids)),
    )
    return {row["previous_item_id"] for row in rows}


async def settle_step(
    db: Database, *, job: Batch, owner: UUID, counts: Mapping[str, int], after: Key | None
) -> Batch | None:  # any tenant: the act names its own
    """Count a step as done; None: the lease is lost."""
    row = await db.fetch_row(
        f"""update queue_batch set items_changed = items_changed + $4, items_held = items_held + $5,
             items_skipped = items_skipped + $6, items_refused = items_refused + $7,
             after_time = coalesce($8, after_time), after_id = coalesce($9, after_id), attempts = 1,
             version = version + 1
           where {BATCHES.is_held} returning {_COLUMNS}""",
        job.organization_id,
        job.batch_id,
        owner,
        *(counts.get(name, 0) for name in ("changed", "held", "skipped", "refused")),
        *(after or (None, None)),
    )
    return None if row is None else _batch(row)


async def update_to_queued(db: Database, *, organization_id: str, batch_id: str, now: datetime) -> Batch | None:
    """Let one that failed or was stopped go on behind its last step."""
    row = await db.fetch_row(
        f"""update queue_batch set state = 'queued', error = null, finished_time = null, attempts = 0, turn_time = $3,
             version = version + 1
           where organization_id = $1 and batch_id = $2 and state in ('failed', 'cancelled')
           returning {_COLUMNS}""",
        *(organization_id, batch_id, now),
    )
    return None if row is None else _batch(row)


async def delete_batch(db: Database, *, organization_id: str, batch_id: str) -> None:
    await db.execute("delete from queue_batch where organization_id = $1 and batch_id = $2", organization_id, batch_id)


def _batch(row: Row) -> Batch:
    return Batch(**dict(row))
