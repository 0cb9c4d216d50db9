"""What follows from a resource's Struct: the columns of its lists, and its mapping from a record."""

from dataclasses import dataclass
from datetime import UTC, datetime, time
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo

import msgspec
import pytest

from afterword import app
from afterword.core.reading.members import members_of
from afterword.core.wire.lists import Column, Rows
from afterword.web import fields
from afterword.web.members import listing_of, secrets_of

ATHENS = ZoneInfo("Europe/Athens")
NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


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
    listing = listing_of(Visit)
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
    assert "visit_key" == listing_of(Visit, id="visit_key").id


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
    assert ("secret",) == secrets_of(Visit)
    assert "plain" == Visit.of(Record(), ATHENS, url="", secret="plain").secret


def test_rows_and_log() -> None:
    class Short(fields.Resource):
        visit_id: fields.Id
        created_time: fields.DateTime
        updated_time: fields.DateTime | None

    shown = Short("v", "2026-11-21T14:00:00+02:00", None)  # type: ignore[call-arg]
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
