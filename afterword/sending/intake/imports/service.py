"""Imports of items from a file: cut when it arrives, worked off by workers, a piece and its progress in a transaction.

Whatever stops a worker, a piece is settled whole or not at all: nothing is lost, nothing is done twice. Two workers may
believe that an import is theirs (a lease that ran out), and only one of them can settle its next piece.
"""

import asyncio
import contextlib
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Final, Literal, LiteralString, NamedTuple, Unpack
from uuid import UUID

import msgspec
from msgspec import Meta

from afterword import errors, ids
from afterword.asking.questionnaires import metadata
from afterword.core.organizations.access import Caller
from afterword.core.questionnaires.metadata import GLOBAL
from afterword.core.reading import structs
from afterword.core.reading.structs import Context
from afterword.core.wire import imports as core_imports, tables, times
from afterword.core.wire.imports import REFERENCE, Cut, Rows as ParsedRows
from afterword.core.wire.lists import Page, Rows as RowsRecord
from afterword.core.wire.site import Site
from afterword.core.wire.tables import Fault
from afterword.errors import FieldError, Sentence
from afterword.events import service as events
from afterword.events.service import NewEvent
from afterword.kit.db import Database, savepoint
from afterword.kit.db.columns import arrays, columns_of, qualified
from afterword.kit.db.leases import LeaseLost, Leases
from afterword.kit.nouns.declaration import Hidden
from afterword.kit.nouns.structs import shown_as
from afterword.kit.web import fields, problems
from afterword.sending.intake import batches, dry_runs
from afterword.sending.intake.batches import Outcome, Policy, ReadRow
from afterword.sending.pipelines.service import PipelinePath
from afterword.sending.queue import service as queue
from afterword.sending.queue.records import QueueItemRequest
from afterword.sending.queue.scheduler import Scheduler, checked_rows
from afterword.sending.queue.service import ReferenceTaken
from afterword.tenants.organizations import service as accounts

PIECES_A_STATEMENT: Final = 50


class ImportRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A file of items, and how far it has come."""

    organization_id: Annotated[str, Hidden()]
    import_id: fields.Id
    questionnaire_id: fields.Id
    pipeline_id: fields.Id
    test: Annotated[bool, Hidden()]
    file_name: str | None
    dry_run: bool
    strict: Annotated[bool, Hidden()]
    on_conflict: Annotated[Any, Hidden()]
    columns: Annotated[list[str], Hidden()]
    places: Annotated[list[int], Hidden()]
    state: Literal["queued", "running", "done", "failed", "cancelled"]
    rows_total: int
    rows_created: int
    rows_updated: int
    rows_skipped: int
    rows_failed: int
    rows_repeated: int
    rows_left_out: int
    reasons: dict[str, int]
    first_time: datetime | None
    error: str | None
    pieces: Annotated[int, Hidden()]
    next_piece: Annotated[int, Hidden()]
    attempts: Annotated[int, Hidden()]
    version: Annotated[int, Hidden()]
    created_time: datetime
    finished_time: datetime | None
    created_by: fields.Id | None
    actor_kind: Annotated[str, Hidden()]

    @property
    def rows_done(self) -> int:
        return self.rows_created + self.rows_updated + self.rows_skipped + self.rows_failed

    @property
    def has_ended(self) -> bool:
        return self.finished_time is not None


_COLUMNS: Final = f"{columns_of(ImportRecord, without={'attempts'})}, failures as attempts"
_GIVEN: Final[LiteralString] = """import_id, questionnaire_id, pipeline_id, test, file_name, dry_run, strict,
  on_conflict, columns, places, rows_total, rows_repeated, rows_left_out, pieces, created_time,
  created_by, actor_kind"""
_COLUMNS_I: Final = qualified(_COLUMNS, "i")
IMPORTS: Final = Leases(
    record=ImportRecord,
    table="queue_import",
    id="import_id",
    columns=_COLUMNS,
    attempts="failures",
    resumable="""state = 'failed' and exists (select from queue_import_piece p
      where p.organization_id = j.organization_id and p.import_id = j.import_id and p.number = j.next_piece)""",
    on_release=", turn_time = now()",
)


class ProblemKind(NamedTuple):
    """The same for all rows that have this problem: a member of a row's request, the column, the parts of a Sentence.

    `column`: None for a problem of the whole row.
    """

    pointer: str
    column: str | None
    text: str
    values: Mapping[str, float | str]


class ImportRowRecord(msgspec.Struct, frozen=True):
    """The outcome of a row, counted from 1 after the header, and the line of the file on which it begins."""

    row: int
    line: Annotated[int | None, Meta(description="Of the file, from 1; a row may have several.")]
    state: Literal["created", "updated", "skipped", "failed"]
    reason: Annotated[str | None, Meta(description="Of a dry run: the rule by which the row would not be sent.")]
    item_id: fields.Id | None
    external_reference: str | None
    problem: dict[str, Any] | None  # its refusal's members `status`, `code`, `detail` and `errors`, and `kinds`

    @property
    def kinds(self) -> list[ProblemKind]:
        """The problems of a row that failed."""
        return [ProblemKind(**each) for each in self.problem["kinds"]] if self.problem else []


_ROW: Final = columns_of(ImportRowRecord)


async def _get_import(
    db: Database, *, organization_id: str, import_id: str, application_ids: Sequence[str] = ()
) -> ImportRecord | None:
    """The import, unless its questionnaire belongs to another application than these (none: any)."""
    return await db.records(ImportRecord).fetch_row(
        f"""select {_COLUMNS_I} from queue_import i
           join questionnaire q on q.organization_id = i.organization_id and q.questionnaire_id = i.questionnaire_id
           where i.organization_id = $1 and i.import_id = $2
             and (cardinality($3::text[]) = 0 or q.owner_application_id = any($3))""",
        organization_id,
        import_id,
        list(application_ids),
    )


async def list_imports(
    db: Database, *, organization_id: str, questionnaire_id: str, pipeline_id: str, test_only: bool, page: Page
) -> RowsRecord[ImportRecord]:
    return await db.records(ImportRecord).fetch_list(
        f"""select {_COLUMNS} from queue_import
           where organization_id = $1 and questionnaire_id = $2 and pipeline_id = $3 and (test or not $4)""",
        organization_id,
        questionnaire_id,
        pipeline_id,
        test_only,
        page=page,
    )


async def list_import_rows(
    db: Database, *, organization_id: str, import_id: str, page: Page
) -> RowsRecord[ImportRowRecord]:
    return await db.records(ImportRowRecord).fetch_list(
        f"""select {_ROW} from queue_import_row
           where organization_id = $1 and import_id = $2""",
        organization_id,
        import_id,
        page=page,
    )


async def list_failed_rows(
    db: Database, *, organization_id: str, import_id: str, after: int, limit: int
) -> list[ImportRowRecord]:
    """Those behind this row, in their order."""
    return await db.records(ImportRowRecord).fetch(
        f"""select {_ROW} from queue_import_row
           where organization_id = $1 and import_id = $2 and row > $3 and state = 'failed' order by row limit $4""",
        organization_id,
        import_id,
        after,
        limit,
    )


async def _insert_import(db: Database, *, organization_id: str, columns: Mapping[str, Any]) -> ImportRecord:
    return await db.records(ImportRecord).fetch_one(
        f"""insert into queue_import (organization_id, {_GIVEN}, turn_time)
           select $1, {_GIVEN}, created_time from jsonb_populate_record(null::queue_import, $2::jsonb)
           returning {_COLUMNS}""",
        organization_id,
        dict(columns),
    )


async def _insert_pieces(
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


async def _list_taken_references(
    db: Database, *, organization_id: str, import_id: str, external_references: Sequence[str]
) -> set[str]:
    """Those of the references that a settled row of this import would have taken."""
    rows = await db.fetch_column(
        """select external_reference from queue_import_row
           where organization_id = $1 and import_id = $2 and state = 'created'
             and external_reference = any($3::text[])""",
        organization_id,
        import_id,
        list(external_references),
    )
    return set(rows)


async def insert_rows(db: Database, *, organization_id: str, import_id: str, rows: Sequence[ImportRowRecord]) -> None:
    await db.execute(
        f"""insert into queue_import_row (organization_id, import_id, {_ROW})
           select $1, $2, * from unnest($3::integer[], $4::integer[], $5::text[], $6::text[], $7::text[], $8::text[],
             $9::jsonb[])""",
        organization_id,
        import_id,
        *arrays(map(msgspec.structs.astuple, rows), 7),
    )


async def _settle_piece(  # any tenant: the import names its own
    db: Database,
    *,
    job: ImportRecord,
    owner: UUID,
    counts: Mapping[str, int],
    reasons: Mapping[str, int],
    first_time: datetime | None,
) -> ImportRecord | None:
    """Count the next piece as worked off and remove it; None: the lease is lost."""
    return await db.records(ImportRecord).fetch_row(
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


async def _delete_pieces(db: Database, *, organization_id: str, import_id: str) -> None:
    await db.execute(
        "delete from queue_import_piece where organization_id = $1 and import_id = $2", organization_id, import_id
    )


Encoding = Literal[
    "utf-8", "utf-16", "windows-1250", "windows-1251", "windows-1252", "windows-1253", "windows-1254", "windows-1255",
    "windows-1256",
]  # fmt: skip


class ImportQuery(fields.Request):
    """Options for reading a file; `map[NAME]=COLUMN` names a column, an empty one leaves it out."""

    dry_run: bool = False
    separator: Annotated[
        Literal[",", ";", "\t", "|"] | None, Meta(description="Between the cells of a row; recognized without it.")
    ] = None
    date_order: Annotated[
        Literal["day", "month"] | None,
        Meta(description="The first of day and month in dates such as 5/12/2026, where no row proves it."),
    ] = None
    on_conflict: Literal["error", "update", "skip"] = "error"
    encoding: Annotated[Encoding, Meta(description="How the file is written.")] = "utf-8"
    filter: (
        Annotated[str, Meta(max_length=4_000, description="Rows that count: a condition as JSON over `column:NAME`.")]
        | None
    ) = None
    map: Annotated[dict[str, str], Meta(max_length=200)] = msgspec.field(default_factory=dict[str, str])


Import: Final = shown_as(
    "Import",
    ImportRecord,
    types={
        "rows_repeated": Annotated[int, Meta(description="Rows whose address an earlier row has.")],
        "rows_left_out": Annotated[int, Meta(description="Rows that do not meet `filter`; `rows_total` is without.")],
        "reasons": Annotated[
            dict[str, int], Meta(description="Of a dry run: created rows that a rule would not send, by its reason.")
        ],
        "first_time": Annotated[
            fields.DateTime | None, Meta(description="Of a dry run: when the first message would leave.")
        ],
    },
)


ImportRow: Final = shown_as("ImportRow", ImportRowRecord)
IMPORT_ROWS: Final = fields.listing_of(ImportRow, order=(("row", "asc"),))


def row_of(row: ImportRowRecord, *, site: Site, request_id: str) -> fields.Resource:
    problem = row.problem and problems.document_of(_refusal(row.problem), site=site, request_id=request_id)
    return ImportRow.of(row, problem=problem)


def _refusal(kept: Mapping[str, Any]) -> errors.Refusal:
    kind = errors.Conflict if kept["status"] == errors.Conflict.status else errors.Invalid
    return kind(kept["detail"], kept["code"], errors=[errors.FieldError(**each) for each in kept["errors"]])


REST_DAYS: Final = 7  # so long the rest of a file that failed can go on
KEEP_DAYS: Final = 30
ROWS_A_TURN: Final = 200  # then others get the event loop
ERRORS_KEPT_MAX: Final = 20  # of a row
ERROR_CHARACTERS_MAX: Final = 500
REFERENCE_CHARACTERS_MAX: Final = 100
NAME_CHARACTERS_MAX: Final = 60  # of a column, in a sentence
FIELDS: Final = tuple(name for name in QueueItemRequest.__struct_fields__ if name != "metadata")
CREATED: Final = 201
DATE_ORDER: Final = "The send times do not show whether the day or the month comes first. Choose one."


async def create(
    db: Database,
    *,
    caller: Caller,
    cut: Cut,
    secret: bytes,
    now: datetime,
    file_name: str | None = None,
    dry_run: bool = False,
    on_conflict: Policy = "error",
    strict: bool = False,
    **path: Unpack[PipelinePath],
) -> ImportRecord:
    """Queue the import of a file. Raises NotFound, NotPublished, TooMany, Invalid for its header."""
    await batches.scheduler_of(db, caller=caller, secret=secret, **path)
    await IMPORTS.require_capacity(db, organization_id=caller.organization_id, noun="imports")
    key = {"organization_id": caller.organization_id, "questionnaire_id": path["questionnaire_id"]}
    declared = await metadata.declared_of(db, **key)
    core_imports.check(cut, declared=declared, strict=strict)
    job = await _insert_import(
        db,
        organization_id=caller.organization_id,
        columns={
            **path,
            "import_id": ids.ordered(now),
            "test": caller.test,
            "file_name": file_name,
            "dry_run": dry_run,
            "strict": strict,
            "on_conflict": on_conflict,
            "columns": cut.columns,
            "places": cut.places,
            "rows_total": cut.rows_total,
            "rows_repeated": cut.rows_repeated,
            "rows_left_out": cut.rows_left_out,
            "pieces": len(cut.pieces),
            "created_time": now,
            "created_by": caller.actor_id or None,
            "actor_kind": caller.actor_kind,
        },
    )
    await _insert_pieces(db, organization_id=job.organization_id, import_id=job.import_id, pieces=cut.pieces)
    return job


def readers(
    text: str, *, separator: str, mapping: Mapping[str, str], date_order: str
) -> dict[str, Callable[[str], str]]:
    """Those of the times to send and of languages. Raises Invalid where the order of day and month has to be said."""
    names, _ = tables.read(text, separator)
    meanings = {name: mapping.get(name, name) for name in names}
    kinds = core_imports.kinds_of(meanings, GLOBAL)
    kinds = {name: kind for name, kind in kinds.items() if meanings[name] in FIELDS}
    formats: dict[str, str] = {}
    for name, seen in core_imports.look(text, separator, kinds).items():
        order = date_order or seen.format
        if order is None:
            raise errors.Invalid.of(FieldError("required", DATE_ORDER, parameter="date_order"))
        formats[name] = f"{seen.kind} {order}"
    return core_imports.readers(formats)


async def get(db: Database, *, caller: Caller, import_id: str) -> ImportRecord:
    job = await _get_import(
        db, organization_id=caller.organization_id, import_id=import_id, application_ids=caller.application_ids
    )
    if job is None or (caller.test and not job.test):
        raise errors.NotFound("There is no such import.")
    return job


async def delete(db: Database, *, job: ImportRecord, now: datetime) -> None:
    """Cancel what waits or runs: what is settled stays, no further row is read. One that has ended is forgotten."""
    if await IMPORTS.end(db, job=job, owner=None, state="cancelled", now=now):
        await _delete_pieces(db, organization_id=job.organization_id, import_id=job.import_id)
    else:
        await IMPORTS.delete(db, job=job)


async def resume(db: Database, *, job: ImportRecord, now: datetime) -> ImportRecord:
    """Let one that failed go on where it stopped, if the rest of its file is still there. Raises Conflict."""
    refusal = f"The import is {job.state}, and nothing of its file is left to go on with."
    return await IMPORTS.resume(db, job=job, now=now, refusal=refusal)


async def work(db: Database, *, job: ImportRecord, owner: UUID, secret: bytes, now: datetime) -> ImportRecord:
    """Work off the next piece; the import after it, done with its last one.

    Raises LeaseLost, and what concerns the import as a whole: NotFound (its pipeline is gone), NotPublished.
    """
    key = {"organization_id": job.organization_id, "import_id": job.import_id}
    piece = await get_piece(db, **key, number=job.next_piece)
    if piece is None:
        raise LeaseLost
    first_row, content = piece
    settled, first_time = await _rows(
        db, job=job, rows=core_imports.read_piece(content), first_row=first_row, secret=secret, now=now
    )
    await insert_rows(db, **key, rows=settled)
    after = await _settle_piece(
        db,
        job=job,
        owner=owner,
        counts=Counter(row.state for row in settled),
        reasons=Counter(job.reasons) + Counter(row.reason for row in settled if row.reason),
        first_time=first_time,
    )
    if after is None:
        raise LeaseLost
    if after.next_piece < after.pieces:
        return after
    return await _end(db, job=after, owner=owner, state="done", error=None, now=now) or after


async def fail(db: Database, *, job: ImportRecord, owner: UUID, error: str | None, now: datetime) -> None:
    """It cannot go on, if it is still this worker's; the rest of its file stays for some days.

    No `error`: it was tried too often.
    """
    error = error or f"Something went wrong on our side. It stopped after row {job.rows_done:,}."
    await _end(db, job=job, owner=owner, state="failed", error=error[:ERROR_CHARACTERS_MAX], now=now)


class _Undone(Exception):
    """Ends a savepoint of which nothing shall stay."""


async def _rows(
    db: Database, *, job: ImportRecord, rows: ParsedRows, first_row: int, secret: bytes, now: datetime
) -> tuple[list[ImportRowRecord], datetime | None]:
    """The outcome of each row, and for a dry run when the first message of them would leave."""
    requests, references = await _requests(db, job=job, rows=rows, now=now)
    known = await _known(db, job=job, references=references, repeated=rows.repeated)
    known |= dict.fromkeys(rows.joined, Outcome(200))
    path = {"questionnaire_id": job.questionnaire_id, "pipeline_id": job.pipeline_id}
    scheduler = await batches.scheduler_of(db, caller=queue.caller_of(job), secret=secret, **path)
    places = [place for place in range(len(requests)) if place not in known]
    outcomes = await _scheduled(db, job=job, scheduler=scheduler, rows=[requests[place] for place in places])
    all_outcomes = known | dict(zip(places, outcomes, strict=True))
    reasons, first_time = await _foreseen(
        db, job=job, scheduler=scheduler, requests=requests, outcomes=all_outcomes, known=set(rows.known)
    )
    names = [name[:NAME_CHARACTERS_MAX] for name in rows.names]
    columns = {core_imports.pointer_of(column): name for column, name in zip(job.columns, names, strict=True)}
    # Pieces that an earlier release cut are without numbers.
    numbers = rows.numbers or range(first_row, first_row + len(references))
    settled = [
        _settled(
            (numbers[at], rows.lines[at]), all_outcomes[at], reasons.get(at), reference, columns, is_dry=job.dry_run
        )
        for at, reference in enumerate(references)
    ]
    return settled, first_time


async def _foreseen(
    db: Database,
    *,
    job: ImportRecord,
    scheduler: Scheduler,
    requests: Sequence[ReadRow],
    outcomes: Mapping[int, Outcome],
    known: Collection[int],
) -> tuple[dict[int, str], datetime | None]:
    """Of a dry run: the reasons of rows that a rule would not send, and when the first other one would leave.

    `known`: rows whose address an earlier piece may have.
    """
    if not job.dry_run:
        return {}, None
    new = {
        place: (request, schedule)
        for place, request in enumerate(requests)
        if isinstance(request, QueueItemRequest) and (schedule := outcomes[place].schedule) is not None
    }
    decisions = await dry_runs.decide_rows(db, scheduler=scheduler, rows=new, known=known)
    times_planned = [planned for decision, planned in decisions.values() if decision.verdict != "skip"]
    reasons = {place: str(decision.reason) for place, (decision, _) in decisions.items() if decision.verdict == "skip"}
    return reasons, min(times_planned, default=None)


async def _requests(
    db: Database, *, job: ImportRecord, rows: ParsedRows, now: datetime
) -> tuple[Sequence[ReadRow], list[str | None]]:
    """The request of each row, or what is wrong with it; and its reference, where that can be one."""
    organization = await accounts.get_organization(db, organization_id=job.organization_id)
    zone = times.zone_of(organization.time_zone if organization else "UTC")
    context = Context(now=now, zone=zone, lax=True, strict=job.strict)
    declared = await metadata.declared_of(
        db, organization_id=job.organization_id, questionnaire_id=job.questionnaire_id
    )
    requests: list[ReadRow] = []
    references: list[str | None] = []
    for place, cells in enumerate(rows.rows):
        if place % ROWS_A_TURN == ROWS_A_TURN - 1:
            await asyncio.sleep(0)
        if isinstance(cells, Fault):
            requests.append(errors.Invalid.of(FieldError(cells.code, cells.sentence, pointer="")))
            references.append(None)
            continue
        document = core_imports.document_of(job.columns, cells)
        faults = core_imports.faults_of(job.columns, cells)
        reference = document.get(REFERENCE)
        references.append(reference if reference and len(reference) <= REFERENCE_CHARACTERS_MAX else None)
        requests.append(errors.Invalid.of(*faults) if faults else structs.read_row(QueueItemRequest, document, context))
    return checked_rows(requests, declared if job.strict else None), references


async def _known(
    db: Database, *, job: ImportRecord, references: Sequence[str | None], repeated: Sequence[str]
) -> dict[int, Outcome]:
    """Rows of a dry run whose reference an earlier row would have taken: nothing in the queue tells of it."""
    if not job.dry_run or not repeated:
        return {}
    taken = await _list_taken_references(
        db, organization_id=job.organization_id, import_id=job.import_id, external_references=repeated
    )
    refusal = ReferenceTaken()
    refused = Outcome(refusal.status, refusal=refusal)
    met = refused if job.on_conflict == "error" else Outcome(200, is_changed=job.on_conflict == "update")
    return {place: met for place, reference in enumerate(references) if reference in taken}


async def _scheduled(
    db: Database, *, job: ImportRecord, scheduler: Scheduler, rows: Sequence[ReadRow]
) -> list[Outcome]:
    outcomes: list[Outcome] = []
    with contextlib.suppress(_Undone):
        async with savepoint(db):
            outcomes = await batches.schedule_requests(
                db,
                caller=queue.caller_of(job),
                scheduler=scheduler,
                rows=rows,
                on_conflict=job.on_conflict,
                atomic=False,
                is_dry=job.dry_run,
            )
            if job.dry_run:
                raise _Undone
    return outcomes


def _settled(
    place: tuple[int, int | None],
    outcome: Outcome,
    reason: str | None,
    reference: str | None,
    columns: Mapping[str, str],
    *,
    is_dry: bool,
) -> ImportRowRecord:
    """`place`: the number of the row, and its line."""
    if outcome.refusal is not None:
        problem = _problem(place[0], outcome.refusal, columns)
        return ImportRowRecord(*place, "failed", reason, outcome.item_id, reference, problem)
    state = "created" if outcome.status == CREATED else "updated" if outcome.is_changed else "skipped"
    item_id = None if is_dry and state == "created" else outcome.item_id
    return ImportRowRecord(*place, state, reason, item_id, reference, None)


def _problem(row: int, refusal: errors.Refusal, columns: Mapping[str, str]) -> dict[str, Any]:
    """The kept part of a refusal; its sentences name the row and the column of the file, its kinds the column alone."""
    wrong: list[dict[str, str]] = []
    kinds: list[ProblemKind] = []
    for error in refusal.errors[:ERRORS_KEPT_MAX]:
        kind = _kind(error.pointer or "", columns.get(error.pointer or ""), error.message)
        place = f"Row {row:,}" if kind.column is None else f"Row {row:,}, column “{kind.column}”"
        wrong.append({"pointer": kind.pointer, "code": error.code, "message": f"{place}: {error.message}"})
        kinds.append(kind)
    return {
        "status": refusal.status,
        "code": refusal.code,
        "detail": str(refusal.detail),
        "errors": wrong,
        "kinds": [kind._asdict() for kind in kinds or [_kind("", None, refusal.detail)]],
    }


def _kind(pointer: str, column: str | None, message: str) -> ProblemKind:
    sentence = Sentence.of(message)
    return ProblemKind(pointer, column, sentence.text, sentence.values)


async def _end(
    db: Database, *, job: ImportRecord, owner: UUID, state: str, error: str | None, now: datetime
) -> ImportRecord | None:
    """End the import and tell; None: it is not this worker's."""
    ended = await IMPORTS.end(db, job=job, owner=owner, state=state, now=now, error=error)
    if ended is None:
        return None
    kind = "import.finished" if state == "done" else "import.failed"
    data = {name: getattr(ended, name) for name in Import.__struct_fields__}
    event = NewEvent.of(ended, kind, ended.import_id, data, now=now)
    await events.record(db, events=[event])
    return ended
