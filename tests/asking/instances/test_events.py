"""The events of an instance's change, in their order."""

from datetime import timedelta

import msgspec
import pytest

from afterword.asking.instances import service
from tests.asking.instances.conftest import NOW, World

OVER = NOW + timedelta(days=400)


@pytest.mark.parametrize(
    ("before", "after", "kinds"),
    [
        ({}, {}, ["updated"]),
        ({"valid_days": 1}, {"valid_days": 0}, ["updated", "reopened"]),
        ({"valid_days": 0}, {"valid_days": 1}, ["updated", "expired"]),
        ({"valid_days": 1}, {"valid_days": 2}, ["updated"]),
        ({"valid_days": 0, "finalized": True}, {"valid_days": 1, "finalized": True}, ["updated"]),
    ],
)
async def test_of_update(world: World, before: dict[str, object], after: dict[str, object], kinds: list[str]) -> None:
    base = msgspec.structs.replace(await world.issue(), sent_time=NOW)
    old, new = msgspec.structs.replace(base, **before), msgspec.structs.replace(base, **after)
    told = service._events(old, new, caller=world.caller, now=OVER)
    assert [f"questionnaire_instance.{kind}" for kind in kinds] == [event.type for event in told]


async def test_of_whom(world: World) -> None:
    instance = await world.issue()
    assert "responder" == instance.event("viewed", now=NOW).actor_kind
    ours = instance.event("updated", now=NOW, caller=world.caller)
    assert (world.caller.actor_id, instance.version) == (ours.actor_id, ours.subject_version)
    assert "metadata" not in ours.data
