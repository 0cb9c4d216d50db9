"""Every change of the clocks from 2020 to 2030 in 40 zones: each item goes once, and only when the rules allow it.

The engine's part is played by a loop over `first_due` and `decide`; what is allowed is worked out anew, from the
offsets of the zone alone. 2,500 examples in every run, AFTERWORD_TEST_FAULTS=full makes it 50,000.
"""

import random
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from typing import Final
from zoneinfo import ZoneInfo

import pytest

from afterword.core.scheduling import windows
from afterword.core.scheduling.decisions import Facts, Item, Rules, decide, first_due
from afterword.core.scheduling.windows import WEEKDAYS_ALL, DaysOff, Hours, leaves_time
from tests.bar import Tell
from tests.sizes import size

EXAMPLES: Final = size(1_000, 50_000)
ZONES: Final = (
    "Europe/Athens", "Europe/London", "Europe/Dublin", "Europe/Berlin", "Europe/Lisbon", "Europe/Chisinau",
    "Atlantic/Azores", "Australia/Lord_Howe", "Australia/Sydney", "Australia/Adelaide", "Pacific/Apia",
    "Pacific/Auckland", "Pacific/Chatham", "Pacific/Norfolk", "Pacific/Fiji", "Pacific/Easter", "Africa/Casablanca",
    "Africa/El_Aaiun", "Africa/Cairo", "Africa/Juba", "America/New_York", "America/Los_Angeles", "America/St_Johns",
    "America/Santiago", "America/Havana", "America/Nuuk", "America/Scoresbysund", "America/Asuncion",
    "America/Port-au-Prince", "America/Mexico_City", "America/Tijuana", "America/Whitehorse", "Asia/Tehran",
    "Asia/Amman", "Asia/Damascus", "Asia/Gaza", "Asia/Beirut", "Asia/Jerusalem", "Antarctica/Troll",
    "Antarctica/Casey",
)  # fmt: skip
FIRST, LAST = datetime(2020, 1, 1, tzinfo=UTC), datetime(2031, 1, 1, tzinfo=UTC)
DAY: Final = timedelta(days=1)
MINUTE: Final = timedelta(minutes=1)
STEP: Final = 3 * DAY  # no zone changes its offset twice in it


@dataclass(frozen=True)
class Span:
    """A time of one offset: from its start on, until the next one's."""

    start: datetime
    offset: timedelta


@cache
def spans_of(name: str) -> tuple[Span, ...]:
    """The offsets of a zone, to the minute, found by halving the steps in which they change."""
    zone = ZoneInfo(name)
    found = [Span(FIRST - 30 * DAY, offset_at(zone, FIRST - 30 * DAY))]
    low = FIRST - 30 * DAY
    while low < LAST:
        end, before = low + STEP, found[-1].offset
        if (after := offset_at(zone, end)) != before:
            high = end
            while high - low > MINUTE:
                middle = low + (high - low) // 2
                low, high = (middle, high) if offset_at(zone, middle) == before else (low, middle)
            found.append(Span(high.replace(second=0, microsecond=0), after))
        low = end
    return tuple(found)


def offset_at(zone: ZoneInfo, at: datetime) -> timedelta:
    offset = at.astimezone(zone).utcoffset()
    assert offset is not None
    return offset


def instant(name: str, local: datetime) -> datetime:
    """The first instant at which the clocks show this time or a later one: behind a gap, and the first of a fold."""
    wanted, spans = local.replace(tzinfo=UTC), spans_of(name)
    for place, span in enumerate(spans):
        end = spans[place + 1].start if place + 1 < len(spans) else LAST + 400 * DAY
        at = max(span.start, wanted - span.offset)
        if at < end:
            return at
    raise AssertionError("time has an end")


def span_of_day(name: str, day: date, hours: Hours | None) -> tuple[datetime, datetime]:
    start, end = (time(), time()) if hours is None else (hours.start, hours.end)
    last = day if start < end else day + DAY
    return instant(name, datetime.combine(day, start)), instant(name, datetime.combine(last, end))


def is_allowed(name: str, rules: Rules, at: datetime) -> bool:
    """Whether the settings let a message leave at this instant, by the words of the documentation."""
    today = (at + offset_at(ZoneInfo(name), at)).date()
    days = [today + offset * DAY for offset in (-2, -1, 0, 1)]
    if rules.quiet is not None and any(
        start <= at < end for start, end in (span_of_day(name, day, rules.quiet) for day in days)
    ):
        return False
    return any(
        start <= at < end
        for day in days
        if day.isoweekday() in rules.weekdays and day not in rules.holidays
        for start, end in [span_of_day(name, day, rules.window)]
    )


@dataclass(frozen=True)
class Example:
    zone: str
    rules: Rules
    send_time: datetime
    item_id: str


def example(draw: random.Random) -> Example:
    """Settings and a send time near a change of the clocks; the boundaries are often those that the change moves."""
    zone = draw.choice(ZONES)
    changes = spans_of(zone)[1:]
    change = draw.choice(changes).start if changes else FIRST + draw.random() * (LAST - FIRST)
    local = (change + offset_at(ZoneInfo(zone), change - MINUTE)).time()

    def clock() -> time:
        if draw.random() < 0.5:
            return time(draw.randrange(24), draw.choice([0, 15, 30, 59]))
        minutes = (local.hour * 60 + local.minute + draw.choice([-90, -60, -30, 0, 15, 30, 45, 60, 90])) % 1440
        return time(minutes // 60, minutes % 60)

    def hours() -> Hours | None:
        return Hours(clock(), clock()) if draw.random() < 0.7 else None

    near = change.date()
    off = frozenset(near + draw.randrange(-2, 4) * DAY for _ in range(draw.choice([0, 0, 1, 2, 3])))
    weekdays = frozenset(draw.sample(range(1, 8), draw.randrange(1, 8))) if draw.random() < 0.4 else WEEKDAYS_ALL
    quiet = hours()
    return Example(
        zone,
        Rules(
            window=hours(),
            weekdays=weekdays,
            quiet=None if quiet is None or quiet.start == quiet.end else quiet,
            holidays=DaysOff(draw.choice([None, None, "GR", "MA"]), off) if off else windows.NONE,
        ),
        change + timedelta(minutes=draw.randrange(-3 * 1440, 2 * 1440)),
        f"{draw.getrandbits(64):022d}",
    )


def times_sent(one: Example, *, now: datetime) -> list[datetime]:
    """When the engine would send it: look at it when it is due, and again when a hold ends."""
    not_after = now + 400 * DAY
    due = first_due(
        rules=one.rules, zone_name=one.zone, item_id=one.item_id, send_time=one.send_time, not_after=not_after, now=now
    )
    item = Item(item_id=one.item_id, pipeline_id="p" * 22, not_after=not_after)
    for _ in range(3):
        decision = decide(item=item, facts=Facts(rules=one.rules, zone_name=one.zone), now=due)
        if decision.verdict == "go":
            return [due]
        if decision.verdict == "skip":
            return []
        assert decision.until is not None
        assert decision.until > due
        due = decision.until
    raise AssertionError("held again and again")


def test_there_are_changes() -> None:
    assert 40 == len(set(ZONES))
    assert 22 == len(spans_of("Europe/Athens")) - 1
    assert len(spans_of("Africa/Casablanca")) > 10  # two each Ramadan, until 2026
    assert {timedelta(minutes=30)} == {
        abs(after.offset - before.offset)
        for before, after in zip(spans_of("Australia/Lord_Howe"), spans_of("Australia/Lord_Howe")[1:], strict=False)
    }
    assert sum(len(spans_of(zone)) - 1 for zone in ZONES) > 500


@pytest.mark.parametrize(
    ("zone", "local", "expected"),
    [
        ("Europe/Athens", datetime(2026, 3, 29, 3, 30), datetime(2026, 3, 29, 1, 0, tzinfo=UTC)),  # noqa: DTZ001
        ("America/New_York", datetime(2026, 3, 8, 2, 30), datetime(2026, 3, 8, 7, 0, tzinfo=UTC)),  # noqa: DTZ001
        ("America/New_York", datetime(2026, 11, 1, 1, 30), datetime(2026, 11, 1, 5, 30, tzinfo=UTC)),  # noqa: DTZ001
        ("Australia/Lord_Howe", datetime(2026, 10, 4, 2, 15), datetime(2026, 10, 3, 15, 30, tzinfo=UTC)),  # noqa: DTZ001
    ],
)
def test_the_first_instant(zone: str, local: datetime, expected: datetime) -> None:
    """In a gap the first after it, in a fold the first of the two."""
    assert expected == instant(zone, local)
    opens = Rules(window=Hours(local.time(), time((local.hour + 3) % 24)))
    due = first_due(
        rules=opens,
        zone_name=zone,
        item_id="",
        send_time=expected - timedelta(hours=1),
        not_after=expected + DAY,
        now=expected - DAY,
    )
    assert expected <= due <= expected + timedelta(minutes=10)


def test_each_goes_once_and_when_it_is_allowed(tell: Tell) -> None:
    draw = random.Random(15)  # noqa: S311
    sent = 0
    for number in range(EXAMPLES):
        one = example(draw)
        rules = one.rules
        found = times_sent(one, now=one.send_time - 5 * DAY)
        if not leaves_time(window=rules.window, weekdays=rules.weekdays, quiet=rules.quiet):
            assert [] == found, (number, one)  # a pipeline with such settings is refused
            continue
        assert 1 == len(found), (number, one)
        [at] = found
        assert at >= one.send_time, (number, one)
        assert is_allowed(one.zone, rules, at), (number, one)
        if is_allowed(one.zone, rules, one.send_time):
            assert at == one.send_time, (number, one)
        sent += 1
    assert sent > EXAMPLES * 0.8
    tell(f"{EXAMPLES} examples: {sent} sent once and when it is allowed, the rest is refused as settings")
