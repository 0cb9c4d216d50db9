"""SQL of imports: the jobs, the pieces that are still to be worked off, what became of each row."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, LiteralString, NamedTuple
from uuid import UUID

from afterword.core.wire.lists import Page, Rows
from afterword.kit.db import Database, Row
from afterword.kit.db.columns import arrays, qualified
from afterword.kit.db.leases import Leases

PIECES_A_STATEMENT: Final = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    organization_id: str
    import_id: str
    questionnaire_id: str
    pipeline_id: str
    test: bool
    file_name: str | None
    dry_run: bool
    strict: bool
    on_conflict: Any
    columns: list[str]
    places: list[int]
    state: Any
    rows_total: int
    rows_created: int
    rows_updated: int
    rows_skipped: int
    rows_failed: int
    rows_repeated: int
    reasons: dict[str, int]
    first_time: datetime | None
    error: str | None
    pieces: int
    next_piece: int
    attempts: int
    finished_time: datetime | None
    version: int
    created_time: datetime
    created_by: str | None
    actor_kind: str

    @property
    def rows_done(self) -> int:
        return self.rows_created + self.rows_updated + self.rows_skipped + self.rows_failed

    @property
    def has_ended(self) -> bool:
        return self.finished_time is not None


_COLUMNS: Final[LiteralString] = """organization_id, import_id, questionnaire_id, pipeline_id, test, file_name,
  dry_run, strict, on_conflict, columns, places, state, rows_total, rows_created, rows_updated, rows_skipped,
  rows_failed, rows_repeated, reasons, first_time, error, pieces, next_piece,
  failures as attempts, finished_time, version, created_time, created_by, actor_kind"""
_GIVEN: Final[LiteralString] = """import_id, questionnaire_id, pipeline_id, test, file_name, dry_run, strict,
  on_conflict, columns, places, rows_total, rows_repeated, pieces, created_time, created_by, actor_kind"""
_COLUMNS_I: Final = qualified(_COLUMNS, "i")
IMPORTS: Final = Leases(
    record=Import,
    table="queue_import",
    id="import_id",
    columns=_COLUMNS,
    turn="turn_time",
    attempts="failures",
    on_release=", turn_time = now()",
)


class ProblemKind(NamedTuple):
    """The same for all rows that have this problem: a member of a row's request, the column, the parts of a Sentence.

    `column`: None for a problem of the whole row.
    """

    pointer: str
    column: str | None
    text: str
    values: Mapping[str, int | str]


class ImportRow(NamedTuple):
    """The outcome of a row; `problem` has its refusal's members `status`, `code`, `detail` and `errors`, and `kinds`.

    `line` of the file on which it begins. `reason`: the rule by which a row of a dry run would not be sent.
    """

    row: int
    state: Any
    item_id: str | None
    external_reference: str | None
    problem: dict[str, Any] | None
    line: int | None = None
    reason: str | None = None

    @property
    def kinds(self) -> list[ProblemKind]:
        """The problems of a row that failed; of one that an earlier release kept, its sentences."""
        problem = self.problem or {}
        if "kinds" in problem:
            return [ProblemKind(**each) for each in problem["kinds"]]
        sentences = [each["message"] for each in problem["errors"]] or [problem["detail"]]
        return [ProblemKind("", None, each, {}) for each in sentences]


async def get_import(
    db: Database, *, organization_id: str, import_id: str, application_ids: Sequence[str] = ()
) -> Import | None:
    """The import, unless its questionnaire belongs to another application than these (none: any)."""
    row = await db.fetch_row(
        f"""select {_COLUMNS_I} from queue_import i
           join questionnaire q on q.organization_id = i.organization_id and q.questionnaire_id = i.questionnaire_id
           where i.organization_id = $1 and i.import_id = $2
             and (cardinality($3::text[]) = 0 or q.owner_application_id = any($3))""",
        organization_id,
        import_id,
        list(application_ids),
    )
    return None if row is None else _import(row)


async def list_imports(
    db: Database, *, organization_id: str, questionnaire_id: str, pipeline_id: str, test_only: bool, page: Page
) -> Rows[Import]:
    rows = await db.fetch_list(
        f"""select {_COLUMNS} from queue_import
           where organization_id = $1 and questionnaire_id = $2 and pipeline_id = $3 and (test or not $4)""",
        organization_id,
        questionnaire_id,
        pipeline_id,
        test_only,
        page=page,
    )
    return rows.map(_import)


async def list_import_rows(db: Database, *, organization_id: str, import_id: str, page: Page) -> Rows[ImportRow]:
    rows = await db.fetch_list(
        """select row, state, item_id, external_reference, problem, line, reason from queue_import_row
           where organization_id = $1 and import_id = $2""",
        organization_id,
        import_id,
        page=page,
    )
    return rows.map(lambda row: ImportRow(**dict(row)))


async def list_failed_rows(
    db: Database, *, organization_id: str, import_id: str, after: int, limit: int
) -> list[ImportRow]:
    """Those behind this row, in their order."""
    rows = await db.fetch(
        """select row, state, item_id, external_reference, problem, line, reason from queue_import_row
           where organization_id = $1 and import_id = $2 and row > $3 and state = 'failed' order by row limit $4""",
        organization_id,
        import_id,
        after,
        limit,
    )
    return [ImportRow(**dict(row)) for row in rows]


async def insert_import(db: Database, *, organization_id: str, columns: Mapping[str, Any]) -> Import:
    row = await db.fetch_one(
        f"""insert into queue_import (organization_id, {_GIVEN}, turn_time)
           select $1, {_GIVEN}, created_time from jsonb_populate_record(null::queue_import, $2::jsonb)
           returning {_COLUMNS}""",
        organization_id,
        dict(columns),
    )
    return _import(row)


async def insert_pieces(
    db: Database, *, organization_id: str, import_id: str, pieces: Sequence[tuple[int, bytes]]
) -> None:
    for start in range(0, len(pieces), PIECES_A_STATEMENT):
        part = pieces[start : start + PIECES_A_STATEMENT]
        await db.execute(
            """insert into queue_import_piece (organization_id, import_id, number, first_row, content)
               select $1, $2, $3 + place - 1, first_row, content
               from unnest($4::integer[], $5::bytea[]) with ordinality as p (first_row, content, place)""",
            organization_id,
            import_id,
            start,
            *arrays(part, 2),
        )


async def get_piece(db: Database, *, organization_id: str, import_id: str, number: int) -> tuple[int, bytes] | None:
    row = await db.fetch_row(
        """select first_row, content from queue_import_piece
           where organization_id = $1 and import_id = $2 and number = $3""",
        organization_id,
        import_id,
        number,
    )
    return None if row is None else (row["first_row"], row["content"])


async def list_taken_references(
    db: Database, *, organization_id: str, import_id: str, external_references: Sequence[str]
) -> set[str]:
    """Those of the references that a settled row of this import would have taken."""
    rows = await db.fetch(
        """select distinct external_reference from queue_import_row
           where organization_id = $1 and import_id = $2 and state = 'created'
             and external_reference = any($3::text[])""",
        organization_id,
        import_id,
        list(external_references),
    )
    return {row["external_reference"] for row in rows}


async def insert_rows(db: Database, *, organization_id: str, import_id: str, rows: Sequence[ImportRow]) -> None:
    await db.execute(
        """insert into queue_import_row (organization_id, import_id, row, state, item_id, external_reference, problem,
             line, reason)
           select $1, $2, * from unnest($3::integer[], $4::text[], $5::text[], $6::text[], $7::jsonb[], $8::integer[],
             $9::text[])""",
        organization_id,
        import_id,
        *arrays(rows, 7),
    )


async def settle_piece(  # any tenant: the import names its own
    db: Database,
    *,
    job: Import,
    owner: UUID,
    counts: Mapping[str, int],
    reasons: Mapping[str, int],
    first_time: datetime | None,
) -> Import | None:
    """Count the next piece as worked off and remove it; None: the lease is lost."""
    row = await db.fetch_row(
        f"""with settled as (
             update queue_import set next_piece = next_piece + 1, rows_created = rows_created + $5,
               rows_updated = rows_updated + $6, rows_skipped = rows_skipped + $7, rows_failed = rows_failed + $8,
               reasons = $9, first_time = least(first_time, $10), failures = 1, version = version + 1
             where {IMPORTS.is_held} and next_piece = $4
             returning {_COLUMNS}),
           removed as (
             delete from queue_import_piece p using settled s
             where p.organization_id = s.organization_id and p.import_id = s.import_id and p.number = $4)
           select * from settled""",
        job.organization_id,
        job.import_id,
        owner,
        job.next_piece,
        *(counts.get(state, 0) for state in ("created", "updated", "skipped", "failed")),
        dict(reasons),
        first_time,
    )
    return None if row is None else _import(row)


async def update_to_queued(db: Database, *, organization_id: str, import_id: str, now: datetime) -> Import | None:
    """Let one that failed go on where it stopped, if the rest of its file is still there."""
    row = await db.fetch_row(
        f"""update queue_import i set state = 'queued', error = null, finished_time = null, failures = 0,
             turn_time = $3, version = version + 1
           where organization_id = $1 and import_id = $2 and state = 'failed'
             and exists (select from queue_import_piece p where p.organization_id = i.organization_id
               and p.import_id = i.import_id and p.number = i.next_piece)
           returning {_COLUMNS}""",
        organization_id,
        import_id,
        now,
    )
    return None if row is None else _import(row)


async def delete_pieces(db: Database, *, organization_id: str, import_id: str) -> None:
    await db.execute(
        "delete from queue_import_piece where organization_id = $1 and import_id = $2", organization_id, import_id
    )


async def delete_import(db: Database, *, organization_id: str, import_id: str) -> None:
    await db.execute(
        "delete from queue_import where organization_id = $1 and import_id = $2", organization_id, import_id
    )


def _import(row: Row) -> Import:
    return Import(**dict(row))
