"""Hostile queries: each is refused with its code and reaches neither a route nor the database."""

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterword import errors
from afterword.core.reading.structs import as_list
from afterword.kit.web import query
from tests.kit.web.client import problem

QUERIES: dict[str, tuple[str, int, str]] = {
    "open bracket": ("a[b=1", 400, "malformed_query"),
    "open bracket later": ("a[b][c=1", 400, "malformed_query"),
    "closing bracket": ("a]=1", 400, "malformed_query"),
    "text after a bracket": ("a[b]c=1", 400, "malformed_query"),
    "bracket in a bracket": ("a[b[c]]=1", 400, "malformed_query"),
    "bracket first": ("[a]=1", 400, "malformed_query"),
    "no name": ("=1", 400, "malformed_query"),
    "9 brackets": ("a" + "[b]" * 9 + "=1", 400, "malformed_query"),
    "1,001 pairs": ("&".join(f"a{n}=1" for n in range(1001)), 400, "malformed_query"),
    "value and map": ("a=1&a[b]=2", 400, "malformed_query"),
    "map and value": ("a[b]=2&a=1", 400, "malformed_query"),
    "list and map": ("a[]=2&a[b]=1", 400, "malformed_query"),
    "percent": ("a=%zz", 400, "malformed_query"),
    "cut percent": ("a=%2", 400, "malformed_query"),
    "percent alone": ("a=100%", 400, "malformed_query"),
    "twice": ("limit=1&limit=1", 400, "duplicate_member"),
    "twice inside": ("a[b]=1&a[b]=2", 400, "duplicate_member"),
    "not UTF-8": ("a=%ff", 400, "malformed_encoding"),
    "overlong": ("a=%c0%80", 400, "malformed_encoding"),
    "surrogate": ("a=%ed%a0%80", 400, "malformed_encoding"),
    "NUL": ("a=%00", 400, "nul_character"),
    "NUL in a name": ("a%00b=1", 400, "nul_character"),
    "name of 256": ("n" * 256 + "=1", 400, "name_too_long"),
    "201 members": ("&".join(f"a[{n}]=1" for n in range(201)), 400, "too_many_members"),
    "a token": ("access_token=afw_x", 401, "unauthenticated"),
}


class TestQueries:
    @pytest.mark.parametrize("name", QUERIES)
    async def test_refused(self, client: httpx2.AsyncClient, name: str) -> None:
        text, status, code = QUERIES[name]
        problem(await client.get(f"/note?{text}"), status, code)

    @pytest.mark.parametrize(
        "text", ["", "&", "a", "a=", "a=1&&b=2", "a%5Bb%5D=1", "a[b]=1", "%C3%A9=1", "a=b=c", "a=%5B"]
    )
    async def test_fine(self, client: httpx2.AsyncClient, text: str) -> None:
        assert 200 == (await client.get(f"/note?{text}")).status_code

    def test_nesting(self) -> None:
        found = query.read(b"a[b][c]=1&a[b][d]=2&e[]=3&e[]=4&f[0]=5&f[1]=6&g+h=%2B&i[][j]=7&i[][j]=8")
        assert {
            "a": {"b": {"c": "1", "d": "2"}},
            "e": ["3", "4"],
            "f": {"0": "5", "1": "6"},
            "g h": "+",
            "i": [{"j": "7"}, {"j": "8"}],
        } == found.values
        assert ["5", "6"] == as_list(found.values["f"])
        assert as_list({"1": "x"}) is None

    @given(st.binary(max_size=60))
    def test_anything_is_read_or_refused(self, raw: bytes) -> None:
        try:
            found = query.read(raw)
        except errors.Malformed:
            return
        assert len(found.pairs) <= raw.count(b"&") + 1
