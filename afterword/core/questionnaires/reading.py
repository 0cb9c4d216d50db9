"""Reading a JSON document member by member and writing down everything that is wrong with it, not the first only.

Knows JSON, pointers and limits; what the members mean is with those who read them.
"""

import math
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Final, Literal, TypeGuard, TypeVar

from afterword.core.text import locales

FINDINGS_MAX = 1000
LOCALES_MAX = 30
Severity = Literal["error", "warning"]
Read = TypeVar("Read")
_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}\Z", re.ASCII)


@dataclass(frozen=True, slots=True)
class Finding:
    """One error: `path` is a JSON pointer, `code` stable, `message` a sentence."""

    path: str
    severity: Severity
    code: str
    message: str


@dataclass(slots=True)
class Findings:
    """All that was found while one document was read. `strict` also reports members that nobody reads."""

    strict: bool = False
    found: list[Finding] = field(default_factory=list[Finding])

    @property
    def errors(self) -> list[Finding]:
        """The findings that refuse the document."""
        return [finding for finding in self.found if finding.severity == "error"]

    def error(self, path: str, code: str, message: str) -> None:
        """Write down a fault."""
        self._add(Finding(path, "error", code, message))

    def warning(self, path: str, code: str, message: str) -> None:
        """Write down what is allowed, but probably not meant."""
        self._add(Finding(path, "warning", code, message))

    def _add(self, finding: Finding) -> None:
        if len(self.found) < FINDINGS_MAX:
            self.found.append(finding)


class Members:
    """One JSON object under way: each method takes one member, with its bounds (both included) and its default.

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
        """The JSON pointer of a member."""
        return f"{self.path}/{escape(name)}"

    def error(self, name: str, code: str, message: str) -> None:
        """Report a member."""
        self.findings.error(self.pointer(name), code, message)

    def take(self, name: str) -> object:
        """The member as it is, or None; it counts as read."""
        self._read.add(name)
        return self._members.get(name)

    def has(self, name: str) -> bool:
        """Whether the member is there and not null."""
        return self._members.get(name) is not None

    def text(self, name: str, low: int, high: int) -> str | None:
        """A text of `low` to `high` characters, or None. Spaces alone are no text: nobody would see them."""
        value = self.take(name)
        if value is None:
            return None
        if not isinstance(value, str):
            self.error(name, "wrong_type", "A text is expected.")
            return None
        value = value if value.strip() else ""
        return value if self._fits(name, value, low, high) else None

    def required_text(self, name: str, low: int, high: int) -> str:
        """A text that must be there; empty when it is not, and reported."""
        if not self.has(name):
            self.take(name)
            self.error(name, "required", f"A {_words(name)} is required.")
            return ""
        return self.text(name, low, high) or ""

    def integer(self, name: str, low: int, high: int, default: int) -> int:
        """A whole number from `low` to `high`."""
        value = self.optional_integer(name, low, high)
        return default if value is None else value

    def optional_integer(self, name: str, low: int, high: int) -> int | None:
        """A whole number from `low` to `high`, or None."""
        value = self.take(name)
        if value is None:
            return None
        if not is_integer(value):
            self.error(name, "wrong_type", "A whole number is expected.")
            return None
        if not low <= value <= high:
            self.error(name, "out_of_range", f"A number from {low} to {high} is expected.")
            return None
        return value

    def required_integer(self, name: str, low: int, high: int) -> int:
        """A whole number that must be there; `low` when it is not, and reported."""
        if not self.has(name):
            self.take(name)
            self.error(name, "required", f"A {_words(name)} is required.")
            return low
        return self.integer(name, low, high, low)

    def number(self, name: str, digits_max: int) -> int | float | None:
        """A number of at most `digits_max` digits, so that a double keeps it as it is written; or None."""
        value = self.take(name)
        if value is None:
            return None
        if not is_number(value):
            self.error(name, "wrong_type", "A number is expected.")
            return None
        if digits_of(value) > digits_max:
            self.error(name, "out_of_range", f"A number of at most {digits_max} digits is expected.")
            return None
        return plain(value)

    def date(self, name: str) -> str | None:
        """A day as YYYY-MM-DD, or None."""
        value = self.take(name)
        if value is None:
            return None
        if not is_date(value):
            self.error(name, "invalid_format", "A date such as 2026-11-21 is expected.")
            return None
        return value

    def boolean(self, name: str, *, default: bool) -> bool:
        """True or false."""
        value = self.take(name)
        if value is None:
            return default
        if not isinstance(value, bool):
            self.error(name, "wrong_type", "true or false is expected.")
            return default
        return value

    def one_of(self, name: str, allowed: Sequence[str], default: str) -> str:
        """One of a few words."""
        value = self.take(name)
        if value is None:
            return default
        if not isinstance(value, str) or value not in allowed:
            self.error(name, "unknown_value", f"One of {', '.join(allowed)} is expected.")
            return default
        return value

    def locale(self, name: str) -> str | None:
        """A language tag in its stored form, or None."""
        value = self.take(name)
        if value is None:
            return None
        return read_locale(value, self.pointer(name), self.findings)

    def items(self, name: str, low: int, high: int) -> list[tuple[str, object]]:
        """The entries of an array of `low` to `high`, each with its pointer. Absent is empty, reported if low > 0."""
        value = self.take(name)
        if value is None and low == 0:
            return []
        if value is None:
            self.error(name, "required", f"At least {low} of {_words(name)} must be given.")
            return []
        if not is_array(value):
            self.error(name, "wrong_type", "A list is expected.")
            return []
        if len(value) < low:
            self.error(name, "too_few", f"At least {low} of {_words(name)} must be given.")
        if len(value) > high:
            self.error(name, "too_many", f"At most {high} of {_words(name)} are possible.")
        return [(f"{self.pointer(name)}/{index}", entry) for index, entry in enumerate(value[:high])]

    def entries(self, name: str, high: int) -> list[tuple[str, str, object]]:
        """The members of an object that is a map: pointer, name and value of each; absent is empty."""
        value = self.take(name)
        if value is None:
            return []
        if not is_object(value):
            self.error(name, "wrong_type", "An object is expected.")
            return []
        if len(value) > high:
            self.error(name, "too_many", f"At most {high} of {_words(name)} are possible.")
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

    def _fits(self, name: str, value: str, low: int, high: int) -> bool:
        if not is_printable(value):
            self.error(name, "invalid_format", "Control characters are not allowed.")
            return False
        if len(value) < low:
            self.error(name, "too_short", f"At least {low} character{'s' * (low > 1)} must be given.")
            return False
        if len(value) > high:
            self.error(name, "too_long", f"At most {high} characters are possible.")
            return False
        return True


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
            members.findings.error(path, "unknown_value", f"One of {', '.join(locales) or 'no language'} is expected.")
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


def escape(name: str) -> str:
    """A member's name as a part of a JSON pointer (RFC 6901 section 3)."""
    return name.replace("~", "~0").replace("/", "~1")


def is_object(value: object) -> TypeGuard[Mapping[str, object]]:
    """Whether it is a JSON object."""
    return isinstance(value, Mapping)


def is_array(value: object) -> TypeGuard[Sequence[object]]:
    """Whether it is a JSON array."""
    return isinstance(value, list | tuple)


def is_integer(value: object) -> TypeGuard[int]:
    """Whether it is a JSON integer; Python would call true one as well."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether it is a JSON number; infinities are none."""
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
    """Whether it is a day as YYYY-MM-DD."""
    if not isinstance(value, str) or not _DATE.match(value):
        return False
    try:
        return bool(date.fromisoformat(value))
    except ValueError:
        return False


def is_printable(text: str) -> bool:
    """Whether no control character but line break and tab, and no lone surrogate, is in it."""
    return text.isprintable() or all(
        character in "\n\t" or unicodedata.category(character) not in {"Cc", "Cs"} for character in text
    )


def _words(name: str) -> str:
    return name.replace("_", " ")
