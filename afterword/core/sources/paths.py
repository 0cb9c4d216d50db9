"""Reads what other systems send, by paths: JSON whose numbers are often texts, and whose members may be absent.

A path has members with points between them, `[0]` for an entry of a list and `[]` for all. Behind `|` stands the path
that counts where the first finds nothing, and `header:name` is a header of the call.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Final

import msgspec

from afterword import errors
from afterword.core import toml
from afterword.core.messaging import addresses
from afterword.core.reading import structs
from afterword.core.reading.documents import is_array, is_number, is_object, is_text, plain
from afterword.core.reading.findings import Findings, escape
from afterword.core.sources.parts import Happening, Value, What
from afterword.core.text import locales
from afterword.core.wire.times import EXPECTED
from afterword.errors import FieldError, Sentence

TEXT_CHARACTERS_MAX: Final = 500
NAME_CHARACTERS_MAX: Final = 100
ENTRIES_MAX: Final = 1_000
NUMBER_MAX: Final = 10**15
_STEP: Final = re.compile(r"([^.\[\]]+)|\[(\d{0,4})\]")
_HEADER: Final = "header:"
_MILLISECONDS: Final = 1e11  # as seconds, a time after the year 5000


class Paths(msgspec.Struct, frozen=True, kw_only=True):
    """Paths of the parts of a happening. `whole_name`: of a person, in one piece; `country`: of the phone number.

    `whats`: what happened, by the sender's own word for it.
    """

    time: str = ""
    subject: str = ""
    object_id: str = ""
    email: str = ""
    phone: str = ""
    country: str = ""
    whole_name: str = ""
    first_name: str = ""
    last_name: str = ""
    locale: str = ""
    texts: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])
    numbers: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])
    whats: Mapping[str, What] = msgspec.field(default_factory=dict[str, What])


PATHS: Final = msgspec.convert(toml.tables_of(__name__), dict[str, Paths])


class Document:
    """The body of a call, and its headers. What has the wrong shape is reported with its place."""

    def __init__(self, headers: Mapping[str, str], document: object) -> None:
        self.headers, self.document, self.findings = headers, document, Findings()

    def at(self, path: str) -> list[tuple[str, object]]:
        """The values that the first path with any finds, each with its pointer."""
        for one in path.split("|"):
            if found := self._walk(one.strip()):
                return found
        return []

    def text(self, path: str, *, is_required: bool = False) -> str:
        """One line of text; numbers are written, the entries of a list joined."""
        words: list[str] = []
        for pointer, value in self.at(path):
            if value is True or is_object(value) or is_array(value):
                self.error(pointer, "wrong_type", "A text is expected.")
            elif value is not False:  # PHP writes it for what is not there
                words.append(cleaned(str(plain(value) if is_number(value) else value)))
        if is_required and not words:
            self._require(path)
        return ", ".join(words)[:TEXT_CHARACTERS_MAX]

    def number(self, path: str) -> int | float | None:
        """A number, or a text such as `"21.50"`; of a list, the sum."""
        numbers = [self._number(pointer, value) for pointer, value in self.at(path) if value is not False]
        return plain(round(sum(numbers), 3)) if numbers else None

    def value(self, path: str) -> Value | None:
        """A number or boolean of the JSON as it is, else the text."""
        match self.at(path):
            case [(_, bool() as value)]:
                return value
            case [(pointer, int() | float() as value)]:
                return self._number(pointer, value)
            case _:
                return self.text(path) or None

    def time(self, path: str) -> datetime | None:
        for pointer, value in self.at(path):
            if value is False or (is_text(value) and value.startswith("0000-")):  # as PHP and MySQL write no time
                continue
            if (found := time_of(value)) is not None:
                return found
            self.error(pointer, "invalid_date_time", EXPECTED)
        return None

    def flag(self, path: str) -> bool:
        """True for true, and for the 1 that PHP writes."""
        return any(value in (True, 1, "1", "true") for _, value in self.at(path))

    def happening(
        self,
        paths: Paths,
        *,
        event_id: str,
        what: What,
        name: str,
        is_test: bool = False,
        about: str = "",
        values: Mapping[str, Value | None] = MappingProxyType({}),
    ) -> Happening:
        """Raises Invalid for wrong shapes. `values`: further ones, None for absent ones.

        `about`: the sort of the object, where ids of another sort may be equal; empty for that which people ask about.
        """
        subject, number = self.text(paths.subject), self.text(paths.object_id)
        if about:
            number = f"{about} {number or subject}" if number or subject else ""
        first, _, last = self.text(paths.whole_name).partition(" ")
        found: dict[str, Value | None] = {each: self.text(path) for each, path in paths.texts.items()}
        found |= {each: self.number(path) for each, path in paths.numbers.items()} | dict(values)
        happening = Happening(
            event_id=event_id[:TEXT_CHARACTERS_MAX],
            what=what,
            name=name[:TEXT_CHARACTERS_MAX],
            time=self.time(paths.time),
            subject=subject,
            object_id=number,
            email=self.text(paths.email),
            phone=phone_of(self.text(paths.phone), self.text(paths.country)),
            first_name=(self.text(paths.first_name) or first)[:NAME_CHARACTERS_MAX],
            last_name=(self.text(paths.last_name) or last.strip())[:NAME_CHARACTERS_MAX],
            locale=locale_of(self.text(paths.locale)),
            is_test=is_test,
            values={each: value for each, value in found.items() if value is not None and value != ""},
        )
        self.findings.check()
        return happening

    def error(self, pointer: str, code: str, message: str) -> None:
        """Several paths may meet the same fault: it is reported once."""
        if pointer not in {each.path for each in self.findings.found}:
            self.findings.error(pointer, code, message)

    def _walk(self, path: str) -> list[tuple[str, object]]:
        if path.startswith(_HEADER):
            places: list[tuple[str, object]] = [("", self.headers.get(path[len(_HEADER) :].strip().lower()))]
        else:
            places = [("", self.document)] if path else []
            for name, index in _STEP.findall(path):
                places = [one for place in places for one in self._below(*place, name, index)]
        return [one for one in places if one[1] is not None and not (is_text(one[1]) and not one[1].strip())]

    def _below(self, pointer: str, value: object, name: str, index: str) -> Iterator[tuple[str, object]]:
        if value is None or value in ([], ""):  # PHP writes an empty object as a list
            return
        if name and is_object(value):
            yield f"{pointer}/{escape(name)}", value.get(name)
        elif not name and is_array(value):
            chosen = range(min(len(value), ENTRIES_MAX)) if not index else range(int(index), int(index) + 1)
            yield from ((f"{pointer}/{at}", value[at]) for at in chosen if at < len(value))
        else:
            self.error(pointer, "wrong_type", "An object is expected." if name else "A list is expected.")

    def _number(self, pointer: str, value: object) -> float:
        if isinstance(value, str):
            value = structs.read_as(value, ".")
            value = None if value is None else float(value)
        if is_number(value) and abs(value) <= NUMBER_MAX:
            return value
        self.error(pointer, "wrong_type", "A number is expected.")
        return 0

    def _require(self, path: str) -> None:
        first = path.partition("|")[0].strip()
        message = Sentence("Nothing stands at {path}.", path=first)
        if first.startswith(_HEADER):
            raise errors.Invalid.of(FieldError("required", message, header=first[len(_HEADER) :].strip()))
        pointer = "".join(f"/{escape(name or index)}" for name, index in _STEP.findall(first))
        self.error(pointer, "required", message)
        self.findings.check()


def document_of(headers: Mapping[str, str], body: bytes) -> Document:
    """Raises Invalid: the body is no JSON, is nested too deep, or is neither an object nor a list."""
    try:
        document = msgspec.json.decode(body.removeprefix(b"\xef\xbb\xbf"))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise errors.Invalid.at("", "invalid_format", "This is not valid JSON.") from None
    if not is_object(document) and not is_array(document):
        raise errors.Invalid.at("", "wrong_type", "An object is expected.")
    return Document(headers, document)


def digest_of(body: bytes) -> str:
    """An id for a call that has none: the same whenever the same is sent again."""
    return hashlib.sha256(body).hexdigest()[:32]


def cleaned(text: str) -> str:
    """One line of what can be shown and stored."""
    if not text.isprintable():
        text = "".join(one if one.isprintable() else " " for one in text)
    return text.strip()[:TEXT_CHARACTERS_MAX].rstrip()


def time_of(value: object) -> datetime | None:
    """ISO 8601, in UTC where it has no offset, or seconds or milliseconds of the Unix clock; None for others."""
    with suppress(ValueError, OverflowError, OSError):
        if isinstance(value, str) and not value.isdecimal():
            found = datetime.fromisoformat(value.strip())
            return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
        if isinstance(value, str) or is_number(value):
            seconds = float(value)
            return datetime.fromtimestamp(seconds / 1000 if seconds > _MILLISECONDS else seconds, UTC)
    return None


def phone_of(text: str, country: str) -> str:
    """E.164 where the number has its country code, or its country is known; else as it was written."""
    return addresses.normal_or_none(addresses.CHANNEL_SMS, text, locale=f"und-{country}") or text if text else ""


def locale_of(text: str) -> str:
    """The stored form of a language tag; empty for none, such as `auto`."""
    with suppress(locales.InvalidLocale):
        return "" if text in {"", "auto"} else locales.normalise(text)
    return ""
