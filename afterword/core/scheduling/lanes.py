"""Fair shares: the distribution of a worker's free slots among the lanes that have something due.

Organizations first, each alike; within one its lanes by priority (0 first), equal ones alike, each at least one while
there are slots. So a hundred thousand items of one organization never keep another's single one waiting.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

LaneKey = tuple[str, str]  # organization_id, pipeline_id
AccountKey = tuple[str, str]  # organization_id, account_id
START: Final[LaneKey] = ("", "")


class DueLane(msgspec.Struct, frozen=True):
    """A lane that has something due. `items_max`: the tokens of its account, one for a probe, or no limit."""

    organization_id: str
    pipeline_id: str
    account_id: str
    priority: int
    items_max: int

    @property
    def key(self) -> LaneKey:
        return self.organization_id, self.pipeline_id

    @property
    def account(self) -> AccountKey:
        return self.organization_id, self.account_id


def share_slots(
    lanes: Sequence[DueLane], *, free: int, free_of_account: Mapping[AccountKey, int]
) -> dict[LaneKey, int]:
    """The number of items that each lane may claim, in the order of `lanes`; lanes with none are left out.

    `free_of_account`: the slots that an account may still take in this process. Its lanes share them, and its tokens.
    """
    left = {lane.account: min(free_of_account.get(lane.account, free), lane.items_max) for lane in lanes}
    shares = dict.fromkeys((lane.key for lane in lanes), 0)
    by_organization: dict[str, list[DueLane]] = defaultdict(list)
    for lane in lanes:
        by_organization[lane.organization_id].append(lane)
    unserved = list(by_organization)
    while free > 0 and unserved:
        for organization_id in list(unserved):
            lane = _next(by_organization[organization_id], shares, left)
            if lane is None:
                unserved.remove(organization_id)
            elif free > 0:
                shares[lane.key] += 1
                left[lane.account] -= 1
                free -= 1
    return {key: share for key, share in shares.items() if share}


def next_cursor(lanes: Sequence[DueLane], shares: Mapping[LaneKey, int]) -> LaneKey:
    """The key after which the next round starts: whoever got nothing comes first, organizations before lanes."""
    if not lanes:
        return START
    served = {organization_id for organization_id, _ in shares}
    for is_unserved in (lambda lane: lane.organization_id not in served, lambda lane: lane.key not in shares):
        for index, lane in enumerate(lanes):
            if index and is_unserved(lane):
                return lanes[index - 1].key
    return lanes[-1].key


def _next(lanes: Sequence[DueLane], shares: Mapping[LaneKey, int], left: Mapping[AccountKey, int]) -> DueLane | None:
    """The lane of an organization that gets the next slot: first those without any, then the first by priority."""
    able = [lane for lane in lanes if left[lane.account] > 0]
    return min(able, key=lambda lane: (shares[lane.key] > 0, lane.priority, shares[lane.key]), default=None)
