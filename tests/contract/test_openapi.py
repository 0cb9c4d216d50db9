"""The OpenAPI document: valid, complete, and the one that was reviewed.

`REWRITE_SNAPSHOTS=1 pytest tests/contract/test_openapi.py` writes the snapshot anew; read its diff before committing.
"""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from afterword import app
from afterword.core.access import SCOPES
from afterword.core.site import Site
from afterword.web import openapi
from afterword.web.explanations import EXPLANATIONS, FIELD_CODES
from afterword.web.operations import Route

SNAPSHOT = Path(__file__).parent / "openapi.json"
ROUTES: list[Route] = [route for group in app.api_routes() for route in group.all]


@pytest.fixture(scope="module")
def document() -> Any:
    return json.loads(json.dumps(openapi.document_of(ROUTES, site=Site("https://survey.example.com", b""))))


def test_snapshot(document: Any) -> None:
    text = json.dumps(document, indent=1, ensure_ascii=False) + "\n"
    if os.environ.get("REWRITE_SNAPSHOTS") == "1":
        SNAPSHOT.write_text(text, encoding="utf-8")
    assert SNAPSHOT.read_text(encoding="utf-8") == text, "the interface changed; see the head of this file"


def test_valid(document: Any) -> None:
    assert [] == [error.message for error in OpenAPIV31SpecValidator(document).iter_errors()]


def test_every_route(document: Any) -> None:
    assert {(route.path, route.method.lower()) for route in ROUTES} == {
        (path, method) for path, methods in document["paths"].items() for method in methods
    }
    operations = [operation for methods in document["paths"].values() for operation in methods.values()]
    names = [operation["operationId"] for operation in operations]
    assert len(set(names)) == len(names)
    for operation in operations:
        assert operation["summary"]
        assert {"400", "401", "403", "422", "429", "500", "503"} <= operation["responses"].keys()


def test_scopes_and_codes_exist() -> None:
    for route in ROUTES:
        assert route.scope in SCOPES, route.path
        assert set(route.more_scopes) <= SCOPES
        assert set(route.refusals) <= EXPLANATIONS.keys() | FIELD_CODES.keys(), route.path


def test_examples_fit_their_schemas(document: Any) -> None:
    from openapi_schema_validator import OAS31Validator  # noqa: PLC0415  of the validator's own family

    components = {"components": document["components"]}
    for path, methods in document["paths"].items():
        for operation in methods.values():
            contents = [operation.get("requestBody", {}).get("content", {})]
            contents += [answer.get("content", {}) for answer in operation["responses"].values()]
            for content in contents:
                shown = content.get("application/json", {})
                if "example" in shown:
                    validator = OAS31Validator({**shown["schema"], **components})
                    assert [] == [f"{path}: {error.message}" for error in validator.iter_errors(shown["example"])]
