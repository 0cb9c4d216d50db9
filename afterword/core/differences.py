"""The difference of two documents: the members that have another value."""

from collections.abc import Iterator, Mapping


def members(before: Mapping[str, object], after: Mapping[str, object]) -> Iterator[tuple[str, object, object]]:
    """The names of `after` whose value differs, each with both values; None where `before` lacks it."""
    for name, value in after.items():
        if before.get(name) != value:
            yield name, before.get(name), value
