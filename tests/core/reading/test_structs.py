"""Reading documents into Structs: whatever is sent, it is read or refused with pointers that exist."""

import sys
import unicodedata
from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated, Any, Literal, TypeVar

import msgspec
import pytest
from hypothesis import given, strategies as st

from afterword import errors
from afterword.core.reading import structs
from afterword.core.reading.structs import Ambiguous, Context
from afterword.core.wire import times
from afterword.kit.web import fields
from afterword.kit.web.vocabulary import FIELD_CODES

Struct = TypeVar("Struct", bound=msgspec.Struct)


class Inner(fields.Request):
    name: fields.Text50
    size: Annotated[float, fields.Meta(ge=0.5, le=10)] = 1.0


class Thing(fields.Request):
    title: fields.Text200
    colour: Literal[1, 2] | None = None
    word: Literal["a", "b"] = "a"
    inner: Inner | None = None
    many: Annotated[list[Inner], fields.Meta(min_length=1, max_length=3)] | None = None
    either: str | int | None = None
    labels: dict[str, fields.Text50] = msgspec.field(default_factory=dict)
    zone: fields.Zone | None = None
    url: fields.Url | None = None
    locale: fields.LocaleNormal | None = None
    due: fields.Moment | None = None
    metadata: fields.MetadataAny = msgspec.field(default_factory=dict)
    anything: Any = None


def read(kind: type[Struct], document: object, reading: Context) -> Struct:
    found = structs.collect(kind, document, reading)
    reading.check()
    assert found is not None
    return found


def context(**more: Any) -> Context:
    return Context(now=datetime(2026, 11, 21, tzinfo=UTC), zone=times.zone_of("Europe/Athens"), **more)


def wrong(document: object, **more: Any) -> list[tuple[str | None, str]]:
    with pytest.raises(errors.Invalid) as caught:
        read(Thing, document, context(**more))
    return [(error.pointer, error.code) for error in caught.value.errors]


def test_one_of_each_kind() -> None:
    found = read(
        Thing,
        {
            "title": "x",
            "colour": 2,
            "word": "b",
            "inner": {"name": "y", "size": 2},
            "many": [{"name": "z"}],
            "either": 5,
            "labels": {"en": "Red"},
            "zone": "Europe/Athens",
            "url": "https://example.com/ü?x=1",
            "locale": "en_US",
            "due": "2027-01-01 10:00",
            "anything": {"deep": [1]},
            "metadata": {
                "a": 1,
                "b": 1.5,
                "c": True,
                "d": None,
                "e": "",
                "questionnaire": {"f": False},
                "responder": [],
            },
        },
        context(),
    )
    assert 2 == found.colour
    assert Inner(name="y", size=2.0) == found.inner
    assert [Inner(name="z")] == found.many
    assert ("en-us", "2027-01-01T10:00:00+02:00") == (found.locale, str(found.due))
    assert {
        "a": "1",
        "b": "1.5",
        "c": "true",
        "d": None,
        "e": None,
        "questionnaire": {"f": "false"},
        "responder": {},
    } == found.metadata


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({"title": ""}, [("/title", "too_short")]),
        ({"title": "x" * 201}, [("/title", "too_long")]),
        ({"title": "x", "colour": 3}, [("/colour", "unknown_value")]),
        ({"title": "x", "colour": True}, [("/colour", "wrong_type")]),
        ({"title": "x", "inner": {}}, [("/inner/name", "required")]),
        ({"title": "x", "inner": {"name": "y", "size": 0}}, [("/inner/size", "out_of_range")]),
        ({"title": "x", "inner": {"name": "y", "size": True}}, [("/inner/size", "wrong_type")]),
        ({"title": "x", "inner": "y"}, [("/inner", "wrong_type")]),
        ({"title": "x", "many": []}, [("/many", "too_few")]),
        ({"title": "x", "many": [{"name": "y"}] * 4}, [("/many", "too_many")]),
        ({"title": "x", "many": [{"name": "y"}, {}, 5]}, [("/many/1/name", "required"), ("/many/2", "wrong_type")]),
        ({"title": "x", "either": 1.5}, [("/either", "wrong_type")]),
        ({"title": "x", "labels": {"a/b~c": 1}}, [("/labels/a~1b~0c", "wrong_type")]),
        ({"title": "x", "labels": [1]}, [("/labels", "wrong_type")]),
        ({"title": "x", "zone": "Mars/Olympus"}, [("/zone", "unknown_value")]),
        ({"title": "x", "url": "javascript:alert(1)"}, [("/url", "invalid_format")]),
        ({"title": "x", "url": "http://[::1"}, [("/url", "invalid_format")]),
        ({"title": "x", "locale": "x" * 36}, [("/locale", "invalid_locale")]),
        ({"title": "x", "due": True}, [("/due", "wrong_type")]),
        ({"title": "x", "metadata": {"": "y"}}, [("/metadata/", "invalid_format")]),
        ({"title": "x", "metadata": {"a\n": "y"}}, [("/metadata/a\n", "invalid_format")]),
        ({"title": "x", "metadata": {"a": "y" * 4097}}, [("/metadata/a", "too_long")]),
        ({"title": "x", "metadata": {"responder": {"a": {}}}}, [("/metadata/responder/a", "wrong_type")]),
        ({"title": "x", "metadata": {str(n): 1 for n in range(201)}}, [("/metadata", "too_many")]),
    ],
)
def test_wrong(document: object, expected: list[tuple[str, str]]) -> None:
    assert expected == wrong(document)


class Limited(fields.Request):
    least: Annotated[float, fields.Meta(ge=1_000)] = 1_000
    most: Annotated[float, fields.Meta(le=1_000)] = 1_000
    between: Annotated[float, fields.Meta(ge=1, le=1_000)] = 1


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("least", 999, "At least 1,000 is expected."),
        ("most", 1_000.5, "At most 1,000 is allowed."),
        ("between", 0, "It must lie between 1 and 1,000."),
        ("between", 1_001, "It must lie between 1 and 1,000."),
        ("least", float("nan"), "At least 1,000 is expected."),
        ("most", float("nan"), "At most 1,000 is allowed."),
        ("between", float("nan"), "It must lie between 1 and 1,000."),
    ],
)
def test_limits(name: str, value: float, message: str) -> None:
    with pytest.raises(errors.Invalid) as refused:
        read(Limited, {name: value}, context())
    assert [message] == [one.message for one in refused.value.errors]
    assert Limited() == read(Limited, {}, context())


def test_forms_are_typed_by_the_member() -> None:
    found = read(
        Thing,
        {"title": "x", "colour": "2", "inner": {"name": "7", "size": "2.5"}, "due": "", "many": {"0": {"name": "a"}}},
        context(lax=True),
    )
    assert (2, Inner(name="7", size=2.5), None, [Inner(name="a")]) == (
        found.colour,
        found.inner,
        found.due,
        found.many,
    )
    assert [("/colour", "unknown_value")] == wrong({"title": "x", "colour": "9"}, lax=True)


def test_at_most_a_hundred_errors() -> None:
    assert 100 == len(wrong({"title": "x", "labels": {str(n): 1 for n in range(150)}}))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)


class Shaped(fields.Request):
    key: Annotated[str, fields.Meta(pattern="^[a-z]+$", extra={"expected": "Small letters are expected."})]
    other: Annotated[str, fields.Meta(pattern="^[a-z]+$")] | None = None


def test_what_a_shape_wants_is_said() -> None:
    with pytest.raises(errors.Invalid) as caught:
        read(Shaped, {"key": "A", "other": "B"}, context())
    assert [
        ("/key", "invalid_format", "Small letters are expected."),
        ("/other", "invalid_format", "This does not have the expected form."),
    ] == [(error.pointer, error.code, error.message) for error in caught.value.errors]


class Open(fields.Request):
    size: Annotated[float, fields.Meta(gt=0)]


def test_a_bound_without_a_reader_fails_at_start() -> None:
    with pytest.raises(TypeError):
        structs.struct_reader(Open)


@pytest.mark.parametrize("text", ["20261121", "2026-W01-1", "2026-11-31", "2026-11-2", "\u0662026-11-21"])
def test_dates_have_one_form(text: str) -> None:
    class Dated(fields.Request):
        day: fields.Date

    with pytest.raises(errors.Invalid) as caught:
        read(Dated, {"day": text}, context())
    assert ["invalid_format"] == [error.code for error in caught.value.errors]
    assert "2026-11-21" == read(Dated, {"day": "2026-11-21"}, context()).day


def test_an_unknown_member_is_told_those_that_there_are() -> None:
    with pytest.raises(errors.Invalid) as caught:
        read(Shaped, {"key": "a", "fields": "*", "keys": "b"}, context(strict=True))
    [error] = caught.value.errors
    assert ("/keys", "unknown_member") == (error.pointer, error.code)
    assert "There is no such member here. There are: key, other." == error.message


def test_rows_do_not_affect_each_other() -> None:
    reading = context()
    assert isinstance(structs.read_row(Shaped, {"key": "A"}, reading), errors.Invalid)
    assert Shaped(key="a") == structs.read_row(Shaped, {"key": "a"}, reading)


NAMES = st.sampled_from([*Thing.__struct_fields__, "unknown", "fields"])


@given(st.dictionaries(NAMES, VALUES, max_size=6) | VALUES, st.booleans(), st.booleans(), st.booleans())
def test_anything_is_read_or_refused(document: Any, lax: bool, partial: bool, strict: bool) -> None:  # noqa: FBT001
    reading = context(lax=lax, partial=partial, strict=strict)
    try:
        found = read(Thing, document, reading)
    except errors.Invalid as refusal:
        codes = {error.code for error in refusal.errors}
    else:
        assert isinstance(found, Thing)
        return
    assert codes
    assert codes <= FIELD_CODES.keys()


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


def test_invisible_characters() -> None:
    formats = [chr(one) for one in range(sys.maxunicode + 1) if unicodedata.category(chr(one)) == "Cf"]
    shown = {"Arabic", "Syriac", "Kaithi", "Egyptian", "Musical"}  # marks that are drawn, or part of a script
    hidden = [one for one in formats if unicodedata.name(one, "TAG").split()[0].title() not in shown]
    assert len(hidden) > 130
    assert not [hex(ord(one)) for one in hidden if not structs.INVISIBLE.fullmatch(one)]
    assert not structs.INVISIBLE.search("aé 1٣-\u00a0\u2011\n\t")


@pytest.mark.parametrize(
    ("text", "trimmed"),
    [
        (" a b ", "a b"),
        ("\u202a\u00a0a\u200bb\u200b \u202c", "a\u200bb"),
        ("\ufeff", ""),
        ("\u200b" * 100_000 + "a" + "\u200b " * 50_000 + "b", "a" + "\u200b " * 50_000 + "b"),
    ],
)
def test_trimmed(text: str, trimmed: str) -> None:
    assert trimmed == structs.trimmed(text)


@pytest.mark.parametrize(
    ("text", "plain"),
    [("+30 691", "+30 691"), ("\u202a+٣٠\u00a0\u2011\u2013\u2212\u202f\u06f1\u00ad", "+30 --- 1"), ("½x", "½x")],
)
def test_plain(text: str, plain: str) -> None:
    assert plain == structs.plain(text)


@pytest.mark.parametrize(
    ("text", "unmarked"),
    [
        ("'+30", "+30"),
        ("'0001043", "0001043"),
        ("'=1+1", "=1+1"),
        ("'-5", "-5"),
        ("'@ann", "@ann"),
        ("''5", "''5"),
        ("'til noon", "'til noon"),
        ("5'", "5'"),
        ("", ""),
    ],
)
def test_unmarked(text: str, unmarked: str) -> None:
    assert unmarked == structs.unmarked(text)
