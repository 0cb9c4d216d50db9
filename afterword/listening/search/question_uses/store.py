"""SQL of the uses of questions outside of their questionnaire."""

from collections.abc import Sequence
from typing import NamedTuple

from afterword.kit.db import Database


class Use(NamedTuple):
    """`kind`: the resource."""

    kind: str
    id: str
    title: str


async def list_question_uses(
    db: Database, *, organization_id: str, application_ids: Sequence[str], question_ids: Sequence[str], limit: int
) -> list[Use]:
    """The alerts, sequences and saved reports that name any of the questions, of these applications (none: all)."""
    rows = await db.fetch(
        """select kind, id, title from (
             select 'alert' as kind, alert_id as id, title, created_time from alert
             where organization_id = $1 and deleted_time is null and conditions::text like any($3)
               and (cardinality($2::text[]) = 0 or application_id = any($2))
             union all
             select 'sequence', s.sequence_id, s.title, s.created_time from sequence s
             join questionnaire q on q.organization_id = $1 and q.questionnaire_id = s.from_questionnaire_id
             where s.organization_id = $1 and s.conditions::text like any($3)
               and (cardinality($2::text[]) = 0 or q.owner_application_id = any($2))
             union all
             select 'report', r.report_id, r.title, r.created_time from custom_report r
             where r.organization_id = $1 and r.spec::text like any($3)
               and (cardinality($2::text[]) = 0 or not exists (
                 select from questionnaire q where q.organization_id = $1
                   and q.questionnaire_id = any(r.questionnaire_ids) and q.owner_application_id <> all($2)))) found
           order by kind, created_time desc, id limit $4""",
        *(organization_id, list(application_ids), [f"%{each}%" for each in question_ids], limit),
    )
    return [Use(*row) for row in rows]
