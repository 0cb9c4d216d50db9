"""Settings: the organization, how its people and tokens come in, its applications, its plans and their credits."""

from collections.abc import Mapping
from typing import Any, Final

from starlette.responses import Response

from afterword.console.inputs import Options, same_version
from afterword.console.nouns import inputs_of, screens_of, settings_form
from afterword.console.screens import Database, Marked, Visit
from afterword.core.wire.lists import Page
from afterword.kit.nouns import service as nouns, structs
from afterword.kit.texts import LANGUAGES, Texts
from afterword.kit.ui.lists import Listing
from afterword.kit.ui.text import NOTHING
from afterword.tenants.logins import policies
from afterword.tenants.organizations.applications import APPLICATION, Application
from afterword.tenants.organizations.plans import PLAN, PLANS_MAX, Plan
from afterword.tenants.organizations.service import ORGANIZATION
from afterword.tenants.screens.members import applications_of

SETTINGS: Final = "/console/settings"
PATH: Final = f"{SETTINGS}/organization"
APPLICATIONS: Final = f"{SETTINGS}/applications"
DOMAIN: Final = f"{PATH}/domain"
IDENTITY: Final = f"{PATH}/identity"
LOGINS: Final = f"{PATH}/logins"
NO_LANGUAGE: Final = ("", NOTHING)


async def _choices(visit: Visit, application: Application | None) -> Options:
    stored = (application.default_locale if application else None) or ""
    return {"default_locale": [NO_LANGUAGE, *_languages(visit.words, stored)]}


routes = screens_of(APPLICATION, options=_choices)


def _links(visit: Visit) -> list[tuple[str, str]]:
    words, found = visit.words, [(visit.words("Own domain"), DOMAIN)]
    if visit.may_open(IDENTITY):
        found += [(words("Login policy"), LOGINS), (words("Log in by provider"), IDENTITY)]
    return found


settings_form(
    routes,
    ORGANIZATION,
    PATH,
    scope="Organization.Update",
    title="Organization",
    # The least number of people stands last.
    inputs=sorted(inputs_of(ORGANIZATION), key=lambda one: one.name == "minimum_base"),
    options=lambda visit, stored: dict.fromkeys(
        ("default_locale", "locales"), _languages(visit.words, *stored.locales)
    ),
    links=_links,
    tab="organization",
)


async def _save(visit: Visit, db: Database, wanted: Mapping[str, Any]) -> None:
    expect = same_version(visit)
    await policies.save(db, caller=visit.caller, wanted=wanted, address=visit.address, now=visit.now, expect=expect)


settings_form(
    routes,
    policies.POLICY,
    LOGINS,
    scope="Organization.Update",
    title="Login policy",
    lead=lambda visit: visit.words(
        "It applies at once, to open sessions too. Your address is {address}.", address=visit.address
    ),
    back=("Organization", PATH),
    proof=True,
    of_owners=True,
    save=_save,
)


def _languages(words: Texts, *stored: str) -> list[tuple[str, str]]:
    """Those of our pages, and what is stored beside them."""
    return [(one, words.language_name(one)) for one in dict.fromkeys((*LANGUAGES, *filter(None, stored)))]


PLANS: Final = "/console/settings/plan"
STATES: Final[Mapping[str, Marked]] = {"active": "Active", "expired": "Expired", "cancelled": "Cancelled"}


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
