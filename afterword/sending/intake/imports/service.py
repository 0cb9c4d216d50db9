"""Imports of items from a file: cut when it arrives, worked off by workers, a piece and its progress in a transaction.

Whatever stops a worker, a piece is settled whole or not at all: nothing is lost, nothing is done twice. Two workers may
believe that an import is theirs (a lease that ran out), and only one of them can settle its next piece.
"""

import asyncio
import contextlib
import dataclasses
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final
from uuid import UUID

from afterword import errors, ids
from afterword.asking.questionnaires.metadata import service as metadata_service
from afterword.core.organizations.access import Caller, installation
from afterword.core.questionnaires.metadata import GLOBAL
from afterword.core.reading import structs
from afterword.core.reading.structs import Context
from afterword.core.wire import imports as core_imports
from afterword.core.wire import tables, times
from afterword.core.wire.imports import REFERENCE, Cut, Rows
from afterword.core.wire.tables import Fault
from afterword.errors import FieldError, Sentence
from afterword.events import service as events
from afterword.events.service import NewEvent
from afterword.kit.db import Database, savepoint
from afterword.kit.db.leases import LeaseLost
from afterword.sending.intake import batches, dry_runs
from afterword.sending.intake.batches import Outcome, Policy
from afterword.sending.intake.imports import resources, store
from afterword.sending.intake.imports.store import Import, ImportRow, ProblemKind
from afterword.sending.queue.resources import QueueItemRequest
from afterword.sending.queue.scheduler import checked_rows
from afterword.sending.queue.service import ReferenceTaken
from afterword.tenants.organizations import service as accounts

REST_DAYS: Final = 7  # so long the rest of a file that failed can go on
KEEP_DAYS: Final = 30
ROWS_A_TURN: Final = 200  # then others get the event loop
ERRORS_KEPT_MAX: Final = 20  # of a row
ERROR_CHARACTERS_MAX: Final = 500
REFERENCE_CHARACTERS_MAX: Final = 100
NAME_CHARACTERS_MAX: Final = 60  # of a column, in a sentence
FIELDS: Final = tuple(name for name in QueueItemRequest.__struct_fields__ if name != "metadata")
CREATED: Final = 201
DATE_ORDER: Final = "No date of the times to send proves whether the day or the month comes first: say day or month."


class CannotResume(errors.Conflict):
    code_default = "not_ready"


async def create(
    db: Database,
    *,
    caller: Caller,
    questionnaire_id: str,
    pipeline_id: str,
    cut: Cut,
    secret: bytes,
    now: datetime,
    file_name: str | None = None,
    dry_run: bool = False,
    on_conflict: Policy = "error",
    strict: bool = False,
) -> Import:
    """Queue the import of a file. Raises NotFound, NotPublished, TooMany, Invalid for its header."""
    where = {"questionnaire_id": questionnaire_id, "pipeline_id": pipeline_id}
    await batches.scheduler_of(db, caller=caller, **where, secret=secret)
    await store.IMPORTS.require_capacity(db, organization_id=caller.organization_id, noun="imports")
    declared = await metadata_service.declared_of(
        db, organization_id=caller.organization_id, questionnaire_id=questionnaire_id
    )
    core_imports.check(cut, declared=declared, strict=strict)
    job = await store.insert_import(
        db,
        organization_id=caller.organization_id,
        columns={
            **where,
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
            "pieces": len(cut.pieces),
            "created_time": now,
            "created_by": caller.actor_id or None,
            "actor_kind": caller.actor_kind,
        },
    )
    await store.insert_pieces(db, organization_id=job.organization_id, import_id=job.import_id, pieces=cut.pieces)
    return job


def cut(
    text: str,
    *,
    separator: str,
    mapping: Mapping[str, str],
    readers: Mapping[str, Callable[[str], str]] = MappingProxyType({}),
    joins: bool = False,
) -> Cut:
    """A file in pieces, for a thread of its own: nothing here waits. Raises Invalid, TooLarge."""
    return core_imports.cut(text, fields=FIELDS, separator=separator, mapping=mapping, readers=readers, joins=joins)


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


async def get(db: Database, *, caller: Caller, import_id: str) -> Import:
    job = await store.get_import(
        db, organization_id=caller.organization_id, import_id=import_id, application_ids=caller.application_ids
    )
    if job is None or (caller.test and not job.test):
        raise errors.NotFound("There is no such import.")
    return job


async def delete(db: Database, *, job: Import, now: datetime) -> None:
    """Cancel what waits or runs: what is settled stays, no further row is read. One that has ended is forgotten."""
    key = {"organization_id": job.organization_id, "import_id": job.import_id}
    if await store.IMPORTS.end(db, job=job, owner=None, state="cancelled", now=now):
        await store.delete_pieces(db, **key)
    else:
        await store.delete_import(db, **key)


async def resume(db: Database, *, job: Import, now: datetime) -> Import:
    """Let one that failed go on where it stopped; one that has not ended goes on anyway. Raises CannotResume."""
    if not job.has_ended:
        return job
    again = await store.update_to_queued(db, organization_id=job.organization_id, import_id=job.import_id, now=now)
    if again is None:
        raise CannotResume(f"The import is {job.state}, and nothing of its file is left to go on with.")
    return again


# Work of an import ---------------------------------------------------------------------------------------------------


async def work(db: Database, *, job: Import, owner: UUID, secret: bytes, now: datetime) -> Import:
    """Work off the next piece; the import after it, done with its last one.

    Raises LeaseLost, and what concerns the import as a whole: NotFound (its pipeline is gone), NotPublished.
    """
    key = {"organization_id": job.organization_id, "import_id": job.import_id}
    piece = await store.get_piece(db, **key, number=job.next_piece)
    if piece is None:
        raise LeaseLost
    first_row, content = piece
    settled, first_time = await _rows(
        db, job=job, rows=core_imports.read_piece(content), first_row=first_row, secret=secret, now=now
    )
    await store.insert_rows(db, **key, rows=settled)
    after = await store.settle_piece(
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


async def fail(db: Database, *, job: Import, owner: UUID, error: str | None, now: datetime) -> None:
    """It cannot go on, if it is still this worker's; the rest of its file stays for some days.

    No `error`: it was tried too often.
    """
    error = error or f"Something went wrong on our side. It stopped after row {job.rows_done:,}."
    await _end(db, job=job, owner=owner, state="failed", error=error[:ERROR_CHARACTERS_MAX], now=now)


# Below: how, in the order of their use --------------------------------------------------------------------------------


class _Undone(Exception):
    """Ends a savepoint of which nothing shall stay."""


async def _rows(
    db: Database, *, job: Import, rows: Rows, first_row: int, secret: bytes, now: datetime
) -> tuple[list[ImportRow], datetime | None]:
    """The outcome of each row, and for a dry run when the first message of them would leave."""
    requests, references = await _requests(db, job=job, rows=rows, now=now)
    known = await _known(db, job=job, references=references, repeated=rows.repeated)
    known |= dict.fromkeys(rows.joined, Outcome(200))
    places = [place for place in range(len(requests)) if place not in known]
    outcomes = await _scheduled(db, job=job, rows=[requests[place] for place in places], secret=secret)
    all_outcomes = known | dict(zip(places, outcomes, strict=True))
    reasons, first_time = await _foreseen(
        db, job=job, requests=requests, outcomes=all_outcomes, known=set(rows.known), secret=secret
    )
    # Pieces that an earlier release cut are without the header's texts, and without lines.
    names = [name[:NAME_CHARACTERS_MAX] for name in rows.names] or [str(place) for place in job.places]
    columns = {core_imports.pointer_of(column): name for column, name in zip(job.columns, names, strict=True)}
    lines = rows.lines or [None] * len(references)
    settled = [
        _settled(first_row + place, all_outcomes[place], reference, columns, is_dry=job.dry_run)._replace(
            line=lines[place], reason=reasons.get(place)
        )
        for place, reference in enumerate(references)
    ]
    return settled, first_time


async def _foreseen(
    db: Database,
    *,
    job: Import,
    requests: Sequence[QueueItemRequest | errors.Invalid],
    outcomes: Mapping[int, Outcome],
    known: Collection[int],
    secret: bytes,
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
    decisions = await dry_runs.decide_rows(
        db,
        caller=_caller(job),
        questionnaire_id=job.questionnaire_id,
        pipeline_id=job.pipeline_id,
        rows=new,
        known=known,
        secret=secret,
    )
    times_planned = [planned for decision, planned in decisions.values() if decision.verdict != "skip"]
    reasons = {place: str(decision.reason) for place, (decision, _) in decisions.items() if decision.verdict == "skip"}
    return reasons, min(times_planned, default=None)


async def _requests(
    db: Database, *, job: Import, rows: Rows, now: datetime
) -> tuple[Sequence[QueueItemRequest | errors.Invalid], list[str | None]]:
    """The request of each row, or what is wrong with it; and its reference, where that can be one."""
    organization = await accounts.get_organization(db, organization_id=job.organization_id)
    zone = times.zone_of(organization.time_zone if organization else "UTC")
    context = Context(now=now, zone=zone, lax=True, strict=job.strict)
    declared = await metadata_service.declared_of(
        db, organization_id=job.organization_id, questionnaire_id=job.questionnaire_id
    )
    requests: list[QueueItemRequest | errors.Invalid] = []
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
    db: Database, *, job: Import, references: Sequence[str | None], repeated: Sequence[str]
) -> dict[int, Outcome]:
    """Rows of a dry run whose reference an earlier row would have taken: nothing in the queue tells of it."""
    if not job.dry_run or not repeated:
        return {}
    taken = await store.list_taken_references(
        db, organization_id=job.organization_id, import_id=job.import_id, external_references=repeated
    )
    refusal = ReferenceTaken()
    refused = Outcome(refusal.status, refusal=refusal)
    met = refused if job.on_conflict == "error" else Outcome(200, is_changed=job.on_conflict == "update")
    return {place: met for place, reference in enumerate(references) if reference in taken}


async def _scheduled(
    db: Database, *, job: Import, rows: Sequence[QueueItemRequest | errors.Invalid], secret: bytes
) -> list[Outcome]:
    outcomes: list[Outcome] = []
    with contextlib.suppress(_Undone):
        async with savepoint(db):
            outcomes = await batches.schedule_requests(
                db,
                caller=_caller(job),
                questionnaire_id=job.questionnaire_id,
                pipeline_id=job.pipeline_id,
                rows=rows,
                on_conflict=job.on_conflict,
                atomic=False,
                secret=secret,
                is_dry=job.dry_run,
            )
            if job.dry_run:
                raise _Undone
    return outcomes


def _caller(job: Import) -> Caller:
    """Whoever sent the file; what they may was asked then."""
    is_user, created_by = job.actor_kind == "user", job.created_by or ""
    return dataclasses.replace(
        installation(job.organization_id),
        token_id="" if is_user else created_by,
        user_id=created_by if is_user else None,
        test=job.test,
    )


def _settled(
    row: int, outcome: Outcome, reference: str | None, columns: Mapping[str, str], *, is_dry: bool
) -> ImportRow:
    if outcome.refusal is not None:
        return ImportRow(row, "failed", outcome.item_id, reference, _problem(row, outcome.refusal, columns))
    state = "created" if outcome.status == CREATED else "updated" if outcome.is_changed else "skipped"
    return ImportRow(row, state, None if is_dry and state == "created" else outcome.item_id, reference, None)


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
    db: Database, *, job: Import, owner: UUID, state: str, error: str | None, now: datetime
) -> Import | None:
    """End the import and tell; None: it is not this worker's."""
    ended = await store.IMPORTS.end(db, job=job, owner=owner, state=state, now=now, error=error)
    if ended is None:
        return None
    event = NewEvent(
        organization_id=ended.organization_id,
        event_id=ids.ordered(now),
        type="import.finished" if state == "done" else "import.failed",
        subject_id=ended.import_id,
        subject_version=ended.version,
        questionnaire_id=ended.questionnaire_id,
        actor_kind="worker",
        actor_id=None,
        data={name: getattr(ended, name) for name in resources.Import.__struct_fields__},
        test=ended.test,
    )
    await events.record(db, events=[event])
    return ended
