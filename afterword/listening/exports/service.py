"""Exports: users request them, workers write them: claim, read, write, settle, each in a short transaction of its own.

A worker holds an export by a lease. Settled pieces stay: after a crash another worker goes on behind the last one (CSV,
JSON Lines), or begins again (XLSX, which is written as a whole).
"""

import hashlib
import zlib
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import aclosing
from datetime import datetime, timedelta
from operator import itemgetter
from typing import Any, Final
from uuid import UUID

import msgspec

from afterword import errors, ids
from afterword.asking.instances import triggers
from afterword.asking.questionnaires import metadata, store as questionnaires_store
from afterword.asking.questionnaires.store import Questionnaire
from afterword.core.organizations.access import Caller
from afterword.core.questionnaires import conditions
from afterword.core.questionnaires.conditions import Node
from afterword.core.questionnaires.definition import Definition
from afterword.core.questionnaires.metadata import MetadataDefinition, Type
from afterword.core.reading.findings import Findings
from afterword.core.wire.exports import LOCAL, SPLIT, ExportTable, Response, progress, read_cursor
from afterword.core.wire.lists import Page, Rows
from afterword.errors import FieldError
from afterword.events import service as events
from afterword.events.service import NewEvent
from afterword.kit.db import Database
from afterword.kit.db.leases import LeaseLost
from afterword.kit.texts import SOURCE_LANGUAGE
from afterword.listening.exports import store
from afterword.listening.exports.formats import missing_extra, writer_of
from afterword.listening.exports.store import VALUE_SCOPES, Export, Piece, Scanned
from afterword.listening.exports.writers import Writer
from afterword.listening.responses import service as responses_service
from afterword.listening.responses.service import RequestedResponses
from afterword.tenants import audit
from afterword.tenants.organizations import service as accounts

LISTED_MAX: Final = 50_000  # responses in an export of a list
QUESTIONNAIRES_MAX: Final = 50  # in one file: their columns stand side by side
BATCH_ROWS: Final = 5_000  # a quarter of them after each attempt that led no further: less than a statement's time
KEEP_DAYS: Final = 7
KEEP: Final = timedelta(days=KEEP_DAYS)
FORGET_DAYS: Final = 90
COMPRESSION: Final = 1  # CSV shrinks to a sixth at the least effort
FAILED: Final = "It could not be written. Ask for it again; if that fails too, ask for a shorter time."
ITEM_SCOPE: Final = "Queue.Read"
_UNLOGGED: Final = frozenset({"owner", "lease_until", "scopes"})
_LOGGED: Final = tuple(name for name in Export.__struct_fields__ if name not in _UNLOGGED)  # in events


class NotReady(errors.Conflict):
    """The file is not written yet, or never will be."""

    code_default = "not_ready"


class Work(msgspec.Struct):
    """An export that a worker writes. `after`: the position of its scan; `pieces`: the count of settled ones."""

    export: Export
    owner: UUID
    table: ExportTable
    writer: Writer
    time_zone: str
    condition: Node | None
    oldest: datetime | None
    after: tuple[datetime, str] | None = None
    pieces: int = 0
    row_count: int = 0
    digest: Any = msgspec.field(default_factory=hashlib.sha256)

    @property
    def progress(self) -> int:
        if self.after is None:
            return 0
        if self.export.selected_count is not None:
            return min(99, 100 * _passed(self.after) // max(1, self.export.selected_count))
        return progress(started=self.export.until, oldest=self.oldest, reached=self.after[0])


async def create(
    db: Database, *, caller: Caller, questionnaire: Questionnaire, columns: Mapping[str, Any], now: datetime
) -> Export:
    """Ask for an export. Raises Invalid (the filter, the cursor, the times), TooMany while many are waiting.

    It holds metadata values only as far as the caller may read them. Recipients without ITEM_SCOPE: InsufficientScope.
    """
    since_time = _check(columns)
    scopes = scopes_of(caller, columns)
    await check_filter(db, caller=caller, questionnaire=questionnaire, document=columns["filter"])
    await store.EXPORTS.require_capacity(db, organization_id=caller.organization_id, noun="exports")
    more = {"questionnaire_id": questionnaire.questionnaire_id, "test": caller.test, "since_time": since_time}
    return await _insert(db, caller=caller, request={**columns, **more, "scopes": scopes}, now=now)


async def check_filter(db: Database, *, caller: Caller, questionnaire: Questionnaire, document: object) -> None:
    """Raises Invalid, and InsufficientScope where it asks for values that the caller may not read."""
    node = _read_filter(await _definitions(db, questionnaire), document)
    caller.require_values(leaf.subject for leaf in conditions.leaves_of(node))


async def create_of_list(
    db: Database, wanted: RequestedResponses, *, columns: Mapping[str, Any], now: datetime
) -> Export:
    """Ask for the responses that a list shows with this filter: those that match now, the newest first.

    Raises Invalid for too many of them or of their questionnaires, else as `create`.
    """
    caller = wanted.caller
    scopes = scopes_of(caller, columns)
    await store.EXPORTS.require_capacity(db, organization_id=caller.organization_id, noun="exports")
    found = await responses_service.select(db, wanted, limit=LISTED_MAX)
    questionnaire_ids = sorted({questionnaire_id for _, questionnaire_id in found})
    if len(questionnaire_ids) > QUESTIONNAIRES_MAX:
        message = (
            f"At most {QUESTIONNAIRES_MAX} questionnaires go into one file: choose one of them, or fewer responses."
        )
        raise errors.Invalid.at("/filter", "too_many", message)
    request = {
        **columns,
        "date_basis": "submitted",
        "include_incomplete": True,
        "test": wanted.chosen.test,
        "scopes": scopes,
        "questionnaire_ids": questionnaire_ids,
        "instance_ids": [instance_id for instance_id, _ in found],
        "limited_to": caller.only,
    }
    return await _insert(db, caller=caller, request=request, now=now)


async def list_of_lists(db: Database, *, caller: Caller, page: Page) -> Rows[Export]:
    return await store.list_exports_of_lists(
        db,
        organization_id=caller.organization_id,
        created_by=caller.actor_id,
        test_only=caller.test,
        only=caller.only,
        page=page,
    )


async def get(db: Database, *, caller: Caller, export_id: str) -> Export:
    """An export that the caller may see. Raises NotFound."""
    export = await store.get_export(db, **caller.part, only=caller.only, export_id=export_id)
    if export is None or (caller.test and not export.test):
        raise errors.NotFound("There is no such export.")
    return export


def require_file(export: Export, *, caller: Caller) -> None:
    """Raise why the caller cannot have the file: Gone, NotReady, or InsufficientScope for values in it."""
    if export.state == "expired":
        raise errors.Gone(f"The file was kept for {KEEP_DAYS} days; ask for a new export.")
    if export.state != "done":
        raise NotReady(export.error or f"The export is {export.state}.")
    for scope in export.scopes:
        caller.require(scope)


async def download(db: Database, *, caller: Caller, export: Export, now: datetime) -> AsyncGenerator[bytes, None]:
    """The file for a person or a program outside, noted in the audit log."""
    await audit.record(
        db,
        caller=caller,
        action="downloaded",
        thing_kind="export",
        thing_id=export.export_id,
        now=now,
        thing_name=export.file_name,
    )
    async with aclosing(store.list_pieces(db, export=export)) as pieces:
        async for content in pieces:
            yield content


async def delete(db: Database, *, export: Export, now: datetime) -> None:
    """Cancel what is waiting or being written; remove what has ended, with its file."""
    key = {"organization_id": export.organization_id, "export_id": export.export_id}
    values = (now + KEEP, None, None)
    if await store.EXPORTS.end(db, job=export, owner=None, state="cancelled", now=now, values=values):
        await store.delete_pieces(db, **key)
    else:
        await store.delete_export(db, **key)


# The steps of a worker -----------------------------------------------------------------------------------------------


async def begin(db: Database, *, export: Export, owner: UUID, is_stable: bool = False) -> Work:
    """Load everything that is needed to write it; an export that cannot be resumed loses its pieces."""
    organization_id = export.organization_id
    questionnaires = [
        await questionnaires_store.get_questionnaire(
            db, organization_id=organization_id, questionnaire_id=questionnaire_id
        )
        for questionnaire_id in (export.questionnaire_ids or filter(None, [export.questionnaire_id]))
    ]
    organization = await accounts.get_organization(db, organization_id=organization_id)
    declared = [
        await metadata.declared(db, organization_id=organization_id, application_id=application_id)
        for application_id in sorted({one.owner_application_id for one in questionnaires})
    ]
    definitions = [(one, definition) for one in questionnaires for definition in await _definitions(db, one)]
    has_questionnaire_metadata, has_responder_metadata = export.metadata
    default_locale = questionnaires[0].default_locale if questionnaires else SOURCE_LANGUAGE
    table = ExportTable(
        definitions=[definition for _, definition in definitions],
        prefixes={
            question.question_id: questionnaire.display_name
            for questionnaire, definition in definitions
            for question in definition.questions()
            if len(questionnaires) > 1
        },
        is_of_list=export.questionnaire_id is None,
        locale=export.locale or default_locale,
        is_split=export.format in SPLIT,
        values="codes" if export.format == "sav" else export.values_as,
        questionnaire_names=_types([each.questionnaire for each in declared]),
        responder_names=_types([each.responder for each in declared]),
        has_questionnaire_metadata=has_questionnaire_metadata,
        has_responder_metadata=has_responder_metadata,
        has_item=export.include_recipient,
        is_stable=is_stable,
    )
    work = Work(
        export=export,
        owner=owner,
        table=table,
        writer=writer_of(
            export.format,
            table,
            byte_order_mark=export.byte_order_mark,
            names={subject: one for each in declared for subject, one in each.by_subject.items()},
        ),
        time_zone=organization.time_zone if organization and export.format in LOCAL else "UTC",
        condition=_read_filter(table.definitions, export.filter),
        oldest=await store.get_oldest_time(
            db, organization_id=organization_id, questionnaire_id=export.questionnaire_id
        )
        if export.questionnaire_id
        else None,
    )
    if not await _resume(db, work) and (export.pieces or export.row_count):
        await store.update_to_empty(db, organization_id=organization_id, export_id=export.export_id, owner=owner)
    return work


async def _resume(db: Database, work: Work) -> bool:
    """Go on behind the kept pieces; False where there are none, or they have other columns by now."""
    export, head = work.export, work.writer.begin() if work.writer.is_resumable else b""
    if not work.writer.is_resumable or export.scan_time is None or export.scan_id is None:
        return False
    digest, is_same = hashlib.sha256(), True
    async for content in store.list_pieces(db, export=export):
        is_same, head = is_same and content.startswith(head), b""
        digest.update(content)
    if not is_same:
        return False
    work.after, work.pieces, work.digest = (export.scan_time, export.scan_id), export.pieces, digest
    work.row_count = export.row_count or 0
    return True


async def read(
    db: Database, *, work: Work, after: tuple[datetime, str] | None, oldest: datetime | None = None
) -> Scanned | None:
    """The next responses behind `after` that the filter keeps, down to those created at `oldest`."""
    export, limit = work.export, max(1, BATCH_ROWS >> 2 * (work.export.attempts - 1))
    of_export: dict[str, Any] = {
        "organization_id": export.organization_id, "export": export, "time_zone": work.time_zone, "limit": limit,
    }  # fmt: skip
    if export.selected_count is not None:
        passed = _passed(after)
        if passed >= export.selected_count:
            return None
        # The position in the list has the place of an id in that of a questionnaire's responses.
        last = (export.created_time, str(passed + limit))
        return Scanned(await store.list_selected(db, **of_export, passed=passed), last)
    scanned = await store.list_responses(db, **of_export, after=after, oldest=oldest)
    if scanned is None or work.condition is None or not scanned.responses:
        return scanned
    known = await triggers.list_facts(
        db,
        organization_id=work.export.organization_id,
        instance_ids=[response.instance_id for response in scanned.responses],
        condition=work.condition,
    )
    kept = [each for each in scanned.responses if conditions.matches(work.condition, known.get(each.instance_id, {}))]
    return Scanned(kept, scanned.last)


def pack(work: Work, responses: Sequence[Response], *, is_first: bool = False) -> Piece:
    """The bytes of these rows; runs in a thread, as nothing here waits. Raises TooManyRows."""
    content = (work.writer.begin() if is_first else b"") + work.writer.write(responses)
    return _piece(work, content, row_count=len(responses))


def pack_rest(work: Work) -> Iterator[Piece]:
    for chunk in work.writer.end():
        yield _piece(work, chunk, row_count=0)


async def keep(db: Database, *, work: Work, piece: Piece) -> None:
    """Settle a piece and the position of the scan. Raises LeaseLost."""
    number = work.pieces
    work.row_count += piece.row_count
    work.pieces += piece.size > 0
    is_kept = await store.settle_piece(
        db,
        export=work.export,
        owner=work.owner,
        number=number,
        piece=piece,
        scanned=work.after if work.writer.is_resumable else None,
        progress=work.progress,
    )
    if not is_kept:
        raise LeaseLost


async def finish(db: Database, *, work: Work, now: datetime) -> None:
    export, checksum = work.export, f"sha256:{work.digest.hexdigest()}"
    file_name = f"responses-{now:%Y-%m-%d}-{export.export_id}.{export.format}"
    values = (now + KEEP, checksum, file_name)
    ended = await store.EXPORTS.end(db, job=export, owner=work.owner, state="done", now=now, values=values)
    if ended:
        await _record(db, export=ended, now=now)


async def fail(db: Database, *, export: Export, owner: UUID, error: str | None, now: datetime) -> None:
    """End it as failed, if it is still this worker's. No `error`: it was tried too often."""
    values = (now + KEEP, None, None)
    ended = await store.EXPORTS.end(
        db, job=export, owner=owner, state="failed", now=now, error=error or FAILED, values=values
    )
    if ended:
        await store.delete_pieces(db, organization_id=export.organization_id, export_id=export.export_id)
        await _record(db, export=ended, now=now)


async def _record(db: Database, *, export: Export, now: datetime) -> None:
    kind = "export.finished" if export.state == "done" else "export.failed"
    data = {name: getattr(export, name) for name in _LOGGED}
    event = NewEvent.of(export, kind, export.export_id, data, now=now)
    await events.record(db, events=[event])


def _types(declared: Sequence[Mapping[str, MetadataDefinition]]) -> dict[str, Type]:
    """The declared names in their order, each with its type; with "text" where applications differ."""
    found: dict[str, Type] = {}
    for name, one in sorted((each for names in declared for each in names.items()), key=itemgetter(0)):
        found[name] = one.type if found.get(name, one.type) == one.type else "text"
    return found


def _passed(after: tuple[datetime, str] | None) -> int:
    """The responses of a list that a scan has passed."""
    return int(after[1]) if after else 0


async def _insert(db: Database, *, caller: Caller, request: Mapping[str, Any], now: datetime) -> Export:
    if sentence := missing_extra(request["format"]):
        raise errors.Invalid.at("/format", "unknown_value", sentence)
    return await store.insert_export(
        db,
        organization_id=caller.organization_id,
        export_id=ids.ordered(now),
        request=request,
        now=now,
        by=caller.actor_id,
    )


def scopes_of(caller: Caller, columns: Mapping[str, Any]) -> list[str]:
    """The scopes of the values in the file, as far as the caller has them. Raises InsufficientScope for recipients."""
    scopes = [scope for scope in VALUE_SCOPES if columns["include_metadata"] and scope in caller.scopes]
    if columns["include_recipient"]:
        caller.require(ITEM_SCOPE)
        scopes.append(ITEM_SCOPE)
    return scopes


def _piece(work: Work, content: bytes, *, row_count: int) -> Piece:
    work.digest.update(content)
    return Piece(len(content), zlib.compress(content, COMPRESSION), row_count)


async def _definitions(db: Database, questionnaire: Questionnaire) -> list[Definition]:
    return await questionnaires_store.list_version_definitions(
        db, organization_id=questionnaire.organization_id, questionnaire_ids=[questionnaire.questionnaire_id]
    )


def _read_filter(definitions: Sequence[Definition], document: object) -> Node | None:
    """The condition over the questions of these versions, the newest first. Raises Invalid."""
    if document is None:
        return None
    findings = Findings()
    scope = conditions.Scope(
        questions={
            subject: kind
            for definition in reversed(definitions)
            for question in definition.questions()
            for subject, kind in question.kinds.items()
        },
        tags=True,
    )
    node = conditions.read(document, "/filter", findings, scope)
    findings.check()
    return node


def _check(columns: Mapping[str, Any]) -> datetime | None:
    """The time of the cursor. Raises Invalid."""
    wrong: list[FieldError] = []
    since_time: datetime | None = None
    if columns["from_time"] and columns["to_time"] and columns["from_time"] >= columns["to_time"]:
        wrong.append(FieldError("out_of_range", "The end must lie after the beginning.", pointer="/to_time"))
    if columns["since_cursor"] is not None:
        try:
            since_time = read_cursor(columns["since_cursor"])
        except ValueError as error:
            wrong.append(FieldError("invalid_cursor", str(error), pointer="/since_cursor"))
    errors.check(wrong)
    return since_time
