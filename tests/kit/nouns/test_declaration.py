"""The declaration of a noun: which members it has, and which keys its addresses name."""

from datetime import datetime
from typing import Annotated, Any, Final

import pytest

from afterword import errors
from afterword.kit.nouns.api import routes_of
from afterword.kit.nouns.declaration import Change, Editable, Hidden, Noun, Record, SettingsRecord
from afterword.kit.nouns.statements import statements_of
from afterword.kit.nouns.structs import creation_of, resource_of
from afterword.kit.web import fields


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


class Setting(Record, kw_only=True):
    """A setting, of which each organization has one."""

    color: Annotated[fields.Text100, Editable("Colour")]


def test_single() -> None:
    """Its key is the organization's, and its right may be another than the operation's."""
    setting = Noun(
        record=Setting,
        table="organization",
        one="setting",
        many="settings",
        tag="Settings",
        path="/organization/{organization_id}/setting",
        scope="Organization",
        operations=("get", "update"),
        is_single=True,
        hides=("created_time", "created_by"),
        rights={"get": "Update"},
    )
    assert ["organization_id", "color", "version"] == [one.name for one in setting.members[:3]]
    assert ("organization_id", "There is no such organization.") == (setting.key, setting.nothing)
    assert {"organization_id", "color", "updated_time", "updated_by"} == {*resource_of(setting).__struct_fields__}
    assert ["Organization.Update"] * 2 == [setting.scope_of("get"), setting.scope_of("update")]
    assert ["/organization/{organization_id}/setting"] * 2 == [one.path for one in routes_of(setting).all]


class Hours(SettingsRecord, kw_only=True):
    """Hours, which an organization has from the start and stores with its first change."""

    start: Annotated[int, Editable("Start")] = 9
    name: Annotated[str, Editable("Name", unset="o.display_name")] = ""
    updated_time: datetime


def test_settings() -> None:
    """A row that may be absent is read with its organization, and written as a whole."""
    hours = Noun(
        record=Hours,
        table="hours",
        one="hours",
        many="hours",
        tag="Settings",
        path="/hours",
        scope="Organization",
        operations=("get", "replace"),
        is_single=True,
    )
    found = statements_of(hours)
    read = "o.organization_id, t.start, coalesce(t.name, o.display_name) as name, coalesce(t.version, 0) as version"
    assert read in found.get
    assert "coalesce(t.updated_time, o.created_time) as updated_time" in found.get
    assert found.get == found.get_locked  # the organization is locked before
    assert "on conflict (organization_id) do update set start = excluded.start, name = excluded.name" in found.update
    assert {"organization_id", "start", "name", "updated_time", "updated_by"} == {*resource_of(hours).__struct_fields__}
    routes = [(one.method, one.path, one.scope) for one in routes_of(hours).all]
    assert [("GET", "/hours", "Organization.Read"), ("PUT", "/hours", "Organization.Update")] == routes
    assert {"start": 9, "name": ""} == creation_of(hours)().named()  # what is left out has its default


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
