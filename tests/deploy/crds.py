"""Schemas of kinds that kubernetes-validate does not know, and passes: those of CloudNativePG, in crds.json.

`python -m tests.deploy.crds cnpg-1.30.0.yaml` writes them anew from a file of a release
(https://github.com/cloudnative-pg/cloudnative-pg, releases/), without descriptions, and without the inside of members
that deploy/ does not use.
"""

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import jsonschema
import yaml

KEPT: Final = Path(__file__).with_name("crds.json")
USED: Final = frozenset(
    {
        "affinity",
        "bootstrap",
        "cluster",
        "instances",
        "pgbouncer",
        "postgresql",
        "resources",
        "storage",
        "type",
        "walStorage",
    }
)  # fmt: skip  of `spec`
KINDS: Final = ("Cluster", "Pooler")
LEFT_OUT: Final = {"$comment": "left out"}
UNREAD: Final = frozenset({"description", "x-kubernetes-validations"})  # the rules are of a language of their own


def problems(document: Mapping[str, Any]) -> Iterator[str]:
    """The reasons for which an API server would refuse a document of these kinds; nothing for those of Kubernetes."""
    if "cnpg.io" not in document["apiVersion"]:
        return
    schema = json.loads(KEPT.read_text())["schemas"].get(f"{document['apiVersion']} {document['kind']}")
    if schema is None:
        yield f"there is no schema of {document['apiVersion']} {document['kind']}"
        return
    for error in jsonschema.Draft202012Validator(schema).iter_errors(document):
        yield f"{error.json_path}: {error.message}"
    for name in document["spec"]:
        if schema["properties"]["spec"]["properties"].get(name) == LEFT_OUT:
            yield f"the schema of spec.{name} was left out: add it to USED and write {KEPT.name} anew"


def reduced(definition: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The schema of each version, by version and kind."""
    group, kind = definition["spec"]["group"], definition["spec"]["names"]["kind"]
    found: dict[str, dict[str, Any]] = {}
    for version in definition["spec"]["versions"]:
        schema = _strict(version["schema"]["openAPIV3Schema"])
        members = schema["properties"]["spec"]["properties"]
        for name in members.keys() - USED:
            members[name] = LEFT_OUT
        schema["properties"] |= {"metadata": {"type": "object"}, "status": LEFT_OUT}
        found[f"{group}/{version['name']} {kind}"] = schema
    return found


def _strict(schema: Any) -> Any:
    """Without what is not read; an object that names its members has no others."""
    if isinstance(schema, list):
        return [_strict(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    made = {
        name: {member: _strict(each) for member, each in value.items()} if name == "properties" else _strict(value)
        for name, value in schema.items()
        if name not in UNREAD or not isinstance(value, (str, list))
    }
    if "properties" in made and isinstance(made["properties"], dict):
        made.setdefault("additionalProperties", False)
    return made


if __name__ == "__main__":
    release = Path(sys.argv[1])
    definitions = [one for one in yaml.safe_load_all(release.read_text()) if one["kind"] == "CustomResourceDefinition"]
    document = {
        "of": f"https://github.com/cloudnative-pg/cloudnative-pg, releases/{release.name}, shortened by crds.py",
        "licence": "Apache-2.0; Copyright © contributors to CloudNativePG, established as CloudNativePG a Series of LF "
        "Projects, LLC.",
        "schemas": {
            name: schema
            for definition in definitions
            if definition["spec"]["names"]["kind"] in KINDS
            for name, schema in reduced(definition).items()
        },
    }
    KEPT.write_text(f"{json.dumps(document, ensure_ascii=False, sort_keys=True, separators=(',', ':'))}\n")
