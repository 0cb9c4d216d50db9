"""Trees of instances out of rows: each child once below its parent, the oldest first."""

from datetime import timedelta

import msgspec

from afterword.asking.instances.resources import children_of
from tests.asking.instances.conftest import NOW, World


async def test_children(world: World) -> None:
    root = await world.issue()

    def child(name: str, parent: str, minutes: int) -> "msgspec.Struct":
        return msgspec.structs.replace(
            root, instance_id=name, previous_questionnaire_instance_id=parent,
            created_time=NOW + timedelta(minutes=minutes),
        )  # fmt: skip

    rows = [child("late", "root", 3), child("b", "root", 1), child("a", "root", 1), child("deep", "a", 2)]
    found = children_of([*rows, rows[0]])  # pyrefly: ignore[bad-argument-type]
    assert {"root": ["a", "b", "late"], "a": ["deep"]} == {
        parent: [each.instance_id for each in below] for parent, below in found.items()
    }


def test_nothing() -> None:
    assert {} == children_of([])
