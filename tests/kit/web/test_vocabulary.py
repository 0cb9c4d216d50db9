"""The words of the reference: what each code, scope and member is called, and what stands in for words that are not."""

import pytest

from afterword.core.organizations.access import ROLE_SCOPES, SCOPES
from afterword.kit.web import vocabulary


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


def test_words_of_a_schema_stay() -> None:
    schema = {"properties": {"locale": {"description": "Own."}, "created_time": {}, "no_such_member": {}}}
    vocabulary.describe_members("Any", schema)
    described = schema["properties"]
    assert {"description": "Own."} == described["locale"]
    assert described["created_time"]
    assert {} == described["no_such_member"]
