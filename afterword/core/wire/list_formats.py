"""The way in which dates and numbers of a list are written, seen in all its rows. No I/O.

A format is `day` or `month` (which of them comes first), or `comma` or `point` (the decimal sign).
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Final, Literal

from afterword.core.questionnaires import metadata
from afterword.core.questionnaires.metadata import Declared
from afterword.core.wire import imports, times
from afterword.core.wire.imports import Fault, group_of

Written = Literal["date", "number"]
FORMATS: Final[Mapping[Written, tuple[str, str]]] = {"date": ("day", "month"), "number": ("comma", "point")}
MONTHS: Final = 12
CENTURY: Final = "20"  # of a year of two digits

_DATE: Final = re.compile(
    r"(\d{1,2})([./-])(\d{1,2})\2(\d{4}|\d{2})(?:,?[ T]+(\d{1,2}):(\d{2}(?::\d{2})?))?\Z", re.ASCII
)
_WITH_COMMA: Final = re.compile(r"-?(?:\d+|\d{1,3}(?:[. \xa0\u202f]\d{3})+)(?:,\d+)?\Z", re.ASCII)
_WITH_POINT: Final = re.compile(r"-?(?:\d+|\d{1,3}(?:[, \xa0\u202f]\d{3})+)(?:\.\d+)?\Z", re.ASCII)
_BETWEEN_COMMA: Final = re.compile(r"[. \xa0\u202f]")
_BETWEEN_POINT: Final = re.compile(r"[, \xa0\u202f]")


@dataclass(slots=True)
class Seen:
    """Values of a column: how many leave a choice between its two formats or take it, and fit only one of them."""

    kind: Written
    total: int = 0
    only_first: int = 0
    only_second: int = 0

    @property
    def format(self) -> str | None:
        """The one that fits; None where none or both are proved."""
        if bool(self.only_first) == bool(self.only_second):
            return None
        return FORMATS[self.kind][0 if self.only_first else 1]


def kinds_of(mapping: Mapping[str, str], declared: Declared) -> dict[str, Written]:
    """The columns that have dates or numbers, by their meaning."""
    found: dict[str, Written] = {}
    for name, meaning in mapping.items():
        group = group_of(meaning)
        if meaning == imports.SEND_TIME:
            found[name] = "date"
        elif group is not None:
            known = declared.get("questionnaire" if group[0] == "questionnaire" else "responder", group[1])
            if known is not None and known.type in {"date", "number"}:
                found[name] = "date" if known.type == "date" else "number"
    return found


def look(text: str, separator: str, kinds: Mapping[str, Written]) -> dict[str, Seen]:
    """The columns of these kinds with a value that has to be read one way or the other. Reads all rows."""
    names, records = imports.read(text, separator)
    columns = [(names.index(name), Seen(kind), name) for name, kind in kinds.items() if name in names]
    for record in records if columns else ():
        if isinstance(record.cells, Fault):
            continue
        for place, seen, _ in columns:
            if place < len(record.cells):
                _note(seen, record.cells[place].strip())
    return {name: seen for _, seen, name in columns if seen.total}


def readers(formats: Mapping[str, str]) -> dict[str, Callable[[str], str]]:
    """For each column the function that writes a cell as we read dates and numbers; it leaves what it does not know."""
    of_format: Mapping[str, Callable[[str], str]] = {
        "day": partial(_date, is_day_first=True), "month": partial(_date, is_day_first=False),
        "comma": _comma, "point": _point,
    }  # fmt: skip
    return {name: of_format[one] for name, one in formats.items()}


def is_date(cell: str) -> bool:
    """Whether it is written as a date, in one of these formats or as ISO 8601 has it."""
    return _DATE.match(cell) is not None or metadata.typed("date", cell) is not None


def is_time_ahead(cell: str, *, now: datetime) -> bool:
    """Whether it is written as a day with a time, and the day is not over; the order of day and month is open."""
    for is_day_first in (True, False):
        try:
            moment = times.parse_date_time(_date(cell, is_day_first=is_day_first), zone=UTC, now=now)
        except times.InvalidDateTime:
            continue
        if moment.instant.date() >= now.date():
            return True
    return False


# Below: how, in the order of their use ------------------------------------------------------------------------


def _note(seen: Seen, value: str) -> None:
    if seen.kind == "date":
        match = _DATE.match(value)
        if match is None:
            return
        can_first, can_second = int(match[3]) <= MONTHS, int(match[1]) <= MONTHS
    else:
        first, second = _WITH_COMMA.match(value), _WITH_POINT.match(value)
        can_first, can_second = first is not None, second is not None
        if can_first and can_second and _comma(value) == _point(value):
            return
    if can_first or can_second:
        seen.total += 1
        seen.only_first += not can_second
        seen.only_second += not can_first


def _date(cell: str, *, is_day_first: bool) -> str:
    """In the order of ISO 8601. A month above 12 stays one, so that the row is refused and not guessed."""
    match = _DATE.match(cell.strip())
    if match is None:
        return cell
    day, month = (match[1], match[3]) if is_day_first else (match[3], match[1])
    year = match[4] if len(match[4]) > len(CENTURY) else f"{CENTURY}{match[4]}"
    time = f" {match[5]:0>2}:{match[6]}" if match[5] else ""
    return f"{year}-{month:0>2}-{day:0>2}{time}"


def _comma(cell: str) -> str:
    text = cell.strip()
    return _BETWEEN_COMMA.sub("", text).replace(",", ".") if _WITH_COMMA.match(text) else _refused(cell)


def _point(cell: str) -> str:
    text = cell.strip()
    return _BETWEEN_POINT.sub("", text) if _WITH_POINT.match(text) else _refused(cell)


def _refused(cell: str) -> str:
    """A number of the other format as no number: “3.5” among commas is not read as it stands."""
    text = cell.strip()
    return f"{text}?" if _WITH_COMMA.match(text) or _WITH_POINT.match(text) else cell
