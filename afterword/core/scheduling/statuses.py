"""The states of a queue item, the one table of its moves (`moves.toml`), and their public numbers.

The services make these moves and no others, each as a compare-and-set: the guard stands in the statement's condition.
Tests compare this table with the outcomes, the model of all interleavings, random moves in a real database and the
picture in STATES.md.
"""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum
from importlib import resources
from typing import Final

from afterword import errors

# The causes of a hold: a rule, the lane, an attempt. Each with the words of "held by: …".
BY_RULE: Final[Mapping[str, str]] = {
    "not_started": "a pipeline that has not started", "application_inactive": "an application that is not active",
    "no_credits": "credits that are used up", "previous_open": "the message before this one",
    "frequency_cap": "the frequency cap", "contact_policy": "the contact policy",
    "outside_window": "the dispatch window", "holiday": "a holiday", "quiet_hours": "quiet hours",
}  # fmt: skip
BY_LANE: Final[Mapping[str, str]] = {  # shown by a trace alone; the item stays as it is
    "paused": "a paused pipeline",
    "account_paused": "an account that waits for a person",
    "account_resting": "a provider that does not answer",
    "no_account": "an account that is missing",
    "all_paused": "a pause of all sending",
}
BY_ATTEMPT: Final[Mapping[str, str]] = {
    "throttled": "a provider that takes no more for now", "connection": "a provider that could not be reached",
    "account": "an account that is refused by its provider", "retry": "attempts that failed",
    "outcome_unknown": "an attempt of which nobody knows what became", "worker_lost": "a worker that was lost",
    "error": "an error of ours",
}  # fmt: skip
HELD_BY: Final[Mapping[str, str]] = {**BY_RULE, **BY_LANE, **BY_ATTEMPT}

# The reasons of suppressions.
SUPPRESSED: Final[Mapping[str, str]] = {
    "unsubscribed": "unsubscribed", "hard_bounce": "the address did not exist",
    "complaint": "the recipient complained", "blocked": "the address was blocked", "erased": "the person was erased",
}  # fmt: skip

# The reasons that end an item unsent; those that hold under `wait` are among them.
SKIPPED: Final = frozenset({
    "ended", "inactive", "closed",
    "previous_not_sent", "already_answered", "instance_expired",
    *SUPPRESSED,
    "conditions", "frequency_cap", "contact_policy", "outside_window", "too_late",
})  # fmt: skip
FAILED: Final = frozenset({"refused", "retry", "outcome_unknown", "worker_lost", "error"})
REASONS: Final = frozenset({*HELD_BY, *SKIPPED, *FAILED})


class Item(IntEnum):
    SCHEDULED = 1
    CLAIMED = 2
    SENDING = 3
    SENT = 4
    FAILED = 5
    UNCERTAIN = 6
    ABORTED = 7
    IGNORED = 8


class PublicItem(IntEnum):
    PENDING = 1
    PROCESSING = 2
    SENT = 3
    FAILED = 4
    ABORTED = 5
    IGNORED = 6


class InvalidMove(errors.Conflict):
    """A move that the table does not have: a bug, never caused by an input."""

    code_default = "item_closed"

    def __init__(self, name: str, current: Item, to: Item) -> None:
        super().__init__(f"“{name}” does not lead from {current.name.lower()} to {to.name.lower()}.")


@dataclass(frozen=True, slots=True)
class Move:
    """One kind of move. `guard` and `effect` describe its statement, which runs in one transaction."""

    name: str
    sources: frozenset[Item]
    targets: frozenset[Item]
    guard: str
    effect: str

    @property
    def arcs(self) -> frozenset[tuple[Item, Item]]:
        """The pairs of states that it leads between; a move without targets keeps the state."""
        if not self.targets:
            return frozenset((item, item) for item in self.sources)
        return frozenset((current, to) for current in self.sources for to in self.targets)

    def step(self, current: Item, to: Item) -> Item:
        """`to`, if this move leads there from `current`; raises InvalidMove."""
        if (current, to) not in self.arcs:
            raise InvalidMove(self.name, current, to)
        return to


def _moves() -> Iterator[Move]:
    text = (resources.files(__package__ or "") / "moves.toml").read_text("utf-8")
    for name, one in tomllib.loads(text).items():
        sources, targets = (frozenset(Item[each.upper()] for each in one.get(end, ())) for end in ("from", "to"))
        yield Move(name, sources, targets, one["guard"], one["effect"])


MOVES: Final = tuple(_moves())
(
    CLAIM, HOLD, SKIP, RELEASE, GIVE_UP, RENEW, BEGIN, ACCEPTED, REFUSED, RETRY, THROTTLED, UNKNOWN, ALREADY_ACCEPTED,
    REAP_CLAIMED, REAP_SENDING, LATE_ACCEPTANCE, LATE_ACCEPTANCE_NOTED, RECORD_AGAIN, RECORD_AGAIN_NOTED, CANCEL, EDIT,
    RESOLVE, DELETE,
) = MOVES  # fmt: skip
ITEM_TERMINAL: Final = frozenset({Item.SENT, Item.FAILED, Item.UNCERTAIN, Item.ABORTED, Item.IGNORED})
PUBLIC_ITEM: Final[dict[Item, PublicItem]] = {
    Item.SCHEDULED: PublicItem.PENDING,
    Item.CLAIMED: PublicItem.PROCESSING,
    Item.SENDING: PublicItem.PROCESSING,
    Item.SENT: PublicItem.SENT,
    Item.FAILED: PublicItem.FAILED,
    Item.UNCERTAIN: PublicItem.FAILED,
    Item.ABORTED: PublicItem.ABORTED,
    Item.IGNORED: PublicItem.IGNORED,
}
