"""Imports and their rows as the wire shows them."""

from collections.abc import Mapping
from datetime import datetime, tzinfo
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from afterword import errors
from afterword.core.wire import times
from afterword.core.wire.site import Site
from afterword.intake.imports import store
from afterword.web import fields, problems

State = Literal["queued", "running", "done", "failed", "cancelled"]
RowState = Literal["created", "updated", "skipped", "failed"]


class ImportQuery(fields.Request):
    """How to read a file; `map[NAME]=COLUMN` says what a column of another name is, an empty one leaves it out."""

    dry_run: bool = False
    separator: Literal[",", ";", "\t", "|"] = ","
    on_conflict: Literal["error", "update", "skip"] = "error"
    map: Annotated[dict[str, str], Meta(max_length=200)] = msgspec.field(default_factory=dict[str, str])


class Import(fields.Answer):
    """A file of items, and how far it has come."""

    import_id: fields.Id
    questionnaire_id: fields.Id
    pipeline_id: fields.Id
    file_name: str | None
    dry_run: bool
    state: State
    rows_total: int
    rows_created: int
    rows_updated: int
    rows_skipped: int
    rows_failed: int
    error: str | None
    created_time: fields.DateTime
    finished_time: fields.DateTime | None
    created_by: fields.Id | None

    @classmethod
    def of(cls, job: store.Import, zone: tzinfo) -> "Import":
        """The record as the wire shows it, its times in the organization's zone."""
        shown: dict[str, Any] = {name: getattr(job, name) for name in cls.__struct_fields__}
        return cls(**_with_times(shown, zone))


class ImportRow(fields.Answer):
    """What became of a row of the file, counted from 1 after the header."""

    row: int
    state: RowState
    item_id: fields.Id | None
    external_reference: str | None
    problem: dict[str, Any] | None

    @classmethod
    def of(cls, row: store.ImportRow, *, site: Site, request_id: str) -> "ImportRow":
        """The record, its problem as a document of this request."""
        problem = row.problem and problems.document_of(_refusal(row.problem), site=site, request_id=request_id)
        return cls(
            row=row.row,
            state=row.state,
            item_id=row.item_id,
            external_reference=row.external_reference,
            problem=problem,
        )


def of_event(data: Mapping[str, Any], zone: tzinfo) -> dict[str, Any]:
    """The import that an event tells of."""
    return _with_times({name: data.get(name) for name in Import.__struct_fields__}, zone)


def _with_times(shown: dict[str, Any], zone: tzinfo) -> dict[str, Any]:
    for name in ("created_time", "finished_time"):
        value = shown[name]
        time = datetime.fromisoformat(value) if isinstance(value, str) else value
        shown[name] = times.format_optional(time, zone=zone)
    return shown


def _refusal(kept: Mapping[str, Any]) -> errors.Refusal:
    kind = errors.Conflict if kept["status"] == errors.Conflict.status else errors.Invalid
    return kind(kept["detail"], kept["code"], errors=[errors.FieldError(**each) for each in kept["errors"]])
