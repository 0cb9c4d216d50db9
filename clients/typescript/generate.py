"""Writes `models.ts` and `operations.ts` from the OpenAPI document: `python -m clients.typescript.generate`.

Names on the wire stay as they are, times are texts (ISO 8601), and the values of enumerations in answers stay open, so
that a newer service can be understood.
"""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from clients.python.generate import DOCUMENT, SHARED, answer_of, operations_of, reachable, resolved

PACKAGE: Final = Path(__file__).parent / "src"
SIMPLE: Final = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}
MODELS_HEAD: Final = """/** Requests and answers of the API; generated from its OpenAPI document by generate.py. */

/** One of these values, or one that a newer service knows. */
export type Open<Known extends string> = Known | (string & {});
"""
OPERATIONS_HEAD: Final = """/** The operations of the API by family; generated from its document by generate.py. */

import type * as models from "./models.js";
import { Family, segment } from "./transport.js";
import type { Filters, Orders, Transport } from "./transport.js";
"""


def models(document: Mapping[str, Any]) -> str:
    """The text of models.ts."""
    schemas = document["components"]["schemas"]
    sent = reachable(schemas, [operation.get("requestBody") for _, _, operation in operations_of(document)])
    return "\n".join([MODELS_HEAD, *(_model(name, schemas[name], is_sent=name in sent) for name in sorted(schemas))])


def operations(document: Mapping[str, Any]) -> str:
    """The text of operations.ts."""
    families: dict[str, list[str]] = {}
    for path, method, operation in operations_of(document):
        families.setdefault(operation["tags"][0], []).append(_method(path, method, operation, document))
    parts = [OPERATIONS_HEAD]
    for tag, methods in families.items():
        parts.append(f"/** {tag}. */\nexport class {_class_of(tag)} extends Family {{\n" + "\n".join(methods) + "}\n")
    members = "".join(f"  readonly {_name_of(tag)}: {_class_of(tag)};\n" for tag in families)
    made = "".join(f"    this.{_name_of(tag)} = new {_class_of(tag)}(transport);\n" for tag in families)
    body = f"{members}\n  constructor(transport: Transport) {{\n{made}  }}\n"
    parts.append(f"/** All families. */\nexport class Operations {{\n{body}}}\n")
    return "\n".join(parts)


def main() -> None:
    """Write both files."""
    document = json.loads(DOCUMENT.read_text(encoding="utf-8"))
    (PACKAGE / "models.ts").write_text(models(document), encoding="utf-8")
    (PACKAGE / "operations.ts").write_text(operations(document), encoding="utf-8")


def _model(name: str, schema: Mapping[str, Any], *, is_sent: bool) -> str:
    head = _comment(schema.get("description", ""))
    if "properties" not in schema:
        return f"{head}export type {name} = {_type_of(schema, is_sent=is_sent, within='')};\n"
    members = "\n".join(_members(schema, is_sent=is_sent))
    return f"{head}export interface {name} {{\n{members}\n}}\n"


def _members(schema: Mapping[str, Any], *, is_sent: bool) -> Iterator[str]:
    required = frozenset(schema.get("required", ()))
    for name, member in schema["properties"].items():
        may_miss = "" if name in required else "?"
        yield f"  {_quoted(name)}{may_miss}: {_type_of(member, is_sent=is_sent, within='')};"


def _method(path: str, method: str, operation: Mapping[str, Any], document: Mapping[str, Any]) -> str:
    parameters = [resolved(each, document) for each in operation.get("parameters", [])]
    in_path = [each["name"] for each in parameters if each["in"] == "path"]
    own = [each for each in parameters if each["in"] == "query" and each["name"] not in SHARED]
    has_filters = any(each["name"] == "filter_by" for each in parameters)
    schema, shape = answer_of(operation, document)
    kind = "void" if schema is None else _type_of(schema, is_sent=False)
    arguments = [f"{_camel(name)}: string" for name in in_path]
    request, media_type, must_send = _body(operation)
    arguments += [f"body{'' if must_send else '?'}: {request}"] if request else []
    query = [f"{_quoted(each['name'])}{'' if each.get('required') else '?'}: {_query_type(each)}" for each in own]
    more = {
        "list": ["filter_by?: Filters", "order_by?: Orders"] * has_filters + ["limit?: number"],
        "file": [],
        "one": ["idempotencyKey?: string"] * (method == "post")
        + ["ifMatch?: string"] * (method in {"patch", "put", "delete"}),
    }[shape]
    options = [*query, *more]
    must_choose = any(each.get("required") for each in own)
    arguments += [f"options: {{ {'; '.join(options)} }}{'' if must_choose else ' = {}'}"] if options else []
    target = re.sub(r"\{([a-z_]+)\}", lambda found: f"${{segment({_camel(found[1])})}}", path)
    return_type = {"list": f"AsyncGenerator<{kind}>", "file": "AsyncGenerator<Uint8Array>", "one": f"Promise<{kind}>"}
    sent = {
        "list": f"this.transport.pages(`{target}`, options)",
        "file": f"this.transport.stream(`{target}`{', options' if options else ''})",
        "one": f"this.transport.send({', '.join(_sent(method, target, request, media_type, options))})",
    }[shape]
    return (
        _comment(f"{operation['summary'].rstrip('.')}. {operation.get('description', '')}".strip(), "  ")
        + f"  {_camel(operation['operationId'])}({', '.join(arguments)}): {return_type[shape]} {{\n"
        f"    return {sent};\n  }}\n"
    )


def _sent(method: str, target: str, request: str, media_type: str, options: list[str]) -> list[str]:
    found = [f'"{method.upper()}"', f"`{target}`"]
    if request or options:
        found.append("options" if options else "{}")
    if request:
        found.append("body")
    if media_type:
        found.append(json.dumps(media_type))
    return found


def _body(operation: Mapping[str, Any]) -> tuple[str, str, bool]:
    """The type of the body, the media type of a file, and whether there must be one."""
    body = operation.get("requestBody")
    if body is None:
        return "", "", False
    if "application/json" not in body["content"]:
        return "Uint8Array<ArrayBuffer>", next(iter(body["content"])), True
    return _type_of(body["content"]["application/json"]["schema"], is_sent=True), "", bool(body.get("required"))


def _query_type(parameter: Mapping[str, Any]) -> str:
    return _type_of(parameter["schema"], is_sent=True)


def _type_of(schema: Mapping[str, Any], *, is_sent: bool, within: str = "models.") -> str:
    """`within`: what names of models stand behind."""
    if "$ref" in schema:
        return within + schema["$ref"].rpartition("/")[2]
    if "anyOf" in schema or "oneOf" in schema:
        several = [_type_of(each, is_sent=is_sent, within=within) for each in schema.get("anyOf") or schema["oneOf"]]
        return " | ".join(dict.fromkeys(several))
    if "enum" in schema or "const" in schema:
        return _enumeration(schema.get("enum", [schema.get("const")]), is_sent=is_sent, within=within)
    return " | ".join(_of_kind(kind, schema, is_sent=is_sent, within=within) for kind in _kinds(schema))


def _kinds(schema: Mapping[str, Any]) -> list[str]:
    kinds = schema.get("type", "")
    return kinds if isinstance(kinds, list) else [kinds]


def _of_kind(kind: str, schema: Mapping[str, Any], *, is_sent: bool, within: str) -> str:
    if kind == "array":
        return f"Array<{_type_of(schema.get('items', {}), is_sent=is_sent, within=within)}>"
    if kind == "object":
        return _object(schema, is_sent=is_sent, within=within)
    return SIMPLE.get(kind, "unknown")


def _object(schema: Mapping[str, Any], *, is_sent: bool, within: str) -> str:
    if "properties" in schema:
        required = frozenset(schema.get("required", ()))
        members = [
            f"{_quoted(name)}{'' if name in required else '?'}: {_type_of(member, is_sent=is_sent, within=within)}"
            for name, member in schema["properties"].items()
        ]
        return "{ " + "; ".join(members) + " }"
    values = schema.get("additionalProperties")
    of = _type_of(values, is_sent=is_sent, within=within) if isinstance(values, dict) else "unknown"
    return f"Record<string, {of}>"


def _enumeration(values: list[Any], *, is_sent: bool, within: str) -> str:
    texts = [json.dumps(value) for value in values if isinstance(value, str)]
    others = [json.dumps(value) for value in values if not isinstance(value, str)]
    if texts and not is_sent:
        texts = [f"{within}Open<{' | '.join(texts)}>"]
    return " | ".join([*texts, *([*others] if is_sent else _widened(others))])


def _widened(values: list[str]) -> list[str]:
    return ["null"] * ("null" in values) + ["number"] * any(value.lstrip("-")[:1].isdigit() for value in values)


def _comment(text: str, indent: str = "") -> str:
    words = " ".join(text.replace("*/", "* /").split())
    return f"{indent}/** {words} */\n" if words else ""


def _quoted(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z_$][A-Za-z0-9_$]*", name) else json.dumps(name)


def _class_of(tag: str) -> str:
    return "".join(word.capitalize() for word in re.findall(r"[A-Za-z]+", tag))


def _name_of(tag: str) -> str:
    return _camel("_".join(word.lower() for word in re.findall(r"[A-Za-z]+", tag)))


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)


if __name__ == "__main__":
    main()
