"""The structs of all nouns: each member has its place in requests, answers and forms."""

from datetime import datetime
from typing import Any, Final, get_args

import msgspec
import pytest

from afterword.console.nouns import inputs_of
from afterword.core.wire.times import Moment
from afterword.kit.nouns import structs
from afterword.kit.nouns.declaration import Editable, Hidden, Noun, Shown, ShownOnce, is_unseen
from tests.kit.nouns.declared import all_nouns

each_noun: Final = pytest.mark.parametrize("noun", all_nouns(), ids=lambda noun: noun.table)


@each_noun
def test_requests_and_forms(noun: Noun[Any]) -> None:
    """A member that clients set has a place in the requests; one with a label has a field."""
    creation, update = structs.creation_of(noun), structs.update_of(noun)
    editable = {one.name: one.role for one in noun.members if isinstance(one.role, Editable)}
    assert set(editable) == set(creation.__struct_fields__)
    assert {name for name, role in editable.items() if not role.once} == set(update.__struct_fields__)
    assert noun.screens is None or {name for name, role in editable.items() if role.label} == {
        one.name for one in inputs_of(noun)
    }
    assert {one.name for one in inputs_of(noun, later=True)} <= set(update.__struct_fields__)


@each_noun
def test_resource(noun: Noun[Any]) -> None:
    """Hidden members stay inside; a secret is a member that only one answer fills."""
    shown = structs.resource_of(noun).__struct_fields__
    for one in noun.members:
        is_inside = isinstance(one.role, Hidden) or is_unseen(one.role) or one.name in {"version", *noun.hides}
        is_inside |= one.name == "organization_id" and not (noun.shows_organization or noun.is_single)
        assert is_inside == (one.name not in shown), one.name
        has_no_column = isinstance(one.role, Shown | ShownOnce) or is_unseen(one.role)
        assert has_no_column == (one not in noun.columns)


@each_noun
def test_words_of_the_record(noun: Noun[Any]) -> None:
    """The reference has the record's own words for a member, before those for members of this name elsewhere."""
    shown = msgspec.json.schema_components([structs.resource_of(noun)], schema_hook=lambda _: {})[1]
    properties = shown[noun.record.__name__]["properties"]
    for one in noun.members:
        said = [each.description for each in get_args(one.type)[1:] if isinstance(each, msgspec.Meta)]
        if one.name in properties and said and said[0]:
            assert said[0] == properties[one.name].get("description"), one.name


def test_values_of_columns() -> None:
    class Place(msgspec.Struct):
        city: str

    instant = datetime.fromisoformat("2026-11-29T10:00:00+00:00")
    given = {"at": Moment(instant, 0), "place": Place("Athens"), "names": ["a"], "none": None}
    assert {"at": instant, "place": {"city": "Athens"}, "names": ["a"], "none": None} == structs.written(
        all_nouns()[0], given
    )
