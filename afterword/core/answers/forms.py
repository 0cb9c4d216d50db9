"""One answer as a page posts it: texts by field name, read as the value that JSON would have, or as none."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from afterword.core.answers.files import NewFile, Received
from afterword.core.answers.values import Given, InvalidAnswer, check, clean
from afterword.core.questionnaires.question_types import Question
from afterword.core.reading import numbers, spellings
from afterword.core.reading.documents import BOOLEANS

Fields = Mapping[str, Sequence[str]]
OTHER: Final = "other"
REMOVE: Final = "remove"


def field_name(question_id: str, part: object = None) -> str:
    """The name of a question's field in a posted page.

    `part`: a row of a matrix, a choice of a ranking, a field of a contact, `OTHER` for the text beside a choice, or
    `REMOVE` for the files that are taken back.
    """
    return f"q_{question_id}" if part is None else f"q_{question_id}_{part}"


def parts(question: Question) -> list[str]:
    """The parts of a question that have a field each; none where one field is all."""
    match question.shape:
        case "matrix":
            return [row.row_id for row in question.rows]
        case "ranking":
            return [str(choice.value) for choice in question.choices]
        case "contact":
            return list(question.contact_fields)
        case _:
            return []


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
    """The value of a question with several fields; None when all of them are blank."""
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
    """The value of a question with one field for a text; None when it is blank."""
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


# Numbers and dates as people write them ------------------------------------------------------------------------------

_ZEROS_MAX: Final = 2  # decimals that say nothing: those of prices
_INTEGER: Final = re.compile(r"-?[0-9]{1,4}\Z")
_DAY_FIRST: Final = re.compile(r"(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})\Z", re.ASCII)
_TIME: Final = re.compile(r"(\d{1,2})(?:[:.](\d{2})(?:[:.]\d{2}(?:\.\d{1,6})?)?)?\Z", re.ASCII)


def read_number(text: str, decimals: int = 0, point: str = "") -> int | float:
    """A number as people write it, by `core.reading.numbers`. Raises InvalidAnswer.

    Written decimals count, for `1234,000` may be meant as a million; but `12.00` is twelve.
    """
    try:
        value = numbers.read(text, decimals=decimals, point=point)
    except numbers.Ambiguous as error:
        raise InvalidAnswer("ambiguous", "Write thousands without a separator.", limit=error.thousands) from None
    if value is None:
        raise InvalidAnswer("wrong_type", "A number is expected.")
    if -int(value.as_tuple().exponent) > max(decimals, _ZEROS_MAX):
        raise InvalidAnswer("invalid_format", f"At most {decimals} decimals are possible.", limit=decimals)
    return int(value) if value == value.to_integral_value() else float(value)


def read_date(text: str) -> str:
    """A date with points, day first, as YYYY-MM-DD; anything else as it is, since one with slashes is ambiguous."""
    written = spellings.plain(text).strip()
    if match := _DAY_FIRST.match(written):
        day, month, year = match.groups()
        return f"{year}-{month:0>2}-{day:0>2}"
    return written


def read_time(text: str) -> str:
    """A time as HH:MM: an hour alone or of one digit, a point in place of the colon; seconds are left out."""
    match = _TIME.match(spellings.plain(text).strip())
    return text.strip() if match is None else f"{match[1]:0>2}:{match[2] or '00'}"


def read_date_time(text: str) -> str:
    """A date and a time, as browsers send them or with a blank between, as YYYY-MM-DDTHH:MM; anything else as it is."""
    written = spellings.plain(text).strip()
    day, separator, time = written.partition("T") if "T" in written else written.rpartition(" ")
    return f"{read_date(day)}T{read_time(time)}" if separator else written
