"""Hostile bodies: each is refused with its code, quickly, and reaches neither a route nor the database."""

import asyncio
import json
import time
import tracemalloc
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterword import errors
from afterword.kit.web import parsing
from tests import machine
from tests.kit.web.client import count, problem
from tests.kit.web.conftest import House

CPU_SECONDS_MAX = 0.05
BYTES_MAX = 8_000_000
MEGABYTE = 1_048_576


def nested(depth: int) -> bytes:
    return b"[" * depth + b"]" * depth


def objects(depth: int) -> bytes:
    return b'{"a":' * depth + b"1" + b"}" * depth


MALFORMED: dict[str, tuple[bytes, str]] = {
    "nothing but space": (b"  ", "malformed_json"),
    "open object": (b'{"title":"x"', "malformed_json"),
    "open text": (b'{"title":"x', "malformed_json"),
    "trailing comma": (b'{"title":"x",}', "malformed_json"),
    "garbage after": (b'{"title":"x"} x', "malformed_json"),
    "two values": (b'{"title":"x"}{"title":"y"}', "malformed_json"),
    "single quotes": (b"{'title':'x'}", "malformed_json"),
    "bare name": (b'{title:"x"}', "malformed_json"),
    "comment": (b'{"title":"x"/**/}', "malformed_json"),
    "python": (b'{"title":None}', "malformed_json"),
    "leading zero": (b'{"rank":01}', "malformed_json"),
    "plus": (b'{"rank":+1}', "malformed_json"),
    "hexadecimal": (b'{"rank":0x10}', "malformed_json"),
    "dot": (b'{"rank":1.}', "malformed_json"),
    "control character": (b'{"title":"a\x01b"}', "malformed_json"),
    "line end in a text": (b'{"title":"a\nb"}', "malformed_json"),
    "raw NUL": (b'{"title":"a\x00b"}', "malformed_json"),
    "bad escape": (b'{"title":"\\x41"}', "malformed_json"),
    "cut escape": (b'{"title":"\\u00"}', "malformed_json"),
    "number as a name": (b'{1:"x"}', "malformed_json"),
    "unclosed braces": (b"{" * 10, "malformed_json"),
    "closing only": (b"}" * 5000, "malformed_json"),
    "wrong way round": (b"]]]][[[[", "malformed_json"),
    "mixed brackets": (b'{"tags":[}]', "malformed_json"),
    "form": (b"title=x&rank=1", "malformed_json"),
    "xml": (b"<?xml version='1.0'?><title>x</title>", "malformed_json"),
    "two marks": (b"\xef\xbb\xbf\xef\xbb\xbf{}", "malformed_json"),
    "UTF-8 cut": (b'{"title":"\xc3"}', "malformed_encoding"),
    "overlong": (b'{"title":"\xc0\x80"}', "malformed_encoding"),
    "raw surrogate": (b'{"title":"\xed\xa0\x80"}', "malformed_encoding"),
    "latin-1": ('{"title":"é"}'.encode("latin-1"), "malformed_encoding"),
    "UTF-16": ('{"title":"x"}'.encode("utf-16"), "malformed_encoding"),
    "UTF-16 without mark": ('{"title":"x"}'.encode("utf-16-le"), "malformed_json"),
    "UTF-32": ('{"title":"x"}'.encode("utf-32-be"), "malformed_json"),
    "NUL": (b'{"title":"a\\u0000b"}', "nul_character"),
    "NUL in a name": (b'{"a\\u0000b":"x"}', "nul_character"),
    "NUL inside": (b'{"metadata":{"questionnaire":{"a":["\\u0000"]}}}', "nul_character"),
    "lone surrogate": (b'{"title":"\\ud83d"}', "lone_surrogate"),
    "lone low surrogate": (b'{"title":"\\ude00"}', "lone_surrogate"),
    "pair turned round": (b'{"title":"\\ude00\\ud83d"}', "lone_surrogate"),
    "lone surrogate in a name": (b'{"\\ud800":"x"}', "lone_surrogate"),
    "NaN": (b'{"weight":NaN}', "number_out_of_range"),
    "Infinity": (b'{"weight":-Infinity}', "number_out_of_range"),
    "1e400": (b'{"weight":1e400}', "number_out_of_range"),
    "-1e400": (b'{"weight":-1e400}', "number_out_of_range"),
    "1e400 in an unknown member": (b'{"x":[1e400]}', "number_out_of_range"),
    "19 digits": (b'{"rank":1234567890123456789}', "number_out_of_range"),
    "-19 digits": (b'{"rank":-1234567890123456789}', "number_out_of_range"),
    "5,000 digits": (b'{"rank":' + b"9" * 5000 + b"}", "number_out_of_range"),
    "1,000,000 digits": (b'{"rank":' + b"9" * 1_000_000 + b"}", "number_out_of_range"),
    "huge exponent": (b'{"weight":1e' + b"9" * 5000 + b"}", "number_out_of_range"),
    "same name": (b'{"title":"x","title":"y"}', "duplicate_member"),
    "same name, same value": (b'{"title":"x","title":"x"}', "duplicate_member"),
    "same name, numbers": (b'{"rank":1,"rank":2}', "duplicate_member"),
    "same name, escaped": (b'{"title":"x","\\u0074itle":"y"}', "duplicate_member"),
    "same name inside": (b'{"metadata":{"questionnaire":{"a":"1","a":"2"}}}', "duplicate_member"),
    "same name in a list": (b'{"x":[{"a":1,"a":1}]}', "duplicate_member"),
    "same empty name": (b'{"":1,"":2}', "duplicate_member"),
    "depth 17": (nested(17), "too_deep"),
    "depth 17 of objects": (objects(17), "too_deep"),
    "depth 64": (b'{"x":' + nested(63) + b"}", "too_deep"),
    "depth 1,000": (objects(1000), "too_deep"),
    "depth 100,000": (nested(100_000), "too_deep"),
    "depth 100,000 unclosed": (b"[" * 100_000, "too_deep"),
    "depth 500,000 mixed": (b'{"a":[' * 100_000, "too_deep"),
    "depth behind a text": (b'{"a":"]]]]","b":' + nested(20) + b"}", "too_deep"),
    "depth behind an escape": (b'{"a":"\\\\\\"]]]]","b":' + nested(20) + b"}", "too_deep"),
    "201 members": (json.dumps({str(n): n for n in range(201)}).encode(), "too_many_members"),
    "100,000 members": (b"{" + b",".join(b'"%d":1' % n for n in range(100_000)) + b"}", "too_many_members"),
    "201 members inside": (json.dumps({"m": {"q": {str(n): n for n in range(201)}}}).encode(), "too_many_members"),
    "201 members behind lists": (
        json.dumps({"a": [[]] * 300, "b": {str(n): [] for n in range(201)}}).encode(), "too_many_members"),
    "name of 256": (json.dumps({"x" * 256: 1}).encode(), "name_too_long"),
    "name of 900,000": (json.dumps({"x" * 900_000: 1}).encode(), "name_too_long"),
    "name of 256, escaped": (json.dumps({"ä" * 256: 1}).encode(), "name_too_long"),
    "name of 256 inside": (json.dumps({"metadata": {"questionnaire": {"n" * 256: 1}}}).encode(), "name_too_long"),
}  # fmt: skip

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
    @pytest.mark.parametrize("name", MALFORMED)
    def test_refused(self, name: str) -> None:
        raw, code = MALFORMED[name]
        start = time.process_time()
        with pytest.raises(errors.Malformed) as caught:
            parsing.read_json(raw)
        assert code == caught.value.code
        assert not machine.is_over(time.process_time() - start, limit=CPU_SECONDS_MAX)

    @pytest.mark.parametrize("name", MALFORMED)
    def test_in_little_memory(self, name: str) -> None:
        raw, _ = MALFORMED[name]
        tracemalloc.start()
        with pytest.raises(errors.Malformed):
            parsing.read_json(raw)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < BYTES_MAX

    async def test_over_http(self, notes: House) -> None:
        async with notes.client() as client:
            for raw, code in MALFORMED.values():
                found = await post(client, raw)
                problem(found, 400, code)
                assert "\ud83d" not in found.text
            assert 0 == await count(notes)
            assert 201 == (await post(client, b'{"title":"still here"}')).status_code

    async def test_fine_over_http(self, client: httpx2.AsyncClient) -> None:
        for name, raw in FINE.items():
            assert 201 == (await post(client, raw)).status_code, name

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

    @pytest.mark.parametrize(
        "label",
        ["text/plain", "application/xml", "multipart/form-data; boundary=x", "application/json; charset=latin-1",
         "application/json; charset=utf-16", "application/jsonp", "application/x-ndjson", "json", "*/*"],
    )  # fmt: skip
    async def test_others(self, client: httpx2.AsyncClient, label: str) -> None:
        problem(await post(client, b'{"title":"x"}', Content_Type=label), 415, "unsupported_media_type")

    @pytest.mark.parametrize("encoding", ["gzip", "br", "zstd", "deflate", "gzip, identity", "x"])
    async def test_compressed(self, client: httpx2.AsyncClient, encoding: str) -> None:
        found = await post(client, b'{"title":"x"}', Content_Encoding=encoding)
        problem(found, 415, "unsupported_encoding")
        assert "identity" == found.headers["accept-encoding"]

    async def test_identity(self, client: httpx2.AsyncClient) -> None:
        assert 201 == (await post(client, b'{"title":"x"}', Content_Encoding="Identity")).status_code

    @pytest.mark.parametrize(
        "accept",
        ["text/html", "application/xml;q=0.9, text/*", "application/json;q=0", "*/*;q=0", "application/problem+json"],
    )
    async def test_not_acceptable(self, client: httpx2.AsyncClient, accept: str) -> None:
        problem(await client.get("/note", headers={"Accept": accept}), 406, "not_acceptable")

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
        assert 200 == (await client.get("/note?x=" + "y" * 16_000)).status_code

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
