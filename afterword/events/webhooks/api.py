"""The HTTP routes of webhook endpoints."""

from typing import Any, Final

from afterword.core.wire.lists import Rows
from afterword.db import Database
from afterword.events.webhooks import service, store
from afterword.events.webhooks.resources import Webhook, WebhookRequest, WebhookUpdate
from afterword.web.operations import Answer, Call, Routes

routes = Routes(tag="Webhooks")

PATH: Final = "/webhook/{webhook_id}"
TARGET: Final = (
    "`target_url` is https at a public address. `event_types` are types, `prefix.*` or `*`; without them it gets "
    "`questionnaire_instance.completed` alone. Your token needs the Read scope of every event type that it gets."
)


@routes.list("/webhook", scope="Webhook.Read", answer=Webhook, shape="array", summary="Get all webhooks")
async def list_webhooks(call: Call[None], db: Database) -> Rows[service.Webhook]:
    return await store.list_webhooks(db, **call.caller.reach, page=call.page)


@routes.post(
    "/webhook",
    scope="Webhook.Create",
    body=WebhookRequest,
    answer=Webhook,
    summary="Create new webhook",
    description=f"At most 50 an organization. {TARGET}",
)
async def create_webhook(call: Call[WebhookRequest], db: Database) -> Answer:
    made, secret = await service.create(db, caller=call.caller, columns=call.body.named(), site=call.site, now=call.now)
    shown = Webhook.of(made, call.zone, secret=secret)
    return Answer(shown, version=made.version, location=f"/webhook/{made.webhook_id}")


@routes.get(PATH, scope="Webhook.Read", answer=Webhook, summary="Get Webhook")
async def get_webhook(call: Call[None], db: Database) -> service.Webhook:
    return await service.get(db, caller=call.caller, **call.ids)


@routes.patch(
    PATH, scope="Webhook.Update", body=WebhookUpdate, answer=Webhook, summary="Update Webhook", description=TARGET
)
async def update_webhook(call: Call[WebhookUpdate], db: Database) -> service.Webhook:
    return await service.update(
        db,
        caller=call.caller,
        **call.ids,
        changes=call.body.named(),
        site=call.site,
        now=call.now,
        expect=call.check_version,
    )


@routes.delete(
    PATH,
    scope="Webhook.Delete",
    summary="Delete Webhook",
    description="Events that were not delivered yet are never delivered.",
)
async def delete_webhook(call: Call[None], db: Database) -> None:
    await service.delete(db, caller=call.caller, **call.ids, now=call.now, expect=call.check_version)


@routes.post(
    f"{PATH}/secret",
    scope="Webhook.Update",
    answer=Webhook,
    status=200,
    summary="Renew secret of webhook",
    description="For 24 hours every delivery is signed with both secrets.",
)
async def renew_webhook_secret(call: Call[Any], db: Database) -> Answer:
    renewed, secret = await service.renew_secret(db, caller=call.caller, **call.ids, site=call.site, now=call.now)
    return Answer(Webhook.of(renewed, call.zone, secret=secret), version=renewed.version)
