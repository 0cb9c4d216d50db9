"""The plans of the hot statements over many rows: an index from the first row wanted to the last, never a whole lane.

20,000 rows in every run; AFTERWORD_TEST_FAULTS=full makes it 100,000, AFTERWORD_TEST_DUE_ROWS any other number.
"""

import os
import uuid
from collections.abc import AsyncGenerator, Iterator, Mapping
from functools import partial
from typing import Any, LiteralString

import pytest

from afterword.kit import db
from afterword.run.worker.loop import PLANNER
from afterword.sending.pipelines import store as pipelines_store
from afterword.sending.queue import lanes as lanes_store
from afterword.sending.queue.sending import store as sending_store
from afterword.sending.queue.sending.store import Settlement
from tests.conftest import House, filled_database
from tests.sending.queue.conftest import Queue
from tests.sizes import one_of, size

DUE_ROWS = int(os.environ.get("AFTERWORD_TEST_DUE_ROWS") or size(20_000, 100_000))
PLAN_ROWS_MAX = 2_000  # looked at for a claim of 100
BUFFERS_MAX = 12_000


@pytest.fixture
async def worker_pool(database_url: str) -> AsyncGenerator[db.Pool]:
    """A pool as the worker has it."""
    async with await db.open_pool(database_url, size_max=2, server_settings=PLANNER) as pool:
        yield pool


@pytest.fixture(params=one_of(["one lane", "200 lanes", "never analysed"]))
def shape(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
async def pool_url(shape: str, server_url: str) -> AsyncGenerator[str]:
    async with filled_database(server_url, shape.replace(" ", "_"), partial(fill, shape=shape)) as url:
        yield url


@pytest.fixture
def full(house: House, worker_pool: db.Pool) -> Queue:
    """Many due rows, in one lane or in 200; among them as many that are not due and that are done."""
    return Queue(worker_pool, house, house.pipeline_id)


async def fill(pool: db.Pool, house: House, *, shape: str) -> None:
    count = 200 if shape == "200 lanes" else 1
    async with db.connection(pool) as database:
        raw = database._connection
        await raw.execute(
            """insert into pipeline (organization_id, pipeline_id, questionnaire_id, account_id, channel_id, title)
               select organization_id, lpad(n::text, 22, '0'), questionnaire_id, account_id, channel_id, 'Lane'
               from pipeline, generate_series(2, $1::int) n""",
            count,
        )
        await raw.execute(
            """insert into queue_item (organization_id, item_id, questionnaire_id, pipeline_id,
                 responder_channel_identifier, address_key, send_time, send_offset_minutes, due_time, not_after, status,
                 attempts_max)
               select p.organization_id, 'Q' || lpad((n * 3 + kind)::text, 21, '0'), p.questionnaire_id, p.pipeline_id,
                 'a' || n || '@example.com', sha256(int8send(n)), now(), 0,
                 now() - interval '1 day' + n * interval '1 millisecond' + (kind = 1)::int * interval '9 days',
                 now() + interval '3 days', case kind when 2 then 7 else 1 end, 9
               from generate_series(1, $1::bigint) n, generate_series(0, 2) kind,
                 lateral (select *, row_number() over (order by pipeline_id) as place from pipeline) p
               where p.place = n % $2 + 1""",
            DUE_ROWS,
            count,
        )
        if shape != "never analysed":
            await raw.execute("analyze queue_item, pipeline, channel_account, attempt, event")


class Explained(db.Database):
    """Explains the statement that a store function sends, and runs it, by the plan that this connection makes for it.

    As a prepared statement: `explain` by itself always plans for the very values.
    """

    def __init__(self, database: db.Database) -> None:
        super().__init__(database._connection, database.clock)
        self.plan: dict[str, Any] = {}

    async def fetch(self, query: LiteralString, *values: object) -> list[db.Row]:
        raw = self._connection
        prepared = await raw.prepare(query)
        literals: list[str] = []
        for parameter, value in zip(prepared.get_parameters(), values, strict=True):
            type_name = await raw.fetchval("select format_type($1::oid, null)", parameter.oid)
            literals.append(await raw.fetchval(f"select quote_nullable(($1::{type_name})::text)", value))
        arguments = f"({', '.join(literals)})" if literals else ""
        explain = "explain (analyze, buffers, format json)"
        [document] = await raw.fetchval(f"{explain} execute {prepared.get_name()}{arguments}")
        self.plan = document["Plan"]
        return []

    async def fetch_value(self, query: LiteralString, *values: object) -> None:
        await self.fetch(query, *values)

    async def fetch_row(self, query: LiteralString, *values: object) -> None:
        await self.fetch(query, *values)

    async def execute(self, query: LiteralString, *values: object, seconds: float | None = None) -> int:
        await self.fetch(query, *values)
        return 0


def nodes(plan: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield plan
    for child in plan.get("Plans", []):
        yield from nodes(child)


def check(plan: Mapping[str, Any]) -> None:
    for node in nodes(plan):
        if "Relation Name" in node:
            seen = (node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"]
            assert seen <= PLAN_ROWS_MAX, node
    assert plan["Shared Hit Blocks"] + plan["Shared Read Blocks"] <= BUFFERS_MAX


async def test_claim(full: Queue) -> None:
    lanes = [row["pipeline_id"] for row in await full.fetch("select pipeline_id from pipeline order by 1 limit 32")]
    shares = {(full.house.organization_id, pipeline_id): max(100 // len(lanes), 1) for pipeline_id in lanes}
    async with db.transaction(full.pool) as database:
        explained = Explained(database)
        await sending_store.claim_items(explained, shares=shares, owner=uuid.uuid4(), lease_seconds=60)

    check(explained.plan)
    assert sum(shares.values()) == explained.plan["Actual Rows"]


async def test_list_lanes(full: Queue) -> None:
    async with db.transaction(full.pool) as database:
        explained = Explained(database)
        await lanes_store.list_lanes(
            explained,
            after=("", ""), until=("~", "~"), channel_ids=[1], busy=[], limit=32,
        )  # fmt: skip

    check(explained.plan)


async def test_begin_settle_and_reap(full: Queue) -> None:
    owner = uuid.uuid4()
    async with db.transaction(full.pool) as database:
        items = await sending_store.claim_items(database, shares={full.lane: 100}, owner=owner, lease_seconds=60)
    begins = [(*item.lease_key, "i" * 22, "r" * 22, 1) for item in items]
    settlements = [
        Settlement(
            organization_id=item.organization_id, item_id=item.item_id, epoch=item.epoch, status=4, outcome="accepted",
            event_id=f"{place:022}", type="queue_item.sent",
        )
        for place, item in enumerate(items)
    ]  # fmt: skip

    async with db.transaction(full.pool) as database:
        explained = Explained(database)
        await sending_store.update_leases(explained, lease_keys=[item.lease_key for item in items], lease_seconds=60)
        check(explained.plan)
        await sending_store.update_items_to_sending(explained, begins=begins, lease_seconds=60, margin_seconds=5)
        check(explained.plan)
        await sending_store.settle_items(explained, settlements=settlements)
        check(explained.plan)
        await sending_store.reap_items(explained, limit=500)
        check(explained.plan)


async def test_the_first_page_of_a_long_list(full: Queue, pool: db.Pool) -> None:
    """As the web process plans it: with statistics, without the worker's settings."""
    async with db.connection(pool) as database:
        await database._connection.execute("analyze queue_item")
        [document] = await database._connection.fetchval(
            """explain (analyze, buffers, format json)
               select * from (select i.* from queue_item i where i.organization_id = $1 and i.questionnaire_id = $2
                 and i.pipeline_id = $3 and i.deleted_time is null) listed
               order by listed.send_time desc, listed.item_id limit 101""",
            full.house.organization_id, full.house.questionnaire_id, full.pipeline_id,
        )  # fmt: skip
    scanned = [node.get("Index Name") for node in nodes(document["Plan"])]
    assert "queue_item_list" in scanned


async def test_whether_a_pipeline_has_open_items(full: Queue, pool: db.Pool) -> None:
    """Where all have come to their end, as the web process asks when it is deleted."""
    async with db.connection(pool) as database:
        await database._connection.execute("set statement_timeout = 0")
        await database._connection.execute("update queue_item set status = 7 where status = 1")
        await database._connection.execute("vacuum analyze queue_item")
        explained = Explained(database)
        organization_id, pipeline_id = full.lane
        await pipelines_store.count_open_items(
            explained,
            organization_id=organization_id, pipeline_id=pipeline_id, limit=1,
        )  # fmt: skip

    check(explained.plan)
