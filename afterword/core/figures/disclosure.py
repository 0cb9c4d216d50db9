"""Statistical disclosure: small groups are hidden, and others whose difference would show them.

Readers of figures alone may not compute a small group from any reports. A table holds the people of one month,
questionnaire and question, by at most two attributes. Its total, its totals by each attribute and its cells are each a
report of their own, so `shown` decides by one rule for all of them:

- A table of fewer people than the minimum is hidden.
- Along one attribute, the small groups are hidden with the next smallest (all of one size at once), until at least two
  groups are hidden and together reach the minimum. They count in the total alone.
- In a table of two attributes a hidden value of either attribute hides its cells. Small cells are hidden by a rectangle
  of rows and columns. In it every row and every column reaches the minimum. Readers cannot tell its hidden cells from
  empty ones, so its rows and columns are all that subtraction gives.

A group of several counts, such as the stages of a funnel, is small where any of them is, except for a count of none.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Final, TypeVar

ATTRIBUTES_MAX: Final = 2

Key = tuple[object, ...]
Size = Mapping[str, int]  # people by name of count
_Table = Mapping[Key, Size]
_Name = TypeVar("_Name")
_REST: Final = "\0"  # all hidden values of an attribute as one; no value holds NUL


def shown(table: Mapping[Key, Size], *, minimum: int, by: str = "") -> set[Key] | None:
    """The keys of the shown groups; None where even the total is hidden.

    Keys have the same length, 0 to `ATTRIBUTES_MAX`. A key in the table is a group with answers, even where its size is
    0: its people are counted in another group. Of several groups that could be hidden the smallest `by` a count is.
    """
    if _is_small(table.values(), minimum):
        return None
    lines = [_merged(table, lambda key, axis=axis: (key[axis],)) for axis in range(len(next(iter(table))))]
    hidden = [_hidden_groups(line, minimum, by) for line in lines]

    def is_open(key: Key) -> bool:
        return not any((value,) in secret for value, secret in zip(key, hidden, strict=True))

    found = {key for key in table if is_open(key)}
    if len(hidden) < ATTRIBUTES_MAX:
        return found
    merged = _merged(
        table, lambda key: tuple(_REST if (v,) in secret else v for v, secret in zip(key, hidden, strict=True))
    )
    rows, columns = _rectangle(merged, minimum, by)
    return {key for key in found if key[0] not in rows or key[1] not in columns}


def _hidden_groups(line: _Table, minimum: int, by: str) -> set[Key]:
    small = {key for key, size in line.items() if _is_small([size], minimum)}
    ranks = {key: size.get(by, 0) for key, size in line.items()}
    return _completed(small, line, ranks, minimum, least=2) if small else small


def _rectangle(table: _Table, minimum: int, by: str) -> tuple[set[object], set[object]]:
    """The rows and columns that hide the small cells: each, within the others, reaches the minimum."""
    lines: tuple[defaultdict[object, dict[object, Size]], ...] = defaultdict(dict), defaultdict(dict)
    for (row, column), size in table.items():
        lines[0][row][column] = lines[1][column][row] = size
    ranks = [{value: sum(size.get(by, 0) for size in line.values()) for value, line in each.items()} for each in lines]
    small = [key for key, size in table.items() if _is_small([size], minimum)]
    before, spans = None, [{key[axis] for key in small} for axis in (0, 1)]
    while before != spans:
        before = spans
        spans = [
            spans[across].union(
                *(_completed(spans[across], lines[axis][value], ranks[across], minimum) for value in spans[axis])
            )
            for across, axis in ((0, 1), (1, 0))
        ]
    return spans[0], spans[1]


def _completed(
    chosen: set[_Name], line: Mapping[_Name, Size], ranks: Mapping[_Name, int], minimum: int, *, least: int = 1
) -> set[_Name]:
    """The chosen groups of a line with its smallest others, until they are `least` and reach the minimum.

    Groups of the same size come together: an order by name would differ between a shop's id and its title.
    """
    found = chosen & line.keys()
    for rank in sorted({ranks[each] for each in line.keys() - found}):
        if len(found) >= least and not _is_small((line[each] for each in found), minimum):
            break
        found |= {each for each in line if ranks[each] == rank}
    return found


def _merged(table: _Table, name: Callable[[Key], Key]) -> dict[Key, dict[str, int]]:
    """The sums of the groups that get the same name."""
    found: defaultdict[Key, dict[str, int]] = defaultdict(dict)
    for key, size in table.items():
        sums = found[name(key)]
        for each, people in size.items():
            sums[each] = sums.get(each, 0) + people
    return dict(found)


def _is_small(sizes: Iterable[Size], minimum: int) -> bool:
    together = _merged({(str(index),): size for index, size in enumerate(sizes)}, lambda _: ())
    return min(together.get((), {}).values(), default=0) < minimum
