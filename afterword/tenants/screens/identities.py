"""Logging in with the identity provider of an organization: to it, and back from it.

The provider leads back by a GET, which writes nothing: its page posts what it got, by itself where scripts run.
"""

from types import SimpleNamespace
from typing import Any, Final
from urllib.parse import quote

from starlette.responses import Response

from afterword import errors
from afterword.console import screens
from afterword.console.inputs import Input, document_of, filled, placed, read_as, shown
from afterword.console.nouns import inputs_of
from afterword.console.removals import removal
from afterword.console.screens import COOKIE, IDENTITY_COOKIE, LOGIN, Guest, Screens, Visit
from afterword.core.organizations.identities import ROLES
from afterword.kit.web import html
from afterword.tenants.logins import sessions
from afterword.tenants.logins.identities import service as identities
from afterword.tenants.logins.identities.api import IdentityProviderRequest, login_url, values_of
from afterword.tenants.logins.identities.service import IdentityProvider
from afterword.tenants.screens.entry import leading_on
from afterword.tenants.screens.organization import IDENTITY, PATH as ORGANIZATION

GROUP_INPUTS: Final = (
    Input("admin", "lines", "Groups: administrators", "One per line, with the provider's names."),
    Input("reporting", "lines", "Groups: reporting", "One per line."),
    Input("agent", "lines", "Groups: agents", "One per line."),
)  # fmt: skip
INPUTS: Final = inputs_of(IdentityProviderRequest)

routes = Screens()


@routes.post(IDENTITY, scope="Organization.Update", proof=True, again=(errors.Invalid,))
async def save_identity(visit: Visit) -> Response:
    """An empty secret keeps the one that is stored."""
    document = document_of(visit.form, INPUTS)
    groups = document_of(visit.form, GROUP_INPUTS)
    document["group_roles"] = [{"group": group, "role": role} for role in ROLES for group in groups[role]]
    if visit.form.text("is_public"):
        document["client_secret"] = None
    elif secret := visit.form.secret("client_secret"):
        document["client_secret"] = secret
    request = read_as(IdentityProviderRequest, document, visit)
    await visit.change(identities.save, caller=visit.caller, values=values_of(request), site=visit.site, now=visit.now)
    await identities.check(visit.pool, caller=visit.caller, site=visit.site, now=visit.now)
    return html.redirect(f"{IDENTITY}?done=saved")


@routes.post(f"{IDENTITY}/check", scope="Organization.Update", proof=True)
async def check_identity(visit: Visit) -> Response:
    await identities.check(visit.pool, caller=visit.caller, site=visit.site, now=visit.now)
    return html.redirect(f"{IDENTITY}?done=checked")


removal(
    routes,
    f"{IDENTITY}/removal",
    scope="Organization.Update",
    proof=True,
    title="Remove the log-in through {issuer}?",
    sentences=[
        "No one can log in through it any more, and people who did are logged out at once.",
        "People with a password can still log in. Others need an invitation.",
    ],
    button="Remove the log-in",
    get=lambda visit: visit.find(identities.get),
    remove=lambda visit, db: identities.remove(db, caller=visit.caller),
    to=IDENTITY,
)


@routes.get(IDENTITY, scope="Organization.Update", proof=True, of_owners=True)
async def _show(visit: Visit, refusal: errors.Invalid | None = None) -> Response:
    words = visit.words
    identities.require_owner(visit.caller)
    provider = await visit.load(identities.get_provider, organization_id=visit.caller.organization_id)
    return visit.page(
        "identity.html",
        title=words("Log in by provider"),
        back=(words("Organization"), ORGANIZATION),
        path=IDENTITY,
        provider=provider,
        groups=shown(visit, GROUP_INPUTS, _groups_of(provider)),
        return_url=identities.return_url(visit.site),
        login_url=login_url(visit.site, visit.caller.domain),
        organization_id=visit.caller.organization_id,
        **filled(
            visit,
            INPUTS,
            provider or SimpleNamespace(groups_claim="groups"),
            version="",
            refusal=placed(refusal) if refusal else None,
        ),
    )


def _groups_of(provider: IdentityProvider | None) -> SimpleNamespace:
    found: dict[str, Any] = {role: [] for role in ROLES}
    for one in provider.group_roles if provider else ():
        found[one["role"]].append(one["group"])
    return SimpleNamespace(**found)


CHOICE: Final = f"{LOGIN}/organization"
WITH: Final = f"{LOGIN}/with"
FLOW_SECONDS: Final = int(identities.FLOW.total_seconds())
SESSION_SECONDS: Final = int(identities.LIFETIME.total_seconds())


@routes.open_post(CHOICE, again=(errors.Invalid,))
async def choose(guest: Guest) -> Response:
    domain = guest.form.text("domain")
    provider = await guest.load(identities.get_provider_by_domain, domain=domain)
    if provider is None:
        sentence = guest.words("No organization of this name logs in this way.")
        raise errors.Invalid.at("/domain", "unknown_value", sentence)
    return html.redirect(f"{WITH}/{quote(domain, safe='')}{_query(guest.form.text('next'))}")


@routes.open_get(f"{WITH}/{{domain}}")
async def with_organization(guest: Guest) -> Response:
    url = f"{WITH}/{quote(guest.request.path_params['domain'], safe='')}/start{_query(guest.query.get('next', ''))}"
    return leading_on(guest, guest.words("Log in with your organization"), url)


@routes.open_get(f"{WITH}/{{domain}}/start")
async def start(guest: Guest) -> Response:
    """Lead to the provider; the cookie alone keeps what was begun."""
    url, flow = await guest.load(
        identities.begin,
        domain=guest.request.path_params["domain"],
        going_on=screens.own_address(guest.query.get("next", "")),
        is_anew=guest.query.get("anew") == "1",
        site=guest.site,
        now=guest.now,
    )
    response = html.redirect(url)
    guest.set_cookie(response, IDENTITY_COOKIE, flow, seconds=FLOW_SECONDS)
    return response


@routes.open_get(identities.RETURN_PATH)
async def returned(guest: Guest) -> Response:
    query = guest.query
    if "error" in query:
        flow = identities.read_flow(guest.cookie(IDENTITY_COOKIE), site=guest.site, now=guest.now)
        told = identities.Returned(
            query.get("state", ""), "", query.get("iss", ""), query["error"], query.get("error_description", "")
        )
        await identities.refuse(guest.pool, flow=flow, returned=told, now=guest.now)
    response = guest.page(
        "returned.html",
        title=guest.words("You are logged in at your organization"),
        code=query.get("code", ""),
        state=query.get("state", ""),
        iss=query.get("iss", ""),
    )
    response.headers["Cache-Control"] = "no-store"
    return response


@routes.open_post(identities.RETURN_PATH)
async def log_in(guest: Guest) -> Response:
    """Open a session under a new cookie, in place of the one that asked for another proof."""
    form = guest.form
    flow = identities.read_flow(guest.cookie(IDENTITY_COOKIE), site=guest.site, now=guest.now)
    returned = identities.Returned(form.text("state"), form.text("code"), form.text("iss"))
    opened = await identities.finish(
        guest.pool, flow=flow, returned=returned, source=guest.source, site=guest.site, now=guest.now
    )
    if isinstance(guest, Visit) and guest.session.is_of_provider:
        session = guest.session
        await guest.change(sessions.delete_session, session=session, session_id=session.session_id, now=guest.now)
    response = html.redirect(screens.own_address(flow.going_on))
    guest.set_cookie(response, COOKIE, opened, seconds=SESSION_SECONDS)
    guest.set_cookie(response, IDENTITY_COOKIE, "", seconds=0)
    return response


@routes.open_get(CHOICE)
async def _choice(guest: Guest, refusal: errors.Invalid | None = None) -> Response:
    return guest.page(
        "organization_login.html",
        title=guest.words("Log in with your organization"),
        next=guest.form.text("next") or guest.query.get("next", ""),
        refusal=refusal,
    )


def _query(going_on: str) -> str:
    return f"?next={quote(going_on, safe='')}" if going_on else ""
