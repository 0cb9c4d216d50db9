"""The specification, field by field: its tables are read from `specification.md` and held against what is there."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import pytest

from afterword.core.organizations.access import alias_of
from tests.contract.test_operations import DOCUMENT, SPECIFICATION, resolved, types_of
from tests.contract.wire import PUBLIC_URL, problem_faults
from tests.contract.world import ABSENT, ADDRESS, World
from tests.dates import YEAR

pytestmark = pytest.mark.asyncio(loop_scope="session")

ITEMS: Final = "/q/questionnaire/{questionnaire_id}/pipeline/{pipeline_id}/queue/item"
INSTANCE: Final = "/q/instance/{instance_id}"
ADDED: Final[Mapping[str, frozenset[str]]] = {
    "Queue Item": frozenset(
        {
            "created_time", "updated_time", "anonymized_time", "created_by", "updated_by", "external_reference",
            "source", "reason", "test", "metadata",
        }
    ),
    "Queue Item Request": frozenset({"external_reference", "test"}),
    "Questionnaire Instance": frozenset(
        {
            "question_ids", "processed_time", "flow_time", "created_by", "updated_by", "collection_url_short",
            "collection_url_long", "full_quota_id", "anonymity",
        }
    ),
    "Questionnaire Instance update request": frozenset(),
}  # fmt: skip
"""Members that the service adds to the specification's; any other was not agreed."""

NULL_WHEN_NEW: Final = (
    "previous_item_id", "responder_id", "questionnaire_instance_id", "previous_questionnaire_instance_id",
    "dispatched_time", "result", "retry_attempts",
)  # fmt: skip
JSON_TYPES: Final[Mapping[str, type]] = {"string": str, "integer": int, "boolean": bool, "object": dict}
METADATA: Final = {"questionnaire": {"transaction_id": "1042"}, "responder": {"first_name": "Ann"}}


@dataclass(frozen=True, slots=True)
class Field:
    """A row of a field table. `nullable` is None where the table does not say."""

    name: str
    type: str
    nullable: bool | None
    notes: str


def section(title: str) -> str:
    """The text below a heading, up to the next one."""
    found = re.search(rf"^#+ {re.escape(title)}[^\n]*\n(.*?)(?=^#|\Z)", SPECIFICATION, re.MULTILINE | re.DOTALL)
    assert found, title
    return found[1]


def fields_of(title: str) -> dict[str, Field]:
    """The field table below a heading."""
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in section(title).splitlines() if "|" in line
    ]
    head, _, *body = rows
    found: dict[str, Field] = {}
    for row in body:
        cells = dict(zip(head, row, strict=True))
        kind = cells["Type"]
        nullable = cells["Nullable"] == "yes" if "Nullable" in cells else (True if kind.endswith(" or null") else None)
        found[cells["Field"]] = Field(cells["Field"], kind.removesuffix(" or null"), nullable, cells["Notes"])
    return found


def facts_of(title: str) -> dict[str, str]:
    """The table of an endpoint."""
    lines = [line.strip("|").split("|") for line in section(title).splitlines() if line.startswith("|")]
    return {item.strip(): value.strip() for item, value in lines[2:]}


class TestTables:
    """The copy is the specification; its tables are read as they stand."""

    async def test_fields(self) -> None:
        counts = {title: len(fields_of(title)) for title in ADDED}
        assert {
            "Queue Item": 14,
            "Queue Item Request": 6,
            "Questionnaire Instance": 15,
            "Questionnaire Instance update request": 5,
        } == counts
        assert Field("locale", "string", True, "") == fields_of("Queue Item Request")["locale"]

    async def test_operations(self) -> None:
        rows = re.findall(
            r"^\| [\w -]+ \| (Get|Create|Update|Delete|Queue)[^|]*\| (GET|POST|PATCH|DELETE) \|$",
            SPECIFICATION,
            re.MULTILINE,
        )
        assert 28 == len(rows)


class TestOpenApi:
    @pytest.mark.parametrize(
        ("title", "method", "path", "status"),
        [
            ("Queue Item", "post", ITEMS, "201"),
            ("Queue Item", "get", ITEMS, "200"),
            ("Questionnaire Instance", "patch", INSTANCE, "200"),
        ],
    )
    async def test_answer(self, title: str, method: str, path: str, status: str) -> None:
        """Exactly these fields, their types, their nullability; all of them always there."""
        content = DOCUMENT["paths"][path][method]["responses"][status]["content"]["application/json"]["schema"]
        schema = resolved(content["items"] if content.get("type") == "array" else content)
        expected = fields_of(title)
        assert set(expected) | ADDED[title] == set(schema["properties"])
        assert set(schema["properties"]) == set(schema["required"])
        for field in expected.values():
            types = types_of(schema["properties"][field.name])
            assert {field.type, *(["null"] if field.nullable else [])} == types, field

    @pytest.mark.parametrize(
        ("title", "method", "path"),
        [("Queue Item Request", "post", ITEMS), ("Questionnaire Instance update request", "patch", INSTANCE)],
    )
    async def test_request(self, title: str, method: str, path: str) -> None:
        body = DOCUMENT["paths"][path][method]["requestBody"]
        assert body["required"] or method == "patch"
        schema = resolved(body["content"]["application/json"]["schema"])
        expected = fields_of(title)
        assert {name for name in expected if "." not in name} | ADDED[title] == set(schema["properties"])
        for field in expected.values():
            place = schema
            for step in field.name.split("."):
                options = [resolved(option) for option in place.get("anyOf", [place])]
                place = next(option for option in options if "properties" in option)["properties"][step]
            types = types_of(place)
            assert field.type in types, field
            assert types <= {field.type, "null"}, field
            assert not field.nullable or "null" in types

    @pytest.mark.parametrize("title", ["Queue Item List", "Create new queue item", "Update Questionnaire Instance"])
    async def test_endpoint(self, title: str) -> None:
        facts = facts_of(title)
        operation = DOCUMENT["paths"][facts["Path"]][facts["Method"].lower()]
        assert title == operation["summary"]
        named = re.findall(r"(\w+) \(string\)", facts["Path parameters"])
        parameters = [each for each in operation["parameters"] if each.get("in") == "path"]
        assert named == [each["name"] for each in parameters]
        assert all("string" == each["schema"]["type"] and each["required"] for each in parameters)
        assert (facts["Request body"] == "none") is ("requestBody" not in operation)
        status, kind = re.match(r"(\d+), application/json: (array of)?", facts["Success"]).groups()  # pyrefly: ignore[missing-attribute]
        schema = operation["responses"][status]["content"]["application/json"]["schema"]
        assert (kind is not None) is (schema.get("type") == "array")
        if "Token scope" in facts:
            granted = {name: scopes for each in operation["security"] for name, scopes in each.items()}
            scope = facts["Token scope"]
            assert {"bearer": [scope], "esat_auth": [scope], "oauth": [alias_of(scope)]} == granted
        if "Failure" in facts:
            assert facts["Failure"] in operation["responses"]


def check_fields(title: str, found: Mapping[str, Any]) -> None:
    """A real answer has exactly these fields, of these types, null only where that is allowed."""
    expected = fields_of(title)
    assert set(expected) | ADDED[title] == set(found)
    for field in expected.values():
        value: Any = found[field.name]
        if value is None:
            assert field.nullable, field
        else:
            assert type(value) is JSON_TYPES[field.type], field
            if "ISO 8601" in field.notes:
                assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d", str(value)), field
                assert datetime.fromisoformat(str(value)).tzinfo is not None


class TestQueue:
    @staticmethod
    def path(world: World) -> str:
        return "/v3.2" + ITEMS.format_map(world.ours.ids)

    async def test_create(self, world: World) -> None:
        """Rules 1 to 4."""
        document = {
            "responder_channel_identifier": ADDRESS, "locale": "en_US", "send_time": f"{YEAR}-01-15T10:30:00-03:30",
            "metadata": METADATA,
        }  # fmt: skip
        reply = await world.ask("POST", self.path(world), document=document)
        assert (201, "application/json") == (reply.status, reply.headers["content-type"])
        found = reply.document
        check_fields("Queue Item", found)
        assert world.ours.ids["questionnaire_id"] == found["questionnaire_id"]
        assert world.ours.ids["pipeline_id"] == found["pipeline_id"]
        for name in ("responder_channel_identifier", "locale", "send_time"):
            assert document[name] == found[name]
        assert dict.fromkeys(NULL_WHEN_NEW) == {name: found[name] for name in NULL_WHEN_NEW}
        assert 1 == found["status_id"]

    @pytest.mark.parametrize("more", [{}, {"locale": None}, {"metadata": {}}, {"metadata": {"responder": {}}}])
    async def test_create_with_less(self, world: World, more: dict[str, Any]) -> None:
        """Optional members may be absent; the null that the specification names may be sent."""
        document = {"responder_channel_identifier": ADDRESS, **more}
        reply = await world.ask("POST", self.path(world), document=document)
        assert 201 == reply.status
        check_fields("Queue Item", reply.document)
        assert reply.document["locale"] is None

    async def test_list(self, world: World) -> None:
        created = (
            await world.ask("POST", self.path(world), document={"responder_channel_identifier": ADDRESS})
        ).document
        reply = await world.ask("GET", self.path(world) + "?limit=500")
        assert (200, list) == (reply.status, type(reply.document))
        for found in reply.document:
            check_fields("Queue Item", found)
        assert created in reply.document


class TestInstance:
    async def test_update(self, world: World) -> None:
        created = await self.issue(world)
        document = {
            "responder_id": world.ours.ids["responder_id"], "locale": "de-AT", "valid_days": 90, "editable": False,
            "metadata": {"transaction_id": "1043"},
        }  # fmt: skip
        assert set(document) == set(fields_of("Questionnaire Instance update request"))
        reply = await world.ask("PATCH", f"/v3.2/q/instance/{created['instance_id']}", document=document)
        assert (200, "application/json") == (reply.status, reply.headers["content-type"])
        found = reply.document
        check_fields("Questionnaire Instance", found)
        assert {**created, "updated_time": found["updated_time"], "updated_by": found["updated_by"]} == {
            **found, "responder_id": created["responder_id"], "locale": created["locale"],
            "valid_days": created["valid_days"], "editable": created["editable"],
        }  # fmt: skip
        assert (90, False, "de") == (found["valid_days"], found["editable"], found["locale"])
        assert document["responder_id"] == found["responder_id"]

    @pytest.mark.parametrize(
        ("name", "value"),
        [("locale", "el"), ("valid_days", 0), ("valid_days", 3650), ("editable", False), ("metadata", {})],
    )
    async def test_update_of_one_field(self, world: World, name: str, value: object) -> None:
        created = await self.issue(world)
        reply = await world.ask("PATCH", f"/v3.2/q/instance/{created['instance_id']}", document={name: value})
        assert 200 == reply.status
        found = reply.document
        changed = {each: found[each] for each in ("updated_time", "updated_by", name) if each in found}
        assert {**created, **changed} == found
        assert name == "metadata" or value == found[name]

    async def test_collection_url(self, world: World) -> None:
        """It ends with the id, and is there for the public."""
        found = await self.issue(world)
        assert found["collection_url"].endswith(found["instance_id"])
        page = await world.ask("GET", found["collection_url"].removeprefix(PUBLIC_URL), token=None)
        assert (200, "text/html; charset=utf-8") == (page.status, page.headers["content-type"])

    async def test_unknown_instance(self, world: World) -> None:
        """The rule of the update: absent is 404, and so are deleted and foreign ones."""
        for instance_id in (ABSENT, world.ours.deleted["instance_id"], world.theirs.ids["instance_id"], "x"):
            reply = await world.ask("PATCH", f"/v3.2/q/instance/{instance_id}", document={"valid_days": 7})
            assert (404, "not_found") == (reply.status, reply.code)
            assert [] == problem_faults(reply)

    @staticmethod
    async def issue(world: World) -> dict[str, Any]:
        path = f"/v3.2/q/questionnaire/{world.ours.ids['questionnaire_id']}/instance"
        reply = await world.ask("POST", path, document={"locale": "en", "metadata": METADATA})
        assert 201 == reply.status
        check_fields("Questionnaire Instance", reply.document)
        return reply.document
