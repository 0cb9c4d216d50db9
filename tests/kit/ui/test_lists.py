"""Lists: addresses without empty values, and keys that no text breaks."""

from datetime import UTC, datetime

import pytest

from afterword.kit.ui.lists import address, key_of, read_key


def test_address() -> None:
    assert "/console/people" == address("/console/people", {"q": "", "tag": None})
    assert "/a?q=%C3%A9+x&page=0&tag=1&tag=2" == address("/a", {"q": "é x", "page": 0}, tag=[1, 2])


def test_key() -> None:
    time = datetime(2026, 11, 25, 15, 55, 0, 123_456, tzinfo=UTC)
    assert (time, "0353nHCk3ejuF8K9XvwB6Q") == read_key(key_of(time, "0353nHCk3ejuF8K9XvwB6Q"))
    latest = read_key("9" * 18)
    assert latest is not None
    assert (9999, "") == (latest[0].year, latest[1])


@pytest.mark.parametrize("text", ["", "_", "x_y", "-1_y", "²_y", "9" * 19 + "_y"])
def test_no_key(text: str) -> None:
    assert read_key(text) is None
