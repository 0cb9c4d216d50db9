"""The members of a Struct: null and annotations apart from the type, the outermost annotation wins."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta, inspect

from afterword.core.reading.structs import Member, members_of

Id = Annotated[str, Meta(extra={"kind": "id"}, extra_json_schema={"format": "id"})]


class Thing(msgspec.Struct):
    thing_id: Id
    title: str | None
    other_id: Annotated[Id | None, Meta(extra={"kind": "foreign"})] = None
    either: int | str | None = 7
    anything: Any = None


def member(name: str) -> Member:
    [found] = [one for one in members_of(Thing) if name == one.name]
    return found


def test_in_the_order_of_the_struct() -> None:
    assert ["thing_id", "title", "other_id", "either", "anything"] == [one.name for one in members_of(Thing)]


def test_required_and_default() -> None:
    assert [True, True, False, False, False] == [one.is_required for one in members_of(Thing)]
    assert 7 == member("either").default


def test_null() -> None:
    assert [False, True, True, True, True] == [one.is_nullable for one in members_of(Thing)]
    assert isinstance(member("title").type, inspect.StrType)
    assert isinstance(member("either").type, inspect.UnionType)


def test_annotations() -> None:
    assert ["id", "", "foreign", "", ""] == [one.kind for one in members_of(Thing)]
    assert {"format": "id"} == member("thing_id").schema
    assert isinstance(member("thing_id").type, inspect.StrType)
