"""The public registers: what is in them and what only looks like it."""

import pytest

from afterword.core.text import registers


@pytest.mark.parametrize("code", ["GR", "DE", "US", "XK", "AQ"])
def test_countries(code: str) -> None:
    assert code in registers.countries()


@pytest.mark.parametrize("code", ["EU", "ZZ", "XA", "UN", "gr", "GRC", "", "419"])
def test_no_countries(code: str) -> None:
    assert code not in registers.countries()


@pytest.mark.parametrize("code", ["EUR", "USD", "JPY", "XAF"])
def test_currencies(code: str) -> None:
    assert code in registers.currencies()


@pytest.mark.parametrize("code", ["DEM", "GRD", "XXX", "eur", ""])
def test_no_currencies(code: str) -> None:
    assert code not in registers.currencies()
