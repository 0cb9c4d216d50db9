"""Counting for readers who may not read single answers, by the groups that `core/figures/disclosure.py` lets them see.

Months are counted apart and hidden answers are in no sum, so that the same group is hidden however it is asked for. A
filter selects among the groups that are shown.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from afterword.core.figures import disclosure, periods
from afterword.core.figures import reports as core_reports
from afterword.core.figures.disclosure import Key
from afterword.core.figures.reports import Cell, Counted, RequestedMetric
from afterword.core.questionnaires import conditions, metadata
from afterword.core.questionnaires.conditions import Facts
from afterword.db import Database
from afterword.reports.counts import service as counts
from afterword.reports.counts.service import CountQuery
from afterword.reports.results.asking import ReportContext, subjects_of

RANKED_BY: Final = "submitted"  # cases are hidden in the order of their answers, as the answers are
_Table = tuple[int, str, str, str]  # month, questionnaire, question and part of it


@dataclass(frozen=True, slots=True)
class Visible:
    """Cells of shown groups, those that make the total, and the hidden ones; `named`: hidden groups may be listed."""

    shown: list[Cell]
    total: list[Cell]
    hidden: list[Cell]
    named: bool

    def __add__(self, other: "Visible") -> "Visible":
        return Visible(
            self.shown + other.shown, self.total + other.total, self.hidden + other.hidden, self.named and other.named
        )


async def read(db: Database, *, asked: CountQuery, known: ReportContext, is_of_cases: bool = False) -> Visible:
    """The answers to the questions, or the cases. Raises Invalid where that would read too much."""
    attributes = sorted({*asked.dimensions, *_filtered(asked)})
    months = periods.buckets(asked.period, "month")
    monthly = replace(asked, buckets=months, dimensions=tuple(attributes), condition=None)
    if is_of_cases:
        cells, _ = await counts.cases(db, asked=monthly)
        people, _ = await counts.cases(db, asked=monthly, once=True)
    else:
        cells, _ = await counts.answers(db, asked=monthly)
        people = await counts.people(db, asked=monthly)
    shown = _shown(cells, people, minimum=known.ground.minimum_base)
    found = Visible([], [], [], named=len(attributes) < disclosure.ATTRIBUTES_MAX)
    for cell in cells:
        values = dict(zip(attributes, cell.dimensions, strict=True))
        if not conditions.matches(asked.condition, _facts(values, known)):
            continue
        bucket = periods.place(months[cell.bucket], asked.buckets)
        moved = replace(cell, bucket=bucket, dimensions=tuple(values[each] for each in asked.dimensions))
        keys = shown[_table(cell, part_of(cell))]
        is_shown = keys is not None and cell.dimensions in keys
        (found.shown if is_shown else found.hidden).append(moved)
        if is_shown or (keys is not None and asked.condition is None):
            found.total.append(moved)
    return found


def counted(
    wanted: Sequence[RequestedMetric], cells: Visible, group_by: Sequence[str], standing: Sequence[Key]
) -> Counted:
    """The rows and the total, and which of their figures are hidden: not those of which some months are shown."""
    secret = core_reports.gather(wanted, cells.hidden, group_by, ())
    listed = [*standing, *(key for key in secret.rows if cells.named and key not in standing)]
    rows = core_reports.gather(wanted, cells.shown, group_by, listed).rows
    total = core_reports.gather(wanted, cells.total, (), ()).total
    hidden: list[set[Key]] = []
    for index in range(len(wanted)):
        keys = {key for key in rows if not cells.named or (key in secret.rows and secret.rows[key][index])}
        hidden.append({key for key in keys if not rows[key][index]})
        if not total[index] and (secret.total[index] or not cells.named):
            hidden[-1].add(core_reports.TOTAL)
    return Counted(rows, total, hidden)


def _filtered(asked: CountQuery) -> set[tuple[str, str]]:
    return {group for each in subjects_of(asked.condition) if (group := core_reports.read_group(each))}


def part_of(cell: Cell) -> str:
    """The row of a matrix or the rank of a ranking that a cell of answers counts; else empty."""
    return cell.value.rpartition(":")[0]


def _table(cell: Cell, part: str) -> _Table:
    return cell.bucket, cell.questionnaire_id, cell.question_id, part


def _shown(cells: Sequence[Cell], people: Sequence[Cell], *, minimum: int) -> Mapping[_Table, set[Key] | None]:
    """The shown groups of each table; None where even the total is hidden."""
    tables: defaultdict[_Table, dict[Key, dict[str, int]]] = defaultdict(dict)
    for cell in cells:
        size = tables[_table(cell, part_of(cell))].setdefault(cell.dimensions, {})
        size["" if cell.question_id else cell.value] = 0
    for cell in people:
        part, name = (cell.value, "") if cell.question_id else ("", cell.value)
        size = tables[_table(cell, part)].get(cell.dimensions, {})
        if name in size:
            size[name] = cell.count
    return {
        name: disclosure.shown(table, minimum=minimum, by="" if name[2] else RANKED_BY)
        for name, table in tables.items()
        if table
    }


def _facts(values: Mapping[tuple[str, str], str | None], known: ReportContext) -> Facts:
    """The values of a group as a filter reads them."""
    found: dict[str, object] = {}
    for (kind, name), text in values.items():
        subject = f"{kind}:{name}"
        found[subject] = text
        if kind == "question" and text is not None:
            found[subject] = {"true": True, "false": False}.get(text) if text in {"true", "false"} else int(text)
        elif (type_ := known.types.get(subject, "any")) != "any":
            found[subject] = metadata.typed(type_, text)
    return found
