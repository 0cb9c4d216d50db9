"""The HTTP routes of the event log: oldest first, by cursors, without gaps."""

from dataclasses import replace
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from afterword import errors
from afterword.core.messaging.notices import read_of
from afterword.core.messaging.webhooks import check_type
from afterword.core.wire.lists import Column
from afterword.core.wire.site import API_PREFIX
from afterword.errors import FieldError
from afterword.events.log import service, store
from afterword.events.log.store import Entry
from afterword.events.service import Render
from afterword.kit.db import Database
from afterword.kit.web import fields, paging
from afterword.kit.web.operations import Answer, Call, Routes

LOG: Final = f"{API_PREFIX}/event"
EXPIRED: Final = (
    "The event of this cursor, or one behind it, is no longer kept: it is older than 90 days, or was lost when the "
    "database was restored to an earlier moment. Start again without the cursor."
)


class EventQuery(fields.Request):
    """Event types, or `prefix.*`; none: all."""

    type: Annotated[list[fields.Text100], Meta(max_length=50)] = msgspec.field(default_factory=list[str])


class EventActor(fields.Answer):
    """The author of a change: its kind and id."""

    kind: Literal["user", "token", "responder", "worker", "gateway"]
    id: str | None


class Event(fields.Resource):
    """A change. `data` is the changed resource after it; `cursor` its position in the log, for `after`."""

    event_id: fields.Id
    cursor: fields.Computed[str]
    type: str
    created_time: fields.DateTime
    organization_id: fields.Id
    application_id: fields.Id | None
    questionnaire_id: fields.Id | None
    subject_id: fields.Id | None
    subject_version: int | None
    actor: EventActor
    test: bool
    data: dict[str, Any]


EVENTS: Final = fields.listing_of(
    Event,
    order=(("xid", "asc"), ("seq", "asc")),
    hidden={"xid": Column("xid", "integer"), "seq": Column("seq", "integer")},
)


def cursor_of(event_id: str, *, secret: bytes) -> str:
    return paging.seal_entry(event_id, path=LOG, listing=EVENTS, secret=secret)


def event_id_of(cursor: str, *, secret: bytes) -> str:
    """The event of a cursor of the log in its default order; raises ValueError."""
    return paging.open_entry(cursor, path=LOG, listing=EVENTS, secret=secret)


def routes_of(render: Render) -> Routes:
    routes = Routes(tag="Events")

    @routes.get(
        "/event",
        scope="Event.Read",
        answer=Event,
        shape="cursor",
        listing=EVENTS,
        query=EventQuery,
        summary="Get all events",
        description="Oldest first and without gaps: an event is shown once none can come before it any more. Read on "
        "with `after`: `next_cursor`, else the cursor of the last event seen. A page may have fewer events than "
        "`limit`, or none, and a `next_cursor`. `type[]` is a type, `prefix.*` or `*`. Kept 90 days. `data` "
        "needs the Read scope of what the event is about, and is empty without.",
    )
    async def list_events(call: Call[None], db: Database) -> Answer:
        query: EventQuery | None = call.query
        page = call.page
        is_in_order = tuple(page.order) == EVENTS.default_order
        after_id = str(page.after[-1]) if page.after is not None and is_in_order else None
        wrong = FieldError("cursor_expired", EXPIRED, parameter="after")
        position = await service.position_of(
            db, organization_id=call.caller.organization_id, event_id=after_id, wrong=wrong
        )
        if position is not None:
            page = replace(page, after=(*position, after_id))
        rows = await store.list_event_entries(db, **call.caller.reach, types=_types(query), page=page)
        shown = iter(await _shown(call, db, rows.items))
        return Answer(rows.map(lambda _: next(shown)))

    @routes.get("/event/{event_id}", scope="Event.Read", answer=Event, summary="Get Event")
    async def get_event(call: Call[None], db: Database) -> Answer:
        entry = await service.get(db, caller=call.caller, **call.ids)
        return Answer((await _shown(call, db, [entry]))[0])

    async def _shown(call: Call[None], db: Database, entries: list[Entry]) -> list[Event]:
        zones = {call.caller.organization_id: call.zone}
        open_events = [entry.event for entry in entries if read_of(entry.event.type) in call.caller.scopes]
        rendered = await render(db, events=open_events, site=call.site, zones=zones)
        data = {event.event_id: shown for event, shown in zip(open_events, rendered, strict=True)}
        return [
            Event.of(
                entry.event,
                call.zone,
                cursor=cursor_of(entry.event.event_id, secret=call.site.secret),
                application_id=entry.application_id,
                actor=EventActor(kind=entry.event.actor_kind, id=entry.event.actor_id),  # pyrefly: ignore[bad-argument-type]  a check of the table
                data=data.get(entry.event.event_id, {}),
            )
            for entry in entries
        ]

    return routes


def _types(query: EventQuery | None) -> list[str]:
    types = [] if query is None else query.type
    for index, one in enumerate(types):
        if message := check_type(one):
            raise errors.Invalid.of(FieldError("unknown_value", message, parameter=f"type[{index}]"))
    return types
