"""Code 128: symbols of the standard's example, the width of each, and texts that it cannot hold."""

import re
from itertools import pairwise

import pytest

from afterword.core.wire import code128


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("PJJ123C", [104, 48, 42, 42, 17, 18, 19, 35, 55, 106]),
        ("1234", [105, 12, 34, 82, 106]),  # two digits a symbol
        ("123", [105, 12, 100, 19, (105 + 12 + 2 * 100 + 3 * 19) % 103, 106]),
        ("7", [104, 23, 24, 106]),
    ],
)
def test_values(text: str, values: list[int]) -> None:
    assert values == code128.values_of(text)
    bars = code128.bars_of(text)
    assert bars is not None
    assert 11 * len(values) + 2 == bars.size
    found = [(int(x), int(width)) for x, width in re.findall(r"M(\d+) 0h(\d+)v1h-\d+z", bars.path)]
    assert 3 * len(values) + 1 == len(found)
    assert all(1 <= width <= 4 for _, width in found)
    assert all(x + width < following for (x, width), (following, _) in pairwise(found))
    assert bars.size == found[-1][0] + found[-1][1]


@pytest.mark.parametrize("text", ["", "Ω", "a\nb", "x" * 41])
def test_refused(text: str) -> None:
    assert code128.bars_of(text) is None
