"""The decision about an item: go, hold until later, or skip for good, and why. Pure: `now` is an argument.

The first of `RULES` that does not pass decides. A further rule is a further entry.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, time, timedelta, tzinfo
from functools import lru_cache
from typing import Any, Final, Literal, final

import msgspec
from msgspec.structs import replace

from afterword.core.questionnaires import conditions, metadata
from afterword.core.questionnaires.conditions import Node
from afterword.core.scheduling import statuses, windows
from afterword.core.scheduling.windows import WEEKDAYS_ALL, Calendar, DaysOff, Hours
from afterword.core.wire.times import (
    InvalidDateTime,
    Moment,
    format_time,
    instant_of,
    moment_at,
    parse_date_time,
    zone_of,
)

RESULT_CHARACTERS_MAX: Final = 500
REMINDERS_MAX: Final = 3  # of one invitation
INVITATIONS_MAX: Final = 100  # of one address, in the days of a contact policy
CONTACTS_MAX: Final = INVITATIONS_MAX * (1 + REMINDERS_MAX)  # all that a policy may have to count
CONTACT_DAYS_MAX: Final = 367  # no cap and no policy looks further back
PREVIOUS_WAIT_MINUTES: Final = 15
COMPETITOR_WAIT_MINUTES: Final = 5
CLOSED_WAIT_MINUTES: Final = 1  # only for items claimed while the lane closed; later ones are not claimed
NO_CREDITS: Final = "no_credits"
WAITING_CREDITS: Final = "waiting_credits"
INVITATION: Final = "invitation"
REMINDER: Final = "reminder"
Verdict = Literal["go", "hold", "skip"]


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    invitations_max: int
    days: int
    response_days: int | None = None  # not asked again so long after a response
    counts_reminders: bool = False
    if_exceeded: str = "skip"


class Rules(msgspec.Struct, frozen=True, kw_only=True):
    start_time: datetime | None = None
    end_time: datetime | None = None
    is_active: bool = True
    application_active: bool = True
    is_closed: bool = False  # `responses_max` is reached
    has_credits: bool = True
    conditions: Node | None = None
    cap: timedelta = timedelta(0)
    if_capped: str = "skip"
    policy: Policy | None = None  # of the organization, if it is switched on
    is_exempt: bool = False  # from the policy; what it sends counts for the others
    window: Hours | None = None
    weekdays: frozenset[int] = WEEKDAYS_ALL
    quiet: Hours | None = None  # of the organization
    holidays: DaysOff = windows.NONE
    if_outside: str = "wait"

    @property
    def reserves_contacts(self) -> bool:
        """Whether a cap or the policy counts the lane's messages, so that each reserves a contact."""
        return bool(self.cap) or self.policy is not None

    @property
    def is_counted(self) -> bool:
        return self.policy is not None and not self.is_exempt

    def calendar(self, zone_name: str) -> Calendar:
        return _calendar(zone_name, self.window, self.weekdays, self.quiet, self.holidays)


@lru_cache(maxsize=1024)  # one for each lane and zone, not one for each item
def _calendar(
    zone_name: str, window: Hours | None, weekdays: frozenset[int], quiet: Hours | None, holidays: DaysOff
) -> Calendar:
    return Calendar(zone_of(zone_name), window, weekdays, quiet, holidays)


class Contact(msgspec.Struct, frozen=True):
    time: datetime
    pipeline_id: str
    item_id: str
    kind: str = INVITATION
    test: bool = False


class Block(msgspec.Struct, frozen=True):
    """The reason why nothing is claimed from the lane, whatever the rules say. `until`: if that is known."""

    reason: str
    text: str
    until: datetime | None = None


class Suppression(msgspec.Struct, frozen=True):
    reason: str
    created_time: datetime


class Previous(msgspec.Struct, frozen=True):
    is_open: bool
    is_sent: bool
    is_answered: bool
    is_expired: bool


class Item(msgspec.Struct, frozen=True, kw_only=True):
    item_id: str
    pipeline_id: str
    not_after: datetime
    reason: str | None = None  # of the last hold or retry
    is_reminder: bool = False
    is_belated: bool = False  # it came after `not_after`


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    rules: Rules
    zone_name: str = "UTC"
    suppression: Suppression | None = None
    metadata: conditions.Facts = {}
    contacts: Sequence[Contact] = ()
    elsewhere: Sequence[Contact] = ()  # at other addresses of the person, where these count together
    responded_time: datetime | None = None  # the person's last response, if the policy asks for it
    competitors: Sequence[str] = ()  # pipelines, by title, of due items of the same address that go first
    titles: Mapping[str, str] = {}  # of the contacts' pipelines, by id
    previous: Previous | None = None
    block: Block | None = None


class Check(msgspec.Struct, frozen=True):
    """The result of one rule. `until`: of a hold."""

    rule: str
    verdict: Verdict = "go"
    reason: str | None = None
    text: str | None = None
    until: datetime | None = None
    leaves: tuple[conditions.LeafResult, ...] = ()  # of the conditions
    is_endless: bool = False  # a hold without a known end

    @property
    def as_trace(self) -> dict[str, Any]:
        until = None if self.until is None else format_time(self.until)
        leaves = [leaf.document for leaf in self.leaves]
        kept = {"rule": self.rule, "passed": self.verdict == "go", "detail": self.text, "until_time": until}
        return {**kept, "leaves": leaves} if leaves else kept


@final
class Decision(msgspec.Struct, frozen=True):
    """The verdict. `text` is the item's `result`; `until` its new due time when it is held."""

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
    if first.verdict == "hold" and _outlasts(first, item, now):
        first = _too_late(item, first.reason or "a rule", facts)
        checks = (*checks[:-1], first)
    checks = tuple(_with_leaves(check, facts) for check in checks)
    return Decision(first.verdict, first.reason, _short(first.text), first.until, checks)


def with_opening(decision: Decision, *, item: Item, facts: Facts, requested_time: datetime) -> Decision:
    """The decision with the window's reason in it, where a `go` is later than requested because of the window."""
    closed = _window(item, facts, requested_time)
    if decision.verdict != "go" or closed.verdict != "hold":
        return decision
    checks = tuple(
        replace(check, text=closed.text) if check.rule == closed.rule else check for check in decision.checks
    )
    return msgspec.structs.replace(decision, checks=checks)


def _with_leaves(check: Check, facts: Facts) -> Check:
    """The conditions with each comparison: only an item that does not go shows them."""
    if check.rule != "conditions" or facts.rules.conditions is None:
        return check
    return replace(check, leaves=tuple(conditions.leaves(facts.rules.conditions, facts.metadata)))


def _outlasts(check: Check, item: Item, now: datetime) -> bool:
    end = now if check.is_endless else check.until
    return end is None or end >= item.not_after


def first_due(
    *, rules: Rules, zone_name: str, item_id: str, send_time: datetime, not_after: datetime, now: datetime
) -> datetime:
    """The first due time: `send_time`, now if that is past, the next opening if the lane is closed then."""
    at = max(send_time, now, rules.start_time or now)
    if rules.if_outside == "wait" and not (calendar := rules.calendar(zone_name)).is_always_open:
        at = _opened(calendar, at, item_id) or at
    return min(at, max(not_after, now))


def counted_from(text: str, *, delay: timedelta, zone: tzinfo, now: datetime) -> Moment:
    """The delay after a date, by the clocks of the zone; a date alone begins at midnight. Raises InvalidDateTime."""
    day = metadata.typed("date", text)
    if day is None:
        raise InvalidDateTime("invalid_format", metadata.NOT_TYPED["date"])
    begin = parse_date_time(text if ":" in text else f"{day} 00:00", zone=zone, now=now, lax=True)
    return moment_at(instant_of(begin.instant.astimezone(zone).replace(tzinfo=None) + delay, zone), zone)


def expiry(*, send_time: datetime, created_time: datetime, not_after_days: int, valid_days: int) -> datetime:
    """`not_after`: days after the later of both times, and no later than the instance could be answered."""
    days = min(not_after_days, valid_days) if valid_days else not_after_days
    return max(send_time, created_time) + timedelta(days=days)


def hours_of(start: time | None, end: time | None) -> Hours | None:
    """The daily window of two columns that are both null or neither."""
    return None if start is None or end is None else Hours(start, end)


# The rules, in their order ------------------------------------------------------------------------------------


_NAMES: Final = (
    "period", "credits", "previous", "suppression", "conditions", "frequency_cap", "contact_policy", "window", "expiry",
)  # fmt: skip
_PASSED: Final[Mapping[str, Check]] = {name: Check(name) for name in _NAMES}


def _period(item: Item, facts: Facts, now: datetime) -> Check:  # noqa: PLR0911  one return for each reason
    rules, rule, block = facts.rules, "period", facts.block
    if not rules.is_active:
        return _skip(rule, "inactive", "the questionnaire is not active")
    if rules.end_time is not None and now >= rules.end_time:
        return _skip(rule, "ended", f"the pipeline ended on {_zoned(rules.end_time, facts)}")
    if rules.is_closed:
        return _skip(rule, "closed", "the questionnaire has all the responses it takes")
    if not rules.application_active:
        return _hold(rule, "application_inactive", "the application is not active", _closed_until(item, now))
    if rules.start_time is not None and now < rules.start_time:
        text = f"the pipeline starts on {_zoned(rules.start_time, facts)}"
        return _hold(rule, "not_started", text, rules.start_time)
    if block is not None:
        until = block.until
        words = block.text if until is None else f"{block.text}, tried again at {_zoned(until, facts)}"
        return Check(rule, "hold", block.reason, f"Held: {words}", until, is_endless=until is None)
    return _PASSED[rule]


def _credits(item: Item, facts: Facts, now: datetime) -> Check:
    rule = "credits"
    if facts.rules.has_credits:
        return _PASSED[rule]
    return Check(rule, "hold", NO_CREDITS, WAITING_CREDITS, _closed_until(item, now))


def _closed_until(item: Item, now: datetime) -> datetime:
    """The next decision about an item of a closed lane: before `not_after`, since the lane may open until then."""
    until = now + timedelta(minutes=CLOSED_WAIT_MINUTES)
    return item.not_after - datetime.resolution if now < item.not_after <= until else until


def _previous(item: Item, facts: Facts, now: datetime) -> Check:  # noqa: PLR0911  one return for each reason
    rule, previous = "previous", facts.previous
    if previous is None:
        return _PASSED[rule]
    if previous.is_open:  # reminder or not, it does not overtake
        until = now + timedelta(minutes=PREVIOUS_WAIT_MINUTES)
        return _hold(rule, "previous_open", "the message before this one is still under way", until)
    if not item.is_reminder:
        return _PASSED[rule]
    if not previous.is_sent:
        return _skip(rule, "previous_not_sent", "the message before this one was not sent")
    if previous.is_answered:
        return _skip(rule, "already_answered", "already answered")
    if previous.is_expired:
        return _skip(rule, "instance_expired", "the questionnaire can no longer be answered")
    return _PASSED[rule]


def _suppression(item: Item, facts: Facts, now: datetime) -> Check:  # noqa: ARG001
    found = facts.suppression
    if found is None:
        return _PASSED["suppression"]
    words = statuses.SUPPRESSED.get(found.reason, found.reason)
    day = found.created_time.astimezone(zone_of(facts.zone_name)).date().isoformat()
    return _skip("suppression", found.reason, f"{words} on {day}")


def _conditions(item: Item, facts: Facts, now: datetime) -> Check:  # noqa: ARG001
    tree = facts.rules.conditions
    if conditions.matches(tree, facts.metadata):
        return _PASSED["conditions"]
    leaf = conditions.first_unmet(tree, facts.metadata)
    words = "" if leaf is None else _condition_words(leaf)
    return _skip("conditions", "conditions", f"condition not met{words}")


def _frequency_cap(item: Item, facts: Facts, now: datetime) -> Check:
    rule, rules = "frequency_cap", facts.rules
    if not rules.cap or item.is_reminder:
        return _PASSED[rule]
    asked = [c.time for c in facts.contacts if c.pipeline_id == item.pipeline_id and c.item_id != item.item_id]
    last = max(asked, default=None)
    if last is None or last + rules.cap <= now:
        return _PASSED[rule]
    again = last + rules.cap
    text = f"asked on {_local(last, facts)}, possible again from {_zoned(again, facts)}"
    return _exceeded(rule, rules.if_capped, text, again)


def _contact_policy(item: Item, facts: Facts, now: datetime) -> Check:
    rule, policy = "contact_policy", facts.rules.policy
    if policy is None or facts.rules.is_exempt or (item.is_reminder and not policy.counts_reminders):
        return _PASSED[rule]
    answered, rest = facts.responded_time, timedelta(days=policy.response_days or 0)
    if answered is not None and answered + rest > now:
        text = f"answered on {_local(answered, facts)}, asked again from {_zoned(answered + rest, facts)}"
        return _exceeded(rule, policy.if_exceeded, text, answered + rest)
    counted = _counted(policy, item, facts, now)
    if len(counted) >= policy.invitations_max:
        first, last = counted[len(counted) - policy.invitations_max], counted[-1]
        title = facts.titles.get(last.pipeline_id)
        noun = f"{'message' if policy.counts_reminders else 'invitation'}{'' if len(counted) == 1 else 's'}"
        text = (
            f"{len(counted)} {noun} since {_zoned(counted[0].time, facts)}, limit {policy.invitations_max} in "
            f"{policy.days} {'day' if policy.days == 1 else 'days'}{f'; the last from “{title}”' if title else ''}"
        )
        return _exceeded(rule, policy.if_exceeded, text, first.time + timedelta(days=policy.days))
    if len(counted) + len(facts.competitors) >= policy.invitations_max:
        # Held, not skipped: an item that goes first may still be refused, and then this one may go.
        text = f"makes way for “{facts.competitors[0]}”, which is due for the same person and goes first"
        return _hold(rule, rule, text, now + timedelta(minutes=COMPETITOR_WAIT_MINUTES))
    return _PASSED[rule]


def _counted(policy: Policy, item: Item, facts: Facts, now: datetime) -> list[Contact]:
    since = now - timedelta(days=policy.days)
    return sorted(
        (
            contact
            for contact in (*facts.contacts, *facts.elsewhere)
            if contact.item_id != item.item_id
            and contact.time > since
            and (contact.kind == INVITATION or policy.counts_reminders)
        ),
        key=lambda contact: contact.time,
    )


def _exceeded(rule: str, if_exceeded: str, text: str, until: datetime) -> Check:
    return _hold(rule, rule, text, until) if if_exceeded == "wait" else _skip(rule, rule, text)


_CLOSED: Final[Mapping[windows.Closed, tuple[str, str]]] = {
    "window": ("outside_window", "outside the dispatch window"),
    "holiday": ("holiday", "a holiday"),
    "quiet": ("quiet_hours", "quiet hours"),
}


def _window(item: Item, facts: Facts, now: datetime) -> Check:
    rule, calendar = "window", facts.rules.calendar(facts.zone_name)
    closed = windows.closed_by(calendar, now)
    if closed is None:
        return _PASSED[rule]
    until = _opened(calendar, now, item.item_id)
    reason, words = _CLOSED[closed]
    if closed == "window" and facts.rules.if_outside == "skip":
        return _skip(rule, reason, f"{words}")
    text = "Held" if until is None else f"Held until {_zoned(until, facts)}"
    return Check(rule, "hold", reason, f"{text}: {words}", until)


def _expiry(item: Item, facts: Facts, now: datetime) -> Check:
    if now < item.not_after:
        return _PASSED["expiry"]
    if item.is_belated:
        return _skip("expiry", "too_late", f"it came after {_zoned(item.not_after, facts)}, the latest time to send it")
    return _too_late(item, item.reason or "a backlog", facts)


Rule = Callable[[Item, Facts, datetime], Check]
RULES: Final[tuple[Rule, ...]] = (
    _period,
    _credits,
    _previous,
    _suppression,
    _conditions,
    _frequency_cap,
    _contact_policy,
    _window,
    _expiry,  # the last one: `decide` puts its verdict instead of a hold that would last too long
)


def _too_late(item: Item, held_by: str, facts: Facts) -> Check:
    words = statuses.HELD_BY.get(held_by, held_by)
    return _skip("expiry", "too_late", f"not sent before {_zoned(item.not_after, facts)}; held by: {words}")


def _skip(rule: str, reason: str, text: str) -> Check:
    return Check(rule, "skip", reason, f"Ignored: {text}")


def _hold(rule: str, reason: str, text: str, until: datetime) -> Check:
    return Check(rule, "hold", reason, f"Held: {text}", until)


def _opened(calendar: Calendar, at: datetime, item_id: str) -> datetime | None:
    """`at` itself when that is open, else a moment in the next opening; None when there is none."""
    opening = windows.next_opening(calendar, at)
    if opening is None:
        return None
    return at if opening.start <= at else windows.spread_start(opening, item_id).astimezone(UTC)


def _zoned(instant: datetime, facts: Facts) -> str:
    return f"{_local(instant, facts)} {facts.zone_name}"


def _local(instant: datetime, facts: Facts) -> str:
    return instant.astimezone(zone_of(facts.zone_name)).strftime("%Y-%m-%d %H:%M")


def _words_of(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (list, tuple)):
        return ", ".join(_words_of(each) for each in value)
    return str(value)


def _condition_words(leaf: conditions.LeafResult) -> str:
    value = "" if leaf.value is None else f" {_words_of(leaf.value)}"
    negation = "not " if leaf.matches else ""  # a leaf that is met can only fail the condition under a `not`
    return f": {negation}{leaf.subject.partition(':')[2]} {leaf.operator}{value}"


def _short(text: str | None) -> str | None:
    return text if text is None or len(text) <= RESULT_CHARACTERS_MAX else f"{text[: RESULT_CHARACTERS_MAX - 1]}…"
