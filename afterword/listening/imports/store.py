"""SQL of imports of responses, and of the responses that they bring."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal, LiteralString

import msgspec
from msgspec import Meta

from afterword.core.wire.lists import Page, Rows
from afterword.kit.db import Database, Row
from afterword.kit.db.columns import columns_of, qualified
from afterword.kit.nouns.declaration import Hidden
from afterword.kit.web import fields
from afterword.listening.imports import files

REMOVED_A_STEP: Final = 1_000
State = Literal["open", "done", "removing", "removed"]


class ResponseImportRecord(msgspec.Struct, frozen=True, kw_only=True):
    """Responses that were brought in together, and how far that has come."""

    organization_id: Annotated[str, Hidden()]
    response_import_id: fields.Id
    questionnaire_id: fields.Id
    title: str | None
    format: Annotated[str, Meta(description=f"Of the source: {', '.join(f'`{one.name}`' for one in files.FORMATS)}.")]
    file_name: str | None
    digest: Annotated[str | None, Hidden()]
    state: Annotated[State, Meta(description="An open one takes rows. A removing one goes on by itself.")]
    rows_read: Annotated[int, Meta(description="All that were sent: created, unchanged and failed ones.")]
    rows_created: Annotated[int, Meta(description="Responses that it made.")]
    rows_unchanged: Annotated[int, Meta(description="Rows whose response was there already.")]
    rows_failed: int
    rows_removed: Annotated[int, Meta(description="Responses of it that were removed again.")]
    version: Annotated[int, Hidden()]
    created_time: datetime
    updated_time: datetime
    finished_time: datetime | None
    created_by: fields.Id | None
    actor_kind: Annotated[str, Hidden()]
    questionnaire: Annotated[str, Hidden()] = ""  # its name, and its author's, where imports are read to be shown
    creator_name: Annotated[str | None, Hidden()] = None

    @property
    def key(self) -> dict[str, str]:
        return {"organization_id": self.organization_id, "response_import_id": self.response_import_id}


class StoredResponse(msgspec.Struct, frozen=True):
    """A response that has this `external_id` already."""

    instance_id: str
    external_id: str
    created_time: datetime
    submitted_time: datetime | None
    completed_time: datetime | None
    channel_id: int | None
    locale: str
    metadata: Mapping[str, str]


_COLUMNS: Final = columns_of(ResponseImportRecord, without=("questionnaire", "creator_name"))
_GIVEN: Final[LiteralString] = """response_import_id, questionnaire_id, title, format, file_name, digest, created_time,
  updated_time, created_by, actor_kind"""
_COLUMNS_I: Final = qualified(_COLUMNS, "i")
# Those within a caller's reach: $1 organization, $2 applications (none: all).
_REACHED: Final[LiteralString] = f"""select {_COLUMNS_I}, q.display_name as questionnaire,
    (select coalesce(u.display_name, u.email) from organization_user u
     where u.organization_id = i.organization_id and u.user_id = i.created_by) as creator_name
  from response_import i
  join questionnaire q on q.organization_id = i.organization_id and q.questionnaire_id = i.questionnaire_id
  where i.organization_id = $1 and (cardinality($2::text[]) = 0 or q.owner_application_id = any($2))"""


async def insert_import(db: Database, *, organization_id: str, columns: Mapping[str, Any]) -> ResponseImportRecord:
    return await db.records(ResponseImportRecord).fetch_one(
        f"""insert into response_import (organization_id, {_GIVEN})
           select $1, {_GIVEN} from jsonb_populate_record(null::response_import, $2::jsonb) returning {_COLUMNS}""",
        *(organization_id, dict(columns)),
    )


async def get_import(
    db: Database,
    *,
    organization_id: str,
    application_ids: Sequence[str],
    response_import_id: str,
    is_locked: bool = False,
) -> ResponseImportRecord | None:
    lock: LiteralString = "for update of i" if is_locked else ""
    return await db.records(ResponseImportRecord).fetch_row(
        f"{_REACHED} and i.response_import_id = $3 {lock}",
        *(organization_id, list(application_ids), response_import_id),
    )


async def list_response_imports(
    db: Database, *, organization_id: str, application_ids: Sequence[str], test_only: bool, page: Page
) -> Rows[ResponseImportRecord]:
    return await db.records(ResponseImportRecord).fetch_list(
        f"{_REACHED} and not $3::boolean", *(organization_id, list(application_ids), test_only), page=page
    )


async def get_open_import(
    db: Database, *, organization_id: str, questionnaire_id: str, digest: str
) -> ResponseImportRecord | None:
    return await db.records(ResponseImportRecord).fetch_row(
        f"""select {_COLUMNS} from response_import
           where organization_id = $1 and questionnaire_id = $2 and digest = $3 and state = 'open'
           order by created_time desc, response_import_id limit 1 for update""",
        *(organization_id, questionnaire_id, digest),
    )


async def update_import(  # any tenant: the import names its own
    db: Database,
    *,
    job: ResponseImportRecord,
    counts: Mapping[str, int] = MappingProxyType({}),
    state: State | None = None,
    title: str | None = None,
    now: datetime,
) -> ResponseImportRecord:
    """Add to its counts of rows that were created, unchanged, failed, removed; and give it another state and title."""
    return await db.records(ResponseImportRecord).fetch_one(
        f"""update response_import set state = coalesce($3, state), title = coalesce($9, title),
             rows_read = rows_read + $5 + $6 + $7, rows_created = rows_created + $5,
             rows_unchanged = rows_unchanged + $6, rows_failed = rows_failed + $7, rows_removed = rows_removed + $8,
             finished_time = case when $3 is null then finished_time else coalesce(finished_time, $4) end,
             updated_time = $4, version = version + 1
           where organization_id = $1 and response_import_id = $2 returning {_COLUMNS}""",
        *(job.organization_id, job.response_import_id, state, now),
        *(counts.get(name, 0) for name in ("created", "unchanged", "failed", "removed")),
        title,
    )


async def list_stored(
    db: Database, *, organization_id: str, questionnaire_id: str, external_ids: Sequence[str]
) -> list[StoredResponse]:
    """One look for each id, whatever the planner believes of a table that grows by the minute."""
    return await db.records(StoredResponse).fetch(
        f"""select {columns_of(StoredResponse)} from unnest($3::text[]) wanted (name) cross join lateral (
             select {columns_of(StoredResponse)} from questionnaire_instance i
             where i.organization_id = $1 and i.questionnaire_id = $2 and i.external_id = wanted.name
               and i.deleted_time is null limit 1
           ) found""",
        *(organization_id, questionnaire_id, external_ids),
    )


async def claim_questionnaire(db: Database, *, organization_id: str, questionnaire_id: str) -> None:
    """Let one transaction at a time look for external ids of a questionnaire and write those that it does not find."""
    await db.execute(
        "select pg_advisory_xact_lock(hashtextextended($1, 0))", f"{organization_id}:{questionnaire_id}:import"
    )


async def insert_instances(db: Database, rows: bytes) -> None:  # any tenant: the rows name their own
    """Insert responses from CSV, which are over: complete, or past their validity by now or within a day."""
    await db.copy(
        "questionnaire_instance",
        """organization_id, questionnaire_id, version_id, response_import_id, created_by, updated_by, anonymity,
           question_ids, instance_id, responder_id, short_code, external_id, channel_id, locale, metadata, created_time,
           viewed_time, submitted_time, completed_time, updated_time, editable, finalized, valid_days""",
        rows,
    )


async def insert_answers(db: Database, rows: bytes) -> None:  # any tenant: as above
    names = "organization_id, questionnaire_id, version_id, instance_id, question_id, value, other_text, answered_time"
    await db.copy("answer", names, rows)


async def claim_removing(db: Database) -> ResponseImportRecord | None:  # any tenant: workers serve all
    """The import that waits longest to be removed. Those of organizations under a legal hold wait for its end."""
    return await db.records(ResponseImportRecord).fetch_row(
        f"""select {_COLUMNS} from response_import i where state = 'removing' and not exists (
             select from legal_hold h where h.organization_id = i.organization_id and h.responder_id is null)
           order by updated_time limit 1 for update skip locked"""
    )


async def update_to_deleted(
    db: Database, *, organization_id: str, response_import_id: str, now: datetime, updated_by: str | None
) -> list[Row]:
    """Mark the next responses of an import as deleted, without those of people under a legal hold."""
    return await db.fetch(
        """with d as materialized ( -- else a join could look for the next ones again
             select n.instance_id from questionnaire_instance n
             where n.organization_id = $1 and n.response_import_id = $2 and n.submitted_time is not null
               and n.deleted_time is null and not exists (select from legal_hold h
                 where h.organization_id = $1 and h.responder_id = n.responder_id)
             order by n.submitted_time desc, n.instance_id limit $5 for update)
           update questionnaire_instance i
           set deleted_time = $3, version = i.version + 1, updated_time = greatest(i.updated_time, $3), updated_by = $4
           from d where i.organization_id = $1 and i.instance_id = d.instance_id
           returning i.instance_id, i.submitted_time, coalesce(i.sent_time, i.created_time) as out_time,
             (select o.time_zone from organization o where o.organization_id = $1) as time_zone""",
        *(organization_id, response_import_id, now, updated_by, REMOVED_A_STEP),
    )
