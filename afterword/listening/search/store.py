"""SQL of the search: questionnaires by title, and cases of people, of responses or by title."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from afterword.kit.db import Database

LOOKED_AT_MAX: Final = 1_000  # questionnaires and alerts, the newest


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """`detail`: of a case the questionnaire; `time`: of its opening."""

    id: str
    title: str
    detail: str | None
    time: datetime


async def list_questionnaires_by_title(
    db: Database, *, organization_id: str, application_ids: Sequence[str], pattern: str, limit: int
) -> list[Found]:
    rows = await db.fetch(
        """select q.questionnaire_id as id, q.display_name as title, q.title as detail, q.created_time as time
           from (select questionnaire_id, display_name, title, created_time from questionnaire
                 where organization_id = $1 and (cardinality($2::text[]) = 0 or owner_application_id = any($2))
                 order by created_time desc limit $5) q
           where q.display_name ilike $3 or q.title ilike $3 order by q.created_time desc limit $4""",
        *(organization_id, list(application_ids), pattern, limit, LOOKED_AT_MAX),
    )
    return [Found(**row) for row in rows]


async def list_cases_of(
    db: Database,
    *,
    organization_id: str,
    application_ids: Sequence[str],
    test_only: bool,
    responder_ids: Sequence[str],
    instance_ids: Sequence[str],
    pattern: str,
    limit: int,
) -> list[Found]:
    """The newest cases of these people, of these responses, and of alerts with such a title."""
    rows = await db.fetch(
        """with found as (
             select alert_instance_id from alert_instance where organization_id = $1 and responder_id = any($4::text[])
             union
             select alert_instance_id from alert_instance where organization_id = $1 and instance_id = any($5::text[])
             union
             select n.alert_instance_id from (
               select alert_id, title from alert where organization_id = $1 order by created_time desc limit $8) a
             cross join lateral (
               select alert_instance_id from alert_instance where organization_id = $1 and alert_id = a.alert_id
               order by created_time desc, alert_instance_id limit $7) n
             where a.title ilike $6)
           select c.alert_instance_id as id, a.title, q.display_name as detail, c.created_time as time
           from found join alert_instance c on c.organization_id = $1 and c.alert_instance_id = found.alert_instance_id
             join alert a on a.organization_id = $1 and a.alert_id = c.alert_id
             left join questionnaire q on q.organization_id = $1 and q.questionnaire_id = c.questionnaire_id
           where not $3::boolean and (cardinality($2::text[]) = 0 or a.application_id = any($2))
           order by c.created_time desc, c.alert_instance_id limit $7""",
        *(organization_id, list(application_ids), test_only, list(responder_ids), list(instance_ids), pattern, limit),
        LOOKED_AT_MAX,
    )
    return [Found(**row) for row in rows]
