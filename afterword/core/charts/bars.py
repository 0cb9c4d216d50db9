"""Bars, parts of a whole and squares of a grid: shares of the picture in percent, from its left or its right end."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

GAP: Final = 0.12  # of a column, between it and the next
DAYS: Final = 7
HOURS: Final = 24
NAMES_WIDTH: Final = 10.0  # percent of a grid, for the names of its days
LEVELS: Final = 4  # of a square's colour, above none


@dataclass(frozen=True, slots=True)
class Bar:
    """A place in percent from the left and the top."""

    x: float
    width: float
    y: float = 0.0
    height: float = 100.0

    @property
    def middle(self) -> float:
        return round(self.x + self.width / 2, 3)


@dataclass(frozen=True, slots=True)
class Square:
    """An hour of the week; `level`: 0 for none, then by its part of the largest."""

    day: int  # 0: Monday
    hour: int
    bar: Bar
    level: int


def stack(counts: Sequence[float], *, mirrored: bool = False) -> tuple[Bar, ...]:
    """The parts of a whole beside each other; together they fill the picture, or nothing where there is nothing."""
    whole = sum(counts)
    found: list[Bar] = []
    start = seen = 0.0
    for count in counts:
        seen += count
        end = round(100 * seen / whole, 3) if whole else 0.0
        found.append(_placed(start, end - start, mirrored=mirrored))
        start = end
    return tuple(found)


def bars(counts: Sequence[float], *, of: float = 0.0, mirrored: bool = False) -> tuple[Bar, ...]:
    """Bars from the same end, as long as their part of `of`, without it of the largest."""
    most = of or max(counts, default=0)
    return tuple(_placed(0, min(100 * count / most, 100) if most else 0, mirrored=mirrored) for count in counts)


def columns(counts: Sequence[float], *, mirrored: bool = False) -> tuple[Bar, ...]:
    """Columns beside each other, as high as their part of the largest."""
    most = max(counts, default=0)
    step = 100 / max(len(counts), 1)
    found: list[Bar] = []
    for index, count in enumerate(counts):
        height = round(100 * count / most, 3) if most else 0.0
        place = _placed((index + GAP / 2) * step, (1 - GAP) * step, mirrored=mirrored)
        found.append(Bar(place.x, place.width, round(100 - height, 3), height))
    return tuple(found)


def grid(counts: Mapping[tuple[int, int], float], *, mirrored: bool = False) -> tuple[Square, ...]:
    """All hours of a week by day (0: Monday) and hour; the first tenth of the picture is for the names of days."""
    most = max(counts.values(), default=0)
    width, height = (100 - NAMES_WIDTH) / HOURS, 100 / DAYS
    found: list[Square] = []
    for day in range(DAYS):
        for hour in range(HOURS):
            count = counts.get((day, hour), 0)
            place = _placed(NAMES_WIDTH + hour * width, width, mirrored=mirrored)
            level = max(1, round(LEVELS * count / most)) if count else 0
            found.append(Square(day, hour, Bar(place.x, place.width, round(day * height, 3), round(height, 3)), level))
    return tuple(found)


def _placed(start: float, width: float, *, mirrored: bool) -> Bar:
    return Bar(round(100 - start - width if mirrored else start, 3), round(width, 3))
