"""Reads a JSON document member by member, for readers that know their members by more than a type."""

import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Any, Final, TypeGuard, TypeVar

from afterword.core.reading.findings import Findings, escape
from afterword.core.text import locales
from afterword.errors import Sentence

LOCALES_MAX = 30
Read = TypeVar("Read")
BOOLEANS: Final[Mapping[str, bool]] = {"1": True, "true": True, "0": False, "false": False}  # as texts
_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}\Z", re.ASCII)
_TIME: Final = re.compile(r"([01]\d|2[0-3]):[0-5]\d\Z", re.ASCII)


class Members:
    """The members of one JSON object: each method takes one, with its bounds (both included) and its default.

    Null counts as absent. A wrong member is reported and read as its default, so that the reading can go on.
    """

    def __init__(self, document: object, path: str, findings: Findings) -> None:
        self.path = path
        self.findings = findings
        self._members: Mapping[str, object] = {}
        self._read: set[str] = set()
        if is_object(document):
            self._members = document
        else:
            findings.error(path, "wrong_type", "An object is expected.")

    def pointer(self, name: str) -> str:
        return f"{self.path}/{escape(name)}"

    def error(self, name: str, code: str, message: str) -> None:
        self.findings.error(self.pointer(name), code, message)

    def take(self, name: str) -> object:
        """The member as it is, or None; it counts as read."""
        self._read.add(name)
        return self._members.get(name)

    def has(self, name: str) -> bool:
        """True where the member is there and not null."""
        return self._members.get(name) is not None

    def raw_text(self, name: str) -> str | None:
        return self._take(name, is_text, "wrong_type", "A text is expected.")

    def text(self, name: str, low: int, high: int) -> str | None:
        """A text of `low` to `high` characters, or None. Spaces alone are no text: nobody would see them."""
        value = self.raw_text(name)
        if value is None:
            return None
        value = value if value.strip() else ""
        if not is_printable(value):
            self.error(name, "invalid_format", "Control characters are not allowed.")
        elif len(value) < low:
            short = Sentence("At least {n} characters must be given.", n=low)
            self.error(name, "too_short", "A text is needed here." if low == 1 else short)
        elif len(value) > high:
            self.error(name, "too_long", Sentence("At most {n} characters are possible.", n=high))
        else:
            return value
        return None

    def required_text(self, name: str, low: int, high: int) -> str:
        """A text that must be there; empty when it is not, and reported."""
        return (self.text(name, low, high) if self._require(name) else None) or ""

    def integer(self, name: str, low: int, high: int, default: int) -> int:
        value = self.optional_integer(name, low, high)
        return default if value is None else value

    def optional_integer(self, name: str, low: int, high: int) -> int | None:
        value = self._take(name, is_integer, "wrong_type", "A whole number is expected.")
        if value is None or low <= value <= high:
            return value
        self.error(name, "out_of_range", Sentence("A number from {low} to {high} is expected.", low=low, high=high))
        return None

    def required_integer(self, name: str, low: int, high: int) -> int:
        """A whole number that must be there; `low` when it is not, and reported."""
        return self.integer(name, low, high, low) if self._require(name) else low

    def number(self, name: str, digits_max: int) -> int | float | None:
        """A number of at most `digits_max` digits, so that a double keeps it as it is written; or None."""
        value = self._take(name, is_number, "wrong_type", "A number is expected.")
        if value is None:
            return None
        if digits_of(value) > digits_max:
            self.error(name, "out_of_range", Sentence("A number of at most {n} digits is expected.", n=digits_max))
            return None
        return plain(value)

    def date(self, name: str) -> str | None:
        """A day as YYYY-MM-DD, or None."""
        return self._take(name, is_date, "invalid_format", "A date such as 2026-11-21 is expected.")

    def boolean(self, name: str, *, default: bool) -> bool:
        value = self._take(name, is_boolean, "wrong_type", "true or false is expected.")
        return default if value is None else value

    def one_of(self, name: str, allowed: Sequence[str], default: str) -> str:
        def is_allowed(value: object) -> TypeGuard[str]:
            return isinstance(value, str) and value in allowed

        return self._take(name, is_allowed, "unknown_value", expected_of(allowed)) or default

    def locale(self, name: str) -> str | None:
        """A language tag in its stored form, or None."""
        value = self.take(name)
        return None if value is None else read_locale(value, self.pointer(name), self.findings)

    def items(self, name: str, low: int, high: int) -> list[tuple[str, object]]:
        """The entries of an array of `low` to `high`, each with its pointer. Absent is empty, reported if low > 0."""
        if low > 0 and not self.has(name):
            self.error(name, "required", _count("At least {n} {name} must be given.", low, name))
        value = self._take(name, is_array, "wrong_type", "A list is expected.")
        if value is None:
            return []
        if len(value) < low:
            self.error(name, "too_few", _count("At least {n} {name} must be given.", low, name))
        if len(value) > high:
            self.error(name, "too_many", _count("At most {n} {name} are possible.", high, name))
        return [(f"{self.pointer(name)}/{index}", entry) for index, entry in enumerate(value[:high])]

    def entries(self, name: str, high: int) -> list[tuple[str, str, object]]:
        """The members of an object that is a map: pointer, name and value of each; absent is empty."""
        value = self._take(name, is_object, "wrong_type", "An object is expected.") or {}
        if len(value) > high:
            self.error(name, "too_many", _count("At most {n} {name} are possible.", high, name))
        return [(f"{self.pointer(name)}/{escape(key)}", key, entry) for key, entry in list(value.items())[:high]]

    def finish(self) -> None:
        """Report what nobody read, where the findings are strict: a misspelt name must not pass in silence."""
        if self.findings.strict:
            self.refuse_others("There is no such field here.")

    def refuse_others(self, message: str) -> None:
        """Report what nobody read, strict or not."""
        for name in self._members:
            if name not in self._read:
                self.error(name, "unknown_member", message)

    def _take(self, name: str, fits: Callable[[object], TypeGuard[Read]], code: str, message: str) -> Read | None:
        value = self.take(name)
        if value is None or fits(value):
            return value
        self.error(name, code, message)
        return None

    def _require(self, name: str) -> bool:
        if self.has(name):
            return True
        self.take(name)
        self.error(name, "required", "This is required.")
        return False


def expected_of(values: Iterable[str]) -> Sentence:
    return Sentence("One of {values} is expected.", values=", ".join(values))


def _count(text: str, n: int, name: str) -> Sentence:
    return Sentence(text, n=n, name=Sentence(_words(name)))


def read_by_locale(
    members: Members, name: str, locales: Sequence[str], read: Callable[[Members], Read]
) -> dict[str, Read]:
    """A map from language tag to an object, for the languages of `locales` (stored forms) and no others."""
    texts: dict[str, Read] = {}
    for path, tag, entry in members.entries(name, LOCALES_MAX):
        locale = read_locale(tag, path, members.findings)
        if locale is None:
            continue
        if locale not in locales or locale in texts:
            members.findings.error(path, "unknown_value", expected_of(locales or [Sentence("no language")]))
            continue
        below = Members(entry, path, members.findings)
        texts[locale] = read(below)
        below.finish()
    return texts


def read_locale(value: object, path: str, findings: Findings) -> str | None:
    """A language tag in its stored form; reported and None when it is none."""
    if not isinstance(value, str):
        findings.error(path, "wrong_type", "A language tag is expected, such as el or en-US.")
        return None
    try:
        return locales.normalise(value)
    except locales.InvalidLocale as error:
        findings.error(path, "invalid_locale", str(error))
        return None


def is_text(value: object) -> TypeGuard[str]:
    return isinstance(value, str)


def is_boolean(value: object) -> TypeGuard[bool]:
    return isinstance(value, bool)


def is_object(value: object) -> TypeGuard[Mapping[str, object]]:
    return isinstance(value, Mapping)


def is_array(value: object) -> TypeGuard[Sequence[object]]:
    return isinstance(value, list | tuple)


def is_integer(value: object) -> TypeGuard[int]:
    """True for JSON integers; Python would call true one as well."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value: object) -> TypeGuard[int | float]:
    """True for JSON numbers; infinities are none."""
    return is_integer(value) or (isinstance(value, float) and math.isfinite(value))


def plain(value: float) -> int | float:
    """The number as JSON writes it best: without a fraction that is zero, and without a negative zero."""
    return int(value) if value == int(value) else value


def digits_of(value: float) -> int:
    """Count the digits of a number, with those after the point."""
    _, digits, exponent = Decimal(str(value)).as_tuple()
    assert isinstance(exponent, int), "infinities are no JSON"  # noqa: S101
    return max(len(digits) + max(exponent, 0), -exponent)


def is_date(value: object) -> TypeGuard[str]:
    if not isinstance(value, str) or not _DATE.match(value):
        return False
    try:
        return bool(date.fromisoformat(value))
    except ValueError:
        return False


def is_time(value: object) -> TypeGuard[str]:
    """Whether it is a time of day such as 09:30."""
    return isinstance(value, str) and bool(_TIME.match(value))


def is_date_time(value: object) -> TypeGuard[str]:
    """Whether it is a date with a time of day and no zone, such as 2026-11-21T09:30."""
    return isinstance(value, str) and value[10:11] == "T" and is_date(value[:10]) and is_time(value[11:])


def is_printable(text: str) -> bool:
    """True without control characters but line break and tab, and without lone surrogates."""
    return text.isprintable() or all(
        character in "\n\t" or unicodedata.category(character) not in {"Cc", "Cs"} for character in text
    )


def given(thing: object, names: Iterable[str]) -> dict[str, Any]:
    """Those of these members that are not None."""
    return {name: value for name in names if (value := getattr(thing, name)) is not None}


def _words(name: str) -> str:
    return name.replace("_", " ")
