from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterword.core.figures.disclosure import Key, hidden


class TestOneLine:
    @pytest.mark.parametrize(
        ("bases", "expected"),
        [
            ({}, set()),
            ({"a": 5, "b": 9}, set()),
            ({"a": 0, "b": 9}, set()),  # nobody answered there: nothing to hide
            ({"a": 3}, {"a"}),
            ({"a": 3, "b": 9}, {"a", "b"}),  # 12 - 9 would be 3
            ({"a": 3, "b": 9, "c": 8, "d": 7}, {"a", "d"}),  # the smallest of the others
            ({"a": 1, "b": 1, "c": 8, "d": 7}, {"a", "b", "d"}),  # 17 - 15 would be 2, still too few
            ({"a": 3, "b": 4, "c": 8}, {"a", "b"}),  # two, together 7
            ({"a": 1, "b": 2}, {"a", "b"}),  # the total of 3 is hidden itself
        ],
    )
    def test_table(self, bases: dict[str, int], expected: set[str]) -> None:
        found = hidden({(key,): n for key, n in bases.items()}, minimum=5)
        assert {(key,) for key in expected} == found


class TestTwoAxes:
    def test_every_line_holds(self) -> None:
        """Store by month; a report by month alone, or by store alone, shows the totals of the lines."""
        bases: dict[Key, int] = {("a", 1): 3, ("a", 2): 20, ("a", 3): 20, ("b", 1): 20, ("b", 2): 20, ("b", 3): 20}
        found = hidden(bases, minimum=5)
        assert ("a", 1) in found
        assert 4 == len(found), "one more in its row, one more in its column, and one where these two meet"


tables = st.dictionaries(st.tuples(st.integers(0, 4), st.integers(0, 4)), st.integers(0, 30), min_size=1, max_size=25)


@given(tables, st.integers(1, 12))
def test_no_line_gives_a_small_group_away(bases: dict[tuple[int, int], int], minimum: int) -> None:
    found = hidden({(*key,): n for key, n in bases.items()}, minimum=minimum)
    assert {key for key, n in bases.items() if 0 < n < minimum} <= found
    assert all(bases[key] for key in found)  # pyrefly: ignore[bad-index]
    lines: defaultdict[object, list[tuple[int, int]]] = defaultdict(list)
    for key in bases:
        for line in ("all", ("row", key[0]), ("column", key[1])):
            lines[line].append(key)
    for line in lines.values():
        inside = [bases[key] for key in line if key in found]
        total = sum(bases[key] for key in line)
        if inside and total >= minimum and any(bases[key] < minimum for key in line if key in found):
            assert len(inside) >= 2
            assert sum(inside) >= minimum
