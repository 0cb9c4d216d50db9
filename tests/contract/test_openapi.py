"""The OpenAPI document: valid, complete, and the one that was reviewed.

`REWRITE_SNAPSHOTS=1 pytest tests/contract/test_openapi.py` writes the snapshot anew; read its diff before committing.
"""

import ast
import json
import os
import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import msgspec
import pytest
from msgspec import inspect
from openapi_spec_validator import OpenAPIV31SpecValidator

from afterword.core.organizations.access import ACTIONS, ENTITIES, ROLE_SCOPES, SCOPES, alias_of
from afterword.core.reading.structs import members_of
from afterword.core.wire.site import Site
from afterword.kit.web import openapi
from afterword.kit.web.operations import Route
from afterword.kit.web.vocabulary import EXPLANATIONS, FIELD_CODES
from afterword.run import app
from tests.sizes import share_of

JSON_TYPES = {"application/json", "application/problem+json"}
DOCS = Path(__file__).parents[2] / "docs/api.md"
PRODUCT = Path(app.__file__).parents[1]
# Calls with the code of a wrong field, and its place among the arguments.
CODE_IN = {"FieldError": 0, "InvalidAnswer": 0, "Invalid.at": 1, "Invalid.in_query": 1, "members.error": 1}
SNAPSHOT = Path(__file__).parent / "openapi.json"
TABLES = tomllib.loads(Path(openapi.__file__).with_name("vocabulary.toml").read_text("utf-8"))
ROUTES: list[Route] = [route for group in app.api_routes() for route in group.all]


@pytest.fixture(scope="module")
def document() -> Any:
    return json.loads(json.dumps(openapi.document_of(ROUTES, site=Site("https://survey.example.com", b""))))


def test_snapshot(document: Any) -> None:
    text = by_line(document)
    if os.environ.get("REWRITE_SNAPSHOTS") == "1":
        SNAPSHOT.write_text(text, encoding="utf-8")
    assert SNAPSHOT.read_text(encoding="utf-8") == text, "the interface changed; see the head of this file"


def by_line(document: Any) -> str:
    """The document as JSON with a line for each operation, schema and other part."""
    depths = {"paths": 2, "components": 2}  # levels below the member that are opened

    def lines_of(value: Any, depth: int, indent: int) -> str:
        if depth == 0 or not value:
            return json.dumps(value, ensure_ascii=False)
        members = [
            f"{' ' * (indent + 1)}{json.dumps(name)}: {lines_of(each, depth - 1, indent + 1)}"
            for name, each in value.items()
        ]
        return "{\n" + ",\n".join(members) + f"\n{' ' * indent}}}"

    members = [f" {json.dumps(name)}: {lines_of(each, depths.get(name, 0), 1)}" for name, each in document.items()]
    return "{\n" + ",\n".join(members) + "\n}\n"


def test_valid(document: Any) -> None:
    drawn = share_of(list(document["paths"]), 0.1)  # a path takes 80 ms
    part = {**document, "paths": {path: document["paths"][path] for path in drawn}}
    assert [] == [error.message for error in OpenAPIV31SpecValidator(part).iter_errors()]


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


def test_secrets_are_not_kept() -> None:
    """Routes name the secret members of their answers, so that these are not kept for an Idempotency-Key."""
    secrets = {"token", "access_token", "secret", "client_secret", "signing_secret", "password", "share_url"}
    for route in ROUTES:
        shown = secrets & set(route.answer.__struct_fields__) if route.answer and route.method == "POST" else set()
        assert shown == set(route.secret_members), route.path


def contents_of(document: Any) -> Iterator[tuple[str, str, Any]]:
    """Every body of every operation: where, its media type, schema and examples."""
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            bodies = [operation.get("requestBody", {})]
            bodies += [resolved(document, response) for response in operation["responses"].values()]
            for body in bodies:
                for media_type, shown in body.get("content", {}).items():
                    yield f"{method} {path}", media_type, shown


def resolved(document: Any, part: Any) -> Any:
    """The part, or what it refers to."""
    kind, name = part["$ref"].split("/")[-2:] if "$ref" in part else ("", "")
    return document["components"][kind][name] if kind else part


def test_examples_fit_their_schemas(document: Any) -> None:
    from openapi_schema_validator import OAS31Validator  # noqa: PLC0415  of the validator's own family

    components = {"components": document["components"]}
    seen: set[str] = set()
    for place, media_type, shown in contents_of(document):
        examples = [shown["example"]] if "example" in shown else []
        examples += [resolved(document, each)["value"] for each in shown.get("examples", {}).values()]
        is_file = shown["schema"].get("format") == "binary"
        assert examples or is_file or media_type not in JSON_TYPES, f"{place} has no example of {media_type}"
        key = json.dumps([shown["schema"], examples])
        if key not in seen:
            seen.add(key)
            validator = OAS31Validator({**shown["schema"], **components})
            wrong = [f"{place}: {error.message}" for example in examples for error in validator.iter_errors(example)]
            assert [] == wrong


def test_refusals(document: Any) -> None:
    """Each has its codes as examples, problem documents with that status; what an operation can add is among them."""
    for route in ROUTES:
        responses = document["paths"][route.path][route.method.lower()]["responses"]
        told = {}
        for status, response in responses.items():
            if int(status) >= 400:
                [problem] = resolved(document, response)["content"].values()
                for code, reference in problem["examples"].items():
                    example = resolved(document, reference)["value"]
                    assert (int(status), code) == (example["status"], example["code"])
                    told[code] = status
        assert {code for code in route.refusals if code not in FIELD_CODES} <= told.keys(), route.path
        assert {"unauthenticated", "insufficient_scope", "rate_limited", "invalid"} <= told.keys()
        assert ("idempotency_in_progress" in told) is (route.method == "POST")
        for code in set(route.refusals) & FIELD_CODES.keys():
            assert f"`{code}`" in responses["422"]["description"]


def test_code_of_every_wrong_field_is_in_the_document() -> None:
    """The codes that stand in the code; `client` looks at those of every answer."""
    known, console_only = {*openapi.ERROR_CODES}, {"too_common", "too_personal"}  # passwords are set in the console
    found = {
        (str(path.relative_to(PRODUCT)), code)
        for path in PRODUCT.rglob("*.py")
        if "screens" not in path.parts
        for code in _codes_in(ast.parse(path.read_text()))
    }
    assert set() == {(path, code) for path, code in found if code not in known | console_only}
    assert len({code for _, code in found}) > len(known) / 2


def _codes_in(tree: ast.AST) -> Iterator[str]:
    """The constants in the place of the code in `FieldError(code, …)`, `Invalid.at(place, code, …)` and their kind."""
    for call in ast.walk(tree):
        if isinstance(call, ast.Call):
            name = next((name for name in CODE_IN if ast.unparse(call.func).endswith(name)), None)
            for code in call.args[CODE_IN[name] :][:1] if name else ():
                if isinstance(code, ast.Constant) and isinstance(code.value, str):
                    yield code.value


def test_scopes(document: Any) -> None:
    known = document["components"]["securitySchemes"]["oauth"]["flows"]["clientCredentials"]["scopes"]
    assert {alias_of(scope) for scope in SCOPES} == set(known)
    for route in ROUTES:
        scopes = [*([route.scope] if route.scope else []), *route.more_scopes]
        expected = [{"bearer": scopes}, {"esat_auth": scopes}, {"oauth": [alias_of(scope) for scope in scopes]}]
        assert expected == document["paths"][route.path][route.method.lower()]["security"]


def test_bodies(document: Any) -> None:
    """JSON alone, as generators make two bodies of two media types; files as bytes. Forms are described in words."""
    for route in ROUTES:
        operation = document["paths"][route.path][route.method.lower()]
        content = operation.get("requestBody", {}).get("content", {})
        if route.uploads:
            assert route.uploads == tuple(content)
        elif route.body is None:
            assert {} == content
        else:
            assert ["application/json"] == list(content)
            assert route.rows_max == content["application/json"]["schema"].get("maxItems")
        files = {media_type.partition(";")[0] for media_type in route.media_types}
        answer = {"application/json"} if route.answer else set()
        assert files | answer == set(operation["responses"][str(route.status)].get("content", {}))


def test_lists(document: Any) -> None:
    for route in ROUTES:
        operation = document["paths"][route.path][route.method.lower()]
        names = {resolved(document, parameter)["name"] for parameter in operation["parameters"]}
        by_column = {"filter_by", "order_by"} if route.listing and route.listing.columns else set[str]()
        if route.listing is None:
            assert not names & {"cursor", "after", "pagination", "filter_by"} - set(names_of(route))
        elif route.shape == "cursor":
            assert {"limit", "after", *by_column} <= names
            assert not names & {"cursor", "pagination"}
        elif route.shape != "one":
            assert {"limit", "cursor", "pagination", *by_column} <= names


def names_of(route: Route) -> tuple[str, ...]:
    """The route's own query parameters."""
    return route.query.__struct_fields__ if route.query else ()


def test_texts_and_lists_of_requests_have_limits(document: Any) -> None:
    """Texts and lists of requests are limited, and the document has the limits."""
    for route in ROUTES:
        if route.body is not None:
            name = document["paths"][route.path][route.method.lower()]["requestBody"]["content"]["application/json"]
            assert [] == list(unbounded(document, name["schema"], route.path))
        for parameter in document["paths"][route.path][route.method.lower()]["parameters"]:
            parameter = resolved(document, parameter)  # noqa: PLW2901
            if parameter["in"] == "query" and parameter["name"] not in {"filter_by", "order_by", "pagination"}:
                assert [] == list(unbounded(document, parameter["schema"], f"{route.path}?{parameter['name']}"))


def unbounded(document: Any, schema: Any, place: str) -> Iterator[str]:
    """Texts without a greatest length, lists without a greatest number of entries."""
    schema = resolved(document, schema)
    for option in schema.get("anyOf", ()):
        yield from unbounded(document, option, place)
    if schema.get("type") == "string" and not {"maxLength", "format", "pattern", "enum"} & schema.keys():
        yield place
    if schema.get("type") == "array":
        if "maxItems" not in schema:
            yield place
        yield from unbounded(document, schema.get("items", {}), f"{place}[]")
    for name, each in schema.get("properties", {}).items():
        yield from unbounded(document, each, f"{place}.{name}")


def nodes(part: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """Every object of the document, with where it is."""
    if isinstance(part, dict):
        yield place, part
    children = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ()
    for name, each in children:
        yield from nodes(each, f"{place}/{name}")


def test_enumerations_have_values(document: Any) -> None:
    """Generators of clients refuse a document with an empty one."""
    assert [] == [place for place, part in nodes(document) if part.get("enum") == []]


def test_everything_has_words(document: Any) -> None:
    """Each member of each schema, each parameter, family and scope."""
    schemas = list(nodes(document["components"]["schemas"]))
    members = {
        f"{place}/{name}": each
        for place, schema in schemas
        if isinstance(schema.get("properties"), dict)
        for name, each in schema["properties"].items()
    }
    parameters = {
        f"{place}/{each.get('name')}": each
        for place, methods in document["paths"].items()
        for operation in methods.values()
        for each in operation["parameters"]
        if "$ref" not in each
    }
    families = {tag["name"]: tag for tag in document["tags"]}
    assert len(members) > 900
    assert [] == [place for place, each in {**members, **parameters, **families}.items() if not each.get("description")]


def test_no_word_is_unused() -> None:
    """The vocabulary has no table and no member that nothing has."""
    structs = {struct for route in ROUTES for struct in (route.body, route.query, route.answer) if struct is not None}
    waiting = list(structs)
    while waiting:
        inner = [each for member in members_of(waiting.pop()) for each in structs_in(member.type)]
        waiting += [each for each in inner if each not in structs]
        structs |= set(inner)
    members = {(struct.__name__, member.name) for struct in structs for member in members_of(struct)}
    names = {name for _, name in members}
    assert [] == sorted(set(TABLES["members"]) - names)
    own = {(table, name) for table in TABLES for name in TABLES[table] if table[0].isupper()}
    assert [] == sorted(own - members)
    assert {route.tag for route in ROUTES} == set(TABLES["families"])
    assert set(ROLE_SCOPES) == set(TABLES["roles"])
    assert set(ENTITIES) == set(TABLES["entities"])


def test_docs_list_scopes_and_roles() -> None:
    """`docs/api.md` says what each opens; written anew together with the snapshot."""
    page = DOCS.read_text("utf-8")
    before, _, rest = page.partition("<!-- scopes: made from the vocabulary of the reference -->\n")
    listed, _, after = rest.partition("<!-- end of scopes -->")
    expected = scopes_in_markdown()
    if os.environ.get("REWRITE_SNAPSHOTS") == "1":
        DOCS.write_text(page.replace(listed, expected), "utf-8")
    assert before
    assert after
    assert expected in DOCS.read_text("utf-8")


def scopes_in_markdown() -> str:
    """The roles as a list, the entities of scopes as a table."""
    actions = "`Read`, `Create`, `Update`, `Delete`"
    lines = [
        *(f"- `{role}`: {words}" for role, words in TABLES["roles"].items()),
        "",
        f"A scope is an entity and an action, such as `Queue.Create`. The actions are {actions}; none implies another.",
        "Owners have all scopes, and admins all but `Organization.Delete` and the changes of `Plan`.",
        "",
        "| Entity | What it opens | Reporting may | Agents may |",
        "|---|---|---|---|",
    ]
    for entity in ENTITIES:
        held = [
            ", ".join(action for action in ACTIONS if f"{entity}.{action}" in ROLE_SCOPES[role]) or "nothing"
            for role in ("reporting", "agent")
        ]
        lines.append(f"| `{entity}` | {TABLES['entities'][entity]} | {held[0]} | {held[1]} |")
    return "\n".join(lines) + "\n"


def structs_in(kind: Any) -> list[type[msgspec.Struct]]:
    """The Structs that a type has inside."""
    if isinstance(kind, inspect.StructType):
        return [kind.cls]
    inner = [getattr(kind, name, None) for name in ("type", "item_type", "value_type")]
    return [found for each in [*inner, *getattr(kind, "types", ())] if each is not None for found in structs_in(each)]


def test_patterns_compile_with_the_flag_u(document: Any) -> None:
    """As generators and validators compile them; Python refuses no escape of punctuation, so it is looked for."""
    patterns = {each["pattern"] for _, each in nodes(document) if isinstance(each.get("pattern"), str)}
    assert len(patterns) > 5
    for pattern in patterns:
        escaped = set(re.findall(r"\\(.)", pattern))
        assert set() == escaped - set("^$\\.*+?()[]{}|/-dDwWsSbBnrtfvx0u"), pattern
    if node := shutil.which("node"):
        script = "for (const pattern of JSON.parse(process.argv[1])) new RegExp(pattern, 'u')"
        subprocess.run([node, "-e", script, json.dumps(sorted(patterns))], check=True, timeout=60)


async def test_served(client: httpx2.AsyncClient) -> None:
    """The same bytes inside the version and outside, to anybody."""
    found = [await client.get(path) for path in ("/v3.2/openapi.json", "/openapi.json", "/v3.0/openapi.json")]
    assert {200} == {response.status_code for response in found}
    assert 1 == len({response.content for response in found})
    assert {(route.path, route.method.lower()) for route in ROUTES} == {
        (path, method) for path, methods in found[0].json()["paths"].items() for method in methods
    }
    assert "application/json" == found[0].headers["content-type"]
    again = await client.get("/v3.2/openapi.json", headers={"If-None-Match": found[0].headers["etag"]})
    assert 304 == again.status_code
