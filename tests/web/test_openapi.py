"""The document of a small slice; that of the whole API is held to its snapshot in tests/contract/test_openapi.py."""

from typing import Any

import pytest

from afterword.core.wire.site import Site
from afterword.web import openapi, vocabulary
from tests.web.conftest import routes


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
