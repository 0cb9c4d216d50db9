"""The SQL of questionnaire instances. Deleted instances count as absent unless a docstring says otherwise."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import itemgetter
from typing import Final

from afterword import errors
from afterword.core.wire.lists import Page, Rows
from afterword.db import Database, Row
from afterword.db.columns import as_document, qualified
from afterword.events.store import Actor
from afterword.instances.records import INSTANCE_COLUMNS, SHOWN_COLUMNS, Instance, ShownInstance

_INSTANCE_COLUMNS_I: Final = qualified(INSTANCE_COLUMNS, "i")
_EVENT_DATA: Final = as_document(SHOWN_COLUMNS, "i")


@dataclass(frozen=True, slots=True)
class Issuable:
    """The settings of a questionnaire for issuing and answering."""

    organization_id: str
    questionnaire_id: str
    valid_days: int
    editable: bool
    owner_application_id: str
    published_version_id: str | None
    responses_max: int | None
    public_link: bool
    is_active: bool  # and not archived
    application_active: bool
    credits_accountable: bool


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
        f"""select {_INSTANCE_COLUMNS_I} from questionnaire_instance i
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


async def get_shown_instance(
    db: Database, *, organization_id: str, instance_id: str, application_ids: Sequence[str], test_only: bool
) -> tuple[ShownInstance, int] | None:
    """The instance as clients see it, with its version; only these columns, because it is the most frequent read."""
    row = await db.fetch_row(
        """select i.instance_id, i.questionnaire_id, i.responder_id, i.short_code, i.locale, i.valid_days, i.editable,
                  i.finalized, i.question_ids, i.sent_time::timestamp, i.delivered_time::timestamp,
                  i.viewed_time::timestamp, i.submitted_time::timestamp, i.completed_time::timestamp,
                  i.processed_time::timestamp, i.flow_time::timestamp, i.created_time::timestamp,
                  i.updated_time::timestamp, i.created_by, i.updated_by, i.version
           from questionnaire_instance i
           where i.organization_id = $1 and i.instance_id = $2 and i.deleted_time is null and (i.test or not $4)
             and (cardinality($3::text[]) = 0 or exists (
               select 1 from questionnaire q where q.organization_id = i.organization_id
                 and q.questionnaire_id = i.questionnaire_id and q.owner_application_id = any($3)))""",
        organization_id,
        instance_id,
        list(application_ids),
        test_only,
    )
    return None if row is None else (_shown_instance(row), row["version"])


async def get_public_instance(  # any tenant: its id opens the page
    db: Database, *, instance_id: str
) -> Instance | None:
    row = await db.fetch_row(
        f"""select {INSTANCE_COLUMNS} from questionnaire_instance where instance_id = $1 and deleted_time is null
           order by created_time limit 1""",
        instance_id,
    )
    return _found(row)


async def get_instance_by_short_code(  # any tenant: the code opens the page
    db: Database, *, short_code: str
) -> Instance | None:
    """The instance of a short link, or None; the older one if two share a code."""
    row = await db.fetch_row(
        f"""select {INSTANCE_COLUMNS} from questionnaire_instance where short_code = $1 and deleted_time is null
           order by created_time limit 1""",
        short_code,
    )
    return _found(row)


async def get_instance_by_reference(
    db: Database, *, organization_id: str, questionnaire_id: str, reference_id: str
) -> Instance | None:
    row = await db.fetch_row(
        f"""select {INSTANCE_COLUMNS} from questionnaire_instance
           where organization_id = $1 and questionnaire_id = $2 and reference_id = $3 and deleted_time is null""",
        organization_id,
        questionnaire_id,
        reference_id,
    )
    return _found(row)


async def get_instance_locked(db: Database, *, organization_id: str, instance_id: str) -> Instance | None:
    """The instance, locked until the transaction ends."""
    row = await db.fetch_row(
        f"""select {INSTANCE_COLUMNS} from questionnaire_instance
           where organization_id = $1 and instance_id = $2 and deleted_time is null for update""",
        organization_id,
        instance_id,
    )
    return _found(row)


async def list_instances(
    db: Database, *, organization_id: str, application_ids: Sequence[str], test_only: bool, page: Page
) -> Rows[ShownInstance]:
    """A page of the organization's instances, of these applications (none: all)."""
    rows = await db.fetch_list(
        f"""select {_INSTANCE_COLUMNS_I} from questionnaire_instance i
           where i.organization_id = $1 and i.deleted_time is null and (i.test or not $3)
             and (cardinality($2::text[]) = 0 or exists (
               select 1 from questionnaire q where q.organization_id = i.organization_id
                 and q.questionnaire_id = i.questionnaire_id and q.owner_application_id = any($2)))""",
        organization_id,
        list(application_ids),
        test_only,
        page=page,
    )
    return rows.map(_shown_instance)


async def list_instances_of_questionnaire(
    db: Database, *, organization_id: str, questionnaire_id: str, test_only: bool, page: Page
) -> Rows[ShownInstance]:
    rows = await db.fetch_list(
        f"""select {INSTANCE_COLUMNS} from questionnaire_instance
           where organization_id = $1 and questionnaire_id = $2 and deleted_time is null and (test or not $3)""",
        organization_id,
        questionnaire_id,
        test_only,
        page=page,
    )
    return rows.map(_shown_instance)


async def list_instances_by_ids(db: Database, *, organization_id: str, instance_ids: Sequence[str]) -> list[Instance]:
    """The existing instances among these, in no order."""
    rows = await db.fetch(
        f"""select {INSTANCE_COLUMNS} from questionnaire_instance
           where organization_id = $1 and instance_id = any($2::text[]) and deleted_time is null""",
        organization_id,
        list(instance_ids),
    )
    return [Instance.of(row) for row in rows]


async def list_instances_of_items(  # any tenant: a claimed batch serves many organizations
    db: Database, *, items: Sequence[tuple[str, str]]
) -> list[Instance]:
    """The instances of these pairs of organization and item, including deleted ones."""
    rows = await db.fetch(
        f"""select {_INSTANCE_COLUMNS_I} from unnest($1::text[], $2::text[]) as b (organization_id, item_id)
           join questionnaire_instance i on i.organization_id = b.organization_id and i.item_id = b.item_id""",
        [organization_id for organization_id, _ in items],
        [item_id for _, item_id in items],
    )
    return [Instance.of(row) for row in rows]


async def list_issuables(  # any tenant: a claimed batch serves many organizations
    db: Database, *, questionnaires: Sequence[tuple[str, str]]
) -> list[Issuable]:
    """The settings of these pairs of organization and questionnaire; unknown ones are left out."""
    rows = await db.fetch(
        """select q.organization_id, q.questionnaire_id, q.valid_days, q.editable, q.owner_application_id,
             q.published_version_id, q.responses_max, q.public_link,
             q.active and q.archived_time is null as is_active, a.active as application_active, q.credits_accountable
           from unnest($1::text[], $2::text[]) as b (organization_id, questionnaire_id)
           join questionnaire q on q.organization_id = b.organization_id and q.questionnaire_id = b.questionnaire_id
           join application a on a.organization_id = q.organization_id and a.application_id = q.owner_application_id""",
        [organization_id for organization_id, _ in questionnaires],
        [questionnaire_id for _, questionnaire_id in questionnaires],
    )
    return [Issuable(**row) for row in rows]


async def count_responses(db: Database, *, organization_id: str, questionnaire_id: str, limit: int) -> int:
    """The number of instances of a questionnaire with an answer, without tests, at most `limit`."""
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


async def claim_responses(db: Database, *, organization_id: str, questionnaire_id: str) -> None:
    """Let one transaction at a time add a response to this questionnaire, so that none exceeds `responses_max`."""
    await db.execute(
        "select 1 from questionnaire where organization_id = $1 and questionnaire_id = $2 for no key update",
        organization_id,
        questionnaire_id,
    )


async def claim_issue(db: Database, *, organization_id: str, questionnaire_id: str, key: str) -> None:
    """Let one transaction at a time issue for this key; others wait."""
    await db.execute(
        "select pg_advisory_xact_lock(hashtextextended($1, 0))", f"{organization_id}:{questionnaire_id}:{key}"
    )


async def insert_instances(  # any tenant: a claimed batch serves many organizations
    db: Database, *, instances: Sequence[Mapping[str, object]], event_ids: Sequence[str], actor: Actor
) -> set[tuple[str, str]]:
    """Insert instances and their events unless item or reference has one; returns the keys of those inserted."""
    rows = await db.fetch(
        f"""with d as materialized (
             select * from jsonb_to_recordset($1::jsonb) as d (organization_id text, instance_id text,
               questionnaire_id text, version_id text, responder_id text, item_id text, channel_id smallint,
               pipeline_id text, reference_id text, previous_questionnaire_instance_id text, short_code text,
               test boolean, locale text, valid_days integer, editable boolean, question_ids text[], metadata jsonb,
               sent_time timestamptz, delivered_time timestamptz, created_time timestamptz, created_by text)),
           issued as (
             insert into questionnaire_instance (organization_id, instance_id, questionnaire_id, version_id,
               responder_id, item_id, channel_id, pipeline_id, reference_id, previous_questionnaire_instance_id,
               short_code, test, locale, valid_days, editable, question_ids, metadata, sent_time, delivered_time,
               created_time, created_by, updated_time, updated_by)
             select organization_id, instance_id, questionnaire_id, version_id, responder_id, item_id, channel_id,
               pipeline_id, reference_id, previous_questionnaire_instance_id, short_code, test, locale, valid_days,
               editable, question_ids, metadata, sent_time, delivered_time, created_time, created_by, created_time,
               created_by
             from d on conflict do nothing returning {INSTANCE_COLUMNS}),
           recorded as (
             insert into event (organization_id, event_id, type, questionnaire_id, subject_id, subject_version,
               actor_kind, actor_id, test, data)
             -- Any id fits any row; a join by key would compare each row with each.
             select i.organization_id, ($2::text[])[row_number() over ()], 'questionnaire_instance.created',
               i.questionnaire_id, i.instance_id, i.version, $3, $4, i.test, {_EVENT_DATA}
             from issued i)
           select organization_id, instance_id from issued""",
        list(instances),
        event_ids,
        actor.kind,
        actor.id,
    )
    return {(row["organization_id"], row["instance_id"]) for row in rows}


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
    """Write the fields that are not None; returns None if nothing changed or the instance is absent."""
    row = await db.fetch_row(
        f"""update questionnaire_instance
           set responder_id = coalesce($3, responder_id), locale = coalesce($4, locale),
             valid_days = coalesce($5, valid_days), editable = coalesce($6, editable),
             metadata = (metadata || $7::jsonb) - $8::text[],
             metadata_times = (metadata_times || coalesce((
               select jsonb_object_agg(n.key, $9::timestamptz) from jsonb_each($7::jsonb) n
               where metadata -> n.key is distinct from n.value), '{{}}')) - $8::text[],
             version = version + 1,
             updated_time = greatest(updated_time, $9), updated_by = $10
           where organization_id = $1 and instance_id = $2 and deleted_time is null
             and (responder_id, locale, valid_days, editable, metadata) is distinct from
               (coalesce($3, responder_id), coalesce($4, locale), coalesce($5, valid_days), coalesce($6, editable),
                (metadata || $7::jsonb) - $8::text[])
           returning {INSTANCE_COLUMNS}""",
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
    """Mark the instance as deleted; its rows stay for audit. None if it is absent."""
    row = await db.fetch_row(
        f"""update questionnaire_instance
           set deleted_time = $3, version = version + 1, updated_time = greatest(updated_time, $3), updated_by = $4
           where organization_id = $1 and instance_id = $2 and deleted_time is null
           returning {INSTANCE_COLUMNS}""",
        organization_id,
        instance_id,
        now,
        updated_by,
    )
    return _found(row)


async def settle_sent(db: Database, *, sent: Sequence[tuple[str, str]], now: datetime) -> int:
    """Set `sent_time` of these pairs of organization and instance once; returns the number set."""
    return await db.execute(
        """update questionnaire_instance i
           set sent_time = $3, version = i.version + 1, updated_time = greatest(i.updated_time, $3)
           from unnest($1::text[], $2::text[]) as b (organization_id, instance_id)
           where i.organization_id = b.organization_id and i.instance_id = b.instance_id and i.sent_time is null""",
        [organization_id for organization_id, _ in sent],
        [instance_id for _, instance_id in sent],
        now,
    )


async def settle_processed(db: Database, *, organization_id: str, instance_ids: Sequence[str], now: datetime) -> int:
    """Set `processed_time` of these instances once; returns the number set."""
    return await db.execute(
        """update questionnaire_instance
           set processed_time = $3, version = version + 1, updated_time = greatest(updated_time, $3)
           where organization_id = $1 and instance_id = any($2::text[]) and processed_time is null""",
        organization_id,
        list(instance_ids),
        now,
    )


async def settle_flow(db: Database, *, organization_id: str, instance_ids: Sequence[str], now: datetime) -> int:
    """Set `flow_time` of these instances once; returns the number set."""
    return await db.execute(
        """update questionnaire_instance
           set flow_time = $3, version = version + 1, updated_time = greatest(updated_time, $3)
           where organization_id = $1 and instance_id = any($2::text[]) and flow_time is null""",
        organization_id,
        list(instance_ids),
        now,
    )


async def update_viewed(db: Database, *, organization_id: str, instance_id: str, now: datetime) -> Instance | None:
    """Set `viewed_time`; None if it was set before."""
    row = await db.fetch_row(
        f"""update questionnaire_instance
           set viewed_time = $3, version = version + 1, updated_time = greatest(updated_time, $3)
           where organization_id = $1 and instance_id = $2 and deleted_time is null and viewed_time is null
           returning {INSTANCE_COLUMNS}""",
        organization_id,
        instance_id,
        now,
    )
    return _found(row)


async def update_progress(
    db: Database, *, organization_id: str, instance_id: str, is_submitted: bool, is_complete: bool, now: datetime
) -> Instance:
    """Record the responder's progress: viewed, and submitted and completed if given; each time is set once."""
    row = await db.fetch_row(
        f"""update questionnaire_instance
           set viewed_time = coalesce(viewed_time, $5),
             submitted_time = coalesce(submitted_time, case when $3 then $5 end),
             completed_time = coalesce(completed_time, case when $4 then $5 end),
             finalized = finalized or $4, version = version + 1, updated_time = greatest(updated_time, $5)
           where organization_id = $1 and instance_id = $2
           returning {INSTANCE_COLUMNS}""",
        organization_id,
        instance_id,
        is_submitted,
        is_complete,
        now,
    )
    return Instance.of(_there(row))


def _found(row: Row | None) -> Instance | None:
    return None if row is None else Instance.of(row)


def _there(row: Row | None) -> Row:
    if row is None:
        raise errors.NotFound("There is no such questionnaire instance.")
    return row


_shown_values: Final = itemgetter(*ShownInstance.__struct_fields__)


def _shown_instance(row: Row) -> ShownInstance:
    return ShownInstance(*_shown_values(row))
