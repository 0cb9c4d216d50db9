"""DNS records of the domains of a sending account, and the addresses where its provider reports."""

from typing import Final

from starlette.responses import Response

from afterword import errors
from afterword.console.removals import removal
from afterword.console.screens import Marked, Screens, Visit
from afterword.core.messaging.domain_records import SENTENCES
from afterword.kit import db as databases
from afterword.kit.transport.base import EMAIL
from afterword.sending.channels.accounts import CALLED_BACK
from afterword.sending.providers import domains
from afterword.sending.receipts import inbound
from afterword.sending.receipts.inbound import ADAPTERS as FORMS
from afterword.sending.receipts.inbound import Endpoint
from afterword.sending.screens.providers import ADAPTERS, PROVIDER, account_of, name_of, url_of

RECORDS: Final = {"spf": "SPF", "dkim": "DKIM", "dmarc": "DMARC"}
FINDINGS: Final[dict[str, Marked]] = {
    "good": "in order", "weak": "could be better", "wrong": "wrong", "missing": "missing", "unknown": "not known",
}  # fmt: skip

routes = Screens()


@routes.get(f"{PROVIDER}/dns", scope="Provider.Read")
async def dns_page(visit: Visit) -> Response:
    """Check the domains; no connection of ours is held while name servers are asked."""
    words, selector = visit.words, visit.query.get("selector", "").strip()
    account, refusal, checks = await account_of(visit), None, list[domains.DomainCheck]()
    try:
        checks = await domains.check(
            databases.on_demand(visit.pool),
            caller=visit.caller,
            account_id=account.account_id,
            selector=selector or None,
            site=visit.site,
        )
    except errors.Invalid as invalid:
        refusal = invalid
    return visit.page(
        "provider_dns.html",
        title=words("DNS of your sender domains"),
        status=refusal.status if refusal else 200,
        refusal=refusal,
        back=(name_of(visit, account), url_of(account)),
        path=f"{url_of(account)}/dns",
        selector=selector,
        domains=[
            (
                each.domain,
                [
                    {
                        "record": RECORDS[one.kind],
                        "state": one.state,
                        "state_text": words(FINDINGS[one.state]),
                        "text": words(SENTENCES[one.code][1], **one.values),
                        "name": one.name,
                        "found": one.found,
                        "to_set": one.record,
                    }
                    for one in each.findings
                ],
            )
            for each in checks
        ],
    )


@routes.post(f"{PROVIDER}/inbound", scope="Inbound.Create", proof=True)
async def open_address(visit: Visit) -> Response:
    """Show its key, this once."""
    account, form = await account_of(visit), visit.form
    chosen = next((name for name in FORMS if name == form.text("adapter")), FORMS[0])
    is_pinned = chosen == "sns"
    try:
        async with visit.write() as db:
            endpoint, key = await inbound.create(
                db,
                caller=visit.caller,
                account_id=account.account_id,
                adapter=chosen,
                topic=form.text("topic") if is_pinned else None,
                certificate=form.text("certificate") if is_pinned else None,
                site=visit.site,
                now=visit.now,
            )
    except (errors.Invalid, errors.Conflict) as refusal:
        return await _form(visit, refusal)
    response = visit.page(
        "provider_address_made.html",
        title=visit.words("The address is open"),
        url=visit.site.inbound_url(endpoint.inbound_id),
        key=key,
        back=url_of(account),
    )
    response.headers["Cache-Control"] = "no-store"
    return response


async def _endpoint(visit: Visit) -> Endpoint:
    await account_of(visit)
    async with visit.read() as db:
        return await inbound.get(db, caller=visit.caller, inbound_id=visit.id("inbound_id"))


removal(
    routes,
    f"{PROVIDER}/inbound/{{inbound_id}}/closing",
    scope="Inbound.Delete",
    title="Close this address?",
    sentences=lambda visit, endpoint: [
        visit.site.inbound_url(endpoint.inbound_id),
        visit.words("Reports to it find nothing from then on, so bounces and complaints are no longer noticed."),
    ],
    button="Close the address",
    get=_endpoint,
    remove=lambda visit, db: inbound.delete(db, caller=visit.caller, inbound_id=visit.id("inbound_id")),
    to=PROVIDER,
    back=PROVIDER,
)


@routes.get(f"{PROVIDER}/inbound", scope="Inbound.Create", proof=True)
async def _form(visit: Visit, refusal: errors.Refusal | None = None) -> Response:
    words, form, account = visit.words, visit.form, await account_of(visit)
    possible = {"standard": True, "sns": account.channel_id == EMAIL, "provider": account.kind in CALLED_BACK}
    return visit.page(
        "provider_address.html",
        title=words("Open an address for reports"),
        status=refusal.status if refusal else 200,
        refusal=refusal,
        back=(name_of(visit, account), url_of(account)),
        action=f"{url_of(account)}/inbound",
        adapters=[(name, words(text)) for name, text in ADAPTERS.items() if possible[name]],
        adapter=form.text("adapter") or "standard",
        topic=form.text("topic"),
        certificate=form.text("certificate"),
        has_topics=possible["sns"],
    )
