"""Lists over many cases and notifications read a page and no more, from an index.

`AFTERWORD_TEST_CASES` gives the volume.
"""

import os
import time
from typing import Any

import pytest

from tests.cases.conftest import Desk

ROWS = int(os.environ.get("AFTERWORD_TEST_CASES", "20000"))
BATCH_ROWS = 5_000  # of one statement, which has its time limit
BUFFERS_MAX = 300
PAGE_SECONDS_MAX = 5  # generous; what a page reads is counted below


@pytest.fixture
async def full(desk: Desk) -> Desk:
    await desk.told_case(subscriber_user_ids=[desk.house.user_id])
    for first in range(1, ROWS, BATCH_ROWS):
        for statement in (
            """insert into alert_instance (organization_id, alert_instance_id, alert_id, status_id, severity,
                 responder_id, created_time)
               select organization_id, lpad(n::text, 22, 'a'), alert_id, 1, 'low', 'r' || n % 100,
                 created_time - n * interval '1 second'
               from (select * from alert_instance order by created_time desc limit 1) one,
                 generate_series($1::int, $2::int) n""",
            """insert into notification (organization_id, notification_id, user_id, event_id, type, title, body,
                 created_time)
               select organization_id, lpad(n::text, 22, 'a'), user_id, lpad(n::text, 22, 'a'), type, title, body,
                 created_time - n * interval '1 second'
               from (select * from notification order by created_time desc limit 1) one,
                 generate_series($1::int, $2::int) n""",
        ):
            await desk.execute(statement, first, first + BATCH_ROWS - 1)
    await desk.execute("analyze alert_instance, notification")
    return desk


async def plan_of(desk: Desk, query: str) -> dict[str, Any]:
    statement: Any = f"explain (analyze, buffers, format json) {query}"
    plan: Any = await desk.value(statement, desk.house.organization_id)
    return plan[0]["Plan"]


async def test_pages(full: Desk) -> None:
    """By cursor each page is as quick as the first; what a repeat looks for is found by key."""
    case = (await full.cases())[-1]
    for path in ("/alert/instance", f"/alert/{case['alert_id']}/instance", "/notification"):
        cursor, seen = "", set[str]()
        for _ in range(3):
            started = time.monotonic()
            page = await full.api.get(f"{path}?limit=50{cursor}")
            assert time.monotonic() - started < PAGE_SECONDS_MAX
            cursor = f"&cursor={page['next_cursor']}"
            seen |= {str(row.get("alert_instance_id") or row["notification_id"]) for row in page["results"]}
        assert 150 == len(seen)

    behind = "created_time <= now() - interval '3 hours' order by created_time desc"
    for query in (
        f"select * from alert_instance where organization_id = $1 and {behind}, alert_instance_id limit 51",
        f"""select * from alert_instance where organization_id = $1 and alert_id = '{case["alert_id"]}' and {behind},
              alert_instance_id limit 51""",
        f"""select * from notification where organization_id = $1 and user_id = '{full.house.user_id}' and web
              and {behind}, notification_id limit 51""",
        *(
            f"""select * from alert_instance where organization_id = $1 and alert_id = '{case["alert_id"]}'
                  and responder_id {whose} and resolved_time is null and {behind} limit 1"""
            for whose in ("= 'nobody'", "is null")
        ),
    ):
        plan = await plan_of(full, query)
        assert plan["Shared Hit Blocks"] + plan["Shared Read Blocks"] < BUFFERS_MAX, (query, plan)
        assert "'Sort'" not in str(plan) or "responder_id" in query, (query, plan)  # a few rows may be sorted
