"""Rows of a report as they are shown: their order, their names, and the responses behind them."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from itertools import pairwise
from typing import Any, Final, Literal

import msgspec

from afterword.core.figures import periods
from afterword.core.figures.disclosure import Key
from afterword.core.figures.periods import Period
from afterword.core.figures.reports import (
    BOUNCED,
    EACH_QUESTION,
    RATES,
    STAGES,
    Basis,
    Line,
    RequestedMetric,
    read_group,
)
from afterword.core.questionnaires.question_types import TYPES, Question

RowKey = Mapping[str, str | int | None]  # of a row as it is shown, by the names of its groups
LINK: Final = 0  # as a channel: a link that was not sent, which has no pipeline either
NUMBERED: Final = frozenset({"channel", "question"})


def ordered(group_by: Sequence[str], lines: Sequence[Line]) -> list[Line]:
    """By bucket where there is one, then the largest groups first; a table of buckets or questions as it stands."""
    if group_by in {("bucket",), ("questionnaire",), (EACH_QUESTION,)}:
        return list(lines)
    bucket_at = group_by.index("bucket") if "bucket" in group_by else None

    def order(line: Line) -> tuple[object, ...]:
        bucket = 0 if bucket_at is None else line.key[bucket_at]
        # A hidden size must not show in the order.
        size = max((figure.measure.n for figure in line.figures if not figure.suppressed), default=0)
        return bucket, -size, repr(line.key)

    return sorted(lines, key=order)


def named_key(group_by: Sequence[str], key: Key, starts: Sequence[date]) -> RowKey:
    """The key of a row by the names of its groups; a bucket is named by its first day."""
    found: dict[str, str | int | None] = {}
    for group, value in zip(group_by, key, strict=True):
        if group == "bucket" and isinstance(value, int):
            found[group] = starts[value].isoformat()
        elif value is None:
            found[group] = None
        else:
            found[group] = number_of(str(value)) if group.partition(":")[0] in NUMBERED else str(value)
    return found


def number_of(text: str) -> str | int:
    return int(text) if text.isdecimal() else text


def part_key(question: Question, part: str) -> RowKey:
    if question.ranks:
        return {"rank": int(part)}
    row = question.row(part) if part else None
    return {"row_id": part, "row": row.label if row else None} if part else {}


class Selection(msgspec.Struct, frozen=True, kw_only=True):
    """The responses behind a row: of these questionnaires, with the time of `date_basis` in the period.

    They meet `condition`, which is one as in `filter`, and the other members. Where one is null, any do.
    Of comments, `only`, `band` and `word` are as the list of responses takes them. `channel_id` 0 is a link that was
    not sent.
    """

    questionnaire_ids: Sequence[str]
    from_time: datetime
    to_time: datetime
    date_basis: Basis
    condition: Mapping[str, Any] | None = None
    version_id: str | None = None
    channel_id: int | None = None
    pipeline_id: str | None = None
    locale: str | None = None
    only: Literal["comment"] | None = None
    band: str | None = None
    word: str | None = None


def stages_of(metric: str) -> tuple[str, ...]:
    """The stages that the cases of a count, or of a rate's numerator, have come to; of a score none."""
    if metric in RATES:
        return tuple(RATES[metric][0].split("_"))
    return (metric,) if metric in STAGES or metric == BOUNCED else ()


def buckets_of(period: Period, starts: Sequence[date]) -> Mapping[str, tuple[datetime, datetime]]:
    """The moments where each bucket begins and ends, by its first day."""
    edges = (*periods.edges(period, starts), period.to_time)
    return {start.isoformat(): between for start, between in zip(starts, pairwise(edges), strict=True)}


def selection_of(
    key: RowKey,
    *,
    questionnaire_ids: Sequence[str],
    period: Period,
    buckets: Mapping[str, tuple[datetime, datetime]],
    basis: Basis,
    wanted: Sequence[RequestedMetric],
    types: Mapping[str, str],
    condition: object,
) -> Selection:
    """The responses of a row by its key; `buckets` as of `buckets_of`, `types` of questions, `condition`: the filter.

    With metrics of answers alone these are the responses that answered one of their questions.
    """
    found: dict[str, Any] = {}
    parts: list[Any] = [condition] if condition is not None else []
    question_ids = {each for want in wanted for each in want.question_ids}
    low, high = period.from_time, period.to_time
    for group, value in key.items():
        kind, _, name = group.partition(":")
        match kind:
            case "bucket":
                low, high = buckets[str(value)]
            case "questionnaire":
                questionnaire_ids = [str(value)]
            case "question_id":
                question_ids = {str(value)}
            case "channel" | "pipeline" if value is None:
                found["channel_id"] = LINK
            case "version" | "channel" | "pipeline":
                found[f"{kind}_id"] = value
            case "locale":
                found[kind] = value
            case _ if read_group(group) is not None:
                parts.append(equal(group, value, types.get(name, "")))
            case _:
                pass
    if question_ids and not any(want.is_of_cases for want in wanted):
        each_answered = [answered(each) for each in sorted(question_ids)]
        parts.append(each_answered[0] if len(each_answered) == 1 else {"any": each_answered})
    return Selection(
        questionnaire_ids=questionnaire_ids,
        from_time=low,
        to_time=high,
        date_basis=basis,
        condition=None if not parts else parts[0] if len(parts) == 1 else {"all": parts},
        **found,
    )


def answered(question_id: str, part: str = "") -> Mapping[str, Any]:
    """The responses that answered a question, or this row of it."""
    return {"subject": f"question:{question_id}{':' if part else ''}{part}", "operator": "is_not_empty"}


def answer_condition(question: Question, key: RowKey) -> Mapping[str, Any]:
    """The responses that gave this value; of a ranking all that answered, since a rank cannot be compared."""
    subject, value = f"question:{question.question_id}", key["value"]
    if question.ranks:
        return answered(question.question_id)
    if question.is_several:
        return {"subject": subject, "operator": "contains", "value": value}
    return equal(f"{subject}:{key['row_id']}" if "row_id" in key else subject, value, question.type)


def equal(subject: str, value: object, type_: str = "") -> dict[str, Any]:
    if value is None:
        return {"subject": subject, "operator": "is_empty"}
    known = TYPES.get(type_)
    if known is not None and known.subject == "boolean":
        value = value in {True, "true"}
    return {"subject": subject, "operator": "equal", "value": value}
