"""Responses that events of the log tell of, for rules that act on them: alerts and sequences."""

from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Generic, TypeVar

from afterword.asking.instances import facts
from afterword.core.messaging import alerts
from afterword.core.messaging.alerts import TRIGGERS, Match
from afterword.core.questionnaires import conditions
from afterword.core.questionnaires.conditions import Facts
from afterword.events.service import Event
from afterword.kit.db import Database

UPDATED: Final = "questionnaire_instance.updated"

ResponseKey = tuple[str, str]  # organization_id, instance_id
RuleKey = tuple[str, str, str]
T = TypeVar("T")


@dataclass(slots=True)
class Response:
    organization_id: str
    instance_id: str
    questionnaire_id: str
    responder_id: str | None
    test: bool
    triggers: set[str] = field(default_factory=set[str])
    last_time: datetime | None = None

    @property
    def key(self) -> ResponseKey:
        return self.organization_id, self.instance_id


def responses_of(batch: Sequence[Event]) -> list[Response]:
    """The responses to look at, each once, in the order of their first event."""
    found: dict[ResponseKey, Response] = {}
    for event in batch:
        triggers = TRIGGERS.get(event.type)
        is_edit_before_the_end = event.type == UPDATED and not event.data.get("finalized")
        if triggers is None or is_edit_before_the_end or event.subject_id is None or event.questionnaire_id is None:
            continue
        key = event.organization_id, event.subject_id
        response = found.setdefault(
            key, Response(*key, event.questionnaire_id, event.data.get("responder_id"), event.test)
        )
        response.triggers |= triggers
        response.last_time = _time_of(event)
    return list(found.values())


@dataclass(frozen=True, slots=True)
class Matched(Generic[T]):
    response: Response
    rule: T
    match: Match
    facts: Facts


async def matched(
    db: Database,
    *,
    responses: Sequence[Response],
    rules: Mapping[RuleKey, T],
    rule_of: Callable[[T], Any],
    list_made: Callable[[Sequence[RuleKey]], Awaitable[Collection[RuleKey]]],
) -> list[Matched[T]]:
    """The pairs of response and rule whose conditions hold, of rules that were in force when it was given.

    `rules`: by organization, rule and the questionnaire that each is about. `rule_of`: its trigger, time, conditions.
    `list_made`: of keys (organization, rule, instance) those that an earlier event matched; they are left out.
    """
    by_questionnaire: defaultdict[tuple[str, str], list[tuple[str, T]]] = defaultdict(list)
    for (organization_id, rule_id, questionnaire_id), each in rules.items():
        by_questionnaire[organization_id, questionnaire_id].append((rule_id, each))
    wanted = [
        (response, rule_id, each)
        for response in responses
        for rule_id, each in by_questionnaire[response.organization_id, response.questionnaire_id]
        if applies(response, trigger=rule_of(each).trigger, since_time=rule_of(each).since_time)
    ]
    keys = [(response.organization_id, rule_id, response.instance_id) for response, rule_id, _ in wanted]
    made = await list_made(keys) if keys else ()
    wanted = [one for one, key in zip(wanted, keys, strict=True) if key not in made]
    facts = await facts_of(db, responses=[response for response, _, _ in wanted])
    nodes = {rule_id: conditions.read_saved(rule_of(each).conditions) for _, rule_id, each in wanted}
    found: list[Matched[T]] = []
    for response, rule_id, each in wanted:
        known = facts.get(response.key)
        if known is not None:  # else it was deleted since
            found.append(Matched(response, each, alerts.judge(nodes[rule_id], known), known))
    return [one for one in found if one.match.holds]


def applies(response: Response, *, trigger: str, since_time: datetime) -> bool:
    """True if a rule with this trigger, in force since that time, is about what happened to the response."""
    return trigger in response.triggers and (response.last_time is None or since_time <= response.last_time)


async def facts_of(db: Database, *, responses: Iterable[Response]) -> Mapping[ResponseKey, Facts]:
    """The facts of responses of any organization; deleted ones are left out."""
    by_organization: defaultdict[str, set[str]] = defaultdict(set)
    for response in responses:
        by_organization[response.organization_id].add(response.instance_id)
    return {
        (organization_id, instance_id): known
        for organization_id, instance_ids in sorted(by_organization.items())
        for instance_id, known in (
            await facts.list_facts(db, organization_id=organization_id, instance_ids=sorted(instance_ids))
        ).items()
    }


def _time_of(event: Event) -> datetime:
    """The time of an event; of an edit the completion of its response, since new rules do not reach back."""
    completed = event.data.get("completed_time") if event.type == UPDATED else None
    return datetime.fromisoformat(completed) if isinstance(completed, str) else event.created_time
