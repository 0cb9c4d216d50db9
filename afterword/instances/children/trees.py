"""Builds trees of instances and their children from rows."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

from afterword.instances.store import Instance

DEPTH_MAX: Final = 5  # generations below an instance
CHILDREN_MAX: Final = 100  # of one instance
DESCENDANTS_MAX: Final = 10_000  # of a page; beyond, the furthest generations are left out

Children = Mapping[str, Sequence[Instance]]


def children_of(descendants: Sequence[Instance]) -> Children:
    """Children by parent instance, the oldest first; each appears once."""
    found: defaultdict[str, list[Instance]] = defaultdict(list)
    known = {instance.instance_id: instance for instance in descendants}
    for instance in sorted(known.values(), key=lambda each: (each.created_time, each.instance_id)):
        found[instance.previous_questionnaire_instance_id or ""].append(instance)
    return found
