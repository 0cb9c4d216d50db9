"""SQL of the responses that a rule is tried on."""

from collections.abc import Sequence
from datetime import datetime

from afterword.kit.db import Database


async def list_newest(
    db: Database,
    *,
    organization_id: str,
    application_id: str,
    questionnaire_ids: Sequence[str],
    completed_only: bool,
    test: bool,
    limit: int,
    scanned: int,
) -> list[tuple[str, datetime]]:
    """The ids and times of the newest responses to these questionnaires (none: all of the application).

    Only the newest `scanned` of the organization, or of one questionnaire, are looked at.
    """
    rows = await db.fetch(
        """select r.instance_id, r.submitted_time from (
             select n.instance_id, n.questionnaire_id, n.application_id, n.submitted_time from (
               select instance_id, questionnaire_id, application_id, submitted_time from response
               where organization_id = $1 and test = $5 and cardinality($3::text[]) <> 1
               order by submitted_time desc, instance_id limit $7) n
             union all
             select o.instance_id, o.questionnaire_id, o.application_id, o.submitted_time from (
               select instance_id, questionnaire_id, application_id, submitted_time from response
               where organization_id = $1 and test = $5 and questionnaire_id = ($3::text[])[1]
                 and cardinality($3::text[]) = 1
               order by submitted_time desc, instance_id limit $7) o) r
           where r.application_id = $2 and (cardinality($3::text[]) = 0 or r.questionnaire_id = any($3))
             and (not $4 or exists (
               select from questionnaire_instance i
               where i.organization_id = $1 and i.instance_id = r.instance_id and i.finalized))
           order by r.submitted_time desc, r.instance_id limit $6""",
        *(organization_id, application_id, list(questionnaire_ids), completed_only, test, limit, scanned),
    )
    return [(row["instance_id"], row["submitted_time"]) for row in rows]
