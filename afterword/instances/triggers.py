"""Responses that events of the log tell of, for rules that act on them: alerts and sequences."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from afterword.core.messaging.alerts import TRIGGERS
from afterword.core.questionnaires.conditions import Facts
from afterword.db import Database
from afterword.events.service import Event
from afterword.instances import facts

UPDATED: Final = "questionnaire_instance.updated"

ResponseKey = tuple[str, str]  # organization_id, instance_id


@dataclass(slots=True)
class Response:
    organization_id: str
    instance_id: str
    questionnaire_id: str
    responder_id: str | None
    test: bool
    triggers: set[str] = field(default_factory=set[str])
    last_time: datetime | None = None


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
