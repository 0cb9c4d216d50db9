"""The real worker at work: how late a small tenant's items leave beside a blast, memory over a million, its rate."""

import asyncio
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from afterword.core.messaging.addresses import CHANNEL_LINK
from afterword.kit import db
from afterword.run.cli import demo
from afterword.run.cli.demo import Seeded
from afterword.sending.pipelines import service as pipelines
from afterword.tenants.organizations.tokens import access
from benchmarks import queue
from benchmarks.findings import Figure, Finding, Ratio
from benchmarks.requests import connects, fill
from benchmarks.rest import memory_mb
from benchmarks.stage import SECRET, Stage, free_port, running

BLAST_ITEMS: Final = 100_000
BLAST_KEPT_FLOOR: Final = 0.8
SMALL_PER_SECOND: Final = 5.0
LATENESS_SECONDS_MAX: Final = 0.5
LATENESS_TIMES: Final = 4  # as long as the other measurements of a rate
WARM_ITEMS: Final = 500
MILLION: Final = 1_000_000
MEMORY_GROWTH_MB_MAX: Final = 20.0
PEOPLE: Final = 10_000  # who are asked again and again
SLOTS_OF_ACCOUNT: Final = 50  # the worker's own number; 10 is what a new account begins with
POLL_SECONDS: Final = 0.2
SECONDS_MAX: Final = 3_600.0


async def lateness(stage: Stage, *, blast: int, rounds: int, seconds: float) -> list[Finding]:
    """A small organization's delay over a real wire beside a blast, and the rate that the blast loses by it."""
    small = await tenant(stage, "small")
    port = free_port()
    async with running("benchmarks.sink", str(port), settings={}):
        await connects(port)
        await queue.empty(stage)
        await fill(stage, blast)
        await queue.settle(stage)
        before = await sent(stage)
        async with running("afterword", "worker", settings=settings(stage, smtp_url=_sink(port))):
            await _untilsent(stage, before + WARM_ITEMS)
            shares: list[tuple[float, float]] = []
            for _ in range(rounds):
                alone = await _rate(stage, seconds)
                beside, _ = await asyncio.gather(_rate(stage, seconds), _trickle(small, seconds))
                shares.append((beside, alone))
            late = await lateness_of(small)
            is_over = await _is_over(stage)
    if is_over:
        raise RuntimeError("The blast was over before the measurement; make it larger.")
    what = f"Lateness of a due item while another organization has {blast:,} queued"
    return [
        Ratio("Mails of the blast, beside the other organization's", "alone", "a second", shares, BLAST_KEPT_FLOOR),
        Figure(f"{what}, p50", percentile(late, 0.5), LATENESS_SECONDS_MAX, "s"),
        Figure(f"{what}, p99", percentile(late, 0.99), LATENESS_SECONDS_MAX, "s"),
    ]


async def million(stage: Stage, *, items: int) -> list[Figure]:
    """Memory of one worker process after a tenth of the items and after all of them."""
    linked_stage = replace(stage, seeded=await linked(stage))
    await _fill_again(linked_stage, items)
    before = await sent(stage)
    async with running("afterword", "worker", settings=settings(stage)) as process:
        await _untilsent(stage, before + items // 10)
        early = memory_mb(process.pid)
        await _untilsent(stage, before + items)
        late = memory_mb(process.pid)
    if early is None or late is None:
        return []
    what = f"Worker's memory, growth from {items // 10:,} items to {items:,}"
    return [Figure(what, max(late - early, 0.0), MEMORY_GROWTH_MB_MAX, "MB")]


async def rate_of_worker(stage: Stage, items: int) -> float:
    """Items a second of one worker process, from the first that was sent to the last."""
    await queue.empty(stage)
    await _fill_again(stage, items)
    await queue.settle(stage)
    before = await sent(stage)
    async with running("afterword", "worker", settings=settings(stage)):
        await _untilsent(stage, before + items)
    async with db.connection(stage.pool) as database:
        return await database.fetch_value(
            """select count(*) / extract(epoch from max(dispatched_time) - min(dispatched_time))::float8
               from queue_item where organization_id = $1 and status = 4""",
            stage.seeded.organization_id,
        )


async def linked(stage: Stage) -> Seeded:
    """The seeded questionnaire with a pipeline on the channel without a wire, its account as wide as the worker."""
    async with db.transaction(stage.pool) as database:
        made = await pipelines.create_pipeline(
            database,
            organization_id=stage.seeded.organization_id,
            questionnaire_id=stage.seeded.questionnaire_id,
            channel_id=CHANNEL_LINK,
            title="Links",
            message_subject="A question",
            message_body="Please answer.",
            now=database.clock.now(),
        )
        await database.execute(
            "update channel_account set slots_max = $3 where organization_id = $1 and account_id = $2",
            made.organization_id,
            made.account_id,
            SLOTS_OF_ACCOUNT,
        )
    return replace(stage.seeded, pipeline_id=made.pipeline_id)


async def lateness_of(stage: Stage) -> list[float]:
    """Seconds from due to sent for each item of an organization; those that wait count up to now."""
    async with db.connection(stage.pool) as database:
        rows = await database.fetch(
            """select extract(epoch from coalesce(dispatched_time, now()) - due_time)::float8 as late from queue_item
               where organization_id = $1 and (dispatched_time is not null or due_time <= now())""",
            stage.seeded.organization_id,
        )
    return [row["late"] for row in rows]


def percentile(values: Sequence[float], share: float) -> float:
    """The least value that so large a share of them does not exceed."""
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


async def tenant(stage: Stage, domain: str) -> Stage:
    """The same ground with another organization on it."""
    seeded = await demo.seed(stage.pool, stage.site, domain=domain)
    async with db.connection(stage.pool) as database:
        caller = await access.authenticate(
            database, authorization=f"Bearer {seeded.token}", esat_auth=None, esat_domain=None
        )
    return replace(stage, seeded=seeded, caller=caller)


async def _trickle(stage: Stage, seconds: float) -> None:
    """One item after the other, each due at once."""
    for number in range(round(seconds * SMALL_PER_SECOND)):
        await fill(stage, 1, first=number)
        await asyncio.sleep(1 / SMALL_PER_SECOND)


async def _fill_again(stage: Stage, items: int) -> None:
    """Put so many items into the queue, for the same people again and again."""
    for start in range(0, items, PEOPLE):
        await fill(stage, min(PEOPLE, items - start))


async def _rate(stage: Stage, seconds: float) -> float:
    """Items sent per second."""
    loop = asyncio.get_running_loop()
    begun, before = loop.time(), await sent(stage)
    await asyncio.sleep(seconds)
    after = await sent(stage)
    return (after - before) / (loop.time() - begun)


async def _untilsent(stage: Stage, items: int) -> None:
    async with asyncio.timeout(SECONDS_MAX):
        while await sent(stage) < items:  # noqa: ASYNC110  another process does it
            await asyncio.sleep(POLL_SECONDS)


async def sent(stage: Stage) -> int:
    """All sends that were accepted here: the kept total, since counting items would slow the measurement."""
    async with stage.pool.raw.acquire() as raw:
        return int(await raw.fetchval("select coalesce(sum(total), 0) from attempt_total where outcome = 'accepted'"))


async def _is_over(stage: Stage) -> bool:
    async with stage.pool.raw.acquire() as raw:
        return await raw.fetchval(
            "select not exists (select from queue_item where organization_id = $1 and status < 4)",
            stage.seeded.organization_id,
        )


def settings(stage: Stage, **more: str) -> dict[str, str]:
    folder = str(stage.folder / "worker")
    return {"database_url": stage.url, "data_dir": folder, "secret": SECRET, "log_level": "warning", **more}


def _sink(port: int) -> str:
    return f"smtp://127.0.0.1:{port}?starttls=never"
