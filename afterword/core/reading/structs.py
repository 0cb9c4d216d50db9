"""Reads JSON as a Struct by its annotations. Every wrong member is an error; unknown ones are ignored.

Readers are built once for each type. The `extra` of an annotation may name a `text` (a TextKind), `expected` (the
sentence for a text that does not match its pattern) or `reader` (a Reader of its own).
"""

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, tzinfo
from decimal import Decimal
from functools import cache
from typing import Any, Final, NamedTuple, TypeVar, cast

import msgspec
from msgspec import inspect

from afterword.core.reading.documents import BOOLEANS, is_object
from afterword.core.reading.findings import Findings, at_parameter, escape
from afterword.errors import Invalid, Sentence

CHARACTERS_MAX: Final = 60
_GROUP: Final = 3  # digits between two separators

_APOSTROPHES: Final = str.maketrans({"\u066c": "'", "\u2019": "'"})  # the Arabic sign between thousands is read as one
_CURRENCY: Final = (
    r"(?:[$\u00a2-\u00a5\u058f\u060b\u09f2\u09f3\u0e3f\u17db\u20a0-\u20cf\ufdfc\ufe69\uff04\uffe0\uffe1\uffe5\uffe6]"
    r"|EUR|USD|GBP|CHF|JPY|PLN|CZK|SEK|NOK|DKK|HUF|RON|BGN|TRY|UAH|ILS|kr\.?|z\u0142|K\u010d|Ft|lei|TL|Fr\.|\u043b\u0432\.?)"
)
_AMOUNT: Final = re.compile(
    rf"([-+]?) ?(?:{_CURRENCY} ?)?([-+]?) ?(\d[^a-zA-Z$]*?(?:E[-+]\d{{1,2}})?)(?: ?{_CURRENCY})?\Z", re.IGNORECASE
)
_DIGITS: Final[Mapping[str, re.Pattern[str]]] = {
    point: re.compile(
        rf"(?:[1-9]\d{{0,2}}([ '{group}])\d{{3}}(?:\1\d{{3}})*|[1-9]\d?(?:{group}\d{{2}})+{group}\d{{3}}|\d+)"
        rf"(?:[\u066b{point}](\d+))?\Z|\d(?:[\u066b{point}]\d+)?E[-+]\d{{1,2}}\Z",
        re.ASCII | re.IGNORECASE,
    )
    for point, group in ((".", ","), (",", r"\."))
}


class Declared(msgspec.Struct, frozen=True):
    """A type, with null and annotations separated from it."""

    type: inspect.Type
    is_nullable: bool
    extra: Mapping[str, Any]  # of the annotations; the outermost wins
    schema: Mapping[str, Any]  # likewise, for the JSON schema

    @property
    def kind(self) -> str:
        """Name of the annotated type, such as `id`; empty for a plain one."""
        return str(self.extra.get("kind", ""))


class Member(Declared, frozen=True):
    name: str
    is_required: bool
    default: Any


@cache
def members_of(struct: type[msgspec.Struct]) -> tuple[Member, ...]:
    fields = cast("inspect.StructType", inspect.type_info(struct)).fields
    found = [(declared_of(each.type), each) for each in fields]
    return tuple(
        Member(own.type, own.is_nullable, own.extra, own.schema, each.name, each.required, each.default)
        for own, each in found
    )


def declared_of(kind: inspect.Type) -> Declared:
    if isinstance(kind, inspect.Metadata):
        own = declared_of(kind.type)
        extra, schema = {**own.extra, **(kind.extra or {})}, {**own.schema, **(kind.extra_json_schema or {})}
        return Declared(own.type, own.is_nullable, extra, schema)
    if isinstance(kind, inspect.UnionType):
        rest = [each for each in kind.types if not isinstance(each, inspect.NoneType)]
        own = declared_of(rest[0]) if len(rest) == 1 else Declared(inspect.UnionType(tuple(rest)), False, {}, {})
        return Declared(own.type, own.is_nullable or len(rest) < len(kind.types), own.extra, own.schema)
    return Declared(kind, isinstance(kind, inspect.AnyType), {}, {})


class Ambiguous(ValueError):
    """A number with two readings; `thousands` is the one without decimals."""

    def __init__(self, thousands: int) -> None:
        super().__init__("A number with two readings.")
        self.thousands = thousands


def read_as(text: str, point: str) -> Decimal | None:
    """The number with this decimal sign (`.` or `,`), where the other one separates thousands; None for no number.

    Currencies, and what separates thousands in any country, are left out.
    """
    if len(text) > CHARACTERS_MAX:
        return None
    amount = _AMOUNT.match(unmarked(plain(text).translate(_APOSTROPHES).strip()))
    if amount is None or (amount[1] and amount[2]) or not _DIGITS[point].match(amount[3]):
        return None
    digits = re.sub(r"[^\dEe+-]", lambda sign: "." if sign[0] in {"\u066b", point} else "", amount[3])
    value = Decimal(f"{amount[1]}{amount[2]}{digits}")
    return None if int(value.as_tuple().exponent) > 0 else value  # of 4,9E+12 a spreadsheet has left digits away


def read(text: str, *, decimals: int | None = None, point: str = "") -> Decimal | None:
    """The number, or None. `decimals`: so many are possible; `point`: the decimal sign of the page's language.

    Raises Ambiguous where that is needed to tell `1,000` from 1: a thousand is never taken for a one.
    """
    by_point, by_comma = read_as(text, "."), read_as(text, ",")
    if by_point is None or by_comma is None or by_point == by_comma:
        return by_comma if by_point is None else by_point
    thousands = max(by_point, by_comma, key=abs)
    chosen = {".": by_point, ",": by_comma}.get(point)
    if decimals is None or chosen is None or (chosen == thousands) != (decimals < _GROUP):
        raise Ambiguous(int(thousands))
    return chosen


# Category Cf as far as nothing of it is drawn, and the fillers and selectors that show nothing either.
_INVISIBLE: Final = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u3164\ufeff\uffa0"
    + "".join(
        chr(number)
        for first, last in (
            (0x180B, 0x180F), (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0xFE00, 0xFE0F), (0xFFF9, 0xFFFB),
            (0x1BCA0, 0x1BCA3), (0xE0001, 0xE007F), (0xE0100, 0xE01EF),
        )
        for number in range(first, last + 1)
    )
)  # fmt: skip
INVISIBLE: Final = re.compile(f"[{_INVISIBLE}]")
_AROUND: Final = _INVISIBLE + "".join(chr(one) for one in range(0x3001) if chr(one).isspace())
_SPELLED_NUMBER: Final = re.compile(r"\+?[\d\s().,/-]{3,40}", re.ASCII)
_DECIMALS: Final = re.compile(r"(\+?[1-9]\d{6,})[.,]00?", re.ASCII)
_MARK: Final = re.compile(r"'(?=[-+=@\d])")
_DASHES: Final = dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d"), "-")


def trimmed(text: str) -> str:
    """The text without blanks and invisible characters at its ends."""
    return text.strip() if text.isascii() else text.strip(_AROUND)


def plain(text: str) -> str:
    """A text of digits and signs: nothing invisible, every dash `-`, every blank a space, every digit one of ASCII."""
    if text.isascii():
        return text
    return "".join(map(_plain, INVISIBLE.sub("", text).translate(_DASHES)))


def _plain(character: str) -> str:
    if character.isdecimal():
        return str(unicodedata.decimal(character))
    return " " if unicodedata.category(character) == "Zs" else character


def unmarked(text: str) -> str:
    """The text without the apostrophe by which spreadsheets, and our own CSV, keep `+`, `-`, `=`, `@` or digits."""
    return text[1:] if _MARK.match(text) else text


def cleaned(address: str) -> str:
    """An address without what a spreadsheet added: blanks, apostrophes, decimals of a phone number."""
    text = trimmed(address)
    if "@" in text:
        return text[1:].removesuffix("'") if text.startswith("'") and text[1].isalnum() else text
    number = unmarked(plain(text)).strip()
    if not _SPELLED_NUMBER.fullmatch(number):
        return unmarked(text)
    return match[1] if (match := _DECIMALS.fullmatch(number)) else number


TEXT_CHARACTERS_MAX = 4096
LIST_ENTRIES_MAX = 1000
RESERVED: Final = frozenset({"fields", "response_fields"})  # "all fields", or which; never members of a resource

_INTEGER = re.compile(r"-?[0-9]{1,18}\Z", re.ASCII)
_NUMBER = re.compile(r"-?[0-9]{1,18}(?:\.[0-9]{1,18})?\Z", re.ASCII)
_ABSENT: Final = object()

Struct = TypeVar("Struct", bound=msgspec.Struct)


class Context(Findings, kw_only=True):
    """Options of reading, and the errors so far. `strict`: unknown members are errors for all Structs."""

    now: datetime
    zone: tzinfo
    lax: bool = False  # forms, queries, JSON without its label: scalars are typed by the member
    partial: bool = False  # PATCH: null is a value, not an absence
    replaces: bool = False  # PUT: likewise, for members that may be left out

    @property
    def is_query(self) -> bool:
        return self.place is at_parameter


Reader = Callable[[Any, str, Context], Any]
"""Takes a value of JSON that is not null and its pointer; returns None where it adds errors to the context."""


class TextKind(NamedTuple):
    """A text with a meaning. For others `parse` raises ValueError or returns nothing true.

    Its result is the value read where it `converts`.
    """

    parse: Callable[[str], object]
    code: str
    message: str
    converts: bool = False


def read_row(
    kind: type[Struct], document: object, context: Context, *, read_only: frozenset[str] = frozenset()
) -> Struct | Invalid:
    """As `collect`, but returns the refusal, with the record; leaves the context without errors for the next row."""
    value = collect(kind, document, context, read_only=read_only)
    if not context.found:
        return cast("Struct", value)
    refusal = Invalid.of(*context.errors, record=document if is_object(document) else None)
    context.found.clear()
    return refusal


def collect(
    kind: type[Struct], document: object, context: Context, *, read_only: frozenset[str] = frozenset()
) -> Struct | None:
    """Read `document` as a `kind`; adds errors to the context and returns None when there are any.

    `read_only`: members of the answer, for which strict reading has an error of their own.
    """
    value = struct_reader(kind)(document, "", context)
    if context.strict or kind.__struct_config__.forbid_unknown_fields:
        _refuse_unknown(document, "", context, kind.__struct_fields__, read_only if context.strict else frozenset())
    return cast("Struct | None", value)


@cache
def struct_reader(kind: type[msgspec.Struct]) -> Reader:
    """Build the reader of a Struct; raises TypeError for a type without a reader."""
    members = [(each, reader_of(each)) for each in members_of(kind)]

    def read_struct(value: Any, pointer: str, context: Context) -> Any:
        if type(value) is not dict:
            if value != []:  # PHP writes its empty map as a list
                context.error(pointer, "wrong_type", "An object is expected.")
                return None
            value = {}
        found: dict[str, Any] = {}
        for member, reader in members:
            name = member.name
            given = value.get(name, _ABSENT)
            if given is _ABSENT:
                if member.is_required:
                    context.error(f"{pointer}/{name}", "required", "This is required.")
            elif given is None or (given == "" and context.lax and member.is_nullable):
                _read_null(member, f"{pointer}/{name}", context, found)
            else:
                found[name] = reader(given, f"{pointer}/{name}", context)
        return None if context.found else kind(**found)

    return read_struct


def _read_null(member: Member, pointer: str, context: Context, found: dict[str, Any]) -> None:
    is_told_apart = member.is_required or (context.replaces and member.default is msgspec.NODEFAULT)
    if member.is_nullable and (context.partial or is_told_apart):
        found[member.name] = None
    elif context.partial:
        context.error(pointer, "not_nullable", "This cannot be null.")
    elif member.is_required:
        context.error(pointer, "required", "This is required.")


def _refuse_unknown(
    value: object, pointer: str, context: Context, known: Sequence[str], read_only: frozenset[str] = frozenset()
) -> None:
    for name in cast("dict[str, object]", value) if isinstance(value, dict) else ():
        if name in known or (name in RESERVED and not pointer):
            continue
        if name in read_only:
            context.error(f"{pointer}/{escape(name)}", "read_only", "This is set by the service.")
        else:
            message = Sentence("There is no such member here. There are: {names}.", names=", ".join(known))
            context.error(f"{pointer}/{escape(name)}", "unknown_member", message)


# Readers of types ----------------------------------------------------------------------------------------------------


def reader_of(declared: Declared) -> Reader:
    if "reader" in declared.extra:
        return cast("Reader", declared.extra["reader"])
    reader = _plain_reader(declared.type, str(declared.extra.get("expected", "This does not have the expected form.")))
    return meaning_reader(reader, declared.extra["text"]) if "text" in declared.extra else reader


def _plain_reader(kind: inspect.Type, expected: str) -> Reader:  # noqa: C901, PLR0911  a line a type
    match kind:
        case inspect.UnionType(types=types):
            return _union_reader([reader_of(declared_of(option)) for option in types])
        case inspect.StructType(cls=struct):
            return _nested_reader(struct)
        case inspect.ListType(item_type=item, min_length=least, max_length=most):
            return _list_reader(reader_of(declared_of(item)), least or 0, LIST_ENTRIES_MAX if most is None else most)
        case inspect.DictType(value_type=value):
            return _map_reader(declared_of(value))
        case inspect.StrType(min_length=least, max_length=most, pattern=pattern):
            return text_reader(least or 0, TEXT_CHARACTERS_MAX if most is None else most, pattern, expected)
        case inspect.BoolType():
            return read_boolean
        case inspect.IntType(gt=None, lt=None, ge=low, le=high):
            return integer_reader(low, high)
        case inspect.FloatType(gt=None, lt=None, ge=low, le=high):
            return number_reader(low, high)
        case inspect.LiteralType(values=values):
            return _choice_reader(values)
        case inspect.AnyType():
            return lambda value, _pointer, _context: value  # checked later by a reader of its own
        case _:
            raise TypeError(f"there is no reader for {kind}")


def meaning_reader(reader: Reader, kind: TextKind) -> Reader:
    def read_meaning(value: Any, pointer: str, context: Context) -> Any:
        text = reader(value, pointer, context)
        if text is None:
            return None
        try:
            parsed = kind.parse(text)
        except ValueError:
            parsed = None
        if parsed:
            return parsed if kind.converts else text
        context.error(pointer, kind.code, kind.message)
        return None

    return read_meaning


def text_reader(
    least: int = 0, most: int = TEXT_CHARACTERS_MAX, pattern: str | None = None, expected: str = ""
) -> Reader:
    shape = re.compile(pattern) if pattern else None
    too_short = _counted("At least {n} character is expected.", "At least {n} characters are expected.", least)
    too_long = _counted("At most {n} character is allowed.", "At most {n} characters are allowed.", most)

    def read_text(value: Any, pointer: str, context: Context) -> Any:
        if context.lax and (type(value) is int or type(value) is float) and not context.is_query:
            value = str(value)  # PHP writes a numeric string as a number
        if type(value) is not str:
            context.error(pointer, "wrong_type", "A text is expected.")
        elif len(value) < least:
            context.error(pointer, "too_short", too_short)
        elif len(value) > most:
            context.error(pointer, "too_long", too_long)
        elif shape is not None and shape.search(value) is None:
            context.error(pointer, "invalid_format", expected)
        else:
            return value
        return None

    return read_text


def read_boolean(value: Any, pointer: str, context: Context) -> bool | None:
    if type(value) is bool:
        return value
    if context.lax and (type(value) is str or type(value) is int) and str(value) in BOOLEANS:
        return BOOLEANS[str(value)]
    context.error(pointer, "wrong_type", "true or false is expected.")
    return None


def integer_reader(low: int | None, high: int | None) -> Reader:
    def read_integer(value: Any, pointer: str, context: Context) -> int | None:
        if context.lax and type(value) is str and _INTEGER.match(value):
            value = int(value)
        if type(value) is not int:
            context.error(pointer, "wrong_type", "An integer is expected.")
            return None
        return value if _lies_between(value, low, high, pointer, context) else None

    return read_integer


def number_reader(low: float | None = None, high: float | None = None) -> Reader:
    def read_number(value: Any, pointer: str, context: Context) -> float | None:
        if context.lax and type(value) is str and _NUMBER.match(value):
            value = float(value)
        if type(value) is not int and type(value) is not float:
            context.error(pointer, "wrong_type", "A number is expected.")
            return None
        return float(value) if _lies_between(value, low, high, pointer, context) else None

    return read_number


def _lies_between(value: float, low: float | None, high: float | None, pointer: str, context: Context) -> bool:
    if low is not None and high is not None and not low <= value <= high:
        message = Sentence("It must lie between {low} and {high}.", low=low, high=high)
    elif low is not None and not low <= value:
        message = Sentence("At least {low} is expected.", low=low)
    elif high is not None and not value <= high:
        message = Sentence("At most {high} is allowed.", high=high)
    else:
        return True
    context.error(pointer, "out_of_range", message)
    return False


def _choice_reader(choices: tuple[str | int | None, ...]) -> Reader:
    kinds = {type(choice) for choice in choices}
    allowed = ", ".join(map(str, choices))
    by_text = {str(choice): choice for choice in choices}

    def read_choice(value: Any, pointer: str, context: Context) -> Any:
        is_text = context.lax and type(value) is str
        if is_text:
            value = by_text.get(value, value)
        if type(value) not in kinds and not is_text:
            context.error(pointer, "wrong_type", "A text is expected." if str in kinds else "An integer is expected.")
            return None
        if value not in choices:
            context.error(pointer, "unknown_value", Sentence("One of these is expected: {allowed}.", allowed=allowed))
            return None
        return value

    return read_choice


def _union_reader(readers: list[Reader]) -> Reader:
    def read_union(value: Any, pointer: str, context: Context) -> Any:
        before, tries = len(context.found), []
        for reader in readers:
            found = reader(value, pointer, context)
            if len(context.found) == before:
                return found
            tries.append(context.found[before:])
            del context.found[before:]
        # the errors of the option that got furthest are the most useful
        context.found += max(tries, key=lambda wrong: all(each.code != "wrong_type" for each in wrong))
        return None

    return read_union


def _list_reader(item: Reader, least: int, most: int) -> Reader:
    too_many = _counted("At most {n} entry is allowed.", "At most {n} entries are allowed.", most)
    too_few = _counted("At least {n} entry is expected.", "At least {n} entries are expected.", least)

    def read_list(value: Any, pointer: str, context: Context) -> Any:
        entries = value if type(value) is list else _listed(value, context)
        if entries is None:
            context.error(pointer, "wrong_type", "A list is expected.")
        elif len(entries) > most:
            context.error(pointer, "too_many", too_many)
        elif len(entries) < least:
            context.error(pointer, "too_few", too_few)
        else:
            return [item(entry, f"{pointer}/{index}", context) for index, entry in enumerate(entries)]
        return None

    return read_list


def _listed(value: Any, context: Context) -> list[Any] | None:
    """Convert the list of a query or form: `type=a,b`, `type[0]=a&type[1]=b`."""
    if context.is_query and type(value) is str:
        return cast("list[Any]", value.split(","))
    return as_list(value) if context.lax else None


def as_list(value: object) -> list[Any] | None:
    """Convert a map with the keys 0, 1, … n to a list; None for anything but that or a list."""
    if isinstance(value, list):
        return cast("list[Any]", value)
    if isinstance(value, dict):
        entries = cast("dict[str, Any]", value)
        if all(name == str(index) for index, name in enumerate(entries)):
            return list(entries.values())
    return None


def _map_reader(declared: Declared) -> Reader:
    reader, nullable = reader_of(declared), declared.is_nullable

    def read_map(value: Any, pointer: str, context: Context) -> Any:
        if type(value) is not dict:
            if value != []:
                context.error(pointer, "wrong_type", "An object is expected.")
            return {}
        return {
            name: None if entry is None and nullable else reader(entry, f"{pointer}/{escape(name)}", context)
            for name, entry in value.items()
        }

    return read_map


def _nested_reader(kind: type[msgspec.Struct]) -> Reader:
    def read_nested(value: Any, pointer: str, context: Context) -> Any:
        found = struct_reader(kind)(value, pointer, context)
        if context.strict or kind.__struct_config__.forbid_unknown_fields:
            _refuse_unknown(value, pointer, context, kind.__struct_fields__)
        return found

    return read_nested


def _counted(one: str, many: str, number: int) -> Sentence:
    return Sentence(one if number == 1 else many, n=number)
