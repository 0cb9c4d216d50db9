"""The specified interface exists: the operations, the families, and every field of every resource.

`operations.yaml` and `resources.yaml` say what; here it is held against the table of routes and the OpenAPI document.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from afterword.core.wire.site import Site
from afterword.kit.web import openapi
from afterword.kit.web.operations import Route
from afterword.run import app

FOLDER: Final = Path(__file__).parent
SPECIFICATION: Final = (FOLDER / "specification.md").read_text(encoding="utf-8")
PROMISED: Final[dict[str, Any]] = yaml.safe_load((FOLDER / "operations.yaml").read_text(encoding="utf-8"))
RESOURCES: Final[dict[str, Any]] = yaml.safe_load((FOLDER / "resources.yaml").read_text(encoding="utf-8"))
ROUTES: Final[dict[tuple[str, str], Any]] = {
    (route.method, route.path): route for group in app.api_routes() for route in group.all
}
DOCUMENT: Final[dict[str, Any]] = json.loads(
    json.dumps(openapi.document_of(list(ROUTES.values()), site=Site("https://survey.example.com", b"")))
)
SCHEMAS: Final[dict[str, Any]] = DOCUMENT["components"]["schemas"]
OPERATIONS: Final = [(name, *row) for name, row in PROMISED["operations"].items()]
FAMILIES: Final = [(name, *row) for name, rows in PROMISED["families"].items() for row in rows]
STAMPS: Final = {"created_time": "s", "updated_time": "s", "created_by": "s?", "updated_by": "s?"}
TYPES: Final[Mapping[str, str]] = {"s": "string", "i": "integer", "n": "number", "b": "boolean", "o": "object"}
COUNTS: Final = ["page", "last_page", "total_results", "max_per_page"]

LATER: Final = frozenset(
    {
        "Subject Record",
    }
)  # fmt: skip
"""Resources that no operation answers with yet; who builds one takes it out of here."""

DIFFERENT: Final[Mapping[tuple[str, str], str]] = {
    ("Definition", "translations"): "the questionnaire's own title and description are translated like all its texts",
}
"""Fields, by schema, that differ from the table on purpose; and why."""


@dataclass(frozen=True)
class Field:
    """A row of the table of fields."""

    name: str
    type: str
    is_nullable: bool
    is_required: bool
    is_once: bool
    is_sent_only: bool


def fields_of(resource: str, side: str) -> list[Field]:
    """The fields that the client or the server sets, or that only move a thing."""
    text = RESOURCES[resource].get(side, "")
    found: list[Field] = []
    for name, *marks in (each.split() for each in text.split(", ") if each):
        for field, kind in STAMPS.items() if name == "stamps" else ((name, marks[0]),):
            found.append(
                Field(field, kind.removesuffix("?"), kind.endswith("?"), "*" in marks, "once" in marks, "sent" in marks)
            )
    return found


def schemas_of(resource: str) -> Iterator[tuple[str, list[Field]]]:
    """The schemas of a resource: of its answers, of its creation and of its change, with the fields of each."""
    row, plain = RESOURCES[resource], resource.title().replace(" ", "")
    client, server = fields_of(resource, "client"), fields_of(resource, "server")
    shown = [field for field in [*client, *server] if not field.is_sent_only]
    yield row.get("answer", plain), shown
    if client:
        yield row.get("create", f"{plain}Request"), client
        changed = [field for field in client if not field.is_once] + fields_of(resource, "moves")
        yield row.get("change", f"{plain}Update"), changed


SHAPED: Final = [
    pytest.param(schema, expected, id=schema)
    for resource in RESOURCES
    if resource not in LATER
    for schema, expected in schemas_of(resource)
    if schema != "-"
]


class TestOperations:
    def test_all_of_the_specification(self) -> None:
        """The 28 operations and the 14 families that it names, neither more nor fewer."""
        assert 28 == len(OPERATIONS)
        assert all(f"| {name} | {method} |" in SPECIFICATION for name, method, *_ in OPERATIONS)
        named = [name.removesuffix(" (template)").removesuffix(" (custom)") for name in PROMISED["families"]]
        assert 14 == len(set(named))
        assert all(f"\n- {name}" in SPECIFICATION for name in named)

    @pytest.mark.parametrize(("name", "method", "path", "scope", "status", "shape", "resource"), OPERATIONS + FAMILIES)
    def test_is_there(
        self, name: str, method: str, path: str, scope: str, status: int, shape: str, resource: str
    ) -> None:
        """Method, path, scope, status and shape, in the table of routes and in the document."""
        route = ROUTES[method, path]
        assert (scope, status) == (route.scope, route.status)
        if name in PROMISED["operations"]:
            assert name == route.summary
        operation = DOCUMENT["paths"][path][method.lower()]
        assert scope in operation["security"][0]["bearer"]
        content = operation["responses"][str(status)].get("content", {})
        if shape == "none":
            assert {} == content
        elif shape == "file":
            assert route.media_types
            assert {media_type.partition(";")[0] for media_type in route.media_types} == set(content)
        else:
            check_shape(route, content["application/json"]["schema"], shape, resource)


def check_shape(route: Route, schema: dict[str, Any], shape: str, resource: str) -> None:
    """One entity, a bare array of them, or an envelope around them."""
    plain = resource.title().replace(" ", "")
    reference = {"$ref": f"#/components/schemas/{RESOURCES[resource].get('answer', plain)}"}
    assert shape == route.shape
    if shape == "one":
        assert reference == schema
    elif shape == "array":
        assert {"type": "array", "items": reference} == schema
    else:
        counts = COUNTS if shape == "envelope" else []
        assert {*counts, "results", "next_cursor"} == set(schema["properties"]) == set(schema["required"])
        assert reference == schema["properties"]["results"]["items"]


class TestResources:
    def test_later(self) -> None:
        """The list of missing operations has none that exists."""
        for resource in LATER:
            answer, _ = next(schemas_of(resource))
            assert answer not in SCHEMAS, f"{resource} is there: take it out of LATER"

    @pytest.mark.parametrize(("schema", "expected"), SHAPED)
    def test_fields(self, schema: str, expected: list[Field]) -> None:
        """Exactly these, of these types, null exactly where that is allowed."""
        different = {name for each, name in DIFFERENT if each == schema}
        found = SCHEMAS[schema]["properties"]
        assert {field.name for field in expected} - different == set(found) - different
        is_request = schema.endswith(("Request", "Update")) or schema == "Definition"
        wrong = [
            f"{field.name}: {types_of(found[field.name])} and not {types}"
            for field in expected
            if field.name not in different
            for types in [wanted_of(field)]
            if types_of(found[field.name]) not in ([types, types | {"null"}] if is_request else [types])
            and "any" not in types
        ]
        assert [] == wrong

    @pytest.mark.parametrize(
        "resource", [name for name in RESOURCES if name not in LATER and "client" in RESOURCES[name]]
    )
    def test_required(self, resource: str) -> None:
        """Creation wants exactly what the table marks; a change wants nothing."""
        [_, (create, client), (change, _)] = schemas_of(resource)
        if create != "-":
            assert {field.name for field in client if field.is_required} == set(SCHEMAS[create].get("required", ()))
        if change != "-":
            assert [] == SCHEMAS[change].get("required", [])

    def test_differences_are_there(self) -> None:
        """Each listed difference exists, and has its reason."""
        assert all(schema in SCHEMAS and len(reason.split()) > 3 for (schema, _), reason in DIFFERENT.items())


def wanted_of(field: Field) -> frozenset[str]:
    """The JSON types of a row; a list is `array` and the types of its entries."""
    inner = field.type.strip("[]")
    types = {"any"} if inner == "any" else {TYPES[inner]}
    return frozenset(
        {*({"array"} if field.type.startswith("[") else ()), *types, *({"null"} if field.is_nullable else ())}
    )


def resolved(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema, or the one that it refers to."""
    return SCHEMAS[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema


def types_of(schema: dict[str, Any]) -> frozenset[str]:
    """The JSON types that a schema admits; a list is `array` and the types of its entries."""
    if "$ref" in schema:
        return types_of(resolved(schema))
    if "anyOf" in schema:
        found = frozenset[str]().union(*(types_of(option) for option in schema["anyOf"]))
        return found - {"integer"} if "number" in found else found
    if "enum" in schema or "const" in schema:
        names = {str: "string", int: "integer", bool: "boolean", type(None): "null"}
        return frozenset(names[type(value)] for value in schema.get("enum", [schema.get("const")]))
    kinds = schema.get("type", "any")
    found = {kinds} if isinstance(kinds, str) else set(kinds)
    return frozenset(found | types_of(schema["items"]) if "array" in found else found)
