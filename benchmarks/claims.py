"""The cost of a claim beside ten million rows that wait for a later day: two stages, measured in turn."""

import statistics
import time
import uuid
from typing import Any, Final

import asyncpg

from afterword.core.messaging.addresses import CHANNEL_EMAIL
from afterword.core.scheduling.lanes import START
from afterword.kit import db
from afterword.run.worker.flights import LANES_MAX, SLOTS
from afterword.run.worker.loop import PLANNER
from afterword.run.worker.sender import END
from afterword.sending.queue import lanes as lanes_store
from afterword.sending.queue.sending import store as sending_store
from benchmarks import queue
from benchmarks.findings import Figure
from benchmarks.requests import fill
from benchmarks.stage import Stage, stage

FUTURE_FEW: Final = 10_000
FUTURE_MANY: Final = 10_000_000
DUE: Final = 2_000
CLAIMS: Final = 100  # a round
ROUNDS: Final = 5
COST_MAX: Final = 1.3
STEP_ROWS: Final = 1_000_000
FILL_SECONDS_MAX: Final = 1_800.0


async def cost_of_future_rows(*, future: int = FUTURE_MANY) -> list[Figure]:
    """The time of a turn (lanes with something due, and a claim of fifty), many future rows against few."""
    async with stage() as few, stage() as many:
        for ground, rows in ((few, FUTURE_FEW), (many, future)):
            await fill(ground, DUE)
            await schedule_later(ground, rows)
            await queue.settle(ground)
        pairs = [(await turn_seconds(many), await turn_seconds(few)) for _ in range(1 + ROUNDS)][1:]
    factor = statistics.median(large / small for large, small in pairs)
    what = f"Turn of a worker with {future:,} future rows, beside one with {FUTURE_FEW:,}"
    return [Figure(what, factor, COST_MAX, "times")]


async def turn_seconds(ground: Stage, *, claims: int = CLAIMS) -> float:
    """The median time of a turn as the worker takes it; every claim is taken back."""
    seeded = ground.seeded
    async with await db.open_pool(ground.url, size_max=1, server_settings=PLANNER) as pool:
        return statistics.median(
            [await _turn(pool, (seeded.organization_id, seeded.pipeline_id)) for _ in range(claims)]
        )


async def _turn(pool: db.Pool, lane: tuple[str, str]) -> float:
    async with pool.raw.acquire() as raw:
        undone = raw.transaction()
        await undone.start()
        database = db.Database(raw, pool.clock)
        begun = time.perf_counter()
        lanes = await lanes_store.list_lanes(
            database, after=START, until=END, channel_ids=[CHANNEL_EMAIL], busy=[], limit=LANES_MAX
        )
        items = await sending_store.claim_items(database, shares={lane: SLOTS}, owner=uuid.uuid4(), lease_seconds=60.0)
        took = time.perf_counter() - begun
        await undone.rollback()
    assert lanes
    assert len(items) == SLOTS
    return took


async def schedule_later(ground: Stage, rows: int) -> None:
    """Copies of an item that stands in the queue, each due some time in the next year but not before tomorrow."""
    connection: Any = await asyncpg.connect(ground.url)
    try:
        await connection.execute("set statement_timeout = 0")
        for start in range(0, rows, STEP_ROWS):
            await connection.execute(
                """insert into queue_item (organization_id, item_id, questionnaire_id, pipeline_id,
                     responder_channel_identifier, address_key, metadata, send_time, send_offset_minutes, due_time,
                     not_after, attempts_max)
                   select i.organization_id, 'F' || lpad(n::text, 21, '0'), i.questionnaire_id, i.pipeline_id,
                     'later.' || n || '@example.com', sha256(int8send(n)), i.metadata, later.due, 0, later.due,
                     later.due + interval '3 days', i.attempts_max
                   from (select * from queue_item limit 1) i, generate_series($1::bigint, $2::bigint) n,
                     lateral (select now() + interval '1 day' + random() * n / n * interval '364 days' as due) later""",
                start + 1,
                min(start + STEP_ROWS, rows),
                timeout=FILL_SECONDS_MAX,
            )
    finally:
        await connection.close()
