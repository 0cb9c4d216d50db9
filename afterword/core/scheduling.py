"""The decision about an item: go, hold until later, or skip for good, and why. Pure: `now` is an argument.

`RULES` is the list that decides: the first rule that does not pass does. A further rule is a further entry.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta
from functools import lru_cache
from typing import Any, Final, Literal

import phonenumbers
from babel.core import get_global

from afterword.core import conditions, windows
from afterword.core.conditions import Node
from afterword.core.times import format_time, zone_of
from afterword.core.windows import WEEKDAYS_ALL, Calendar, Hours

RESULT_CHARACTERS_MAX: Final = 500
CONTACTS_MAX: Final = 32
PREVIOUS_WAIT_MINUTES: Final = 15
_CLOCK_SAMPLES: Final = tuple(datetime(year, month, 1) for year in (2024, 2030) for month in (1, 7))  # noqa: DTZ001  local
Verdict = Literal["go", "hold", "skip"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What a lane (a pipeline with its questionnaire) asks of every item."""

    start_time: datetime | None = None
    end_time: datetime | None = None
    is_active: bool = True
    is_closed: bool = False  # `responses_max` is reached
    conditions: Node | None = None
    cap: timedelta = timedelta(0)
    if_capped: str = "skip"
    window: Hours | None = None
    weekdays: frozenset[int] = WEEKDAYS_ALL
    quiet: Hours | None = None
    if_outside: str = "wait"


@dataclass(frozen=True, slots=True)
class Contact:
    """Once this address was asked, or a place for it is reserved."""

    time: datetime
    pipeline_id: str
    item_id: str


@dataclass(frozen=True, slots=True)
class Suppression:
    """Why the address must not be written to, and since when."""

    reason: str
    created_time: datetime


@dataclass(frozen=True, slots=True)
class Previous:
    """The item that this one reminds of, and its instance."""

    is_open: bool
    is_sent: bool
    is_answered: bool
    is_expired: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """What is decided about."""

    item_id: str
    pipeline_id: str
    not_after: datetime
    reason: str | None = None  # of the last hold or retry
    is_reminder: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is known at the moment of the decision."""

    rules: Rules
    zone_name: str = "UTC"
    suppression: Suppression | None = None
    metadata: conditions.Facts = field(default_factory=dict[str, object])
    contacts: Sequence[Contact] = ()
    previous: Previous | None = None

    @property
    def calendar(self) -> Calendar:
        """The lane's window on the clock that counts for this item."""
        return Calendar(zone_of(self.zone_name), self.rules.window, self.rules.weekdays, self.rules.quiet)


@dataclass(frozen=True, slots=True)
class Check:
    """How one rule came out. `until` belongs to a hold."""

    rule: str
    verdict: Verdict = "go"
    reason: str | None = None
    text: str | None = None
    until: datetime | None = None

    @property
    def as_trace(self) -> dict[str, Any]:
        """The form that a held or skipped item keeps."""
        until = None if self.until is None else format_time(self.until)
        return {"rule": self.rule, "passed": self.verdict == "go", "detail": self.text, "until_time": until}


@dataclass(frozen=True, slots=True)
class Decision:
    """What becomes of the item now. `text` is its `result`; `until` its new due time when it is held."""

    verdict: Verdict
    reason: str | None
    text: str | None
    until: datetime | None
    checks: tuple[Check, ...]


def decide(*, item: Item, facts: Facts, now: datetime) -> Decision:
    """Evaluate every rule; the first that does not pass decides, except that no hold outlasts `not_after`."""
    checks = tuple(rule(item, facts, now) for rule in RULES)
    first = next((check for check in checks if check.verdict != "go"), None)
    if first is None:
        return Decision("go", None, None, None, checks)
    if first.verdict == "hold" and (first.until is None or first.until >= item.not_after):
        first = _too_late(item, first.reason or "a rule", facts)
        checks = (*checks[:-1], first)
    return Decision(first.verdict, first.reason, _short(first.text), first.until, checks)


def first_due(
    *, rules: Rules, zone_name: str, item_id: str, send_time: datetime, not_after: datetime, now: datetime
) -> datetime:
    """When an item is first looked at: at `send_time`, now if that is past, at the next opening if that is closed."""
    at = max(send_time, now, rules.start_time or now)
    if rules.if_outside == "wait":
        calendar = Facts(rules=rules, zone_name=zone_name).calendar
        at = _opened(calendar, at, item_id) or at
    return min(at, max(not_after, now))


def expiry(*, send_time: datetime, created_time: datetime, not_after_days: int, valid_days: int) -> datetime:
    """`not_after`: so many days after the later of both times, and no later than the instance could be answered."""
    days = min(not_after_days, valid_days) if valid_days else not_after_days
    return max(send_time, created_time) + timedelta(days=days)


def hours_of(start: time | None, end: time | None) -> Hours | None:
    """The daily window of two columns that are both null or neither."""
    return None if start is None or end is None else Hours(start, end)


def zone_name_for(
    *,
    pipeline: str | None,
    zone_of_kind: str,
    responder: str | None,
    phone: str | None,
    application: str | None,
    organization: str,
) -> str:
    """Whose clock counts: the pipeline's zone, else the recipient's as far as it is known, else the organization's."""
    if zone_of_kind == "organization":
        return pipeline or organization
    candidates = (pipeline, responder, zone_of_phone(phone) if phone else None, application)
    return next((name for name in candidates if name and _is_zone(name)), organization)


@lru_cache(maxsize=4096)
def zone_of_phone(number: str) -> str | None:
    """The zone of a phone number's country, if one clock rules that country now."""
    try:
        region = phonenumbers.region_code_for_number(phonenumbers.parse(number))
    except phonenumbers.NumberParseException:
        return None
    zones = get_global("territory_zones").get(region or "", [])
    clocks = {tuple(zone_of(zone).utcoffset(day) for day in _CLOCK_SAMPLES) for zone in zones if _is_zone(zone)}
    return min(zones, key=len) if len(clocks) == 1 else None


@lru_cache(maxsize=1024)
def _is_zone(name: str) -> bool:
    try:
        zone_of(name)
    except ValueError:
        return False
    return True


# The rules, in their order ------------------------------------------------------------------------------------


_NAMES: Final = ("period", "previous", "suppression", "conditions", "frequency_cap", "window", "expiry")
_PASSED: Final[Mapping[str, Check]] = {name: Check(name) for name in _NAMES}


def _period(item: Item, facts: Facts, now: datetime) -> Check:  # noqa: ARG001
    rules, rule = facts.rules, "period"
    if not rules.is_active:
        return _skip(rule, "inactive", "Ignored: the questionnaire is not active")
    if rules.end_time is not None and now >= rules.end_time:
        return _skip(rule, "ended", f"Ignored: the pipeline ended on {_local(rules.end_time, facts)}")
    if rules.is_closed:
        return _skip(rule, "closed", "Ignored: the questionnaire has all the responses it takes")
    if rules.start_time is not None and now < rules.start_time:
        text = f"Held: the pipeline starts on {_local(rules.start_time, facts)}"
        return Check(rule, "hold", "not_started", text, rules.start_time)
    return _PASSED[rule]


def _previous(item: Item, facts: Facts, now: datetime) -> Check:
    rule, previous = "previous", facts.previous
    if previous is None or not item.is_reminder:
        return _PASSED[rule]
    if previous.is_open:
        until = now + timedelta(minutes=PREVIOUS_WAIT_MINUTES)
        return Check(rule, "hold", "previous_open", "Held: the message before this one is still under way", until)
    if not previous.is_sent:
        return _skip(rule, "previous_not_sent", "Ignored: the message before this one was not sent")
    if previous.is_answered:
        return _skip(rule, "already_answered", "Ignored: already answered")
    if previous.is_expired:
        return _skip(rule, "instance_expired", "Ignored: the questionnaire can no longer be answered")
    return _PASSED[rule]


_SUPPRESSED: Final[Mapping[str, str]] = {
    "unsubscribed": "unsubscribed",
    "hard_bounce": "the address did not exist",
    "complaint": "the recipient complained",
    "blocked": "the address was blocked",
    "erased": "the person was erased",
}


def _suppression(item: Item, facts: Facts, now: datetime) -> Check:  # noqa: ARG001
    found = facts.suppression
    if found is None:
        return _PASSED["suppression"]
    words = _SUPPRESSED.get(found.reason, found.reason)
    day = found.created_time.astimezone(zone_of(facts.zone_name)).date().isoformat()
    return _skip("suppression", found.reason, f"Ignored: {words} on {day}")


def _conditions(item: Item, facts: Facts, now: datetime) -> Check:  # noqa: ARG001
    tree = facts.rules.conditions
    if conditions.matches(tree, facts.metadata):
        return _PASSED["conditions"]
    leaves = conditions.leaves(tree, facts.metadata)
    leaf = next((leaf for leaf in leaves if not leaf.matches), leaves[0] if leaves else None)
    words = "" if leaf is None else _condition_words(leaf)
    return _skip("conditions", "conditions", f"Ignored: condition not met{words}")


def _frequency_cap(item: Item, facts: Facts, now: datetime) -> Check:
    rule, rules = "frequency_cap", facts.rules
    if not rules.cap or item.is_reminder:
        return _PASSED[rule]
    asked = [c.time for c in facts.contacts if c.pipeline_id == item.pipeline_id and c.item_id != item.item_id]
    last = max(asked, default=None)
    if last is None or last + rules.cap <= now:
        return _PASSED[rule]
    again = last + rules.cap
    text = f"asked on {_local(last, facts)}, possible again from {_local(again, facts)}"
    if rules.if_capped == "wait":
        return Check(rule, "hold", "frequency_cap", f"Held: {text}", again)
    return _skip(rule, "frequency_cap", f"Ignored: {text}")


def _window(item: Item, facts: Facts, now: datetime) -> Check:
    rule, calendar = "window", facts.calendar
    until = _opened(calendar, now, item.item_id)
    if until is not None and until <= now:
        return _PASSED[rule]
    reason = "quiet_hours" if windows.is_quiet(calendar, now) else "outside_window"
    words = "quiet hours" if reason == "quiet_hours" else "outside the dispatch window"
    if reason == "outside_window" and facts.rules.if_outside == "skip":
        return _skip(rule, reason, f"Ignored: {words}")
    text = "Held" if until is None else f"Held until {_local(until, facts)} {facts.zone_name}"
    return Check(rule, "hold", reason, f"{text}: {words}", until)


def _expiry(item: Item, facts: Facts, now: datetime) -> Check:
    if now < item.not_after:
        return _PASSED["expiry"]
    return _too_late(item, item.reason or "a backlog", facts)


Rule = Callable[[Item, Facts, datetime], Check]
RULES: Final[tuple[Rule, ...]] = (
    _period,
    _previous,
    _suppression,
    _conditions,
    _frequency_cap,
    _window,
    _expiry,  # the last one: `decide` puts its verdict in the place of a hold that would last too long
)


def _too_late(item: Item, held_by: str, facts: Facts) -> Check:
    text = f"Ignored: not sent before {_local(item.not_after, facts)}; held by: {held_by}"
    return _skip("expiry", "too_late", text)


def _skip(rule: str, reason: str, text: str) -> Check:
    return Check(rule, "skip", reason, text)


def _opened(calendar: Calendar, at: datetime, item_id: str) -> datetime | None:
    """`at` itself when that is open, else a moment in the next opening; None when there is none."""
    opening = windows.next_opening(calendar, at)
    if opening is None:
        return None
    return at if opening.start <= at else windows.spread_start(opening, item_id).astimezone(UTC)


def _local(instant: datetime, facts: Facts) -> str:
    return instant.astimezone(zone_of(facts.zone_name)).strftime("%Y-%m-%d %H:%M")


def _condition_words(leaf: conditions.LeafResult) -> str:
    value = "" if leaf.value is None else f" {leaf.value}"
    return f": {leaf.subject.partition(':')[2]} {leaf.operator}{value}"


def _short(text: str | None) -> str | None:
    return text if text is None or len(text) <= RESULT_CHARACTERS_MAX else f"{text[: RESULT_CHARACTERS_MAX - 1]}…"
