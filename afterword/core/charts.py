"""Bars, parts of a whole and squares of a grid: shares of the picture in percent, from its left or its right end."""

from collections.abc import Mapping, Sequence
from typing import Final, Literal

import msgspec

from afterword.core.questionnaires.definition import Definition
from afterword.core.questionnaires.question_types import Question

GAP: Final = 0.12  # of a column, between it and the next
DAYS: Final = 7
HOURS: Final = 24
NAMES_WIDTH: Final = 10.0  # percent of a grid, for the names of its days
LEVELS: Final = 4  # of a square's colour, above none


class Bar(msgspec.Struct, frozen=True):
    """A place in percent from the left and the top."""

    x: float
    width: float
    y: float = 0.0
    height: float = 100.0

    @property
    def middle(self) -> float:
        return round(self.x + self.width / 2, 3)


class Square(msgspec.Struct, frozen=True):
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


def columns(counts: Sequence[float], *, of: float = 0.0, mirrored: bool = False) -> tuple[Bar, ...]:
    """Columns beside each other, as high as their part of `of`, without it of the largest."""
    most = of or max(counts, default=0)
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


LANES_MAX: Final = 8  # more lines share the last one
LANE_PIXELS: Final = 14

Part = Literal["begin", "pass", "end"]


class Piece(msgspec.Struct, frozen=True):
    """The part of a line in one row. `x`: pixels from the outer edge; lane 0 is nearest to the list."""

    part: Part
    x: float


def width(count: int) -> int:
    return count * LANE_PIXELS


def pieces(lines: Sequence[tuple[int, int]], *, rows: int) -> tuple[list[list[Piece]], int]:
    """The pieces of each row, and the number of lanes. `lines`: pairs of the row where one begins and a later one."""
    taken: list[set[int]] = []
    chosen: list[tuple[int, int, int]] = []
    for begin, end in sorted(lines, key=lambda line: (line[1] - line[0], line)):
        span = set(range(begin, end + 1))
        free = (number for number, rows_of in enumerate(taken) if not rows_of & span)
        lane = next(free, min(len(taken), LANES_MAX - 1))
        if lane == len(taken):
            taken.append(set())
        taken[lane] |= span
        chosen.append((lane, begin, end))
    found: list[list[Piece]] = [[] for _ in range(rows)]
    for lane, begin, end in chosen:
        x = (len(taken) - lane - 0.5) * LANE_PIXELS
        found[begin].append(Piece("begin", x))
        found[end].append(Piece("end", x))
        for row in range(begin + 1, end):
            found[row].append(Piece("pass", x))
    return found, len(taken)


SKETCH_WIDTH: Final = 120
SKETCH_HEIGHT: Final = 84
EDGE: Final = 8
CHOICES_DRAWN: Final = 3
SCALE_DRAWN_MAX: Final = 11
_INNER: Final = SKETCH_WIDTH - 2 * EDGE
_ROW: Final = 8


class Sketch(msgspec.Struct, frozen=True):
    """`texts` are filled, `answers` are outlines."""

    texts: str
    answers: str


def sketch(definition: Definition) -> Sketch:
    """The first questions, as many as there is room for."""
    texts, answers, top = list[str](), list[str](), EDGE
    for question in definition.questions():
        drawn, height = _answer(question, top + _ROW)
        if top + _ROW + height > SKETCH_HEIGHT:
            break
        texts.append(_box(EDGE, top, min(_INNER, 30 + len(question.title)), 3))
        answers += drawn
        top += _ROW + height + (_ROW if height else 0)
    return Sketch("".join(texts), "".join(answers))


def _answer(question: Question, top: int) -> tuple[list[str], int]:
    match question.shape:
        case "none":
            return [], 0
        case "scale" | "yes_no":
            count = min(len(question.scale), SCALE_DRAWN_MAX) or 2
            step = min(_INNER // count, 24)
            return [_box(EDGE + step * n, top, step - 2, _ROW) for n in range(count)], _ROW
        case "choice" | "choices" | "ranking" | "matrix":
            count = min(len(question.rows or question.choices), CHOICES_DRAWN)
            lines = [_box(EDGE, top + _ROW * n, 5, 5) + _box(EDGE + 9, top + _ROW * n + 2, 40, 1) for n in range(count)]
            return lines, _ROW * count
        case _:
            height = 2 * _ROW if question.multiline else _ROW
            return [_box(EDGE, top, _INNER, height)], height


def _box(x: int, y: int, width: int, height: int) -> str:
    return f"M{x} {y}h{width}v{height}h-{width}z"


WIDTH: Final = 1000  # of the view box that paths are drawn in
HEIGHT: Final = 200
TICKS: Final = 4


class Point(msgspec.Struct, frozen=True):
    """A bin's value with its interval; None where there is none."""

    value: float | None
    low: float | None = None
    high: float | None = None


class Dot(msgspec.Struct, frozen=True):
    """The place of a bin's value in percent from the left and the top, and the span of its column."""

    index: int
    x: float
    y: float
    left: float
    width: float


class Tick(msgspec.Struct, frozen=True):
    y: float
    value: float


class Trend(msgspec.Struct, frozen=True):
    """Paths in a box of WIDTH by HEIGHT, and places in percent. `ghost`: of the values before; empty without them."""

    line: str
    band: str
    dots: tuple[Dot, ...]
    ticks: tuple[Tick, ...]
    ghost: str = ""


def trend(
    points: Sequence[Point],
    *,
    bounds: tuple[float, float],
    mirrored: bool = False,
    before: Sequence[float | None] = (),
) -> Trend:
    """The chart of these bins. `bounds`: the ends of the scale, beyond which no axis goes; `mirrored`: right to left.

    `before`: the values of as many bins of the period before. A bin without a value interrupts line and band.
    """
    bottom, top = scale([*points, *map(Point, before)], bounds)
    count = max(len(points), 1)

    def x_of(index: int) -> float:
        share = (index + 0.5) / count
        return round((1 - share if mirrored else share) * 100, 3)

    def y_of(value: float) -> float:
        return round((top - min(max(value, bottom), top)) / (top - bottom) * 100, 3)

    def path_of(values: Sequence[float | None]) -> str:
        path, is_down = "", False
        for index, value in enumerate(values):
            if value is not None:
                path += f"{'L' if is_down else 'M'}{x_of(index) * 10:g} {y_of(value) * 2:g}"
            is_down = value is not None
        return path

    bands = ""
    edge: list[tuple[float, float, float]] = []
    for index, point in enumerate(points):
        if point.low is None or point.high is None:
            bands, edge = bands + _closed(edge), []
        else:
            edge.append((x_of(index), y_of(point.low), y_of(point.high)))
    width = round(100 / count, 3)
    return Trend(
        line=path_of([point.value for point in points]),
        ghost=path_of(before),
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
    """Ends of the axis: steps of 1, 2, 5 or their tens that hold all values and leave the ticks round.

    Nothing is beyond `bounds`.
    """
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
