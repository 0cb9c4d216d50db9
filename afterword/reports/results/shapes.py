"""Turns tables into rows: keys and order, values of a distribution, personal keys."""

from collections.abc import Sequence
from datetime import date
from typing import Any, Final

from afterword.core.figures import metrics
from afterword.core.figures import reports as core_reports
from afterword.core.figures.disclosure import Key
from afterword.core.figures.metrics import Measure
from afterword.core.figures.reports import ANSWERED, Cell, Figure, Line, Tally
from afterword.core.questionnaires.question_types import Question
from afterword.reports.results.asking import ReportContext, ReportQuery

RowKey = dict[str, str | int | None]
NUMBERED: Final = frozenset({"channel", "question"})


def key_of(group_by: Sequence[str], key: Key, starts: Sequence[date]) -> RowKey:
    """The key of a row by the names of its groups; a bucket is named by its first day."""
    found: RowKey = {}
    for group, value in zip(group_by, key, strict=True):
        if group == "bucket" and isinstance(value, int):
            found[group] = starts[value].isoformat()
        else:
            found[group] = _plain(group, value)
    return found


def ordered(group_by: Sequence[str], lines: Sequence[Line]) -> list[Line]:
    """By bucket where there is one, then the largest groups first; a table of buckets or questions as it stands."""
    if group_by in {("bucket",), ("questionnaire",), (core_reports.EACH_QUESTION,)}:
        return list(lines)
    place = group_by.index("bucket") if "bucket" in group_by else None

    def order(line: Line) -> tuple[object, ...]:
        bucket = 0 if place is None else line.key[place]
        # A hidden size must not show in the order.
        return (
            bucket,
            -max((figure.measure.n for figure in line.figures if not figure.suppressed), default=0),
            _text(line),
        )

    return sorted(lines, key=order)


def is_personal(ask: ReportQuery, known: ReportContext, line: Line) -> bool:
    """Whether the row's key would name what is flagged as personal, or not declared and so taken for it."""
    return any(
        value is not None and _is_personal_name(group, known)
        for group, value in zip(ask.group_by, line.key, strict=True)
    )


def parts_of(question: Question) -> list[str]:
    """The rows of a matrix and the ranks of a ranking, each a distribution of its own; else one part without a name."""
    if question.type == "ranking":
        return [str(rank) for rank in range(1, len(question.choices) + 1)]
    return [row.row_id for row in question.rows] or [""]


def histogram(cells: Sequence[Cell], part: str) -> dict[str, int]:
    """The counts of each value, of one matrix row or one rank where given."""
    found: dict[str, int] = {}
    for cell in cells:
        row, colon, value = cell.value.rpartition(":")
        if part and not (colon and row == part):
            continue
        value = value if part else cell.value
        found[value] = found.get(value, 0) + cell.count
    return found


def distribution(
    question: Question,
    part: str,
    counted: tuple[dict[str, int], Tally],
    before: tuple[dict[str, int], Tally] | None,
    *,
    level: float,
    minimum_base: int,
) -> list[tuple[RowKey, Figure]]:
    """A row for each value that can be given, and for those that older versions had.

    Counts of the part come with who answered the question.
    """
    counts, people = counted
    values = _values(question)
    values += sorted(each for each in counts if each not in {*values, ANSWERED})
    scale = core_reports.scale_of(question)
    given: dict[str, Any] = {"values": values, "level": level, "minimum_base": minimum_base, "scale": scale}
    now = core_reports.distribution(counts, people=people, **given)
    if before is not None:
        was = core_reports.distribution(before[0], people=before[1], **given)
        now = [_changed(figure, earlier) for figure, earlier in zip(now, was, strict=True)]
    keys: list[RowKey] = [{"value": _number(value), "label": _label(question, value)} for value in values]
    if question.type == "ranking":
        keys = [{"rank": int(part), **key} for key in keys]
    elif part:
        row = question.row(part)
        keys = [{"row_id": part, "row": row.label if row else None, **key} for key in keys]
    return list(zip(keys, now, strict=True))


def answers(number: int, people: Tally, *, minimum_base: int) -> Figure:
    """The count of answers."""
    measure = Measure(metric="answers", unit="count", n=number, value=float(number))
    return Figure(measure, suppressed=core_reports.is_small(measure, people, minimum_base))


def shown_value(figure: Figure) -> float | None:
    """The value, unless it is hidden."""
    return None if figure.suppressed else figure.measure.value


def _changed(figure: Figure, before: Figure) -> Figure:
    if figure.suppressed or before.suppressed:
        return figure
    return Figure(figure.measure, change=metrics.change(figure.measure, before.measure))


def _values(question: Question) -> list[str]:
    if question.shape == "consent":
        return ["true", "false"]
    return [str(value) for value in question.scale] or [str(choice.value) for choice in question.choices]


def _label(question: Question, value: str) -> str | None:
    choice = next((each for each in question.choices if str(each.value) == value), None)
    return choice.label if choice else None


def _is_personal_name(group: str, known: ReportContext) -> bool:
    kind, _, name = group.partition(":")
    if kind not in {"questionnaire_metadata", "responder_metadata"}:
        return False
    for declared in known.declared:
        names = declared.questionnaire if kind == "questionnaire_metadata" else declared.responder
        if name not in names or names[name].anonymize:
            return True
    return False


def _plain(group: str, value: object) -> str | int | None:
    if value is None:
        return None
    text = str(value)
    return _number(text) if group.partition(":")[0] in NUMBERED else text


def _number(text: str) -> str | int:
    return int(text) if text.isdecimal() else text


def _text(line: Line) -> str:
    return repr(line.key)
