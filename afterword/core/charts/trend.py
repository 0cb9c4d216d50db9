"""A score over time with the band of its intervals."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

WIDTH: Final = 1000  # of the view box that paths are drawn in
HEIGHT: Final = 200
TICKS: Final = 4


@dataclass(frozen=True, slots=True)
class Point:
    """A bin's value with its interval; None where there is none."""

    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Dot:
    """The place of a bin's value in percent from the left and the top, and the span of its column."""

    index: int
    x: float
    y: float
    left: float
    width: float


@dataclass(frozen=True, slots=True)
class Tick:
    y: float
    value: float


@dataclass(frozen=True, slots=True)
class Trend:
    """Paths in a box of WIDTH by HEIGHT, and places in percent."""

    line: str
    band: str
    dots: tuple[Dot, ...]
    ticks: tuple[Tick, ...]


def trend(points: Sequence[Point], *, bounds: tuple[float, float], mirrored: bool = False) -> Trend:
    """The chart of these bins. `bounds`: the ends of the scale, beyond which no axis goes; `mirrored`: right to left.

    A bin without a value interrupts line and band.
    """
    bottom, top = _axis(points, bounds)
    count = max(len(points), 1)

    def x_of(index: int) -> float:
        share = (index + 0.5) / count
        return round((1 - share if mirrored else share) * 100, 3)

    def y_of(value: float) -> float:
        return round((top - min(max(value, bottom), top)) / (top - bottom) * 100, 3)

    line, bands = "", ""
    edge: list[tuple[float, float, float]] = []
    is_down = False
    for index, point in enumerate(points):
        if point.value is None:
            is_down = False
        else:
            line += f"{'L' if is_down else 'M'}{x_of(index) * 10:g} {y_of(point.value) * 2:g}"
            is_down = True
        if point.low is None or point.high is None:
            bands, edge = bands + _closed(edge), []
        else:
            edge.append((x_of(index), y_of(point.low), y_of(point.high)))
    width = round(100 / count, 3)
    return Trend(
        line=line,
        band=bands + _closed(edge),
        dots=tuple(
            Dot(index, x_of(index), y_of(point.value), round(x_of(index) - width / 2, 3), width)
            for index, point in enumerate(points)
            if point.value is not None
        ),
        ticks=tuple(
            Tick(y_of(value), value) for value in (bottom + (top - bottom) * step / TICKS for step in range(TICKS + 1))
        ),
    )


def whisker(
    value: float, low: float, high: float, *, bounds: tuple[float, float], mirrored: bool = False
) -> tuple[float, float, float]:
    """The places of a value and of its interval on a scale, in percent from the left."""
    first, last = bounds
    places = [round((min(max(each, first), last) - first) / (last - first) * 100, 2) for each in (value, low, high)]
    if mirrored:
        places = [round(100 - each, 2) for each in places]
    return places[0], places[1], places[2]


def scale(points: Sequence[Point], bounds: tuple[float, float]) -> tuple[float, float]:
    """The ends of a round scale that holds these values; nothing beyond `bounds`."""
    return _axis(points, bounds)


def _axis(points: Sequence[Point], bounds: tuple[float, float]) -> tuple[float, float]:
    """Ends of the axis: steps of 1, 2, 5 or their tens that hold all values and leave the ticks round."""
    seen = [each for point in points for each in (point.value, point.low, point.high) if each is not None]
    low, high = (min(seen), max(seen)) if seen else bounds
    first, last = bounds
    for step in _STEPS:
        bottom = max(low // step * step, first)
        top = bottom + step * TICKS
        if top > last:
            bottom, top = last - step * TICKS, last
        if bottom <= low and top >= high and bottom >= first:
            return bottom, top
    return bounds


_STEPS: Final = (0.25, 0.5, 1, 2, 5, 10, 20, 25, 50)


def _closed(edge: Sequence[tuple[float, float, float]]) -> str:
    """A closed path along the upper edge and back along the lower one."""
    if not edge:
        return ""
    there = "L".join(f"{x * 10:g} {high * 2:g}" for x, _, high in edge)
    back = "L".join(f"{x * 10:g} {low * 2:g}" for x, low, _ in reversed(edge))
    return f"M{there}L{back}Z"
