"""The HTTP interface of responders: search, count, read, change."""

from collections.abc import Sequence
from datetime import tzinfo
from typing import Annotated, Any, Final, TypeVar

from msgspec import Meta

from afterword.asking.instances.responders import service, store
from afterword.asking.instances.responders.service import ResponderView
from afterword.core.questionnaires import metadata
from afterword.core.questionnaires.metadata import GLOBAL, Declared
from afterword.core.wire import times
from afterword.kit.db import Database
from afterword.kit.web import fields
from afterword.kit.web.fields import UNSET, UnsetType
from afterword.kit.web.operations import Answer, Call, Routes
from afterword.people.responders.service import Change

Value = TypeVar("Value")
SEARCH: Final = (
    "With `search`: those with an address that is this or begins like this; those with values in which its words "
    "begin words, in any case and without accents (Responder Value.Read); and those of items whose "
    "`external_reference` it is (Queue.Read). Of very many the first 10,000."
)

routes = Routes(tag="Responders")


class ResponderQuery(fields.Request):
    """The filter of responders."""

    search: Annotated[str, Meta(min_length=3, max_length=320, examples=["ann@exam"])] | None = None


class ResponderRequest(fields.Request):
    """A person to create."""

    metadata: Annotated[fields.MetadataMap, Meta(examples=[{"email": "ann@example.com", "first_name": "Ann"}])]
    locale: fields.Locale | None = None
    time_zone: fields.Zone | None = None


class ResponderUpdate(fields.Request):
    """The members of a responder that may change."""

    locale: fields.Locale | UnsetType | None = UNSET
    time_zone: fields.Zone | UnsetType | None = UNSET
    metadata: fields.MetadataMap | UnsetType = UNSET


class ResponderIdentifier(fields.Answer):
    """An address in its normal form."""

    channel_id: int
    identifier: str


class Responder(fields.Resource):
    """A person who is asked; `suppressed` if one of the addresses is on the do-not-contact list."""

    responder_id: fields.Id
    organization_id: fields.Id
    identifiers: list[ResponderIdentifier]
    locale: str | None
    time_zone: str | None
    suppressed: fields.Computed[bool]
    instances_count: fields.Computed[int]
    last_contacted_time: fields.Computed[fields.DateTime | None]
    last_submitted_time: fields.Computed[fields.DateTime | None]
    anonymized_time: fields.DateTime | None
    created_time: fields.DateTime
    updated_time: fields.DateTime
    created_by: fields.Id | None
    updated_by: fields.Id | None


RESPONDERS: Final = fields.listing_of(Responder)


def responder_of(view: ResponderView, zone: tzinfo) -> Responder:
    return Responder.of(
        view.responder,
        zone,
        identifiers=_identifiers(view.identifiers),
        suppressed=any(one.suppressed for one in view.identifiers),
        instances_count=view.figures.instances_count,
        last_contacted_time=times.format_optional(view.figures.last_contacted_time, zone=zone),
        last_submitted_time=times.format_optional(view.figures.last_submitted_time, zone=zone),
    )


class ResponderCount(fields.Answer):
    """The number of responders."""

    count: int


@routes.list(
    "/q/responder",
    scope="Responder.Read",
    answer=Responder,
    query=ResponderQuery,
    summary="Get all responders",
    description=SEARCH,
)
async def list_responders(call: Call[Any], db: Database) -> Answer:
    rows = await service.find(db, caller=call.caller, search=_search(call), page=call.page)
    views = await service.views_of(db, caller=call.caller, responders=rows.items, now=call.now)
    return Answer(rows.map(lambda responder: responder_of(views[responder.responder_id], call.zone)))


@routes.get(
    "/q/responder/count",
    scope="Responder.Read",
    answer=ResponderCount,
    listing=RESPONDERS,
    query=ResponderQuery,
    summary="Get responder count",
    description=f"The same filters as the list. {SEARCH}",
)
async def count_responders(call: Call[Any], db: Database) -> Answer:
    return Answer(
        ResponderCount(count=await service.count(db, caller=call.caller, search=_search(call), page=call.page))
    )


@routes.post(
    "/q/responder",
    scope="Responder.Create",
    body=ResponderRequest,
    answer=Responder,
    summary="Create a responder",
    description=(
        "`email` and `phone_number` of the metadata are the addresses. 200 with the person who has one of them: the "
        "metadata are merged, a locale that is there stays. Whoever is sent something is created without this."
    ),
    other_statuses=(200,),
)
async def create_responder(call: Call[ResponderRequest], db: Database) -> Answer:
    change = _change(call, GLOBAL)
    responder, is_new = await service.create(
        db, caller=call.caller, change=change, now=call.now, secret=call.site.secret
    )
    answer = await _answer(call, db, responder)
    answer.status, answer.location = 201 if is_new else 200, f"/q/responder/{responder.responder_id}"
    return answer


@routes.get("/q/responder/{responder_id}", scope="Responder.Read", answer=Responder, summary="Get Responder")
async def get_responder(call: Call[None], db: Database) -> Answer:
    responder = await service.get(db, caller=call.caller, **call.ids)
    return await _answer(call, db, responder)


@routes.patch(
    "/q/responder/{responder_id}",
    scope="Responder.Update",
    body=ResponderUpdate,
    answer=Responder,
    summary="Update Responder",
    description="Only what the body names. Metadata is merged by name, null or empty text removes; read it at /value.",
)
async def update_responder(call: Call[ResponderUpdate], db: Database) -> Answer:
    await service.get(db, caller=call.caller, **call.ids)
    declared = await service.declared(db, caller=call.caller, **call.ids)
    responder = await service.change(
        db, caller=call.caller, **call.ids, change=_change(call, declared), now=call.now, expect=call.expect
    )
    return await _answer(call, db, responder)


def _search(call: Call[Any]) -> str | None:
    query: ResponderQuery | None = call.query
    return None if query is None else query.search


def _change(call: Call[ResponderUpdate] | Call[ResponderRequest], declared: Declared) -> Change:
    body = call.body
    given = {} if body.metadata is UNSET else body.metadata
    names = Declared(questionnaire={}, responder=declared.responder)
    changes = metadata.changes_of(given, declared=names, strict=call.strict)
    return Change(
        has_locale=body.locale is not UNSET,
        locale=_given(body.locale),
        has_time_zone=body.time_zone is not UNSET,
        time_zone=_given(body.time_zone),
        metadata={**changes.questionnaire, **changes.responder},  # the undeclared ones and the others
    )


def _given(value: Value | UnsetType | None) -> Value | None:
    return None if value is UNSET else value


async def _answer(call: Call[Any], db: Database, responder: store.ShownResponder) -> Answer:
    views = await service.views_of(db, caller=call.caller, responders=[responder], now=call.now)
    return Answer(responder_of(views[responder.responder_id], call.zone), version=responder.version)


def _identifiers(identifiers: Sequence[store.Identifier]) -> list[ResponderIdentifier]:
    return [ResponderIdentifier(channel_id=one.channel_id, identifier=one.identifier) for one in identifiers]
