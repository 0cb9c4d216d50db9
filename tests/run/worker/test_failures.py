"""The text of an unexpected error for people: its kind and its own words, short, without addresses."""

import pytest

from afterword.run.worker.flights import CAUSE_CHARACTERS_MAX, cause_of


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ZeroDivisionError(), "Rendering failed: ZeroDivisionError"),
        (OSError("pipe to ann@example.com"), "Rendering failed: OSError: pipe to [address]"),
        (ValueError("for ANN-1"), "Rendering failed: ValueError: for [address]"),
        (ValueError("x" * 999), "Rendering failed: ValueError: " + "x" * CAUSE_CHARACTERS_MAX),
    ],
)
def test_cause(error: Exception, text: str) -> None:
    assert text == cause_of("Rendering failed", error, "ANN-1")
