"""The HTTP routes of the audit log: a list, and a file."""

import csv
import io
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from datetime import datetime, tzinfo
from typing import Any, Final, Literal

import msgspec

from afterword.core.organizations.access import Caller
from afterword.core.wire.exports import guarded
from afterword.core.wire.lists import Criterion, Page, Rows
from afterword.kit.db import Database
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call, Download, Routes
from afterword.tenants.audit import service, store
from afterword.tenants.audit.store import Entry

Format = Literal["csv", "jsonl"]
MEDIA_TYPES: Final[dict[Format, str]] = {"csv": "text/csv; charset=utf-8", "jsonl": "application/x-ndjson"}
FILE_ENTRIES_MAX: Final = 100_000
PAGE_ENTRIES: Final = 1_000  # of a file, read at once

routes = Routes(tag="Audit")


class AuditEntry(fields.Resource):
    """An act. Names are those of today; `before` and `after` have what changed, long and secret values as a dash."""

    entry_id: fields.Id
    created_time: fields.DateTime
    actor_kind: Literal["user", "token", "system", "command"]
    actor_id: fields.Id | None
    actor_name: fields.Computed[str | None]
    actor_role: str | None
    action: str
    thing_kind: str
    thing_id: str | None
    thing_name: fields.Computed[str | None]
    before: fields.Computed[dict[str, Any] | None]
    after: fields.Computed[dict[str, Any] | None]
    device: str | None
    network: str | None


ENTRIES: Final = fields.listing_of(AuditEntry)


class AuditFileQuery(fields.Request):
    """The form of a file, and the entries in it."""

    format: Format = "csv"
    actor_id: fields.Id | None = None
    action: fields.Text50 | None = None
    thing_kind: fields.Text50 | None = None
    thing_id: fields.Text100 | None = None
    from_time: fields.Moment | None = None
    to_time: fields.Moment | None = None

    def criteria(self) -> list[Criterion]:
        equal = ("actor_id", "action", "thing_kind", "thing_id")
        given = [(ENTRIES.columns[name], getattr(self, name)) for name in equal]
        created = ENTRIES.columns["created_time"]
        return [
            *(Criterion("EQUAL", column, value) for column, value in given if value is not None),
            *([Criterion("GREATER_EQUAL", created, self.from_time.instant)] if self.from_time else []),
            *([Criterion("LESS_THAN", created, self.to_time.instant)] if self.to_time else []),
        ]


@routes.list(
    "/audit",
    scope="Audit.Read",
    answer=AuditEntry,
    listing=ENTRIES,
    summary="Get the audit log",
    description="Newest first: changes with their author, log-ins and failed ones, readings of a person, downloads. "
    "Filter by `ActorId`, `Action`, `ThingKind`, `ThingId`, `CreatedTime`. Kept two years; entries cannot be changed.",
)
async def list_audit_entries(call: Call[None], db: Database) -> Rows[store.Entry]:
    call.caller.require_whole()
    call.caller.require_real()
    return await store.list_entries(db, organization_id=call.caller.organization_id, page=call.page)


@routes.get(
    "/audit/file",
    scope="Audit.Read",
    answer=None,
    query=AuditFileQuery,
    media_types=tuple(MEDIA_TYPES.values()),
    summary="Get the audit log as a file",
    description="The newest 100,000 entries that match, as CSV or one JSON object a line, with the members of the "
    "list. The first entry is the download itself.",
)
async def get_audit_file(call: Call[None], db: Database) -> Answer:
    query: AuditFileQuery = call.query or AuditFileQuery()
    return Answer(
        download=await file_of(
            db, caller=call.caller, criteria=query.criteria(), file_format=query.format, zone=call.zone, now=call.now
        )
    )


async def file_of(
    db: Database,
    *,
    caller: Caller,
    criteria: Sequence[Criterion],
    file_format: Format,
    zone: tzinfo,
    now: datetime,
    thing_kinds: Sequence[str] = (),
    actions: Sequence[str] = (),
) -> Download:
    """The entries, read page by page while they are sent; the first one is the download itself."""
    caller.require_whole()
    caller.require_real()
    page = replace(Page.first(ENTRIES), criteria=tuple(criteria))
    found = {"organization_id": caller.organization_id, "thing_kinds": thing_kinds, "actions": actions}
    await service.record(
        db,
        caller=caller,
        action="downloaded",
        thing_kind="audit",
        thing_id=None,
        after={"format": file_format, "filters": sorted({one.column.name for one in criteria})},
        now=now,
    )
    return Download(
        media_type=MEDIA_TYPES[file_format],
        file_name=f"audit-{now.astimezone(zone).date().isoformat()}.{file_format}",
        length=None,
        chunks=_chunks(db, page, found, file_format=file_format, zone=zone),
    )


async def _chunks(
    db: Database, page: Page, found: dict[str, Any], *, file_format: Format, zone: tzinfo
) -> AsyncGenerator[bytes, None]:
    if file_format == "csv":
        yield _line(AuditEntry.__struct_fields__).encode("utf-8-sig")  # else spreadsheets guess another encoding
    left = FILE_ENTRIES_MAX
    while left > 0:
        rows = await store.list_entries(db, **found, page=replace(page, limit=min(PAGE_ENTRIES, left)))
        yield b"".join(_written(entry, file_format, zone) for entry in rows.items)
        if not rows.has_more:
            return
        last = rows.items[-1]
        page, left = replace(page, after=(last.created_time, last.entry_id)), left - len(rows.items)


def _written(entry: Entry, file_format: Format, zone: tzinfo) -> bytes:
    record = AuditEntry.of(entry, zone)
    if file_format == "jsonl":
        return msgspec.json.encode(record) + b"\n"
    cells = (getattr(record, name) for name in AuditEntry.__struct_fields__)
    return _line(
        [
            guarded(msgspec.json.encode(each).decode() if isinstance(each, dict) else str("" if each is None else each))
            for each in cells
        ]
    ).encode()


def _line(cells: Sequence[str]) -> str:
    text = io.StringIO()
    csv.writer(text).writerow(cells)
    return text.getvalue()
