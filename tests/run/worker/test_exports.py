"""Exports whose worker is stopped, dies, or fails."""

import asyncio
import hashlib
import threading
import uuid
from typing import Any

import pytest

from afterword import errors
from afterword.core.answers.values import Given
from afterword.kit import db
from afterword.kit.db.leases import ATTEMPTS_MAX, LEASE_SECONDS, LeaseLost, Leases
from afterword.listening.exports import service, store as exports_store, workbook
from afterword.run.worker import long_work
from afterword.run.worker.long_work import Exporter
from tests.conftest import House
from tests.event_log import list_events
from tests.listening.exports.conftest import CSAT, Shop, shop, table
from tests.listening.exports.test_exports import shift
from tests.standbys import Told

__all__ = ["shop"]


class TestWorker:
    async def test_cancelled_while_it_is_written(self, shop: Shop) -> None:
        await shop.respond({CSAT: Given(1)})
        export = await shop.ask()
        owner = uuid.uuid4()
        async with db.transaction(shop.pool) as database:
            claimed = await exports_store.EXPORTS.claim(database, owner=owner, now=database.clock.now())
            assert claimed is not None
            work = await service.begin(database, export=claimed, owner=owner)
        assert 204 == (await shop.delete(f"/q/export/{export['export_id']}")).status_code
        async with db.transaction(shop.pool) as database:
            piece = service.pack(work, [], is_first=True)
            with pytest.raises(LeaseLost):
                await service.keep(database, work=work, piece=piece)

    @pytest.mark.parametrize("format_name", ["csv", "jsonl", "xlsx", "sav"])
    async def test_goes_on_where_another_died(
        self, shop: Shop, monkeypatch: pytest.MonkeyPatch, format_name: str
    ) -> None:
        monkeypatch.setattr(service, "BATCH_ROWS", 2)
        for n in range(5):
            await shop.respond({CSAT: Given(1 + n)})
        export = await shop.ask(format=format_name)
        await self._die_after_one_piece(shop)
        assert 0 == await shop.write()  # its lease holds
        await shift(shop.pool, LEASE_SECONDS + 1)
        assert 1 == await shop.write()
        done = (await shop.get(f"/q/export/{export['export_id']}")).json()
        content = (await shop.get(f"/q/export/{export['export_id']}/file")).content
        assert ("done", 5) == (done["state"], done["row_count"])
        assert (f"sha256:{hashlib.sha256(content).hexdigest()}", len(content)) == (done["checksum"], done["bytes"])
        if format_name == "csv":
            assert 5 == len({row["instance_id"] for row in table(content.decode())})

    async def test_begins_again_where_its_columns_changed(self, shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
        """No file has rows of two tables: a name was declared, or a version published, between two pieces."""
        monkeypatch.setattr(service, "BATCH_ROWS", 2)
        for n in range(5):
            await shop.respond({CSAT: Given(1 + n)}, metadata={"questionnaire": {"floor": "3"}})
        export = await shop.ask()
        await self._die_after_one_piece(shop)
        declared = await shop.client.post(
            "/v3.2/q/metadata/questionnaire",
            json={"name": "floor", "level": "organization", "title": "Floor", "type": "number"},
            headers=shop.house.headers,
        )
        assert 201 == declared.status_code, declared.text
        await shift(shop.pool, LEASE_SECONDS + 1)
        assert 1 == await shop.write()
        content = (await shop.get(f"/q/export/{export['export_id']}/file")).content
        assert ["3"] * 5 == [row["questionnaire.floor"] for row in table(content.decode())]

    async def test_stop_hands_it_back(self, shop: Shop) -> None:
        await shop.respond({CSAT: Given(1)})
        export = await shop.ask()
        stop = asyncio.Event()
        stop.set()
        await Exporter(shop.pool, uuid.uuid4()).work_next(stop)
        assert "queued" == (await shop.get(f"/q/export/{export['export_id']}")).json()["state"]
        assert 1 == await shop.write()

    async def test_stops_are_no_attempts(self, shop: Shop) -> None:
        await shop.respond({CSAT: Given(1)})
        export = await shop.ask(format="xlsx")
        stop = asyncio.Event()
        stop.set()
        for _ in range(ATTEMPTS_MAX + 1):
            assert await Exporter(shop.pool, uuid.uuid4()).work_next(stop)
        assert 1 == await shop.write()
        assert "done" == (await shop.get(f"/q/export/{export['export_id']}")).json()["state"]

    async def test_what_leads_further_is_no_failed_attempt(self, shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(service, "BATCH_ROWS", 1)
        for n in range(ATTEMPTS_MAX + 2):
            await shop.respond({CSAT: Given(1 + n % 5)})
        export = await shop.ask()
        for _ in range(ATTEMPTS_MAX + 1):
            await self._die_after_one_piece(shop)
            await shift(shop.pool, LEASE_SECONDS + 1)
        assert 1 == await shop.write()
        done = (await shop.get(f"/q/export/{export['export_id']}")).json()
        assert ("done", ATTEMPTS_MAX + 2) == (done["state"], done["row_count"])

    async def test_reads_less_at_once_after_failures(self, shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
        limits: list[int] = []

        async def away(*_: object, limit: int, **__: object) -> None:
            limits.append(limit)
            raise errors.Unavailable("too slow")

        monkeypatch.setattr(exports_store, "list_responses", away)
        await shop.ask()
        for _ in range(ATTEMPTS_MAX):
            with pytest.raises(errors.Unavailable):
                await Exporter(shop.pool, uuid.uuid4()).work_next(asyncio.Event())
        assert [5000, 1250, 312, 78, 19] == limits

    async def test_goes_on_behind_rows_that_were_not_wanted(self, shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(service, "BATCH_ROWS", 1)
        await shop.respond({CSAT: Given(1)})
        await shop.respond({})
        await shop.ask(format="jsonl")
        await self._die_after_one_piece(shop)
        await shift(shop.pool, LEASE_SECONDS + 1)
        async with db.transaction(shop.pool) as database:
            claimed = await exports_store.EXPORTS.claim(database, owner=uuid.uuid4(), now=database.clock.now())
            assert claimed is not None
            assert (0, True) == (claimed.pieces, claimed.scan_time is not None)

    async def test_who_lost_it_takes_nothing_from_its_successor(self, shop: Shop) -> None:
        await shop.respond({CSAT: Given(1)})
        export = await shop.ask()
        async with db.transaction(shop.pool) as database:
            lost = await exports_store.EXPORTS.claim(database, owner=(owner := uuid.uuid4()), now=database.clock.now())
        assert lost is not None
        await shift(shop.pool, LEASE_SECONDS + 1)
        assert 1 == await shop.write()
        async with db.transaction(shop.pool) as database:
            now = database.clock.now()
            await service.fail(database, export=lost, owner=owner, error="too many rows", now=now)
            await exports_store.EXPORTS.release(database, job=lost, owner=owner, is_tried=True)
            await exports_store.EXPORTS.renew(database, job=lost, owner=owner, now=now)
        done = (await shop.get(f"/q/export/{export['export_id']}")).json()
        content = (await shop.get(f"/q/export/{export['export_id']}/file")).content
        assert ("done", done["bytes"]) == (done["state"], len(content))

    async def test_its_lease_is_held_while_it_is_written(self, shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(long_work, "RENEW_SECONDS", 0.0)
        await shop.ask()
        renewed, renew, pack = threading.Event(), Leases.renew, service.pack

        async def noticed(*arguments: Any, **named: Any) -> None:
            await renew(*arguments, **named)
            renewed.set()

        def slow(*arguments: Any, **named: Any) -> exports_store.Piece:
            assert renewed.wait(10)
            return pack(*arguments, **named)

        monkeypatch.setattr(Leases, "renew", noticed)
        monkeypatch.setattr(service, "pack", slow)
        assert 1 == await shop.write()

    async def test_one_of_an_organization_at_a_time(self, shop: Shop) -> None:
        await shop.ask()
        await shop.ask()
        async with db.transaction(shop.pool) as database:
            now = database.clock.now()
            assert await exports_store.EXPORTS.claim(database, owner=uuid.uuid4(), now=now) is not None
        async with db.transaction(shop.pool) as database:
            assert await exports_store.EXPORTS.claim(database, owner=uuid.uuid4(), now=now) is None

    async def test_fails_in_the_end(self, shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
        export = await shop.ask()

        def fail(*_: object, **__: object) -> None:
            raise RuntimeError("disk full")

        monkeypatch.setattr(service, "pack", fail)
        exporter = Exporter(shop.pool, uuid.uuid4())
        for _ in range(ATTEMPTS_MAX):
            with pytest.raises(RuntimeError):
                await exporter.work_next(asyncio.Event())
        assert await exporter.work_next(asyncio.Event())
        failed = (await shop.get(f"/q/export/{export['export_id']}")).json()
        assert ("failed", service.FAILED) == (failed["state"], failed["error"])

    async def test_too_many_rows_for_a_worksheet(self, shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(workbook, "XLSX_ROWS_MAX", 1)
        for n in range(2):
            await shop.respond({CSAT: Given(1 + n)})
        export = await shop.ask(format="xlsx")
        await shop.write()
        failed = (await shop.get(f"/q/export/{export['export_id']}")).json()
        assert ("failed", True) == (failed["state"], "CSV" in failed["error"])

    async def test_events(self, shop: Shop, house: House) -> None:
        export = await shop.ask()
        await shop.write()
        async with db.connection(shop.pool) as database:
            [event] = await list_events(database, organization_id=house.organization_id, type_name="export.finished")
        assert (export["export_id"], 0) == (event.subject_id, event.data["row_count"])

    @staticmethod
    async def _die_after_one_piece(shop: Shop) -> None:
        exporter = Exporter(shop.pool, uuid.uuid4())
        keep = service.keep
        count = 0

        async def once(*arguments: Any, **named: Any) -> None:
            nonlocal count
            count += 1
            if count > 1:
                raise LeaseLost  # leaves everything as a kill would
            await keep(*arguments, **named)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(service, "keep", once)
            await exporter.work_next(asyncio.Event())


class TestReader:
    """A standby that is read from in place of the primary."""

    @pytest.mark.parametrize(("age", "expected"), [(None, "primary"), (20, "primary"), (0, "standby")])
    async def test_once_it_has_all_that_was_there_at_the_beginning(
        self, shop: Shop, pool_url: str, monkeypatch: pytest.MonkeyPatch, age: int | None, expected: str
    ) -> None:
        read_by: set[str] = set()
        bare = exports_store.list_responses

        async def noted(database: db.Database, **arguments: Any) -> Any:
            name: str = await database.fetch_value("select current_setting('application_name')")
            read_by.add("standby" if name == "reader" else "primary")
            return await bare(database, **arguments)

        monkeypatch.setattr(exports_store, "list_responses", noted)
        await shop.respond({CSAT: Given(1)})
        export = await shop.ask()
        async with await db.open_pool(pool_url, size_max=2, application_name="reader") as pool:
            assert await Exporter(shop.pool, uuid.uuid4(), Told(pool, age)).work_next(asyncio.Event())
        assert {expected} == read_by
        assert 1 == (await shop.get(f"/q/export/{export['export_id']}")).json()["row_count"]

    async def test_a_standby_that_goes_away(self, shop: Shop, pool_url: str) -> None:
        """The primary is read from, and the attempt is not lost."""
        await shop.respond({CSAT: Given(1)})
        export = await shop.ask()
        pool = await db.open_pool(pool_url, size_max=2)
        reader = Told(pool, 0)
        await reader.lag()
        reader._next = float("inf")
        await pool.close()
        assert await Exporter(shop.pool, uuid.uuid4(), reader).work_next(asyncio.Event())
        found = (await shop.get(f"/q/export/{export['export_id']}")).json()
        assert ("done", 1) == (found["state"], found["row_count"])
