"""Fair shares: how the free slots of a worker are dealt among the lanes that have something due.

Organizations first, each alike; within one its lanes by priority (0 first), equal ones alike, each at least one while
there are slots. So a hundred thousand items of one organization never keep another's single one waiting.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

LaneKey = tuple[str, str]  # organization_id, pipeline_id
AccountKey = tuple[str, str]  # organization_id, account_id
START: Final[LaneKey] = ("", "")


@dataclass(frozen=True, slots=True)
class Turn:
    """A lane that has something due, as far as dealing goes. `items_max`: tokens left, a probe's one, or no limit."""

    organization_id: str
    pipeline_id: str
    account_id: str
    priority: int
    items_max: int

    @property
    def key(self) -> LaneKey:
        """Names the lane."""
        return self.organization_id, self.pipeline_id

    @property
    def account(self) -> AccountKey:
        """Names the account that the lane sends through."""
        return self.organization_id, self.account_id


def share_slots(turns: Sequence[Turn], *, free: int, free_of_account: Mapping[AccountKey, int]) -> dict[LaneKey, int]:
    """The number of items that each lane may claim, in the order of `turns`; lanes with none are left out.

    `free_of_account`: the slots that an account may still take in this process. Its lanes share them, and its tokens.
    """
    left = {turn.account: min(free_of_account.get(turn.account, free), turn.items_max) for turn in turns}
    shares = dict.fromkeys((turn.key for turn in turns), 0)
    lanes: dict[str, list[Turn]] = defaultdict(list)
    for turn in turns:
        lanes[turn.organization_id].append(turn)
    hungry = list(lanes)
    while free > 0 and hungry:
        for organization_id in list(hungry):
            turn = _next(lanes[organization_id], shares, left)
            if turn is None:
                hungry.remove(organization_id)
            elif free > 0:
                shares[turn.key] += 1
                left[turn.account] -= 1
                free -= 1
    return {key: share for key, share in shares.items() if share}


def next_cursor(turns: Sequence[Turn], shares: Mapping[LaneKey, int]) -> LaneKey:
    """The key behind which the next turn starts: whoever got nothing comes first, organizations before lanes."""
    if not turns:
        return START
    served = {organization_id for organization_id, _ in shares}
    for test in (lambda turn: turn.organization_id not in served, lambda turn: turn.key not in shares):
        for place, turn in enumerate(turns):
            if place and test(turn):
                return turns[place - 1].key
    return turns[-1].key


def _next(lanes: Sequence[Turn], shares: Mapping[LaneKey, int], left: Mapping[AccountKey, int]) -> Turn | None:
    """The lane of an organization that gets the next slot: first those without any, then the first by priority."""
    able = [turn for turn in lanes if left[turn.account] > 0]
    if not able:
        return None
    return min(able, key=lambda turn: (shares[turn.key] > 0, turn.priority, shares[turn.key]))
