"""Settings: the organization's own host for its public pages."""

from types import SimpleNamespace
from typing import Final

from starlette.responses import Response

from afterword import errors
from afterword.asking.links import domains
from afterword.asking.links.domains import CustomDomainRecord, CustomDomainRequest, parts_of
from afterword.console.inputs import placed, shown
from afterword.console.nouns import inputs_of
from afterword.console.removals import removal
from afterword.console.screens import Database, Marked, Screens, Visit
from afterword.kit.web import html
from afterword.tenants.screens.organization import DOMAIN, PATH as ORGANIZATION

INPUTS: Final = inputs_of(CustomDomainRequest)
STATES: Final[dict[str, Marked]] = {"pending": "not proven yet", "proven": "proven", "active": "in use", "lost": "lost"}
STATE_SENTENCES: Final[dict[str, Marked]] = {
    "pending": "Set these two DNS records at your domain provider, then check.",
    "proven": "The record was found. Links lead here once the host does.",
    "active": "New links, messages and QR codes have this host.",
    "lost": "The record is gone. New links have the address of this installation until it is back.",
}
PROBLEMS: Final[dict[str, Marked]] = {
    "in_use": "Another organization holds this host.",
    "not_asked": "No name server answered. Try again in a minute.",
    "not_reached": "A request to the host did not arrive here. The other record may be too new, or the "
    "certificate is still being issued.",
    "record_missing": "The TXT record was not found. Name servers may need an hour to see a change.",
}

routes = Screens()


@routes.post(DOMAIN, scope="Organization.Update", again=(errors.Invalid,))
async def save_domain(visit: Visit, db: Database) -> Response:
    await domains.claim(db, caller=visit.caller, host=visit.form.text("host"), site=visit.site, now=visit.now)
    return html.redirect(f"{DOMAIN}?done=saved")


@routes.post(f"{DOMAIN}/check", scope="Organization.Update")
async def check_domain(visit: Visit) -> Response:
    """No connection of ours is held while others are asked."""
    await domains.check(visit.pool, caller=visit.caller, site=visit.site, now=visit.now)
    return html.redirect(f"{DOMAIN}?done=checked")


removal(
    routes,
    f"{DOMAIN}/removal",
    scope="Organization.Update",
    title="Release “{host}”?",
    sentences=[
        "New links have the address of this installation again.",
        "Links that were sent with the host, and QR codes with it, lead here only while its records stay.",
    ],
    button="Release the host",
    get=lambda visit: visit.find(domains.get),
    remove=lambda visit, db: domains.remove(db, caller=visit.caller),
    to=DOMAIN,
)


@routes.get(DOMAIN, scope="Organization.Update")
async def _show(visit: Visit, refusal: errors.Invalid | None = None) -> Response:
    words = visit.words
    domain = await visit.load(domains.get_domain, organization_id=visit.caller.organization_id)
    return visit.page(
        "domain.html",
        title=words("Own domain"),
        back=(words("Organization"), ORGANIZATION),
        path=DOMAIN,
        fields=shown(visit, INPUTS, domain or SimpleNamespace(host="")),
        refusal=placed(refusal) if refusal else None,
        domain=domain and _facts(visit, domain),
    )


def _facts(visit: Visit, domain: CustomDomainRecord) -> dict[str, object]:
    words = visit.words
    return {
        **parts_of(domain, visit.site),
        "host": domain.host,
        "state": words(STATES[domain.state]),
        "is_active": domain.state == "active",
        "is_late": domain.state == "lost",
        "sentence": words(STATE_SENTENCES[domain.state]),
        "problem": words(PROBLEMS[domain.problem]) if domain.problem else "",
        "checked": words.moment(domain.checked_time, time_zone=visit.zone) if domain.checked_time else "",
        "reach_url": domains.reach_url(domain, site=visit.site) if domain.state == "proven" else "",
        "organization_id": domain.organization_id,
    }
