"""The states of a queue item and of an instance, one table of moves each, and their public numbers."""

from enum import IntEnum
from typing import Final

from afterword import errors


class Item(IntEnum):
    """A queue item's `status` column."""

    SCHEDULED = 1
    CLAIMED = 2
    SENDING = 3
    SENT = 4
    FAILED = 5
    UNCERTAIN = 6
    ABORTED = 7
    IGNORED = 8


class PublicItem(IntEnum):
    """A queue item's `status_id` on the wire."""

    PENDING = 1
    PROCESSING = 2
    SENT = 3
    FAILED = 4
    ABORTED = 5
    IGNORED = 6


ITEM_MOVES: Final[dict[Item, frozenset[Item]]] = {
    # late proof of an earlier attempt settles a scheduled item
    Item.SCHEDULED: frozenset({Item.CLAIMED, Item.SENT, Item.ABORTED, Item.IGNORED}),
    Item.CLAIMED: frozenset({Item.SCHEDULED, Item.SENDING, Item.SENT, Item.FAILED, Item.ABORTED, Item.IGNORED}),
    Item.SENDING: frozenset({Item.SENT, Item.FAILED, Item.UNCERTAIN, Item.SCHEDULED}),
    Item.SENT: frozenset(),
    Item.FAILED: frozenset({Item.SENT}),
    Item.UNCERTAIN: frozenset({Item.SENT, Item.FAILED}),
    Item.ABORTED: frozenset(),
    Item.IGNORED: frozenset(),
}
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


class InvalidMove(errors.Conflict):
    """A move that the drawing does not have: a bug of ours, never an answer to an input."""

    code_default = "item_closed"

    def __init__(self, current: Item, to: Item) -> None:
        super().__init__(f"An item cannot go from {current.name.lower()} to {to.name.lower()}.")


def advance(current: Item, to: Item) -> Item:
    """`to`, if the drawing has that move; raises InvalidMove."""
    if to not in ITEM_MOVES[current]:
        raise InvalidMove(current, to)
    return to
