"""Places of bars: inside the picture, without overlap, as long as their counts, mirrored for right to left."""

import re
from itertools import pairwise

import pytest
from hypothesis import given, strategies as st

from afterword.asking.questionnaires import library
from afterword.core import charts
from afterword.core.charts import (
    DAYS,
    HOURS,
    LEVELS,
    NAMES_WIDTH,
    Bar,
    Point,
    bars,
    columns,
    grid,
    stack,
    trend,
    whisker,
)
from tests.core.answers.questions import pages_of, question

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


def of(*kinds: str) -> charts.Sketch:
    return charts.sketch(pages_of([question(kind, f"q{number}") for number, kind in enumerate(kinds)]))


def test_each_question_has_its_outline() -> None:
    assert (1, 11) == boxes(of("nps"))
    assert (2, 6) == boxes(of("csat", "text"))
    assert (1, 0) == boxes(of("statement"))
    assert (0, 0) == boxes(of())


def test_only_as_many_as_there_is_room_for() -> None:
    assert boxes(of(*["nps"] * 50)) == boxes(of(*["nps"] * 5))


def test_library() -> None:
    drawn = {name: charts.sketch(library.get(name).definition) for name in library.NAMES}
    for name, one in drawn.items():
        assert one.texts, name
        for y, height in re.findall(r"M\d+ (\d+)h\d+v(\d+)", one.texts + one.answers):
            assert int(y) + int(height) <= charts.SKETCH_HEIGHT, name
    assert len(drawn) - 2 <= len(set(drawn.values()))


def boxes(drawn: charts.Sketch) -> tuple[int, int]:
    return drawn.texts.count("M"), drawn.answers.count("M")


def test_pieces() -> None:
    found, count = charts.pieces([(0, 3), (1, 2), (3, 4)], rows=5)
    assert 2 == count
    assert [[("begin", 7)], [("begin", 21), ("pass", 7)], [("end", 21), ("pass", 7)]] == [
        [(one.part, one.x) for one in row] for row in found[:3]
    ]
    assert {("end", 7.0), ("begin", 21.0)} == {(one.part, one.x) for one in found[3]}
    assert ([[], []], 0) == charts.pieces([], rows=2)


def test_many_lines() -> None:
    lines = [(0, row) for row in range(1, 30)]
    found, count = charts.pieces(lines, rows=30)
    assert charts.LANES_MAX == count
    assert len(lines) == len(found[0])
    assert all(0 < one.x < charts.width(count) for row in found for one in row)


def test_the_period_before_is_a_line_of_its_own() -> None:
    """On the same scale, which holds both; a gap where nothing was counted, and none where nothing is compared."""
    found = trend([Point(1), Point(2)], bounds=(0, 10), before=[None, 9])
    assert found.ghost.startswith("M750 ")
    assert 10 == max(tick.value for tick in found.ticks)
    assert "" == trend([Point(1)], bounds=(0, 10)).ghost
    assert ("M250 100L750 0", "M250 100L750 0") == (
        trend([Point(0), Point(10)], bounds=(-10, 10), before=[0, 10]).line,
        trend([Point(0), Point(10)], bounds=(-10, 10), before=[0, 10]).ghost,
    )
