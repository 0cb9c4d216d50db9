"""Lists: page mode, cursor mode, filters and orders; refusals first."""

import base64
from typing import Any
from urllib.parse import quote

import httpx2
import msgspec
import pytest

from afterword.kit import db
from afterword.kit.web import paging
from tests.kit.web.client import fields_of, problem
from tests.kit.web.conftest import House

ROWS = 23


@pytest.fixture
async def listed(notes: House) -> House:
    """23 notes: n01 is the oldest; three share each rank, every fifth has no locale."""
    async with db.transaction(notes.pool) as database:
        await database.execute(
            """insert into note (organization_id, note_id, title, locale, rank, weight, done, created_time)
               select $1, 'id' || lpad(n::text, 20, '0'), 'n' || lpad(n::text, 2, '0'),
                 case when n % 5 = 0 then null when n % 2 = 0 then 'el' else 'en' end,
                 case when n % 7 = 0 then null else n / 3 end, n / 2.0, n % 2 = 0,
                 '2026-01-01T00:00:00Z'::timestamptz + n * interval '1 day'
               from generate_series(1, $2::integer) n""",
            notes.organization_id,
            ROWS,
        )
        await database.execute(
            "insert into note (organization_id, note_id, title, created_time) values ('other', 'x', 'foreign', now())"
        )
    return notes


@pytest.fixture
async def client(listed: House) -> Any:
    async with listed.client() as client:
        yield client


async def titles(client: httpx2.AsyncClient, query: str) -> list[str]:
    found = await client.get(f"/note/bare?{query}")
    assert 200 == found.status_code, found.text
    return [note["title"] for note in found.json()]


async def walk(client: httpx2.AsyncClient, path: str, query: str) -> list[str]:
    """All titles of a list, by following Link."""
    address: str | None = f"{path}?{query}"
    seen: list[str] = []
    for _ in range(50):
        found = await client.get(str(address))
        assert 200 == found.status_code, found.text
        body = found.json()
        seen += [note["title"] for note in (body if isinstance(body, list) else body["results"])]
        link = found.headers.get("link")
        if link is None:
            return seen
        address = link.partition(">")[0].removeprefix("<")
        assert link.endswith('>; rel="next"')
    raise AssertionError("the list does not end")


MISTAKES = (
    ("pagination[page]=0", "pagination[page]", "out_of_range"),
    ("pagination[page]=-1", "pagination[page]", "out_of_range"),
    ("pagination[page]=x", "pagination[page]", "wrong_type"),
    ("pagination[page]=1.0", "pagination[page]", "wrong_type"),
    ("pagination[page]=", "pagination[page]", "wrong_type"),
    ("pagination[page]=1000000000000000000000", "pagination[page]", "wrong_type"),
    ("pagination[max_per_page]=501", "pagination[max_per_page]", "out_of_range"),
    ("pagination[max_per_page]=0", "pagination[max_per_page]", "out_of_range"),
    ("pagination[include_results]=2", "pagination[include_results]", "wrong_type"),
    ("pagination[page]=--1", "pagination[page]", "wrong_type"),
    ("pagination[page]=%D9%A1", "pagination[page]", "wrong_type"),
    ("pagination[page][]=1", "pagination[page]", "wrong_type"),
    ("pagination[max_per_page]=1e3", "pagination[max_per_page]", "wrong_type"),
    ("pagination=1", "pagination", "wrong_type"),
    ("pagination[page]=1001&pagination[max_per_page]=100", "pagination[page]", "page_too_deep"),
    ("pagination[page]=1000000001", "pagination[page]", "out_of_range"),
    ("pagination[page]=10001", "pagination[page]", "page_too_deep"),
    ("limit=0", "limit", "out_of_range"),
    ("limit=501", "limit", "out_of_range"),
    ("limit=-1", "limit", "out_of_range"),
    ("limit=a", "limit", "wrong_type"),
    ("limit=", "limit", "wrong_type"),
    ("limit[]=1", "limit", "wrong_type"),
    ("limit=5&pagination[page]=1", "pagination", "exclusive"),
    ("cursor=abc", "cursor", "invalid_cursor"),
    ("cursor=", "cursor", "invalid_cursor"),
    ("cursor[a]=b", "cursor", "invalid_cursor"),
    ("cursor=" + "a" * 513, "cursor", "invalid_cursor"),
    ("cursor=%C3%A9", "cursor", "invalid_cursor"),
    ("filter_by=1", "filter_by", "wrong_type"),
    ("filter_by[EQUAL]=1", "filter_by[EQUAL]", "wrong_type"),
    ("filter_by[NOPE][Title]=1", "filter_by[NOPE]", "unknown_criterion"),
    ("filter_by[equal][Title]=1", "filter_by[equal]", "unknown_criterion"),
    ("filter_by[EQUAL][Nope]=1", "filter_by[EQUAL][Nope]", "unknown_column"),
    ("filter_by[EQUAL][organization_id]=1", "filter_by[EQUAL][organization_id]", "unknown_column"),
    ("filter_by[EQUAL][Rank]=x", "filter_by[EQUAL][Rank]", "wrong_type"),
    ("filter_by[EQUAL][Rank]=1.5", "filter_by[EQUAL][Rank]", "wrong_type"),
    ("filter_by[EQUAL][Rank][]=1", "filter_by[EQUAL][Rank]", "wrong_type"),
    ("filter_by[EQUAL][Done]=yes", "filter_by[EQUAL][Done]", "wrong_type"),
    ("filter_by[LESS_THAN][Done]=1", "filter_by[LESS_THAN][Done]", "wrong_type"),
    ("filter_by[EQUAL][Weight]=1e5", "filter_by[EQUAL][Weight]", "wrong_type"),
    ("filter_by[EQUAL][CreatedTime]=soon", "filter_by[EQUAL][CreatedTime]", "invalid_date_time"),
    ("filter_by[LIKE][Rank]=1", "filter_by[LIKE][Rank]", "wrong_type"),
    ("filter_by[LIKE][Title]=a%5C", "filter_by[LIKE][Title]", "invalid_format"),
    ("filter_by[LIKE][Title]=" + "a" * 256, "filter_by[LIKE][Title]", "too_long"),
    ("filter_by[EQUAL][Title]=" + "a" * 4097, "filter_by[EQUAL][Title]", "too_long"),
    ("filter_by[IN][Rank][a]=1", "filter_by[IN][Rank]", "wrong_type"),
    ("&".join(["filter_by[IN][Rank][]=1"] * 201), "filter_by[IN][Rank]", "too_many"),
    ("order_by=Title", "order_by", "wrong_type"),
    ("order_by[UP][]=Title", "order_by[UP]", "unknown_value"),
    ("order_by[ASC][]=Nope", "order_by[ASC]", "unknown_column"),
    ("order_by[ASC][]=Title;drop", "order_by[ASC]", "unknown_column"),
    (
        "&".join(f"order_by[ASC][]={name}" for name in ("Title", "Rank", "Done", "Locale")),
        "order_by",
        "too_many",
    ),
)


class TestMistakes:
    async def test_named(self, client: httpx2.AsyncClient) -> None:
        for query, place, code in MISTAKES:
            found = problem(await client.get(f"/note?{query}"), 422, "invalid")
            assert (place, code) in fields_of(found), query

    async def test_columns_are_listed(self, client: httpx2.AsyncClient) -> None:
        found = await client.get("/note?filter_by[EQUAL][Nope]=1")
        assert "NoteId, Title, Locale, Rank, Weight, Done, CreatedTime" in found.json()["errors"][0]["message"]

    async def test_21_criteria(self, client: httpx2.AsyncClient) -> None:
        names = ("EQUAL", "NOT_EQUAL", "ALT_NOT_EQUAL", "GREATER_EQUAL", "LESS_EQUAL", "IN", "NOT_IN")
        columns = ("Title", "title", "Locale")
        query = "&".join(f"filter_by[{name}][{column}]=n" for name in names for column in columns)
        assert [("filter_by", "too_many")] == fields_of(problem(await client.get(f"/note?{query}"), 422, "invalid"))

    async def test_more_than_an_address_holds(self, client: httpx2.AsyncClient) -> None:
        """No link that nobody could follow, nor a header that breaks the proxy before us."""
        many = {"filter_by": {"NOT_IN": {"Title": ["x" * 200] * 100}}, "limit": 5}
        found = await client.request("GET", "/note", json=many)
        assert (200, 5, False) == (found.status_code, len(found.json()["results"]), "link" in found.headers)
        found = await client.request("GET", "/note", json={**many, "cursor": found.json()["next_cursor"]})
        assert (200, 5) == (found.status_code, len(found.json()["results"]))

    async def test_as_many_as_a_body_holds(self, client: httpx2.AsyncClient) -> None:
        """They are counted before they are read: no sentence for each of a hundred thousand wrong names."""
        names = ["x"] * 100_000
        groups = {f"c{number}": {f"n{place}": "" for place in range(200)} for number in range(200)}
        for name, given in (
            ("order_by", {"ASC": names}),
            ("order_by", {"UP": names}),
            ("response_fields", names),
            ("response_fields", ",".join(names)),
            ("filter_by", groups),
        ):
            found = await client.request("GET", "/note", json={name: given})
            assert [(name, "too_many")] == fields_of(problem(found, 422, "invalid"))
        assert 200 == (await client.request("GET", "/note", json={"order_by": {"ASC": []}})).status_code

    async def test_a_cursor_belongs_to_its_list(self, client: httpx2.AsyncClient) -> None:
        cursor = (await client.get("/note?limit=5")).json()["next_cursor"]
        assert 200 == (await client.get(f"/note?cursor={cursor}")).status_code
        for address in (
            f"/note/bare?cursor={cursor}",
            f"/note?cursor={cursor}&order_by[ASC][]=Title",
            f"/note?cursor={cursor}&filter_by[EQUAL][Done]=1",
            f"/note?cursor={'A' if cursor[0] != 'A' else 'B'}{cursor[1:]}",
            f"/note?cursor={cursor[:-2]}",
        ):
            found = problem(await client.get(address), 422, "invalid")
            assert [("cursor", "invalid_cursor")] == fields_of(found)


class TestPageMode:
    async def test_defaults(self, client: httpx2.AsyncClient) -> None:
        found = (await client.get("/note")).json()
        assert ["page", "max_per_page", "last_page", "total_results", "results", "next_cursor"] == list(found)
        assert (1, 10, 3, ROWS) == tuple(found[name] for name in ("page", "max_per_page", "last_page", "total_results"))
        assert [f"n{n:02}" for n in range(23, 13, -1)] == [note["title"] for note in found["results"]]

    async def test_last_and_beyond(self, client: httpx2.AsyncClient) -> None:
        found = await client.get("/note?pagination[page]=3")
        assert ["n03", "n02", "n01"] == [note["title"] for note in found.json()["results"]]
        assert "link" not in found.headers
        found = await client.get("/note?pagination[page]=4")
        beyond = found.json()
        assert (200, []) == (found.status_code, beyond["results"])
        assert (3, ROWS) == (beyond["last_page"], beyond["total_results"])

    async def test_counts_alone(self, client: httpx2.AsyncClient) -> None:
        found = (await client.get("/note?pagination[include_results]=0&pagination[max_per_page]=1")).json()
        assert ([], ROWS, ROWS) == (found["results"], found["total_results"], found["last_page"])

    async def test_nothing_there(self, client: httpx2.AsyncClient) -> None:
        found = (await client.get("/note?filter_by[EQUAL][Title]=none")).json()
        assert (1, 10, 1, 0, [], None) == tuple(found.values())

    async def test_link_keeps_all_parameters(self, client: httpx2.AsyncClient) -> None:
        query = "filter_by[EQUAL][Done]=0&order_by[ASC][]=Title&pagination[max_per_page]=5&fields[0]=*"
        assert [f"n{n:02}" for n in range(1, 24, 2)] == await walk(client, "/note", query)
        found = await client.get(f"/note?{query}")
        assert "filter_by%5BEQUAL%5D%5BDone%5D=0" in found.headers["link"]

    @pytest.mark.parametrize(
        ("query", "total"),
        [("", "23"), ("filter_by[EQUAL][Title]=n01", "1"), ("pagination[page]=2", "23"), ("limit=5", None)],
    )
    async def test_array_has_its_total_in_a_header(
        self, client: httpx2.AsyncClient, query: str, total: str | None
    ) -> None:
        assert total == (await client.get(f"/note/bare?{query}")).headers.get("x-total-count")

    async def test_array_in_page_mode(self, client: httpx2.AsyncClient) -> None:
        found = await client.get("/note/bare?pagination[page]=2&pagination[max_per_page]=10")
        assert [f"n{n:02}" for n in range(13, 3, -1)] == [note["title"] for note in found.json()]
        assert ROWS == len(await walk(client, "/note/bare", "pagination[max_per_page]=7"))

    async def test_a_page_goes_on_with_its_cursor(self, client: httpx2.AsyncClient) -> None:
        found = (await client.get("/note?pagination[max_per_page]=20")).json()
        rest = (await client.get(f"/note?limit=20&cursor={found['next_cursor']}")).json()
        assert ["n03", "n02", "n01"] == [note["title"] for note in rest["results"]]

    async def test_as_a_body(self, client: httpx2.AsyncClient) -> None:
        body = {"pagination": {"page": 1, "max_per_page": 5}, "filter_by": {"EQUAL": {"Done": True}}}
        found = await client.request("GET", "/note?pagination[max_per_page]=3", json=body)
        assert (3, 11) == (found.json()["max_per_page"], found.json()["total_results"])
        found = await client.request("GET", "/note", json=body)
        assert (5, 3) == (found.json()["max_per_page"], found.json()["last_page"])
        assert "filter_by%5BEQUAL%5D%5BDone%5D=1" in found.headers["link"]


class TestCursorMode:
    async def test_envelope(self, client: httpx2.AsyncClient) -> None:
        found = (await client.get("/note?limit=10")).json()
        assert (None, 10, None, None) == tuple(found[n] for n in ("page", "max_per_page", "last_page", "total_results"))
        assert found["next_cursor"]
        assert (await client.get("/note?limit=500")).json()["next_cursor"] is None

    @pytest.mark.parametrize(
        "order",
        ["", "order_by[ASC][]=CreatedTime", "order_by[ASC][]=Rank", "order_by[DESC][]=Rank", "order_by[DESC][]=Locale",
         "order_by[ASC][]=Locale&order_by[DESC][]=Rank", "order_by[DESC][]=Done&order_by[ASC][]=Weight",
         "order_by[DESC][]=NoteId", "order_by[ASC][]=Locale&order_by[ASC][]=Rank&order_by[DESC][]=Title"],
    )  # fmt: skip
    async def test_each_row_exactly_once(self, client: httpx2.AsyncClient, order: str) -> None:
        whole = await titles(client, f"{order}&limit=500")
        assert ROWS == len(set(whole)) == len(whole)
        for path, limit in (("/note", 2), ("/note/bare", 4), ("/note", 22), ("/note", 23)):
            assert whole == await walk(client, path, f"{order}&limit={limit}")

    async def test_rows_that_come_and_go_meanwhile(self, listed: House, client: httpx2.AsyncClient) -> None:
        first = (await client.get("/note?limit=5")).json()
        async with db.transaction(listed.pool) as database:
            await database.execute("delete from note where title in ('n19', 'n10')")
            await database.execute(
                "insert into note (organization_id, note_id, title, created_time) values ($1, 'new', 'new', now())",
                listed.organization_id,
            )
        rest = await walk(client, "/note", f"limit=5&cursor={first['next_cursor']}")
        assert [f"n{n:02}" for n in range(18, 0, -1) if n != 10] == rest

    async def test_long_keys(self, listed: House, client: httpx2.AsyncClient) -> None:
        async with db.transaction(listed.pool) as database:
            await database.execute("update note set title = repeat('\u0391', 4000) || title")
        whole = await walk(client, "/note", "limit=5&order_by[DESC][]=Title")
        assert [f"n{n:02}" for n in range(23, 0, -1)] == [title[4000:] for title in whole]
        cursor = (await client.get("/note?limit=5&order_by[DESC][]=Title")).json()["next_cursor"]
        assert len(cursor) <= 512
        async with db.transaction(listed.pool) as database:
            await database.execute("delete from note where title like '%n19'")
        found = await client.get(f"/note?order_by[DESC][]=Title&cursor={cursor}")
        assert [("cursor", "invalid_cursor")] == fields_of(problem(found, 422, "invalid"))


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


class TestCursorsOfTheReleaseBefore:
    async def test_they_are_read_on(self, client: httpx2.AsyncClient, listed: House) -> None:
        """They do not say when they were made, so any server goes on."""
        cursor = (await client.get("/note?limit=2")).json()["next_cursor"]
        raw = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
        payload, _, made = raw[paging.SEAL_BYTES :].partition(b"\n")
        assert abs(int(made) - listed.pool.clock.now().timestamp()) < 60
        binding = paging._binding_of(["/v3.2/note", None, {}, [("created_time", "desc")]])
        older = paging._seal(msgspec.json.decode(payload), binding=binding, secret=listed.site.secret)
        for each in (cursor, older):
            found = (await client.get("/note", params={"limit": 2, "cursor": each})).json()["results"]
            assert ["n21", "n20"] == [one["title"] for one in found]
