"""The way in which dates, numbers, booleans and languages of a list are written, seen in all its rows. No I/O.

A format is the kind of the values, perhaps with `day` or `month` (which of them comes first), `comma` or `point` (the
decimal sign), or an hour (of dates that have no time): `time day 10:00`. An earlier release wrote it without the kind.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Final, Literal

from afterword.core.questionnaires import metadata
from afterword.core.questionnaires.metadata import Declared
from afterword.core.wire import imports, times, written
from afterword.core.wire.imports import Fault, group_of

Written = Literal["date", "time", "number", "boolean", "language"]
FORMATS: Final[Mapping[Written, tuple[str, str]]] = {
    "date": ("day", "month"), "time": ("day", "month"), "number": ("comma", "point"),
}  # fmt: skip
MONTHS: Final = 12
SIGNS: Final = {"comma": ",", "point": "."}
HOUR: Final = re.compile(r"(?:[01]\d|2[0-3]):[0-5]\d", re.ASCII)


@dataclass(slots=True)
class Seen:
    """Values of a column: how many leave a choice between its two formats or take it, and fit only one of them.

    `without_time`: dates alone, in a column of times.
    """

    kind: Written
    total: int = 0
    only_first: int = 0
    only_second: int = 0
    without_time: int = 0

    @property
    def format(self) -> str | None:
        """The one that fits, empty where none is needed; None where none or both are proved."""
        if not self.total:
            return ""
        if bool(self.only_first) == bool(self.only_second):
            return None
        return FORMATS[self.kind][0 if self.only_first else 1]


def kinds_of(mapping: Mapping[str, str], declared: Declared) -> dict[str, Written]:
    """The columns whose values are written in several ways, by their meaning."""
    found: dict[str, Written] = {}
    for name, meaning in mapping.items():
        if meaning in {imports.SEND_TIME, "locale"}:
            found[name] = "time" if meaning == imports.SEND_TIME else "language"
        elif (kind := type_of(meaning, declared)) and kind != "text":
            found[name] = kind
    return found


def type_of(meaning: str, declared: Declared) -> metadata.Type | None:
    """The declared type of a column of metadata."""
    group = group_of(meaning)
    known = group and declared.get("questionnaire" if group[0] == "questionnaire" else "responder", group[1])
    return known.type if known else None


def look(text: str, separator: str, kinds: Mapping[str, Written]) -> dict[str, Seen]:
    """The evidence for the formats of these columns. Reads all rows."""
    names, records = imports.read(text, separator)
    columns = [(names.index(name), Seen(kind), name) for name, kind in kinds.items() if name in names]
    for record in records if any(seen.kind in FORMATS for _, seen, _ in columns) else ():
        if isinstance(record.cells, Fault):
            continue
        for place, seen, _ in columns:
            if place < len(record.cells):
                _note(seen, record.cells[place].strip())
    return {name: seen for _, seen, name in columns}


def readers(formats: Mapping[str, str]) -> dict[str, Callable[[str], str]]:
    """For each column the function that writes a cell as we read it; it leaves what it does not know."""
    return {name: _reader(frozenset(one.split())) for name, one in formats.items()}


def count_ahead(cells: Sequence[str], *, now: datetime) -> tuple[int, int]:
    """The numbers of dates whose day is not over, by the order of day and month that favours them, and is over."""
    seen = Seen("date")
    for cell in cells:
        _note(seen, cell)
    orders = [seen.format] if seen.format else FORMATS["date"]
    counts = [Counter(_is_ahead(written.iso(cell, order, "23:59"), now) for cell in cells) for order in orders]
    return max(count[True] for count in counts), min(count[False] for count in counts)


# Below: how, in the order of their use ------------------------------------------------------------------------


def _is_ahead(text: str, now: datetime) -> bool | None:
    try:
        return times.parse_date_time(text, zone=UTC, now=now).instant.date() >= now.date()
    except times.InvalidDateTime:
        return None


def _note(seen: Seen, value: str) -> None:
    if seen.kind in {"date", "time"}:
        found = written.date(value)
        if found is None:
            return
        seen.without_time += seen.kind == "time" and not found.time
        can_first, can_second = found.second <= MONTHS, found.first <= MONTHS
        if not found.is_open:
            return
    elif seen.kind == "number":
        first, second = written.number(value, ","), written.number(value, ".")
        can_first, can_second = first is not None, second is not None
        if first == second:
            return
    else:
        return
    if can_first or can_second:
        seen.total += 1
        seen.only_first += not can_second
        seen.only_second += not can_first


def _reader(tokens: frozenset[str]) -> Callable[[str], str]:
    if "boolean" in tokens:
        return lambda cell: written.boolean(cell) or cell
    if "language" in tokens:
        return lambda cell: written.language(cell) or cell
    if tokens & {"number", *SIGNS}:
        signs = [sign for name, sign in SIGNS.items() if name in tokens] or [*SIGNS.values()]
        return partial(_number, signs=signs)
    order = next((one for one in FORMATS["date"] if one in tokens), "")
    hour = next(filter(HOUR.fullmatch, tokens), "")
    return lambda cell: written.iso(cell, order, hour)


def _number(cell: str, *, signs: Collection[str]) -> str:
    """A number of the other format is none: “3.5” among commas is not read as it stands."""
    found = {written.number(cell, sign) for sign in signs} - {None}
    if len(found) == 1:
        return found.pop() or ""
    return f"{cell.strip()}?" if any(written.number(cell, sign) for sign in SIGNS.values()) else cell
