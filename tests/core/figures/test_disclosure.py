"""Which groups readers of figures alone are shown, and that subtraction gives no smaller one."""

import random
from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import product

import pytest

from afterword.core.figures.disclosure import Key, shown
from tests.sizes import size

MINIMUM = 5
TABLES = size(400, 1_500)
_Node = tuple[int, object]  # a row (0) or a column (1) of a table


def sizes(people: Mapping[Key, int]) -> dict[Key, dict[str, int]]:
    return {key: {"": number} for key, number in people.items()}


class TestOneAttribute:
    @pytest.mark.parametrize(
        ("people", "expected"),
        [
            ({"a": 1, "b": 3}, None),  # the total is small
            ({"a": 5, "b": 9}, {"a", "b"}),
            ({"a": 3, "b": 9}, set()),  # 12 - 9 would be 3
            ({"a": 3, "b": 9, "c": 8, "d": 7}, {"b", "c"}),  # the smallest of the others
            ({"a": 1, "b": 1, "c": 8, "d": 7}, {"c"}),  # 17 - 15 would be 2, still too few
            ({"a": 3, "b": 4, "c": 8}, {"c"}),  # two, together 7
            ({"a": 3, "b": 9, "c": 7, "d": 7}, {"b"}),  # the smallest others alike: an order by name would choose
            ({"a": 0, "b": 6, "c": 8}, {"c"}),  # answers of people who are counted elsewhere
        ],
    )
    def test_table(self, people: dict[str, int], expected: set[str] | None) -> None:
        found = shown(sizes({(key,): number for key, number in people.items()}), minimum=MINIMUM)
        assert (None if expected is None else {(key,) for key in expected}) == found

    def test_no_attribute(self) -> None:
        assert shown(sizes({(): 4}), minimum=MINIMUM) is None
        assert {()} == shown(sizes({(): 5}), minimum=MINIMUM)

    def test_several_counts(self) -> None:
        """A group is small where one of its counts is; a count that it does not have is none."""
        table: dict[Key, dict[str, int]] = {
            ("a",): {"sent": 40, "submitted": 3},
            ("b",): {"sent": 90, "submitted": 20},
            ("c",): {"sent": 95, "submitted": 9},
            ("d",): {"sent": 50},
        }
        assert {("b",)} == shown(table, minimum=MINIMUM, by="submitted")


class TestTwoAttributes:
    def test_a_hidden_value_of_one_hides_its_cells(self) -> None:
        """Else the sum of a store's cells would be its total."""
        people: dict[Key, int] = {("a", "en"): 3, ("b", "en"): 6, ("b", "el"): 7, ("c", "en"): 30, ("c", "el"): 40}
        assert {("c", "en"), ("c", "el")} == shown(sizes(people), minimum=MINIMUM)

    def test_what_no_cell_can_hide(self) -> None:
        """Everybody in shop A answered by mail: 25 by mail less its 23 are 2, so no cell of the four is shown."""
        people: dict[Key, int] = {("A", "mail"): 23, ("B", "mail"): 2, ("B", "text"): 30}
        assert set() == shown(sizes(people), minimum=MINIMUM)

    def test_is_the_same_both_ways(self) -> None:
        """Neither the order of the attributes nor the names of their values decide."""
        people: dict[Key, int] = {("a", "x"): 3, ("a", "y"): 30, ("b", "x"): 40, ("b", "y"): 50, ("c", "x"): 60,
                                  ("c", "y"): 70}  # fmt: skip
        turned: dict[Key, int] = {(one, other): number for (other, one), number in people.items()}
        found = shown(sizes(people), minimum=MINIMUM) or set()
        assert found == {(one, other) for other, one in shown(sizes(turned), minimum=MINIMUM) or set()}
        assert {("c", "x"), ("c", "y")} == found

    def test_names_do_not_decide(self) -> None:
        for people in tables(7, 200):
            renamed: dict[Key, int] = {(f"{9 - int(str(row)[1:])}", f"{9 - int(str(column)[1:])}"): number
                       for (row, column), number in people.items()}  # fmt: skip
            found = shown(sizes(people), minimum=MINIMUM)
            expected = found and {(f"{9 - int(str(row)[1:])}", f"{9 - int(str(column)[1:])}") for row, column in found}
            assert expected == shown(sizes(renamed), minimum=MINIMUM)


# Attacks on tables with both margins ---------------------------------------------------------------------------------


class Attack:
    """A reader with the total, the margins and the shown cells of a table; all other cells are 0 or more."""

    def __init__(self, people: Mapping[Key, int]) -> None:
        self.people = people
        self.shown = shown(sizes(people), minimum=MINIMUM)
        # Hidden values of an attribute have no margin of their own: what they come to together is one.
        self.cells: defaultdict[Key, int] = defaultdict(int)
        open_values = [shown(sizes(_margin(people, axis)), minimum=MINIMUM) or set[Key]() for axis in (0, 1)]
        for key, number in people.items():
            row, column = (v if (v,) in open_values[axis] else "rest" for axis, v in enumerate(key))
            self.cells[row, column] += number
        self.rows = sorted({str(row) for row, _ in self.cells})
        self.columns = sorted({str(column) for _, column in self.cells})
        seen = self.shown or set()
        self.unknown = {key for key in product(self.rows, self.columns) if key not in seen}

    def groups(self) -> Iterable[int]:
        """The people of each group of unknown cells that rows less columns (and columns less rows) give."""
        for rows in _subsets(self.rows):
            for columns in _subsets(self.columns):
                added = {key for key in self.unknown if key[0] in rows and key[1] not in columns}
                taken = {key for key in self.unknown if key[0] not in rows and key[1] in columns}
                if not taken:
                    yield sum(self.cells.get(key, 0) for key in added)
                if not added:
                    yield sum(self.cells.get(key, 0) for key in taken)

    def cell_is_fixed(self, cell: Key) -> bool:
        """Whether no other table of counts gives the same: no cycle adds here and takes elsewhere, or the contrary.

        Gusfield, A Graph Theoretic Approach to Statistical Data Security, SIAM J. Comput. 17 (1988): cells of none can
        only grow.
        """
        steps: defaultdict[_Node, set[_Node]] = defaultdict(set)
        for row, column in self.unknown - {cell}:
            steps[0, row].add((1, column))  # the cell grows
            if self.cells.get((row, column), 0):
                steps[1, column].add((0, row))  # it shrinks
        row, column = (0, cell[0]), (1, cell[1])
        return not (_reaches(steps, column, row) or _reaches(steps, row, column))


def _margin(people: Mapping[Key, int], axis: int) -> dict[Key, int]:
    found: defaultdict[Key, int] = defaultdict(int)
    for key, number in people.items():
        found[key[axis],] += number
    return found


def _subsets(values: list[str]) -> list[set[str]]:
    return [{value for bit, value in enumerate(values) if number >> bit & 1} for number in range(1 << len(values))]


def _reaches(steps: Mapping[tuple[int, object], set[_Node]], start: tuple[int, object], end: object) -> bool:
    seen, left = {start}, [start]
    while left:
        for following in steps.get(left.pop(), ()):
            if following == end:
                return True
            if following not in seen:
                seen.add(following)
                left.append(following)
    return False


def tables(seed: int, number: int) -> Iterable[dict[Key, int]]:
    """Two to five rows and columns, many cells small or empty."""
    draw = random.Random(seed)  # noqa: S311
    for _ in range(number):
        rows, columns = draw.randint(2, 5), draw.randint(2, 5)
        most = draw.choice([6, 12, 40])
        people: dict[Key, int] = {
            (f"r{row}", f"c{column}"): draw.randint(1, most)
            for row in range(rows)
            for column in range(columns)
            if draw.random() < 0.8
        }
        if people:
            yield people


def test_no_table_determines_a_small_group_or_cell() -> None:
    seen = small_groups = fixed_cells = small_shown = shown_cells = cells = 0
    for people in tables(20261123, TABLES):
        attack = Attack(people)
        if attack.shown is None:
            continue
        seen += 1
        small_shown += any(people[key] < MINIMUM for key in attack.shown)
        small_groups += any(0 < number < MINIMUM for number in attack.groups())
        fixed_cells += any(
            0 < attack.cells.get(key, 0) < MINIMUM and attack.cell_is_fixed(key) for key in attack.unknown
        )
        shown_cells += len(attack.shown)
        cells += sum(number >= MINIMUM for number in people.values())
    assert (0, 0, 0) == (small_shown, small_groups, fixed_cells)
    assert seen > 0.95 * TABLES
    assert shown_cells > 0.5 * cells, "hiding everything would be easy"
