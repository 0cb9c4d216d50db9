"""Members of a body: all wrong ones are reported at once. Members of a resource: its columns and its values."""

from dataclasses import dataclass
from datetime import UTC, datetime, time
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo

import httpx2
import msgspec
import pytest

from afterword.core.reading.structs import members_of
from afterword.core.wire.lists import Column, Rows
from afterword.kit.web import fields
from afterword.run import app
from tests.kit.web.client import count, create, fields_of, problem
from tests.kit.web.conftest import House

ATHENS = ZoneInfo("Europe/Athens")
NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


class TestFields:
    async def test_all_wrong_fields_at_once(self, client: httpx2.AsyncClient) -> None:
        found = await client.post(
            "/note",
            json={
                "locale": "not a locale", "rank": 101, "weight": "1", "done": 1, "send_time": 5, "kind": "odd",
                "owner_id": "x", "metadata": {"questionnaire": {"a": [], "b/c": {}}, "responder": "x"},
                "tags": ["ok", "far too long a tag"], "unknown": 1,
            },
        )  # fmt: skip
        assert [
            ("/title", "required"),
            ("/locale", "invalid_locale"),
            ("/rank", "out_of_range"),
            ("/weight", "wrong_type"),
            ("/done", "wrong_type"),
            ("/send_time", "invalid_date_time"),
            ("/kind", "unknown_value"),
            ("/owner_id", "unknown_id"),
            ("/metadata/questionnaire/a", "wrong_type"),
            ("/metadata/questionnaire/b~1c", "wrong_type"),
            ("/metadata/responder", "wrong_type"),
            ("/tags/1", "too_long"),
        ] == fields_of(problem(found, 422, "invalid"))

    async def test_nothing_of_it_is_stored(self, notes: House) -> None:
        async with notes.client() as client:
            await client.post("/note", json={"title": ""})
        assert 0 == await count(notes)

    @pytest.mark.parametrize("document", ['"text"', "null", "[1]", "7", "true"])
    async def test_not_an_object(self, client: httpx2.AsyncClient, document: str) -> None:
        found = await client.post("/note", content=document, headers={"Content-Type": "application/json"})
        assert [("", "wrong_type")] == fields_of(problem(found, 422, "invalid"))

    @pytest.mark.parametrize("body", [b"", b"[]", b"{}"])
    async def test_nothing_sent(self, client: httpx2.AsyncClient, body: bytes) -> None:
        found = await client.post("/note", content=body, headers={"Content-Type": "application/json"})
        assert [("/title", "required")] == fields_of(problem(found, 422, "invalid"))

    async def test_null_creates_the_default_and_patch_refuses_it(self, client: httpx2.AsyncClient) -> None:
        note = await create(client, kind=None, done=None, tags=None, rank=None)
        found = await client.patch(f"/note/{note['note_id']}", json={"title": None, "rank": None})
        assert [("/title", "not_nullable")] == fields_of(problem(found, 422, "invalid"))

    async def test_strict(self, client: httpx2.AsyncClient) -> None:
        sent = {"Prefer": "respond-async, handling=strict"}
        document = {"title": "x", "nope": 1, "note_id": "x", "metadata": {"questionnaire": {}, "other": {}}}
        found = await client.post("/note?odd=1", json=document, headers=sent)
        assert [
            ("odd", "unknown_member"),
            ("/metadata/other", "unknown_member"),
            ("/nope", "unknown_member"),
            ("/note_id", "read_only"),
        ] == fields_of(problem(found, 422, "invalid"))
        assert 201 == (await client.post("/note?odd=1", json=document)).status_code
        found = await client.post("/note", json={"title": "x"}, headers=sent)
        assert "handling=strict" == found.headers["preference-applied"]

    async def test_query_of_its_own(self, client: httpx2.AsyncClient) -> None:
        found = await client.get("/note/echo?word=a,b&count=2")
        assert {"words": ["a", "b", "a", "b"]} == found.json()
        assert {"words": ["a", "b"]} == (await client.get("/note/echo?word[]=a&word[]=b")).json()
        assert {"words": ["a", "b"]} == (await client.get("/note/echo?word[0]=a&word[1]=b")).json()
        found = await client.get("/note/echo?count=9&word[x]=1")
        assert [("word", "wrong_type"), ("count", "out_of_range")] == fields_of(problem(found, 422, "invalid"))


class Visit(fields.Resource):
    """A resource with a member of each kind."""

    visit_id: fields.Id
    kind: Literal["short", "long"]
    level: Literal[1, 2] | None
    count: int | None
    weight: int | float | None
    paid: bool
    day: fields.Date
    send_time: Annotated[fields.DateTime, fields.offset_of("offset_minutes")]
    created_time: fields.DateTime
    updated_time: fields.DateTime | None
    opens_time: Annotated[fields.ClockTime, fields.column("opens_clock")] | None
    ends_time: Annotated[fields.DateTime, fields.named("until")] | None
    rows: list[str]
    url: fields.Computed[str]
    secret: fields.ShownOnce


@dataclass(frozen=True, slots=True)
class Record:
    """Its record, which has more."""

    visit_id: str = "v"
    kind: str = "short"
    level: int | None = None
    count: int | None = 3
    weight: float | None = 2.5
    paid: bool = True
    day: str = "2026-11-21"
    send_time: datetime = NOON
    offset_minutes: int = -300
    created_time: datetime = NOON
    updated_time: datetime | None = NOON
    opens_time: time | None = time(9, 30)
    until: datetime | None = None
    rows: tuple[str, ...] = ("a", "b")
    secret: str = "sealed"
    version: int = 7


def test_member_without_attribute() -> None:
    with pytest.raises(AttributeError, match="url"):
        Visit.of(Record(), ATHENS)


def test_columns() -> None:
    listing = fields.listing_of(Visit)
    assert {
        "visit_id": Column("visit_id", "id"),
        "kind": Column("kind"),
        "level": Column("level", "integer", nullable=True),
        "count": Column("count", "integer", nullable=True),
        "weight": Column("weight", "number", nullable=True),
        "paid": Column("paid", "boolean"),
        "day": Column("day", "date"),
        "send_time": Column("send_time", "time"),
        "created_time": Column("created_time", "time"),
        "updated_time": Column("updated_time", "time", nullable=True),
        "opens_time": Column("opens_clock", "text", nullable=True),
        "ends_time": Column("until", "time", nullable=True),
    } == listing.columns
    assert ("visit_id", (("created_time", "desc"),)) == (listing.id, listing.order)
    assert "visit_key" == fields.listing_of(Visit, id="visit_key").id


def test_mapping() -> None:
    shown = msgspec.json.decode(msgspec.json.encode(Visit.of(Record(), ATHENS, url="https://example.com")))
    assert {
        "visit_id": "v",
        "kind": "short",
        "level": None,
        "count": 3,
        "weight": 2.5,
        "paid": True,
        "day": "2026-11-21",
        "send_time": "2026-11-21T07:00:00-05:00",
        "created_time": "2026-11-21T14:00:00+02:00",
        "updated_time": "2026-11-21T14:00:00+02:00",
        "opens_time": "09:30",
        "ends_time": None,
        "rows": ["a", "b"],
        "url": "https://example.com",
        "secret": None,
    } == shown


def test_secret_is_given_or_null() -> None:
    assert ("secret",) == fields.secrets_of(Visit)
    assert "plain" == Visit.of(Record(), ATHENS, url="", secret="plain").secret


def test_rows_and_log() -> None:
    class Short(fields.Resource):
        visit_id: fields.Id
        created_time: fields.DateTime
        updated_time: fields.DateTime | None

    shown = Short("v", "2026-11-21T14:00:00+02:00", None)
    assert [shown] == Short.of_rows(Rows([Record(updated_time=None)]), ATHENS).items
    kept: dict[str, Any] = {"visit_id": "v", "created_time": NOON.isoformat(), "updated_time": None, "older": 1}
    assert shown == Short.of_log(kept, ATHENS)
    with pytest.raises(KeyError):
        Short.of_log({"visit_id": "v"}, ATHENS)


LISTS = [route for group in app.api_routes() for route in group.all if route.listing and route.shape != "one"]


@pytest.mark.parametrize("route", LISTS, ids=lambda route: route.path)
def test_lists_follow_from_their_answer(route: Any) -> None:
    names = [member.name for member in members_of(route.answer)]
    assert list(route.listing.columns) == [name for name in names if name in route.listing.columns]
    assert {name for name, _ in route.listing.order} <= {*names, *route.listing.hidden}
