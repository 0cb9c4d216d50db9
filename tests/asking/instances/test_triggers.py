"""Responses that events tell of: each once, and rules that are younger than what happened do not reach back."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from afterword.asking.instances import triggers
from afterword.events.service import Event

NOW = datetime(2026, 11, 21, tzinfo=UTC)
SUBMITTED, COMPLETED = "questionnaire_instance.submitted", "questionnaire_instance.completed"


def event(kind: str, *, subject: str | None = "i", minutes: int = 0, **data: Any) -> Event:
    return Event(
        organization_id="o", event_id="e", seq=1, type=kind, questionnaire_id="q", subject_id=subject,
        subject_version=1, is_terminal=False, actor_kind="responder", actor_id=None, test=False, data=data,
        created_time=NOW + timedelta(minutes=minutes),
    )  # fmt: skip


@pytest.mark.parametrize(
    "told",
    [event("questionnaire_instance.viewed"), event(SUBMITTED, subject=None), event(triggers.UPDATED, finalized=False)],
)
def test_nothing_to_look_at(told: Event) -> None:
    assert [] == triggers.responses_of([told])


def test_each_response_once() -> None:
    batch = [event(SUBMITTED), event(SUBMITTED, subject="j"), event(COMPLETED, minutes=5)]
    first, second = triggers.responses_of(batch)
    assert ("i", {"submitted", "completed"}) == (first.instance_id, first.triggers)
    assert ("j", {"submitted"}) == (second.instance_id, second.triggers)
    assert triggers.applies(first, trigger="completed", since_time=NOW + timedelta(minutes=5))
    assert not triggers.applies(first, trigger="completed", since_time=NOW + timedelta(minutes=6))
    assert not triggers.applies(second, trigger="completed", since_time=NOW)


def test_an_edit_is_of_the_time_of_its_response() -> None:
    completed = (NOW - timedelta(days=1)).isoformat()
    [found] = triggers.responses_of([event(triggers.UPDATED, finalized=True, completed_time=completed)])
    assert not triggers.applies(found, trigger="completed", since_time=NOW)
