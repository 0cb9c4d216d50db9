"""Settings: the plans of the organization and the credits that are left."""

from collections.abc import Mapping
from typing import Final

from starlette.responses import Response

from afterword.console.screens import Database, Marked, Screens, Visit
from afterword.core.wire.lists import Page
from afterword.kit.nouns import service as nouns, structs
from afterword.kit.ui.lists import Listing
from afterword.tenants.organizations.plans import PLAN, PLANS_MAX, Plan
from afterword.tenants.screens.members import applications_of

PLANS: Final = "/console/settings/plan"
STATES: Final[Mapping[str, Marked]] = {"active": "Active", "expired": "Expired", "cancelled": "Cancelled"}

routes = Screens()


@routes.get(PLANS, scope="Plan.Read")
async def list_plans(visit: Visit, db: Database) -> Response:
    words = visit.words
    page = Page.first(structs.listing_of(PLAN), limit=PLANS_MAX)
    found = await nouns.rows(PLAN, db, **visit.caller.reach, page=page)
    names = {one.application_id: one.display_name for one in await applications_of(visit, db)}
    return visit.page(
        "things.html",
        title=words("Plan and credits"),
        lead=words("Each response uses one credit at its first answer. Plans are changed by whoever hosts Afterword."),
        list=Listing(
            rows=[
                {
                    "url": "",
                    "title": one.title,
                    "state": words(STATES[one.state]),
                    "when": names.get(one.application_id or "", ""),
                    "more": _sentence(visit, one),
                }
                for one in found.items
            ],
            empty=words("No plan: responses are not limited."),
        ),
    )


def _sentence(visit: Visit, plan: Plan) -> str:
    words = visit.words
    if plan.credits is None or plan.remaining_credits is None:
        left = words("Without a limit.")
    else:
        left = words.plural("{n} credit is left.", "{n} credits are left.", plan.remaining_credits + plan.extra_credits)
    if plan.renew_time is not None:
        left += " " + words("New credits come on {day}.", day=words.date(plan.renew_time, time_zone=visit.zone))
    if plan.end_time is not None:
        left += " " + words("It ends on {day}.", day=words.date(plan.end_time, time_zone=visit.zone))
    return left
