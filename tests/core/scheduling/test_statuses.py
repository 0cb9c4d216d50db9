import ast
import itertools
import os
import pathlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from afterword.core.scheduling import statuses
from afterword.core.scheduling.statuses import (
    CLAIM,
    HOLD,
    ITEM_TERMINAL,
    MOVES,
    PUBLIC_ITEM,
    SKIP,
    InvalidMove,
    Item,
    Move,
    PublicItem,
)
from afterword.kit.transport.base import Cause
from afterword.people.responders.suppressions import REASONS as SUPPRESSION_REASONS

S, C, B, SENT, F, U, A, I = Item  # noqa: E741  scheduled, claimed, sending, sent, failed, uncertain, aborted, ignored
DRAWN = {
    (S, C), (S, B), (S, SENT), (S, A),
    (C, S), (C, B), (C, SENT), (C, F), (C, A), (C, I),
    (B, SENT), (B, F), (B, U), (B, S),
    (F, SENT), (U, SENT), (U, F),
}  # fmt: skip
ITEM_MOVES = {
    item: frozenset(to for move in MOVES for current, to in move.arcs if current is item is not to) for item in Item
}
# The public table of moves (resources.md 3.2), to itself where an inner move does not show.
PUBLIC = {(1, 2), (1, 3), (1, 5), (1, 6), (2, 1), (2, 2), (2, 3), (2, 4), (2, 5), (2, 6), (4, 3), (4, 4)}
STATES = pathlib.Path("STATES.md")
BEGIN, END = "<!-- moves: made from core/scheduling/statuses.py -->\n", "<!-- end of moves -->\n"


@pytest.mark.parametrize("move", MOVES, ids=lambda move: move.name)
def test_step(move: Move) -> None:
    for current, to in itertools.product(Item, Item):
        if (current, to) in move.arcs:
            assert to is move.step(current, to)
            continue
        with pytest.raises(InvalidMove) as refusal:
            move.step(current, to)
        assert (409, "item_closed") == (refusal.value.status, refusal.value.code)


def test_names() -> None:
    assert len(MOVES) == len({move.name for move in MOVES})
    assert all(move.sources for move in MOVES)


def test_every_move_is_described() -> None:
    described = _described(STATES.read_text())
    assert [move.name for move in MOVES] == [*described]
    assert all(guard.strip() and effect.strip() for guard, effect in described.values())


def test_every_status_is_drawn() -> None:
    assert set(Item) == ITEM_MOVES.keys() == PUBLIC_ITEM.keys()
    assert DRAWN == {(current, to) for current, targets in ITEM_MOVES.items() for to in targets}


def test_terminal_is_what_never_goes_back() -> None:
    open_ones = {S, C, B}

    assert set(Item) - open_ones == ITEM_TERMINAL
    assert not [arc for move in MOVES for arc in move.arcs if arc[0] in ITEM_TERMINAL and arc[1] in open_ones]


def test_public_moves() -> None:
    """A claim and the decision that follows it are one transaction: outside they are one move."""
    at_once = {(current, to) for current, _ in CLAIM.arcs for move in (HOLD, SKIP) for _, to in move.arcs if to != S}

    assert {(PUBLIC_ITEM[current], PUBLIC_ITEM[to]) for current, to in DRAWN | at_once} == PUBLIC
    assert list(range(1, 7)) == sorted(PublicItem)


def test_every_status_can_end() -> None:
    reaching = set(ITEM_TERMINAL)
    while more := {item for item, targets in ITEM_MOVES.items() if targets & reaching} - reaching:
        reaching |= more
    assert set(Item) == reaching


def test_picture() -> None:
    """The picture and the table of moves in STATES.md say what this table says."""
    text = STATES.read_text()
    before, begin, rest = text.partition(BEGIN)
    drawn, end, after = rest.partition(END)
    assert begin
    assert end
    picture = _picture(_described(drawn))
    if os.environ.get("REWRITE_SNAPSHOTS"):
        STATES.write_text(before + begin + picture + end + after)
    assert picture == drawn


def _described(page: str) -> dict[str, tuple[str, str]]:
    """The guard and the effect of each move, which people write into the table."""
    rows = [line.strip("| ").split(" | ") for line in page.splitlines() if line.count(" | ") == 4]
    return {name: (guard, effect) for name, _, _, guard, effect in rows if name != "Move"}


def _picture(described: dict[str, tuple[str, str]]) -> str:
    names: dict[tuple[Item, Item], list[str]] = {}
    for move in MOVES:
        for arc in sorted(move.arcs):
            if arc[0] != arc[1]:
                names.setdefault(arc, []).append(move.name)
    arrows = [f"    {_name(a)} --> {_name(b)}: {', '.join(names[a, b])}" for a, b in sorted(names)]
    ends = [f"    {_name(item)} --> [*]" for item in Item if not ITEM_MOVES[item]]
    diagram = ["```mermaid", "stateDiagram-v2", "    [*] --> scheduled", *arrows, *ends, "```", ""]
    rows = [
        f"| {move.name} | {_names(move.sources)} | {_names(move.targets) or '='} | {' | '.join(texts)} |"
        for move in MOVES
        for texts in [described.get(move.name, ("", ""))]
    ]
    table = ["| Move | From | To | Guard | In the same transaction |", "|---|---|---|---|---|", *rows, ""]
    return "\n".join([*diagram, *table])


def _names(items: frozenset[Item]) -> str:
    return ", ".join(_name(item) for item in sorted(items))


def _name(item: Item) -> str:
    return item.name.lower()


SOURCE = Path(__file__).parents[3] / "afterword"
PAGE = Path(__file__).parents[3].joinpath("docs/rules.md").read_text(encoding="utf-8")
PLACES = {"_skip": 1, "Check": 2, "Block": 0, "Decision": 1}  # which argument of a call is a reason
FILES = (
    "core/scheduling/decisions.py",
    "sending/queue/lanes.py",
    "sending/queue/sending/dispatches.py",
    "sending/queue/sending/outcomes.py",
)


def given(path: Path) -> Iterator[str]:
    """The literals that stand where a reason does."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            name = node.func.id if isinstance(node.func, ast.Name) else ""
            found = [node.args[PLACES[name]]] if len(node.args) > PLACES.get(name, 9) else []
            found += [keyword.value for keyword in node.keywords if keyword.arg == "reason"]
            for value in found:
                if isinstance(value, ast.Constant) and isinstance(value.value, str):
                    yield value.value


@pytest.mark.parametrize("file", FILES)
def test_every_code_that_is_given_is_listed(file: str) -> None:
    found = set(given(SOURCE / file))
    assert found
    assert set() == found - statuses.REASONS


def test_every_code_that_is_listed_is_given() -> None:
    text = "\n".join(path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py") if path.name != "reasons.py")
    assert set() == {code for code in statuses.REASONS if f'"{code}"' not in text}


def test_those_of_others() -> None:
    assert set(SUPPRESSION_REASONS) == set(statuses.SUPPRESSED)
    assert {"recipient", "throttle"} == set(get_args(Cause)) - set(statuses.BY_ATTEMPT)


def test_the_page_explains_them_all() -> None:
    table = PAGE.partition("## The nine, in their order")[2].partition("## The contact policy")[0]
    rows = re.findall(r"^\|.*\|.*\|.*\|(.*)\|$", table, re.MULTILINE)[2:]
    told = {code for row in rows for code in re.findall(r"`([a-z_]+)`", row)}
    assert told == {*statuses.BY_RULE, *statuses.BY_LANE, *statuses.SKIPPED}
    after = table.partition("After an attempt")[2].partition("\n## ")[0]
    assert {*statuses.BY_ATTEMPT, *statuses.FAILED} == set(re.findall(r"`([a-z]+(?:_[a-z]+)?)`", after)) - {"reason"}
