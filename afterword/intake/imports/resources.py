"""Imports and their rows as the wire shows them."""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from afterword import errors
from afterword.core.wire.site import Site
from afterword.intake.imports import store
from afterword.web import fields, problems


class ImportQuery(fields.Request):
    """Options for reading a file; `map[NAME]=COLUMN` names a column, an empty one leaves it out."""

    dry_run: bool = False
    separator: Literal[",", ";", "\t", "|"] = ","
    on_conflict: Literal["error", "update", "skip"] = "error"
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
    error: str | None
    created_time: fields.DateTime
    finished_time: fields.DateTime | None
    created_by: fields.Id | None


class ImportRow(fields.Resource):
    """The outcome of a row, counted from 1 after the header."""

    row: int
    state: Literal["created", "updated", "skipped", "failed"]
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
