"""The events of a case: what a change tells, and that answers stay out of the log."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from afterword.cases.alert_instances import service
from afterword.cases.alert_instances.store import Case
from tests.conftest import House

NOW = datetime(2026, 11, 21, tzinfo=UTC)
CASE = Case(
    organization_id="o", alert_instance_id="i", alert_id="a", questionnaire_id="q", instance_id="n", responder_id="r",
    status_id=1, assigned_user_id=None, severity="low", due_time=None, occurrences=1,
    matched=[{"subject": "question:x", "actual": "my words"}], comments_count=0, resolved_time=None, resolved_by=None,
    recovery_item_id=None, version=1, created_time=NOW, updated_time=NOW, updated_by=None,
)  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "kinds"),
    [
        ({}, []),
        ({"severity": "high"}, []),
        ({"assigned_user_id": "u"}, ["assigned"]),
        ({"status_id": 2}, ["status_changed"]),
        ({"status_id": 3, "resolved_time": NOW}, ["status_changed", "resolved"]),
    ],
)
def test_of_update(house: House, changes: dict[str, Any], kinds: list[str]) -> None:
    told = service.of_update(CASE, replace(CASE, **changes), caller=house.caller, now=NOW)
    assert [f"alert_instance.{kind}" for kind in kinds] == [event.type for event in told]


def test_reopened(house: House) -> None:
    [told] = service.of_update(replace(CASE, resolved_time=NOW), CASE, caller=house.caller, now=NOW)
    assert ("alert_instance.reopened", house.caller.actor_id) == (told.type, told.actor_id)


def test_answers_stay_out() -> None:
    told = service.event(CASE, "created", now=NOW)
    assert "my words" not in str(told.data)
    assert ("worker", None) == (told.actor_kind, told.actor_id)
