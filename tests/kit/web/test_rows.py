"""Many records in one body: one that is wrong is told as such in its place, and what is no list at all is refused."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import httpx2
import pytest

from afterword.core.reading.structs import Context
from afterword.core.wire import times
from afterword.kit.web import paging, parsing
from afterword.kit.web.limits import Limits
from tests.kit.web.client import count, fields_of, problem
from tests.kit.web.conftest import CLOSED, House, NoteRequest, routes

LINES = "application/x-ndjson"
JSON = "application/json"
ROWS_MAX = 250
ROUTE = next(route for route in routes.all if route.rows_max)


async def post(client: httpx2.AsyncClient, content: Any, label: str | None = JSON, **sent: str) -> httpx2.Response:
    headers = {name.replace("_", "-"): value for name, value in sent.items()}
    return await client.post(
        "/note/batch", content=content, headers={**headers, **({"Content-Type": label} if label else {})}
    )


def lines(*documents: object) -> bytes:
    return b"\n".join(json.dumps(document).encode() for document in documents)


class TestWholeBody:
    async def test_refused(self, client: httpx2.AsyncClient) -> None:
        for label, content, status, code in (
            (JSON, b"[", 400, "malformed_json"),
            (JSON, b'[{"title":"x"}', 400, "malformed_json"),
            (JSON, b'[{"title":"x"},]', 400, "malformed_json"),
            (JSON, b'[{"title":"x"}] x', 400, "malformed_json"),
            (JSON, b'[{"title":"x"}][]', 400, "malformed_json"),
            (JSON, b'[{"title":"\\ud83d"}', 400, "malformed_json"),
            (JSON, b'[{"title":NaN}}', 400, "malformed_json"),
            (JSON, b'[{"title":NaN} 7]', 400, "malformed_json"),
            (JSON, b"[NaN,]", 400, "malformed_json"),
            (JSON, b"[" * 100_000, 400, "malformed_json"),
            (JSON, b"  ", 400, "malformed_json"),
            (JSON, b'[{"title":"\xff"}', 400, "malformed_encoding"),
            (JSON, '[{"title":"x"}]'.encode("utf-16"), 400, "malformed_encoding"),
            (JSON, b"[" + b"1," * ROWS_MAX + b"1]", 413, "body_too_large"),
            (JSON, b"[" + b"[1]," * 600_000 + b"1]", 413, "body_too_large"),
            (JSON, b'[{"a":"' + b"," * 600_000 + b'"}' + b",1" * ROWS_MAX + b"]", 413, "body_too_large"),
            (LINES, b"1\n" * (ROWS_MAX + 1), 413, "body_too_large"),
            (LINES, b"1" + b"\n" * 1_000_000 + b"1", 413, "body_too_large"),
            (JSON, b"[" + b" " * paging.BODY_BYTES_MAX + b"]", 413, "body_too_large"),
            ("text/csv", b"a", 415, "unsupported_media_type"),
            ("application/x-www-form-urlencoded", b"a=1", 415, "unsupported_media_type"),
            ("application/json; charset=latin-1", b"[]", 415, "unsupported_media_type"),
        ):
            problem(await post(client, content, label), status, code)

    async def test_where_a_list_is_broken(self, client: httpx2.AsyncClient) -> None:
        for content, place in (
            (b'[\n {"title": "x"},\n]', "line 3, column 1"),
            (b'[{"title": "x"},\n {"title" "y"}]', "line 2, column 11"),
            (b'[{"title": "x"}\n {"title": "y"}]', "line 2, column 2"),
            (b'[{"title": "x"}', "line 1, column 16"),
            (b'[{"title": NaN}] 7', "line 1, column 16"),
        ):
            found = problem(await post(client, content), 400, "malformed_json")
            assert f"The body is not one valid JSON list: {place}." == found["detail"], content

    async def test_wrong(self, client: httpx2.AsyncClient) -> None:
        for label, content, code in (
            (JSON, b"[]", "too_few"), (JSON, b"", "too_few"), (LINES, b"", "too_few"), (LINES, b" \n\n ", "too_few"),
            (None, b"", "too_few"), (JSON, b"{}", "wrong_type"), (JSON, b"null", "wrong_type"),
            (JSON, b'"text"', "wrong_type"), (JSON, b"7", "wrong_type"), (None, b"{}", "wrong_type"),
        ):  # fmt: skip
            found = problem(await post(client, content, label), 422, "invalid")
            assert [("", code)] == fields_of(found), content

    async def test_compressed(self, client: httpx2.AsyncClient) -> None:
        problem(await post(client, b"[]", Content_Encoding="gzip"), 415, "unsupported_encoding")

    async def test_told_by_its_length(self, client: httpx2.AsyncClient) -> None:
        async def never() -> AsyncIterator[bytes]:
            raise AssertionError("it was read")
            yield b""

        found = await client.post(
            "/note/batch", content=never(), headers={"Content-Length": "33554433", "Content-Type": JSON}
        )
        problem(found, 413, "body_too_large")

    async def test_streamed(self, notes: House) -> None:
        async def pieces() -> AsyncIterator[bytes]:
            yield b'[{"title":"a"}'
            for _ in range(40):
                yield b" " * 65_536
            yield b"]"

        async with notes.client() as client:
            found = await post(client, pieces())
        assert (200, ["a"]) == (found.status_code, found.json()["titles"])
        assert 1 == await count(notes)


class TestRecords:
    WRONG: tuple[tuple[bytes, list[str]], ...] = (
        (b'{"title":""}', ["/title too_short"]),
        (b'{"title":5,"rank":"7"}', ["/title wrong_type", "/rank wrong_type"]),
        (b"{}", ["/title required"]),
        (b"[]", ["/title required"]),
        (b"7", [" wrong_type"]),
        (b"null", [" wrong_type"]),
        (b'{"title":"a","title":"b"}', [" invalid_format"]),
        (b'{"title":"a\\u0000"}', [" invalid_format"]),
        (b'{"title":"\xff"}', [" invalid_format"]),
        (b'{"title":"\\ud83d"}', [" invalid_format"]),
        (b'{"title":"a","weight":NaN}', [" invalid_format"]),
        (b'{"title":"a","weight":1e400}', [" invalid_format"]),
        (b'{"title":"a","rank":1234567890123456789}', [" invalid_format"]),
        (b'{"title":"a","x":' + b"[" * 16 + b"]" * 16 + b"}", [" invalid_format"]),
        (b'{"title":"a","x":"' + b"x" * paging.RECORD_BYTES_MAX + b'"}', [" too_long"]),
        (b'{"title":"a","send_time":"2026-01-01 24:00"}', ["/send_time invalid_date_time"]),
    )
    WRONG_LINES: tuple[tuple[bytes, list[str]], ...] = (
        (b"{", [" invalid_format"]),
        (b"x" * 70_000, [" too_long"]),
        (b"[" * 50_000, [" invalid_format"]),
    )

    async def test_list(self, notes: House) -> None:
        """Each wrong record is told alone, and the good ones around it are as good as ever."""
        async with notes.client() as client:
            for wrong, codes in self.WRONG:
                found = await post(client, b' [ {"title":"a"} ,' + wrong + b', {"title":"b"}]\n')
                assert 200 == found.status_code, (wrong[:40], found.text)
                assert {"titles": ["a", None, "b"], "codes": [[], codes, []], "on_conflict": "error"} == found.json()
        assert 2 * len(self.WRONG) == await count(notes)

    async def test_lines(self, notes: House) -> None:
        async with notes.client() as client:
            for wrong, codes in (*self.WRONG, *self.WRONG_LINES):
                found = await post(client, b'\xef\xbb\xbf{"title":"a"}\r\n\n' + wrong + b'\n{"title":"b"}\n', LINES)
                assert 200 == found.status_code, (wrong[:40], found.text)
                assert (["a", None, "b"], [[], codes, []]) == (found.json()["titles"], found.json()["codes"])

    async def test_lax_without_a_label(self, client: httpx2.AsyncClient) -> None:
        content = json.dumps([{"title": "a", "rank": "7", "done": "1"}]).encode()
        for label in (None, "application/x-www-form-urlencoded"):
            assert ["a"] == (await post(client, content, label)).json()["titles"]
        assert [["/rank wrong_type", "/done wrong_type"]] == (await post(client, content)).json()["codes"]

    async def test_strict(self, client: httpx2.AsyncClient) -> None:
        found = await post(client, lines({"title": "a", "nope": 1}), LINES, Prefer="handling=strict")
        assert [["/nope unknown_member"]] == found.json()["codes"]
        assert "handling=strict" == found.headers["preference-applied"]

    async def test_query(self, client: httpx2.AsyncClient) -> None:
        found = await client.post("/note/batch?on_conflict=skip", json=[{"title": "a"}])
        assert "skip" == found.json()["on_conflict"]
        found = await client.post("/note/batch?on_conflict=nope", json=[{"title": "a"}])
        assert [("on_conflict", "unknown_value")] == fields_of(problem(found, 422, "invalid"))


class TestLimits:
    @pytest.mark.usefixtures("one_minute")
    async def test_a_hundred_records_are_a_request(self, notes: House) -> None:
        async with notes.client(limits=Limits(10, 0, 0)) as client:
            left = [
                int((await post(client, lines(*[{}] * number), LINES)).headers["ratelimit-remaining"])
                for number in (1, 100, 101, 250)
            ]
            found = await post(client, lines(*[{"title": "x"}] * 250), LINES)
            assert [9, 8, 6, 3, 200] == [*left, found.status_code]
            problem(await post(client, lines(*[{"title": "x"}] * 101), LINES), 429, "rate_limited")
        assert 250 == await count(notes)

    async def test_idempotency(self, notes: House) -> None:
        """The same records are the same request, in whatever form they come."""
        documents: list[Any] = [{"title": "a", "rank": 1}, {}, {"title": "b"}]
        sent = {"Idempotency_Key": "k"}
        async with notes.client() as client:
            first = await post(client, json.dumps(documents).encode(), **sent)
            for content, label in (
                (lines({"rank": 1, "title": "a"}, {}, {"title": "b", "locale": None}), LINES),
                (json.dumps(documents, indent=1).encode(), JSON),
            ):
                again = await post(client, content, label, **sent)
                assert (first.content, "true") == (again.content, again.headers["idempotency-replayed"])
            problem(await post(client, lines(*documents[:2]), LINES, **sent), 422, "idempotency_key_reused")
        assert 2 == await count(notes)


def test_ten_thousand_records_are_read_in_turns() -> None:
    """Others get theirs meanwhile."""
    metadata = {"questionnaire": {"transaction_id": "1042"}, "responder": {"email": "ann@example.com"}}
    document = {"title": "x", "locale": "el", "send_time": "2026-12-15T10:30:00+02:00", "metadata": metadata}
    raw = json.dumps([document] * 10_000).encode()
    turns: list[float] = []

    async def other() -> None:
        while True:
            turns.append(time.perf_counter())
            await asyncio.sleep(0)

    async def main() -> list[Any]:
        busy = asyncio.create_task(other())
        records = paging.split(raw, JSON, rows_max=10_000)
        context = Context(now=datetime(2026, 11, 21, tzinfo=UTC), zone=times.zone_of("Europe/Athens"))
        found = await paging.read(records, ROUTE, context, read_only=frozenset())
        busy.cancel()
        return found

    found = asyncio.run(main())
    assert 10_000 == sum(isinstance(row, NoteRequest) for row in found)
    assert len(turns) >= 10_000 // paging.ROWS_A_TURN


@pytest.mark.parametrize("text", ["[]", "[1]", "[[],{},[[1,2],3]]", '["a,b",{"c":[1,2,{"d":1}]},"]"]', "[[[[1]]],2]"])
def test_entries_are_counted_before_they_are_read(text: str) -> None:
    assert max(1, len(json.loads(text))) == parsing.count_entries(text.encode())


class TestDownloads:
    async def fill(self, client: httpx2.AsyncClient) -> None:
        assert 200 == (await post(client, lines(*[{"title": "x"}] * 3), LINES)).status_code

    async def test_refused_before_the_first_byte(self, client: httpx2.AsyncClient) -> None:
        problem(await client.get("/note/file?fails=at%20once"), 410, "gone")
        problem(await client.get("/note/file?fails=nope"), 422, "invalid")
        problem(await client.get("/note/file", headers={"Accept": "application/json"}), 406, "not_acceptable")

    async def test_broken_off(self, notes: House) -> None:
        """A started response cannot become a problem document any more: the connection breaks off."""
        async with notes.client() as client:
            await self.fill(client)
            transport: Any = client._transport
            transport.raise_app_exceptions = True
            with pytest.raises(RuntimeError, match="secret detail"):
                await client.get("/note/file?fails=later")

    async def test_client_leaves(self, notes: House) -> None:
        """A server takes what is sent to nobody without a word: the runner itself sees that the client has left."""
        async with notes.client() as client:
            await self.fill(client)
            asgi: Any = client._transport.app  # pyrefly: ignore[missing-attribute]
        left, asked, sent = asyncio.Event(), 0, []

        async def receive() -> dict[str, Any]:
            nonlocal asked
            asked += 1
            if asked > 1:
                await left.wait()
                return {"type": "http.disconnect"}
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Any) -> None:
            sent.append(message)
            if message.get("body"):
                left.set()

        scope = {
            "type": "http", "method": "GET", "path": "/v3.2/note/file", "raw_path": b"/v3.2/note/file",
            "query_string": b"name=left.csv", "headers": [(b"authorization", f"Bearer {notes.token}".encode())],
            "client": ("192.0.2.1", 1), "server": ("testserver", 80), "scheme": "http", "http_version": "1.1",
        }  # fmt: skip
        await asgi(scope, receive, send)
        assert [200, b"0,"] == [sent[0]["status"], sent[1]["body"]]
        assert len(sent) < 4
        assert "left.csv" in CLOSED

    async def test_ok(self, client: httpx2.AsyncClient) -> None:
        await self.fill(client)
        for accept in ("text/csv", "text/*", "*/*", "application/json;q=0.5, text/csv"):
            found = await client.get("/note/file", headers={"Accept": accept})
            assert (200, "0,1,2,") == (found.status_code, found.text)
        assert "text/csv" == found.headers["content-type"]
        assert 'attachment; filename="notes.csv"' == found.headers["content-disposition"]
        assert "no-store" == found.headers["cache-control"]
        again = await client.get("/note/file", headers={"If-None-Match": found.headers["etag"]})
        assert (304, b"") == (again.status_code, again.content)

    async def test_empty(self, client: httpx2.AsyncClient) -> None:
        found = await client.get("/note/file")
        assert (200, b"") == (found.status_code, found.content)

    async def test_head(self, client: httpx2.AsyncClient) -> None:
        found = await client.head("/note/file?fails=at%20once")
        assert (200, b"", "text/csv") == (found.status_code, found.content, found.headers["content-type"])

    @pytest.mark.parametrize(
        ("name", "expected"),
        [
            ('a"b.csv', "\"a_b.csv\"; filename*=UTF-8''a%22b.csv"),
            ("Ωρα.csv", "\"___.csv\"; filename*=UTF-8''%CE%A9%CF%81%CE%B1.csv"),
            ("a\r\nSet-Cookie: b", "\"a__Set-Cookie_ b\"; filename*=UTF-8''a%0D%0ASet-Cookie%3A%20b"),
        ],
    )
    async def test_names(self, client: httpx2.AsyncClient, name: str, expected: str) -> None:
        found = await client.get("/note/file", params={"name": name})
        assert f"attachment; filename={expected}" == found.headers["content-disposition"]


class TestLog:
    """A list that is read by cursors alone, and calls them `after`."""

    async def test_refused(self, client: httpx2.AsyncClient) -> None:
        for query, place, code in (
            ("pagination[page]=1", "pagination", "exclusive"),
            ("after=x", "after", "invalid_cursor"),
            ("cursor=x", "cursor", "invalid_cursor"),
            ("limit=0", "limit", "out_of_range"),
        ):
            found = problem(await client.get(f"/note/log?{query}"), 422, "invalid")
            assert [(place, code)] == fields_of(found)

    async def test_ok(self, client: httpx2.AsyncClient) -> None:
        await client.post("/note/batch", json=[{"title": "x"}] * 5)
        found = await client.get("/note/log?limit=2")
        assert {"results", "next_cursor"} == set(found.json())
        seen = [*found.json()["results"]]
        while "link" in found.headers:
            assert f"after={found.json()['next_cursor']}" in found.headers["link"]
            found = await client.get(found.headers["link"].split(">")[0][1:])
            seen += found.json()["results"]
        assert 1 == len(found.json()["results"])
        assert 5 == len({entry["note_id"] for entry in seen})
        first = (await client.get("/note/log?limit=2")).json()["next_cursor"]
        for name in ("after", "cursor"):
            assert seen[2:4] == (await client.get(f"/note/log?limit=2&{name}={first}")).json()["results"]
        found = problem(await client.get(f"/note/log?after={first}&cursor={first}"), 422, "invalid")
        assert [("cursor", "exclusive")] == fields_of(found)
