"""Settings: webhooks with their deliveries, what can be delivered again, and the secret that is shown once."""

from typing import Any, Final

from starlette.responses import Response

from afterword import errors
from afterword.console.inputs import Input, document_of, form_page, read_as, same_version
from afterword.console.lists import Listing, page_links, page_of
from afterword.console.screens import Screens, Visit
from afterword.events.deliveries import service as deliveries
from afterword.events.deliveries import store as deliveries_store
from afterword.events.deliveries.api import Delivery
from afterword.events.webhooks import service, store
from afterword.events.webhooks.resources import Webhook, WebhookRequest, WebhookUpdate
from afterword.web import fields, html

WEBHOOKS: Final = "/console/settings/webhooks"
ONE: Final = f"{WEBHOOKS}/{{webhook_id}}"
LISTED: Final = fields.listing_of(Webhook)
DELIVERIES: Final = fields.listing_of(Delivery)
STATES: Final = {"pending": "Waiting", "delivered": "Delivered", "dead": "Given up"}
INPUTS: Final = (
    Input("title", "text", "Title", "For your colleagues.", required=True),
    Input("target_url", "text", "Address", "It begins with https:// and is on the open internet.", required=True),
    Input("event_types", "lines", "Events", "One a line, such as questionnaire_instance.completed or alert_instance.*"),
    Input("active", "switch", "Events are sent to it", options=(("1", "yes"), ("", "no"))),
)

routes = Screens()


@routes.get(WEBHOOKS, scope="Webhook.Read")
async def list_webhooks(visit: Visit) -> Response:
    words = visit.words
    async with visit.read() as db:
        found = await store.list_webhooks(db, **visit.caller.reach, page=page_of(LISTED, visit.query))
    return visit.page(
        "things.html",
        title=words("Webhooks"),
        tab="webhooks",
        lead=words("A webhook tells another system of events when they happen, and signs what it sends."),
        new=(words("New webhook"), f"{WEBHOOKS}/new") if "Webhook.Create" in visit.caller.scopes else None,
        list=Listing(
            rows=[
                {
                    "url": f"{WEBHOOKS}/{one.webhook_id}",
                    "title": one.title,
                    "state": "" if one.active else words("off"),
                    "when": words("switched off after failures") if one.disabled_time else "",
                    "more": f"{one.target_url} · {', '.join(one.event_types)}",
                }
                for one in found.items
            ],
            empty=words("No webhook yet."),
            **page_links(found, visit.query, WEBHOOKS),
        ),
    )


@routes.post(f"{WEBHOOKS}/new", scope="Webhook.Create", proof=True)
async def make_webhook(visit: Visit) -> Response:
    try:
        request = read_as(WebhookRequest, _document(visit), visit)
        async with visit.write() as db:
            made, secret = await service.create(
                db, caller=visit.caller, columns=request.named(), site=visit.site, now=visit.now
            )
    except (errors.Invalid, errors.Forbidden) as refusal:
        return await _form(visit, None, refusal)
    return _secret(visit, made, secret)


@routes.get(ONE, scope="Webhook.Read")
async def webhook_page(visit: Visit) -> Response:
    words = visit.words
    async with visit.read() as db:
        webhook = await service.get(db, caller=visit.caller, **visit.ids)
        found = await deliveries_store.list_deliveries(
            db,
            organization_id=webhook.organization_id,
            webhook_id=webhook.webhook_id,
            page=page_of(DELIVERIES, visit.query),
        )
    here = f"{WEBHOOKS}/{webhook.webhook_id}"
    may_change = "Webhook.Update" in visit.caller.scopes
    return visit.page(
        "webhook.html",
        title=webhook.title,
        webhook=webhook,
        here=here,
        may_change=may_change,
        may_remove="Webhook.Delete" in visit.caller.scopes,
        list=Listing(
            rows=[
                {
                    "id": one.delivery_id,
                    "event": one.event_type,
                    "state": words(STATES[one.state]),
                    "is_dead": one.state == "dead",
                    "when": words.moment(one.created_time, time_zone=visit.zone),
                    "attempts": words.plural("{n} attempt", "{n} attempts", one.attempts),
                    "reply": " · ".join(
                        filter(None, (str(one.response_status or ""), one.error or "", one.response_excerpt or ""))
                    ),
                }
                for one in found.items
            ],
            empty=words("Nothing was sent to it yet. Deliveries are kept for 30 days."),
            **page_links(found, visit.query, here),
        ),
    )


@routes.get(f"{ONE}/edit", scope="Webhook.Update")
async def edit_page(visit: Visit) -> Response:
    return await _form(visit, await _webhook(visit))


@routes.post(f"{ONE}/edit", scope="Webhook.Update", proof=True)
async def save_webhook(visit: Visit) -> Response:
    webhook_id = visit.id("webhook_id")
    try:
        request = read_as(WebhookUpdate, _document(visit), visit)
        async with visit.write() as db:
            await service.update(
                db,
                caller=visit.caller,
                webhook_id=webhook_id,
                changes=request.named(),
                site=visit.site,
                now=visit.now,
                expect=same_version(visit),
            )
    except (errors.Invalid, errors.Forbidden, errors.Stale) as refusal:
        return await _form(visit, await _webhook(visit), refusal)
    return html.redirect(f"{WEBHOOKS}/{webhook_id}?done=saved")


@routes.post(f"{ONE}/redelivery", scope="Webhook.Update")
async def redeliver(visit: Visit) -> Response:
    async with visit.write() as db:
        await deliveries.redeliver(db, caller=visit.caller, **visit.ids, delivery_id=visit.form.text("delivery_id"))
    return html.redirect(f"{WEBHOOKS}/{visit.id('webhook_id')}?done=again")


@routes.get(f"{ONE}/secret", scope="Webhook.Update", proof=True)
async def confirm_secret(visit: Visit) -> Response:
    words, webhook = visit.words, await _webhook(visit)
    return visit.confirm(
        title=words("Renew the secret of “{title}”?", title=webhook.title),
        sentences=[words("For 24 hours each delivery is signed with both secrets. The old one ends then.")],
        button=words("Renew the secret"),
    )


@routes.post(f"{ONE}/secret", scope="Webhook.Update", proof=True)
async def renew_secret(visit: Visit) -> Response:
    async with visit.write() as db:
        renewed, secret = await service.renew_secret(
            db, caller=visit.caller, **visit.ids, site=visit.site, now=visit.now
        )
    return _secret(visit, renewed, secret)


@routes.get(f"{ONE}/removal", scope="Webhook.Delete")
async def confirm_removal(visit: Visit) -> Response:
    words, webhook = visit.words, await _webhook(visit)
    return visit.confirm(
        title=words("Remove the webhook “{title}”?", title=webhook.title),
        sentences=[words("Events that were not delivered yet are never delivered.")],
        button=words("Remove the webhook"),
    )


@routes.post(f"{ONE}/removal", scope="Webhook.Delete")
async def remove_webhook(visit: Visit) -> Response:
    async with visit.write() as db:
        await service.delete(db, caller=visit.caller, **visit.ids, now=visit.now, expect=lambda _: None)
    return html.redirect(f"{WEBHOOKS}?done=removed")


async def _webhook(visit: Visit) -> store.Webhook:
    async with visit.read() as db:
        return await service.get(db, caller=visit.caller, **visit.ids)


def _document(visit: Visit) -> dict[str, Any]:
    return document_of(visit.form, INPUTS)


def _secret(visit: Visit, webhook: store.Webhook, secret: str) -> Response:
    return visit.page(
        "webhook_secret.html",
        title=visit.words("The secret of “{title}”", title=webhook.title),
        secret=secret,
        url=f"{WEBHOOKS}/{webhook.webhook_id}",
    )


@routes.get(f"{WEBHOOKS}/new", scope="Webhook.Create", proof=True)
async def _form(visit: Visit, webhook: store.Webhook | None = None, refusal: errors.Refusal | None = None) -> Response:
    words = visit.words
    here = f"{WEBHOOKS}/{webhook.webhook_id}" if webhook else ""
    return form_page(
        visit,
        title=webhook.title if webhook else words("New webhook"),
        back=(webhook.title, here) if webhook else (words("Webhooks"), WEBHOOKS),
        action=f"{here}/edit" if webhook else f"{WEBHOOKS}/new",
        inputs=INPUTS,
        stored=webhook or WebhookRequest(title="", target_url=""),
        version=webhook.version if webhook else "",
        refusal=refusal,
        thing=("webhook", webhook.webhook_id) if webhook else None,
    )
