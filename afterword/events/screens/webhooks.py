"""Settings: the page of a webhook with its deliveries, what can be delivered again, and the secret shown once."""

from typing import Final

from starlette.responses import Response

from afterword.console.nouns import screens_of, secret_page
from afterword.console.removals import removal
from afterword.console.screens import Marked, Visit
from afterword.events import deliveries
from afterword.events.deliveries import Delivery
from afterword.events.webhooks import WEBHOOK, renew_secret
from afterword.kit.db import Database
from afterword.kit.nouns import service as nouns
from afterword.kit.ui.lists import Listing, page_links, page_of
from afterword.kit.web import fields, html

WEBHOOKS: Final = "/console/settings/webhooks"
ONE: Final = f"{WEBHOOKS}/{{webhook_id}}"
DELIVERIES: Final = fields.listing_of(Delivery)
STATES: Final[dict[str, Marked]] = {"pending": "Waiting", "delivered": "Delivered", "dead": "Given up"}


routes = screens_of(WEBHOOK)


@routes.get(ONE, scope="Webhook.Read")
async def webhook_page(visit: Visit, db: Database) -> Response:
    webhook = await nouns.get(WEBHOOK, db, caller=visit.caller, key=visit.id("webhook_id"))
    found = await deliveries.list_deliverie_records(
        db,
        organization_id=webhook.organization_id,
        webhook_id=webhook.webhook_id,
        page=page_of(DELIVERIES, visit.query),
    )
    here = f"{WEBHOOKS}/{webhook.webhook_id}"
    return visit.page(
        "webhook.html",
        title=webhook.title,
        webhook=webhook,
        here=here,
        states=STATES,
        list=Listing(
            rows=found.items,
            empty=visit.words("Nothing has been sent to it yet. Deliveries are kept for 30 days."),
            **page_links(found, visit.query, here),
        ),
    )


@routes.post(f"{ONE}/redelivery", scope="Webhook.Update")
async def redeliver(visit: Visit, db: Database) -> Response:
    await deliveries.redeliver_one(db, caller=visit.caller, **visit.ids, delivery_id=visit.form.text("delivery_id"))
    return html.redirect(f"{WEBHOOKS}/{visit.id('webhook_id')}?done=again")


async def _renew(visit: Visit, db: Database) -> Response:
    made = await renew_secret(db, caller=visit.caller, **visit.ids, site=visit.site, now=visit.now)
    return secret_page(WEBHOOK, visit, made)


removal(
    routes,
    f"{ONE}/secret",
    scope="Webhook.Update",
    proof=True,
    title="Renew the secret of “{title}”?",
    sentences=["For 24 hours each delivery is signed with both secrets. The old one ends then."],
    button="Renew the secret",
    get=lambda visit: visit.row(WEBHOOK),
    remove=_renew,
    to=ONE,
)
