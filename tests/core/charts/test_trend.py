"""Places of a trend: inside the picture, in the order of the bins, higher for higher values, round ticks."""

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterword.core.charts import Point, trend, whisker

NPS = (-100.0, 100.0)
VALUES = st.floats(-100, 100)
POINTS = st.lists(
    st.one_of(
        st.just(Point(None)),
        st.tuples(VALUES, VALUES, VALUES).map(lambda each: Point(sorted(each)[1], min(each), max(each))),
    ),
    max_size=60,
)
NUMBER = re.compile(r"-?[\d.]+(?:e-?\d+)?")


@given(points=POINTS, mirrored=st.booleans())
def test_inside_and_in_order(points: list[Point], *, mirrored: bool) -> None:
    found = trend(points, bounds=NPS, mirrored=mirrored)
    assert len(found.dots) == sum(point.value is not None for point in points)
    xs = [dot.x for dot in found.dots]
    assert xs == sorted(xs, reverse=mirrored)
    for dot in found.dots:
        assert 0 <= dot.x <= 100
        assert 0 <= dot.y <= 100
    for path, most in ((found.line, 1000), (found.band, 1000)):
        assert all(0 <= float(number) <= most for number in NUMBER.findall(path))
    for first in found.dots:
        for second in found.dots:
            one, other = points[first.index].value, points[second.index].value
            assert one is not None
            assert other is not None
            assert (one < other) <= (first.y >= second.y)


@given(POINTS)
def test_ticks(points: list[Point]) -> None:
    ticks = trend(points, bounds=NPS).ticks
    assert 5 == len(ticks)
    assert (100, 0) == (ticks[0].y, ticks[-1].y)
    steps = {round(after.value - before.value, 6) for before, after in pairwise(ticks)}
    assert 1 == len(steps)
    assert -100 <= ticks[0].value < ticks[-1].value <= 100


def test_gap_interrupts() -> None:
    found = trend([Point(1, 0, 2), Point(None), Point(3, 2, 4), Point(2)], bounds=(0, 10))
    assert 2 == found.line.count("M")
    assert 2 == found.band.count("Z")
    assert 3 == len(found.dots)


def test_nothing() -> None:
    found = trend([], bounds=(0, 100))
    assert ("", "", ()) == (found.line, found.band, found.dots)
    assert [0, 25, 50, 75, 100] == [tick.value for tick in found.ticks]


@pytest.mark.parametrize(
    ("value", "low", "high", "places"),
    [(0, -10, 10, (50, 45, 55)), (100, 90, 120, (100, 95, 100)), (-100, -100, -100, (0, 0, 0))],
)
def test_whisker(value: float, low: float, high: float, places: tuple[float, float, float]) -> None:
    assert places == whisker(value, low, high, bounds=NPS)
    assert places == tuple(100 - each for each in whisker(value, low, high, bounds=NPS, mirrored=True))
