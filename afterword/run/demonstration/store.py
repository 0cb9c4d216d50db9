"""SQL that writes many made-up rows at once, without events: nobody shall be told of them."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from afterword.kit.db import Database

Rows = Sequence[Mapping[str, Any]]


async def claim_organization(db: Database, *, organization_id: str, now: datetime) -> bool:
    """Mark the organization as a demonstration. False if it is one, or if anybody was asked already."""
    return bool(
        await db.execute(
            """update organization o set demonstration_time = $2
               where o.organization_id = $1 and o.demonstration_time is null and not exists (
                 select from questionnaire_instance i where i.organization_id = o.organization_id)""",
            *(organization_id, now),
        )
    )


async def list_sent(db: Database, *, organization_id: str) -> list[tuple[str, str, str]]:
    """Questionnaire, pipeline and published version, always in the same order."""
    rows = await db.fetch(
        """select p.questionnaire_id, p.pipeline_id, q.published_version_id
           from pipeline p join questionnaire q using (organization_id, questionnaire_id)
           where p.organization_id = $1 and q.published_version_id is not null order by q.slug, p.pipeline_id
           limit 10""",
        organization_id,
    )
    return [(row[0], row[1], row[2]) for row in rows]


async def insert_people(db: Database, *, organization_id: str, people: Rows, channel_id: int) -> None:
    await db.execute(
        """insert into responder (organization_id, responder_id, locale, metadata, created_time, updated_time)
           select $1, p.responder_id, p.locale, p.metadata, p.time, p.time
           from jsonb_to_recordset($2) as p (responder_id text, locale text, metadata jsonb, time timestamptz)""",
        *(organization_id, people),
    )
    await db.execute(
        """insert into responder_address (organization_id, channel_id, address_key, responder_id, identifier,
             unsubscribe_id, created_time)
           select $1, $3, decode(p.address_key, 'hex'), p.responder_id, p.identifier, p.unsubscribe_id, p.time
           from jsonb_to_recordset($2) as p (responder_id text, address_key text, identifier text,
             unsubscribe_id text, time timestamptz)""",
        *(organization_id, people, channel_id),
    )


async def insert_messages(db: Database, *, organization_id: str, messages: Rows) -> None:
    """Queue items that were sent, or were not to be, and instances of the sent ones with how far people came."""
    await db.execute(
        """insert into queue_item (organization_id, item_id, questionnaire_id, pipeline_id,
             responder_channel_identifier, address_key, responder_id, locale, metadata, send_time, send_offset_minutes,
             due_time, not_after, status, reason, attempts, attempts_max, dispatched_time, questionnaire_instance_id,
             external_reference, created_time, updated_time)
           select $1, m.item_id, m.questionnaire_id, m.pipeline_id, m.identifier, decode(m.address_key, 'hex'),
             m.responder_id, m.locale, jsonb_build_object('questionnaire', m.metadata, 'responder', '{}'::jsonb),
             m.time, 0, m.time, m.time + interval '7 days', m.status, m.reason, m.attempts, 5, m.sent_time,
             m.instance_id, m.external_reference, m.time - interval '2 days', m.time
           from jsonb_to_recordset($2) as m (item_id text, questionnaire_id text, pipeline_id text, identifier text,
             address_key text, responder_id text, locale text, metadata jsonb, time timestamptz, status smallint,
             reason text, attempts smallint, sent_time timestamptz, instance_id text, external_reference text)""",
        *(organization_id, messages),
    )
    await db.execute(
        """insert into questionnaire_instance (organization_id, instance_id, questionnaire_id, version_id, responder_id,
             item_id, channel_id, pipeline_id, short_code, locale, valid_days, editable, finalized, question_ids,
             metadata, sent_time, delivered_time, bounced_time, viewed_time, submitted_time, completed_time,
             created_time, updated_time, previous_questionnaire_instance_id)
           select $1, m.instance_id, m.questionnaire_id, m.version_id, m.responder_id, m.item_id, m.channel_id,
             m.pipeline_id, m.short_code, m.locale, 14, true, m.completed_time is not null,
             array(select jsonb_array_elements_text(m.question_ids)), m.metadata, m.sent_time, m.delivered_time,
             m.bounced_time, m.viewed_time, m.submitted_time, m.completed_time, m.sent_time,
             coalesce(m.completed_time, m.submitted_time, m.viewed_time, m.sent_time), m.previous_id
           from jsonb_to_recordset($2) as m (instance_id text, questionnaire_id text, version_id text,
             responder_id text, item_id text, channel_id smallint, pipeline_id text, short_code text, locale text,
             question_ids jsonb, metadata jsonb, sent_time timestamptz, delivered_time timestamptz,
             bounced_time timestamptz, viewed_time timestamptz, submitted_time timestamptz, completed_time timestamptz,
             previous_id text)
           where m.instance_id is not null""",
        *(organization_id, messages),
    )


async def insert_answers(db: Database, *, organization_id: str, answers: Rows) -> None:
    await db.execute(
        """insert into answer (organization_id, instance_id, question_id, questionnaire_id, version_id, value,
             answered_time)
           select $1, a.instance_id, a.question_id, a.questionnaire_id, a.version_id, a.value, a.time
           from jsonb_to_recordset($2) as a (instance_id text, question_id text, questionnaire_id text,
             version_id text, value jsonb, time timestamptz)""",
        *(organization_id, answers),
    )


async def insert_cases(db: Database, *, organization_id: str, alert_id: str, cases: Rows) -> None:
    """Cases with a comment where there is a `note`; the open ones are counted on their rule."""
    await db.execute(
        """insert into alert_instance (organization_id, alert_instance_id, alert_id, questionnaire_id, instance_id,
             responder_id, status_id, assigned_user_id, severity, due_time, comments_count, resolved_time, resolved_by,
             work_seconds, cause, remedy, recovery_item_id, recovery_instance_id, recovery_time, created_time,
             updated_time)
           select $1, c.alert_instance_id, $3, c.questionnaire_id, c.instance_id, c.responder_id, c.status_id,
             c.user_id, c.severity, c.due_time, (c.note is not null)::integer, c.resolved_time,
             case when c.resolved_time is not null then c.user_id end, c.work_seconds, c.cause, c.remedy,
             c.recovery_item_id, c.recovery_instance_id, c.recovery_time, c.time, coalesce(c.resolved_time, c.time)
           from jsonb_to_recordset($2) as c (alert_instance_id text, questionnaire_id text, instance_id text,
             responder_id text, status_id integer, user_id text, severity text, due_time timestamptz, note text,
             resolved_time timestamptz, work_seconds bigint, cause text, remedy text, recovery_item_id text,
             recovery_instance_id text, recovery_time timestamptz, time timestamptz)""",
        *(organization_id, cases, alert_id),
    )
    await db.execute(
        """insert into alert_comment (organization_id, comment_id, alert_instance_id, author_id, user_id, body,
             created_time, updated_time)
           select $1, c.comment_id, c.alert_instance_id, c.user_id, c.user_id, c.note, c.note_time, c.note_time
           from jsonb_to_recordset($2) as c (comment_id text, alert_instance_id text, user_id text, note text,
             note_time timestamptz)
           where c.note is not null and c.user_id is not null""",
        *(organization_id, cases),
    )
    await db.execute(
        """update alert a set last_triggered_time = $3, open_count = (select count(*) from alert_instance i
             where i.organization_id = $1 and i.alert_id = $2 and i.resolved_time is null)
           where a.organization_id = $1 and a.alert_id = $2""",
        *(organization_id, alert_id, max((case["time"] for case in cases), default=None)),
    )


async def settle_statistics(db: Database) -> None:
    """So that the first screens are planned by what is there now."""
    await db.execute(
        "analyze responder, responder_address, queue_item, questionnaire_instance, answer, alert_instance, response"
    )
