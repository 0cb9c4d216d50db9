"""The SQL of questionnaire instances and their answers. A deleted instance is as if absent, unless said otherwise."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from afterword import errors
from afterword.core.lists import Column, Listing, Page, Rows
from afterword.db import Database, Row

JsonValue = Any  # an answer's value as its question type defines it: integer, text, boolean, array or object


INSTANCES = Listing(
    columns={
        "instance_id": Column("instance_id", "id"),
        "questionnaire_id": Column("questionnaire_id", "id"),
        "responder_id": Column("responder_id", "id"),
        "locale": Column("locale"),
        "valid_days": Column("valid_days", "integer"),
        "editable": Column("editable", "boolean"),
        "finalized": Column("finalized", "boolean"),
        "created_time": Column("created_time", "time"),
        "updated_time": Column("updated_time", "time"),
        "sent_time": Column("sent_time", "time", nullable=True),
        "delivered_time": Column("delivered_time", "time", nullable=True),
        "viewed_time": Column("viewed_time", "time", nullable=True),
        "submitted_time": Column("submitted_time", "time", nullable=True),
        "completed_time": Column("completed_time", "time", nullable=True),
        "processed_time": Column("processed_time", "time", nullable=True),
        "flow_time": Column("flow_time", "time", nullable=True),
        "created_by": Column("created_by", "id", nullable=True),
        "updated_by": Column("updated_by", "id", nullable=True),
    },
    order=(("created_time", "desc"),),
    id="instance_id",
)
ANSWERS = Listing(
    columns={
        "instance_id": Column("instance_id", "id"),
        "version_id": Column("version_id", "id"),
        "other_text": Column("other_text", nullable=True),
        "answered_time": Column("answered_time", "time"),
        "provisional": Column("provisional", "boolean"),
    },
    order=(("answered_time", "desc"),),
    id="instance_id",
)


@dataclass(frozen=True, slots=True)
class Instance:
    """One issue of a questionnaire to a responder; every column."""

    organization_id: str
    instance_id: str
    questionnaire_id: str
    version_id: str
    responder_id: str
    item_id: str | None
    reference_id: str | None
    previous_questionnaire_instance_id: str | None
    short_code: str
    test: bool
    locale: str
    valid_days: int
    editable: bool
    finalized: bool
    question_ids: list[str]
    metadata: dict[str, str]
    sent_time: datetime | None
    delivered_time: datetime | None
    viewed_time: datetime | None
    submitted_time: datetime | None
    completed_time: datetime | None
    processed_time: datetime | None
    flow_time: datetime | None
    deleted_time: datetime | None
    version: int
    created_time: datetime
    updated_time: datetime
    created_by: str | None
    updated_by: str | None


@dataclass(frozen=True, slots=True)
class Answer:
    """What was answered to one question of one instance."""

    organization_id: str
    instance_id: str
    question_id: str
    questionnaire_id: str
    version_id: str
    value: JsonValue
    other_text: str | None
    provisional: bool
    answered_time: datetime


@dataclass(frozen=True, slots=True)
class Issuable:
    """What of a questionnaire decides about issuing and answering."""

    organization_id: str
    questionnaire_id: str
    valid_days: int
    editable: bool
    owner_application_id: str
    published_version_id: str | None
    responses_max: int | None
    public_link: bool
    is_active: bool  # and not archived


async def get_instance(
    db: Database,
    *,
    organization_id: str,
    instance_id: str,
    application_ids: Sequence[str] = (),
    test_only: bool = False,
) -> Instance | None:
    """The instance, unless it belongs to another application than these (none: any)."""
    row = await db.fetch_row(
        """select i.* from questionnaire_instance i
           where i.organization_id = $1 and i.instance_id = $2 and i.deleted_time is null and (i.test or not $4)
             and (cardinality($3::text[]) = 0 or exists (
               select 1 from questionnaire q where q.organization_id = i.organization_id
                 and q.questionnaire_id = i.questionnaire_id and q.owner_application_id = any($3)))""",
        organization_id,
        instance_id,
        list(application_ids),
        test_only,
    )
    return _found(row)


async def get_public_instance(  # any tenant: its id opens the page
    db: Database, *, instance_id: str
) -> Instance | None:
    """The instance of an answer page, or None."""
    row = await db.fetch_row(
        """select * from questionnaire_instance where instance_id = $1 and deleted_time is null
           order by created_time limit 1""",
        instance_id,
    )
    return _found(row)


async def get_instance_by_short_code(  # any tenant: the code opens the page
    db: Database, *, short_code: str
) -> Instance | None:
    """The instance of a short link, or None; of two with one code (62^12 of them) the older."""
    row = await db.fetch_row(
        """select * from questionnaire_instance where short_code = $1 and deleted_time is null
           order by created_time limit 1""",
        short_code,
    )
    return _found(row)


async def get_instance_by_reference(
    db: Database, *, organization_id: str, questionnaire_id: str, reference_id: str
) -> Instance | None:
    """The one instance of a questionnaire that carries this reference, or None."""
    row = await db.fetch_row(
        """select * from questionnaire_instance
           where organization_id = $1 and questionnaire_id = $2 and reference_id = $3 and deleted_time is null""",
        organization_id,
        questionnaire_id,
        reference_id,
    )
    return _found(row)


async def get_instance_locked(db: Database, *, organization_id: str, instance_id: str) -> Instance | None:
    """The instance, locked until the transaction ends: whoever saves answers next waits."""
    row = await db.fetch_row(
        """select * from questionnaire_instance
           where organization_id = $1 and instance_id = $2 and deleted_time is null for update""",
        organization_id,
        instance_id,
    )
    return _found(row)


async def list_instances(
    db: Database, *, organization_id: str, application_ids: Sequence[str], test_only: bool, page: Page
) -> Rows[Instance]:
    """A page of the organization's instances, of these applications (none: all)."""
    rows = await db.fetch_list(
        """select i.* from questionnaire_instance i
           where i.organization_id = $1 and i.deleted_time is null and (i.test or not $3)
             and (cardinality($2::text[]) = 0 or exists (
               select 1 from questionnaire q where q.organization_id = i.organization_id
                 and q.questionnaire_id = i.questionnaire_id and q.owner_application_id = any($2)))""",
        organization_id,
        list(application_ids),
        test_only,
        page=page,
    )
    return rows.map(_instance)


async def list_instances_of_questionnaire(
    db: Database, *, organization_id: str, questionnaire_id: str, test_only: bool, page: Page
) -> Rows[Instance]:
    """A page of one questionnaire's instances."""
    rows = await db.fetch_list(
        """select * from questionnaire_instance
           where organization_id = $1 and questionnaire_id = $2 and deleted_time is null and (test or not $3)""",
        organization_id,
        questionnaire_id,
        test_only,
        page=page,
    )
    return rows.map(_instance)


async def list_instances_of_items(  # any tenant: a claimed batch serves many organizations
    db: Database, *, items: Sequence[tuple[str, str]]
) -> list[Instance]:
    """The instances that these items, pairs of organization and item, issued before; deleted ones too."""
    rows = await db.fetch(
        """select i.* from unnest($1::text[], $2::text[]) as b (organization_id, item_id)
           join questionnaire_instance i on i.organization_id = b.organization_id and i.item_id = b.item_id""",
        [organization_id for organization_id, _ in items],
        [item_id for _, item_id in items],
    )
    return [_instance(row) for row in rows]


async def list_issuables(  # any tenant: a claimed batch serves many organizations
    db: Database, *, questionnaires: Sequence[tuple[str, str]]
) -> list[Issuable]:
    """The rules of these questionnaires, pairs of organization and questionnaire; unknown ones are left out."""
    rows = await db.fetch(
        """select q.organization_id, q.questionnaire_id, q.valid_days, q.editable, q.owner_application_id,
             q.published_version_id, q.responses_max, q.public_link,
             q.active and q.archived_time is null as is_active
           from unnest($1::text[], $2::text[]) as b (organization_id, questionnaire_id)
           join questionnaire q on q.organization_id = b.organization_id and q.questionnaire_id = b.questionnaire_id""",
        [organization_id for organization_id, _ in questionnaires],
        [questionnaire_id for _, questionnaire_id in questionnaires],
    )
    return [Issuable(**row) for row in rows]


async def count_responses(db: Database, *, organization_id: str, questionnaire_id: str, limit: int) -> int:
    """How many instances of a questionnaire have an answer, test ones apart; counting stops at `limit`."""
    return await db.fetch_value(
        """select count(*) from (
             select 1 from questionnaire_instance
             where organization_id = $1 and questionnaire_id = $2 and submitted_time is not null
               and deleted_time is null and not test
             limit $3) response""",
        organization_id,
        questionnaire_id,
        limit,
    )


async def claim_seats(db: Database, *, organization_id: str, questionnaire_id: str) -> None:
    """Let one transaction at a time add a response to this questionnaire, so that the last seat is given once."""
    await db.execute(
        "select 1 from questionnaire where organization_id = $1 and questionnaire_id = $2 for no key update",
        organization_id,
        questionnaire_id,
    )


async def claim_issue(db: Database, *, organization_id: str, questionnaire_id: str, key: str) -> None:
    """Let one transaction at a time issue for this key; the others wait until it ends."""
    await db.execute(
        "select pg_advisory_xact_lock(hashtextextended($1, 0))", f"{organization_id}:{questionnaire_id}:{key}"
    )


async def insert_instances(  # any tenant: a claimed batch serves many organizations
    db: Database, *, instances: Sequence[Mapping[str, object]]
) -> list[Instance]:
    """Insert instances and their events (columns; the event's id and actor), unless item or reference has one."""
    rows = await db.fetch(
        """with d as materialized (
             select * from jsonb_to_recordset($1::jsonb) as d (organization_id text, instance_id text,
               questionnaire_id text, version_id text, responder_id text, item_id text, reference_id text,
               previous_questionnaire_instance_id text, short_code text, test boolean, locale text, valid_days integer,
               editable boolean, question_ids text[], metadata jsonb, sent_time timestamptz, delivered_time timestamptz,
               created_time timestamptz, created_by text, event_id text, actor_kind text, actor_id text)),
           issued as (
             insert into questionnaire_instance (organization_id, instance_id, questionnaire_id, version_id,
               responder_id, item_id, reference_id, previous_questionnaire_instance_id, short_code, test, locale,
               valid_days, editable, question_ids, metadata, sent_time, delivered_time, created_time, created_by,
               updated_time, updated_by)
             select organization_id, instance_id, questionnaire_id, version_id, responder_id, item_id, reference_id,
               previous_questionnaire_instance_id, short_code, test, locale, valid_days, editable, question_ids,
               metadata, sent_time, delivered_time, created_time, created_by, created_time, created_by
             from d on conflict do nothing returning *),
           told as (
             insert into event (organization_id, event_id, type, questionnaire_id, subject_id, subject_version,
               actor_kind, actor_id, test, data)
             select i.organization_id, d.event_id, 'questionnaire_instance.created', i.questionnaire_id, i.instance_id,
               i.version, d.actor_kind, d.actor_id, i.test, to_jsonb(i) - 'metadata'
             from issued i join d on d.organization_id = i.organization_id and d.instance_id = i.instance_id)
           select * from issued""",
        list(instances),
    )
    return [_instance(row) for row in rows]


async def update_instance(
    db: Database,
    *,
    organization_id: str,
    instance_id: str,
    responder_id: str | None,
    locale: str | None,
    valid_days: int | None,
    editable: bool | None,
    metadata_set: Mapping[str, str],
    metadata_removed: Sequence[str],
    now: datetime,
    updated_by: str,
) -> Instance | None:
    """Write the fields that are given (not None), in one statement; None when nothing changed or it is gone."""
    row = await db.fetch_row(
        """update questionnaire_instance
           set responder_id = coalesce($3, responder_id), locale = coalesce($4, locale),
             valid_days = coalesce($5, valid_days), editable = coalesce($6, editable),
             metadata = (metadata || $7::jsonb) - $8::text[], version = version + 1,
             updated_time = greatest(updated_time, $9), updated_by = $10
           where organization_id = $1 and instance_id = $2 and deleted_time is null
             and (responder_id, locale, valid_days, editable, metadata) is distinct from
               (coalesce($3, responder_id), coalesce($4, locale), coalesce($5, valid_days), coalesce($6, editable),
                (metadata || $7::jsonb) - $8::text[])
           returning *""",
        organization_id,
        instance_id,
        responder_id,
        locale,
        valid_days,
        editable,
        dict(metadata_set),
        list(metadata_removed),
        now,
        updated_by,
    )
    return _found(row)


async def delete_instance(
    db: Database, *, organization_id: str, instance_id: str, now: datetime, updated_by: str
) -> Instance | None:
    """Hide it and its answers from everything; the rows stay for audit. None when it is gone already."""
    row = await db.fetch_row(
        """update questionnaire_instance
           set deleted_time = $3, version = version + 1, updated_time = greatest(updated_time, $3), updated_by = $4
           where organization_id = $1 and instance_id = $2 and deleted_time is null
           returning *""",
        organization_id,
        instance_id,
        now,
        updated_by,
    )
    return _found(row)


async def settle_sent(db: Database, *, sent: Sequence[tuple[str, str]], now: datetime) -> int:
    """Set `sent_time` of these pairs of organization and instance; a reminder moves none. How many were set."""
    return await db.execute(
        """update questionnaire_instance i
           set sent_time = $3, version = i.version + 1, updated_time = greatest(i.updated_time, $3)
           from unnest($1::text[], $2::text[]) as b (organization_id, instance_id)
           where i.organization_id = b.organization_id and i.instance_id = b.instance_id and i.sent_time is null""",
        [organization_id for organization_id, _ in sent],
        [instance_id for _, instance_id in sent],
        now,
    )


async def update_viewed(db: Database, *, organization_id: str, instance_id: str, now: datetime) -> Instance | None:
    """Set `viewed_time` once; None when it was viewed before."""
    row = await db.fetch_row(
        """update questionnaire_instance
           set viewed_time = $3, version = version + 1, updated_time = greatest(updated_time, $3)
           where organization_id = $1 and instance_id = $2 and deleted_time is null and viewed_time is null
           returning *""",
        organization_id,
        instance_id,
        now,
    )
    return _found(row)


async def update_progress(
    db: Database, *, organization_id: str, instance_id: str, is_submitted: bool, is_complete: bool, now: datetime
) -> Instance:
    """Count a change by the responder: viewed by now, submitted and complete if so, each set once and kept."""
    row = await db.fetch_row(
        """update questionnaire_instance
           set viewed_time = coalesce(viewed_time, $5),
             submitted_time = coalesce(submitted_time, case when $3 then $5 end),
             completed_time = coalesce(completed_time, case when $4 then $5 end),
             finalized = finalized or $4, version = version + 1, updated_time = greatest(updated_time, $5)
           where organization_id = $1 and instance_id = $2
           returning *""",
        organization_id,
        instance_id,
        is_submitted,
        is_complete,
        now,
    )
    return _instance(_there(row))


async def list_answers(db: Database, *, organization_id: str, instance_id: str) -> list[Answer]:
    """The answers of one instance, at most one a question."""
    rows = await db.fetch(
        "select * from answer where organization_id = $1 and instance_id = $2 order by question_id",
        organization_id,
        instance_id,
    )
    return [_answer(row) for row in rows]


async def list_answers_of_question(
    db: Database, *, organization_id: str, questionnaire_id: str, question_id: str, test_only: bool, page: Page
) -> Rows[tuple[Answer, str]]:
    """A page of the answers to one question in any version, each with the locale of its instance."""
    rows = await db.fetch_list(
        """select a.*, i.locale from answer a
           join questionnaire_instance i on i.organization_id = a.organization_id and i.instance_id = a.instance_id
           where a.organization_id = $1 and a.questionnaire_id = $2 and a.question_id = $3
             and i.deleted_time is null and (i.test or not $4)""",
        organization_id,
        questionnaire_id,
        question_id,
        test_only,
        page=page,
    )
    return rows.map(lambda row: (_answer(row), row["locale"]))


async def update_answers(
    db: Database,
    *,
    organization_id: str,
    instance_id: str,
    questionnaire_id: str,
    version_id: str,
    answers: Sequence[Mapping[str, object]],
    now: datetime,
) -> None:
    """Write answers, documents of `question_id`, `value` and `other_text`, over those that there were."""
    await db.execute(
        """insert into answer (organization_id, instance_id, question_id, questionnaire_id, version_id, value,
             other_text, answered_time)
           select $1, $2, b.question_id, $3, $4, b.value, b.other_text, $6
           from jsonb_to_recordset($5::jsonb) as b (question_id text, value jsonb, other_text text)
           on conflict (organization_id, instance_id, question_id) do update
           set value = excluded.value, other_text = excluded.other_text, answered_time = excluded.answered_time,
             provisional = false""",
        organization_id,
        instance_id,
        questionnaire_id,
        version_id,
        list(answers),
        now,
    )


async def delete_answers(db: Database, *, organization_id: str, instance_id: str, question_ids: Sequence[str]) -> None:
    """Take answers back."""
    await db.execute(
        "delete from answer where organization_id = $1 and instance_id = $2 and question_id = any($3::text[])",
        organization_id,
        instance_id,
        list(question_ids),
    )


def _found(row: Row | None) -> Instance | None:
    return None if row is None else _instance(row)


def _there(row: Row | None) -> Row:
    if row is None:
        raise errors.NotFound("There is no such questionnaire instance.")
    return row


def _instance(row: Row) -> Instance:
    return Instance(**row)


def _answer(row: Row) -> Answer:
    return Answer(**{name: row[name] for name in Answer.__dataclass_fields__})
