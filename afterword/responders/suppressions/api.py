"""The HTTP interface of suppressions: list, add, read, lift."""

from typing import Final

from afterword.core.wire.lists import Rows
from afterword.db import Database
from afterword.responders.suppressions import service, store
from afterword.responders.suppressions.resources import Suppression, SuppressionRequest
from afterword.responders.suppressions.service import SuppressionInput
from afterword.web.operations import Answer, Call, Routes

PATH: Final = "/suppression"

routes = Routes(tag="Suppressions")


@routes.list(
    PATH,
    scope="Suppression.Read",
    answer=Suppression,
    summary="Get all suppressions",
    description="Those that have expired included: they show `expires_time`, and suppress nothing any more.",
)
async def list_suppressions(call: Call[None], db: Database) -> Rows[service.Suppression]:
    service.require_reach(call.caller)
    return await store.list_suppressions(db, organization_id=call.caller.organization_id, page=call.page)


@routes.post(
    PATH,
    scope="Suppression.Create",
    body=SuppressionRequest,
    answer=Suppression,
    summary="Suppress an address",
    description=(
        "Nothing more is sent to it on that channel. Compared by its normal form, kept as it was sent. One that is "
        "suppressed already takes a longer time and a stronger reason (blocked, hard_bounce, unsubscribed, complaint, "
        "erased); where neither is new, 409."
    ),
    refusals=("already_exists",),
)
async def suppress_address(call: Call[SuppressionRequest], db: Database) -> Answer:
    body = call.body
    request = SuppressionInput(
        channel_id=body.channel_id,
        identifier=body.identifier,
        reason=body.reason,
        expires_time=body.expires_time and body.expires_time.instant,
        note=body.note,
        locale=call.caller.default_locale,
    )
    made = await service.add(db, caller=call.caller, request=request, secret=call.site.secret, now=call.now)
    return Answer(record=made, location=f"{PATH}/{made.suppression_id}")


@routes.get(f"{PATH}/{{suppression_id}}", scope="Suppression.Read", answer=Suppression, summary="Get a suppression")
async def get_suppression(call: Call[None], db: Database) -> service.Suppression:
    return await service.get(db, caller=call.caller, **call.ids)


@routes.delete(
    f"{PATH}/{{suppression_id}}",
    scope="Suppression.Delete",
    summary="Lift a suppression",
    description="The address is written to again, whatever the reason was; the event `suppression.deleted` keeps it.",
)
async def lift_suppression(call: Call[None], db: Database) -> None:
    await service.lift(db, caller=call.caller, **call.ids, now=call.now, expect=call.expect)
