"""Filters and orders of lists, over a table of notes with every kind of column."""

from urllib.parse import quote

import httpx2
import pytest

from afterword.kit import db
from tests.kit.web.conftest import House
from tests.kit.web.test_paging import client as client  # noqa: PLC0414  a fixture
from tests.kit.web.test_paging import listed as listed  # noqa: PLC0414  a fixture
from tests.kit.web.test_paging import titles

FOUND = (
    ("filter_by[EQUAL][Title]=n07", [7]),
    ("filter_by[EQUAL][title]=n07", [7]),
    ("filter_by[NOT_EQUAL][Rank]=0&filter_by[LESS_THAN][Rank]=2", [3, 4, 5]),
    ("filter_by[ALT_NOT_EQUAL][Rank]=0&filter_by[LESS_THAN][Rank]=2", [3, 4, 5]),
    ("filter_by[GREATER_THAN][Weight]=10.5", [22, 23]),
    ("filter_by[GREATER_EQUAL][Weight]=11", [22, 23]),
    ("filter_by[LESS_EQUAL][Weight]=1", [1, 2]),
    ("filter_by[LESS_THAN][CreatedTime]=2026-01-03T00:00:00Z", [1]),
    ("filter_by[LESS_EQUAL][CreatedTime]=2026-01-03 02:00", [1, 2]),
    ("filter_by[EQUAL][CreatedTime]=2026-01-03T02:00:00+02:00", [2]),
    ("filter_by[IN][Rank][]=0&filter_by[IN][Rank][]=7", [1, 2, 22, 23]),
    ("filter_by[IN][Rank][0]=0&filter_by[IN][Rank][1]=7", [1, 2, 22, 23]),
    ("filter_by[IN][Rank]=7", [22, 23]),
    ("filter_by[NOT_IN][Rank][]=0&filter_by[LESS_THAN][Weight]=3", [3, 4, 5]),
    ("filter_by[NULL][Rank]=null", [7, 14, 21]),
    ("filter_by[NOT_NULL][Rank]=null&filter_by[GREATER_THAN][Title]=n19", [20, 22, 23]),
    ("filter_by[LIKE][Title]=N2_", [20, 21, 22, 23]),
    ("filter_by[LIKE][Title]=%25%5C%25%25", []),
    ("filter_by[NOT_LIKE][Title]=n%25", []),
    ("filter_by[EQUAL][Done]=true&filter_by[LESS_THAN][Rank]=1", [2]),
    ("filter_by[EQUAL][Locale]=el&filter_by[EQUAL][Done]=0", []),
    ("filter_by[NOT_EQUAL][Locale]=el&filter_by[LESS_THAN][Title]=n06", [1, 3]),
    ("filter_by[EQUAL][NoteId]=id00000000000000000009", [9]),
    ("filter_by[EQUAL][NoteId]=not an id", []),
    ("filter_by[EQUAL][Title]=n07' or '1'='1", []),
)


class TestFilters:
    async def test_criteria(self, client: httpx2.AsyncClient) -> None:
        for query, expected in FOUND:
            encoded = quote(query, safe="=&[]%")
            assert expected == sorted(int(title[1:]) for title in await titles(client, encoded)), query
            total = (await client.get(f"/note?{encoded}")).json()["total_results"]
            assert len(expected) == total, query

    async def test_like_without_case_beyond_ascii(self, listed: House, client: httpx2.AsyncClient) -> None:
        async with db.transaction(listed.pool) as database:
            await database.execute("update note set title = 'Παραγγελία' where title = 'n01'")
        assert ["Παραγγελία"] == await titles(client, f"filter_by[LIKE][Title]={quote('πΑΡΑ%')}")

    @pytest.mark.parametrize(
        ("criterion", "expected"),
        [
            ("EQUAL", [3]), ("NOT_EQUAL", [1, 2, 4]), ("GREATER_THAN", [4]), ("GREATER_EQUAL", [3, 4]),
            ("LESS_THAN", [1, 2]), ("LESS_EQUAL", [1, 2, 3]), ("IN", [3]), ("NOT_IN", [1, 2, 4]),
        ],
    )  # fmt: skip
    async def test_a_second_is_all_its_microseconds(
        self, listed: House, client: httpx2.AsyncClient, criterion: str, expected: list[int]
    ) -> None:
        async with db.transaction(listed.pool) as database:
            await database.execute("delete from note where title > 'n04'")
            await database.execute("update note set created_time = created_time + interval '0.9 seconds'")
        shown = (await client.get("/note?order_by[ASC][]=Title")).json()["results"][2]["created_time"]
        found = await titles(client, f"filter_by[{criterion}][CreatedTime]={quote(shown)}")
        assert expected == sorted(int(title[1:]) for title in found)

    async def test_text_by_code_point(self, listed: House, client: httpx2.AsyncClient) -> None:
        async with db.transaction(listed.pool) as database:
            await database.execute("update note set title = 'Z' where title = 'n01'")
            await database.execute("update note set title = 'é' where title = 'n02'")
        found = await titles(client, "order_by[ASC][]=Title")
        assert ("Z", "é") == (found[0], found[-1])
        assert ["Z"] == await titles(client, "filter_by[LESS_THAN][Title]=n03")


class TestOrder:
    async def test_in_order_of_appearance(self, client: httpx2.AsyncClient) -> None:
        by_rank = await titles(client, "order_by[DESC][]=Rank&order_by[ASC][]=Title&limit=4")
        assert ["n22", "n23", "n18", "n19"] == by_rank
        mixed = await titles(client, "order_by[ASC][]=Done&order_by[DESC][]=Rank&order_by[ASC][]=Title&limit=3")
        assert ["n23", "n19", "n15"] == mixed

    async def test_nulls_last_both_ways(self, client: httpx2.AsyncClient) -> None:
        for direction in ("ASC", "DESC"):
            found = await titles(client, f"order_by[{direction}][]=Rank")
            assert {"n07", "n14", "n21"} == set(found[-3:])
