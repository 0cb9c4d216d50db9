"""Imports and their rows as the wire shows them."""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from afterword import errors
from afterword.core.wire.site import Site
from afterword.kit.web import fields, problems
from afterword.sending.intake.imports import store

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
    map: Annotated[dict[str, str], Meta(max_length=200)] = msgspec.field(default_factory=dict[str, str])


class Import(fields.Resource):
    """A file of items, and how far it has come."""

    import_id: fields.Id
    questionnaire_id: fields.Id
    pipeline_id: fields.Id
    file_name: str | None
    dry_run: bool
    state: Literal["queued", "running", "done", "failed", "cancelled"]
    rows_total: int
    rows_created: int
    rows_updated: int
    rows_skipped: int
    rows_failed: int
    rows_repeated: Annotated[int, Meta(description="Rows whose address an earlier row has.")]
    reasons: Annotated[
        dict[str, int], Meta(description="Of a dry run: created rows that a rule would not send, by its reason.")
    ]
    first_time: Annotated[fields.DateTime | None, Meta(description="Of a dry run: when the first message would leave.")]
    error: str | None
    created_time: fields.DateTime
    finished_time: fields.DateTime | None
    created_by: fields.Id | None


class ImportRow(fields.Resource):
    """The outcome of a row, counted from 1 after the header, and the line of the file on which it begins."""

    row: int
    line: Annotated[int | None, Meta(description="Of the file, from 1; a row may have several.")]
    state: Literal["created", "updated", "skipped", "failed"]
    reason: Annotated[str | None, Meta(description="Of a dry run: the rule by which the row would not be sent.")]
    item_id: fields.Id | None
    external_reference: str | None
    problem: dict[str, Any] | None


IMPORT_ROWS: Final = fields.listing_of(ImportRow, order=(("row", "asc"),))


def row_of(row: store.ImportRow, *, site: Site, request_id: str) -> ImportRow:
    problem = row.problem and problems.document_of(_refusal(row.problem), site=site, request_id=request_id)
    return ImportRow.of(row, problem=problem)


def _refusal(kept: Mapping[str, Any]) -> errors.Refusal:
    kind = errors.Conflict if kept["status"] == errors.Conflict.status else errors.Invalid
    return kind(kept["detail"], kept["code"], errors=[errors.FieldError(**each) for each in kept["errors"]])
