"""Places of bars: inside the picture, without overlap, as long as their counts, mirrored for right to left."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterword.core.charts import DAYS, HOURS, LEVELS, NAMES_WIDTH, Bar, bars, columns, grid, stack

COUNTS = st.lists(st.integers(0, 10_000_000), max_size=20)
NEAR = 0.01  # percent


def is_inside(bar: Bar) -> bool:
    return (
        -NEAR <= bar.x
        and bar.x + bar.width <= 100 + NEAR
        and 0 <= bar.y <= 100
        and bar.y + bar.height <= 100 + NEAR
        and 0 <= bar.width
    )


def mirror(bar: Bar) -> Bar:
    return Bar(100 - bar.x - bar.width, bar.width, bar.y, bar.height)


def is_same(one: Bar, other: Bar) -> bool:
    return (one.x, one.width, one.y, one.height) == pytest.approx(
        (other.x, other.width, other.y, other.height), abs=NEAR
    )


@given(COUNTS)
def test_inside_and_mirrored(counts: list[int]) -> None:
    for chart in (stack, bars, columns):
        found = chart(counts)
        assert len(counts) == len(found)
        assert all(is_inside(bar) for bar in found)
        assert all(is_same(mirror(bar), other) for bar, other in zip(found, chart(counts, mirrored=True), strict=True))


@given(COUNTS)
def test_stack_fills_the_picture(counts: list[int]) -> None:
    found = stack(counts)
    assert (100 if sum(counts) else 0) == pytest.approx(sum(bar.width for bar in found), abs=NEAR)
    for one, other in pairwise(found):
        assert one.x + one.width == pytest.approx(other.x, abs=NEAR)


@given(COUNTS)
def test_longer_where_more(counts: list[int]) -> None:
    for one, other, first, second in zip(counts, counts[1:], bars(counts), bars(counts)[1:], strict=False):
        assert (one < other) <= (first.width <= second.width)
    for one, other in pairwise(columns(counts)):
        assert one.x + one.width < other.x
    for count, bar in zip(counts, columns(counts), strict=True):
        assert bar.height == pytest.approx(100 * count / max(counts) if max(counts) else 0, abs=NEAR)
        assert bar.y + bar.height == pytest.approx(100, abs=NEAR)


def test_of_a_whole() -> None:
    assert [Bar(0, 100), Bar(0, 50), Bar(0, 0)] == list(bars([8, 4, 0]))
    assert [Bar(0, 40), Bar(0, 100)] == list(bars([4, 12], of=10))


@given(st.dictionaries(st.tuples(st.integers(0, DAYS - 1), st.integers(0, HOURS - 1)), st.integers(0, 1000)))
def test_grid(counts: dict[tuple[int, int], int]) -> None:
    found = grid(counts)
    assert DAYS * HOURS == len({(square.day, square.hour) for square in found})
    for square in found:
        count = counts.get((square.day, square.hour), 0)
        assert is_inside(square.bar)
        assert NAMES_WIDTH - NEAR <= square.bar.x
        assert (square.level == 0) == (count == 0)
        assert (square.level == LEVELS) >= (count > 0 and count == max(counts.values()))
