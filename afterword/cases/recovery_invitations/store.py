"""SQL of the way by which the customer of a case is asked again."""

from dataclasses import dataclass

from afterword.kit.db import Database


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineChoice:
    """A pipeline; `has_address`: the customer has an address on its channel."""

    questionnaire_id: str
    questionnaire_name: str
    pipeline_id: str
    channel_id: int
    has_address: bool


async def get_way(db: Database, *, organization_id: str, alert_instance_id: str) -> PipelineChoice | None:
    """The pipeline of the recovery questionnaire of the settings, else of that of the case.

    One on which the customer has an address comes first, then the one that asked before, then the newest.
    """
    row = await db.fetch_row(
        """select p.questionnaire_id, q.display_name as questionnaire_name, p.pipeline_id, p.channel_id, exists (
             select from responder_address a
             where a.organization_id = c.organization_id and a.responder_id = c.responder_id
               and a.channel_id = p.channel_id) as has_address
           from alert_instance c
             left join alert_settings s on s.organization_id = c.organization_id
             join pipeline p on p.organization_id = c.organization_id and p.deleted_time is null
               and p.questionnaire_id = coalesce(s.recovery_questionnaire_id, c.questionnaire_id)
             join questionnaire q on q.organization_id = p.organization_id and q.questionnaire_id = p.questionnaire_id
           where c.organization_id = $1 and c.alert_instance_id = $2
           order by has_address desc, exists (
               select from questionnaire_instance n
               where n.organization_id = c.organization_id and n.instance_id = c.instance_id
                 and n.pipeline_id = p.pipeline_id) desc, p.channel_id, p.created_time desc limit 1""",
        *(organization_id, alert_instance_id),
    )
    return PipelineChoice(**row) if row else None
