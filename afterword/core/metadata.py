"""Metadata: the names every organization has, how grouped and flat maps are read, merged and limited.

A change is a map name -> text, or None where the value is removed; a stored map is name -> text.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from types import MappingProxyType
from typing import Final, Literal

from afterword.core.reading import escape
from afterword.errors import FieldError

NAMES_MAX: Final = 200
NAME_CHARACTERS_MAX: Final = 255
VALUE_CHARACTERS_MAX: Final = 4096
NUMBER_DIGITS_MAX: Final = 18

Kind = Literal["questionnaire", "responder"]
Type = Literal["text", "number", "date", "boolean"]
KINDS: Final[tuple[Kind, ...]] = ("questionnaire", "responder")

_NUMBER: Final = re.compile(r"-?\d+(?:\.\d+)?\Z", re.ASCII)
_BOOLEANS: Final[Mapping[str, bool]] = MappingProxyType({"true": True, "1": True, "false": False, "0": False})
_TIME: Final = r"(?:[Tt ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:[Zz]|[+\- ]\d{2}:?\d{2})?)?"
_DATE: Final = re.compile(rf"(\d{{4}})-(\d{{2}})-(\d{{2}}){_TIME}\Z", re.ASCII)
_DAY_FIRST: Final = re.compile(r"(\d{1,2})/(\d{1,2})/(\d{4})\Z", re.ASCII)


@dataclass(frozen=True, slots=True)
class MetadataDefinition:
    """A declared name: its type decides how values compare, `anonymize` marks personal data."""

    name: str
    kind: Kind
    title: str
    type: Type = "text"
    anonymize: bool = False


@dataclass(frozen=True, slots=True)
class Declared:
    """The names that an organization knows, by kind."""

    questionnaire: Mapping[str, MetadataDefinition]
    responder: Mapping[str, MetadataDefinition]

    @classmethod
    def of(cls, definitions: Iterable[MetadataDefinition]) -> "Declared":
        """Sort definitions by kind."""
        known = list(definitions)
        return cls(
            MappingProxyType({one.name: one for one in known if one.kind == "questionnaire"}),
            MappingProxyType({one.name: one for one in known if one.kind == "responder"}),
        )

    def kind_of(self, name: str) -> Kind:
        """Whose value a flat name is: the questionnaire's, unless it is declared for responders only."""
        return "responder" if name in self.responder and name not in self.questionnaire else "questionnaire"


GLOBAL: Final = Declared.of(
    [
        MetadataDefinition("transaction_id", "questionnaire", "Transaction"),
        MetadataDefinition("transaction_date", "questionnaire", "Transaction date", "date"),
        MetadataDefinition("store_pickup", "questionnaire", "Picked up in store", "boolean"),
        MetadataDefinition("store_id", "questionnaire", "Store"),
        MetadataDefinition("email", "responder", "E-mail address", anonymize=True),
        MetadataDefinition("phone_number", "responder", "Phone number", anonymize=True),
    ]
)


class InvalidMetadata(ValueError):
    """A name or a value that cannot be kept; `code` is stable, the sentence repeats neither."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class Changes:
    """What a request wants of both maps."""

    questionnaire: dict[str, str | None] = field(default_factory=dict[str, str | None])
    responder: dict[str, str | None] = field(default_factory=dict[str, str | None])

    @property
    def as_stored(self) -> dict[str, dict[str, str]]:
        """The form that a queue item keeps: both maps, without what was empty."""
        return {"questionnaire": merge({}, self.questionnaire), "responder": merge({}, self.responder)}


def read_grouped(
    document: Mapping[str, object] | None,
    *,
    declared: Declared = GLOBAL,
    pointer: str = "/metadata",
    strict: bool = False,
) -> tuple[Changes, list[FieldError]]:
    """Read `{"questionnaire": {…}, "responder": {…}}`, the form of creation; other members count only if `strict`."""
    reader = _Reader(declared, strict)
    for name, value in (document or {}).items():
        kind: Kind | None = "questionnaire" if name == "questionnaire" else "responder" if name == "responder" else None
        if kind:
            reader.read_map(kind, value, f"{pointer}/{kind}")
        elif strict:
            reader.wrong("unknown_member", "There is no such member.", f"{pointer}/{escape(name)}")
    return reader.changes, reader.errors


def read_flat(
    document: Mapping[str, object] | None,
    *,
    declared: Declared = GLOBAL,
    pointer: str = "/metadata",
    strict: bool = False,
) -> tuple[Changes, list[FieldError]]:
    """Read `{name: value}`, the form of an instance's PATCH; an object under a kind's name is a grouped map."""
    reader = _Reader(declared, strict)
    flat: dict[str, object] = {}
    for name, value in (document or {}).items():
        if (name == "questionnaire" or name == "responder") and _is_map(value):  # noqa: PLR1714  narrows the type
            reader.read_map(name, value, f"{pointer}/{name}")
        else:
            flat[name] = value
    if len(flat) > NAMES_MAX:
        reader.wrong("too_many", f"A metadata map has at most {NAMES_MAX} names.", pointer)
        return reader.changes, reader.errors
    for name, value in flat.items():
        reader.read_value(declared.kind_of(name), name, value, f"{pointer}/{escape(name)}")
    return reader.changes, reader.errors


def read_value(name: str, value: object) -> str | None:
    """A value as the text that is kept, None where it is empty; raises InvalidMetadata."""
    if not _is_name(name):
        message = f"A metadata name has 1 to {NAME_CHARACTERS_MAX} characters, none of them a control character."
        raise InvalidMetadata("invalid_format", message)
    if value is not None and not isinstance(value, str | int | float):
        raise InvalidMetadata("wrong_type", "A metadata value is a text, a number or a boolean.")
    text = _text(value)
    if len(text) > VALUE_CHARACTERS_MAX:
        raise InvalidMetadata("too_long", f"A metadata value has at most {VALUE_CHARACTERS_MAX:,} characters.")
    return text or None


def merge(current: Mapping[str, str], changes: Mapping[str, str | None]) -> dict[str, str]:
    """`current` with the changes applied by name. Beyond the limit new names are left out, known ones still change."""
    merged = dict(current)
    for name, value in changes.items():
        if not value:
            merged.pop(name, None)
        elif name in merged or len(merged) < NAMES_MAX:
            merged[name] = value
    return merged


def typed(type_name: Type, text: str | None) -> str | Decimal | bool | date | None:
    """The value as its declared type reads it; None, that is missing, where it cannot."""
    if not text:
        return None
    if type_name == "number":
        digits = sum(character.isdigit() for character in text)
        return Decimal(text) if _NUMBER.match(text) and digits <= NUMBER_DIGITS_MAX else None
    if type_name == "boolean":
        return _BOOLEANS.get(text.lower())
    if type_name == "date":
        return _date(text)
    return text


class _Reader:
    """Collects the changes and all that is wrong with them."""

    def __init__(self, declared: Declared, strict: bool) -> None:  # noqa: FBT001
        self.declared, self.strict = declared, strict
        self.changes = Changes()
        self.errors: list[FieldError] = []

    def wrong(self, code: str, message: str, pointer: str) -> None:
        self.errors.append(FieldError(code, message, pointer=pointer))

    def read_map(self, kind: Kind, value: object, pointer: str) -> None:
        if value is None or value == []:  # an empty map of PHP
            return
        if not isinstance(value, Mapping):
            self.wrong("wrong_type", "This must be an object of names and values.", pointer)
        elif len(value) > NAMES_MAX:
            self.wrong("too_many", f"A metadata map has at most {NAMES_MAX} names.", pointer)
        else:
            for name, one in value.items():
                self.read_value(kind, str(name), one, f"{pointer}/{escape(str(name))}")

    def read_value(self, kind: Kind, name: str, value: object, pointer: str) -> None:
        try:
            text = read_value(name, value)
        except InvalidMetadata as error:
            return self.wrong(error.code, str(error), pointer)
        definition = (self.declared.questionnaire if kind == "questionnaire" else self.declared.responder).get(name)
        if self.strict and definition is None:
            return self.wrong("unknown_metadata", "This name is not declared.", pointer)
        if self.strict and definition and text and typed(definition.type, text) is None:
            return self.wrong("invalid_format", f"This is not a {definition.type}.", pointer)
        target = self.changes.questionnaire if kind == "questionnaire" else self.changes.responder
        target[name] = text
        return None


def _is_map(value: object) -> bool:
    return isinstance(value, Mapping) or value == []


def _is_name(name: str) -> bool:
    return 1 <= len(name) <= NAME_CHARACTERS_MAX and not any(unicodedata.category(one) == "Cc" for one in name)


def _text(value: str | float | None) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _date(text: str) -> date | None:
    if match := _DATE.match(text):
        year, month, day = match.groups()
    elif match := _DAY_FIRST.match(text):
        day, month, year = match.groups()
    else:
        return None
    try:
        return date(int(year), int(month), int(day))
    except ValueError:
        return None
