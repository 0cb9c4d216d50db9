"""Small groups stay hidden: those below the minimum base, and others that would give them away by subtraction.

A hidden group could be computed from a total and its sisters. So in every line of a table (rows that differ in one
member of their key alone) and in the table as a whole the hidden groups are two at least and together reach the
minimum base, unless the total of the line is below it, too, and so hidden itself.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence

Key = tuple[object, ...]


def hidden(bases: Mapping[Key, int], *, minimum: int) -> set[Key]:
    """The keys of the groups that are hidden, from the number of answers in each; a group of none hides nothing.

    All keys have the same length. Grows until every line holds; of the candidates the smallest is hidden first.
    """
    small = {key for key, n in bases.items() if 0 < n < minimum}
    if not small:
        return small
    lines = _lines(bases)
    while True:
        before = len(small)
        for line in lines:
            _complete(line, bases, small, minimum)
        if len(small) == before:
            return small


def _lines(bases: Mapping[Key, int]) -> list[list[Key]]:
    """The sets of groups with a total that another report, or this one, shows: each axis, and all together."""
    found: defaultdict[tuple[int, Key], list[Key]] = defaultdict(list)
    for key, n in bases.items():
        if n > 0:
            found[-1, ()].append(key)
            for axis in range(len(key)):
                found[axis, (*key[:axis], *key[axis + 1 :])].append(key)
    return list(found.values())


def _complete(line: Sequence[Key], bases: Mapping[Key, int], small: set[Key], minimum: int) -> None:
    """Hide more of a line until what is hidden there cannot be computed."""
    inside = [key for key in line if key in small]
    if not inside or sum(bases[key] for key in line) < minimum:
        return
    count, together = len(inside), sum(bases[key] for key in inside)
    others = sorted((key for key in line if key not in small), key=lambda key: (bases[key], str(key)))
    for key in others:
        if count > 1 and together >= minimum:
            return
        small.add(key)
        count, together = count + 1, together + bases[key]
