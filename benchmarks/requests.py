"""POST of a queue item, a list of fifty, one instance: through one web process, against pgbench and bare HTTP."""

import asyncio
import json
import statistics
import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import httpx2

from afterword.asking.instances import api as instances_api
from afterword.core.wire import times
from afterword.core.wire.lists import Page
from afterword.kit import db
from afterword.kit.db import Database
from afterword.kit.web.fields import MetadataGroups
from afterword.kit.web.operations import Call, Handler
from afterword.sending.queue import api, service
from afterword.sending.queue.records import QUEUE_ITEMS, QueueItemRecord, QueueItemRequest
from afterword.sending.queue.service import NewItem
from benchmarks.findings import Ratio
from benchmarks.load import Load
from benchmarks.pgbench import Recording
from benchmarks.stage import Stage, free_port, running

CONNECTIONS = 32
REQUESTS_DIFFERENT = 500
LIST_ITEMS = 50
LIST_ITEMS_ALL = 1_000
POST_FLOOR = 0.90
LIST_FLOOR = 0.15
INSTANCE_FLOOR = 0.10
WARM_SECONDS = 0.5
MONTH_A_SECOND = 39


@dataclass(frozen=True, slots=True)
class Trial:
    """One kind of request: what is sent, the pgbench script of its SQL, and what a bare server answers in its place."""

    what: str
    floor: float
    requests: Sequence[bytes]
    script: str
    answer: httpx2.Response


async def post(stage: Stage, port: int, *, rounds: int, seconds: float) -> list[Ratio]:
    """New queue items, one a request, each answered after its commit."""
    return await _compare(stage, port, await post_trial(stage, port), rounds=rounds, seconds=seconds)


async def read_list(stage: Stage, port: int, *, rounds: int, seconds: float) -> list[Ratio]:
    """The first fifty of a thousand items of a pipeline."""
    return await _compare(stage, port, await list_trial(stage, port), rounds=rounds, seconds=seconds)


async def read_instance(stage: Stage, port: int, *, rounds: int, seconds: float) -> list[Ratio]:
    """One questionnaire instance by its id."""
    return await _compare(stage, port, await instance_trial(stage, port), rounds=rounds, seconds=seconds)


async def post_trial(stage: Stage, port: int) -> Trial:
    path = item_path(stage)
    bodies = [item_body(number) for number in range(REQUESTS_DIFFERENT)]
    requests = [request_of("POST", path, stage.seeded.token, body) for body in bodies]
    async with _client(stage, port) as client:
        answer = await client.post(path, json=bodies[0])
    return Trial(f"POST queue item, {CONNECTIONS} connections", POST_FLOOR, requests, await _post_script(stage), answer)


async def list_trial(stage: Stage, port: int) -> Trial:
    path = f"{item_path(stage)}?limit={LIST_ITEMS}"
    await fill(stage, LIST_ITEMS_ALL)
    async with _client(stage, port) as client:
        answer = await client.get(path)
    assert len(answer.json()) == LIST_ITEMS
    ids = {"questionnaire_id": stage.seeded.questionnaire_id, "pipeline_id": stage.seeded.pipeline_id}
    script = await _script(stage, api.list_items, ids, Page.first(QUEUE_ITEMS, limit=LIST_ITEMS))
    what = f"List of {LIST_ITEMS}, {CONNECTIONS} connections"
    return Trial(what, LIST_FLOOR, [request_of("GET", path, stage.seeded.token)], script, answer)


async def instance_trial(stage: Stage, port: int) -> Trial:
    below = f"/v3.2/q/questionnaire/{stage.seeded.questionnaire_id}/instance"
    metadata = item_body(0)["metadata"]
    async with _client(stage, port) as client:
        made = (await client.post(below, json={"metadata": metadata})).json()
        path = f"/v3.2/q/instance/{made['instance_id']}"
        answer = await client.get(path)
    assert answer.json() == made
    script = await _script(stage, instances_api.get_instance, {"instance_id": made["instance_id"]})
    what = f"Instance by id, {CONNECTIONS} connections"
    return Trial(what, INSTANCE_FLOOR, [request_of("GET", path, stage.seeded.token)], script, answer)


def _client(stage: Stage, port: int) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", headers=headers_of(stage))


async def load_both(stage: Stage, port: int, *, seconds: float) -> None:
    """Post and list for that long each, unmeasured."""
    token, path = stage.seeded.token, item_path(stage)
    bodies = [item_body(number) for number in range(REQUESTS_DIFFERENT)]
    await load(port, [request_of("POST", path, token, body) for body in bodies], seconds=seconds)
    await load(port, [request_of("GET", f"{path}?limit={LIST_ITEMS}", token)], seconds=seconds)


async def fill(stage: Stage, count: int, *, first: int = 0, spread: datetime | None = None) -> None:
    """Put items for `count` people, numbered from `first`, into the queue by the service that POST calls.

    `spread`: the time of number 0; the others are due later, so many a second as 100 million a month are.
    """
    batch = 500
    for start in range(first, first + count, batch):
        wanted = [
            _new(stage, number, spread and spread + timedelta(seconds=number // MONTH_A_SECOND))
            for number in range(start, min(start + batch, first + count))
        ]
        async with db.transaction(stage.pool) as database:
            for outcome in await service.schedule_all(database, wanted=wanted, secret=stage.site.secret):
                assert isinstance(outcome, QueueItemRecord), outcome


async def _compare(stage: Stage, port: int, trial: Trial, *, rounds: int, seconds: float) -> list[Ratio]:
    ours: list[Load] = []
    database: list[float] = []
    plain: list[float] = []
    async with bare(len(trial.answer.content), trial.answer.status_code) as bare_port:
        await load(port, trial.requests, seconds=WARM_SECONDS)
        for _ in range(rounds):
            ours.append(await load(port, trial.requests, seconds=seconds))
            database.append(await transactions_per_second(stage, trial, seconds=seconds))
            plain.append((await load(bare_port, trial.requests, seconds=seconds)).requests_per_second)
    rates = [each.requests_per_second for each in ours]
    note = f"; p99 {statistics.median(each.p99_ms for each in ours):.0f} ms"
    return [
        Ratio(
            trial.what, "pgbench, the same SQL", "a second", list(zip(rates, database, strict=True)), trial.floor, note
        ),
        Ratio(trial.what, "a bare server", "a second", list(zip(rates, plain, strict=True))),
    ]


async def transactions_per_second(stage: Stage, trial: Trial, *, seconds: float) -> float:
    return await stage.pgbench.transactions_per_second(trial.script, clients=CONNECTIONS, seconds=seconds)


async def load(port: int, requests: Sequence[bytes], *, seconds: float, connections: int = CONNECTIONS) -> Load:
    """Run the load as a process of its own; every answer must be good."""
    order = {
        "host": "127.0.0.1",
        "port": port,
        "requests": [request.decode() for request in requests],
        "connections": connections,
        "seconds": seconds,
    }
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "benchmarks.load"), stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    output, _ = await process.communicate(json.dumps(order).encode())
    found = Load(**json.loads(output))
    if found.failed:
        raise RuntimeError(f"{found.failed} of {found.count} answers were refusals.")
    return found


@asynccontextmanager
async def bare(size: int, status: int) -> AsyncGenerator[int, None]:
    port = free_port()
    order = json.dumps({"port": port, "bytes": size, "status": status})
    async with running("benchmarks.bare", order, settings={}):
        await connects(port)
        yield port


async def connects(port: int) -> None:
    """Wait until somebody listens there."""
    while True:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except ConnectionRefusedError:
            await asyncio.sleep(0.02)
        else:
            writer.close()
            return


async def _post_script(stage: Stage) -> str:
    """The statements of one POST that shares its transaction with no other: a transaction of two statements."""
    async with stage.pool.raw.acquire() as raw, raw.transaction():
        recording = Recording(raw)
        [made] = await service.schedule_all(
            Database(recording, stage.pool.clock), wanted=[_new(stage, 0)], secret=stage.site.secret
        )
    assert isinstance(made, QueueItemRecord)
    [document] = next(values[0] for _, values in recording.statements if _is_documents(values[0]))  # pyrefly: ignore[not-iterable]
    return recording.script(in_transaction=True, fresh=(document["item_id"], document["event_id"]))


async def _script(stage: Stage, handler: Handler, ids: Mapping[str, str], page: Page | None = None) -> str:
    """The statements of a read, recorded while its own handler runs."""
    async with stage.pool.raw.acquire() as raw:
        recording = Recording(raw)
        call = Call[None](
            caller=stage.caller,
            site=stage.site,
            now=stage.pool.clock.now(),
            ids=ids,
            body=None,
            request_id="",
            zone=times.zone_of(stage.caller.time_zone),
            requested=page,
        )
        await handler(call, Database(recording, stage.pool.clock))
    return recording.script(in_transaction=False)


def _is_documents(value: object) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict)


def _new(stage: Stage, number: int, due: datetime | None = None) -> NewItem:
    body = item_body(number)
    return NewItem(
        caller=stage.caller,
        questionnaire_id=stage.seeded.questionnaire_id,
        pipeline_id=stage.seeded.pipeline_id,
        request=QueueItemRequest(
            responder_channel_identifier=body["responder_channel_identifier"],
            locale=body["locale"],
            metadata=MetadataGroups(**body["metadata"]),
            send_time=None if due is None else times.Moment(due, 0),
        ),
    )


def item_path(stage: Stage) -> str:
    """Where items of the stage's pipeline are made and listed."""
    seeded = stage.seeded
    return f"/v3.2/q/questionnaire/{seeded.questionnaire_id}/pipeline/{seeded.pipeline_id}/queue/item"


def item_body(number: int) -> dict[str, Any]:
    """The item that an online shop sends when an order has arrived."""
    return {
        "responder_channel_identifier": f"ann.{number}@example.com",
        "locale": "el",
        "metadata": {
            "questionnaire": {"transaction_id": f"{number} (XKBK)", "transaction_date": "2026-11-20 18:02:11"},
            "responder": {"email": f"ann.{number}@example.com"},
        },
    }


def headers_of(stage: Stage) -> dict[str, str]:
    """Of the seeded organization's requests."""
    return {"Authorization": f"Bearer {stage.seeded.token}"}


def request_of(method: str, path: str, token: str, body: object = None) -> bytes:
    """A whole request as it goes over the wire."""
    content = b"" if body is None else json.dumps(body).encode()
    head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n"
    if body is not None:
        head += f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n"
    return f"{head}\r\n".encode() + content
