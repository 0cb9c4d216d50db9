"""Dry run, trace and engine are one function: for settings and rows drawn at random they say the same of every row.

Six worlds in every run; AFTERWORD_TEST_FAULTS=full makes it 200.
"""

import random
from collections import Counter
from datetime import datetime, timedelta
from typing import Any, Final

import httpx2
import pytest

from afterword.core.scheduling import windows
from afterword.kit.transport.base import Sent
from tests.sending.queue.conftest import Client, Queue
from tests.sizes import size

WORLDS: Final = size(6, 200)
ROWS: Final = 8
ADDRESSES: Final = [f"{name}@example.com" for name in ("ann", "bob", "cat", "dan")]
CONDITION: Final = {"subject": "questionnaire_metadata:store_id", "operator": "in", "value": ["1", "2"]}
STATUSES: Final = {"go": 2, "hold": 1, "skip": 8}
seen: Counter[tuple[str, str | None]] = Counter()


def rules(draw: random.Random, now: datetime) -> dict[str, Any]:
    """The settings of a pipeline; windows begin or end hours away from now, so that the test is in no hurry."""
    hour = now.hour
    window = draw.choice([None, None, (hour - 3, hour + 3), (hour + 3, hour + 6)])
    return {
        "priority": draw.randrange(3),
        "frequency_cap_days": draw.choice([0, 0, 2]),
        "if_capped": draw.choice(["skip", "wait"]),
        "if_outside": draw.choice(["skip", "wait"]),
        "policy_exempt": draw.random() < 0.2,
        "on_holidays": draw.choice(["wait", "send"]),
        "time_zone": "UTC",
        "conditions": draw.choice([None, CONDITION]),
        "dispatch_start_time": window and f"{window[0] % 24:02d}:00",
        "dispatch_end_time": window and f"{window[1] % 24:02d}:00",
    }


def policy(draw: random.Random, now: datetime) -> dict[str, Any]:
    return {
        "enabled": draw.random() < 0.8,
        "invitations_max": draw.randrange(1, 4),
        "window_days": draw.choice([1, 30]),
        "response_window_days": draw.choice([None, 7]),
        "per_channel": draw.random() < 0.5,
        "if_exceeded": draw.choice(["skip", "wait"]),
        "holidays": [now.date().isoformat()] if draw.random() < 0.2 else [],
    }


def row(draw: random.Random, now: datetime) -> dict[str, Any]:
    later = (now + timedelta(minutes=draw.randrange(1, 5000))).isoformat()
    return {
        "responder_channel_identifier": draw.choice(ADDRESSES),
        "metadata": {"questionnaire": {"store_id": str(draw.randrange(1, 4))}},
        **({"send_time": later} if draw.random() < 0.2 else {}),
    }


@pytest.mark.parametrize("seed", range(WORLDS))
async def test_three_that_agree(
    http: httpx2.AsyncClient, queue: Queue, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Items that wait for an opening are spread by a hash of their ids, which a dry run and a later batch do not share.
    monkeypatch.setattr(windows, "spread_start", lambda opening, _: opening.start)
    draw, now = random.Random(seed), await queue.now()  # noqa: S311
    other = await queue.pipeline()
    here, there = Client(http, queue), Client(http, other)
    for client in (here, there):
        await client.ok("PATCH", client.pipeline, rules(draw, now))
    await past(draw, there)
    await here.ok("PUT", "/policy/contact", policy(draw, now))
    for _ in range(draw.randrange(4)):
        await there.create(**row(draw, now))
    rows = [row(draw, now) for _ in range(ROWS)]

    foretold = await simulated(here, rows)
    created = (await here.send("POST", f"{here.items}/batch", rows)).json()["results"]
    traced = [await traced_of(here, one["item_id"]) for one in created]
    assert foretold == traced
    await queue.worker().claim(shares={queue.lane: 50, other.lane: 50})

    for place, one in enumerate(created):
        [found] = await queue.fetch(
            "select *, due_time > now() as waits from queue_item where item_id = $1", one["item_id"]
        )
        verdict, reason = traced[place]
        seen[verdict, reason] += 1
        if found["status"] == 1 and found["reason"] is None:  # the engine has not looked at it, nor should it have
            assert found["waits"]
            continue
        assert (STATUSES[verdict], reason) == (found["status"], found["reason"]), place


async def past(draw: random.Random, client: Client) -> None:
    """Some were asked, answered or unsubscribed before."""
    for address in ADDRESSES:
        if draw.random() < 0.4:
            await client.create(responder_channel_identifier=address)
            await client.queue.execute("update queue_item set due_time = now()")
            await client.queue.worker().send(Sent("reference", 250, "ok"))
    await client.queue.execute("update queue_item set status = 7, lease_until = null, owner = null where status < 4")
    if draw.random() < 0.3:
        await client.queue.execute("update questionnaire_instance set submitted_time = now()")
    if draw.random() < 0.3:
        await client.queue.execute(
            """insert into suppression (organization_id, suppression_id, channel_id, address_key, identifier, reason)
               select organization_id, left(item_id, 22), 1, address_key, 'a', 'blocked' from queue_item limit 1"""
        )


async def simulated(client: Client, rows: list[dict[str, Any]]) -> list[tuple[str, str | None]]:
    response = await client.send("POST", f"{client.items}/simulate", rows)
    assert 200 == response.status_code, response.text
    return [(one["verdict"], one["reason"]) for one in response.json()["results"]]


async def traced_of(client: Client, item_id: str) -> tuple[str, str | None]:
    found = await client.ok("GET", f"/q/queue/item/{item_id}/trace")
    return found["verdict"], found["reason"]


def test_it_was_no_small_talk() -> None:
    """The worlds came to most verdicts that settings can lead to."""
    is_whole = seen.total() == WORLDS * ROWS  # a part of them may have run in another process, or not yet
    assert {"conditions", "frequency_cap", "contact_policy"} <= {reason for _, reason in seen} or not is_whole
