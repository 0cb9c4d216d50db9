"""The plans of what rules, reminders and reports ask, over many people: by key, as a worker and as a door plan them."""

from collections.abc import AsyncGenerator
from datetime import timedelta
from typing import Any

import pytest

from afterword.kit import db
from afterword.people.responders import store as responders
from afterword.people.responders.store import AddressId
from afterword.run.worker.loop import PLANNER
from afterword.sending.queue import deciding, reminders, store as queue_store
from afterword.sending.receipts import service
from tests.conftest import House, filled_database
from tests.sending.queue.conftest import Queue
from tests.sending.queue.test_plans import DUE_ROWS, Explained, nodes

WANTED = 100
ROWS_MAX = 20 * WANTED
BIG = frozenset({
    "queue_item", "attempt", "questionnaire_instance", "responder", "responder_address", "contact", "suppression",
    "delivery_report", "provider_reference",
})  # fmt: skip


@pytest.fixture
async def pool_url(server_url: str) -> AsyncGenerator[str]:
    async with filled_database(server_url, "rules", fill) as url:
        yield url


@pytest.fixture(params=["worker", "door"])
async def filled(request: pytest.FixtureRequest, house: House, database_url: str) -> AsyncGenerator[Queue]:
    """Many people, each with an address, a message that was sent, a reminder and another that wait, and a report."""
    settings = PLANNER if request.param == "worker" else None
    async with await db.open_pool(database_url, size_max=2, server_settings=settings) as like:
        yield Queue(like, house, house.pipeline_id)


async def fill(pool: db.Pool, house: House) -> None:
    async with db.connection(pool) as database:
        raw = database._connection
        [organization_id, pipeline_id] = house.organization_id, house.pipeline_id
        for statement in (
            """insert into responder (organization_id, responder_id)
               select $1, 'R' || lpad(n::text, 21, '0') from generate_series(1, $2::int) n""",
            """insert into responder_address (organization_id, channel_id, address_key, responder_id, identifier,
                 unsubscribe_id)
               select $1, 1, sha256(int8send(n)), 'R' || lpad(n::text, 21, '0'), n || '@example.com',
                 'U' || lpad(n::text, 21, '0') from generate_series(1, $2::int) n""",
            """insert into contact (organization_id, address_key, recent)
               select $1, sha256(int8send(n)), case when n > 50 then '[]' else (
                 select jsonb_agg(jsonb_build_object('time', now(), 'pipeline_id', 'p', 'item_id', 'i' || entry))
                 from generate_series(1, 400) entry) end
               from generate_series(1, $2::int) n""",
        ):
            await raw.execute(statement, organization_id, DUE_ROWS)
        await raw.execute(
            """insert into questionnaire_instance (organization_id, instance_id, questionnaire_id, version_id,
                 responder_id, item_id, short_code, locale, valid_days, editable, question_ids, sent_time)
               select $1, 'I' || lpad(n::text, 21, '0'), q.questionnaire_id, q.published_version_id,
                 'R' || lpad(n::text, 21, '0'), 'Q' || lpad((n * 3)::text, 21, '0'), lpad(n::text, 12, '0'), 'en', 30,
                 false, '{}', now()
               from generate_series(1, $2::int) n, questionnaire q
               where q.organization_id = $1 and q.questionnaire_id = $3""",
            organization_id, DUE_ROWS, house.questionnaire_id,
        )  # fmt: skip
        await raw.execute(
            """insert into queue_item (organization_id, item_id, questionnaire_id, pipeline_id,
                 responder_channel_identifier, address_key, send_time, send_offset_minutes, due_time, not_after, status,
                 attempts_max, dispatched_time, questionnaire_instance_id, source, previous_item_id, reminder_number)
               select $1, 'Q' || lpad((n * 3 + kind)::text, 21, '0'), $3, $4, n || '@example.com',
                 sha256(int8send(n)), now(), 0, now(), now() + interval '3 days', case kind when 0 then 4 else 1 end, 9,
                 case kind when 0 then now() end,
                 case when kind < 2 then 'I' || lpad(n::text, 21, '0') end,
                 case kind when 1 then 'reminder' else 'api' end,
                 case kind when 1 then 'Q' || lpad((n * 3)::text, 21, '0') end, case kind when 1 then 1 end
               from generate_series(1, $2::int) n, generate_series(0, 2) kind""",
            organization_id, DUE_ROWS, house.questionnaire_id, pipeline_id,
        )  # fmt: skip
        for statement in (
            """insert into attempt (organization_id, item_id, epoch, owner, outcome, finish_time)
               select organization_id, item_id, 1, gen_random_uuid(), 'accepted', now() from queue_item
               where organization_id = $1 and status = 4""",
            """insert into delivery_report (organization_id, item_id, kind, is_hard, is_proven, code, said)
               select organization_id, item_id, 'delivered', false, true, '', '' from queue_item
               where organization_id = $1 and status = 4""",
            """insert into provider_reference (organization_id, account_id, provider_reference, item_id)
               select q.organization_id, p.account_id, 'SM' || q.item_id, q.item_id
               from queue_item q join pipeline p using (organization_id, pipeline_id)
               where q.organization_id = $1 and q.status = 4""",
        ):
            await raw.execute(statement, organization_id)
        await raw.execute("analyze")


def check(explained: Explained) -> None:
    for node in nodes(explained.plan):
        if node.get("Relation Name") in BIG:
            seen = (node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"]
            assert seen <= ROWS_MAX, node


async def test_by_key(filled: Queue) -> None:
    organization_id = filled.house.organization_id
    now = await filled.now()
    rows = await filled.fetch(
        """select a.address_key, q.item_id, q.questionnaire_instance_id, p.account_id
           from responder_address a
           join queue_item q on q.organization_id = a.organization_id and q.address_key = a.address_key and q.status = 4
           join pipeline p on p.organization_id = q.organization_id and p.pipeline_id = q.pipeline_id
           order by a.responder_id limit $1""",
        WANTED,
    )
    keys = [(organization_id, row["address_key"]) for row in rows]
    addresses: list[AddressId] = [(organization_id, 1, row["address_key"]) for row in rows]
    item_ids = [row["item_id"] for row in rows]
    items = [(organization_id, item_id) for item_id in item_ids]
    instances = [(organization_id, row["questionnaire_instance_id"]) for row in rows]
    account_id, since, days = rows[0]["account_id"], now - timedelta(days=30), timedelta(days=30)
    async with db.transaction(filled.pool) as database:
        asked: Any = Explained(database)
        for call in (
            responders.list_recipients(asked, addresses=addresses),
            responders.list_suppressions_for(asked, addresses=addresses, now=now),
            deciding.list_previous(asked, items=items),
            deciding.list_waiting(asked, addresses=keys, until=now + days, limit=2_000),
            responders.list_address_facts(asked, addresses=addresses, with_others=[True] * WANTED, now=now),
            deciding.list_history(
                asked, contacts_of=keys, sent=dict.fromkeys(addresses, (since, now + days)),
                responded_since=dict.fromkeys(addresses, since), sent_max=20_000,
            ),
            deciding.claim_contacts(asked, addresses=keys),
            deciding.update_contacts(asked, recent={key: [{"item_id": "i"}] for key in keys}),
            queue_store.delete_contacts(asked, items=items),
            reminders.list_sent(asked, items=items),
            reminders.update_reminders_to_due(asked, instances=instances),
            service.list_items(
                asked, organization_id=organization_id, item_ids=item_ids, since=since, account_id=account_id
            ),
            service.get_item_key(asked, item_id=item_ids[0]),
            service.list_item_ids_by_reference(
                asked, organization_id=organization_id, account_id=account_id, references=[f"SM{i}" for i in item_ids]
            ),
            service.get_last_item(
                asked, organization_id=organization_id, account_id=account_id, channel_id=1,
                address_key=rows[0]["address_key"], since=since,
            ),
            service.get_last_item(asked, channel_id=1, address_key=rows[0]["address_key"], since=since),
            service.list_told(asked, organization_id=organization_id, item_ids=item_ids),
        ):  # fmt: skip
            asked.plan = {}
            await call
            assert asked.plan, call
            check(asked)
