"""The record of an export and its columns."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, LiteralString
from uuid import UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """A row: what was asked for, and how far it has come."""

    organization_id: str
    export_id: str
    questionnaire_id: str
    test: bool
    format: Any
    from_time: datetime | None
    to_time: datetime | None
    date_basis: str
    filter: Any
    locale: str | None
    values_as: Any
    include_metadata: bool
    include_incomplete: bool
    include_recipient: bool
    byte_order_mark: bool
    scopes: Sequence[str]
    since_cursor: str | None
    since_time: datetime | None
    state: str
    progress: int
    row_count: int | None
    bytes: int | None
    checksum: str | None
    file_name: str | None
    error: str | None
    pieces: int
    scan_time: datetime | None
    scan_id: str | None
    owner: UUID | None
    lease_until: datetime | None
    attempts: int
    started_time: datetime | None
    finished_time: datetime | None
    expires_time: datetime | None
    version: int
    created_time: datetime
    created_by: str | None


EXPORT_COLUMNS: Final[LiteralString] = """organization_id, export_id, questionnaire_id, test, format, from_time,
  to_time, date_basis, filter, locale, values_as, include_metadata, include_incomplete, include_recipient,
  byte_order_mark, scopes, since_cursor, since_time, state, progress, row_count, bytes, checksum, file_name, error,
  pieces, scan_time, scan_id, owner, lease_until, attempts, started_time, finished_time, expires_time, version,
  created_time, created_by"""
