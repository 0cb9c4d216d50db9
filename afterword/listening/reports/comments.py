"""The words of comments as rows of a report: those of all, or each group followed by its own."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

import msgspec
from msgspec.structs import replace

from afterword.core.figures.metrics import Measure
from afterword.core.figures.plans import Plan
from afterword.core.figures.reports import Figure
from afterword.core.figures.rows import RowKey, Selection, equal, number_of
from afterword.kit.db import Database
from afterword.listening.responses import comments
from afterword.listening.responses.comments import CommentWord
from afterword.listening.responses.service import Filter

WORDS_MAX: Final = 30
WORDS_OF_GROUP_MAX: Final = 8
METRIC: Final = "comments"
MOMENT: Final = timedelta(microseconds=1)

Line = tuple[RowKey, Figure, Selection]


class Counted(msgspec.Struct, frozen=True, kw_only=True):
    """`is_part`: there are older comments, which are in neither the counts nor the `selection`."""

    lines: Sequence[Line]
    total: Figure
    is_part: bool
    selection: Selection


async def count(db: Database, run: Plan, selection: Selection) -> Counted:
    """`selection`: the responses of the whole report."""
    [questionnaire_id] = run.query.questionnaire_ids
    group, band = run.parameters.metadata or "", run.parameters.band
    found = await comments.counted(
        db,
        organization_id=run.context.organization_id,
        application_ids=(),  # the questionnaire is one that the caller reaches
        chosen=Filter(
            only=run.context.only,
            questionnaire_id=questionnaire_id,
            from_time=selection.from_time,
            to_time=selection.to_time - MOMENT,
            band=band,
            test=run.context.test,
        ),
        group_by=group,
        limit=WORDS_MAX,
    )
    whole = replace(selection, only="comment", band=band, from_time=found.from_time or selection.from_time)
    lines = [] if group else [_line({}, whole, one.n, one) for one in found.words]
    for each in found.groups:
        of_group = _of_group(whole, group, each.value)
        if of_group is None:
            continue
        key: RowKey = {group: number_of(each.value) if group == "channel" and each.value else each.value}
        lines.append(_line(key, of_group, each.n))
        lines += [_line(key, of_group, one.n, one) for one in each.words[:WORDS_OF_GROUP_MAX]]
    return Counted(
        lines=lines,
        total=Figure(Measure(metric=METRIC, unit="count", n=found.n, value=found.n)),
        is_part=found.from_time is not None,
        selection=whole,
    )


def _line(key: RowKey, selection: Selection, n: int, one: CommentWord | None = None) -> Line:
    """A word; without one, all comments of a group."""
    named = {**key, "word": one.word if one else None, "text": one.text if one else None}
    figure = Figure(Measure(metric=METRIC, unit="count", n=n, value=n))
    return named, figure, replace(selection, word=one.word) if one else selection


def _of_group(selection: Selection, group: str, value: str | None) -> Selection | None:
    """The responses of a group; None for those without a score, which no selection has."""
    match group:
        case "band":
            return replace(selection, band=value) if value else None
        case "channel":
            return replace(selection, channel_id=int(value or 0))
        case _:
            return replace(selection, condition=equal(group, value))
