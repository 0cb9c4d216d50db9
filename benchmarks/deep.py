"""Page 10,000 of a long list by its cursor, against page 1: the same request over the same million rows."""

from urllib.parse import parse_qs, urlsplit

import httpx2

from benchmarks import requests
from benchmarks.findings import Ratio
from benchmarks.stage import Stage

ITEMS = 1_000_000
PAGE_ITEMS = 50
PAGE = 10_000
STEP_ITEMS = 500  # of the walk there: a cursor is not bound to the size of a page
FLOOR = 0.8

FILL = """insert into queue_item (organization_id, item_id, questionnaire_id, pipeline_id, responder_channel_identifier,
         address_key, locale, send_time, send_offset_minutes, due_time, not_after, attempts_max)
       select $1, 'Q' || lpad(n::text, 21, '0'), $2, $3, 'a' || n || '@example.com', sha256(int8send(n)), 'el',
         now() - n * interval '1 second', 120, now() + interval '9 days', now() + interval '12 days', 9
       from generate_series(1, $4::int) n"""


async def page_by_cursor(stage: Stage, port: int, *, rounds: int, seconds: float) -> list[Ratio]:
    """Walk to the page by cursors alone, then ask for it and for the first one in turn."""
    await fill(stage)
    path = requests.item_path(stage)
    cursor = ""
    async with httpx2.AsyncClient(
        base_url=f"http://127.0.0.1:{port}", headers=requests.headers_of(stage), timeout=30
    ) as client:
        for _ in range(PAGE_ITEMS * (PAGE - 1) // STEP_ITEMS):
            answer = await client.get(path, params={"limit": STEP_ITEMS} | ({"cursor": cursor} if cursor else {}))
            [cursor] = parse_qs(urlsplit(answer.links["next"]["url"]).query)["cursor"]
    first = f"{path}?limit={PAGE_ITEMS}"
    rates: list[tuple[float, float]] = []
    for _ in range(rounds):
        pair = [
            await requests.load(port, [requests.request_of("GET", target, stage.seeded.token)], seconds=seconds)
            for target in (f"{first}&cursor={cursor}", first)
        ]
        rates.append((pair[0].requests_per_second, pair[1].requests_per_second))
    what = f"Page {PAGE:,} of a list of {ITEMS:,}, by cursor"
    return [Ratio(what, "page 1", "a second", rates, FLOOR)]


async def fill(stage: Stage) -> None:
    """Put the items there, older than whatever else is in the list."""
    seeded = stage.seeded
    async with stage.pool.raw.acquire() as raw:
        await raw.execute("set statement_timeout = 0")
        values = (stage.caller.organization_id, seeded.questionnaire_id, seeded.pipeline_id, ITEMS)
        await raw.execute(FILL, *values, timeout=600)
        await raw.execute("vacuum analyze queue_item", timeout=600)
        await raw.execute("reset statement_timeout")
