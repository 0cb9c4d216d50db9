"""Lists: their own order, the column that breaks ties, the first page, and rows made into something else."""

import pytest

from afterword.core.wire.lists import Column, Kind, Listing, Order, Page, Rows

LISTING = Listing(
    columns={"title": Column("i.title"), "number": Column("i.number", "integer")},
    order=(("seq", "desc"), ("title", "asc")),
    id="i.item_id",
    hidden={"seq": Column("e.seq", "integer")},
)


def test_its_own_order_may_go_by_a_hidden_column() -> None:
    order = (Order(Column("e.seq", "integer"), "desc"), Order(Column("i.title"), "asc"))
    assert order == LISTING.default_order
    assert Page(LISTING, order, limit=7, with_total=False) == Page.first(LISTING, limit=7)


@pytest.mark.parametrize(("column", "kind"), [("i.item_id", "id"), ("i.number", "integer")])
def test_ties_are_broken_in_the_ids_own_order(column: str, kind: Kind) -> None:
    listing = Listing(LISTING.columns, (), id="i.number" if column == "i.number" else "i.item_id")
    assert Column(listing.id, kind) == listing.id_column


def test_a_page_keeps_its_place() -> None:
    assert Rows(["1", "2"], 9, ("key",), has_more=True) == Rows([1, 2], 9, ("key",), has_more=True).map(str)
