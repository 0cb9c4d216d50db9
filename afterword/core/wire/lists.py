"""A list: its columns for filters and order, the requested page, the rows found."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Generic, Literal, LiteralString, TypeVar

import msgspec

Kind = Literal["text", "id", "integer", "number", "boolean", "time", "date"]
Direction = Literal["asc", "desc"]
Item = TypeVar("Item")
Other = TypeVar("Other")

CRITERIA = (
    "EQUAL", "NOT_EQUAL", "ALT_NOT_EQUAL", "GREATER_THAN", "GREATER_EQUAL", "LESS_THAN", "LESS_EQUAL",
    "IN", "NOT_IN", "NULL", "NOT_NULL", "LIKE", "NOT_LIKE",
)  # fmt: skip


class Column(msgspec.Struct, frozen=True):
    """A column of a list, by the name that its base query gives it; a Listing maps wire names to columns."""

    name: LiteralString
    kind: Kind = "text"
    nullable: bool = False


class Order(msgspec.Struct, frozen=True):
    """One step of an order; nulls come last in either direction."""

    column: Column
    direction: Direction = "asc"


class Listing(msgspec.Struct, frozen=True, eq=False, dict=True):
    """A list: wire names of the columns to filter and order by, the order without a wish, the id that breaks ties."""

    columns: Mapping[str, Column]
    order: Sequence[tuple[str, Direction]]  # wire names
    id: LiteralString  # the base query's name of the unique id
    row: Sequence[LiteralString] | None = None
    """Of a lean list: the columns of its rows, in their order. Their times are microseconds (`times.Instant`), read and
    shown in a fraction of the time. None: rows as the base query has them."""
    hidden: Mapping[str, Column] = msgspec.field(default_factory=dict[str, Column])
    """Columns that its own order goes by and that no client names: an event log's place."""

    @cached_property
    def id_column(self) -> Column:
        """The column that breaks ties, in its own order: a text, or a number as that of alert statuses."""
        is_number = any(column.name == self.id and column.kind == "integer" for column in self.columns.values())
        return Column(self.id, "integer" if is_number else "id")

    @cached_property
    def default_order(self) -> tuple[Order, ...]:
        columns = {**self.columns, **self.hidden}
        return tuple(Order(columns[name], direction) for name, direction in self.order)


class Criterion(msgspec.Struct, frozen=True):
    """One filter: `operator` is one of CRITERIA, `value` already has the column's type (a list for IN)."""

    operator: str
    column: Column
    value: object


class Page(msgspec.Struct, frozen=True):
    """The requested rows: page mode (offset) or cursor mode (rows behind the key `after`)."""

    listing: Listing
    order: tuple[Order, ...]
    criteria: tuple[Criterion, ...] = ()
    limit: int = 10
    offset: int = 0
    after: tuple[object, ...] | None = None  # values of the order's columns and the id of the last row seen
    with_total: bool = True
    with_results: bool = True

    @classmethod
    def first(cls, listing: Listing, *, limit: int = 100) -> "Page":
        """The first rows in the list's own order, uncounted: for calls that come from no request."""
        return cls(listing, listing.default_order, limit=limit, with_total=False)


class Rows(msgspec.Struct, Generic[Item], frozen=True):
    """The rows found: `total` where it was counted, `next_key` (for a cursor) while there are more."""

    items: list[Item]
    total: int | None = None
    next_key: tuple[object, ...] | None = None
    has_more: bool = False

    def map(self, function: Callable[[Item], Other]) -> "Rows[Other]":
        return Rows([function(item) for item in self.items], self.total, self.next_key, self.has_more)

    def map_all(self, function: Callable[[list[Item]], list[Other]]) -> "Rows[Other]":
        """As `map`, by a function of all items at once."""
        return Rows(function(self.items), self.total, self.next_key, self.has_more)
