"""The SQL of drafts, at most one per questionnaire."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from afterword.kit.db import Database
from afterword.kit.db.columns import columns_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A draft. `definition` may be invalid; `base_version_id` is the version published when it was saved.

    `translated_sources`: see `core.questionnaires.translations.Sources`.
    """

    organization_id: str
    questionnaire_id: str
    base_version_id: str | None
    revision: int
    definition: dict[str, Any]
    updated_time: datetime
    updated_by: str | None
    translated_sources: dict[str, dict[str, str]] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """The published version of a questionnaire, None where there is none, and whether its draft differs from it."""

    questionnaire_id: str
    number: int | None
    published_time: datetime | None
    draft_time: datetime | None
    is_changed: bool


_COLUMNS: Final = columns_of(Draft)


async def get_draft(db: Database, *, organization_id: str, questionnaire_id: str) -> Draft | None:
    row = await db.fetch_row(
        f"select {_COLUMNS} from questionnaire_draft where organization_id = $1 and questionnaire_id = $2",
        *(organization_id, questionnaire_id),
    )
    return Draft(**row) if row else None


async def list_states(db: Database, *, organization_id: str, questionnaire_ids: Sequence[str]) -> dict[str, State]:
    rows = await db.fetch(
        """select q.questionnaire_id, v.number, v.published_time, d.updated_time as draft_time,
             d.definition is not null and d.definition is distinct from v.definition as is_changed
           from questionnaire q
           left join questionnaire_version v on v.organization_id = q.organization_id
             and v.version_id = q.published_version_id
           left join questionnaire_draft d on d.organization_id = q.organization_id
             and d.questionnaire_id = q.questionnaire_id
           where q.organization_id = $1 and q.questionnaire_id = any($2::text[])""",
        *(organization_id, list(questionnaire_ids)),
    )
    return {row["questionnaire_id"]: State(**row) for row in rows}


async def insert_draft(
    db: Database,
    *,
    organization_id: str,
    questionnaire_id: str,
    base_version_id: str | None,
    definition: Mapping[str, object],
    now: datetime,
    by: str | None,
    translated_sources: Mapping[str, Mapping[str, str]] | None = None,
) -> Draft:
    """Insert the draft, or replace the existing one. `translated_sources`: None to keep them."""
    row = await db.fetch_one(
        f"""insert into questionnaire_draft as d (organization_id, questionnaire_id, base_version_id, definition,
             updated_time, updated_by, translated_sources)
           values ($1, $2, $3, $4, $5, $6, $7)
           on conflict (organization_id, questionnaire_id) do update
             set base_version_id = excluded.base_version_id, definition = excluded.definition,
               revision = d.revision + 1, updated_time = greatest(excluded.updated_time, d.updated_time),
               updated_by = excluded.updated_by,
               translated_sources = coalesce(excluded.translated_sources, d.translated_sources)
           returning {_COLUMNS}""",
        *(organization_id, questionnaire_id, base_version_id, definition, now, by, translated_sources),
    )
    return Draft(**row)


async def update_base(
    db: Database, *, organization_id: str, questionnaire_id: str, version_id: str, now: datetime
) -> None:
    await db.execute(
        """update questionnaire_draft d
           set base_version_id = v.version_id, definition = v.definition, revision = d.revision + 1,
             updated_time = greatest($4, d.updated_time), updated_by = null
           from questionnaire_version v, questionnaire_version b
           where d.organization_id = $1 and d.questionnaire_id = $2
             and b.organization_id = $1 and b.version_id = d.base_version_id and b.definition = d.definition
             and v.organization_id = $1 and v.questionnaire_id = $2 and v.version_id = $3""",
        *(organization_id, questionnaire_id, version_id, now),
    )


async def delete_draft(db: Database, *, organization_id: str, questionnaire_id: str) -> None:
    await db.execute(
        "delete from questionnaire_draft where organization_id = $1 and questionnaire_id = $2",
        *(organization_id, questionnaire_id),
    )
