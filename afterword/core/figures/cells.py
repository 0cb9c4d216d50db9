"""Cells: what a report counts, and the groups that it counts by.

Cells of answers have the question and the value, cells of cases (instances) no question and a stage as the value.
`reports/counts` makes them; `core/figures/reports.py` makes tables of them.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, TypeVar

import msgspec

from afterword.core.figures.disclosure import Key
from afterword.core.questionnaires.question_types import TYPES, Question, Shape

NAME_CHARACTERS_MAX: Final = 255
Found = TypeVar("Found", bound="Coordinates")
Basis = Literal["submitted", "completed", "sent"]


def _types(*shapes: Shape) -> frozenset[str]:
    return frozenset(name for name, row in TYPES.items() if row.shape in shapes)


NUMERIC: Final = _types("scale", "number")  # types with a mean
GROUPING: Final = _types("scale", "choice", "consent", "yes_no")
COUNTED: Final = GROUPING | _types("choices")
RANKED: Final = _types("ranking")
MATRICES: Final = _types("matrix")
DISTRIBUTED: Final = COUNTED | RANKED | MATRICES
ANSWERED: Final = "*"  # the value that counts answers, where one answer has several values
FIXED_GROUPS: Final = ("bucket", "questionnaire", "version", "channel", "pipeline", "locale")
NAMED_GROUPS: Final = ("question", "questionnaire_metadata", "responder_metadata")
CASE_GROUPS: Final = ("case:cause", "case:remedy")  # of the response's case that was closed last
Histogram = Mapping[str, int]


class Coordinates(msgspec.Struct, frozen=True):  # a report has thousands, and a dataclass is slow to make
    bucket: int
    questionnaire_id: str
    dimensions: tuple[str | None, ...]
    question_id: str  # empty: cases


class Cell(Coordinates, frozen=True):
    value: str
    count: int


class Repeat(Coordinates, frozen=True):
    """The number of a person's answers. `weight`: the sampled part of the person's responses."""

    person: int
    answers: int
    weight: float


class Effects(msgspec.Struct, frozen=True):
    """Design effects of answers: of all, and of rows; of a sample the same one of each row."""

    total: float
    row: float
    rows: Mapping[Key, float]


@dataclass(frozen=True, slots=True)
class People:
    """Repeated answers of the people behind cells; `is_sample`: of a sample of them.

    `effects`: what was computed of them, by what it was computed for.
    """

    repeats: Sequence[Repeat] = ()
    is_sample: bool = False
    effects: dict[object, "Effects"] = field(default_factory=dict[object, "Effects"], compare=False)

    def __add__(self, other: "People") -> "People":
        return People([*self.repeats, *other.repeats], self.is_sample or other.is_sample)


def read_group(text: str) -> tuple[str, str] | None:
    """Kind and name of a `group_by` entry (the name of a fixed one is empty); None when it is neither."""
    kind, colon, name = text.partition(":")
    if kind in FIXED_GROUPS and not colon:
        return kind, ""
    if text in CASE_GROUPS or (kind in NAMED_GROUPS and 1 <= len(name) <= NAME_CHARACTERS_MAX):
        return kind, name
    return None


def dimensions(group_by: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """The groups that each response has a value of; bucket, questionnaire and question are members of the cell."""
    found = (read_group(text) for text in group_by)
    return tuple(group for group in found if group is not None and group[0] not in {"bucket", "questionnaire"})


def key_of(cell: Coordinates, group_by: Sequence[str]) -> Key:
    if group_by == ("bucket",):  # thousands of cells of a trend
        return (cell.bucket,)
    values = iter(cell.dimensions)
    found: list[object] = []
    for group in group_by:
        match group:
            case "bucket":
                found.append(cell.bucket)
            case "questionnaire":
                found.append(cell.questionnaire_id)
            case "question_id":
                found.append(cell.question_id)
            case _:
                found.append(next(values))
    return tuple(found)


def moved(found: Iterable[Found], buckets: Mapping[int, int]) -> list[Found]:
    """The same counts in other buckets; those of buckets that are not named are left out."""
    if all(bucket == into for bucket, into in buckets.items()):
        return [each for each in found if each.bucket in buckets]
    return [msgspec.structs.replace(each, bucket=buckets[each.bucket]) for each in found if each.bucket in buckets]


def answers_in(counts: Histogram) -> int:
    return counts[ANSWERED] if ANSWERED in counts else sum(counts.values())


def parts_of(question: Question) -> list[str]:
    """The rows of a matrix and the ranks of a ranking, each a distribution of its own; else one part without a name."""
    if question.ranks:
        return [str(rank) for rank in range(1, len(question.choices) + 1)]
    return [row.row_id for row in question.rows] or [""]


def of_part(counts: Histogram, part: str) -> dict[str, int]:
    """The counts of one matrix row or one rank by its values; without a part all of them."""
    mark = f"{part}:" if part else ""
    return {value.removeprefix(mark): count for value, count in counts.items() if value.startswith(mark)}


def ratings_of(question: Question) -> dict[str, int]:
    """The rating that each column of a matrix is: its points, else its value; empty where the columns are no scale.

    Values are a scale where they rise, or fall, from column to column. Where some columns have points, another one is
    no rating, such as "Does not apply".
    """
    if question.type not in MATRICES:
        return {}
    points = {str(choice.value): choice.points for choice in question.choices if choice.points is not None}
    values = [choice.value for choice in question.choices]
    if not points and values in (sorted(values), sorted(values, reverse=True)):
        points = {str(value): value for value in values}
    return points if len(set(points.values())) > 1 else {}


def is_rated(question: Question) -> bool:
    """Whether its answers, or those to each of its rows, are ratings with a mean."""
    return question.type in NUMERIC or bool(ratings_of(question))


def values_of(question: Question) -> list[str]:
    if TYPES[question.type].subject == "boolean":
        return ["true", "false"]
    return [str(value) for value in question.scale] or [str(choice.value) for choice in question.choices]
