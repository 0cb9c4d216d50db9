"""Tables of responses that were given elsewhere: the meaning of each column, and a row as a request. No I/O.

A meaning is a member of the request (`completed_time`, `person.email`, `metadata.questionnaire.store`), or an answer:
`answer.QUESTION`. Behind it stands `.row.ROW` of a matrix, `.part.FIELD` of a contact, `.other` for the text beside a
choice, `.choice.VALUE` or `.place.N` where each has a column. Empty: the column is left out.
"""

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, islice
from typing import Any, Final, NamedTuple

import msgspec

from afterword import errors
from afterword.core.answers import values
from afterword.core.questionnaires.definition import Definition
from afterword.core.questionnaires.metadata import PRODUCT, Declared
from afterword.core.questionnaires.question_types import ADDRESS_FIELDS, CONTACT_FIELDS, YES_NO, Question, Shape
from afterword.core.wire import imports, written
from afterword.core.wire.written import WORDS, plain
from afterword.errors import FieldError, Sentence

ASK: Final = "?"
REST: Final = "*"  # all columns that nobody knows
ASKED_SHOWN_MAX: Final = 10
UNSAID: Final = "Say what these columns mean, or leave them out: {names}."
TWICE: Final = "Column “{name}”: another column has this meaning too."
OPEN_DATES: Final = "Say whether the day or the month comes first in the dates of “{name}”."
LEFT_OUT: Final = ""
CHANNEL: Final = "channel_id"
CHANNELS: Final = {"email": 1, "sms": 2, "webhook": 3, "1": 1, "2": 2, "3": 3}
FINISHED: Final = "finished"  # a column that says whether a response is complete
_NAMES: Final[Mapping[str, str]] = WORDS["responses"]
MEMBERS: Final = tuple(name for name in _NAMES if name != "technical" and not name.startswith("metadata."))
NO: Final = frozenset({"", "-", "0", "n", "no", "false", "unchecked", "notselected", "nein", "non", plain("όχι")})
UTC: Final = re.compile(r"\butc\b", re.IGNORECASE)
LEGACY: Final = ("V1", "ResponseID")  # of Qualtrics before 2017: the first cell of the header, and of the row below
IMPORT_IDS: Final = ('{"ImportId"', "{'ImportId'")  # in the third row of Qualtrics
NO_LANGUAGE: Final = ("locale", "default")  # of Formbricks: that of the questionnaire
NOT_SHOWN: Final = "N/A"  # of LimeSurvey, for a question that was not asked
CODED: Final = re.compile(r"(\S{1,200}?)\.(?:_\.|\s)|[^\s/]{1,200}/(\S{1,200})\Z")  # of LimeSurvey; of KoboToolbox
NAME_CHARACTERS_MAX: Final = 1_000  # that are looked at: a title with a label is no longer
BESIDE: Final = re.compile(r".*(_| - )(?=NPS_GROUP\Z|Option ID\Z)", re.DOTALL)  # of a score, and ids of choices
_NUMBER: Final = re.compile(r"\s*(-?\d+)(?:[.,]0{1,2})?(?:\s*[-\u2013\u2014:=(]\s*(?!\d)(.*?))?\s*\Z", re.DOTALL)
_INSIDE: Final = re.compile(r"\s+\[")
_FILLED: Final = re.compile(r"\$?\{[^{}]*\}")
_BESIDE_LIMESURVEY: Final[Sequence[tuple[re.Pattern[str], Shape]]] = (
    (re.compile(r"(.+)\[comment\]\Z", re.DOTALL | re.IGNORECASE), "text"),  # a question of its own here
    (re.compile(r"(.+?)\s*\[[^\]]*\]\Z", re.DOTALL), "consent"),  # of many choices of which there is one
)
_SPLIT: Final = re.compile(r"[;|\n]")
_OWN: Final = frozenset(f"metadata.{one.kind}.{one.name}" for one in PRODUCT)  # they give way to questions and people
MIDNIGHT: Final = "00:00"  # of a day without a time


class Table(msgspec.Struct, frozen=True):
    """The columns of a file, each with the text that its system gave it, if any, and the first rows."""

    names: Sequence[str]
    rows: Sequence[Sequence[str]]
    labels: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])

    def cells(self, place: int) -> list[str]:
        return [cell for row in self.rows if place < len(row) and (cell := row[place].strip())]


def headed(names: Sequence[str], rows: Iterator[Sequence[str]], sample: int) -> tuple[Table, Iterator[Sequence[str]]]:
    """The table of a file's first rows, and all its rows, without those of Qualtrics that stand below the header."""
    first = list(islice(rows, sample))
    is_new = len(first) > 1 and any(cell.startswith(IMPORT_IDS) for cell in first[1])
    below = 2 if is_new else int(len(first) > 0 and names[0] == LEGACY[0] and first[0][0] == LEGACY[1])
    labels = dict(zip(names, first[0], strict=False)) if below else {}
    return Table(names, first[below:], labels), chain(first[below:], rows)


class Columns(msgspec.Struct, frozen=True, dict=True):
    """The names that the columns of a table may have, of one questionnaire."""

    definition: Definition
    declared: Declared

    @cached_property
    def questions(self) -> dict[str, "Labelled"]:
        """Each by its key, or by its id where it has none."""
        asked = (one for one in self.definition.questions() if one.is_answered and one.shape != "files")
        return {one.key or one.question_id: Labelled.of(one) for one in asked}

    def guess(self, table: Table) -> dict[str, str]:
        """The meaning of each column; ASK where a person has to say it, because nothing or several things fit."""
        found: dict[str, str] = {}
        for place, name in enumerate(table.names):
            fitting = self._fitting(name) or self._fitting(table.labels.get(name, ""))
            meaning = next(iter(fitting)) if len(fitting) == 1 else ASK
            is_empty = not name.strip() or (meaning == ASK and bool(table.rows) and not table.cells(place))
            if meaning in found.values() and meaning != LEFT_OUT:  # of two times or names the first one counts
                meaning = LEFT_OUT if meaning in MEMBERS else ASK
            found[name] = LEFT_OUT if is_empty else meaning
        return found

    def chosen(self, table: Table, said: Mapping[str, str]) -> dict[str, str]:
        """The guess with what somebody said of some columns, or of all others as REST. Raises Invalid."""
        wrong = [
            Sentence("There is no column “{name}”.", name=name) for name in said if name not in (*table.names, REST)
        ]
        unknown = [meaning for meaning in said.values() if meaning and meaning not in self._all]
        wrong += [Sentence("No column can mean “{name}”.", name=meaning) for meaning in unknown]
        found = {**self.guess(table), **{name: meaning for name, meaning in said.items() if name != REST}}
        asked = [name for name, meaning in found.items() if meaning == ASK]
        found |= dict.fromkeys(asked, said.get(REST, ASK))
        if ASK in found.values():
            shown = [f"“{name}”" for name in asked[:ASKED_SHOWN_MAX]] + ["…"] * (len(asked) > ASKED_SHOWN_MAX)
            wrong.append(Sentence(UNSAID, names=", ".join(shown)))
        errors.check([errors.FieldError("required", one, pointer="/map") for one in wrong])
        meant = [meaning for meaning in found.values() if meaning]
        twice = [(place, name) for place, name in enumerate(table.names) if meant.count(found[name]) > 1]
        errors.check([FieldError("duplicate", Sentence(TWICE, name=n), pointer=f"/column{at}") for at, n in twice])
        return found

    def titles(self) -> dict[str, str]:
        """The meanings that questions and their parts have, with their titles."""
        found: dict[str, str] = {}
        for name, asked in self.questions.items():
            title = found[f"answer.{name}"] = asked.question.display_name or asked.question.plain_title
            for part, label in _parts(asked.question):
                found.setdefault(f"answer.{name}.{part}", f"{title}: {label}")
        return found

    def places(self, meanings: Mapping[str, str]) -> dict[str, str]:
        """The pointer that errors have about each column."""
        ids = {f"answer.{name}": f"answers.{asked.question.question_id}" for name, asked in self.questions.items()}
        found = {name: ids.get(".".join(one.split(".")[:2]), one) for name, one in meanings.items()}
        return {name: f"/{place.replace('.', '/')}" for name, place in found.items()}

    def options(self, meaning: str) -> list[str]:
        """The values that cells can have, as they may be written; none where these cannot be listed."""
        name, _, part = meaning.removeprefix("answer.").partition(".")
        asked = self.questions.get(name) if meaning.startswith("answer.") else None
        if asked is None or (part and not part.startswith(("row.", "place."))):
            return []
        listed = [str(one) for one in asked.question.scale] or [choice.label for choice in asked.question.choices]
        return [*YES_NO.values()] if asked.question.shape in {"yes_no", "consent"} else listed

    def orders(self, table: Table, meanings: Mapping[str, str], said: str = "") -> dict[str, str]:
        """The order of day and month in each column of dates. Raises Invalid where a person has to say it."""
        found: dict[str, str] = {}
        for place, name in enumerate(table.names):
            question = self.questions.get(meanings[name].removeprefix("answer."))
            is_day = question is not None and question.question.shape in {"date", "date_time"}
            if is_day or meanings[name] in {"started_time", "completed_time"}:
                order = self.date_order(table.cells(place))
                found[name] = said or order if order == ASK else order
                if found[name] == ASK:
                    raise errors.Invalid.at("/dates", "required", Sentence(OPEN_DATES, name=name))
        return found

    def date_order(self, cells: Iterable[str]) -> str:
        """The order of `day` and `month` in these, empty where they need none; ASK where both are possible in all."""
        return ASK if (order := imports.seen_of(cells).format) is None else order

    def document(
        self, names: Sequence[str], cells: Sequence[str], meanings: Mapping[str, str], orders: Mapping[str, str]
    ) -> dict[str, Any]:
        """The row as a request for an import of responses. `orders`: of columns of dates."""
        request: dict[str, Any] = {}
        given: dict[str, dict[str, str]] = {}  # of each question, by the rest of the meaning
        is_complete = True
        for name, cell in zip(names, cells, strict=False):
            meaning, text = meanings[name], cell.strip()
            is_empty = not text and not meaning.endswith(".other")  # which tells that there is such a column
            if not meaning or is_empty or (meaning, text) == NO_LANGUAGE:
                continue
            head, *rest = meaning.split(".", 2)
            if head == "answer":
                question, _, part = meaning.removeprefix("answer.").partition(".")
                given.setdefault(question, {})[part] = written.iso(text, orders[name]) if name in orders else text
            elif meaning == FINISHED:
                is_complete = plain(text) not in NO
            elif head in {"started_time", "completed_time"}:
                time = written.iso(text, orders.get(name, ""), MIDNIGHT)
                request[meaning] = f"{time}Z" if UTC.search(name) and time[-1:].isdigit() else time
            elif head == "metadata":
                request.setdefault("metadata", {}).setdefault(rest[0], {})[rest[1]] = text
            elif head == "person":
                request.setdefault("person", {})[rest[0]] = text
            elif head == CHANNEL:
                request[CHANNEL] = CHANNELS.get(plain(text), 0)
            else:
                request[meaning] = written.language(text) or text if meaning == "locale" else text
        if not is_complete and "completed_time" in request:
            end = request.pop("completed_time")
            request.setdefault("started_time", end)
        request["answers"] = [answer for name, parts in given.items() if (answer := self._answer(name, parts))]
        return request

    def _answer(self, name: str, parts: Mapping[str, str]) -> dict[str, Any] | None:
        asked = self.questions[name]
        given = {part: cell for part, cell in parts.items() if cell != NOT_SHOWN or asked.question.shape == "text"}
        value, other = _READERS.get(asked.question.shape, _text)(asked, given)
        answer = {"question_id": asked.question.question_id, "value": value}
        return None if value is None else {**answer, "other_text": other} if other else answer

    @cached_property
    def _all(self) -> dict[str, None]:
        """All meanings, in the order in which they are offered."""
        meanings = [*MEMBERS, CHANNEL, *(meaning for meaning, _ in self._named())]
        return dict.fromkeys(meanings)

    @cached_property
    def _names(self) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
        """The meanings by the exact name, in any case, and by its letters and digits alone."""
        exact: dict[str, set[str]] = {}
        bare: dict[str, set[str]] = {}
        for meaning, name in self._named():
            exact.setdefault(name.casefold(), set()).add(meaning)
            bare.setdefault(plain(name), set()).add(meaning)
        return exact, bare

    def _fitting(self, name: str) -> set[str]:
        exact, bare = self._names
        text = name.strip()[:NAME_CHARACTERS_MAX]
        if text in self._all:
            return {text}
        found = exact.get(_INSIDE.sub("[", text.casefold())) or bare.get(plain(text))
        if not found and (match := re.match(r"\W*[A-Za-z]?\d+\s*[.):]\s*(.+)", text, re.DOTALL)):  # "3. How …?"
            found = bare.get(plain(match[1]))
        if not found and "{" in text:  # with what another answer filled in there
            found = bare.get(plain(_FILLED.sub("", text)))
        for sign, shape in _BESIDE_LIMESURVEY:
            if not found and (match := sign.match(text)):
                found = {one for one in bare.get(plain(match[1]), ()) if self._is(shape, one)}
        system = _SYSTEMS.get(plain(BESIDE.sub("", text)), set())
        fitting = found.difference(_OWN) or system or found if found else system
        code = None if fitting else CODED.match(text)
        return self._fitting(code[1] or code[2]) if code else fitting

    def _is(self, shape: Shape, meaning: str) -> bool:
        asked = self.questions.get(meaning.removeprefix("answer."))
        return asked is not None and asked.question.shape == shape

    def _named(self) -> Iterator[tuple[str, str]]:
        """Each meaning with each name that a column of it may have."""
        for one in (*self.declared.questionnaire.values(), *self.declared.responder.values()):
            for name in written.names_of(one):
                yield f"metadata.{one.kind}.{one.name}", name
        for name, asked in self.questions.items():
            question = asked.question
            translated = [one.title for one in question.translations.values()]
            own = (question.question_id, question.key, question.code, question.display_name, question.plain_title)
            names = [text for text in (*own, *translated) if text]
            head, _, column = name.rpartition("_")  # a grid of LimeSurvey is a matrix for each column or scale
            head, places = head.removesuffix("_of"), len(question.choices) if question.shape == "ranking" else 0
            for row in question.rows if head else ():
                yield f"answer.{name}.row.{row.key}", f"{head}_{row.code or row.key}_{column}"
            for one in names:
                yield f"answer.{name}", one
                if question.shape == "text":  # Qualtrics names a field so
                    yield f"answer.{name}", f"{one} text"
                for place in range(1, places + 1):  # LimeSurvey has a column for each
                    yield f"answer.{name}.place.{place}", f"{one}[{place}]"
                for meaning, label in _parts(question):
                    if not (places and meaning == f"choice.{label}"):
                        yield f"answer.{name}.{meaning}", f"{one}[{label}]"
                    yield from ((f"answer.{name}.{meaning}", f"{one}{sign}{label}") for sign in "_ ")


def _parts(question: Question) -> Iterator[tuple[str, str]]:
    translations = question.translations.values()
    for row in question.rows:
        labels = (row.label, row.key, row.code, row.row_id, *(one.rows.get(row.row_id) for one in translations))
        yield from ((f"row.{row.key or row.row_id}", label) for label in labels if label)
    for choice in question.choices if question.shape in {"choices", "ranking"} else ():
        numbered = (str(choice.value), f"SQ{choice.value:03}")  # the second by LimeSurvey
        labels = (choice.label, choice.code, *numbered, *(one.choices.get(choice.value) for one in translations))
        yield from ((f"choice.{choice.value}", label) for label in labels if label)
    if question.shape == "ranking":
        yield from ((f"place.{place}", f"Rank {place}") for place, _ in enumerate(question.choices, start=1))
    if (free := question.other_choice) is not None:
        labels = ("other", "text", "other text", "comment", f"{free.code or free.value} text")
        # a column with the name of that choice is its tick or its text, either is understood
        yield from (("other", label) for label in labels if question.shape == "choice" or label != plain(free.label))
    if question.shape == "contact":
        yield from ((f"part.{one}", one) for one in (*CONTACT_FIELDS, *ADDRESS_FIELDS))


_SYSTEMS: Final = {
    plain(name): {LEFT_OUT if meaning == "technical" else meaning}
    for meaning, names in _NAMES.items()
    for name in names.split()
}
Value = tuple[object, str | None]  # an answer, None for none, and the text beside its choice
Parts = Mapping[str, str]


class Labelled(NamedTuple):
    """A question with its labels in all languages, plain, the values of codes, and the choice that opens a text."""

    question: Question
    labels: frozenset[str]
    codes: Mapping[str, int]
    free: int | None

    @classmethod
    def of(cls, question: Question) -> "Labelled":
        translated = [label for one in question.translations.values() for label in one.choices.values()]
        labels = frozenset(map(plain, (*(one.label for one in question.choices), *translated)))
        codes = {one.code: one.value for one in question.choices if one.code}
        return cls(question, labels, codes, next((one.value for one in question.choices if one.other), None))


def _text(_asked: Labelled, parts: Parts) -> Value:
    return parts.get(""), None


def _scale(_asked: Labelled, parts: Parts) -> Value:
    """A whole number, alone or before its label: "9 - very likely"."""
    text = parts.get("", "")
    match = _NUMBER.match(text)
    return (int(match[1]) if match else text or None), None


def _decimal(_asked: Labelled, parts: Parts) -> Value:
    text = parts.get("", "").strip()
    is_thousand = re.fullmatch(r"-?\d{1,3},\d{3}", text) is not None  # or a decimal: nobody knows
    found = None if is_thousand else written.number(text, "," if text.rfind(",") > text.rfind(".") else ".")
    return (msgspec.json.decode(found) if found else text or None), None


def _yes_no(asked: Labelled, parts: Parts) -> Value:
    whole = parts.get("", "")
    text = str(next(iter(_json(whole, list)), whole))
    found = {"y": "true", "ok": "true", "n": "false"}.get(text.strip().casefold()) or written.boolean(text)
    if not found and text and asked.question.shape == "consent" and (asked.question.code or "").endswith(f"_{text}"):
        found = "true"  # the one choice of a list, whose code stands there
    return ({"true": True, "false": False}.get(found or "", text) if text else None), None


def _day(_asked: Labelled, parts: Parts) -> Value:
    text = parts.get("", "")
    return (written.iso(text)[: len("2026-12-05")] if text else None), None


def _clock(_asked: Labelled, parts: Parts) -> Value:
    """A time alone, or of a day, as LimeSurvey keeps it."""
    text = parts.get("", "").strip()
    whole = written.iso(text if written.is_date(text) else f"1970-01-01 {text}")
    return (values.read_time(whole[len("1970-01-01 ") :]) if text else None), None


def _moment(_asked: Labelled, parts: Parts) -> Value:
    text = parts.get("", "")
    return (values.read_date_time(written.iso(text)) if text else None), None


def _choice(asked: Labelled, parts: Parts) -> Value:
    text, other = parts.get("", ""), parts.get("other")
    value = _one(asked, text) if text else None
    is_unknown = isinstance(value, str) and value == text and not _is_label(asked, text)
    is_named = plain(text) in {"oth", "other"}
    if is_unknown and asked.free is not None and (is_named or other != ""):  # an empty column beside it: no such text
        return asked.free, other or (None if is_named else text)  # what somebody wrote stands in its place
    return (asked.free if value is None and other else value), other or None


def _choices(asked: Labelled, parts: Parts) -> Value:
    """A column for each choice, or a list in one cell: KoboToolbox has both, and parts the list by blanks."""
    whole = "" if any(part.startswith("choice.") for part in parts) else parts.get("", "")
    chosen: list[object] = [_one(asked, one) for one in _listed(asked, whole)]
    other = parts.get("other")
    for choice in asked.question.choices:
        cell = parts.get(f"choice.{choice.value}", "").strip()
        if plain(cell) in NO or cell in NO:
            continue
        is_tick = (
            plain(cell) in {plain(choice.label), plain(str(choice.value)), "1", "y", "x"}
            or cell == choice.code
            or written.boolean(cell) == "true"
        )
        if choice.other and not is_tick:
            other = cell
        chosen.append(choice.value)
    unknown = [one for one in chosen if isinstance(one, str) and not _is_label(asked, one)]
    if asked.free is not None and (other or (len(unknown) == 1 and other is None)):
        chosen = [one for one in chosen if one not in unknown or other]
        other = other or str(unknown[0])
        chosen += [] if asked.free in chosen else [asked.free]
    return ([*dict.fromkeys(chosen)] or None), other or None


def _ranking(asked: Labelled, parts: Parts) -> Value:
    """The best first in one cell or in a column for each place, or the place of each choice in a column of its own."""
    cells = {choice.value: parts.get(f"choice.{choice.value}", "") for choice in asked.question.choices}
    places = {value: int(match[1]) for value, cell in cells.items() if (match := _NUMBER.match(cell))}
    by_place = [parts.get(f"place.{place}", "") for place, _ in enumerate(cells, start=1)]
    strange = [] if places else [cell for cell in cells.values() if plain(cell) not in NO]  # refused later, not dropped
    ranked = [_one(asked, one) for one in _listed(asked, parts.get("", "")) or [*filter(None, by_place)] or strange]
    return (ranked or sorted(places, key=lambda value: places[value]) or None), None


def _matrix(asked: Labelled, parts: Parts) -> Value:
    cells: Mapping[str, str] = _contact(asked, parts)[0] or {}
    return ({name: _one(asked, str(cell)) for name, cell in cells.items()} or None), None


def _contact(_asked: Labelled, parts: Parts) -> tuple[Any, None]:
    """The cells by their rows or fields."""
    whole: Mapping[str, str] = _json(parts.get("", "{}"), dict)
    return ({**whole, **{name.partition(".")[2]: cell for name, cell in parts.items() if name}} or None), None


def _one(asked: Labelled, text: str) -> object:
    """The value of a code, the label as it stands, or the number where it is none. Other texts are refused later."""
    if text.strip() in asked.codes:
        return asked.codes[text.strip()]
    match = None if _is_label(asked, text) else _NUMBER.match(text)
    return int(match[1]) if match and (not match[2] or _is_label(asked, match[2])) else text


def _is_label(asked: Labelled, text: str) -> bool:
    return plain(text) in asked.labels


def _listed(asked: Labelled, text: str) -> list[str]:
    """The labels or numbers in one cell: JSON, or separated by semicolons, bars, lines, or commas outside of labels."""
    if found := _json(text, list):
        return [str(one) for one in found]
    if not text.strip() or _is_label(asked, text):
        return [text.strip()] if text.strip() else []
    if _SPLIT.search(text):
        return [one.strip() for one in _SPLIT.split(text) if one.strip()]
    if all(isinstance(_one(asked, one), int) for one in text.split()):  # as KoboToolbox parts codes
        return text.split()
    cells = [one.strip() for one in next(csv.reader([text], skipinitialspace=True)) if one.strip()]
    joined: list[str] = []
    while cells:  # a label may have commas
        widths = range(len(cells), 0, -1)
        width = next((n for n in widths if _is_label(asked, ", ".join(cells[:n]))), 1)
        joined.append(", ".join(cells[:width]))
        cells = cells[width:]
    return joined


def _json(text: str, kind: type[Any]) -> Any:
    try:
        found = msgspec.json.decode(text)
    except msgspec.DecodeError:
        found = None
    return found if isinstance(found, kind) else kind()


_READERS: Final[Mapping[str, Callable[[Labelled, Parts], Value]]] = {
    "scale": _scale,
    "number": _decimal,
    "yes_no": _yes_no,
    "consent": _yes_no,
    "choice": _choice,
    "choices": _choices,
    "ranking": _ranking,
    "matrix": _matrix,
    "contact": _contact,
    "date": _day,
    "time": _clock,
    "date_time": _moment,
}  # fmt: skip; others are texts
