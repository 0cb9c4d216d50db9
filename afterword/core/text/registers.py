"""Countries and currencies as the public registers name them: ISO 3166-1 and ISO 4217."""

from functools import cache
from typing import Any, Final

from babel.core import Locale, get_global

COUNTRY_LETTERS: Final = 2
# Of CLDR's two-letter territories these are no countries of ISO 3166-1: unions, outlying islands, test regions.
_NO_COUNTRIES: Final = frozenset({"AC", "CP", "CQ", "DG", "EA", "EU", "EZ", "IC", "QO", "TA", "UN", "XA", "XB", "ZZ"})


@cache
def countries() -> frozenset[str]:
    """The two-letter codes of countries, and XK, which its own people and their banks use."""
    names: Any = Locale("en").territories  # of which the library says too little
    return frozenset(str(code) for code in names if len(code) == COUNTRY_LETTERS and code.isalpha()) - _NO_COUNTRIES


@cache
def currencies() -> frozenset[str]:
    """The three-letter codes of currencies that are legal tender somewhere now."""
    territories = get_global("territory_currencies")
    return frozenset(code for used in territories.values() for code, _, end, is_tender in used if is_tender and not end)
