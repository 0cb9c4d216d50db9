"""A copy of all that is held on one person among a million items and responses."""

import time
from typing import Final

import asyncpg
import httpx2
import pytest

from tests.bar import Tell
from tests.privacy.conftest import CANARY, Desk, people
from tests.privacy.conftest import desk as desk  # noqa: PLC0414  a fixture
from tests.sizes import size

pytestmark = pytest.mark.nightly

ROWS: Final = size(50_000, 1_000_000)  # items, and as many responses
OF_ONE: Final = 200
SECONDS_MAX: Final = 60
FILL_SECONDS_MAX: Final = 1_800
# Copies of the known person's item, instance, answers and response: $2 of them, each $3 of one person, as $1 has them.
COPIES: Final = "cross join generate_series(0, $2::integer - 1) n"
PERSON: Final = "'VOLUMEPERSON' || lpad((n % ($2::integer / $3::integer))::text, 10, '0')"
STATEMENTS: Final = (
    f"""insert into responder (organization_id, responder_id, metadata)
       select r.organization_id, {PERSON}, r.metadata from responder r {COPIES}
       where r.responder_id = $1 and n < $2 / $3""",
    f"""insert into responder_address (organization_id, channel_id, address_key, responder_id, identifier,
         unsubscribe_id)
       select r.organization_id, r.channel_id, sha256(int4send(n)), {PERSON}, n || '@example.com',
         'VOLUMEADDRES' || lpad(n::text, 10, '0')
       from responder_address r {COPIES} where r.responder_id = $1 and r.channel_id = 1 and n < $2 / $3""",
    f"""insert into queue_item (organization_id, item_id, questionnaire_id, pipeline_id, responder_channel_identifier,
         address_key, responder_id, metadata, send_time, send_offset_minutes, due_time, not_after, status, attempts,
         attempts_max, dispatched_time, questionnaire_instance_id)
       select q.organization_id, 'VOLUMEITEM00' || lpad(n::text, 10, '0'), q.questionnaire_id, q.pipeline_id,
         (n % ($2 / $3)) || '@example.com', sha256(int4send(n % ($2 / $3))), {PERSON}, q.metadata, q.send_time,
         q.send_offset_minutes, q.due_time, q.not_after, q.status, q.attempts, q.attempts_max, q.dispatched_time,
         'VOLUMEINSTAN' || lpad(n::text, 10, '0')
       from queue_item q {COPIES} where q.responder_id = $1 and q.questionnaire_instance_id is not null""",
    f"""insert into questionnaire_instance (organization_id, instance_id, questionnaire_id, version_id, responder_id,
         item_id, channel_id, pipeline_id, short_code, locale, valid_days, editable, finalized, question_ids, metadata,
         sent_time, viewed_time, submitted_time, completed_time)
       select i.organization_id, 'VOLUMEINSTAN' || lpad(n::text, 10, '0'), i.questionnaire_id, i.version_id, {PERSON},
         'VOLUMEITEM00' || lpad(n::text, 10, '0'), i.channel_id, i.pipeline_id, 'VOLU' || lpad(n::text, 8, '0'),
         i.locale, i.valid_days, i.editable, i.finalized, i.question_ids, i.metadata, i.sent_time, i.viewed_time,
         i.submitted_time, i.completed_time
       from questionnaire_instance i {COPIES} where i.responder_id = $1 and $3::integer > 0""",
    f"""insert into answer (organization_id, instance_id, question_id, questionnaire_id, version_id, value)
       select a.organization_id, 'VOLUMEINSTAN' || lpad(n::text, 10, '0'), a.question_id, a.questionnaire_id,
         a.version_id, a.value
       from answer a join questionnaire_instance i using (organization_id, instance_id) {COPIES}
       where i.responder_id = $1 and $3::integer > 0""",
    f"""insert into response (organization_id, instance_id, questionnaire_id, application_id, version_id, responder_id,
         channel_id, test, locale, submitted_time, words)
       select r.organization_id, 'VOLUMEINSTAN' || lpad(n::text, 10, '0'), r.questionnaire_id, r.application_id,
         r.version_id, {PERSON}, r.channel_id, r.test, r.locale, r.submitted_time, r.words
       from response r {COPIES} where r.responder_id = $1""",
)


async def test_copy(desk: Desk, database_url: str, tell: Tell) -> None:
    [known] = await people(desk, [CANARY])
    settings = {"jit": "off", "session_replication_role": "replica"}
    connection = await asyncpg.connect(database_url, server_settings=settings)
    for statement in STATEMENTS:
        await connection.execute(statement, known.responder_id, ROWS, OF_ONE, timeout=FILL_SECONDS_MAX)
    await connection.execute("vacuum analyze", timeout=FILL_SECONDS_MAX)
    await connection.close()
    copies, seconds = dict[str, httpx2.Response](), dict[str, float]()
    for form in ("json", "html"):
        began = time.perf_counter()
        path = f"/q/responder/VOLUMEPERSON0000000000/subject?format={form}"
        copies[form] = await desk.http.get(path, headers=desk.house.headers)
        seconds[form] = time.perf_counter() - began
        assert 200 == copies[form].status_code
        assert OF_ONE <= copies[form].text.count(f"I am {CANARY}")
    document = copies["json"].json()
    assert {OF_ONE} == {len(document[name]) for name in ("queue_items", "instances", "responses")}
    tell(
        f"T41 copy of {OF_ONE} of {ROWS:,} items and responses: JSON {seconds['json']:.2f} s, "
        f"page {seconds['html']:.2f} s, {{missing}} missing",
        missing=0,
    )
    assert max(seconds.values()) < SECONDS_MAX
