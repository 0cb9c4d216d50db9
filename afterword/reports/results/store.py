"""SQL of what a report needs to know before it counts: whose questionnaires these are, and what they ask."""

from collections.abc import Sequence
from dataclasses import dataclass

from afterword.db import Database


@dataclass(frozen=True, slots=True)
class ResponseBase:
    """The settings of the organization that every report needs."""

    minimum_base: int
    time_zone: str


async def get_ground(db: Database, *, organization_id: str) -> ResponseBase | None:
    """The smallest group that is shown, and the zone whose days are kept."""
    row = await db.fetch_row(
        "select minimum_base, time_zone from organization where organization_id = $1", organization_id
    )
    return None if row is None else ResponseBase(**row)


async def list_open_questionnaires(
    db: Database, *, organization_id: str, questionnaire_ids: Sequence[str], application_ids: Sequence[str]
) -> dict[str, str]:
    """Those of these questionnaires that belong to one of the applications (none: any), with their application."""
    rows = await db.fetch(
        """select questionnaire_id, owner_application_id from questionnaire
           where organization_id = $1 and questionnaire_id = any($2::text[])
             and (cardinality($3::text[]) = 0 or owner_application_id = any($3))""",
        organization_id,
        list(questionnaire_ids),
        list(application_ids),
    )
    return {row["questionnaire_id"]: row["owner_application_id"] for row in rows}


async def list_questionnaires_of_application(
    db: Database, *, organization_id: str, application_id: str, limit: int
) -> list[str]:
    """The questionnaires of an application, the newest first."""
    rows = await db.fetch(
        """select questionnaire_id from questionnaire where organization_id = $1 and owner_application_id = $2
           order by created_time desc, questionnaire_id limit $3""",
        organization_id,
        application_id,
        limit,
    )
    return [row["questionnaire_id"] for row in rows]


async def list_version_ids(
    db: Database, *, organization_id: str, questionnaire_ids: Sequence[str], limit: int
) -> list[str]:
    """The versions of these questionnaires: the newest of each, then the second newest of each, and so on."""
    rows = await db.fetch(
        """select version_id from questionnaire_version
           where organization_id = $1 and questionnaire_id = any($2::text[])
           order by row_number() over (partition by questionnaire_id order by number desc),
             array_position($2::text[], questionnaire_id) limit $3""",
        organization_id,
        list(questionnaire_ids),
        limit,
    )
    return [row["version_id"] for row in rows]
