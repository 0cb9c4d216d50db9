"""Logging in with the identity provider of an organization: to it, and back from it.

The provider leads back by a GET, which writes nothing: its page posts what it got, by itself where scripts run.
"""

from typing import Final
from urllib.parse import quote

from starlette.responses import Response

from afterword import errors
from afterword.console import screens
from afterword.console.screens import COOKIE, IDENTITY_COOKIE, LOGIN, Guest, Screens, Visit
from afterword.kit.web import html, static
from afterword.tenants.logins import sessions
from afterword.tenants.logins.identities import service, store
from afterword.tenants.screens.entry import leading_on

CHOICE: Final = f"{LOGIN}/organization"
WITH: Final = f"{LOGIN}/with"
FLOW_SECONDS: Final = int(service.FLOW.total_seconds())
SESSION_SECONDS: Final = int(service.LIFETIME.total_seconds())

routes = Screens()


@routes.open_post(CHOICE)
async def choose(guest: Guest) -> Response:
    domain = guest.form.text("domain")
    async with guest.read() as db:
        provider = await store.get_provider_by_domain(db, domain=domain)
    if provider is None:
        sentence = guest.words("No organization of this name logs in this way.")
        return await _choice(guest, errors.Invalid.at("/domain", "unknown_value", sentence))
    return html.redirect(f"{WITH}/{quote(domain, safe='')}{_query(guest.form.text('next'))}")


@routes.open_get(f"{WITH}/{{domain}}")
async def with_organization(guest: Guest) -> Response:
    url = f"{WITH}/{quote(guest.request.path_params['domain'], safe='')}/start{_query(guest.query.get('next', ''))}"
    return leading_on(guest, guest.words("Log in with your organization"), url)


@routes.open_get(f"{WITH}/{{domain}}/start")
async def start(guest: Guest) -> Response:
    """Lead to the provider; the cookie alone keeps what was begun."""
    async with guest.read() as db:
        url, flow = await service.begin(
            db,
            domain=guest.request.path_params["domain"],
            going_on=screens.own_address(guest.query.get("next", "")),
            is_anew=guest.query.get("anew") == "1",
            site=guest.site,
            now=guest.now,
        )
    response = html.redirect(url)
    guest.set_cookie(response, IDENTITY_COOKIE, flow, seconds=FLOW_SECONDS)
    return response


@routes.open_get(service.RETURN_PATH)
async def returned(guest: Guest) -> Response:
    query = guest.query
    if "error" in query:
        flow = service.read_flow(guest.cookie(IDENTITY_COOKIE), site=guest.site, now=guest.now)
        told = service.Returned(
            query.get("state", ""), "", query.get("iss", ""), query["error"], query.get("error_description", "")
        )
        await service.refuse(guest.pool, flow=flow, returned=told, now=guest.now)
    response = guest.page(
        "returned.html",
        title=guest.words("You are logged in at your organization"),
        code=query.get("code", ""),
        state=query.get("state", ""),
        iss=query.get("iss", ""),
        script=static.url("console/goon.js"),
    )
    response.headers["Cache-Control"] = "no-store"
    return response


@routes.open_post(service.RETURN_PATH)
async def log_in(guest: Guest) -> Response:
    """Open a session under a new cookie, in place of the one that asked for another proof."""
    form = guest.form
    flow = service.read_flow(guest.cookie(IDENTITY_COOKIE), site=guest.site, now=guest.now)
    returned = service.Returned(form.text("state"), form.text("code"), form.text("iss"))
    opened = await service.finish(
        guest.pool, flow=flow, returned=returned, source=guest.source, site=guest.site, now=guest.now
    )
    if isinstance(guest, Visit) and guest.session.is_of_provider:
        async with guest.write() as db:
            await sessions.end(db, session=guest.session, session_id=guest.session.session_id, now=guest.now)
    response = html.redirect(screens.own_address(flow.going_on))
    guest.set_cookie(response, COOKIE, opened, seconds=SESSION_SECONDS)
    guest.set_cookie(response, IDENTITY_COOKIE, "", seconds=0)
    return response


@routes.open_get(CHOICE)
async def _choice(guest: Guest, refusal: errors.Invalid | None = None) -> Response:
    return guest.page(
        "organization_login.html",
        title=guest.words("Log in with your organization"),
        status=refusal.status if refusal else 200,
        domain=guest.form.text("domain"),
        next=guest.form.text("next") or guest.query.get("next", ""),
        refusal=refusal,
    )


def _query(going_on: str) -> str:
    return f"?next={quote(going_on, safe='')}" if going_on else ""
