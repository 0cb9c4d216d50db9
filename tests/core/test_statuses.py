import itertools

import pytest

from afterword.core.statuses import ITEM_MOVES, ITEM_TERMINAL, PUBLIC_ITEM, InvalidMove, Item, PublicItem, advance

S, C, B, SENT, F, U, A, I = Item  # noqa: E741  scheduled, claimed, sending, sent, failed, uncertain, aborted, ignored
DRAWN = {
    (S, C), (S, SENT), (S, A), (S, I),
    (C, S), (C, B), (C, SENT), (C, F), (C, A), (C, I),
    (B, SENT), (B, F), (B, U), (B, S),
    (F, SENT), (U, SENT), (U, F),
}  # fmt: skip
# The public table of moves (resources.md 3.2), to itself where an inner move does not show.
PUBLIC = {(1, 2), (1, 3), (1, 5), (1, 6), (2, 1), (2, 2), (2, 3), (2, 4), (2, 5), (2, 6), (4, 3), (4, 4)}


@pytest.mark.parametrize(("current", "to"), list(itertools.product(Item, Item)))
def test_advance(current: Item, to: Item) -> None:
    if (current, to) in DRAWN:
        assert to is advance(current, to)
        return
    with pytest.raises(InvalidMove) as refusal:
        advance(current, to)
    assert (409, "item_closed") == (refusal.value.status, refusal.value.code)


def test_every_status_is_drawn() -> None:
    assert set(Item) == ITEM_MOVES.keys() == PUBLIC_ITEM.keys()
    assert DRAWN == {(current, to) for current, targets in ITEM_MOVES.items() for to in targets}


def test_terminal_is_what_never_goes_back() -> None:
    open_ones = {S, C, B}

    assert set(Item) - open_ones == ITEM_TERMINAL
    assert not [move for move in DRAWN if move[0] in ITEM_TERMINAL and move[1] in open_ones]


def test_public_moves() -> None:
    assert {(PUBLIC_ITEM[current], PUBLIC_ITEM[to]) for current, to in DRAWN} == PUBLIC
    assert list(range(1, 7)) == sorted(PublicItem)


def test_every_status_can_end() -> None:
    reaching = set(ITEM_TERMINAL)
    while more := {item for item, targets in ITEM_MOVES.items() if targets & reaching} - reaching:
        reaching |= more
    assert set(Item) == reaching
