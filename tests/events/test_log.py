"""GET /event: callers, cursors that miss nothing, retention; and a log from a dump of another cluster."""

import base64
import json
from collections.abc import AsyncIterator
from datetime import date, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from afterword import ids
from afterword.core.figures import periods
from afterword.core.figures.periods import Period
from afterword.core.figures.queries import CountQuery
from afterword.events import log, sending, service
from afterword.events.log import EVENTS, EXPIRED, LOG, RESTORED
from afterword.kit import db
from afterword.kit.web import paging
from afterword.kit.web.paging import SEAL_BYTES
from afterword.listening.reports.daily_counts import store as kept_store
from tests.conftest import House, settled
from tests.events.conftest import Desk, new_event
from tests.making import make_token

SUBJECT = "s" * 22


async def token_of(desk: Desk, **more: Any) -> dict[str, str]:
    """The headers of another token of the house."""
    text = await make_token(desk.pool, desk.house.organization_id, **more)
    await settled(desk.pool)
    return {"Authorization": f"Bearer {text}"}


async def pages(desk: Desk, path: str) -> AsyncIterator[dict[str, Any]]:
    """All that stands behind the path, page by page."""
    address: str | None = path
    while address is not None:
        found = await desk.ask("GET", address)
        assert {"results", "next_cursor"} == set(found)
        for one in found["results"]:
            yield one
        cursor = found["next_cursor"]
        address = None if cursor is None else f"{path}&after={cursor}"


class TestRefused:
    async def test_unknown_type(self, desk: Desk) -> None:
        [wrong] = (await desk.ask("GET", "/event?type[]=tag.added&type[]=tag", status=422))["errors"]
        assert ("unknown_value", "type[1]") == (wrong["code"], wrong["parameter"])

    async def test_bad_parameters(self, desk: Desk) -> None:
        for query in ("after=abc", "pagination[page]=1", "limit=501"):
            await desk.ask("GET", f"/event?{query}", status=422)

    async def test_cursor_behind_the_retention(self, desk: Desk) -> None:
        """Exact: a cursor before what was pruned has missed something, the one after it nothing."""
        await desk.tell(*["tag.added"] * 3)
        first, second, _ = [one async for one in pages(desk, "/event?type[]=tag.*&limit=2")]
        await _prune(desk, days=91, keep=1)
        [wrong] = (await desk.ask("GET", f"/event?after={first['cursor']}", status=422))["errors"]
        assert ("cursor_expired", "after") == (wrong["code"], wrong["parameter"])
        rest = await desk.ask("GET", f"/event?after={second['cursor']}")
        assert 1 == len(rest["results"])


class TestShown:
    async def test_ok(self, desk: Desk) -> None:
        (event_id,) = await desk.tell("tag.added", subject_id=SUBJECT, subject_version=3)
        (one,) = (await desk.ask("GET", "/event?type[]=tag.added"))["results"]
        assert one == await desk.ask("GET", f"/event/{event_id}")
        assert {"kind": "worker", "id": None} == one["actor"]
        assert (SUBJECT, 3, False) == (one["subject_id"], one["subject_version"], one["test"])
        assert desk.house.application_id == one["application_id"]
        assert {"what": "tag.added"} == one["data"]

    async def test_every_event_once_and_in_order(self, desk: Desk) -> None:
        told = await desk.tell(*["tag.added"] * 23)
        found = [one async for one in pages(desk, "/event?limit=5")]
        assert told == [one["event_id"] for one in found if one["type"] == "tag.added"]
        assert len(found) == len({one["event_id"] for one in found})
        rest = await desk.ask("GET", f"/event?after={found[-3]['cursor']}&type[]=tag.*")
        assert told[-2:] == [one["event_id"] for one in rest["results"]]
        assert rest["next_cursor"] is None

    async def test_waits_for_what_may_still_come_before(self, desk: Desk) -> None:
        async with db.transaction(desk.pool) as slow:
            one = new_event(desk.house, "tag.added", event_id=ids.ordered(slow.clock.now()))
            await service.record(slow, events=[one])
            async with db.transaction(desk.pool) as quick:
                other = new_event(desk.house, "tag.removed", event_id=ids.ordered(quick.clock.now()))
                await service.record(quick, events=[other])
            assert [] == (await desk.ask("GET", "/event?type[]=tag.*"))["results"]
        await settled(desk.pool)
        found = (await desk.ask("GET", "/event?type[]=tag.*"))["results"]
        assert ["tag.added", "tag.removed"] == [each["type"] for each in found]

    async def test_confined_to_applications(self, desk: Desk) -> None:
        """A token of an application sees its events, and none of the organization itself."""
        await desk.tell("tag.added")
        headers = await token_of(desk, application_ids=[desk.house.application_id])
        answer = await desk.client.get("/event?limit=500", headers=headers)
        assert {desk.house.application_id} == {one["application_id"] for one in answer.json()["results"]}

    async def test_test_tokens_see_test_data(self, desk: Desk) -> None:
        await desk.tell("tag.added")
        await desk.tell("tag.removed", test=True)
        answer = await desk.client.get("/event", headers=await token_of(desk, test=True))
        shown = [one for one in answer.json()["results"] if one["type"].startswith("tag")]
        assert ["tag.removed"] == [one["type"] for one in shown]

    async def test_data_need_their_own_scope(self, desk: Desk) -> None:
        """The log opens nothing that the GET of the thing would not: answers, addresses, hints of tokens."""
        data = {"other": 1}
        told = await desk.tell("suppression.created", "queue_item.sent", data=data)
        headers = await token_of(desk, scopes=["Event.Read", "Queue.Read"])
        listed = (await desk.client.get("/event?type[]=suppression.*&type[]=queue_item.*", headers=headers)).json()
        assert [{}, data] == [one["data"] for one in listed["results"]]
        for event_id, expected in zip(told, ({}, data), strict=True):
            answer = await desk.client.get(f"/event/{event_id}", headers=headers)
            assert expected == answer.json()["data"]
            assert data == (await desk.ask("GET", f"/event/{event_id}"))["data"]


class TestNarrowed:
    """Matching events may be rare: a page reads a limited number, and says where to go on."""

    @pytest.mark.parametrize("narrow", ["type[]=tag.removed", "filter_by[EQUAL][Type]=tag.removed"])
    async def test_pages_that_find_nothing(self, desk: Desk, monkeypatch: pytest.MonkeyPatch, narrow: str) -> None:
        monkeypatch.setattr(log, "PASSED_MAX", 3)
        first = await desk.tell("tag.removed")
        await desk.tell(*["tag.added"] * 10)
        last = await desk.tell("tag.removed", "tag.removed")
        empty = await desk.ask("GET", f"/event?{narrow}&limit=2&after={await _cursor(desk, first[0])}")
        assert [] == empty["results"]
        assert empty["next_cursor"]
        assert first + last == [one["event_id"] async for one in pages(desk, f"/event?{narrow}&limit=2")]


class TestLarge:
    async def test_pages_of_many_answers(self, desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
        """500 large completions are read in pieces, since together they would need too much memory."""
        monkeypatch.setattr(log, "ANSWERS_MAX", 5)
        told = await desk.tell(*["tag.added"] * 5, data={"answers": [1, 2, 3]})
        told += await desk.tell("tag.added", data={"answers": [0] * 9})
        assert 1 == len((await desk.ask("GET", "/event?type[]=tag.added"))["results"])
        assert told == [one["event_id"] async for one in pages(desk, "/event?type[]=tag.added")]


async def _cursor(desk: Desk, event_id: str) -> str:
    return (await desk.ask("GET", f"/event/{event_id}"))["cursor"]


class TestPrune:
    async def test_young_ones_stay(self, desk: Desk) -> None:
        await desk.tell("tag.added")
        before = await _count(desk)
        assert 0 == await _prune(desk, days=89)
        assert before == await _count(desk)

    async def test_unread_ones_stay(self, desk: Desk) -> None:
        await desk.tell("tag.added")
        async with db.transaction(desk.pool) as database:
            await service.read_next(database, reader="slow", types=(), limit=1)
            assert [1, 0] == [await _pruned(database, days=91, limit=100) for _ in range(2)]

    async def test_what_a_delivery_refers_to_stays(self, desk: Desk) -> None:
        await desk.hook("http://127.0.0.1:9/")
        (event_id,) = await desk.tell("tag.added")
        await desk.run(sending.fan_out, limit=500)
        await _prune(desk, days=91)
        assert 1 == await _count(desk)
        await desk.ask("GET", f"/event/{event_id}")

    async def test_what_stays_holds_back_nothing_else(self, desk: Desk) -> None:
        """The oldest events of all may be those that deliveries need."""
        await _prune(desk, days=91)
        await desk.hook("http://127.0.0.1:9/", event_types=["tag.added"])
        await desk.tell("tag.added", "tag.added", "tag.removed", "tag.removed")
        await desk.run(sending.fan_out, limit=500)
        assert 2 == await _prune(desk, days=91, keep=2, looks=2)
        assert 2 == await _count(desk)

    async def test_however_long_the_log_is(self, desk: Desk) -> None:
        """It reads as many events as it may remove, not all the young ones, of one organization likewise."""
        await desk.tell("tag.added")
        await settled(desk.pool)
        async with db.transaction(desk.pool) as database:
            await database.execute(
                """insert into event (event_id, organization_id, type, subject_id, data, actor_kind, created_time)
                   select lpad(to_hex(n), 22, 'z'), organization_id, type, subject_id, data, actor_kind, now()
                   from event, generate_series(1, 5000) n where type = 'tag.added'"""
            )
            await database.execute("update event_cursor set xid = pg_current_xact_id(), seq = 9e15")
            await database.execute("analyze event")
        read = """select coalesce(sum(seq_tup_read + idx_tup_fetch), 0) from pg_stat_xact_user_tables
                  where relname = 'event'"""
        async with db.transaction(desk.pool) as database:
            now, before = database.clock.now(), await database.fetch_value(read)
            assert (0, log.BEGINNING) == await log.prune_events(database, after=log.BEGINNING, now=now, limit=100)
            key = {"organization_id": desk.house.organization_id, "before": now - timedelta(days=7), "limit": 100}
            assert 0 == await log.prune_of(database, **key)
            assert 0 == await log.count_events_of(database, **key)
            assert 300 > await database.fetch_value(read) - before  # it counts what this connection read earlier too


async def _count(desk: Desk) -> int:
    return await desk.value("select count(*) from event")


async def _prune(desk: Desk, *, days: int, keep: int = 0, looks: int = 1) -> int:
    """Prune all but the last `keep`, as if so many days had passed and everybody had read everything."""
    await settled(desk.pool)
    async with db.transaction(desk.pool) as database:
        while (await service.read_next(database, reader="test", types=(), limit=500))[1]:
            pass
        before = await database.fetch_value("select count(*) from event")
        return await _pruned(database, days=days, limit=before - keep, looks=looks)


async def _pruned(database: db.Database, *, days: int, limit: int, looks: int = 1) -> int:
    before, after = await database.fetch_value("select count(*) from event"), log.BEGINNING
    for _ in range(looks):
        now = database.clock.now() + timedelta(days=days)
        _, after = await log.prune_events(database, after=after, now=now, limit=limit)
    return before - await database.fetch_value("select count(*) from event")


AHEAD = 10_000_000_000  # transactions that the other cluster had had, and this one has not


async def record(pool: db.Pool, house: House, count: int) -> None:
    """Events, each of a transaction of its own."""
    for _ in range(count):
        async with db.transaction(pool) as database:
            await service.record(database, events=[new_event(house, "test.event", event_id=ids.secret())])


async def read(pool: db.Pool, reader: str, limit: int = 500, *, is_blind: bool = False) -> list[int]:
    """Numbers of the events that the reader had not read; they are read now."""
    if not is_blind:
        await settled(pool)
    async with db.transaction(pool) as database:
        assert await service.claim_reader(database, reader=reader)
        events, _ = await service.list_unread_events(database, reader=reader, types=["test.event"], limit=limit)
        if events:
            await service.settle_reader(database, reader=reader, last=events[-1])
        return [event.seq for event in events if event.type == "test.event"]


async def other_events(pool: db.Pool) -> int:
    """Those that the house was built with, which come first."""
    async with db.connection(pool) as database:
        return await database._connection.fetchval("select count(*) from event where type <> 'test.event'")


async def restore(pool: db.Pool) -> None:
    """Move transaction numbers ahead, as in a dump of a cluster with that many more transactions."""
    async with db.connection(pool) as database:
        for table in ("event", "event_cursor", "event_horizon"):
            await database._connection.execute(
                f"update {table} set xid = (xid::text::bigint + {AHEAD})::text::xid8 where xid > '0'"
            )


async def adopt(pool: db.Pool) -> int | None:
    async with db.transaction(pool) as database:
        return await log.adopt(database)


@pytest.mark.parametrize("written", [0, 3])
async def test_each_reader_goes_on_where_it_was(pool: db.Pool, house: House, written: int) -> None:
    """Nothing is missed and nothing is told twice, whatever was written before somebody noticed."""
    await record(pool, house, 9)
    assert 9 == len(await read(pool, "first"))
    await record(pool, house, 4)
    others = await other_events(pool)
    assert 11 == len(await read(pool, "second", limit=others + 11))
    assert 0 == len(await read(pool, "new", limit=0))
    await restore(pool)
    await record(pool, house, written)
    assert [] == await read(pool, "first", is_blind=True), "it is blind: that is the fault"

    assert await adopt(pool) is not None
    await record(pool, house, 2)

    async with db.connection(pool) as database:
        rows = await database._connection.fetch("select seq from event where type = 'test.event' order by seq")
    everything = [row["seq"] for row in rows]
    assert 13 + written + 2 == len(everything)
    assert everything[9:] == sorted(await read(pool, "first"))
    assert everything[11:] == sorted(await read(pool, "second"))
    assert everything == sorted(await read(pool, "new"))
    assert everything == sorted(await read(pool, "a later one"))
    assert [[], [], []] == [await read(pool, reader) for reader in ("first", "second", "new")]


async def test_a_second_time(pool: db.Pool, house: House) -> None:
    """A dump of a log that had been adopted before."""
    await record(pool, house, 3)
    await read(pool, "first")
    for _ in range(3):
        await restore(pool)
        await record(pool, house, 1)
        assert await adopt(pool) is not None
        assert await adopt(pool) is None
        assert 1 == len(await read(pool, "first"))
    assert 6 == len(await read(pool, "second"))


async def test_nothing_to_adopt(pool: db.Pool, house: House) -> None:
    await record(pool, house, 3)
    await read(pool, "first", limit=await other_events(pool))
    assert await adopt(pool) is None
    assert 3 == len(await read(pool, "first"))


async def test_a_log_that_was_pruned_whole(pool: db.Pool, house: House) -> None:
    """Only the readers' places are of the other cluster."""
    await record(pool, house, 3)
    await read(pool, "first")
    async with db.connection(pool) as database:
        await database._connection.execute("delete from event")
    await restore(pool)
    await record(pool, house, 2)
    assert await adopt(pool) is not None
    assert 2 == len(await read(pool, "first"))


class TestCounterHasPassed:
    """As many transactions later, the numbers of the other cluster no longer tell that they are not this one's."""

    PASSED = 300

    async def restore_and_pass(self, pool: db.Pool, house: House) -> None:
        async with db.connection(pool) as database:
            raw = database._connection
            newest = await raw.fetchval("select pg_snapshot_xmax(pg_current_snapshot())::text::bigint")
            last = await raw.fetchval("select max(xid::text::bigint) from event")
            for table in ("event", "event_cursor", "event_horizon"):
                await raw.execute(
                    f"update {table} set xid = (xid::text::bigint + $1)::text::xid8 where xid > '0'",
                    newest - last + self.PASSED // 2,
                )
            await raw.execute("update event_cluster set system_identifier = system_identifier - 1")
            await record(pool, house, 2)
            for _ in range(self.PASSED):
                await raw.fetchval("select pg_current_xact_id()::text")
        await record(pool, house, 2)

    async def test_readers_wait_until_the_log_is_in_order(self, pool: db.Pool, house: House) -> None:
        await record(pool, house, 3)
        others = await other_events(pool)
        assert 2 == len(await read(pool, "first", limit=others + 2))
        await self.restore_and_pass(pool, house)
        await settled(pool)
        async with db.transaction(pool) as database:
            assert not await service.claim_reader(database, reader="first")
            assert not await service.claim_reader(database, reader="new")
        assert await adopt(pool) is not None
        assert await adopt(pool) is None
        async with db.connection(pool) as database:
            rows = await database._connection.fetch("select seq from event where type = 'test.event' order by seq")
        assert 7 == len(rows)
        assert [row["seq"] for row in rows][2:] == sorted(await read(pool, "first"))
        assert [row["seq"] for row in rows] == sorted(await read(pool, "new"))

    async def test_a_client_goes_on_behind_its_event(self, pool: db.Pool, desk: Desk) -> None:
        await record(pool, desk.house, 3)
        await settled(pool)
        before = (await desk.ask("GET", "/event?type[]=*&limit=500"))["results"]
        cursor = before[-2]["cursor"]
        await self.restore_and_pass(pool, desk.house)
        await settled(pool)
        refused = await desk.ask("GET", f"/event?after={cursor}", status=503)
        assert RESTORED == refused["detail"]
        await desk.ask("GET", "/event", status=503)
        assert await adopt(pool) is not None
        await settled(pool)
        found = (await desk.ask("GET", f"/event?after={cursor}"))["results"]
        assert before[-1]["event_id"] == found[0]["event_id"]
        assert 5 == len(found)

    async def test_reports_count_everything_meanwhile(self, pool: db.Pool, house: House) -> None:
        await self.restore_and_pass(pool, house)
        async with db.connection(pool) as database:
            await database._connection.execute(
                """insert into rollup_span (organization_id, questionnaire_id, dimension, time_zone, people_max,
                     kept_until)
                   select organization_id, questionnaire_id, '', 'Europe/Athens', 100, '2026-01-05'
                   from questionnaire"""
            )

            await database.execute("insert into event_cursor (reader) values ('rollups') on conflict do nothing")

        async def until() -> dict[str, date]:
            async with db.connection(pool) as database:
                days = periods.days(date(2026, 1, 1), date(2026, 1, 5), ZoneInfo("Europe/Athens"))
                asked = CountQuery(
                    organization_id=house.organization_id,
                    questionnaire_ids=(house.questionnaire_id,),
                    period=Period(days.starts[0], days.end, "Europe/Athens"),
                    buckets=(days.first,),
                    basis="submitted",
                    zone="Europe/Athens",
                )
                kept = await kept_store.get_daily_counts(
                    database,
                    organization_id=house.organization_id,
                    asked=asked,
                    whole=[days],
                    hours=[],
                    events_max=9,
                    cells_max=9,
                )
                assert kept is not None
                return kept.until

        assert {} == await until()
        await adopt(pool)
        assert {house.questionnaire_id: date(2026, 1, 5)} == await until()


class TestCursor:
    async def test_of_an_event_that_is_lost(self, pool: db.Pool, desk: Desk) -> None:
        """The database was put back to an earlier moment: its reader has seen what never was."""
        await record(pool, desk.house, 2)
        await settled(pool)
        last = (await desk.ask("GET", "/event?limit=500"))["results"][-1]
        async with db.connection(pool) as database:
            await database._connection.execute("delete from event where event_id = $1", last["event_id"])
        refused = await desk.ask("GET", f"/event?after={last['cursor']}", status=422)
        assert [("after", "cursor_expired", EXPIRED)] == [
            (each["parameter"], each["code"], each["message"]) for each in refused["errors"]
        ]
        hook = await desk.hook("http://127.0.0.1:9/")
        path = f"/webhook/{hook['webhook_id']}/redelivery"
        refused = await desk.ask("POST", path, status=422, json={"after": last["cursor"]})
        assert ["cursor_expired"] == [each["code"] for each in refused["errors"]]

    async def test_of_the_last_event_that_was_removed(self, pool: db.Pool, desk: Desk) -> None:
        """An organization with nothing new in 90 days: its reader has missed nothing."""
        await record(pool, desk.house, 2)
        await settled(pool)
        first, last = (await desk.ask("GET", "/event?limit=500"))["results"][-2:]
        while await read(pool, "all"):
            pass
        async with db.transaction(pool) as database:
            await _pruned(database, days=91, limit=1_000)
        assert [] == (await desk.ask("GET", f"/event?after={last['cursor']}"))["results"]
        await desk.ask("GET", f"/event?after={first['cursor']}", status=422)
        await record(pool, desk.house, 1)
        await settled(pool)
        assert 1 == len((await desk.ask("GET", f"/event?after={last['cursor']}"))["results"])

    async def test_tells_the_event_alone(self, pool: db.Pool, desk: Desk) -> None:
        """The number of a transaction would tell how much the whole installation writes."""
        await record(pool, desk.house, 2)
        await settled(pool)
        page = await desk.ask("GET", "/event?limit=1")
        [event] = page["results"]
        for cursor in (page["next_cursor"], event["cursor"]):
            payload = base64.urlsafe_b64decode(cursor + "==")[SEAL_BYTES:]
            assert [event["event_id"]] == json.loads(payload)

    async def test_of_the_release_before(self, pool: db.Pool, desk: Desk) -> None:
        await record(pool, desk.house, 3)
        await settled(pool)
        last = (await desk.ask("GET", "/event?limit=500"))["results"][-3:]
        row = [AHEAD, 5, last[0]["event_id"]]
        binding = paging._binding_of([LOG, paging._steps_of(EVENTS.default_order)])
        cursor = paging._seal(row, binding=binding, secret=desk.house.site.secret)
        assert last[1:] == (await desk.ask("GET", f"/event?after={cursor}"))["results"]
