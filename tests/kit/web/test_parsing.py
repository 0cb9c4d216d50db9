"""Hostile bodies: each is refused with its code, quickly; tests/contract sends them to each kind of route."""

import asyncio
import json
import time
import tracemalloc
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest
from hypothesis import given, strategies as st

from afterword import errors
from afterword.kit.web import parsing, query
from tests import machine
from tests.contract.hostile import FORM, FORMS, JSON, LABELLED, MALFORMED, MEGABYTE, Hostile
from tests.kit.web.client import problem

CPU_SECONDS_MAX = 0.05
BYTES_MAX = 8_000_000
LABELS = [one for one in (*LABELLED, *FORMS) if one.expected == (415, "unsupported_media_type")]
HOSTILE = [*MALFORMED, *(form for form in FORMS if 400 == form.expected[0])]


def nested(depth: int) -> bytes:
    return b"[" * depth + b"]" * depth


FINE: dict[str, bytes] = {
    "mark": b'\xef\xbb\xbf{"title":"x"}',
    "white space": b' \r\n\t{ "title" : "x" } \n',
    "pair": b'{"title":"\\ud83d\\ude00"}',
    "emoji": '{"title":"😀"}'.encode(),
    "quotes and slashes": b'{"title":"a\\"b\\\\\\/"}',
    "18 digits": b'{"title":"x","metadata":{"questionnaire":{"n":123456789012345678}}}',
    "long number in a text": b'{"title":"12345678901234567890"}',
    "long fraction": b'{"title":"x","weight":0.12345678901234567890123}',
    "big but a double": b'{"title":"x","weight":1e300}',
    "tiny": b'{"title":"x","weight":1e-400}',
    "minus zero": b'{"title":"x","weight":-0}',
    "depth 16": b'{"title":"x","deep":' + nested(15) + b"}",
    "brackets in a text": b'{"title":"' + b"[" * 100 + b'"}',
    "colons in a text": b'{"title":"' + b":" * 150 + b'","x":"' + b":" * 200 + b'"}',
    "200 members": json.dumps({"title": "x", **{str(n): n for n in range(199)}}).encode(),
    "name of 255": json.dumps({"title": "x", "n" * 255: 1}).encode(),
    "__proto__": b'{"title":"x","__proto__":{"rank":1},"constructor":1}',
    "empty names": b'{"title":"x","":1}',
    "the same text twice": b'{"title":"x","x":"title","y":["title","title"]}',
    "many small objects": json.dumps({"title": "x", "rows": [{"a": 1, "b": "c"}] * 300}).encode(),
    "delete character": b'{"title":"a\x7fb"}',
    "line separators": '{"title":"a\u2028b\u0085"}'.encode(),
}


async def post(client: httpx2.AsyncClient, content: Any, **headers: str) -> httpx2.Response:
    sent = {"Content-Type": "application/json", **{name.replace("_", "-"): value for name, value in headers.items()}}
    return await client.post("/note", content=content, headers=sent)


class TestHostileBodies:
    @pytest.mark.parametrize("hostile", HOSTILE, ids=lambda hostile: hostile.label)
    def test_refused(self, hostile: Hostile) -> None:
        """In little time and memory; a form, and JSON, under the label of a form and under none."""
        assert isinstance(hostile.body, bytes)
        own = hostile.headers.get("content-type", JSON)
        is_read_as_form = own == FORM or hostile.body.startswith((b"{", b"["))
        for label in {own, *((FORM, f"{FORM}; charset=UTF-8", "", None) if is_read_as_form else ())}:
            started = time.process_time()
            with pytest.raises(errors.Malformed) as caught:
                query.read_body(hostile.body, label)
            assert hostile.expected == (caught.value.status, caught.value.code)
            assert not machine.is_over(time.process_time() - started, limit=CPU_SECONDS_MAX)
        tracemalloc.start()
        with pytest.raises(errors.Malformed):
            query.read_body(hostile.body, own)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < BYTES_MAX

    @pytest.mark.parametrize("label", [one.headers["content-type"] for one in LABELS])
    def test_labels(self, label: str) -> None:
        with pytest.raises(errors.UnsupportedMedia):
            query.read_body(b"{}", label)

    def test_the_line_is_named(self) -> None:
        with pytest.raises(errors.Malformed) as caught:
            query.read_body(b'{"title": "x",\n  }', JSON)
        assert "The body is not one valid JSON value: line 2, column 3." == caught.value.detail

    @pytest.mark.parametrize(
        ("body", "name"),
        [(b'{"a":[{"b":1,"c":2,"b":3}]}', "b"), (b'{"":1,"":2}', ""), (b'{"\\u00e9":1,"\xc3\xa9":2}', "é")],
    )
    def test_the_name_that_stands_twice_is_told(self, body: bytes, name: str) -> None:
        with pytest.raises(errors.Malformed) as caught:
            query.read_body(body, JSON)
        assert f"The name “{name}” stands twice in one object." == caught.value.detail

    @pytest.mark.parametrize(
        ("name", "code"), [("\\ud800", "lone_surrogate"), ("\\u0000", "nul_character"), ("n" * 300, "name_too_long")]
    )
    def test_what_no_name_may_be_is_not_repeated(self, name: str, code: str) -> None:
        with pytest.raises(errors.Malformed) as caught:
            query.read_body(f'{{"{name}":1,"{name}":2}}'.encode(), JSON)
        assert code == caught.value.code

    @pytest.mark.parametrize("name", FINE)
    def test_fine(self, name: str) -> None:
        assert json.loads(FINE[name].removeprefix(parsing.BYTE_ORDER_MARK)) == parsing.read_json(FINE[name])

    async def test_metadata_is_limited_like_any_object(self, client: httpx2.AsyncClient) -> None:
        found = await post(client, json.dumps({"title": "x", "tags": ["a"] * 1001}).encode())
        assert "too_many" == problem(found, 422, "invalid")["errors"][0]["code"]


class TestMediaTypes:
    @pytest.mark.parametrize(
        "label",
        ["application/json", "APPLICATION/JSON", "application/json; charset=utf-8", 'application/json;charset="UTF-8"',
         "application/vnd.api+json", "application/json; version=1"],
    )  # fmt: skip
    async def test_json(self, client: httpx2.AsyncClient, label: str) -> None:
        assert 201 == (await post(client, b'{"title":"x"}', Content_Type=label)).status_code

    async def test_others(self, client: httpx2.AsyncClient) -> None:
        found = await post(client, b'{"title":"x"}', Content_Type="text/plain")
        problem(found, 415, "unsupported_media_type")
        assert f"{JSON}, {FORM}" == found.headers["accept"]

    async def test_compressed(self, client: httpx2.AsyncClient) -> None:
        found = await post(client, b'{"title":"x"}', Content_Encoding="gzip, identity")
        problem(found, 415, "unsupported_encoding")
        assert "identity" == found.headers["accept-encoding"]

    async def test_identity(self, client: httpx2.AsyncClient) -> None:
        assert 201 == (await post(client, b'{"title":"x"}', Content_Encoding="Identity")).status_code

    @pytest.mark.parametrize(
        "accept",
        ["*/*", "application/*", "application/json", "text/html, */*;q=0.1", "application/json; charset=utf-8", "",
         "text/html;q=0.9,application/json;q=0.8", "application/json;q=x"],
    )  # fmt: skip
    async def test_acceptable(self, client: httpx2.AsyncClient, accept: str) -> None:
        assert 200 == (await client.get("/note", headers={"Accept": accept})).status_code


class TestSizes:
    async def test_told_by_its_length(self, client: httpx2.AsyncClient) -> None:
        problem(await post(client, b"{" + b" " * MEGABYTE + b"}"), 413, "body_too_large")
        problem(await post(client, b"x" * 30_000_000), 413, "body_too_large")

    async def test_found_while_reading(self, client: httpx2.AsyncClient) -> None:
        sent = 0

        async def endless() -> AsyncIterator[bytes]:
            nonlocal sent
            while True:
                sent += 1
                yield b" " * 65_536

        problem(await post(client, endless()), 413, "body_too_large")
        assert 20 > sent

    async def test_chunks(self, client: httpx2.AsyncClient) -> None:
        async def chunks() -> AsyncIterator[bytes]:
            for byte in b'{"title":"chunked"}':
                yield bytes([byte])

        found = await post(client, chunks())
        assert (201, "chunked") == (found.status_code, found.json()["title"])

    async def test_a_megabyte_is_fine(self, client: httpx2.AsyncClient) -> None:
        raw = b'{"title":"x","rest":"' + b"a" * (MEGABYTE - 23) + b'"}'
        assert MEGABYTE == len(raw)
        assert 201 == (await post(client, raw)).status_code

    async def test_target(self, client: httpx2.AsyncClient) -> None:
        problem(await client.get("/note?x=" + "y" * 16_384), 414, "target_too_long")
        problem(await client.get("/note?x=" + "y" * 16_000), 422, "invalid")  # read, and there is no x

    async def test_slow_body(self, client: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(parsing, "BODY_SECONDS_MAX", 0.05)
        stopped = asyncio.Event()

        async def slow() -> AsyncIterator[bytes]:
            yield b"{"
            await stopped.wait()

        problem(await post(client, slow()), 408, "request_timeout")


TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=20)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**18) + 1, 10**18 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=20,
)


@given(VALUES, st.booleans(), st.sampled_from([None, 2]))
def test_whatever_json_can_say_comes_back(value: Any, as_ascii: bool, indent: int | None) -> None:  # noqa: FBT001
    raw = json.dumps(value, ensure_ascii=as_ascii, indent=indent).encode()
    try:
        found = parsing.read_json(raw)
    except errors.Malformed as error:
        refused = error.code
    else:
        assert value == found
        return
    assert "too_deep" == refused


@given(st.binary(max_size=200) | st.text('{}[]",:\\u01ae. ', max_size=60).map(str.encode))
def test_any_bytes_are_read_as_the_standard_says_or_refused(raw: bytes) -> None:
    try:
        found = parsing.read_json(raw)
    except errors.Malformed:
        return
    assert json.loads(raw.removeprefix(parsing.BYTE_ORDER_MARK).decode()) == found
