"""Days off: which countries are known, and what is asked of a day."""

from datetime import date

import pytest

from afterword.core.scheduling.windows import DaysOff, is_known, regions_of


class TestHolidays:
    def test_unknown(self) -> None:
        assert [False] * 6 == [is_known(name) for name in ("XX", "GR-XX", "gr", "GR\n", "", "GRC")]

    def test_a_country_no_longer_known_has_none(self) -> None:
        assert date(2026, 12, 25) not in DaysOff("XX")

    @pytest.mark.parametrize("country", ["GR", "DE-BY", "US-CA", "GB-SCT"])
    def test_known(self, country: str) -> None:
        assert is_known(country)
        assert date(2026, 12, 25) in DaysOff(country)

    @pytest.mark.parametrize(
        ("country", "days"),
        [
            ("GR", ["2027-05-02", "2027-06-20"]),  # Orthodox Easter, Whit Sunday
            ("CY", ["2027-05-02", "2027-06-20"]),
            ("RO", ["2027-05-02", "2027-06-20"]),
            ("UA", []),  # law names no feast while it is at war
            ("DE-BY", ["2027-03-28", "2027-05-16"]),
            ("AT", ["2027-03-28", "2027-05-16"]),
            ("FR", ["2027-03-28", "2027-05-16"]),
            ("GB-ENG", ["2027-03-28"]),
            ("US", []),
        ],
    )
    def test_sundays_with_a_feast(self, country: str, days: list[str]) -> None:
        easter_and_whit = ["2027-03-28", "2027-05-02", "2027-05-16", "2027-06-20"]
        assert days == [day for day in easter_and_whit if date.fromisoformat(day) in DaysOff(country)]

    def test_a_holiday_that_is_a_monday_by_chance(self) -> None:
        """The Monday after Orthodox Easter 2024 was the British holiday of early May."""
        assert date(2024, 5, 6) in DaysOff("GB-ENG")
        assert date(2024, 5, 5) not in DaysOff("GB-ENG")

    @pytest.mark.parametrize(
        ("country", "region"), [("CH", "CH-ZH"), ("DE", "DE-BY"), ("ES", "ES-MD"), ("GB", "GB-ENG"), ("AU", "AU-NSW")]
    )
    def test_regions(self, country: str, region: str) -> None:
        assert region in regions_of(country, 2027)

    @pytest.mark.parametrize("country", ["GR", "US", "IT", "AT", "FR", "DE-BY", "XX"])
    def test_no_region_needed(self, country: str) -> None:
        assert not regions_of(country, 2027)

    def test_of_a_part_alone(self) -> None:
        assert date(2026, 1, 6) in DaysOff("DE-BY")
        assert date(2026, 1, 6) not in DaysOff("DE")
