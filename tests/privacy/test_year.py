"""A year, day by day: nothing of anybody is in a table, file, export, log or new backup longer than was promised."""

import asyncio
import random
import zlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import httpx2
import pytest

from afterword.asking.instances import files as instances_files
from afterword.kit import db
from afterword.kit.transport.base import Sent
from afterword.run.app import create_app
from afterword.run.backups import ledgers, manifests, service
from afterword.run.backups.manifests import Folder, Sealer
from afterword.run.worker.flights import Pace
from afterword.run.worker.jobs import Job, jobs_of
from afterword.run.worker.long_work import Exporter
from afterword.sending.queue.retention import DAYS_DEFAULT
from afterword.sending.queue.sending.service import Lease
from tests.conftest import FIGURE, House
from tests.privacy.columns import HOLDS
from tests.privacy.conftest import Desk, address_of, answer
from tests.sending.queue.conftest import Queue

DAYS: Final = 365
EVERY_DAYS: Final = 5  # a new person
LOOKED_EVERY_DAYS: Final = 15
FORGOTTEN_DAYS: Final = 60
DELETED_DAYS: Final = 120
RUN_DAYS: Final = 1  # from one run to the end of the next
EXPORT_DAYS: Final = 7  # in which a file stays that was made while somebody was known
BATCHES_MAX: Final = 200  # of a job in one day
NOT_OF_DAYS: Final = {"reap", "end stalled sessions", "expire items of closed lanes", "mail digests of reports"}
# Rows that come into being with a person, and whose times are moved to the simulated day.
MOVED: Final = sorted({*HOLDS, "audit_entry", "export", "queue_import", "rollup_dirty"})


class DayClock(db.Clock):
    """The database's clock, so many days later."""

    days = 0

    def now(self) -> datetime:
        return super().now() + timedelta(days=self.days)


@pytest.mark.nightly
async def test_a_year(
    pool: db.Pool,
    database_url: str,
    house: House,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    record_property: Callable[[str, object], None],
    capfd: pytest.CaptureFixture[str],
) -> None:
    clock = DayClock()
    later = replace(pool, clock=clock)
    desk = await _desk(pool, house)
    days = {
        "anonymize_after_days": FORGOTTEN_DAYS,
        "delete_after_days": DELETED_DAYS,
        "events_days": 30,
        "audit_days": 30,
    }
    await desk.ask("PATCH", f"/organization/{house.organization_id}/retention", days)
    await desk.execute("update organization set minimum_base = 1")
    jobs = _jobs(house, tmp_path)
    born: dict[str, int] = {}
    gone, kept = list[str](), list[str]()
    for day in range(DAYS):
        clock.days = 0
        if day % EVERY_DAYS == 0:
            canary = f"zqperson{day:03}x"
            await _moved(desk, day, lambda canary=canary: _live(desk, canary, tmp_path))
            born[canary] = day
        clock.days = day
        await _work(later, jobs)
        if day % LOOKED_EVERY_DAYS == 0 or day == DAYS - 1:
            gone = [each for each, since in born.items() if day - since > FORGOTTEN_DAYS + RUN_DAYS]
            assert {} == {each: found for each in gone if (found := await desk.traces(each))}, day
            assert [] == [path for path in _files(tmp_path) for each in gone if each.encode() in path.read_bytes()]
            kept = [each for each, since in born.items() if day - since < FORGOTTEN_DAYS - RUN_DAYS]
            assert all([await desk.traces(each) for each in kept])
            exported = await _exported(desk)
            last = FORGOTTEN_DAYS + RUN_DAYS + EXPORT_DAYS
            assert [] == [each for each, since in born.items() if day - since > last and each.encode() in exported]
            assert kept[-1].encode() in exported
    oldest = await desk.value("select min(greatest(sent_time, submitted_time)) from questionnaire_instance")
    assert clock.now() - oldest < timedelta(days=DELETED_DAYS + 1 + RUN_DAYS)
    assert len(born) == await _counted(desk)
    backup = await _backed_up(database_url, tmp_path, tmp_path_factory.mktemp("backups"), now=clock.now())
    assert ([], []) == (_found(gone, backup), [each for each in kept if each.encode() not in backup])
    output = capfd.readouterr()
    assert "zqperson" not in output.out + output.err
    runs = await desk.value("select count(*) from retention_run where state = 'done'")
    assert runs > DAYS
    record_property(
        FIGURE,
        f"{len(born)} people in {DAYS} days, {runs} runs: nothing older than promised in tables, files, exports, log "
        f"and a backup of {len(backup):,} bytes; {len(born)} counted",
    )


async def _desk(pool: db.Pool, house: House) -> Desk:
    asgi: Any = create_app(pool=pool, site=house.site)
    http = httpx2.AsyncClient(transport=httpx2.ASGITransport(app=asgi), base_url="https://answers.example/v3.2")
    return Desk(pool, house, http, Queue(pool, house, house.pipeline_id))


def _jobs(house: House, files: Path) -> Sequence[Job]:
    lease = Lease(owner=uuid4(), seconds=60, margin_seconds=5)
    found = jobs_of(
        lease=lease,
        site=replace(house.site, file_folder=str(files)),
        pace=Pace(),
        draw=random.random,
        queue_days=DAYS_DEFAULT,
    )
    return [job for job in found if job.name not in NOT_OF_DAYS]


async def _work(pool: db.Pool, jobs: Sequence[Job]) -> None:
    """The worker's jobs of a day, each until it has nothing to do."""
    for job in jobs:
        for _ in range(BATCHES_MAX):
            async with db.transaction(pool) as database:
                if await job.run(database) < job.batch:
                    break


async def _live(desk: Desk, canary: str, files: Path) -> None:
    """Somebody is asked, answers with words and a file, complains, bounces, is exported and written to again."""
    address = address_of(canary)
    metadata = {"questionnaire": {"note": canary}, "responder": {"email": address, "first_name": canary}}
    body = {"responder_channel_identifier": address, "metadata": metadata, "external_reference": canary}
    sent = await desk.ask("POST", desk.items, body, Idempotency_Key=uuid4().hex)
    stopped = await desk.ask("POST", desk.items, {**body, "external_reference": f"{canary}-2"})
    await desk.ask("PATCH", f"/q/queue/item/{stopped['item_id']}", {"status_id": 5, "result": f"as {canary} wished"})
    assert await desk.queue.worker().send(Sent(f"250 ok {canary}"))
    shown = await desk.ask("GET", f"/q/queue/item/{sent['item_id']}")
    instance_id, responder_id = shown["questionnaire_instance_id"], shown["responder_id"]
    await answer(desk, instance_id, f"I am {canary}")
    file_id = uuid4().hex[:22]
    await desk.execute(
        """insert into response_file (organization_id, instance_id, file_id, question_id, name, media_type, bytes,
             content_hash, created_time)
           select organization_id, instance_id, $2, question_id, $3, 'text/plain', 1, sha256(''), now() from answer
           where instance_id = $1 and jsonb_typeof(value) = 'string'""",
        *(instance_id, file_id, canary),
    )
    instances_files.write(files, organization_id=desk.house.organization_id, file_id=file_id, content=canary.encode())
    note = {"channel_id": 1, "identifier": address, "note": f"{canary} rang"}
    suppressed = await desk.ask("POST", "/suppression", note)
    await desk.ask("DELETE", f"/suppression/{suppressed['suppression_id']}")
    await desk.ask("POST", "/suppression", note)
    await desk.ask("PATCH", f"/q/responder/{responder_id}", {"locale": "el"})
    await desk.ask("POST", f"{desk.base}/export", {"format": "csv"})
    assert await Exporter(desk.pool, uuid4()).work_next(asyncio.Event())


async def _moved(desk: Desk, day: int, act: Callable[[], Any]) -> None:
    """Do it now, and move the times of all rows that it wrote to the simulated day."""
    start = await desk.value("select pg_current_xact_id()::text::bigint")
    await act()
    async with db.transaction(desk.pool) as database:
        await database.execute("set local session_replication_role = replica")  # the audit log is not changed else
        for table in MOVED:
            columns = await database.fetch_value(
                """select array_agg(attname::text) from pg_attribute
                   where attrelid = $1::text::regclass and attnum > 0 and atttypid = 'timestamptz'::regtype""",
                table,
            )
            if columns:
                moves = ", ".join(f"{name} = {name} + make_interval(days => $2)" for name in columns)
                query: Any = f"update {table} set {moves} where xmin::text::bigint >= $1"
                await database.execute(query, start, day)


def _files(root: Path) -> list[Path]:
    return [path for path in root.rglob("*") if path.is_file()]


async def _exported(desk: Desk) -> bytes:
    """The text of all files of exports."""
    async with db.connection(desk.pool) as database:
        rows = await database.fetch("select content from export_piece order by export_id, number")
    return b"".join(zlib.decompress(row["content"]) for row in rows)


async def _backed_up(url: str, files: Path, folder: Path, *, now: datetime) -> bytes:
    """The text of a backup that is made now: rows, files and ledgers."""
    location, backup_id = Folder(folder), manifests.backup_id_of(now)
    await service.save(
        url=url, location=location, sealer=Sealer(), backup_id=backup_id, kind="whole", secret=b"s" * 32,
        file_folder=files, now=now,
    )  # fmt: skip
    async with await db.open_pool(url, size_max=1) as pool:
        assert [ledgers.RUNS] == await service.keep_ledgers(pool, location=location, sealer=Sealer, now=now)
    return b"".join(
        zlib.decompress(location.get(name), manifests.GZIP) if name.endswith(".gz") else location.get(name)
        for name in location.list_names()
    )


def _found(canaries: Sequence[str], content: bytes) -> list[str]:
    """Those that stand there, as text or in bytes as COPY writes them."""
    return [each for each in canaries if each.encode() in content or each.encode().hex().encode() in content]


async def _counted(desk: Desk) -> int:
    """Responses in the kept counts, whether their rows are still there or not."""
    return await desk.value(
        """select sum(n)::bigint from rollup_count c join rollup_span s using (organization_id, questionnaire_id,
             dimension, generation) cross join unnest(c.given, c.counts) v (name, n)
           where c.dimension = 'cases' and v.name = 'submitted' and c.day < s.kept_until"""
    )
