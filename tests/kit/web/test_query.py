"""Hostile queries: each is refused with its code; tests/contract sends them to each kind of route."""

import httpx2
import pytest
from hypothesis import given, strategies as st

from afterword import errors
from afterword.core.reading.structs import as_list
from afterword.kit.web import query
from tests.contract.hostile import QUERIES
from tests.kit.web.client import fields_of, problem


class TestQueries:
    @pytest.mark.parametrize("text", QUERIES, ids=lambda text: text[:40])
    def test_refused(self, text: str) -> None:
        with pytest.raises(errors.Malformed) as caught:
            query.read(text.encode())
        assert QUERIES[text] == caught.value.code

    def test_the_name_that_stands_twice_is_told(self) -> None:
        with pytest.raises(errors.Malformed, match="The name “limit” stands twice"):
            query.read(b"limit=1&a=2&limit=3")

    @pytest.mark.parametrize(
        "text", ["", "&", "a", "a=", "a=1&&b=2", "a%5Bb%5D=1", "a[b]=1", "%C3%A9=1", "a=b=c", "a=%5B"]
    )
    async def test_fine(self, client: httpx2.AsyncClient, text: str) -> None:
        """It is read, and names a parameter that the route does not have, or none."""
        found = await client.get(f"/note?{text}")
        if text.strip("&"):
            assert {"unknown_member"} == {code for _, code in fields_of(problem(found, 422, "invalid"))}
        else:
            assert 200 == found.status_code

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
