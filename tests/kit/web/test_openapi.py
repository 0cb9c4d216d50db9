"""The document of a small slice; that of the whole API is held to its snapshot in tests/contract/test_openapi.py."""

from typing import Any

import pytest

from afterword.core.organizations.access import SCOPES
from afterword.core.wire.site import Site
from afterword.kit.web import openapi, vocabulary
from tests.kit.web.conftest import routes

ALL = openapi.components_of({}, ["item_closed"], Site("https://survey.example.com", b""))


@pytest.fixture
def paths(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setitem(vocabulary.FAMILIES, "Notes", "Notes.")
    return openapi.document_of(routes.all, site=Site("https://survey.example.com", b""))["paths"]


def names(operation: Any) -> set[str]:
    return {each.get("name") or each["$ref"].rpartition("/")[2] for each in operation["parameters"]}


def test_parameters(paths: Any) -> None:
    assert {"word", "count", "filter_by", "order_by", "Limit", "Cursor", "Pagination"} <= names(paths["/note"]["get"])
    assert {"note_id", "IfMatch"} <= names(paths["/note/{note_id}"]["patch"])
    assert "IdempotencyKey" in names(paths["/note/quick"]["post"])


def test_bodies(paths: Any) -> None:
    single = paths["/note/quick"]["post"]["requestBody"]["content"]["application/json"]
    assert "title" in single["example"]
    many = paths["/note/batch"]["post"]["requestBody"]["content"]["application/json"]
    assert {"type": "array", "minItems": 1, "maxItems": 250, "items": single["schema"]} == many["schema"]


def test_answers(paths: Any) -> None:
    envelope = paths["/note"]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    assert {"page", "results", "next_cursor"} <= set(envelope["required"])
    assert ["text/csv"] == list(paths["/note/file"]["get"]["responses"]["200"]["content"])
    assert {"404", "412"} <= paths["/note/{note_id}"]["delete"]["responses"].keys()
    assert "content" not in paths["/note/{note_id}"]["delete"]["responses"]["204"]


@pytest.mark.parametrize("status", [each for each in openapi.RESPONSES if openapi.codes_of(each)])
def test_a_refusal_shows_each_of_its_codes(status: int) -> None:
    codes = openapi.codes_of(status)
    shown = openapi.response(status, codes)["content"]["application/problem+json"]["examples"]
    assert set(codes) == set(shown) <= set(ALL["examples"])
    assert {status} == {ALL["examples"][code]["value"]["status"] for code in codes}


def test_not_modified_has_no_body() -> None:
    assert {"description"} == openapi.response(304, []).keys()


def test_codes_of_fields_are_named() -> None:
    assert "`required`" in openapi.response(422, ["invalid"], fields=["required"])["description"]


def test_a_code_of_one_operation_has_an_example() -> None:
    assert 409 == ALL["examples"]["item_closed"]["value"]["status"]


def test_every_scope_can_be_asked_for() -> None:
    flow = ALL["securitySchemes"]["oauth"]["flows"]["clientCredentials"]
    assert "https://survey.example.com/oauth/token" == flow["tokenUrl"]
    assert len(SCOPES) == len(flow["scopes"])
    assert ALL["securitySchemes"].keys() == {way for each in openapi.security([]) for way in each}
