"""Lines beside a list, each from one row to a later one, in the first lane that is free between them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

LANES_MAX: Final = 8  # more lines share the last one
LANE_PIXELS: Final = 14

Part = Literal["begin", "pass", "end"]


@dataclass(frozen=True, slots=True)
class Piece:
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
