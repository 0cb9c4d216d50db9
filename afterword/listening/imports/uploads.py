"""Files of past responses that the console takes: kept in pieces, checked by a dry run, confirmed, then imported.

A worker goes through the pieces twice, each with its progress in a transaction: whatever stops it, no row is lost or
done twice. Until it is confirmed, its import is open and has no rows.
"""

import asyncio
import io
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import islice
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, Final

import msgspec
import structlog

from afterword import errors
from afterword.core.organizations.access import Caller, installation
from afterword.core.wire import tables
from afterword.core.wire.response_columns import Columns, Table
from afterword.core.wire.tables import ROWS_MAX
from afterword.errors import FieldError, Sentence
from afterword.kit.db import Database, savepoint
from afterword.kit.db.columns import arrays, columns_of
from afterword.listening.imports import files, service as imports
from afterword.listening.imports.service import ROWS_A_STATEMENT, CheckedRow, Outcome, Work
from afterword.listening.imports.store import ResponseImportRecord
from afterword.sending.intake.imports.service import ERRORS_KEPT_MAX, ProblemKind
from afterword.sending.intake.lists import FileGone
from afterword.tenants.organizations import service as accounts

KEEP_DAYS: Final = 7  # the file, and what is wrong with its rows
BYTES_MAX: Final = 134_217_728  # of all cells
COLUMNS_MAX: Final = 10  # of which values are asked about at once
VALUES_MAX: Final = 50  # of a column
VALUE_CHARACTERS_MAX: Final = 200
NONE: Final = {"created": 0, "unchanged": 0, "failed": 0}
FROM_START: Final[Mapping[str, Any]] = {"state": "queued", "next_piece": 0, "counts": NONE, "unknown": {}}
Cells = Sequence[Sequence[str]]
FaultyRow = tuple[int, list[ProblemKind]]  # its number, which is 1 for the header, or that of its line of JSON
ReadFile = tuple[str, Table, list[bytes], int]  # the table, its rows in pieces, their number
logger: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)


class ResponseUpload(msgspec.Struct, frozen=True, kw_only=True):
    """`names`: its columns, none where each row is a request already. `meanings` and `orders`: as Columns has them.

    `choices`: by column, what stands for a value of it; `unknown`: values that fit no question, with numbers of rows.
    `state`: new, queued, done or failed. `counts` of created, unchanged and failed rows: of the check, then the import.
    """

    organization_id: str
    response_import_id: str
    names: list[str]
    meanings: dict[str, str]
    orders: dict[str, str]
    choices: dict[str, dict[str, str]]
    unknown: dict[str, dict[str, int]]
    state: str
    confirmed: bool
    rows_total: int
    counts: dict[str, int]
    pieces: int
    next_piece: int
    error: str | None

    @property
    def key(self) -> dict[str, str]:
        return {"organization_id": self.organization_id, "response_import_id": self.response_import_id}


_COLUMNS: Final = columns_of(ResponseUpload)
_CHANGED: Final = "meanings, orders, choices, unknown, state, confirmed, counts, next_piece, error, turn_time"


def read_file(content: bytes) -> ReadFile:
    """A file of another system, for a thread. Raises Invalid, Malformed, TooLarge."""
    if not content.strip():
        raise errors.Invalid.at("/file", "required", "Choose a file.")
    kind = files.format_of(content[: files.HEAD_BYTES])
    if kind.read is None:
        lines = enumerate(tables.decode(content).split("\n"), start=1)
        return kind.name, *_cut(Table((), ()), ([line, str(number)] for number, line in lines if line.strip()))
    with NamedTemporaryFile() as file:
        Path(file.name).write_bytes(content)
        return kind.name, *_cut(*kind.read(Path(file.name), io.BytesIO(content)))


def _cut(table: Table, rows: Iterator[Sequence[str]]) -> tuple[Table, list[bytes], int]:
    if len(table.names) > tables.COLUMNS_MAX:
        raise errors.Invalid.at("/file", "too_many", Sentence("A file has at most {n} columns.", n=tables.COLUMNS_MAX))
    pieces: list[bytes] = []
    rows_total = size = 0
    while batch := [[cell.replace("\x00", "") for cell in row] for row in islice(rows, ROWS_A_STATEMENT)]:
        content = msgspec.json.encode(batch)
        rows_total, size = rows_total + len(batch), size + len(content)
        if rows_total > ROWS_MAX or size > BYTES_MAX:
            raise errors.TooLarge(Sentence("A file may have {n} rows; send it in parts.", n=ROWS_MAX))
        pieces.append(zlib.compress(content, 1))
    if not pieces:
        raise errors.Invalid.at("/file", "required", "The file has no rows.")
    return table, pieces, rows_total


async def stage(
    db: Database, *, caller: Caller, questionnaire_id: str, file_name: str | None, read: ReadFile, now: datetime
) -> ResponseImportRecord:
    """Open an import, and keep its file with what its columns seem to mean. Raises NotFound, NotPublished."""
    acting: dict[str, Any] = {"caller": caller, "questionnaire_id": questionnaire_id, "now": now}
    kind, table, pieces, rows_total = read
    job = await imports.begin(db, **acting, format=kind, file_name=file_name)
    work = await imports.open_work(db, **acting, job=job)
    meanings = await asyncio.to_thread(known_columns(work).guess, table)
    await _insert_upload(db, job=job, pieces=pieces, values=(list(table.names), meanings, len(pieces), rows_total))
    return job


async def _insert_upload(  # any tenant: the import names its own
    db: Database, *, job: ResponseImportRecord, pieces: Sequence[bytes], values: Sequence[Any]
) -> None:
    await db.execute(
        """insert into response_upload (organization_id, response_import_id, names, meanings, pieces, rows_total,
             created_time, turn_time)
           values ($1, $2, $4, $5, $6, $7, $3, $3)""",
        *(*job.key.values(), job.created_time, *values),
    )
    await db.execute(
        """insert into response_upload_piece (organization_id, response_import_id, number, content)
           select $1, $2, p.* from unnest($3::integer[], $4::bytea[]) as p""",
        *(*job.key.values(), *arrays(enumerate(pieces), 2)),
    )


async def get_upload(db: Database, *, organization_id: str, response_import_id: str) -> ResponseUpload | None:
    """None: the import has no file, or its days are over."""
    return await db.records(ResponseUpload).fetch_row(
        f"select {_COLUMNS} from response_upload where organization_id = $1 and response_import_id = $2",
        *(organization_id, response_import_id),
    )


async def update_upload(db: Database, *, upload: ResponseUpload, **changes: Any) -> None:
    # any tenant: the upload names its own
    """Change it, with FROM_START to check or import it anew. Raises Conflict where somebody did so meanwhile."""
    is_changed = await db.execute(
        f"""update response_upload u
           set ({_CHANGED}) = (select {_CHANGED} from jsonb_populate_record(u, $3::jsonb))
           where organization_id = $1 and response_import_id = $2 and state = $4 and confirmed = $5""",
        *(*upload.key.values(), changes, upload.state, upload.confirmed),
    )
    if not is_changed:
        raise errors.Conflict("Somebody has gone on with this file meanwhile.")


async def get_cells(db: Database, *, organization_id: str, response_import_id: str, number: int) -> list[list[str]]:
    """The rows of a piece. Raises FileGone."""
    content: bytes | None = await db.fetch_value(
        """select content from response_upload_piece
           where organization_id = $1 and response_import_id = $2 and number = $3""",
        *(organization_id, response_import_id, number),
    )
    if content is None:
        raise FileGone("The file is no longer kept. Send it again.")
    return await asyncio.to_thread(lambda: msgspec.json.decode(zlib.decompress(content), type=list[list[str]]))


async def list_faulty_rows(
    db: Database, *, organization_id: str, response_import_id: str, after: int, limit: int
) -> list[FaultyRow]:
    """Those behind this row, in their order."""
    rows = await db.fetch_column(
        """select fault from response_upload_piece p, jsonb_array_elements(p.faults) fault
           where p.organization_id = $1 and p.response_import_id = $2 and (fault ->> 0)::int > $3
           order by p.number, (fault ->> 0)::int limit $4""",
        *(organization_id, response_import_id, after, limit),
    )
    return [(number, [ProblemKind(*one) for one in kinds]) for number, kinds in rows]


def known_columns(work: Work) -> Columns:
    return Columns(work.version.definition, work.declared)


def read_rows(work: Work, upload: ResponseUpload, file_name: str, number: int, cells: Cells) -> list[CheckedRow]:
    """The rows of a piece as they will be stored, or what is wrong with each; for a thread."""
    if not upload.names:
        return imports.check(work, imports.read_lines(work, [row[0].encode() for row in cells]))
    said = [upload.choices.get(name, {}) for name in upload.names] + [{}] * max(map(len, cells))
    rows = ([right.get(cell.strip(), cell) for cell, right in zip(row, said, strict=False)] for row in cells)
    read = partial(known_columns(work).document, meanings=upload.meanings, orders=upload.orders)
    first = files.FIRST_ROW + number * ROWS_A_STATEMENT
    lines = [line for _, line in files.requests_of(Path(file_name).stem, upload.names, rows, read, first=first)]
    return imports.check(work, imports.read_lines(work, lines))


async def _claim_upload(db: Database) -> ResponseUpload | None:  # any tenant: workers serve all
    return await db.records(ResponseUpload).fetch_row(
        f"""select {_COLUMNS} from response_upload where state = 'queued'
           order by turn_time limit 1 for update skip locked"""
    )


async def work_next(db: Database, *, secret: bytes, now: datetime) -> int:
    """Go through a piece of the file that waits longest; 0 where none waits."""
    upload = await _claim_upload(db)
    if upload is None:
        return 0
    try:
        async with savepoint(db):
            changes = await _step(db, upload=upload, secret=secret, now=now)
    except errors.Unavailable:
        raise
    except errors.Refusal as refusal:
        changes = {"state": "failed", "error": refusal.detail}
    except Exception:
        logger.exception("a file of responses failed", **upload.key)
        changes = {"state": "failed", "error": "Something went wrong on our side."}
    await update_upload(db, upload=upload, turn_time=now.isoformat(), **changes)
    return 1


async def _step(db: Database, *, upload: ResponseUpload, secret: bytes, now: datetime) -> dict[str, Any]:
    organization = await accounts.get_organization(db, organization_id=upload.organization_id)
    caller = replace(installation(upload.organization_id), time_zone=organization.time_zone if organization else "UTC")
    job = await imports.get(db, caller=caller, response_import_id=upload.response_import_id)
    acting: dict[str, Any] = {"caller": caller, "now": now}
    target = job if upload.confirmed else None
    work = await imports.open_work(db, **acting, questionnaire_id=job.questionnaire_id, job=target)
    cells = await get_cells(db, **upload.key, number=upload.next_piece)
    rows = await asyncio.to_thread(read_rows, work, upload, job.file_name or "", upload.next_piece, cells)
    outcomes = await imports.add(db, work=work, rows=rows, secret=secret, now=now)
    faults, unknown = await asyncio.to_thread(_faults, work, upload, cells, outcomes)
    await _update_faults(db, upload=upload, faults=faults)
    is_done = upload.next_piece + 1 == upload.pieces
    if is_done and upload.confirmed:
        await imports.update(db, **acting, response_import_id=job.response_import_id)
    counts = {name: number + upload.counts[name] for name, number in imports.counted(outcomes).items()}
    state = "done" if is_done else "queued"
    return {"next_piece": upload.next_piece + 1, "counts": counts, "unknown": unknown, "state": state}


async def _update_faults(db: Database, *, upload: ResponseUpload, faults: Sequence[FaultyRow]) -> None:
    # any tenant: the upload names its own
    await db.execute(
        """update response_upload_piece set faults = $4
           where organization_id = $1 and response_import_id = $2 and number = $3""",
        *(*upload.key.values(), upload.next_piece, list(faults)),
    )


def _faults(
    work: Work, upload: ResponseUpload, cells: Cells, outcomes: Sequence[Outcome]
) -> tuple[list[FaultyRow], dict[str, dict[str, int]]]:
    """The rows of a piece that are refused; and the values, of earlier pieces too, that fit no question."""
    known, first = known_columns(work), files.FIRST_ROW + upload.next_piece * ROWS_A_STATEMENT
    places = known.places(upload.meanings)
    options = {name: known.options(meaning) for name, meaning in upload.meanings.items()}
    unknown = {name: dict(values) for name, values in upload.unknown.items()}
    found: list[FaultyRow] = []
    for number, (row, outcome) in enumerate(zip(cells, outcomes, strict=True), start=first):
        if outcome.refusal is None:
            continue
        kinds: list[ProblemKind] = []
        whole = [FieldError("invalid_format", outcome.refusal.detail, pointer="")]
        for one in outcome.refusal.errors[:ERRORS_KEPT_MAX] or whole:
            said, texts = Sentence.of(one.message), zip(upload.names, map(str.strip, row), strict=False)
            here = {name: text for name, text in texts if text and places[name] == one.pointer}
            member = None if upload.names or not one.pointer else one.place
            kinds.append(ProblemKind(one.pointer or "", next(iter(here), member), said.text, said.values))
            for name, text in here.items():
                values = unknown.get(name, {})
                is_asked = len(values) < VALUES_MAX and len(text) <= VALUE_CHARACTERS_MAX and len(unknown) < COLUMNS_MAX
                if text in values or (is_asked and options[name] and text not in options[name]):
                    unknown[name] = {**values, text: values.get(text, 0) + 1}
        found.append((number if upload.names else int(row[1]), kinds))  # lines of JSON have theirs
    return found, unknown
