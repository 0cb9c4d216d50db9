"""The words of the reference: what each code, scope and member is called, and what stands in for words that are not."""

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal

import msgspec
import pytest

from afterword.core.organizations.access import ROLE_SCOPES, SCOPES
from afterword.core.reading import structs
from afterword.core.reading.structs import Context, members_of
from afterword.core.wire import times
from afterword.kit.web import fields, vocabulary


def test_limits_must_be_known() -> None:
    with pytest.raises(KeyError):
        vocabulary.read("components.toml", OTHER=1)


@pytest.mark.parametrize(
    ("code", "status", "title"),
    [("required", 422, "Required"), ("not_found", 404, vocabulary.EXPLANATIONS["not_found"].title),
     ("some_code", 409, "Some code")],
)  # fmt: skip
def test_codes(code: str, status: int, title: str) -> None:
    assert (status, title) == (vocabulary.status_of(code), vocabulary.title_of(code))
    assert ("some_code" == code) == (vocabulary.explanation_of(code) is None)


def test_scopes_and_roles_have_words() -> None:
    assert all(vocabulary.scope(scope).endswith(".") for scope in SCOPES)
    assert ROLE_SCOPES.keys() == vocabulary.ROLES.keys()


def test_a_request_falls_back_to_its_resource_and_to_all() -> None:
    assert vocabulary.member("Alert", "trigger") == vocabulary.member("AlertUpdateRequest", "trigger")
    assert "" != vocabulary.member("Alert", "trigger") != vocabulary.member("Other", "trigger")
    assert "" != vocabulary.member("Other", "created_time")
    assert "" == vocabulary.member("Alert", "no_such_member")


def test_variables_of_messages_stand_in_double_braces() -> None:
    """A single brace would be sent as it stands."""
    words = (Path(vocabulary.__file__).with_name("vocabulary.toml")).read_text(encoding="utf-8")
    assert [] == re.findall(r"message\w* = .*?(?<!\{)(\{\w[^{}]*\})(?!\})", words)
    assert "{{ link }}" in vocabulary.member("Pipeline", "message_body")


def test_words_of_a_schema_stay() -> None:
    schema = {"properties": {"locale": {"description": "Own."}, "created_time": {}, "no_such_member": {}}}
    vocabulary.describe_members("Any", schema)
    described = schema["properties"]
    assert {"description": "Own."} == described["locale"]
    assert described["created_time"]
    assert {} == described["no_such_member"]


class Part(fields.Request):
    weight: Annotated[float, fields.Meta(ge=0.5)]


class Kinds(fields.Request):
    text: fields.Text200
    number: Annotated[int, fields.Meta(ge=1, le=5000)]
    choice: Literal["a", "b"]
    when: times.Moment
    parts: Annotated[list[Part], fields.Meta(max_length=3)]
    either: int | str
    flag: bool = True
    zone: fields.Zone | None = None


WORDS = {each.name: vocabulary.words_for(each) for each in members_of(Kinds)}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("text", "text 1–200"),  # noqa: RUF001  the dash of a range
        ("number", "integer 1–5,000"),  # noqa: RUF001
        ("choice", "one of a, b"),
        ("when", "date with time"),
        ("parts", "list up to 3 of object"),
        ("either", "integer or text"),
        ("flag", "boolean"),
    ],
)
def test_words(name: str, words: str) -> None:
    assert words == WORDS[name]


def test_members_of_a_member_stand_below_it() -> None:
    rows = {row.name: row for row in vocabulary.rows_of(Kinds)}
    assert (1, "number from 0.5") == (rows["weight"].depth, rows["weight"].kind)
    assert (True, False, "") == (rows["text"].is_required, rows["text"].is_nullable, rows["text"].default)
    assert (False, "true") == (rows["flag"].is_required, rows["flag"].default)
    assert rows["zone"].is_nullable


def test_the_example_of_a_request_can_be_sent() -> None:
    class Plain(fields.Request):
        text: fields.Text200
        choice: Literal["a", "b"]
        parts: list[Part]
        flag: bool = True

    context = Context(now=datetime(2026, 11, 21, tzinfo=UTC), zone=UTC)
    example = vocabulary.example_of(Plain, is_request=True)
    assert {"text", "choice", "parts"} == example.keys()
    assert isinstance(structs.struct_reader(Plain)(msgspec.to_builtins(example), "", context), Plain)
    assert not context.errors
