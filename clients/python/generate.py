"""Writes `models.py` and `operations.py` from the OpenAPI document: `python clients/python/generate.py`.

Models come from datamodel-code-generator; limits and examples are left to the service, which checks them better, and
the values of enumerations in answers stay open, so that a newer service can be understood.
"""

import json
import keyword
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

HERE: Final = Path(__file__).parent
DOCUMENT: Final = HERE.parents[1] / "tests/contract/openapi.json"
PACKAGE: Final = HERE / "src/afterword_client"
LINE: Final = 110
METHODS: Final = ("get", "post", "put", "patch", "delete")
DROPPED: Final = frozenset({
    "pattern", "examples", "example", "minLength", "maxLength", "minItems", "maxItems", "minProperties",
    "maxProperties", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "uniqueItems", "propertyNames",
    "title", "readOnly", "writeOnly",
})  # fmt: skip
SHARED: Final = frozenset({"limit", "cursor", "pagination", "filter_by", "order_by", "response_fields", "after"})
_JSON_TYPES: Final = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}
MODELS_HEAD: Final = '"""Requests and answers of the API; generated from its OpenAPI document by generate.py."""\n\n'
OPERATIONS_HEAD: Final = '''"""The operations of the API by family, generated from its OpenAPI document."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, Protocol, TypeVar
from urllib.parse import quote

import msgspec

from afterword_client import models

T = TypeVar("T")
Filters = Mapping[str, Mapping[str, Any]]
Orders = Mapping[str, Sequence[str]]


class Reply(Protocol):
    """An answer."""

    def read(self, kind: type[T]) -> T:
        """The body as this type."""
        ...


class Transport(Protocol):
    """Sends the requests of the operations."""

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: object = msgspec.UNSET,
        file: bytes | None = None,
        media_type: str = "application/json",
        idempotency_key: str | None = None,
        if_match: str | None = None,
    ) -> Reply:
        """Send one request."""
        ...

    def pages(
        self, path: str, kind: type[T], *, limit: int, query: Mapping[str, Any] | None = None
    ) -> Iterator[T]:
        """Every entry of a list."""
        ...

    def stream(self, path: str, *, query: Mapping[str, Any] | None = None) -> Iterator[bytes]:
        """The bytes of a file."""
        ...


class Family:
    """Operations that belong together."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport


def _segment(text: str) -> str:
    """A text as one segment of a path."""
    return quote(text, safe="")
'''


def models(document: Mapping[str, Any]) -> str:
    """The text of models.py."""
    schemas = document["components"]["schemas"]
    sent = reachable(schemas, [operation.get("requestBody") for _, _, operation in operations_of(document)])
    plain = {name: _plain(schema, keep_enums=name in sent) for name, schema in schemas.items()}
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "openapi.json"), Path(folder, "models.py")
        stripped = {**document, "components": {"schemas": plain}, "paths": {}}
        source.write_text(json.dumps(stripped), encoding="utf-8")
        command = [
            sys.executable, "-W", "ignore", "-m", "datamodel_code_generator", "--input", str(source),
            "--input-file-type", "openapi", "--openapi-scopes", "schemas", "--output", str(target),
            "--output-model-type", "msgspec.Struct", "--target-python-version", "3.11", "--use-union-operator",
            "--use-standard-collections", "--use-schema-description", "--enum-field-as-literal", "all",
            "--collapse-root-models", "--output-datetime-class", "datetime", "--keyword-only", "--disable-timestamp",
            "--custom-file-header", MODELS_HEAD.strip(),
        ]  # fmt: skip
        subprocess.run(command, check=True)  # noqa: S603
        return _formatted(target.read_text(encoding="utf-8"))


def operations(document: Mapping[str, Any]) -> str:
    """The text of operations.py."""
    families: dict[str, list[str]] = {}
    for path, method, operation in operations_of(document):
        families.setdefault(operation["tags"][0], []).append(_method(path, method, operation, document))
    parts = [OPERATIONS_HEAD]
    for tag, methods in families.items():
        parts.append(f'class {_class_of(tag)}(Family):\n    """{tag}."""\n\n' + "\n".join(methods))
    members = "\n".join(f"        self.{_name_of(tag)} = {_class_of(tag)}(transport)" for tag in families)
    parts.append(
        'class Operations:\n    """All families."""\n\n    def __init__(self, transport: Transport) -> None:\n'
        + members
    )
    return _formatted("\n\n".join(parts) + "\n")


def main() -> None:
    """Write both files."""
    document = json.loads(DOCUMENT.read_text(encoding="utf-8"))
    (PACKAGE / "models.py").write_text(models(document), encoding="utf-8")
    (PACKAGE / "operations.py").write_text(operations(document), encoding="utf-8")


def operations_of(document: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Path, method and description of each operation that a token may call."""
    for path, item in document["paths"].items():
        for method in METHODS:
            if method in item and item[method].get("security") != []:
                yield path, method, item[method]


def _method(path: str, method: str, operation: Mapping[str, Any], document: Mapping[str, Any]) -> str:
    parameters = [resolved(each, document) for each in operation.get("parameters", [])]
    in_path = [each["name"] for each in parameters if each["in"] == "path"]
    own = [each for each in parameters if each["in"] == "query" and each["name"] not in SHARED]
    shared = {each["name"] for each in parameters if each["in"] == "query"} & SHARED
    body = _body_type(operation)
    schema, shape = answer_of(operation, document)
    kind = "None" if schema is None else _type_of(schema)
    first = ["self", *(f"{name}: str" for name in in_path)]
    first += [f"body: {body[0]}" + ("" if body[1] else " | None = None")] if body else []
    more = [f"{_python(each['name'])}: {_query_type(each)}" for each in own]
    calls: list[str] = []
    if shape == "list":
        more += ["filter_by: Filters | None = None", "order_by: Orders | None = None"] * bool(shared & {"filter_by"})
        more += ["limit: int = 100"]
        returns = f"Iterator[{kind}]"
    elif shape == "file":
        returns = "Iterator[bytes]"
    else:
        returns = kind
        more += ["idempotency_key: str | None = None"] * (method == "post")
        more += ["if_match: str | None = None"] * (method in {"patch", "put", "delete"})
    query = [f'"{each["name"]}": {_python(each["name"])}' for each in own]
    query += ['"filter_by": filter_by', '"order_by": order_by'] * (shape == "list" and "filter_by" in shared)
    target = 'f"' + re.sub(r"\{([a-z_]+)\}", r"{_segment(\1)}", path) + '"' if in_path else f'"{path}"'
    options = [f"query={{{', '.join(query)}}}"] * bool(query)
    if shape == "list":
        calls.append(f"return self._transport.pages({', '.join([target, kind, 'limit=limit', *options])})")
    elif shape == "file":
        calls.append(f"return self._transport.stream({', '.join([target, *options])})")
    else:
        options += [_body_option(operation)] if body else []
        options += ["idempotency_key=idempotency_key"] * (method == "post")
        options += ["if_match=if_match"] * (method in {"patch", "put", "delete"})
        call = f"self._transport.request({', '.join([f'{method.upper()!r}', target, *options])})"
        calls.append(f"return {call}.read({kind})" if kind != "None" else call)
    signature = ", ".join([*first, *(["*", *more] if more else [])])
    text = operation["summary"].rstrip(".") + "."
    description = operation.get("description", "")
    doc = (
        f'        """{text}\n\n        {_wrapped(description)}\n        """' if description else f'        """{text}"""'
    )
    lines = [
        f"    def {operation['operationId']}({signature}) -> {returns}:",
        doc,
        *(f"        {one}" for one in calls),
    ]
    return "\n".join(lines) + "\n"


def _body_type(operation: Mapping[str, Any]) -> tuple[str, bool] | None:
    body = operation.get("requestBody")
    if body is None:
        return None
    if "application/json" not in body["content"]:
        return "bytes", True
    return _type_of(body["content"]["application/json"]["schema"]), bool(body.get("required"))


def _body_option(operation: Mapping[str, Any]) -> str:
    """The argument for the body: JSON, or a file of the first type that the operation reads."""
    content = operation["requestBody"]["content"]
    return "body=body" if "application/json" in content else f"file=body, media_type={next(iter(content))!r}"


def answer_of(operation: Mapping[str, Any], document: Mapping[str, Any]) -> tuple[Mapping[str, Any] | None, str]:
    """The schema of an answer, of one entry where its shape is `list`; `one` without a schema has no body."""
    for status, answer in operation["responses"].items():
        if not status.startswith("2"):
            continue
        content = resolved(answer, document).get("content", {})
        if "application/json" not in content:
            return None, "file" if content else "one"
        schema = content["application/json"]["schema"]
        if schema.get("type") == "array":
            return schema["items"], "list"
        results = schema.get("properties", {}).get("results")
        if results is not None and "next_cursor" in schema["properties"]:
            return results["items"], "list"
        return schema, "one"
    return None, "one"


def _type_of(schema: Mapping[str, Any]) -> str:
    if "$ref" in schema:
        return f"models.{schema['$ref'].rpartition('/')[2]}"
    if schema.get("type") == "array":
        return f"Sequence[{_type_of(schema['items'])}]"
    if "anyOf" in schema or "oneOf" in schema:
        found = [_type_of(each) for each in schema.get("anyOf", schema.get("oneOf", []))]
        return " | ".join(dict.fromkeys(found))
    if "enum" in schema:
        return f"Literal[{', '.join(json.dumps(value) for value in schema['enum'])}]"
    simple = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
    if schema.get("format") == "date-time":
        return "datetime"
    return simple.get(schema.get("type", ""), "dict[str, Any]")


def _query_type(parameter: Mapping[str, Any]) -> str:
    kind = _type_of(parameter["schema"]) if not isinstance(parameter["schema"].get("type"), list) else "Any"
    return kind if parameter.get("required") else f"{kind} | None = None".replace(" | None | None", " | None")


def reachable(schemas: Mapping[str, Any], starts: list[Any]) -> set[str]:
    """The names of the schemas that these refer to, directly or not."""
    found: set[str] = set()
    open_ = [*starts]
    while open_:
        for name in re.findall(r'"#/components/schemas/([^"]+)"', json.dumps(open_.pop())):
            if name not in found:
                found.add(name)
                open_.append(schemas[name])
    return found


def _plain(schema: Any, *, keep_enums: bool) -> Any:
    if isinstance(schema, list):
        return [_plain(each, keep_enums=keep_enums) for each in schema]
    if not isinstance(schema, dict):
        return schema
    is_members = "type" not in schema or isinstance(schema.get("type"), dict)  # a map of member names to schemas
    dropped = frozenset[str]() if is_members and all(isinstance(each, dict) for each in schema.values()) else DROPPED
    if isinstance(schema.get("properties"), dict):  # the reference has the members' words
        bare = {
            name: {key: value for key, value in each.items() if key != "description"}
            for name, each in schema["properties"].items()
        }
        schema = {**schema, "properties": bare}
    kept = {
        name: _plain(value, keep_enums=keep_enums)
        for name, value in schema.items()
        if name not in dropped and (keep_enums or name not in {"enum", "const"} or isinstance(value, dict))
    }
    if not keep_enums and "type" not in kept and ("enum" in schema or "const" in schema):
        values = schema.get("enum", [schema.get("const")])
        kept["type"] = sorted({_JSON_TYPES[type(value)] for value in values})
    return kept


def resolved(node: Mapping[str, Any], document: Mapping[str, Any]) -> Mapping[str, Any]:
    """The node, or what it refers to."""
    if "$ref" not in node:
        return node
    found: Any = document
    for step in node["$ref"].removeprefix("#/").split("/"):
        found = found[step]
    return found


def _class_of(tag: str) -> str:
    return "".join(word.capitalize() for word in re.findall(r"[A-Za-z]+", tag))


def _name_of(tag: str) -> str:
    return "_".join(word.lower() for word in re.findall(r"[A-Za-z]+", tag))


def _python(name: str) -> str:
    return f"{name}_" if keyword.iskeyword(name) else name


def _wrapped(text: str) -> str:
    words, lines = text.replace("\\", "\\\\").replace('"""', "'''").split(), [""]
    for word in words:
        if len(lines[-1]) + len(word) + 1 > LINE:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return "\n        ".join(lines)


def _formatted(text: str) -> str:
    command = [sys.executable, "-m", "ruff", "format", "--stdin-filename", "models.py", "-"]
    return subprocess.run(command, input=text, check=True, capture_output=True, text=True).stdout  # noqa: S603


if __name__ == "__main__":
    main()
