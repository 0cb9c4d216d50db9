"""Settings: the organization and its applications."""

from typing import Final

import msgspec
from starlette.responses import Response

from afterword import errors
from afterword.console.inputs import Input, document_of, form_page, read_as, same_version
from afterword.console.lists import Listing, page_links, page_of
from afterword.console.removals import removal
from afterword.console.screens import Screens, Visit
from afterword.console.settings.members import APPLICATIONS
from afterword.console.text import NOTHING, WEEKDAYS, ZONES
from afterword.organizations import service, store
from afterword.organizations.api import ApplicationRequest, ApplicationUpdate, OrganizationUpdate
from afterword.texts import LANGUAGES, Texts
from afterword.web import html

SETTINGS: Final = "/console/settings"
ORGANIZATION: Final = f"{SETTINGS}/organization"
DOMAIN: Final = f"{ORGANIZATION}/domain"
IDENTITY: Final = f"{ORGANIZATION}/identity"
LOGINS: Final = f"{ORGANIZATION}/logins"
APPLICATION: Final = f"{SETTINGS}/applications"
NO_LANGUAGE: Final = ("", NOTHING)
WEEKDAY_OPTIONS: Final = tuple((str(number), name) for number, name in WEEKDAYS.items())
ZONE_OPTIONS: Final = tuple((one, one) for one in ZONES)
ORGANIZATION_INPUTS: Final = (
    Input("display_name", "text", "Name", "Customers see it.", required=True),
    Input("legal_name", "text", "Legal name"),
    Input("postal_address", "area", "Postal address", "It stands below each mail."),
    Input("default_locale", "choice", "Language", "Of people whose language is not known.", required=True),
    Input("locales", "checks", "Languages of your customers"),
    Input("time_zone", "choice", "Time zone", options=ZONE_OPTIONS, required=True, is_translated=False),
    Input("first_weekday", "choice", "Weeks begin on", options=WEEKDAY_OPTIONS, required=True),
    Input("minimum_base", "number", "Least number of people in a figure",
          "Groups of fewer are hidden in shared reports.", required=True),
)  # fmt: skip
APPLICATION_INPUTS: Final = (
    Input("display_name", "text", "Name", required=True),
    Input("description", "area", "Description", "For your colleagues."),
    Input("time_zone", "choice", "Time zone", "Empty: that of the organization.", options=(("", "–"), *ZONE_OPTIONS),  # noqa: RUF001
          is_translated=False),
    Input("default_locale", "choice", "Language", "Empty: that of the organization."),
    Input("website_urls", "lines", "Addresses of its website", "One a line."),
    Input("active", "switch", "Sends and takes answers", options=(("1", "yes"), ("", "no"))),
)  # fmt: skip

routes = Screens()


@routes.post(ORGANIZATION, scope="Organization.Update")
async def save_organization(visit: Visit) -> Response:
    try:
        request = read_as(OrganizationUpdate, document_of(visit.form, ORGANIZATION_INPUTS), visit)
        async with visit.write() as db:
            await service.update_organization(
                db, caller=visit.caller, changes=request.named(), now=visit.now, expect=same_version(visit)
            )
    except (errors.Invalid, errors.Stale) as refusal:
        return await _organization(visit, refusal)
    return html.redirect(f"{ORGANIZATION}?done=saved")


@routes.get(ORGANIZATION, scope="Organization.Update")
async def _organization(visit: Visit, refusal: errors.Refusal | None = None) -> Response:
    words = visit.words
    async with visit.read() as db:
        stored = await store.get_organization(db, organization_id=visit.caller.organization_id)
    organization = stored or service.refuse_unknown()
    return form_page(
        visit,
        title=words("Organization"),
        back=(words("Settings"), SETTINGS),
        action=ORGANIZATION,
        inputs=ORGANIZATION_INPUTS,
        stored=organization,
        version=organization.version,
        refusal=refusal,
        options={name: _languages(words, *organization.locales) for name in ("default_locale", "locales")},
        links=[
            (words("Host of your public pages"), DOMAIN),
            *(
                [(words("How people log in"), LOGINS), (words("Log-in through your own provider"), IDENTITY)]
                if visit.caller.role == "owner"
                else []
            ),
        ],
        thing=("organization", organization.organization_id),
        tab="organization",
    )


@routes.get(APPLICATION, scope="Application.Update")
async def list_applications(visit: Visit) -> Response:
    words = visit.words
    async with visit.read() as db:
        found = await store.list_applications(
            db,
            organization_id=visit.caller.organization_id,
            among=visit.caller.application_ids,
            page=page_of(APPLICATIONS, visit.query),
        )
    return visit.page(
        "things.html",
        title=words("Applications"),
        tab="applications",
        lead=words("An application is a shop, a brand or a product. It owns questionnaires."),
        new=(words("New application"), f"{APPLICATION}/new") if "Application.Create" in visit.caller.scopes else None,
        list=Listing(
            rows=[
                {
                    "url": f"{APPLICATION}/{one.application_id}",
                    "title": one.display_name,
                    "state": "" if one.active else words("off"),
                    "when": one.time_zone or "",
                    "more": " · ".join(filter(None, (one.description, *one.website_urls))),
                }
                for one in found.items
            ],
            empty=words("No application yet."),
            **page_links(found, visit.query, APPLICATION),
        ),
    )


@routes.post(f"{APPLICATION}/new", scope="Application.Create")
async def make_application(visit: Visit) -> Response:
    visit.caller.require_whole()
    try:
        request = read_as(ApplicationRequest, document_of(visit.form, APPLICATION_INPUTS), visit)
        async with visit.write() as db:
            await service.create_application(
                db,
                organization_id=visit.caller.organization_id,
                created_by=visit.caller.actor_id,
                now=visit.now,
                **msgspec.structs.asdict(request),
            )
    except errors.Invalid as refusal:
        return await _new_application(visit, refusal)
    return html.redirect(f"{APPLICATION}?done=saved")


@routes.post(f"{APPLICATION}/{{application_id}}", scope="Application.Update")
async def save_application(visit: Visit) -> Response:
    try:
        request = read_as(ApplicationUpdate, document_of(visit.form, APPLICATION_INPUTS), visit)
        async with visit.write() as db:
            await service.update_application(
                db, caller=visit.caller, **visit.ids, changes=request.named(), now=visit.now, expect=same_version(visit)
            )
    except (errors.Invalid, errors.Stale) as refusal:
        return await _application(visit, refusal)
    return html.redirect(f"{APPLICATION}?done=saved")


removal(
    routes,
    f"{APPLICATION}/{{application_id}}/removal",
    scope="Application.Delete",
    title="Remove the application “{display_name}”?",
    sentences=["It cannot be removed while it owns questionnaires, archived ones too."],
    button="Remove the application",
    get=lambda visit: visit.find(service.get_application),
    remove=lambda visit, db: service.delete_application(db, caller=visit.caller, **visit.ids),
    to=APPLICATION,
)


@routes.get(f"{APPLICATION}/new", scope="Application.Create")
async def _new_application(visit: Visit, refusal: errors.Refusal | None = None) -> Response:
    return form_page(
        visit,
        title=visit.words("New application"),
        back=(visit.words("Applications"), APPLICATION),
        action=f"{APPLICATION}/new",
        inputs=APPLICATION_INPUTS,
        stored=ApplicationRequest(display_name=""),
        refusal=refusal,
        options={"default_locale": [NO_LANGUAGE, *_languages(visit.words)]},
    )


@routes.get(f"{APPLICATION}/{{application_id}}", scope="Application.Update")
async def _application(visit: Visit, refusal: errors.Refusal | None = None) -> Response:
    words = visit.words
    one = await visit.find(service.get_application)
    here, may_remove = f"{APPLICATION}/{one.application_id}", "Application.Delete" in visit.caller.scopes
    return form_page(
        visit,
        title=one.display_name,
        back=(words("Applications"), APPLICATION),
        action=here,
        inputs=APPLICATION_INPUTS,
        stored=one,
        version=one.version,
        refusal=refusal,
        options={"default_locale": [NO_LANGUAGE, *_languages(words, one.default_locale or "")]},
        links=[(words("Remove the application"), f"{here}/removal")] if may_remove else (),
        thing=("application", one.application_id),
    )


def _languages(words: Texts, *stored: str) -> list[tuple[str, str]]:
    """Those of our pages, and what is stored beside them."""
    return [(one, words.language_name(one)) for one in dict.fromkeys((*LANGUAGES, *filter(None, stored)))]
