"""One answer: its check, its stored form, its label, the facts for conditions, and how a posted page is read."""

import re
import unicodedata
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import date, datetime, time
from typing import Final, TypeAlias

import msgspec

from afterword.core.answers.files import EXTENSIONS, NAME_CHARACTERS_MAX, NewFile, Received, names_of
from afterword.core.messaging import addresses
from afterword.core.questionnaires.question_types import NUMBER_DIGITS_MAX, TYPES, Question, Shape
from afterword.core.questionnaires.questions import localized
from afterword.core.reading import structs
from afterword.core.reading.documents import (
    BOOLEANS,
    digits_of,
    is_array,
    is_date,
    is_date_time,
    is_integer,
    is_number,
    is_object,
    is_time,
    plain,
)

OTHER_TEXT_CHARACTERS_MAX = 500
MARKS_MAX = 30  # on one letter, as the stream-safe format of UAX 15 has it
CONTACT_CHARACTERS_MAX = 320
PHONE_DIGITS_MIN = 5
FIRST_DAY = "1900-01-01"  # where the bounds say nothing of earlier ones: year 26 is a typing error

Entry: TypeAlias = dict[str, int | str]
Value: TypeAlias = bool | int | float | str | list[int] | list[Entry] | dict[str, int] | dict[str, str]


class Given(msgspec.Struct, frozen=True):
    """A checked answer: the value in its stored form, and the text beside the choice that opens one."""

    value: Value
    other_text: str | None = None


class InvalidAnswer(ValueError):
    """Not an answer to this question. `code` is stable; `limit` is the bound that it broke, for translated pages.

    `part` is the row of a matrix, the field of a contact or the exclusive choice that is to blame, where it is one.
    """

    def __init__(self, code: str, message: str, *, limit: int | None = None, part: str | None = None) -> None:
        super().__init__(message)
        self.code, self.message, self.limit, self.part = code, message, limit, part


def check(question: Question, value: object, other_text: str | None = None) -> Given:
    """The stored form of a JSON value. Raises InvalidAnswer; a value that is missing or blank is invalid as well."""
    return _with_other_text(question, Given(_CHECKS[question.shape](question, value)), other_text)


def segment(question: Question, value: object) -> str | None:
    if not is_integer(value):
        return None
    return next((name for name, low, high in TYPES[question.type].segments if low <= value <= high), None)


def label(question: Question, value: object, locale: str) -> str | None:
    """The labels of what was chosen, in `locale`, joined by a comma; None for types without choices.

    Of files their names, of a matrix each with its row (`Speed: Good, Price: Fair`), of a ranking the best first.
    """
    if question.shape == "files":
        return ", ".join(names_of(value)) or None
    shown = localized(question, locale)
    if is_object(value):
        labels = [
            f"{row.label}: {choice.label}"
            for row in shown.rows
            if (choice := shown.choice(value.get(row.row_id))) is not None
        ]
    else:
        chosen = value if is_array(value) else [value]
        labels = [choice.label for choice in map(shown.choice, chosen) if choice is not None]
    return ", ".join(labels) or None


def facts_of(question: Question, value: object) -> dict[str, object]:
    """The facts of a stored answer: `question:{id}`, and `question:{id}:{part}` for each of its parts."""
    name = f"question:{question.question_id}"
    if question.shape in {"matrix", "contact"} and is_object(value):
        return {name: value, **{f"{name}:{part}": one for part, one in value.items()}}
    if question.shape == "date" and is_date(value):
        return {name: date.fromisoformat(value)}
    if question.shape == "date_time" and is_date_time(value):
        return {name: datetime.fromisoformat(value)}
    if question.shape == "time" and is_time(value):
        return {name: time.fromisoformat(value)}
    return {name: value}


def clean(text: str, *, multiline: bool) -> str:
    """Trimmed, with line breaks as one character (or spaces), without other control characters or lone surrogates.

    Of marks in a row `MARKS_MAX` stay: to put them in order takes the square of their number.
    """
    if text.isascii() and text.isprintable():
        return text.strip() if multiline else " ".join(text.split())
    kept, marks = "", 0
    for one in text.replace("\r\n", "\n").replace("\r", "\n"):
        marks = marks + 1 if unicodedata.combining(one) else 0
        if one in "\n\t" or (unicodedata.category(one) not in {"Cc", "Cs"} and marks <= MARKS_MAX):
            kept += one
    return kept.strip() if multiline else " ".join(kept.split())


def _refuse(question: Question, value: object) -> Value:  # noqa: ARG001  a check like the others
    raise InvalidAnswer("unknown_value", "This asks nothing.")


def _check_scale(question: Question, value: object) -> int:
    if not is_integer(value):
        raise InvalidAnswer("wrong_type", "A whole number is expected.")
    if value not in question.scale:
        raise InvalidAnswer("out_of_range", f"A number from {question.scale[0]} to {question.scale[-1]} is expected.")
    return value


def _check_choice(question: Question, value: object, part: str | None = None) -> int:
    if not is_integer(value):
        raise InvalidAnswer("wrong_type", "The value of a choice is expected.", part=part)
    if question.choice(value) is None:
        raise InvalidAnswer("unknown_value", "There is no such choice.", part=part)
    return value


def _check_list(question: Question, value: object) -> list[int]:
    if not is_array(value):
        raise InvalidAnswer("wrong_type", "A list of values is expected.")
    values = [_check_choice(question, one) for one in value[: len(question.choices) + 1]]
    if len(set(values)) != len(value):
        raise InvalidAnswer("duplicate", "No choice can be made twice.")
    return values


def _check_choices(question: Question, value: object) -> list[int]:
    chosen = sorted(_check_list(question, value))
    exclusive = [choice for choice in map(question.choice, chosen) if choice is not None and choice.exclusive]
    if exclusive and len(chosen) > 1:
        alone = exclusive[0].value
        raise InvalidAnswer("exclusive", f"The choice {alone} excludes the others.", part=str(alone))
    low, high = question.choices_min or 0, question.choices_max or len(question.choices)
    if not chosen or (len(chosen) < low and not exclusive):
        raise InvalidAnswer("too_few", f"Choose at least {max(low, 1)}.", limit=max(low, 1))
    if len(chosen) > high:
        raise InvalidAnswer("too_many", f"Choose at most {high}.", limit=high)
    return chosen


def _check_ranking(question: Question, value: object) -> list[int]:
    ranked = _check_list(question, value)
    if not ranked:
        raise InvalidAnswer("too_few", "Give at least one place.", limit=1)
    if len(ranked) > question.ranks:
        raise InvalidAnswer("too_many", f"There are {question.ranks} places.", limit=question.ranks)
    return ranked


def _check_matrix(question: Question, value: object) -> dict[str, int]:
    """Choices by row, in the order of the rows; of a required matrix all of them."""
    if not is_object(value):
        raise InvalidAnswer("wrong_type", "An object of rows and values is expected.")
    if any(question.row(row_id) is None for row_id in value):
        raise InvalidAnswer("unknown_value", "There is no such row.")
    rows = [row.row_id for row in question.rows]
    given = {row_id: _check_choice(question, value[row_id], row_id) for row_id in rows if row_id in value}
    _check_parts(question, given, rows, "row")
    return given


def _check_parts(question: Question, given: Collection[str], parts: Sequence[str], noun: str) -> None:
    if not given:
        raise InvalidAnswer("too_few", f"One {noun} at least is expected.", limit=1)
    missing = [part for part in parts if part not in given]
    if question.is_required and missing:
        raise InvalidAnswer("required", f"Every {noun} is expected.", part=missing[0])


def _check_text(question: Question, value: object) -> str:
    if not isinstance(value, str):
        raise InvalidAnswer("wrong_type", "A text is expected.")
    text = clean(value, multiline=question.multiline is not False)
    if not text:
        raise InvalidAnswer("too_short", "The text is blank.", limit=1)
    _check_length(text, question.length_max or 0)
    return text


def _check_length(text: str, limit: int, part: str | None = None) -> None:
    if len(text) > limit:
        raise InvalidAnswer("too_long", f"At most {limit} characters are possible.", limit=limit, part=part)


def _check_number(question: Question, value: object) -> int | float:
    if not is_number(value):
        raise InvalidAnswer("wrong_type", "A number is expected.")
    decimals = question.decimals or 0
    if digits_of(value) > NUMBER_DIGITS_MAX:
        message = f"A number of at most {NUMBER_DIGITS_MAX} digits is expected."
        raise InvalidAnswer("too_long", message, limit=NUMBER_DIGITS_MAX)
    if round(value, decimals) != value:
        message = f"At most {decimals} decimals are possible." if decimals else "A whole number is expected."
        raise InvalidAnswer("invalid_format", message, limit=decimals)
    low, high = question.number_min, question.number_max
    if (low is not None and value < low) or (high is not None and value > high):
        raise InvalidAnswer("out_of_range", "A number within the bounds is expected.")
    return plain(value)


def _check_date(question: Question, value: object) -> str:
    if not is_date(value):
        code = "invalid_format" if isinstance(value, str) else "wrong_type"
        raise InvalidAnswer(code, "A date such as 2026-11-21 is expected.")
    low, high = question.date_min, question.date_max
    if low is None and value < FIRST_DAY and (high is None or high >= FIRST_DAY):
        raise InvalidAnswer("invalid_format", f"A date such as 2026-11-21 is expected, not before {FIRST_DAY}.")
    if (low is not None and value < low) or (high is not None and value > high):
        raise InvalidAnswer("out_of_range", "A date within the bounds is expected.")
    return value


def _check_time(question: Question, value: object) -> str:  # noqa: ARG001  a check like the others
    if not is_time(value):
        code = "invalid_format" if isinstance(value, str) else "wrong_type"
        raise InvalidAnswer(code, "A time such as 09:30 is expected.")
    return value


def _check_date_time(question: Question, value: object) -> str:
    if not is_date_time(value):
        code = "invalid_format" if isinstance(value, str) else "wrong_type"
        raise InvalidAnswer(code, "A date with a time such as 2026-11-21T09:30 is expected.")
    _check_date(question, value[:10])
    return value


def _check_yes_no(question: Question, value: object) -> bool:  # noqa: ARG001  a check like the others
    if not isinstance(value, bool):
        raise InvalidAnswer("wrong_type", "true or false is expected.")
    return value


def _check_consent(question: Question, value: object) -> bool:
    consents = _check_yes_no(question, value)
    if question.is_required and not consents:
        raise InvalidAnswer("required", "Without consent it does not go on.")
    return consents


def _check_contact(question: Question, value: object) -> dict[str, str]:
    """Texts by field, in the order of the fields; of a required contact all of them. A blank one is absent."""
    if not is_object(value):
        raise InvalidAnswer("wrong_type", "An object of fields and texts is expected.")
    if not set(value) <= set(question.contact_fields):
        raise InvalidAnswer("unknown_value", "There is no such field.")
    texts = {name: _check_contact_field(name, value[name]) for name in question.contact_fields if name in value}
    given = {name: text for name, text in texts.items() if text}
    _check_parts(question, given, question.contact_fields, "field")
    return given


def _check_contact_field(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise InvalidAnswer("wrong_type", "A text is expected.", part=name)
    text = clean(value, multiline=False)
    _check_length(text, CONTACT_CHARACTERS_MAX, part=name)
    if not text or name not in _ADDRESSES:
        return text
    try:
        return _ADDRESSES[name](text)
    except addresses.InvalidAddress:
        raise InvalidAnswer("invalid_address", f"This is no {name} address.", part=name) from None


def _check_files(question: Question, value: object) -> list[Entry]:
    if not is_array(value):
        raise InvalidAnswer("wrong_type", "A list of files is expected.")
    files_max = question.files_max or 1
    if not value:
        raise InvalidAnswer("too_few", "One file at least is expected.", limit=1)
    if len(value) > files_max:
        raise InvalidAnswer("too_many", f"At most {files_max} files are possible.", limit=files_max)
    entries = [_check_file(one) for one in value]
    if len({one["file_id"] for one in entries}) != len(entries):
        raise InvalidAnswer("duplicate", "No file can be given twice.")
    return entries


def _check_file(value: object) -> Entry:
    """The entry of a file that was checked when it came; `bytes` may be more than the question takes by now."""
    if not is_object(value) or set(value) != {"file_id", "name", "type", "bytes"}:
        raise InvalidAnswer("wrong_type", "An object with file_id, name, type and bytes is expected.")
    file_id, name, kind, size = value["file_id"], value["name"], value["type"], value["bytes"]
    if not (isinstance(file_id, str) and isinstance(name, str) and isinstance(kind, str) and is_integer(size)):
        raise InvalidAnswer("wrong_type", "An object with file_id, name, type and bytes is expected.")
    if kind not in EXTENSIONS or not 0 < len(name) <= NAME_CHARACTERS_MAX or not file_id or size < 1:
        raise InvalidAnswer("unknown_value", "There is no such file.")
    return {"file_id": file_id, "name": name, "type": kind, "bytes": size}


def _email(text: str) -> str:
    """As it was written, without what cannot be seen around it."""
    addresses.normalise(addresses.CHANNEL_EMAIL, text)
    return structs.trimmed(text)


def _phone(text: str) -> str:
    """As people would dial it; the country is not known, so national forms pass as they are."""
    dialled = addresses.phone_text(text)
    if sum(one.isdecimal() for one in dialled) < PHONE_DIGITS_MIN:
        raise addresses.InvalidAddress("A phone number has more digits.")
    return dialled


_ADDRESSES: Final = {"email": _email, "phone": _phone}


def _with_other_text(question: Question, given: Given, other_text: str | None) -> Given:
    text = clean(other_text, multiline=False) if other_text else ""
    if not text:
        return given
    other = question.other_choice
    chosen = given.value if isinstance(given.value, list) else [given.value]
    if other is None or other.value not in chosen:
        raise InvalidAnswer("exclusive", "A text belongs to the choice that opens it.")
    _check_length(text, OTHER_TEXT_CHARACTERS_MAX)
    return Given(given.value, text)


_CHECKS: Final[Mapping[Shape, Callable[[Question, object], Value]]] = {
    "scale": _check_scale, "choice": _check_choice, "choices": _check_choices, "yes_no": _check_yes_no,
    "matrix": _check_matrix, "ranking": _check_ranking, "text": _check_text, "number": _check_number,
    "date": _check_date, "time": _check_time, "date_time": _check_date_time, "consent": _check_consent,
    "contact": _check_contact, "files": _check_files, "none": _refuse,
}  # fmt: skip


Fields = Mapping[str, Sequence[str]]
OTHER: Final = "other"
REMOVE: Final = "remove"


def field_name(question_id: str, part: object = None) -> str:
    """The name of a question's field in a posted page.

    `part`: a row of a matrix, a choice of a ranking, a field of a contact, `OTHER` for the text beside a choice, or
    `REMOVE` for the files that are taken back.
    """
    return f"q_{question_id}" if part is None else f"q_{question_id}_{part}"


def parts(question: Question) -> dict[str, str]:
    """The parts that have a field each, with their labels; those of a contact are names."""
    if question.ranks:
        return {str(choice.value): choice.label for choice in question.choices}
    rows = {row.row_id: row.label for row in question.rows}
    return rows or {name: name for name in question.contact_fields}


def read_form(question: Question, fields: Fields, *, point: str = "") -> Given | None:
    """The answer among the fields of a posted page, or None when the question was left blank. Raises InvalidAnswer.

    `point`: the decimal sign of the page's language.
    """
    match question.shape:
        case "scale" | "choice" | "choices":
            return _read_choices(question, fields)
        case "files" | "none":  # `read_files` reads files
            return None
        case "matrix" | "ranking" | "contact":
            value = _read_parts(question, fields)
        case _:
            value = _read_one(question, fields, point)
    return None if value is None else check(question, value)


def read_files(question: Question, fields: Fields, *, stored: Given | None, received: Received) -> Given | None:
    """The files that were there and are kept, and those that came; None for none. Raises InvalidAnswer for too many."""
    removed = set(fields.get(field_name(question.question_id, REMOVE), ()))
    before = stored.value if stored is not None and isinstance(stored.value, list) else []
    kept = [one for one in before if isinstance(one, dict) and one["file_id"] not in removed]
    value = [*kept, *(one.entry for one in received if isinstance(one, NewFile))]
    return check(question, value) if value else None


def _read_choices(question: Question, fields: Fields) -> Given | None:
    """The ticked choices. A text beside an unticked choice ticks it, unless another single choice was made."""
    values = [text for text in fields.get(field_name(question.question_id), ()) if text.strip()]
    written = "".join(fields.get(field_name(question.question_id, OTHER), ())[:1])
    other, other_text = question.other_choice, clean(written, multiline=False) or None
    if other is not None and other_text is not None and (not values or question.shape == "choices"):
        values = [*values, str(other.value)]
    if not values:
        return None
    numbers = list(dict.fromkeys(_integer(text) for text in values))
    if question.shape != "choices" and len(numbers) > 1:
        raise InvalidAnswer("too_many", "One answer is possible.", limit=1)
    value = numbers if question.shape == "choices" else numbers[0]
    chosen = other is not None and other.value in numbers
    return check(question, value, other_text if chosen else None)


def _read_parts(question: Question, fields: Fields) -> object:
    found = {part: text for part in parts(question) if (text := _text(fields, field_name(question.question_id, part)))}
    if not found:
        return None
    if question.shape == "contact":
        return found
    numbers = {part: _integer(text, part) for part, text in found.items()}
    if question.shape == "matrix":
        return numbers
    for part, place in numbers.items():
        if not 1 <= place <= question.ranks:
            message = f"A place from 1 to {question.ranks} is expected."
            raise InvalidAnswer("out_of_range", message, part=part)
        if list(numbers.values()).count(place) > 1:
            raise InvalidAnswer("duplicate", "Each place can be given once.", part=part)
    return [int(part) for part in sorted(numbers, key=lambda one: numbers[one])]  # gaps between places close


def _read_one(question: Question, fields: Fields, point: str) -> object:  # noqa: PLR0911  one for each shape
    name = field_name(question.question_id)
    text = _text(fields, name)
    if not text:
        return None
    match question.shape:
        case "number":
            return read_number(text, question.decimals or 0, point)
        case "date":
            return read_date(text)
        case "time":
            return read_time(text)
        case "date_time":
            return read_date_time(text)
        case "consent" | "yes_no":
            if text not in BOOLEANS:
                raise InvalidAnswer("wrong_type", "A tick is expected.")
            return BOOLEANS[text]
        case _:
            return next(iter(fields[name]))  # untouched, for it may have lines


def _text(fields: Fields, name: str) -> str:
    return clean("".join(fields.get(name, ())[:1]), multiline=False)


def _integer(text: str, part: str | None = None) -> int:
    if not _INTEGER.match(text.strip()):
        raise InvalidAnswer("wrong_type", "A whole number is expected.", part=part)
    return int(text)


_ZEROS_MAX: Final = 2  # decimals that say nothing: those of prices
_INTEGER: Final = re.compile(r"-?[0-9]{1,4}\Z")
_DAY_FIRST: Final = re.compile(r"(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})\Z", re.ASCII)
_TIME: Final = re.compile(r"(\d{1,2})(?:[:.](\d{2})(?:[:.]\d{2}(?:\.\d{1,6})?)?)?\Z", re.ASCII)


def read_number(text: str, decimals: int = 0, point: str = "") -> int | float:
    """A number as people write it, by `core.reading.numbers`. Raises InvalidAnswer.

    Written decimals count, for `1234,000` may be meant as a million; but `12.00` is twelve.
    """
    try:
        value = structs.read(text, decimals=decimals, point=point)
    except structs.Ambiguous as error:
        raise InvalidAnswer("ambiguous", "Write thousands without a separator.", limit=error.thousands) from None
    if value is None:
        raise InvalidAnswer("wrong_type", "A number is expected.")
    if -int(value.as_tuple().exponent) > max(decimals, _ZEROS_MAX):
        message = f"At most {decimals} decimals are possible." if decimals else "A whole number is expected."
        raise InvalidAnswer("invalid_format", message, limit=decimals)
    return int(value) if value == value.to_integral_value() else float(value)


def read_date(text: str) -> str:
    """A date with points, day first, as YYYY-MM-DD; anything else as it is, since one with slashes is ambiguous."""
    written = structs.plain(text).strip()
    if match := _DAY_FIRST.match(written):
        day, month, year = match.groups()
        return f"{year}-{month:0>2}-{day:0>2}"
    return written


def read_time(text: str) -> str:
    """A time as HH:MM: an hour alone or of one digit, a point in place of the colon; seconds are left out."""
    match = _TIME.match(structs.plain(text).strip())
    return text.strip() if match is None else f"{match[1]:0>2}:{match[2] or '00'}"


def read_date_time(text: str) -> str:
    """A date and a time, as browsers send them or with a blank between, as YYYY-MM-DDTHH:MM; anything else as it is."""
    written = structs.plain(text).strip()
    day, separator, time = written.partition("T") if "T" in written else written.rpartition(" ")
    return f"{read_date(day)}T{read_time(time)}" if separator else written
