"""Days off: which countries are known, and what is asked of a day."""

from datetime import date

import pytest

from afterword.core.scheduling.holidays import DaysOff, is_known


class TestHolidays:
    def test_unknown(self) -> None:
        assert [False] * 6 == [is_known(name) for name in ("XX", "GR-XX", "gr", "GR\n", "", "GRC")]

    def test_a_country_no_longer_known_has_none(self) -> None:
        assert date(2026, 12, 25) not in DaysOff("XX")

    @pytest.mark.parametrize("country", ["GR", "DE-BY", "US-CA", "GB-SCT"])
    def test_known(self, country: str) -> None:
        assert is_known(country)
        assert date(2026, 12, 25) in DaysOff(country)

    def test_of_a_part_alone(self) -> None:
        assert date(2026, 1, 6) in DaysOff("DE-BY")
        assert date(2026, 1, 6) not in DaysOff("DE")
