"""The HTTP routes of plans: organizations read them, operators write them on the command line."""

from typing import Literal

from afterword.core.wire.lists import Rows
from afterword.kit.db import Database
from afterword.kit.web import fields
from afterword.kit.web.operations import Call, Routes
from afterword.tenants.organizations.plans import store

routes = Routes(tag="Plans")


class Plan(fields.Resource):
    """Credits of the organization, or of one of its applications: one is used by each instance's first answer."""

    plan_id: fields.Id
    organization_id: fields.Id
    application_id: fields.Id | None
    title: str
    kind: Literal["once", "monthly", "unlimited"]
    credits: int | None
    remaining_credits: int | None
    extra_credits: int
    features: list[str]
    state: Literal["active", "expired", "cancelled"]
    start_time: fields.DateTime
    renew_time: fields.DateTime | None
    end_time: fields.DateTime | None


@routes.list(
    "/plan",
    scope="Plan.Read",
    answer=Plan,
    shape="array",
    listing=fields.listing_of(Plan, order=(("start_time", "desc"),)),
    summary="Get all plans",
    description="An organization without a plan is unlimited.",
)
async def list_plans(call: Call[None], db: Database) -> Rows[store.Plan]:
    return await store.list_plans(
        db, organization_id=call.caller.organization_id, among=call.caller.application_ids, page=call.page
    )
