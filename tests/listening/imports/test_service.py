"""Nothing follows from an import but counts and rows of the search; and its removal leaves nothing."""

import random
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from afterword.asking.instances import expiry
from afterword.kit import db
from afterword.listening.imports import service, store
from afterword.listening.reports.daily_counts import service as daily_counts
from afterword.listening.responses import rows
from afterword.people.responders import store as people_store
from afterword.run.worker.flights import Pace
from afterword.run.worker.jobs import jobs_of
from afterword.sending.queue.sending.service import Lease
from tests.asking.instances.test_plans import Explaining
from tests.conftest import SITE, settled
from tests.listening.imports.test_api import IMPORTS, bring, opened, past, send
from tests.listening.reports.conftest import MATRIX, NPS, ROW, TEXT, House
from tests.pruning import prune

EXPECTED = {
    "answer", "audit_entry", "event", "event_cursor", "questionnaire_instance", "responder", "responder_address",
    "response", "response_import", "response_fill", "rollup_count", "rollup_dirty", "rollup_span",
}  # fmt: skip
"""Tables that an import, or the worker after it, may write."""


async def counts_of_tables(house: House) -> dict[str, int]:
    async with db.connection(house.pool) as database:
        names = await database.fetch_column(
            "select tablename::text from pg_tables where schemaname = 'public' order by 1"
        )
        return {
            name: await database.fetch_value(f"select count(*) from {name}")  # pyrefly: ignore[bad-argument-type]
            for name in names
            if name not in EXPECTED
        }


async def work(house: House) -> None:
    """All jobs of a worker, once each."""
    lease = Lease(owner=uuid4(), seconds=60, margin_seconds=5)
    await settled(house.pool)
    for job in jobs_of(lease=lease, site=SITE, pace=Pace(), draw=random.random, queue_days=30):
        async with db.transaction(house.pool) as database:
            await job.run(database)


async def events_of(house: House) -> list[str]:
    await settled(house.pool)
    return [one["type"] for one in (await house.get("/event", limit=100)).json()["results"]]


def hold_path(house: House) -> str:
    return f"/organization/{house.caller.organization_id}/retention/hold"


async def remove(house: House, response_import_id: str) -> dict[str, Any]:
    assert 204 == (await house.send("DELETE", f"{IMPORTS}/{response_import_id}")).status_code
    await step(house)
    return (await house.get(f"{IMPORTS}/{response_import_id}")).json()


async def step(house: House, times: int = 10) -> None:
    for _ in range(times):
        async with db.transaction(house.pool) as database:
            if not await service.remove_next(database, now=database.clock.now()):
                return


class TestEffects:
    async def test_none(self, house: House, now: datetime) -> None:
        """No case, message, delivery, notice or credit, though all of them wait for responses; one event tells."""
        for path, body in (
            ("/alert", {"application_id": house.application_id, "title": "All", "trigger": "submitted"}),
            ("/alert", {"application_id": house.application_id, "title": "Done", "trigger": "completed"}),
            (
                "/webhook",
                {
                    "title": "Shop",
                    "target_url": "https://shop.example/in",
                    "event_types": ["questionnaire_instance.*", "answer.*", "responder.*", "alert_instance.*"],
                },
            ),
        ):
            made = await house.send("POST", path, body)
            assert 201 == made.status_code, made.text
        await house.add_user()
        await work(house)
        before, events_before = await counts_of_tables(house), await events_of(house)
        half = str(now - timedelta(hours=12))
        person = {"email": "ann@example.com"}
        await bring(
            house,
            past(person=person),
            past("R-2", person=person, metadata={"responder": {"first_name": "Ann"}}),
            past("R-3", started_time=half, completed_time=None),
            past("R-4", answers={NPS: 0, TEXT: "Never again"}),
        )
        await work(house)
        async with db.transaction(house.pool) as database:
            later = (now - timedelta(days=2), "")
            ended = await expiry.list_ended(database, valid_days=1, after=later, until=now, limit=10)
        assert [] == ended
        assert before == await counts_of_tables(house)
        assert ["response_import.finished"] == (await events_of(house))[len(events_before) :]

    async def test_events(self, house: House) -> None:
        result = await bring(house, past(), past("R-2", answers={}))
        await remove(house, result["response_import_id"])
        await settled(house.pool)
        told = (await house.get("/event", limit=100)).json()["results"]
        assert ["response_import.finished", "response_import.removed"] == [one["type"] for one in told]
        assert [("done", 1, 0), ("removed", 1, 1)] == [
            tuple(one["data"][name] for name in ("state", "rows_created", "rows_removed")) for one in told
        ]


class TestCounts:
    async def test_days_that_are_kept(self, house: House, now: datetime) -> None:
        """Imported responses count on their own days, at once, also where these were counted long ago."""
        moments = [now - timedelta(days=days) for days in (400, 3)]
        for moment in moments:
            await house.respond({NPS: 9}, now=moment)
        await self.keep(house, now)
        assert 1 == await self.count(house, moments[0])
        rows_sent = [
            past(f"R-{place}", started_time=str(moment), completed_time=None, answers={NPS: 0})
            for place, moment in enumerate([*moments, now - timedelta(minutes=2)])
        ]
        result = await bring(house, *rows_sent)
        found = [2, 2, 1]
        assert found == [await self.count(house, moment) for moment in (*moments, now)]
        await self.keep(house, now)
        assert found == [await self.count(house, moment) for moment in (*moments, now)]
        await remove(house, result["response_import_id"])
        found = [1, 1, 0]
        assert found == [await self.count(house, moment) for moment in (*moments, now)]
        await self.keep(house, now)
        assert found == [await self.count(house, moment) for moment in (*moments, now)]

    async def keep(self, house: House, now: datetime) -> None:
        await settled(house.pool)
        later = now + timedelta(seconds=daily_counts.AGAIN_SECONDS + 1)
        async with db.transaction(house.pool) as database:
            await daily_counts.follow(database, now=now)
        async with db.transaction(house.pool) as database:
            await daily_counts.survey(database, after="", now=now)
        for _ in range(200):
            async with db.transaction(house.pool) as database:
                if not (await daily_counts.keep(database, after=daily_counts.START, now=later))[0]:
                    return

    async def count(self, house: House, moment: datetime) -> int:
        """The answers of three days around the moment, of which kept counts can give the whole ones."""
        ends = [(moment + timedelta(days=days)).isoformat() for days in (-1.5, 1.5)]
        [row] = (await house.template("nps", from_time=ends[0], to_time=ends[1]))["rows"]
        return row["figures"][0]["n"]

    async def test_rows_of_the_search_are_as_the_reader_makes_them(self, house: House) -> None:
        ann = {"email": "ann@example.com"}
        named = {"responder": {"first_name": "Ann", "last_name": "Lee"}}
        await bring(
            house,
            past(answers={NPS: 2, TEXT: "Late"}, person={**ann, "external_id": "C-1"}, metadata=named),
            past("R-2", metadata={"questionnaire": {"transaction_id": "77", "store_id": "5", "score": "3"}}),
            past("R-3", person={"external_id": "C-1"}, answers={NPS: 2, MATRIX: {ROW: 1}}),
        )
        await bring(house, past("R-4", person=ann, metadata={"questionnaire": {"store_id": "6"}}), past("R-5"))
        async with db.transaction(house.pool) as database:
            keys = await database.fetch_tuples("select organization_id, instance_id from response")
            sources = await rows._list_sources(database, keys=keys)
            assert [] == await rows._list_wrong_keys(database, rows=await rows._rows_of(database, sources))
            assert 5 == len(sources)


class TestRemoval:
    async def test_refused(self, house: House) -> None:
        response_import_id = (await bring(house, past()))["response_import_id"]
        path = f"{IMPORTS}/{response_import_id}"
        reader = f"Bearer {await house.token_for(scopes={'Questionnaire Instance.Read'})}"
        assert 403 == (await house.send("DELETE", path, Authorization=reader)).status_code
        assert 404 == (await house.send("DELETE", f"{IMPORTS}/{house.application_id}")).status_code
        assert 412 == (await house.send("DELETE", path, **{"If-Match": '"9"'})).status_code
        hold = await house.send("POST", hold_path(house), {"reason": "A lawsuit"})
        assert 201 == hold.status_code, hold.text
        assert 409 == (await house.send("DELETE", path)).status_code

    async def test_step_by_step(self, house: House, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(store, "REMOVED_A_STEP", 2)
        other = await bring(house, past("K-1"))
        response_import_id = (await bring(house, *[past(f"R-{place}") for place in range(5)]))["response_import_id"]
        path = f"{IMPORTS}/{response_import_id}"
        await house.send("DELETE", path)
        assert 204 == (await house.send("DELETE", path)).status_code
        seen: list[tuple[str, int, int]] = []
        for _ in range(4):
            await step(house, times=1)
            shown = (await house.get(path)).json()
            left = (await house.get("/q/response", response_import_id=response_import_id)).json()["total_results"]
            seen.append((shown["state"], shown["rows_removed"], left))
        assert [("removing", 2, 3), ("removing", 4, 1), ("removing", 5, 0), ("removed", 5, 0)] == seen
        assert 404 == (await house.get(f"/q/instance/{'z' * 22}")).status_code
        [left] = (await house.get("/q/response")).json()["results"]
        assert other["results"][0]["instance_id"] == left["instance_id"]
        again = await bring(house, *[past(f"R-{place}") for place in range(5)])
        assert 5 == again["created"]

    async def test_while_others_write_rows(self, house: House) -> None:
        response_import_id = (await bring(house, past()))["response_import_id"]
        await house.send("DELETE", f"{IMPORTS}/{response_import_id}")
        await house.follow()  # the reader has its cursor
        async with db.transaction(house.pool) as other:
            assert await rows.events.claim_reader(other, reader=rows.READER)
            await step(house)
            assert 1 == (await house.get("/q/response")).json()["total_results"]
        await step(house)
        assert 0 == (await house.get("/q/response")).json()["total_results"]

    async def test_an_open_one_ends(self, house: House) -> None:
        response_import_id = await opened(house)
        assert "removed" == (await remove(house, response_import_id))["state"]
        refused = await send(house, past(), query=f"?response_import_id={response_import_id}")
        assert 409 == refused.status_code

    async def test_somebody_whose_data_a_hold_keeps(self, house: House) -> None:
        result = await bring(house, past(), past("R-2"))
        held = (await house.get(f"/q/instance/{result['results'][0]['instance_id']}")).json()
        await house.send("POST", hold_path(house), {"reason": "A lawsuit", "responder_id": held["responder_id"]})
        shown = await remove(house, result["response_import_id"])
        assert ("removed", 1) == (shown["state"], shown["rows_removed"])
        [left] = (await house.get("/q/response")).json()["results"]
        assert held["instance_id"] == left["instance_id"]

    async def test_its_record_goes_later(self, house: House, now: datetime) -> None:
        done, gone = [(await bring(house, past(name)))["response_import_id"] for name in ("R-1", "R-2")]
        await remove(house, gone)
        for days, left in ((29, [gone, done]), (31, [done])):
            async with db.transaction(house.pool) as database:
                await prune(database, "imports of responses that were removed", now=now + timedelta(days=days))
            listed = (await house.get(IMPORTS)).json()["results"]
            assert left == [one["response_import_id"] for one in listed]


class TestService:
    """As a reader of another format uses it."""

    async def test_a_file_that_is_begun_again(self, house: House, now: datetime) -> None:
        digest = "0" * 64
        first = await self.begin(house, digest, now)
        assert first.response_import_id == (await self.begin(house, digest, now)).response_import_id
        assert first.response_import_id != (await self.begin(house, "1" * 64, now)).response_import_id
        await house.send("PATCH", f"{IMPORTS}/{first.response_import_id}", {"state": "done"})
        assert first.response_import_id != (await self.begin(house, digest, now)).response_import_id

    async def begin(self, house: House, digest: str, now: datetime) -> store.ResponseImportRecord:
        key = {"caller": house.caller, "questionnaire_id": house.questionnaire_id}
        async with db.transaction(house.pool) as database:
            return await service.begin(database, **key, digest=digest, format="csv", file_name="a.csv", now=now)

    async def test_external_ids_are_found_by_their_index(self, house: House) -> None:
        """Of a table that was never analysed, where other indexes seem to cost the same."""
        key = {"organization_id": house.caller.organization_id, "questionnaire_id": house.questionnaire_id}
        async with db.connection(house.pool) as database:
            explaining = Explaining(database._connection)
            await store.list_stored(db.Database(explaining, database.clock), **key, external_ids=["R-1"])
        assert "questionnaire_instance_external" in str(explaining.plans)

    async def test_other_organizations(self, house: House, now: datetime) -> None:
        """The address of another organization's person is nobody's here."""
        await bring(house, past(person={"email": "ann@example.com"}))
        async with db.connection(house.pool) as database:
            found: Sequence[Any] = await database.fetch("select * from responder_address")
            key = ("other", 1, bytes(found[0]["address_key"]))
            assert [] == await people_store.list_recipients(database, addresses=[key])
