"""The declaration of a noun: which members it has, and which keys its addresses name."""

from typing import Annotated, Any, Final

import pytest

from afterword import errors
from afterword.nouns.declaration import Change, Editable, Hidden, Noun, Record
from afterword.web import fields


class Shelf(Record, kw_only=True):
    """A shelf."""

    shelf_id: int
    note: Annotated[fields.Text100 | None, Editable("Note")] = None
    title: Annotated[fields.Text100, Editable("Title")]
    room_id: Annotated[fields.Id, Editable(once=True)]
    weight: Annotated[int, Hidden()]


SHELF: Final = Noun(
    record=Shelf,
    table="shelf",
    one="shelf",
    many="shelves",
    tag="Shelves",
    path="/shelf",
    scope="Shelf",
    about_create="A new shelf.",
    about_update="Changes of a shelf.",
    most=3,
)


def test_members() -> None:
    names = [one.name for one in SHELF.members]
    assert ["shelf_id", "note", "title", "room_id", "weight"] == names[:5]
    assert "updated_by" == names[-1]
    assert ["title", "room_id", "note"] == [one.name for one in SHELF.editable()]  # required ones first
    assert ["title", "note"] == [one.name for one in SHELF.editable(later=True)]


@pytest.mark.parametrize("text", ["", "0", "007", "1e2", "\u0661", "9999999999", "x", "-1"])
def test_no_key(text: str) -> None:
    with pytest.raises(errors.NotFound, match="There is no such shelf"):
        SHELF.read_key(text)


def test_key() -> None:
    assert "shelf_id" == SHELF.key
    assert 12 == SHELF.read_key("12")


def test_after() -> None:
    """Rules see the value that a member has after the change."""
    nothing: Any = None
    more = {"site": nothing, "now": nothing, "key": 1, "before": None}
    change = Change[Shelf](db=nothing, caller=nothing, **more, columns={"title": "A"})
    assert ("A", None) == (change.after("title"), change.after("note"))
