"""Formats of dates and numbers of a list: the evidence for each, and reading by it."""

import pytest

from afterword.core.wire import imports
from afterword.core.wire.imports import Seen


@pytest.mark.parametrize(
    ("kind", "values", "seen", "expected"),
    [
        ("date", "31/12/2026 1/2/26 2026-12-31 x", (2, 1, 0), "day"),
        ("date", "12/31/2026 1/2/26", (2, 0, 1), "month"),
        ("date", "31/12/2026 12/31/2026", (2, 1, 1), None),
        ("date", "1/2/2026 5-5-2026 13.13.2026 1.2-2026", (2, 0, 0), None),
        ("number", "3,50 12 1.234", (2, 1, 0), "comma"),
        ("number", "3.5 1,234,567 1,234", (3, 2, 0), "point"),
        ("number", "1.234,5 1,234.5 1,2,3", (2, 1, 1), None),
        ("number", "12 -7 x", (0, 0, 0), ""),
    ],
)
def test_seen(kind: imports.Written, values: str, seen: tuple[int, int, int], expected: str | None) -> None:
    text = "Name;Value\n" + "".join(f"x;{value}\n" for value in values.split()) + 'short\n"x"y;1\n'
    found = imports.look(text, ";", {"Value": kind, "gone": kind}).get("Value", Seen(kind))
    total, *proved = seen
    assert total == found.total
    assert sorted(proved) == sorted((found.only_first, found.only_second))
    assert expected == found.format


@pytest.mark.parametrize(
    ("written", "cell", "expected"),
    [
        ("day", " 3.4.26 ", "2026-04-03"),
        ("day", "31/12/2026 9:05", "2026-12-31 09:05"),
        ("day", "31/12/2026, 19:05:07", "2026-12-31 19:05:07"),
        ("month", "3/4/2026", "2026-03-04"),
        ("month", "31/12/2026", "2026-31-12"),
        ("month", "2026-12-31", "2026-12-31"),
        ("comma", "-1.234.567,50", "-1234567.50"),
        ("comma", "1 234,5", "1234.5"),
        ("comma", "1.234", "1234"),
        ("comma", "3.5", "3.5?"),
        ("point", "1,234.50", "1234.50"),
        ("point", "3,5", "3,5?"),
        ("point", "many", "many"),
    ],
)
def test_read(written: str, cell: str, expected: str) -> None:
    """A text that the format excludes becomes no date and no number, so that the row is refused and not guessed."""
    assert expected == imports.readers({"Value": written})["Value"](cell)
