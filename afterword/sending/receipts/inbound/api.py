"""The HTTP routes of the addresses where providers report."""

from typing import Annotated, Final, Literal

from msgspec import Meta

from afterword.kit.db import Database
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call, Routes
from afterword.sending.receipts.inbound import service, store

CERTIFICATE_CHARACTERS_MAX: Final = 65_536

routes = Routes(tag="Providers")


class InboundRequest(fields.Request):
    """An address to open. `topic` (its ARN) and `certificate` (PEM) are pinned, and `sns` alone has them."""

    account_id: fields.Id
    adapter: Literal["standard", "sns", "provider"]
    topic: Annotated[str, Meta(max_length=service.TOPIC_CHARACTERS_MAX)] | None = None
    certificate: Annotated[str, Meta(max_length=CERTIFICATE_CHARACTERS_MAX)] | None = None


class Inbound(fields.Resource):
    """An address where the provider of an account reports. `secret` signs reports in our own form, shown this once.

    `confirm_url` confirms the subscription of a topic: open it yourself, it is never called.
    """

    inbound_id: fields.Id
    account_id: fields.Id
    channel_id: fields.ChannelId
    adapter: Literal["standard", "sns", "provider"]
    url: fields.Computed[str]
    secret: fields.ShownOnce
    confirm_url: str | None
    last_time: fields.DateTime | None
    created_time: fields.DateTime


@routes.list("/inbound", scope="Inbound.Read", answer=Inbound, shape="array", summary="Get all inbound addresses")
async def list_inbounds(call: Call[None], db: Database) -> Answer:
    call.caller.require_whole()
    found = await store.list_own_endpoints(db, organization_id=call.caller.organization_id, page=call.page)
    return Answer(found.map(lambda one: Inbound.of(one, call.zone, url=call.site.inbound_url(one.inbound_id))))


@routes.post(
    "/inbound",
    scope="Inbound.Create",
    body=InboundRequest,
    answer=Inbound,
    summary="Open inbound address",
    description="`standard`: our own form, signed with the `secret` of this answer; `sns`: Amazon SES by SNS; "
    "`provider`: as the account's own gateway calls, opened with the account. An account has one of each.",
    refusals=("already_exists",),
)
async def open_inbound(call: Call[InboundRequest], db: Database) -> Answer:
    body = call.body
    endpoint, key = await service.create(
        db,
        caller=call.caller,
        account_id=body.account_id,
        adapter=body.adapter,
        topic=body.topic,
        certificate=body.certificate,
        site=call.site,
        now=call.now,
    )
    shown = Inbound.of(endpoint, call.zone, url=call.site.inbound_url(endpoint.inbound_id), secret=key)
    return Answer(shown, version=service.VERSION, location=f"/inbound/{endpoint.inbound_id}")


@routes.get("/inbound/{inbound_id}", scope="Inbound.Read", answer=Inbound, summary="Get inbound address")
async def get_inbound(call: Call[None], db: Database) -> Answer:
    found = await service.get(db, caller=call.caller, **call.ids)
    return Answer(Inbound.of(found, call.zone, url=call.site.inbound_url(found.inbound_id)), version=service.VERSION)


@routes.delete(
    "/inbound/{inbound_id}",
    scope="Inbound.Delete",
    summary="Close inbound address",
    description="Calls to it find nothing from then on.",
)
async def close_inbound(call: Call[None], db: Database) -> None:
    await service.delete(db, caller=call.caller, **call.ids, expect=call.expect)
