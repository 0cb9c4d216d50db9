"""Dates as clients write them and as we write them: the grammar, its bounds, and the rules of time zones."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from typing import Final, TypeAlias, final
from zoneinfo import ZoneInfo

from afterword.core.reading.structs import Context
from afterword.errors import Sentence

EARLIEST: Final = datetime(1970, 1, 1, tzinfo=UTC)
AHEAD_DAYS_MAX = 1826
OFFSET_MINUTES_MAX = 14 * 60
TEXT_CHARACTERS_MAX = 64
ZONES_MAX = 100  # with kept texts
MINUTES_MAX = 2_000  # of a zone
EXPECTED: Final = "A date with a time is expected, such as 2026-11-21 18:23 or 2026-11-21T18:23:45+02:00."

_GRAMMAR = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d)(?::(\d\d)(?:\.\d{1,9})?)?(?:([Zz])|([+-])(\d\d):?(\d\d))?\Z", re.ASCII
)
_SPACE_FOR_PLUS = re.compile(r"(:\d\d(?:\.\d{1,9})?) (\d\d:?\d\d)\Z", re.ASCII)
_SECOND = timedelta(seconds=1)
_SECONDS: Final = tuple(f":{second:02}" for second in range(60))


Instant: TypeAlias = datetime | int
"""An aware datetime, or the microseconds since `EPOCH` as PostgreSQL counts them and lists read them."""
EPOCH: Final = datetime(2000, 1, 1, tzinfo=UTC)


@final
@dataclass(frozen=True, slots=True)
class Moment:
    """An instant (aware, UTC, whole seconds) and the offset, in minutes, in which its sender thinks of it."""

    instant: datetime
    offset_minutes: int

    def __str__(self) -> str:
        return format_time(self.instant, offset_minutes=self.offset_minutes)


class InvalidDateTime(ValueError):
    """Not a date that we take; `code` is `invalid_date_time`, `leap_second` or `out_of_range`."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message


def parse_date_time(text: str, *, zone: tzinfo, now: datetime, lax: bool = False) -> Moment:
    """Read RFC 3339, `Y-m-d H:i[:s]` and forms between them; without an offset the time is local in `zone`.

    A fraction is cut. In the gap of spring the first instant after it counts, in the fold of autumn the first of the
    two. `lax` (forms, queries) reads a space before the offset as the `+` that nobody encoded. Raises InvalidDateTime.
    """
    if lax:
        text = _SPACE_FOR_PLUS.sub(r"\1+\2", text)
    match = _GRAMMAR.match(text) if len(text) <= TEXT_CHARACTERS_MAX else None
    if match is None:
        raise _invalid()
    year, month, day, hour, minute = (int(part) for part in match.group(1, 2, 3, 4, 5))
    second = int(match[6] or 0)
    if second == 60 and minute < 60 and hour < 24:  # noqa: PLR2004  the leap second's own number
        raise InvalidDateTime("leap_second", "Leap seconds are not taken; use the second before or after.")
    if year == 0:
        raise _out_of_range(now)
    try:
        wall = datetime(year, month, day, hour, minute, second)  # noqa: DTZ001  a wall time until its zone is known
    except ValueError:
        raise InvalidDateTime("invalid_date_time", "There is no such day, or no such time of the day.") from None
    offset_minutes = _offset_of(match)
    if not EARLIEST.year - 2 < year < now.year + 7:  # far outside, where the arithmetic below could overflow
        raise _out_of_range(now)
    instant = (
        _instant_in(wall, zone) if offset_minutes is None else (wall - timedelta(minutes=offset_minutes))
    ).replace(tzinfo=UTC)
    if not EARLIEST <= instant <= now + timedelta(days=AHEAD_DAYS_MAX):
        raise _out_of_range(now)
    if offset_minutes is None:
        offset_minutes = offset_minutes_at(instant, zone)
    return Moment(instant, offset_minutes)


def read_moment(value: object, pointer: str, context: Context) -> Moment | None:
    if not isinstance(value, str):
        code = "invalid_date_time" if type(value) in {int, float} else "wrong_type"
        context.error(pointer, code, EXPECTED)
        return None
    try:
        return parse_date_time(value, zone=context.zone, now=context.now, lax=context.lax)
    except InvalidDateTime as error:
        context.error(pointer, error.code, error.message)
        return None


def format_time(instant: Instant, *, zone: tzinfo | None = None, offset_minutes: int | None = None) -> str:
    """ISO 8601 with whole seconds and a numeric offset, never `Z`; in `zone`, else at the offset, else in UTC."""
    return texts_in(zone or UTC)(instant) if offset_minutes is None else texts_at(offset_minutes)(instant)


def datetime_of(instant: Instant) -> datetime:
    return EPOCH + timedelta(microseconds=instant) if isinstance(instant, int) else instant


@lru_cache(maxsize=ZONES_MAX)
def texts_in(zone: tzinfo) -> Callable[[Instant], str]:
    """A function as `format_time` in this zone. It keeps the text of each minute, which most rows of a list share."""
    minutes: dict[int, tuple[str, str] | None] = {}

    def text_of(instant: Instant) -> str:
        if type(instant) is not int:
            return _text_in(datetime_of(instant), zone)
        minute, second = divmod(instant // 1_000_000, 60)
        known = minutes.get(minute, ())
        if known == ():
            if len(minutes) >= MINUTES_MAX:
                minutes.clear()
            known = minutes[minute] = _parts_of(minute, zone)
        return f"{known[0]}{_SECONDS[second]}{known[1]}" if known else _text_in(datetime_of(instant), zone)

    return text_of


@lru_cache(maxsize=2048)  # no more than there are offsets
def texts_at(offset_minutes: int) -> Callable[[Instant], str]:
    """As `texts_in`, at an offset."""
    return texts_in(_fixed(offset_minutes))


class KnownTexts(dict[Instant | None, str | None]):
    """The texts of the times of a list in a zone: each is formatted once, as rows share most of them."""

    def __init__(self, zone: tzinfo) -> None:
        super().__init__({None: None})
        self._text_of = texts_in(zone)

    def __missing__(self, instant: Instant) -> str | None:
        return self.setdefault(instant, self._text_of(instant))


def _parts_of(minute: int, zone: tzinfo) -> tuple[str, str] | None:
    """The text before and behind the second; None where the offset changes within the minute, or has seconds."""
    begin = EPOCH + timedelta(minutes=minute)
    offsets = {(begin + timedelta(seconds=seconds)).astimezone(zone).utcoffset() for seconds in (0, 59)}
    offset = offsets.pop()
    if offsets or offset is None or offset.total_seconds() % 60:
        return None
    text = _text_in(begin, zone)
    return text[:16], text[19:]


@lru_cache(maxsize=4096)  # rows share most of their times
def _text_in(instant: datetime, zone: tzinfo) -> str:
    text = instant.astimezone(zone).isoformat(timespec="seconds")
    if len(text) == len("2026-11-21T18:23:45+02:00"):
        return text
    # Zones of long ago have seconds in their offset (Monrovia until 1972): keep the instant, show whole minutes.
    return _text_in(instant, _fixed(offset_minutes_at(instant, zone)))


def format_optional(instant: Instant | None, *, zone: tzinfo | None = None) -> str | None:
    return None if instant is None else format_time(instant, zone=zone)


def offset_minutes_at(instant: datetime, zone: tzinfo) -> int:
    offset = instant.astimezone(zone).utcoffset()
    return 0 if offset is None else int(offset.total_seconds() // 60)


def moment_at(now: datetime, zone: tzinfo) -> Moment:
    """The second of `now`, with the offset of the zone."""
    instant = now.replace(microsecond=0)
    return Moment(instant, offset_minutes_at(instant, zone))


def zone_of(name: str) -> ZoneInfo:
    """The IANA zone of that name, cached while the process lives. Raises ValueError when there is no such zone."""
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError, UnicodeError) as error:
        raise ValueError("This is no time zone of the IANA database.") from error


def _offset_of(match: re.Match[str]) -> int | None:
    if match[7]:
        return 0
    if not match[8]:
        return None
    hours, minutes = int(match[9]), int(match[10])
    if minutes > 59:  # noqa: PLR2004
        raise _invalid()
    total = hours * 60 + minutes
    if total > OFFSET_MINUTES_MAX:
        raise InvalidDateTime("out_of_range", "The offset must lie between -14:00 and +14:00.")
    return -total if match[8] == "-" else total


def instant_of(wall: datetime, zone: tzinfo) -> datetime:
    """The instant (aware, UTC) that clocks in `zone` show as `wall`: after the gap of spring, first in the fold."""
    return _instant_in(wall, zone).replace(tzinfo=UTC)


def _instant_in(wall: datetime, zone: tzinfo) -> datetime:
    """The instant, naive in UTC, that clocks in `zone` show as `wall`."""
    before = wall - _offset(wall.replace(tzinfo=zone))
    if _wall_at(before, zone) == wall:
        return before
    # In the gap: the clock jumped between the two readings of this wall time; find the second at which it did.
    low, high = wall - _offset(wall.replace(tzinfo=zone, fold=1)), before
    offset_low = _wall_at(low, zone) - low
    while high - low > _SECOND:
        middle = low + (high - low) // 2
        middle = middle.replace(microsecond=0)
        if _wall_at(middle, zone) - middle == offset_low:
            low = middle
        else:
            high = middle
    return high


def _offset(local: datetime) -> timedelta:
    return local.utcoffset() or timedelta(0)


def _wall_at(instant: datetime, zone: tzinfo) -> datetime:
    return instant.replace(tzinfo=UTC).astimezone(zone).replace(tzinfo=None, fold=0)


@lru_cache(maxsize=2048)  # no more than there are offsets
def _fixed(offset_minutes: int) -> timezone:
    return timezone(timedelta(minutes=offset_minutes))


def _invalid() -> InvalidDateTime:
    return InvalidDateTime("invalid_date_time", EXPECTED)


def _out_of_range(now: datetime) -> InvalidDateTime:
    latest = (now + timedelta(days=AHEAD_DAYS_MAX)).date().isoformat()
    message = Sentence("The date must lie between {first} and {last}.", first=EARLIEST.date().isoformat(), last=latest)
    return InvalidDateTime("out_of_range", message)
