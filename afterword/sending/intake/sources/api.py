"""The address that shops and help desks call, and the events and dry runs of sources in the API.

A call is verified before anything of it is read. What is wrong changes nothing but the count of refused calls.
"""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import structlog
from starlette.requests import Request
from starlette.responses import Response

from afterword import errors, ids
from afterword.core.organizations.access import Caller
from afterword.core.sources.parts import BODY_BYTES_MAX, Happening, NotSigned
from afterword.core.wire.lists import Rows
from afterword.core.wire.site import Site
from afterword.kit import db, sealing
from afterword.kit.db import Database, Pool
from afterword.kit.nouns import service as nouns
from afterword.kit.nouns.structs import creation_of
from afterword.kit.web import fields, limits, public
from afterword.kit.web.limits import Limiter
from afterword.kit.web.operations import Answer, Call
from afterword.kit.web.routing import Pages
from afterword.sending.intake.sources import records, service, store
from afterword.sending.intake.sources.records import RULE, SOURCE
from afterword.sending.intake.sources.store import EVENTS, SourceEvent, SourceEventRecord

logger: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)


class BadSignature(errors.Unauthorized):
    """The call has no signature, a wrong one, or an old one."""

    code_default = "bad_signature"


def _read(request: Request, source: Mapping[str, Any], body: bytes, now: datetime) -> Sequence[Happening]:
    """The events of the call. Raises BadSignature, and Invalid for signed content that cannot be read."""
    site: Site = request.state.site
    headers, query = request.scope["afterword.headers"], request.scope["query_string"].decode("latin-1")
    url = site.source_url(source["source_id"])
    if source["sealed_secret"] is None:
        raise BadSignature("The secret of this source is not stored yet.")
    context = records.seal_context(source["organization_id"], source["source_id"])
    try:
        secret = sealing.unseal(source["sealed_secret"], secret=site.secret, context=context)
        kind = records.kind_of(source["kind"], source["settings"])
        kind.verify(secret, headers, body, now, f"{url}?{query}" if query else url)
        return kind.read(headers, body)
    except sealing.Unreadable:
        logger.error("a secret was sealed with another one", source_id=source["source_id"])  # noqa: TRY400
        raise BadSignature("The secret of this source must be given anew.") from None
    except NotSigned as error:
        raise BadSignature(str(error)) from None
    except errors.Malformed as error:
        raise errors.Invalid(error.detail) from None


page_routes = Pages()


@page_routes.post("/in/{source_id}")
async def receive_call(request: Request) -> Response:
    """Take a call of a shop or a help desk; 401 and 404 count against the sender's address."""
    limiter: Limiter = request.state.limiter
    pool: Pool = request.state.pool
    source_id = request.path_params["source_id"]
    try:
        async with db.connection(pool) as database:
            source = await store.get_called(database, source_id=source_id) if ids.is_id(source_id) else None
            now = database.clock.now()
        source = errors.found(source, "There is nothing at this address.")
        place = {"organization_id": source["organization_id"], "source_id": source_id}
        limits.check(limiter.count_request(token_id=source_id, organization_id=place["organization_id"]))
        body = await public.read_body(request, bytes_max=BODY_BYTES_MAX)
        acting = {"test": source["test"], "secret": request.state.site.secret, "now": now}
        try:
            happenings = await asyncio.to_thread(_read, request, source, body, now)
            async with db.transaction(pool) as database:
                await service.take(database, **place, happenings=happenings, **acting)
        except (BadSignature, errors.Invalid) as refusal:
            async with db.transaction(pool) as database:
                await service.refuse(database, **place, problem=refusal.detail, now=now)
            raise
    except (errors.NotFound, errors.Unauthorized):
        limiter.count_failure(request.client.host if request.client else "")
        raise
    return Response(status_code=200)


routes = records.routes


@routes.list(
    "/source/{source_id}/event",
    scope="Source.Read",
    answer=SourceEvent,
    listing=EVENTS,
    summary="Get all events of a source",
    description="Kept 30 days. `decisions` say what each rule about such an event decided, with the item that it made.",
)
async def list_source_events(call: Call[None], db: Database) -> Rows[SourceEventRecord]:
    source = await nouns.get(SOURCE, db, caller=call.caller, key=call.ids["source_id"])
    return await store.list_events(db, **records.place_of(source), page=call.page)


@routes.get(
    "/source/{source_id}/event/{source_event_id}", scope="Source.Read", answer=SourceEvent, summary="Get Source Event"
)
async def get_source_event(call: Call[None], db: Database) -> SourceEventRecord:
    return await get_event(db, caller=call.caller, **call.ids)


async def get_event(db: Database, *, caller: Caller, source_id: str, source_event_id: str) -> SourceEventRecord:
    """Raises NotFound."""
    place = records.place_of(await nouns.get(SOURCE, db, caller=caller, key=source_id))
    found = await store.get_event(db, **place, source_event_id=source_event_id)
    return errors.found(found, "There is no such event.")


class TriedEvent(fields.Resource):
    """The decision about an event. `planned_time`: when the message would leave."""

    source_event_id: fields.Id
    subject: str
    asks: bool
    reason: str | None
    detail: str | None
    planned_time: fields.DateTime | None


class TriedRule(fields.Answer):
    """The decisions about the last events of the rule's sort, the newest first."""

    results: list[TriedEvent]
    asked: int


@routes.post(
    "/source/{source_id}/rule/simulate",
    scope="Source.Create",
    body=creation_of(RULE),
    answer=TriedRule,
    status=200,
    summary="Say what a rule would do about the last events",
    description=f"Of the last {service.TRIED_MAX} events, those of the rule's sort, as if they came now. Nothing is "
    "written.",
    refusals=("application_inactive", "questionnaire_not_published"),
)
async def simulate_source_rule(call: Call[Any], db: Database) -> Answer:
    tried = await service.try_rule(db, **call.ids, columns=call.body.named(), **call.acting)
    results = [
        TriedEvent.of(one, call.zone, source_event_id=one.event.source_event_id, subject=one.event.subject)
        for one in tried
    ]
    return Answer(TriedRule(results=results, asked=sum(one.asks for one in results)))
