"""The grammar of dates, its bounds and the rules of zones: a table first, then whatever hypothesis finds."""

import re
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, strategies as st

from afterword.core.wire.times import (
    AHEAD_DAYS_MAX,
    InvalidDateTime,
    Moment,
    format_optional,
    format_time,
    offset_minutes_at,
    parse_date_time,
    zone_of,
)

NOW = datetime(2026, 11, 21, 16, 0, tzinfo=UTC)
ATHENS = zone_of("Europe/Athens")
LATEST = NOW + timedelta(days=AHEAD_DAYS_MAX)


def read(text: str, zone: str = "Europe/Athens", *, lax: bool = False) -> str:
    moment = parse_date_time(text, zone=zone_of(zone), now=NOW, lax=lax)
    assert timedelta(0) == moment.instant.utcoffset()
    assert 0 == moment.instant.microsecond
    return str(moment)


def code(text: str, *, lax: bool = False) -> str:
    with pytest.raises(InvalidDateTime) as caught:
        parse_date_time(text, zone=ATHENS, now=NOW, lax=lax)
    return caught.value.code


class TestRefused:
    @pytest.mark.parametrize(
        "text",
        [
            "", " ", "now", "0", "1700000000", "1700000000.5", "-1", "1e9", "2027", "2027-01", "2027-01-15", "20270115",
            "20270115T103000Z", "2027-W03-5", "2027-W03-5T10:30", "2027-015", "2027-015T10:30", "15/01/2027 10:30",
            "2027-01-15T24:00", "2027-01-15T24:00:00Z", "2027-01-15T25:00", "2027-01-15T10:60", "2027-01-15T10:30:61",
            "2027-02-29T10:30", "2027-13-01T10:30", "2027-00-01T10:30", "2027-01-00T10:30", "2027-01-32T10:30",
            "2027-1-15T10:30", "2027-01-15T9:30", "2027-01-15T10", "2027-01-15T10:30:5", "2027-01-15T10:30.5",
            "2027-01-15T10:30:00.", "2027-01-15T10:30:00.1234567890", "2027-01-15T10:30:00,5", "2027-01-15  10:30",
            "2027-01-15_10:30", "2027-01-15T10:30:00+2", "2027-01-15T10:30:00+02", "2027-01-15T10:30:00+02:0",
            "2027-01-15T10:30:00+02:60", "2027-01-15T10:30:00+2:00", "2027-01-15T10:30:00 +02:00",
            "2027-01-15T10:30:00ZZ", "2027-01-15T10:30:00 Z", "2027-01-15T10:30:00 UTC", "2027-01-15T10:30:00[UTC]",
            " 2027-01-15T10:30", "2027-01-15T10:30 ", "2027-01-15T10:30\n", "+2027-01-15T10:30", "-2027-01-15T10:30",
            "10000-01-15T10:30", "12027-01-15T10:30:00Z", "\u0662\u0660\u0662\u0667-01-15T10:30",
            "2027-01-15T10:30:00\u221202:00",
            "2027-01-15T10:30:00 02:00", "2027-01-15T10:30:00" + "0" * 5000, "T10:30", "2027-01-15T", "null",
        ],
    )  # fmt: skip
    def test_grammar(self, text: str) -> None:
        assert "invalid_date_time" == code(text)

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("2027-02-30T10:30", "no such day"),
            ("2027-01-15T25:00Z", "no such time"),
            ("30/02/2027 10:30", "A date with a time is expected"),
        ],
    )
    def test_sentence(self, text: str, expected: str) -> None:
        with pytest.raises(InvalidDateTime, match=expected):
            parse_date_time(text, zone=UTC, now=NOW)

    @pytest.mark.parametrize("text", ["2026-12-31T23:59:60Z", "2027-01-15 10:30:60", "2027-01-15T10:30:60.5+02:00"])
    def test_leap_second(self, text: str) -> None:
        assert "leap_second" == code(text)

    @pytest.mark.parametrize(
        "text",
        [
            "0000-01-01T00:00:00Z", "0001-01-01T00:00:00Z", "0001-01-01T00:00:00+14:00", "1969-12-31T23:59:59Z",
            "1970-01-01T00:00:00+00:01", "1970-01-01T01:00:00", "9999-12-31T23:59:59Z", "9999-12-31T23:59:59-14:00",
            "9999-12-31 23:59", "0001-01-01 00:00", "2031-11-21T16:00:01Z", "2032-01-01T00:00:00Z",
            "2027-01-15T10:30:00+14:01", "2027-01-15T10:30:00-14:01", "2027-01-15T10:30:00+24:00",
            "2027-01-15T10:30:00-24:00", "2027-01-15T10:30:00+99:59",
        ],
    )  # fmt: skip
    def test_bounds(self, text: str) -> None:
        assert "out_of_range" == code(text)

    def test_space_is_a_plus_in_forms_alone(self) -> None:
        assert "2027-01-15T10:30:00+02:00" == read("2027-01-15T10:30:00 02:00", lax=True)
        assert "2027-01-15T10:30:00+02:00" == read("2027-01-15 10:30 0200", "UTC", lax=True)
        assert "2027-01-15T10:30:00+02:00" == read("2027-01-15 10:30", lax=True)
        assert "invalid_date_time" == code("2027-01-15T10:30:00  02:00", lax=True)


class TestRead:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("2027-01-15T10:30:00+02:00", "2027-01-15T10:30:00+02:00"),
            ("2027-01-15T10:30:00Z", "2027-01-15T10:30:00+00:00"),
            ("2027-01-15t10:30:00z", "2027-01-15T10:30:00+00:00"),
            ("2027-01-15T10:30:00-00:00", "2027-01-15T10:30:00+00:00"),
            ("2027-01-15 10:30:00-0930", "2027-01-15T10:30:00-09:30"),
            ("2027-01-15T10:30+05:45", "2027-01-15T10:30:00+05:45"),
            ("2027-01-15T10:30:59.999999999Z", "2027-01-15T10:30:59+00:00"),
            ("2027-01-15T10:30:00.5+14:00", "2027-01-15T10:30:00+14:00"),
            ("2027-01-15T10:30:00-14:00", "2027-01-15T10:30:00-14:00"),
            ("2028-02-29T00:00:00Z", "2028-02-29T00:00:00+00:00"),
            ("1970-01-01T00:00:00Z", "1970-01-01T00:00:00+00:00"),
            ("1970-01-01T14:00:00+14:00", "1970-01-01T14:00:00+14:00"),
            ("2031-11-21T16:00:00Z", "2031-11-21T16:00:00+00:00"),
            ("2027-01-15 10:30", "2027-01-15T10:30:00+02:00"),
            ("2027-07-15 10:30:59", "2027-07-15T10:30:59+03:00"),
            ("2018-01-01T10:00:00+03:00", "2018-01-01T10:00:00+03:00"),
        ],
    )
    def test_ok(self, text: str, expected: str) -> None:
        assert expected == read(text)

    @pytest.mark.parametrize(
        ("zone", "text", "expected"),
        [
            ("Europe/Athens", "2027-03-28 02:59:59", "2027-03-28T02:59:59+02:00"),
            ("Europe/Athens", "2027-03-28 03:00", "2027-03-28T04:00:00+03:00"),
            ("Europe/Athens", "2027-03-28 03:30", "2027-03-28T04:00:00+03:00"),
            ("Europe/Athens", "2027-03-28 03:59:59", "2027-03-28T04:00:00+03:00"),
            ("Europe/Athens", "2027-03-28 04:00", "2027-03-28T04:00:00+03:00"),
            ("Europe/Athens", "2027-10-31 03:30", "2027-10-31T03:30:00+03:00"),
            ("Europe/Athens", "2027-10-31 04:00", "2027-10-31T04:00:00+02:00"),
            ("America/New_York", "2027-03-14 02:30", "2027-03-14T03:00:00-04:00"),
            ("America/New_York", "2027-11-07 01:30", "2027-11-07T01:30:00-04:00"),
            ("Australia/Lord_Howe", "2026-10-04 02:15", "2026-10-04T02:30:00+11:00"),
            ("Asia/Kathmandu", "2027-01-01 00:00", "2027-01-01T00:00:00+05:45"),
            ("Pacific/Apia", "2011-12-30 12:00", "2011-12-31T00:00:00+14:00"),
            ("UTC", "2027-01-01 00:00", "2027-01-01T00:00:00+00:00"),
        ],
    )
    def test_gap_and_fold(self, zone: str, text: str, expected: str) -> None:
        assert expected == read(text, zone)


class TestFormat:
    def test_shapes(self) -> None:
        instant = datetime(2026, 11, 21, 16, 23, 45, 999_999, tzinfo=UTC)
        assert "2026-11-21T16:23:45+00:00" == format_time(instant)
        assert "2026-11-21T18:23:45+02:00" == format_time(instant, zone=ATHENS)
        assert "2026-11-21T12:53:45-03:30" == format_time(instant, offset_minutes=-210)
        assert "2026-11-21T18:23:45+02:00" == str(Moment(instant, 120))
        assert format_optional(None) is None
        assert "2026-11-21T18:23:45+02:00" == format_optional(instant, zone=ATHENS)

    @given(
        st.integers(0, 2_500_000_000_000_000),
        st.sampled_from(
            ["UTC", "Europe/Athens", "Asia/Kathmandu", "Australia/Lord_Howe", "America/St_Johns", "Africa/Monrovia"]
        ),
        st.sampled_from([None, -840, -210, 0, 345]),
    )
    def test_by_arithmetic(self, since_1970: int, name: str, offset_minutes: int | None) -> None:
        """Microseconds are shown as the datetime is that they stand for."""
        micros = since_1970 - 946_684_800_000_000
        instant = datetime(2000, 1, 1, tzinfo=UTC) + timedelta(microseconds=micros)
        shown = [format_time(one, zone=zone_of(name), offset_minutes=offset_minutes) for one in (micros, instant)]
        assert shown[0] == shown[1]

    @pytest.mark.parametrize("name", ["Europe/Athens", "Australia/Lord_Howe", "Africa/Monrovia"])
    def test_by_arithmetic_where_the_offset_changes(self, name: str) -> None:
        change = (
            datetime(1972, 1, 7, 0, 44, 30, tzinfo=UTC)
            if name == "Africa/Monrovia"
            else datetime(2026, 3, 29, 1, tzinfo=UTC)
        )
        change = datetime(2026, 4, 4, 15, tzinfo=UTC) if name == "Australia/Lord_Howe" else change
        for seconds in (-3600, -1, 0, 1, 1800, 3600):
            instant = change + timedelta(seconds=seconds)
            micros = (instant - datetime(2000, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
            assert format_time(instant, zone=zone_of(name)) == format_time(micros, zone=zone_of(name))

    def test_zone_with_seconds_in_its_offset(self) -> None:
        instant = datetime(1971, 1, 1, tzinfo=UTC)  # Monrovia stood at -00:44:30
        text = format_time(instant, zone=zone_of("Africa/Monrovia"))
        assert re.fullmatch(r"1970-12-31T\d\d:\d\d:\d\d-00:45", text)
        assert instant == datetime.fromisoformat(text)

    @pytest.mark.parametrize(
        "name", ["", "Nowhere", "../etc/passwd", "/etc/localtime", "a\x00b", "Europe/", "é", "x" * 999]
    )
    def test_no_zone(self, name: str) -> None:
        with pytest.raises(ValueError, match="time zone"):
            zone_of(name)


SECONDS = st.integers(0, int(LATEST.timestamp()))
OFFSETS = st.integers(-14 * 60, 14 * 60)
ZONES = st.sampled_from(["UTC", "Europe/Athens", "America/St_Johns", "Asia/Kolkata", "Pacific/Chatham", "Africa/Cairo"])


@given(SECONDS, OFFSETS, st.sampled_from("Tt "), st.sampled_from(["", ".0", ".123456789"]), st.booleans())
def test_what_is_read_comes_back(seconds: int, offset: int, separator: str, fraction: str, colon: bool) -> None:  # noqa: FBT001
    instant = datetime.fromtimestamp(seconds, UTC)
    local = instant.astimezone(timezone(timedelta(minutes=offset)))
    zone = local.isoformat()[-6:] if colon else local.strftime("%z")
    text = local.strftime(f"%Y-%m-%d{separator}%H:%M:%S") + fraction + zone
    found = parse_date_time(text, zone=ATHENS, now=NOW)
    assert Moment(instant, offset) == found
    assert local.isoformat(timespec="seconds") == str(found)
    assert found == parse_date_time(str(found), zone=ATHENS, now=NOW)


@given(st.datetimes(datetime(1972, 2, 1), datetime(2031, 1, 1)).map(lambda at: at.replace(microsecond=0)), ZONES)  # noqa: DTZ001
def test_local_time_is_read_in_the_zone(wall: datetime, name: str) -> None:
    zone = zone_of(name)
    found = parse_date_time(wall.isoformat(" "), zone=zone, now=NOW)
    assert offset_minutes_at(found.instant, zone) == found.offset_minutes
    local = found.instant.astimezone(zone)
    if local.replace(tzinfo=None, fold=0) == wall:
        assert 0 == local.fold
    else:  # the gap: the first instant after it
        assert local.replace(tzinfo=None) > wall
        just_before = (found.instant - timedelta(seconds=1)).astimezone(zone)
        assert just_before.replace(tzinfo=None) < wall
        assert just_before.utcoffset() != local.utcoffset()


@given(st.text(max_size=40) | st.from_regex(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:.+\-Zz ]{0,25}", fullmatch=True))
def test_anything_is_read_or_refused(text: str) -> None:
    try:
        found = parse_date_time(text, zone=ATHENS, now=NOW, lax=True)
    except InvalidDateTime as error:
        refused = error.code
    else:
        assert datetime(1970, 1, 1, tzinfo=UTC) <= found.instant <= LATEST
        assert 25 == len(str(found))
        return
    assert refused in {"invalid_date_time", "leap_second", "out_of_range"}
