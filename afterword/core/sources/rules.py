"""The decision of a rule about an event of a source: whether somebody is asked, and else why nobody is."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final, Literal

import msgspec

from afterword.core.questionnaires.conditions import Node, leaves_of, matches, read
from afterword.core.reading.findings import Findings
from afterword.core.sources.parts import Value, What
from afterword.errors import FieldError

Reason = Literal["test", "too_old", "stopped", "conditions"]
SUBJECT: Final = "questionnaire_metadata:"  # of the values in conditions
# Nothing follows these: they stop what happened later too. Other events stop only what happened before them.
FINAL: Final = frozenset[What]({"order.cancelled", "order.refunded", "subscription.ended"})


class Terms(msgspec.Struct, frozen=True, kw_only=True):
    """The terms of a rule. `unless`: events of the same subject after which nobody is asked."""

    condition: Node | None
    unless: Sequence[str]
    age_days_max: int


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """An event as rules see it. `stops`: the time of the last event of each sort about the same subject."""

    time: datetime
    is_test: bool
    values: Mapping[str, Value]
    stops: Mapping[str, datetime]


def reason_against(terms: Terms, event: Event, *, now: datetime) -> Reason | None:
    """The first reason for which nobody is asked; None where somebody is."""
    if event.is_test:
        return "test"
    if event.time < now - timedelta(days=terms.age_days_max):
        return "too_old"
    if any(one in event.stops and stops(one, event.stops[one], event.time) for one in terms.unless):
        return "stopped"
    facts = {f"{SUBJECT}{name}": value for name, value in event.values.items()}
    return None if matches(terms.condition, facts) else "conditions"


def stops(what: str, time: datetime, asked_time: datetime) -> bool:
    """Whether an event of this sort and time stops what an event of `asked_time` asks."""
    return what in FINAL or time >= asked_time


def text_of(value: Value) -> str:
    """The value as metadata have it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value).removesuffix(".0")


def errors_of(condition: object) -> list[FieldError]:
    """Everything that is wrong with a condition over values."""
    findings = Findings(strict=True)
    node = read(condition, "/conditions", findings)
    if not findings.errors and any(not leaf.subject.startswith(SUBJECT) for leaf in leaves_of(node)):
        message = f"Conditions of a rule speak of values of the event: {SUBJECT}NAME."
        findings.error("/conditions", "unknown_value", message)
    return findings.errors
