"""SQL of exports: the jobs, the responses that they read, the pieces of their files."""

import zlib
from collections.abc import AsyncGenerator, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Final, Literal, LiteralString, Unpack
from uuid import UUID

import msgspec

from afterword.core.organizations.access import Part
from afterword.core.wire.exports import OVERLAP, Format, Response
from afterword.core.wire.lists import Page, Rows
from afterword.kit.db import Database, Row
from afterword.kit.db.columns import columns_of, qualified
from afterword.kit.db.leases import Leases
from afterword.kit.nouns.declaration import Hidden
from afterword.kit.web import fields

VALUE_SCOPES: Final = ("Questionnaire Value.Read", "Responder Value.Read")


class Export(msgspec.Struct, frozen=True, kw_only=True):
    """An export, and how far it has come."""

    organization_id: Annotated[str, Hidden()]
    export_id: fields.Id
    questionnaire_id: str | None
    test: Annotated[bool, Hidden()]
    format: Format
    from_time: datetime | None
    to_time: datetime | None
    date_basis: Literal["submitted", "completed", "sent"]
    filter: dict[str, Any] | None
    locale: str | None
    values_as: Annotated[Any, Hidden()]
    include_metadata: bool
    include_incomplete: bool
    include_recipient: bool
    byte_order_mark: bool
    scopes: Annotated[Sequence[str], Hidden()]  # those of the values that it holds beside answers
    since_cursor: fields.Computed[str | None]
    since_time: Annotated[datetime | None, Hidden()]
    state: Literal["queued", "running", "done", "expired", "failed", "cancelled"]
    progress: int
    row_count: int | None
    bytes: int | None
    checksum: str | None
    file_name: str | None
    error: str | None
    pieces: Annotated[int, Hidden()]
    scan_time: Annotated[datetime | None, Hidden()]
    scan_id: Annotated[str | None, Hidden()]
    owner: Annotated[UUID | None, Hidden()]
    lease_until: Annotated[datetime | None, Hidden()]
    attempts: Annotated[int, Hidden()]
    started_time: Annotated[datetime | None, Hidden()]
    version: Annotated[int, Hidden()]
    created_time: datetime
    finished_time: datetime | None
    expires_time: datetime | None
    created_by: fields.Id | None
    questionnaire_ids: Annotated[Sequence[str] | None, Hidden()] = None
    selected_count: int | None = None
    limited_to: Annotated[Sequence[str] | None, Hidden()] = None  # `Caller.only` of whoever asked for it

    @property
    def metadata(self) -> tuple[bool, bool]:
        """Whether it holds metadata of the questionnaire, and of responders."""
        return VALUE_SCOPES[0] in self.scopes, VALUE_SCOPES[1] in self.scopes

    @property
    def until(self) -> datetime:
        """The latest creation of a response in it."""
        until = self.started_time or self.created_time
        if self.to_time is None or self.date_basis == "sent":
            return until
        return min(until, self.to_time + OVERLAP)  # no response is answered before it is created


_COLUMNS: Final = columns_of(Export)
_REQUESTED: Final[LiteralString] = """questionnaire_id, test, format, from_time, to_time, date_basis, filter, locale,
  values_as, include_metadata, include_incomplete, include_recipient, byte_order_mark, scopes, since_cursor,
  since_time, questionnaire_ids, instance_ids, limited_to"""
_COLUMNS_E: Final = qualified(_COLUMNS, "e")
EXPORTS: Final = Leases(
    record=Export,
    table="export",
    id="export_id",
    columns=_COLUMNS,
    turn="created_time",
    on_claim=", started_time = coalesce(started_time, $2)",
    on_release=", state = 'queued', version = version + 1",
    on_end=""", expires_time = $7, checksum = $8, file_name = $9, instance_ids = null,
      progress = case $4 when 'done' then 100 else progress end,
      row_count = case $4 when 'done' then coalesce(row_count, 0) end,
      bytes = case $4 when 'done' then coalesce(bytes, 0) end""",
)


class Piece(msgspec.Struct, frozen=True):
    """A part of the file: its size, its compressed bytes, and its count of rows."""

    size: int
    content: bytes
    row_count: int


class Scanned(msgspec.Struct, frozen=True):
    """Responses in the order of the export; `last` is the position of the scan."""

    responses: list[Response]
    last: tuple[datetime, str]


async def get_export(
    db: Database, *, export_id: str, only: Sequence[str] | None = None, **part: Unpack[Part]
) -> Export | None:
    """The export, unless a questionnaire in it belongs to another application than these (none: any).

    `only`: a caller with this limit sees those that were asked for under the same.
    """
    return await db.records(Export).fetch_row(
        f"""select {_COLUMNS_E} from export e
           where e.organization_id = $1 and e.export_id = $2 and (cardinality($3::text[]) = 0 or not exists (
             select from questionnaire q where q.organization_id = e.organization_id
               and q.questionnaire_id = any(coalesce(e.questionnaire_ids, array[e.questionnaire_id]))
               and q.owner_application_id <> all($3)))
             and ($4::text[] is null or e.limited_to = $4)""",
        *(part["organization_id"], export_id, list(part["application_ids"]), only),
    )


async def list_exports(
    db: Database, *, organization_id: str, questionnaire_id: str, test_only: bool, page: Page
) -> Rows[Export]:
    """A page of a questionnaire's exports; for test tokens only those of test responses."""
    return await db.records(Export).fetch_list(
        f"""select {_COLUMNS} from export
           where organization_id = $1 and questionnaire_id = $2 and (test or not $3)""",
        organization_id,
        questionnaire_id,
        test_only,
        page=page,
    )


async def list_exports_of_lists(
    db: Database, *, organization_id: str, created_by: str, test_only: bool, only: Sequence[str] | None, page: Page
) -> Rows[Export]:
    return await db.records(Export).fetch_list(
        f"""select {_COLUMNS} from export
           where organization_id = $1 and questionnaire_id is null and created_by = $2 and (test or not $3)
             and ($4::text[] is null or limited_to = $4)""",
        *(organization_id, created_by, test_only, only),
        page=page,
    )


async def insert_export(
    db: Database, *, organization_id: str, export_id: str, request: Mapping[str, Any], now: datetime, by: str
) -> Export:
    return await db.records(Export).fetch_one(
        f"""insert into export (organization_id, export_id, {_REQUESTED}, created_time, created_by, selected_count)
           select $1, $2, {_REQUESTED}, $4, $5, cardinality(instance_ids)
           from jsonb_populate_record(null::export, $3::jsonb) returning {_COLUMNS}""",
        *(organization_id, export_id, request, now, by),
    )


def _rows(source: LiteralString, order: LiteralString) -> LiteralString:
    """The members of the responses of `source`: their times as texts in the zone of the session."""
    return f"""select s.created_time, s.is_wanted, s.seen, s.tags, case when s.is_wanted and $4 then (
             select json_build_array(q.external_reference, q.responder_channel_identifier) from queue_item q
             where q.organization_id = $1 and q.item_id = s.item_id) end as item,
           case when s.is_wanted then (
             select json_object_agg(a.question_id, json_build_array(a.value, a.other_text)) from answer a
             where a.organization_id = $1 and a.instance_id = s.instance_id and not a.provisional) end as answers,
           case when s.is_wanted and $2 then s.metadata end as metadata,
           case when s.is_wanted and $3 then (
             select r.metadata from responder r
             where r.organization_id = $1 and r.responder_id = s.responder_id) end as responder_metadata,
           s.instance_id, s.version_id, s.responder_id, s.locale, s.finalized,
           to_char(s.created_time, 'YYYY-MM-DD"T"HH24:MI:SSTZH:TZM') as created_text,
           to_char(s.sent_time, 'YYYY-MM-DD"T"HH24:MI:SSTZH:TZM') as sent_text,
           to_char(s.delivered_time, 'YYYY-MM-DD"T"HH24:MI:SSTZH:TZM') as delivered_text,
           to_char(s.viewed_time, 'YYYY-MM-DD"T"HH24:MI:SSTZH:TZM') as viewed_text,
           to_char(s.submitted_time, 'YYYY-MM-DD"T"HH24:MI:SSTZH:TZM') as submitted_text,
           to_char(s.completed_time, 'YYYY-MM-DD"T"HH24:MI:SSTZH:TZM') as completed_text
         from ({source}) s order by {order}"""


_INSTANCE: Final[LiteralString] = """i.created_time, i.instance_id, i.version_id, i.responder_id, i.locale, i.finalized,
  i.sent_time, i.delivered_time, i.viewed_time, i.submitted_time, i.completed_time, i.metadata, i.item_id"""


async def list_responses(
    db: Database,
    *,
    organization_id: str,
    export: Export,
    time_zone: str,
    after: tuple[datetime, str] | None,
    limit: int,
    oldest: datetime | None = None,
) -> Scanned | None:
    """The next responses, the newest first; None at the end, or where only older ones than `oldest` are left.

    Times are texts in the zone. `limit` instances are read, and the scan stands behind the last of them, even where few
    of them match. Those that were created while the export ran are left out, so that its rows do not move under it.
    """
    await db.fetch_value("select set_config('timezone', $1, true)", time_zone)
    time, instance_id = after or (export.until, "")
    rows = await db.fetch(
        _rows(
            # In the order of its index from the first to the last: nothing is sorted.
            f"""select {_INSTANCE}, null::json as seen, null::text[] as tags,
               i.deleted_time is null and i.test = $10 and b.basis_time is not null
               and ($11::timestamptz is null or b.basis_time >= $11)
               and ($12::timestamptz is null or b.basis_time < $12)
               and ($13 or i.finalized) and ($14::timestamptz is null or i.updated_time >= $14) as is_wanted
             from questionnaire_instance i
             cross join lateral (
               select case $9 when 'sent' then i.sent_time when 'completed' then i.completed_time
                      else i.submitted_time end as basis_time) b
             where i.organization_id = $1 and i.questionnaire_id = $5 and i.created_time <= $6
               and (i.created_time < $6 or i.instance_id > $7)
               and i.created_time >= coalesce($15, '-infinity'::timestamptz)
             order by i.created_time desc, i.instance_id limit $8""",
            "s.created_time desc, s.instance_id",
        ),
        *(organization_id, *export.metadata, export.include_recipient),
        *(export.questionnaire_id, time, instance_id, limit, export.date_basis, export.test),
        *(export.from_time, export.to_time, export.include_incomplete, export.since_time, oldest),
    )
    if not rows:
        return None
    last = (rows[-1]["created_time"], rows[-1]["instance_id"])
    return Scanned([_response(row) for row in rows if row["is_wanted"]], last)


async def list_selected(
    db: Database, *, organization_id: str, export: Export, time_zone: str, passed: int, limit: int
) -> list[Response]:
    """Of the `limit` chosen responses behind the first `passed`, those that were not deleted since."""
    await db.fetch_value("select set_config('timezone', $1, true)", time_zone)
    return await db.records(_response).fetch(
        _rows(
            f"""select {_INSTANCE}, true as is_wanted, k.place,
               json_build_array(r.questionnaire_id, q.display_name, r.channel_id, r.score, r.score_max, r.band) as seen,
               array(select t.tag from instance_tag t
                     where t.organization_id = $1 and t.instance_id = i.instance_id order by t.tag) as tags
             from (select instance_ids[$6 + 1:$6 + $7] as ids from export
                   where organization_id = $1 and export_id = $5) e
             cross join unnest(e.ids) with ordinality k (instance_id, place)
             join questionnaire_instance i on i.organization_id = $1 and i.instance_id = k.instance_id
             join response r on r.organization_id = $1 and r.instance_id = k.instance_id
             join questionnaire q on q.organization_id = $1 and q.questionnaire_id = r.questionnaire_id
             where i.deleted_time is null""",
            "s.place",
        ),
        *(organization_id, *export.metadata, True, export.export_id, passed, limit),
    )


async def get_oldest_time(db: Database, *, organization_id: str, questionnaire_id: str) -> datetime | None:
    return await db.fetch_value(
        """select created_time from questionnaire_instance where organization_id = $1 and questionnaire_id = $2
               order by created_time, instance_id desc limit 1""",
        organization_id,
        questionnaire_id,
    )


async def settle_piece(
    db: Database,
    *,
    export: Export,
    owner: UUID,
    number: int,
    piece: Piece,
    scanned: tuple[datetime, str] | None,
    progress: int,
) -> bool:  # any tenant: the export names its own
    """Store a piece, unless it is empty, and the position of the scan; False: the lease is lost."""
    return await db.fetch_value(
        f"""with held as (
             update export set pieces = pieces + ($5 > 0)::integer, row_count = coalesce(row_count, 0) + $7,
               bytes = coalesce(bytes, 0) + $5, scan_time = $8, scan_id = $9, progress = $10, version = version + 1,
               attempts = case when $8::timestamptz is null then attempts else 1 end
             where {EXPORTS.is_held} and pieces = $4
             returning organization_id, export_id),
           kept as (
             insert into export_piece (organization_id, export_id, number, bytes, content)
             select organization_id, export_id, $4, $5, $6 from held where $5 > 0)
           select exists (select from held)""",
        export.organization_id,
        export.export_id,
        owner,
        number,
        piece.size,
        piece.content,
        piece.row_count,
        *(scanned or (None, None)),
        progress,
    )


async def update_to_empty(db: Database, *, organization_id: str, export_id: str, owner: UUID) -> None:
    """Remove the pieces, so that the file begins again."""
    if await db.execute(
        f"""update export set pieces = 0, row_count = null, bytes = null, scan_time = null, scan_id = null
            where {EXPORTS.is_held}""",
        organization_id,
        export_id,
        owner,
    ):
        await delete_pieces(db, organization_id=organization_id, export_id=export_id)


async def delete_pieces(db: Database, *, organization_id: str, export_id: str) -> None:
    await db.execute(
        "delete from export_piece where organization_id = $1 and export_id = $2", organization_id, export_id
    )


async def delete_export(db: Database, *, organization_id: str, export_id: str) -> None:
    await db.execute("delete from export where organization_id = $1 and export_id = $2", organization_id, export_id)


async def list_pieces(  # any tenant: the export names its own
    db: Database, *, export: Export
) -> AsyncGenerator[bytes, None]:
    """The pieces of the file in order, one in memory at a time; it ends early when they were removed."""
    for number in range(export.pieces):
        content: bytes | None = await db.fetch_value(
            "select content from export_piece where organization_id = $1 and export_id = $2 and number = $3",
            export.organization_id,
            export.export_id,
            number,
        )
        if content is None:
            return
        yield zlib.decompress(content)


def _response(row: Row) -> Response:
    """Row: `created_time, is_wanted`, the members besides FIXED, those of FIXED: the order of the select."""
    _, _, seen, tags, item, answers, metadata, responder_metadata, *fixed = row
    return Response(
        fixed, answers or {}, metadata or {}, responder_metadata or {}, item or (None, None), seen or (), tags or ()
    )
