"""The SQL that issues questionnaire instances."""

from collections.abc import Sequence
from typing import Final

from afterword.asking.instances.store import (
    INSTANCE_COLUMNS,
    INSTANCE_COLUMNS_I,
    ISSUABLE_COLUMNS,
    SHOWN_COLUMNS,
    Instance,
    Issuable,
)
from afterword.events.store import Actor
from afterword.kit.db import Database
from afterword.kit.db.columns import arrays, as_document

_EVENT_DATA: Final = as_document(SHOWN_COLUMNS, "i")


async def list_instances_of_items(  # any tenant: a claimed batch serves many organizations
    db: Database, *, items: Sequence[tuple[str, str]]
) -> list[Instance]:
    """The instances of these pairs of organization and item, including deleted ones."""
    rows = await db.fetch(
        f"""select {INSTANCE_COLUMNS_I} from unnest($1::text[], $2::text[]) as b (organization_id, item_id)
           join questionnaire_instance i on i.organization_id = b.organization_id and i.item_id = b.item_id""",
        *arrays(items, 2),
    )
    return [Instance.of(row) for row in rows]


async def list_issuables(  # any tenant: a claimed batch serves many organizations
    db: Database, *, questionnaires: Sequence[tuple[str, str]]
) -> list[Issuable]:
    """The settings of these pairs of organization and questionnaire; unknown ones are left out."""
    rows = await db.fetch(
        f"""select {ISSUABLE_COLUMNS}
           from unnest($1::text[], $2::text[]) as b (organization_id, questionnaire_id)
           join questionnaire q on q.organization_id = b.organization_id and q.questionnaire_id = b.questionnaire_id
           join application a on a.organization_id = q.organization_id and a.application_id = q.owner_application_id""",
        *arrays(questionnaires, 2),
    )
    return [Issuable(**row) for row in rows]


async def claim_issue(db: Database, *, organization_id: str, questionnaire_id: str, key: str) -> None:
    """Let one transaction at a time issue for this key; others wait."""
    await db.execute(
        "select pg_advisory_xact_lock(hashtextextended($1, 0))", f"{organization_id}:{questionnaire_id}:{key}"
    )


async def insert_instances(  # any tenant: a claimed batch serves many organizations
    db: Database, *, instances: Sequence[Instance], event_ids: Sequence[str], actor: Actor
) -> set[tuple[str, str]]:
    """Insert instances and their events unless item or reference has one; returns the keys of those inserted."""
    rows = await db.fetch(
        f"""with issued as (
             insert into questionnaire_instance ({INSTANCE_COLUMNS})
             select {INSTANCE_COLUMNS} from jsonb_populate_recordset(null::questionnaire_instance, $1)
             on conflict do nothing returning {INSTANCE_COLUMNS}),
           recorded as (
             insert into event (organization_id, event_id, type, questionnaire_id, subject_id, subject_version,
               actor_kind, actor_id, test, data)
             -- Any id fits any row; a join by key would compare each row with each.
             select i.organization_id, ($2::text[])[row_number() over ()], 'questionnaire_instance.created',
               i.questionnaire_id, i.instance_id, i.version, $3, $4, i.test, {_EVENT_DATA}
             from issued i)
           select organization_id, instance_id from issued""",
        *(list(instances), event_ids, actor.kind, actor.id),
    )
    return {(row["organization_id"], row["instance_id"]) for row in rows}
