"""The HTTP door of plans: read by their organization, written by operators on the command line."""

from datetime import tzinfo
from typing import Literal

from afterword.core.wire.times import format_optional, format_time
from afterword.db import Database
from afterword.organizations.plans import store
from afterword.web import fields
from afterword.web.operations import Answer, Call, Routes

routes = Routes(tag="Plans")


class Plan(fields.Answer):
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

    @classmethod
    def of(cls, plan: store.Plan, zone: tzinfo) -> "Plan":
        """The record as the wire shows it."""
        return cls(
            plan_id=plan.plan_id,
            organization_id=plan.organization_id,
            application_id=plan.application_id,
            title=plan.title,
            kind=plan.kind,  # type: ignore[arg-type]  a check of the table
            credits=plan.credits,
            remaining_credits=plan.remaining_credits,
            extra_credits=plan.extra_credits,
            features=list(plan.features),
            state=plan.state,  # type: ignore[arg-type]  a check of the table
            start_time=format_time(plan.start_time, zone=zone),
            renew_time=format_optional(plan.renew_time, zone=zone),
            end_time=format_optional(plan.end_time, zone=zone),
        )


@routes.get(
    "/plan",
    scope="Plan.Read",
    answer=Plan,
    shape="array",
    listing=store.PLANS,
    summary="Get all plans",
    description="An organization without a plan is unlimited.",
)
async def list_plans(call: Call[None], db: Database) -> Answer:
    rows = await store.list_plans(
        db, organization_id=call.caller.organization_id, among=call.caller.application_ids, page=call.page
    )
    return Answer(rows.map(lambda plan: Plan.of(plan, call.zone)))
