"""Numbers as people and programs write them: one reading, two, or none."""

from decimal import Decimal

import pytest

from afterword.core.reading import structs
from afterword.core.reading.structs import Ambiguous


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("7", "7"), ("-7", "-7"), ("\u22127", "-7"), ("+7", "7"), ("- 7", "-7"), ("007", "7"), ("1,5", "1.5"),
        ("1.5", "1.5"), ("\u0663\u066b\u0665", "3.5"), ("\u0661\u066c\u0662\u0663\u0664\u066b\u0665", "1234.5"),
        ("\u06f1\u06f2", "12"), ("1 000", "1000"), ("1\u202f000,5", "1000.5"), ("1'000.50", "1000.50"),
        ("1\u2019041.00", "1041.00"), ("1.000,5", "1000.5"), ("1,000.5", "1000.5"), ("1.000.000", "1000000"),
        ("1,00,000", "100000"), ("12,34,567.5", "1234567.5"), ("1 234 567,89", "1234567.89"), ("1234,567", "1234.567"),
        ("0,250", "0.250"), ("0.000", "0"), ("'12.5", "12.5"), ("\u202a12\u202c", "12"), ("\uff11\uff12", "12"),
        ("\u20ac 12,50", "12.50"), ("12,50\u00a0\u20ac", "12.50"), ("-\u20ac5", "-5"), ("\u20ac-5", "-5"),
        ("CHF 1'041.00", "1041.00"), ("12 EUR", "12"), ("5 z\u0142", "5"), ("$1,234.50", "1234.50"), ("kr 5", "5"),
        ("1.5E-3", "0.0015"), ("4.915112345678E+12", "4915112345678"),
    ],
)  # fmt: skip
def test_one_reading(text: str, number: str) -> None:
    assert Decimal(number) == structs.read(text)


@pytest.mark.parametrize(
    "text",
    ["", "-", "--5", "-\u20ac-5", "1e3", "4,9E+12", "4.90E+12", "1.5.2", "1,2,3", "1.000,000.5", "0,250,000", "1 2",
     "0x10", "½", "12%", "5 kg", "five", "1d5", "1" * 61, " " * 400, "1" * 100_000, "\u20ac"],
)  # fmt: skip
def test_no_reading(text: str) -> None:
    assert structs.read(text) is None


@pytest.mark.parametrize(
    ("text", "thousands"),
    [("1,000", 1000), ("1.000", 1000), ("250,000", 250_000), ("-12,345", -12_345), ("\u20ac 1.041", 1041)],
)
def test_two_readings(text: str, thousands: int) -> None:
    with pytest.raises(Ambiguous) as refusal:
        structs.read(text)
    assert thousands == refusal.value.thousands
    read = {structs.read_as(text, "."), structs.read_as(text, ",")}
    assert {Decimal(thousands), Decimal(thousands) / 1000} == read


@pytest.mark.parametrize(
    ("decimals", "point", "number"),
    [(0, ".", 1234), (2, ".", 1234), (3, ".", None), (0, ",", None), (2, ",", None), (3, ",", Decimal("1.234"))],
)
def test_language_and_decimals(decimals: int, point: str, number: Decimal | None) -> None:
    try:
        assert number == structs.read("1,234", decimals=decimals, point=point)
    except Ambiguous:
        assert number is None
