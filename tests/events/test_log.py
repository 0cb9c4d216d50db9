"""GET /event: whom it shows what, cursors that miss nothing, retention."""

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import httpx2
import pytest

from afterword import ids
from afterword.core.organizations.access import SCOPES
from afterword.events import log, service
from afterword.kit import db
from afterword.tenants.organizations import service as accounts
from tests.conftest import settled
from tests.events.conftest import Desk, new_event
from tests.making import make_application

SUBJECT = "s" * 22


async def token_of(desk: Desk, **more: Any) -> dict[str, str]:
    """The headers of another token of the house."""
    async with db.transaction(desk.pool) as database:
        options: dict[str, Any] = {"scopes": SCOPES, **more}
        _, text = await accounts.create_token(
            database,
            organization_id=desk.house.organization_id,
            title="Other",
            kind="organization",
            user_id=None,
            now=database.clock.now(),
            **options,
        )
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
        answer = await desk.client.get("/event?type[]=tag.added&type[]=tag", headers=desk.house.headers)
        assert (422, "unknown_value", "type[1]") == (
            answer.status_code,
            answer.json()["errors"][0]["code"],
            answer.json()["errors"][0]["parameter"],
        )

    @pytest.mark.parametrize("query", ["after=abc", "pagination[page]=1", "limit=501"])
    async def test_bad_parameters(self, desk: Desk, query: str) -> None:
        answer = await desk.client.get(f"/event?{query}", headers=desk.house.headers)
        assert 422 == answer.status_code

    async def test_cursor_behind_the_retention(self, desk: Desk) -> None:
        """Exact: a cursor before what was pruned has missed something, the one after it nothing."""
        await desk.tell(*["tag.added"] * 3)
        first, second, _ = [one async for one in pages(desk, "/event?type[]=tag.*&limit=2")]
        await _prune(desk, days=91, keep=1)
        answer = await desk.client.get(f"/event?after={first['cursor']}", headers=desk.house.headers)
        assert (422, "cursor_expired", "after") == (
            answer.status_code,
            answer.json()["errors"][0]["code"],
            answer.json()["errors"][0]["parameter"],
        )
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
        """A token of other applications sees nothing of this one, nor of the organization itself."""
        await desk.tell("tag.added")
        other_id = await make_application(desk.pool, desk.house.organization_id)
        headers = await token_of(desk, application_ids=[other_id])
        answer = await desk.client.get("/event", headers=headers)
        assert [] == answer.json()["results"]
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
            assert 1 == await log.prune(database, now=database.clock.now() + timedelta(days=91), limit=100)
            assert 0 == await log.prune(database, now=database.clock.now() + timedelta(days=91), limit=100)

    async def test_what_a_delivery_refers_to_stays(self, desk: Desk) -> None:
        from afterword.events import sending  # noqa: PLC0415

        await desk.hook("http://127.0.0.1:9/")
        (event_id,) = await desk.tell("tag.added")
        async with db.transaction(desk.pool) as database:
            await sending.fan_out(database, limit=500)
        await _prune(desk, days=91)
        assert 1 == await _count(desk)
        await desk.ask("GET", f"/event/{event_id}")

    async def test_what_stays_holds_back_nothing_else(self, desk: Desk) -> None:
        """The oldest events of all may be those that deliveries need."""
        from afterword.events import sending  # noqa: PLC0415

        await _prune(desk, days=91)
        await desk.hook("http://127.0.0.1:9/", event_types=["tag.added"])
        await desk.tell("tag.added", "tag.added", "tag.removed", "tag.removed")
        async with db.transaction(desk.pool) as database:
            await sending.fan_out(database, limit=500)
        assert 2 == await _prune(desk, days=91, keep=2)
        assert 2 == await _count(desk)


async def _count(desk: Desk) -> int:
    async with db.connection(desk.pool) as database:
        return await database.fetch_value("select count(*) from event")


async def _prune(desk: Desk, *, days: int, keep: int = 0) -> int:
    """Prune all but the last `keep`, as if so many days had passed and everybody had read everything."""
    await settled(desk.pool)
    async with db.transaction(desk.pool) as database:
        while (await service.read_next(database, reader="test", types=(), limit=500))[1]:
            pass
        limit = await database.fetch_value("select count(*) - $1::int from event", keep)
        return await log.prune(database, now=database.clock.now() + timedelta(days=days), limit=limit)


async def test_client_is_the_whole_application(client: httpx2.AsyncClient) -> None:
    assert 401 == (await client.get("/event")).status_code
