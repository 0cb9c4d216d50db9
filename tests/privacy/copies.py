"""Very many people, items and responses: copies of those of one person, whose texts each of them has."""

from typing import Any, Final

import asyncpg

FILL_SECONDS_MAX: Final = 1_800
FIRST: Final = "00VOLUMEPERS0000000000"  # a person of many
# Copies of a known person's item, instance, answers and response: $2 of them, each $3 of one person, as $1 has them.
_COPIES: Final = "cross join generate_series(0, $2::integer - 1) n"
_PERSON: Final = "'00VOLUMEPERS' || lpad((n % ($2::integer / $3::integer))::text, 10, '0')"
_STATEMENTS: Final = (
    f"""insert into responder (organization_id, responder_id, metadata)
       select r.organization_id, {_PERSON}, r.metadata from responder r {_COPIES}
       where r.responder_id = $1 and n < $2 / $3""",
    f"""insert into responder_address (organization_id, channel_id, address_key, responder_id, identifier,
         unsubscribe_id)
       select r.organization_id, r.channel_id, sha256(int4send(n)), {_PERSON}, n || '@example.com',
         '00VOLUMEADDR' || lpad(n::text, 10, '0')
       from responder_address r {_COPIES} where r.responder_id = $1 and r.channel_id = 1 and n < $2 / $3""",
    f"""insert into queue_item (organization_id, item_id, questionnaire_id, pipeline_id, responder_channel_identifier,
         address_key, responder_id, metadata, send_time, send_offset_minutes, due_time, not_after, status, attempts,
         attempts_max, dispatched_time, questionnaire_instance_id)
       select q.organization_id, '00VOLUMEITEM' || lpad(n::text, 10, '0'), q.questionnaire_id, q.pipeline_id,
         (n % ($2 / $3)) || '@example.com', sha256(int4send(n % ($2 / $3))), {_PERSON}, q.metadata, q.send_time,
         q.send_offset_minutes, q.due_time, q.not_after, q.status, q.attempts, q.attempts_max, q.dispatched_time,
         '00VOLUMEINST' || lpad(n::text, 10, '0')
       from queue_item q {_COPIES} where q.responder_id = $1 and q.questionnaire_instance_id is not null""",
    f"""insert into questionnaire_instance (organization_id, instance_id, questionnaire_id, version_id, responder_id,
         item_id, channel_id, pipeline_id, short_code, locale, valid_days, editable, finalized, question_ids, metadata,
         sent_time, viewed_time, submitted_time, completed_time)
       select i.organization_id, '00VOLUMEINST' || lpad(n::text, 10, '0'), i.questionnaire_id, i.version_id, {_PERSON},
         '00VOLUMEITEM' || lpad(n::text, 10, '0'), i.channel_id, i.pipeline_id, 'VOLU' || lpad(n::text, 8, '0'),
         i.locale, i.valid_days, i.editable, i.finalized, i.question_ids, i.metadata, i.sent_time, i.viewed_time,
         i.submitted_time, i.completed_time
       from questionnaire_instance i {_COPIES} where i.responder_id = $1 and $3::integer > 0""",
    f"""insert into answer (organization_id, instance_id, question_id, questionnaire_id, version_id, value)
       select a.organization_id, '00VOLUMEINST' || lpad(n::text, 10, '0'), a.question_id, a.questionnaire_id,
         a.version_id, a.value
       from answer a join questionnaire_instance i using (organization_id, instance_id) {_COPIES}
       where i.responder_id = $1 and $3::integer > 0""",
    f"""insert into response (organization_id, instance_id, questionnaire_id, application_id, version_id, responder_id,
         channel_id, test, locale, submitted_time, words)
       select r.organization_id, '00VOLUMEINST' || lpad(n::text, 10, '0'), r.questionnaire_id, r.application_id,
         r.version_id, {_PERSON}, r.channel_id, r.test, r.locale, r.submitted_time, r.words
       from response r {_COPIES} where r.responder_id = $1""",
)


async def copy_person(url: str, *, responder_id: str, rows: int, of_one: int) -> None:
    """So many items and responses, each `of_one` of one person. Their ids are older than all that are made."""
    settings = {"jit": "off", "session_replication_role": "replica"}
    connection: Any = await asyncpg.connect(url, server_settings=settings)
    for statement in _STATEMENTS:
        await connection.execute(statement, responder_id, rows, of_one, timeout=FILL_SECONDS_MAX)
    await connection.execute("vacuum analyze", timeout=FILL_SECONDS_MAX)
    await connection.close()
