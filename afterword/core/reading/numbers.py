"""Numbers as people, shops and spreadsheets write them. No I/O.

A point or a comma is the decimal sign in one country and separates thousands in another. A number that has two
readings is read by the language of its page, or refused: it is never guessed.
"""

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Final

from afterword.core.reading import spellings

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
    amount = _AMOUNT.match(spellings.unmarked(spellings.plain(text).translate(_APOSTROPHES).strip()))
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
