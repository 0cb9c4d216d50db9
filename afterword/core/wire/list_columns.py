"""The meanings of a list's columns, guessed by their values first and then by their names. No I/O.

A column whose meaning decides when a message leaves is never left out because its values are not understood.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Final

import msgspec

from afterword.core.messaging.addresses import CHANNEL_EMAIL, CHANNEL_SMS, normal_or_none
from afterword.core.questionnaires.metadata import Declared, MetadataDefinition
from afterword.core.wire import imports, written
from afterword.core.wire.imports import REFERENCE, SEND_TIME
from afterword.core.wire.tables import ADDRESS, PROBLEM, SAMPLE_ROWS
from afterword.core.wire.written import WORDS, plain

LOCALE: Final = "locale"
ASK: Final = "?"  # the person has to say it
HALF: Final = 0.5
EXACT_RANK: Final = 3
FOREIGN_RANK: Final = -4
_LINES: Final = frozenset({"lineitemname", "lineitemquantity"})  # beside them "Name" is the order's
_NUMBER_OF_ORDER: Final = ("ordernumber", "orderid", "orderno")
_EMPTY_WORDS: Final = frozenset({"e", "address", "adresse", "id", "1", "number", "nr", "no", "nummer", "primary"})
_DIGIT: Final = re.compile(r"\d")
_CAMEL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
_TOKEN: Final = re.compile(r"[^\W_]+")
_PHONE: Final = re.compile(r"'?\+?[\d\s()/.-]{7,20}")
_LIKE_A_PHONE: Final = re.compile(r"'?(?:\+|00)\s?[1-9]")
_PERSONAL: Final = frozenset({"email", "phone_number"})  # declared names that say the same as an address


def _names(table: str, key: str = "first") -> tuple[str, ...]:
    return tuple(map(plain, WORDS["columns"][table][key].split()))


_NAMES: Final = {REFERENCE: _names("reference"), LOCALE: _names("locale")}
_TIMES: Final = (_names("send_time", "sure"), _names("send_time"), _names("send_time", "perhaps"))
_OTHER_DAYS: Final = frozenset(_names("send_time", "other"))
_KINDS: Final = {CHANNEL_EMAIL: frozenset(_names("email", "names")), CHANNEL_SMS: frozenset(_names("phone", "names"))}
_MOBILE: Final = frozenset(_names("phone", "mobile"))
_POINTS: Final = {"near": 2, "far": -1, "foreign": FOREIGN_RANK}
_PERSONS: Final = {name: frozenset(_names("person", name)) for name in _POINTS}


class List(msgspec.Struct, frozen=True):
    """The columns of a list as far as the guess reads them: their names, and their values in the first rows."""

    names: Sequence[str]
    rows: Sequence[Sequence[str]]
    fields: Sequence[str]
    declared: Declared
    channel_id: int
    locale: str | None
    now: datetime

    def cells(self, place: int) -> list[str]:
        return [text for row in self.rows if (text := row[place].strip())]


def guess(given: List, remembered: Mapping[str, str]) -> dict[str, str]:
    """The meaning of each column, empty for those that are left out and `ASK` for those that the person has to say.

    `remembered`: what somebody chose for a column of this name.
    """
    found = dict.fromkeys(given.names, "")
    members = [*given.declared.responder.values(), *given.declared.questionnaire.values()]
    exact = {*given.fields, *(f"metadata.{one.kind}.{one.name}" for one in members)}
    free: list[int] = []
    for place, name in enumerate(given.names):
        meaning = remembered.get(name, name if name in exact else "")
        if meaning and meaning != SEND_TIME and name != PROBLEM and meaning not in found.values():
            found[name] = meaning
        elif name not in {PROBLEM, *remembered} and (given.cells(place) or not given.rows):
            free.append(place)
    for meaning, finder in ((ADDRESS, _addresses), (REFERENCE, _references), (LOCALE, _locales)):
        places = finder(given, free) if meaning not in found.values() else []
        found |= dict.fromkeys((given.names[place] for place in places), ASK if len(places) > 1 else meaning)
        free = [place for place in free if place not in places]
    for place in free:
        meaning = _metadata(given, members, place)
        if meaning not in found.values():
            found[given.names[place]] = meaning
    return _with_times(given, found, remembered)


def _addresses(given: List, free: Sequence[int]) -> list[int]:
    """The column of the channel's addresses whose name says most clearly that they are the customers'; equal ones."""
    kinds = [given.channel_id] if given.channel_id in _KINDS else [*_KINDS]
    for kind in kinds:
        fits = partial(_is_address, kind, given.locale)
        shaped = [place for place in free if _share(given.cells(place), fits) > HALF]
        if not shaped:
            continue
        if kind == CHANNEL_SMS:  # other numbers look the same
            like = [place for place in shaped if _share(given.cells(place), _LIKE_A_PHONE.match) > HALF]
            shaped = [
                place for place in shaped if _tokens(given.names[place]) & _KINDS[kind] or place in like
            ] or shaped
        most = max(len(given.cells(place)) for place in shaped)
        ranks = {place: _rank(given, place, kind) - 3 * (len(given.cells(place)) < most * HALF) for place in shaped}
        best = [place for place in shaped if ranks[place] == max(ranks.values())]
        if ranks[best[0]] <= FOREIGN_RANK:  # addresses of the shop itself: the person has to see that
            return [best[0], best[0]]
        pairs = [(row[best[0]].strip(), row[other].strip()) for other in best[1:] for row in given.rows]
        return best[:1] if all(one == other for one, other in pairs if one and other) else best
    return [place for place in free if any(_tokens(given.names[place]) & _KINDS[kind] for kind in kinds)][:1]


def _is_address(kind: int, locale: str | None, cell: str) -> bool:
    if kind == CHANNEL_EMAIL:
        return "@" in cell and normal_or_none(CHANNEL_EMAIL, cell) is not None
    is_shaped = _PHONE.fullmatch(cell) is not None and not written.is_date(cell)
    return is_shaped or normal_or_none(CHANNEL_SMS, cell, locale=locale) is not None


def _rank(given: List, place: int, kind: int) -> int:
    """The certainty that a column of addresses has those of the customers."""
    tokens = _tokens(given.names[place])
    rank = EXACT_RANK if tokens and tokens <= _KINDS[kind] else 0
    rank += sum(points for name, points in _POINTS.items() if not tokens.isdisjoint(_PERSONS[name]))
    return rank + (kind == CHANNEL_SMS and not tokens.isdisjoint(_MOBILE))


def _references(given: List, free: Sequence[int]) -> list[int]:
    names, best = [plain(name) for name in given.names], list[tuple[int, int]]()
    has_orders = any(name.startswith(("purchase", "grandtotal", "ordertotal", "orderdate")) for name in names)
    for place in free:
        name = names[place]
        if name in _NAMES[REFERENCE]:
            best.append((_NAMES[REFERENCE].index(name), place))
        elif name.startswith(_NUMBER_OF_ORDER):
            best.append((len(_NAMES[REFERENCE]), place))
        elif (name == "name" and not _LINES.isdisjoint(names)) or (name == "id" and has_orders):
            best.append((-1, place))
    return [place for _, place in sorted(best) if _are_references(given.cells(place))][:1]


def _are_references(cells: Sequence[str]) -> bool:
    """Whether most have a digit or great letters, few are dates or addresses, and not all of several are the same."""
    if any(map(written.is_rounded, cells)):
        return True  # so that they are refused
    numbered = _share(cells, lambda cell: (cell.isupper() or bool(_DIGIT.search(cell))) and "@" not in cell)
    has_several = len(cells) <= len("ab") or len(set(cells)) > 1
    return has_several and numbered > HALF and _share(cells, written.is_date) < HALF


def _locales(given: List, free: Sequence[int]) -> list[int]:
    named = [place for place in free if plain(given.names[place]) in _NAMES[LOCALE]]
    return [place for place in named if _share(given.cells(place), _is_language)][:1]


def _is_language(cell: str) -> bool:
    return bool(written.language(cell)) or written.is_country(cell)


def _metadata(given: List, members: Sequence[MetadataDefinition], place: int) -> str:
    """The declared name that a column has, where the values are of its type."""
    name, cells = plain(given.names[place]), given.cells(place)
    for one in members:
        if one.name in _PERSONAL or name not in map(plain, written.names_of(one)):
            continue
        fits: Callable[[str], object] = {
            "number": lambda cell: written.number(cell, ",") or written.number(cell, "."),
            "date": written.date,
            "boolean": written.boolean,
        }.get(one.type, bool)
        if _share(cells, fits) >= HALF:
            return f"metadata.{one.kind}.{one.name}"
    return ""


def _with_times(given: List, found: dict[str, str], remembered: Mapping[str, str]) -> dict[str, str]:
    """With the column of times to send, the surest name first. Times that are over are none, or are asked about.

    A blank column is none, but asked about where rows follow that were not seen. Without a column of times to send,
    those of dates of which most lie ahead are asked about, unless their names say what other day they are.
    """
    named: list[tuple[int, int]] = []
    for place, name in enumerate(given.names):
        grades = [grade for grade, names in enumerate(_TIMES) if plain(name) in names]
        grade = 0 if SEND_TIME in {name, remembered.get(name)} else grades[0] if grades else None
        if grade is not None and not found[name] and remembered.get(name, SEND_TIME) == SEND_TIME and name != PROBLEM:
            named.append((grade, place))
    for grade, place in sorted(named):
        if cells := given.cells(place):
            meaning = _time(cells, grade, given.now)
        else:
            meaning = ASK if len(given.rows) >= SAMPLE_ROWS else ""
        found[given.names[place]] = ASK if meaning and SEND_TIME in found.values() else meaning
    if SEND_TIME not in found.values():
        unknown = [place for place, name in enumerate(given.names) if not found[name] and name not in remembered]
        unknown = [place for place in unknown if _OTHER_DAYS.isdisjoint(_tokens(given.names[place]))]
        ahead = [place for place in unknown if _are_ahead(given.cells(place), given.now)]
        found |= {given.names[place]: ASK for place in ahead if given.names[place] != PROBLEM}
    return found


def _time(cells: Sequence[str], grade: int, now: datetime) -> str:
    """Whether these, at least one, are times to send. `grade`: 0: the name says so, 1: it may, 2: any time."""
    read = [cell for cell in cells if written.date(cell)]
    ahead, over = imports.count_ahead(read, now=now)
    if grade == 0:
        return ASK if over == len(cells) else SEND_TIME
    if not read:
        return SEND_TIME if grade == 1 else ASK
    return SEND_TIME if ahead * 2 >= len(read) else ASK if ahead else ""


def _are_ahead(cells: Sequence[str], now: datetime) -> bool:
    return imports.count_ahead([cell for cell in cells if written.date(cell)], now=now)[0] * 2 > len(cells)


def _share(cells: Sequence[str], fits: Callable[[str], object]) -> float:
    return sum(map(bool, map(fits, cells))) / (len(cells) or 1)


def _tokens(name: str) -> frozenset[str]:
    """The words of a name, without those that say nothing about the person."""
    parted = _CAMEL.sub(" ", name)
    return frozenset(map(plain, _TOKEN.findall(parted))) - _EMPTY_WORDS
