"""The plans of long lists: an index from the first row wanted to the last, on page 1 as far behind a cursor.

`AFTERWORD_TEST_LIST_ROWS` gives the volume.
"""

import os
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from afterword.asking.instances import responders, store, values as values_store
from afterword.asking.instances.resources import INSTANCES
from afterword.asking.instances.responders import RESPONDERS
from afterword.asking.instances.values import QUESTIONNAIRE_VALUES, RESPONDER_VALUES
from afterword.core.organizations.access import installation
from afterword.core.wire.lists import Listing, Page
from afterword.kit import db
from afterword.sending.queue import store as queue_store
from afterword.sending.queue.records import QUEUE_ITEMS
from tests.conftest import House, filled_database

ROWS = int(os.environ.get("AFTERWORD_TEST_LIST_ROWS", "20000"))
LIMIT = 50
SEEN_MAX = 4 * LIMIT  # rows that a plan looks at, of any table
OF_QUESTIONNAIRE = ("questionnaire_instance_list", "questionnaire_instance_all")  # as there is but one
LONG = {"questionnaire_instance", "queue_item", "responder"}
BLOCKS_MAX = 60  # by which two pages may differ: where they begin in the index


class Explaining:
    """A connection that explains what it is asked, and answers nothing."""

    def __init__(self, raw: Any) -> None:
        self.raw = raw
        self.plans: list[dict[str, Any]] = []

    async def fetch(self, query: str, *values: object) -> Sequence[Mapping[str, Any]]:
        [document] = await self.raw.fetchval(f"explain (analyze, buffers, format json) {query}", *values)
        self.plans.append(document["Plan"])
        return []

    async def execute(self, query: str, *values: object) -> str:
        await self.fetch(query, *values)
        return "EXPLAIN 0"


@dataclass(frozen=True)
class Lists:
    """Many rows of everything, below one pipeline of one questionnaire."""

    house: House
    pool: db.Pool

    async def plan(self, ask: Callable[[db.Database], Awaitable[object]]) -> dict[str, Any]:
        async with db.connection(self.pool) as database:
            explaining = Explaining(database._connection)
            await ask(db.Database(explaining, database.clock))
        return explaining.plans[-1]

    async def key(self, query: str, *values: object) -> tuple[object, ...]:
        """The last row of page 10,000, or of the middle where there are not so many."""
        async with db.connection(self.pool) as database:
            return tuple(await database._connection.fetchrow(f"{query} offset $1", ROWS // 2, *values))


@pytest.fixture
async def pool_url(server_url: str) -> AsyncGenerator[str]:
    async with filled_database(server_url, "lists", fill) as url:
        yield url


async def fill(pool: db.Pool, house: House) -> None:
    async with db.connection(pool) as database:
        raw = database._connection
        for statement in FILL:
            await raw.execute(
                statement, house.organization_id, house.questionnaire_id, house.version_id, house.pipeline_id, ROWS
            )
        await raw.execute("analyze")


@pytest.fixture
async def lists(house: House, pool: db.Pool) -> Lists:
    return Lists(house, pool)


def page(listing: Listing, after: tuple[object, ...] | None = None) -> Page:
    return Page(listing, listing.default_order, limit=LIMIT, after=after, with_total=False)


def nodes(plan: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield plan
    for child in plan.get("Plans", []):
        yield from nodes(child)


def check(first: Mapping[str, Any], deep: Mapping[str, Any], *indexes: str) -> None:
    for plan in (first, deep):
        assert "Sort" not in {node["Node Type"] for node in nodes(plan)}, plan
        long = {node["Node Type"] for node in nodes(plan) if node.get("Relation Name") in LONG}
        assert long <= {"Index Scan", "Index Only Scan"}, plan
        for node in nodes(plan):
            if "Relation Name" in node:
                assert (node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"] <= SEEN_MAX
    [scan] = [node for node in nodes(deep) if "<=" in node.get("Index Cond", "")]
    assert scan["Index Name"] in indexes, scan
    blocks = [plan["Shared Hit Blocks"] + plan["Shared Read Blocks"] for plan in (first, deep)]
    assert blocks[1] <= blocks[0] + BLOCKS_MAX, blocks


NEWEST = "select created_time, instance_id from questionnaire_instance order by 1 desc, 2 limit 1"
PEOPLE = "select created_time, responder_id from responder order by 1 desc, 2 limit 1"
ITEMS = "select send_time, item_id from queue_item order by 1 desc, 2 limit 1"
ALL: dict[str, Any] = {"application_ids": (), "test_only": False}
OF_ONE: dict[str, Any] = {"questionnaire_id": "", "test_only": False}


@pytest.mark.parametrize(
    ("listed", "listing", "key", "suffix", "more", "indexes"),
    [
        (store.list_instances, INSTANCES, NEWEST, "", ALL, ["questionnaire_instance_all"]),
        (store.list_instances_of_questionnaire, INSTANCES, NEWEST, "", OF_ONE, OF_QUESTIONNAIRE),
        (queue_store.list_items, QUEUE_ITEMS, ITEMS, "", {"questionnaire_id": "", "pipeline_id": ""},
         ["queue_item_list"]),
        (values_store.list_questionnaire_value_records, QUESTIONNAIRE_VALUES, NEWEST, ":store_id", OF_ONE,
         OF_QUESTIONNAIRE),
        (values_store.list_responder_values_of_questionnaire, RESPONDER_VALUES, PEOPLE, ":email", ALL | OF_ONE,
         ["responder_list"]),
        (responders.list_responder_records, RESPONDERS, PEOPLE, "", ALL, ["responder_list"]),
    ],
)  # fmt: skip
async def test_lists(
    lists: Lists, listed: Any, listing: Listing, key: str, suffix: str, more: dict[str, Any], indexes: Sequence[str]
) -> None:
    """The newest page and one far behind it; an empty id stands for the house's own."""
    time, last_id = await lists.key(key)
    given = {name: getattr(lists.house, name) if value == "" else value for name, value in more.items()}
    first, deep = [
        await lists.plan(
            lambda database, after=after: listed(
                database, organization_id=lists.house.organization_id, page=page(listing, after), **given
            )
        )
        for after in (None, (time, f"{last_id}{suffix}"))
    ]
    check(first, deep, *indexes)


async def test_search(lists: Lists) -> None:
    """By the addresses' index, and then by key; never along all responders."""
    for beginning, rows_max in (("a77@", 1), ("nobody@", 0), ("a777", 11)):
        plan = await lists.plan(
            lambda database, beginning=beginning: responders.list_responder_records(
                database,
                **installation(lists.house.organization_id).reach,
                prefixes=[beginning],
                page=page(RESPONDERS),
            )
        )
        assert plan["Actual Rows"] <= rows_max
        assert "responder_address_search" in {node.get("Index Name") for node in nodes(plan)}
        scans = {
            node["Node Type"] for node in nodes(plan) if node.get("Relation Name", "pipeline") != "pipeline"
        }  # of one row
        assert scans <= {"Index Scan", "Index Only Scan", "Bitmap Heap Scan"}, plan


async def test_children(lists: Lists) -> None:
    async with db.connection(lists.pool) as database:
        rows = await database._connection.fetch(
            "select instance_id from questionnaire_instance order by created_time desc limit 50"
        )
    plan = await lists.plan(
        lambda database: store.list_descendants(
            database,
            **lists.house.caller.reach,
            instance_ids=[row["instance_id"] for row in rows],
            depth_max=5,
            children_max=100,
            limit=10_000,
        )
    )
    scans = {node.get("Index Name") for node in nodes(plan) if node.get("Relation Name") == "questionnaire_instance"}
    assert {"questionnaire_instance_previous"} == scans


FILL = (
    """insert into responder (organization_id, responder_id, metadata, created_time)
       select $1, 'P' || lpad(n::text, 21, '0'), jsonb_build_object('email', 'a' || n || '@example.com', 'name', 'Ann'),
         now() - n * interval '1 second'
       from generate_series(1, $5::int) n where $2 || $3 || $4 is not null""",
    """insert into responder_address (organization_id, channel_id, address_key, responder_id, identifier,
         unsubscribe_id)
       select $1, 1, sha256(int8send(n)), 'P' || lpad(n::text, 21, '0'), 'a' || n || '@example.com',
         lpad(n::text, 22, '0')
       from generate_series(1, $5::int) n where $2 || $3 || $4 is not null""",
    """insert into questionnaire_instance (organization_id, instance_id, questionnaire_id, version_id, responder_id,
         short_code, locale, valid_days, editable, question_ids, metadata, created_time,
         previous_questionnaire_instance_id)
       select $1, 'I' || lpad(n::text, 21, '0'), $2, $3, 'P' || lpad(n::text, 21, '0'), lpad(n::text, 12, '0'), 'en',
         30, false, '{}', jsonb_build_object('transaction_id', n::text, 'store_id', '7', 'carrier', 'acs'),
         now() - n * interval '1 second', case when n % 10 = 0 then 'I' || lpad((n - 1)::text, 21, '0') end
       from generate_series(1, $5::int) n where $4::text is not null""",
    """insert into queue_item (organization_id, item_id, questionnaire_id, pipeline_id, responder_channel_identifier,
         address_key, send_time, send_offset_minutes, due_time, not_after, attempts_max)
       select $1, 'Q' || lpad(n::text, 21, '0'), $2, $4, 'a' || n || '@example.com', sha256(int8send(n)),
         now() - n * interval '1 second', 0, now() + interval '9 days', now() + interval '12 days', 9
       from generate_series(1, $5::int) n where $3::text is not null""",
)
