"""The first answer page at a fixed rate: a customer's phone opens the link, and the first byte comes in time."""

import asyncio
import json
import sys
from collections.abc import Sequence
from typing import Final
from urllib.parse import urlsplit

import httpx2

from benchmarks import requests
from benchmarks.findings import Figure, Finding
from benchmarks.load import Rhythm
from benchmarks.stage import Stage

PER_SECOND: Final = 200
INSTANCES: Final = 500
WARM_SECONDS: Final = 2.0
SECONDS_TIMES: Final = 5  # as long as a measurement of a rate: a 99th percentile needs many answers
P99_MS_MAX: Final = 20.0


async def first_bytes(stage: Stage, port: int, *, seconds: float) -> list[Finding]:
    """The 99th percentile of one web process and of a bare server at the same rate and size."""
    paths = await _paths(stage, port)
    async with (
        httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client,
        client.stream("GET", paths[0], headers={"Accept-Encoding": "gzip"}) as answer,
    ):
        size = sum([len(part) async for part in answer.aiter_raw()])
    ours = [_request(path) for path in paths]
    await _at_rate(port, ours, seconds=WARM_SECONDS)
    async with requests.bare(size, answer.status_code) as bare_port:
        found = await _at_rate(port, ours, seconds=SECONDS_TIMES * seconds)
        bare = await _at_rate(bare_port, ours, seconds=SECONDS_TIMES * seconds)
    rate = f"at {PER_SECOND} requests a second"
    print(f"  first byte {rate}: p50 {found.p50_ms:.1f} ms, of a bare server {bare.p50_ms:.1f} ms", flush=True)
    return [
        Figure(f"First byte of the answer page {rate}, p99", found.p99_ms, P99_MS_MAX, "ms"),
        Figure("The same of a bare server", bare.p99_ms, P99_MS_MAX, "ms"),
    ]


async def _paths(stage: Stage, port: int) -> list[str]:
    below = f"/v3.2/q/questionnaire/{stage.seeded.questionnaire_id}/instance"
    metadata = requests.item_body(0)["metadata"]
    async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", headers=requests.headers_of(stage)) as client:
        made = [(await client.post(below, json={"metadata": metadata})).json() for _ in range(INSTANCES)]
    return [urlsplit(stage.site.pages("").collection_url(each["instance_id"])).path for each in made]


def _request(path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAccept: text/html\r\nAccept-Encoding: gzip\r\n\r\n".encode()


async def _at_rate(port: int, asked: Sequence[bytes], *, seconds: float) -> Rhythm:
    order = {
        "host": "127.0.0.1",
        "port": port,
        "requests": [request.decode() for request in asked],
        "per_second": PER_SECOND,
        "seconds": seconds,
    }
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "benchmarks.load"), stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    output, _ = await process.communicate(json.dumps(order).encode())
    found = Rhythm(**json.loads(output))
    if found.failed:
        raise RuntimeError(f"{found.failed} of {found.count} answers were refusals.")
    return found
