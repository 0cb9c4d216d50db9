"""The plans of what a worker asks of accounts, lanes and recipient domains, where there are many of each."""

from collections.abc import AsyncGenerator
from functools import partial
from typing import Any

import pytest

from afterword import errors
from afterword.kit import db
from afterword.sending.providers import health, rates
from afterword.sending.queue import lanes
from tests.bar import Tell
from tests.conftest import House, filled_database
from tests.sending.queue import test_plans
from tests.sending.queue.conftest import Queue
from tests.sending.queue.test_plans import (
    DUE_ROWS,
    Explained,
    full as full,  # noqa: PLC0414  a fixture
    nodes,
    shape as shape,  # noqa: PLC0414  a fixture
    worker_pool as worker_pool,  # noqa: PLC0414  a fixture
)

ACCOUNTS = 200  # each with its lane
DOMAINS = 100  # of one account
EVENTS = 20_000
SAMPLE = 1_000
ROWS_MAX = 2_000
ITEMS = {"queue_item", "attempt", "event"}


@pytest.fixture
async def pool_url(shape: str, server_url: str) -> AsyncGenerator[str]:
    name = f"rates_{shape.replace(' ', '_')}"
    async with filled_database(server_url, name, partial(fill, shape=shape)) as url:
        yield url


@pytest.fixture
def throttled(full: Queue) -> Queue:
    """Beside the items: accounts with a hundred slow domains each, and a long log."""
    return full


async def fill(pool: db.Pool, house: House, *, shape: str) -> None:
    await test_plans.fill(pool, house, shape=shape)
    async with db.connection(pool) as database:
        raw = database._connection
        await raw.execute(
            """insert into channel_account (organization_id, account_id, channel_id, title, has_domain_rates)
               select organization_id, lpad(n::text, 22, '0'), channel_id, 'Account ' || n, true
               from channel_account, generate_series(1, $1::int) n where account_id = (
                 select account_id from pipeline where pipeline_id = $2)""",
            ACCOUNTS,
            house.pipeline_id,
        )
        await raw.execute(
            """insert into domain_rate (organization_id, account_id, domain, rate, rate_ceiling, throttled_time)
               select organization_id, account_id, 'mail' || n || '.example', 5, 10, now() - interval '1 hour'
               from channel_account, generate_series(1, $1::int) n""",
            DOMAINS,
        )
        await raw.execute("update channel_account set rate = 10, rate_ceiling = 20, tokens = 50")
        await raw.execute(
            """insert into event (organization_id, event_id, type, subject_id, actor_kind, data, created_time)
               select $1, lpad(n::text, 22, 'e'), 'queue_item.sent', lpad(n::text, 22, '0'), 'worker',
                 jsonb_build_object('pipeline_id', $2::text, 'responder_channel_identifier', 'a@mail1.example'), now()
               from generate_series(1, $3::int) n""",
            house.organization_id,
            house.pipeline_id,
            EVENTS,
        )


def check(plan: dict[str, Any], *, rows_max: int = ROWS_MAX) -> int:
    """Of the big tables only so many rows are looked at; the most that any node saw."""
    most = 0
    for node in nodes(plan):
        if "Relation Name" in node:
            seen = (node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"]
            most = max(most, int(seen)) if node["Relation Name"] in ITEMS | {"domain_rate"} else most
            assert seen <= rows_max or node["Relation Name"] not in ITEMS | {"domain_rate"}, node
    return most


async def test_by_key(throttled: Queue, monkeypatch: pytest.MonkeyPatch, tell: Tell) -> None:
    """Whatever is asked of one account or domain finds it by its key; the log is read from its end."""
    organization_id = throttled.house.organization_id
    account_id = await throttled.account_id()
    one: Any = {"account": (organization_id, account_id)}
    domain: Any = {**one, "domain": "mail1.example"}
    keys = {(organization_id, account_id, f"mail{n}.example"): 5 for n in range(1, 51)}
    monkeypatch.setattr(rates, "SAMPLE_EVENTS", SAMPLE)
    most: dict[str, int] = {}
    async with db.transaction(throttled.pool) as database:
        asked: Any = Explained(database)
        for name, call in {
            "count_domains": rates.count_domains(asked, **domain),
            "insert_rate": rates.insert_rate(asked, **domain),
            "update_rate of a domain": rates.update_rate(asked, **domain),
            "update_tokens of domains": rates.update_tokens(asked, wanted=keys),
            "update_tokens": lanes.update_tokens(asked, claimed={(organization_id, account_id): 5}),
            "update_rate": health.update_rate(asked, **one),
            "get_gate": lanes.get_lane_block(asked, organization_id=organization_id, pipeline_id=throttled.pipeline_id),
            "list_stamps": lanes.list_fingerprints(asked, lanes=[throttled.lane]),
            "update_to_healthy": health.update_to_healthy(asked, **one, is_probe=True),
        }.items():
            asked.plan = {}
            try:
                await call
            except (errors.Unavailable, TypeError):  # it wants a row, and is given none
                assert asked.plan, name
            most[name] = check(asked.plan)
    tell(f"T32 plans: {max(most.values())} rows looked at for one account of {ACCOUNTS} beside {3 * DUE_ROWS} items")


async def test_who_is_at_the_head(throttled: Queue) -> None:
    """The look at all lanes reads the head of each, with or without domains that throttle; so do the metrics."""
    heads = await throttled.value("select count(*) from pipeline")
    async with db.transaction(throttled.pool) as database:
        asked: Any = Explained(database)
        await lanes.list_lanes(asked, after=("", ""), until=("~", "~"), channel_ids=[1], busy=[], limit=32)
        check(asked.plan, rows_max=heads)
        await lanes.list_closed_lanes(asked, after=("", ""), limit=100)
        check(asked.plan, rows_max=heads)


async def test_what_has_recovered(throttled: Queue) -> None:
    """The job that removes buckets begins with the oldest, and takes a bounded part."""
    async with db.transaction(throttled.pool) as database:
        asked: Any = Explained(database)
        await rates.prune_rates(asked, limit=500)
        removed = [node for node in nodes(asked.plan) if node["Node Type"] == "LockRows"]
        check(asked.plan, rows_max=(ACCOUNTS + 3) * DOMAINS)
        assert 500 >= removed[0]["Actual Rows"]
