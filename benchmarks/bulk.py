"""Ten thousand queue items a request through one web process, against `copy` of the same rows into the same table."""

import io
import json
import time
from typing import Any, Final

import asyncpg
import httpx2

from benchmarks.findings import Ratio
from benchmarks.requests import item_body, item_path
from benchmarks.stage import Stage

ROWS: Final = 10_000
FLOOR: Final = 0.28
TIMEOUT_SECONDS: Final = 60.0
TABLE: Final = "queue_item"
FRESH: Final = {"item_id": "'C' || substr(item_id, 2)", "external_reference": "'copy-' || external_reference"}
COLUMNS: Final = """select attname::text from pg_attribute
  where attrelid = $1::text::regclass and attnum > 0 and not attisdropped order by attnum"""


async def post_and_copy(stage: Stage, port: int, *, rounds: int) -> list[Ratio]:
    """Batches over HTTP and copies of the rows that they became, in turn; every row has a business key."""
    headers = {"Authorization": f"Bearer {stage.seeded.token}", "Content-Type": "application/json"}
    found: list[tuple[float, float]] = []
    async with httpx2.AsyncClient(
        base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=TIMEOUT_SECONDS
    ) as client:
        await _post(client, stage, 0)
        for number in range(1, rounds + 1):
            ours = await _post(client, stage, number)
            found.append((ROWS / ours, ROWS / await _copy(stage, number)))
    what = f"Batch of {ROWS:,} items, one request"
    return [Ratio(what, "`copy` of the same rows", "rows a second", found, FLOOR)]


async def _post(client: httpx2.AsyncClient, stage: Stage, number: int) -> float:
    """The seconds from the first byte of a batch to the last of its answer."""
    rows = [{**item_body(place), "external_reference": f"order-{number}-{place}"} for place in range(ROWS)]
    content = json.dumps(rows).encode()
    begun = time.perf_counter()
    answer = await client.post(f"{item_path(stage)}/batch", content=content)
    seconds = time.perf_counter() - begun
    assert answer.json()["created"] == ROWS, answer.text[:1_000]
    return seconds


async def _copy(stage: Stage, number: int) -> float:
    """The seconds of a copy of the batch's rows under other ids, with all keys and indexes, until its commit."""
    raw: Any = await asyncpg.connect(stage.url)
    try:
        found = await raw.fetch(COLUMNS, TABLE)
        names: list[str] = [row["attname"] for row in found]
        values = ", ".join(FRESH.get(name, name) for name in names)
        data = io.BytesIO()
        query = f"select {values} from {TABLE} where external_reference like $1"
        await raw.copy_from_query(query, f"order-{number}-%", output=data, format="binary")
        data.seek(0)
        begun = time.perf_counter()
        tag = await raw.copy_to_table(TABLE, source=data, columns=names, format="binary")
        seconds = time.perf_counter() - begun
    finally:
        await raw.close()
    assert tag == f"COPY {ROWS}"
    return seconds
