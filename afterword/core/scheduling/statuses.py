"""The states of a queue item, the one table of its moves, and their public numbers.

The services make these moves and no others, each as a compare-and-set: the guard stands in the statement's condition.
Tests compare this table with the outcomes, the model of all interleavings, random moves in a real database and the
picture in STATES.md.
"""

from collections.abc import Mapping
from enum import IntEnum
from typing import Final

import msgspec

from afterword import errors
from afterword.core.text.locales import Marked

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
SUPPRESSED: Final[Mapping[str, Marked]] = {
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


class Move(msgspec.Struct, frozen=True):
    """One kind of move. STATES.md describes the guard of its statement, and what its transaction does besides."""

    name: str
    sources: frozenset[Item]
    targets: frozenset[Item]

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


def _move(states: str) -> Move:
    """A move from `name: sources → targets`; without targets it keeps the state."""
    name, _, path = states.partition(": ")
    sources, _, targets = path.partition(" → ")
    return Move(name, _items(sources), _items(targets))


def _items(names: str) -> frozenset[Item]:
    return frozenset(Item[name.upper()] for name in names.split(", ") if name)


CLAIM: Final = _move("claim: scheduled → claimed")
HOLD: Final = _move("hold: claimed → scheduled")
SKIP: Final = _move("skip: claimed → ignored")
RELEASE: Final = _move("release: claimed → scheduled")
GIVE_UP: Final = _move("give up: claimed → scheduled, failed")
RENEW: Final = _move("renew: claimed, sending")
BEGIN: Final = _move("begin: claimed → sending")
ACCEPTED: Final = _move("accepted: sending → sent")
REFUSED: Final = _move("refused: sending → failed")
RETRY: Final = _move("retry: sending → scheduled, failed")
THROTTLED: Final = _move("throttled: sending → scheduled")
UNKNOWN: Final = _move("unknown: sending → scheduled, failed, uncertain")
ALREADY_ACCEPTED: Final = _move("already accepted: sending → sent")
REAP_CLAIMED: Final = _move("reap claimed: claimed → scheduled, failed")
REAP_SENDING: Final = _move("reap sending: sending → scheduled, failed, uncertain, sent")
LATE_ACCEPTANCE: Final = _move("late acceptance: scheduled, claimed, failed, uncertain → sent")
LATE_ACCEPTANCE_NOTED: Final = _move("late acceptance noted: sending, sent, failed, aborted, ignored")
RECORD_AGAIN: Final = _move("record again: scheduled, claimed, sending → sending")
RECORD_AGAIN_NOTED: Final = _move(
    "record again noted: scheduled, claimed, sending, sent, failed, uncertain, aborted, ignored"
)
CANCEL: Final = _move("cancel: scheduled, claimed → aborted")
EDIT: Final = _move("edit: scheduled")
RESOLVE: Final = _move("resolve: uncertain → sent, failed")
DELETE: Final = _move("delete: failed, aborted, ignored")

MOVES: Final[tuple[Move, ...]] = (
    CLAIM, HOLD, SKIP, RELEASE, GIVE_UP, RENEW, BEGIN, ACCEPTED, REFUSED, RETRY, THROTTLED, UNKNOWN, ALREADY_ACCEPTED,
    REAP_CLAIMED, REAP_SENDING, LATE_ACCEPTANCE, LATE_ACCEPTANCE_NOTED, RECORD_AGAIN, RECORD_AGAIN_NOTED, CANCEL, EDIT,
    RESOLVE, DELETE,
)  # fmt: skip
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
