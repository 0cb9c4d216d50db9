"""Routes of captured messages."""

from typing import Annotated, Final

from msgspec import Meta

from afterword.core.wire.lists import Rows
from afterword.kit.db import Database
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call, Routes
from afterword.sending.queue.outbox import service, store
from afterword.sending.queue.service import VALUE_SCOPES

PATH: Final = "/q/outbox"
KEPT: Final = f"Those of the last {service.KEPT_DAYS} days."

routes = Routes(tag="Queue")


class OutboxMessage(fields.Resource):
    """A message that was kept in place of being sent."""

    message_id: fields.Id
    channel_id: fields.ChannelId
    pipeline_id: fields.Id | None
    responder_channel_identifier: str
    subject: str | None
    test: bool
    created_time: fields.DateTime


OUTBOX_MESSAGES: Final = fields.listing_of(OutboxMessage)


class OutboxContent(fields.Resource):
    """A kept message with its content."""

    message_id: fields.Id
    item_id: fields.Id | None
    channel_id: fields.ChannelId
    pipeline_id: fields.Id | None
    responder_channel_identifier: str
    subject: str | None
    text: Annotated[str, Meta(description="The plain text: of an SMS all of it, of a webhook its body.")]
    html: Annotated[str | None, Meta(description="The page of a mail; null for other channels.")]
    collection_url: Annotated[str | None, Meta(description="The page to answer as the recipient; null: there is none.")]
    test: bool
    created_time: fields.DateTime


@routes.list(
    PATH,
    scope="Queue.Read",
    answer=OutboxMessage,
    listing=OUTBOX_MESSAGES,
    summary="Get the messages in the outbox",
    description=f"Messages of test items, and all where the installation has no mail server. {KEPT}",
)
async def list_messages(call: Call[None], db: Database) -> Rows[store.OutboxMessage]:
    return await store.list_captured(db, **call.caller.reach, page=call.page)


@routes.get(
    f"{PATH}/{{message_id}}",
    scope="Queue.Read",
    more_scopes=tuple(VALUE_SCOPES.values()),
    answer=OutboxContent,
    summary="Get a message in the outbox",
    description="With its texts and the address at which its recipient would answer.",
)
async def get_message(call: Call[None], db: Database) -> Answer:
    found = await service.get(db, caller=call.caller, **call.ids)
    content = service.content_of(found)
    url = call.public_pages.collection_url(found.instance_id) if found.instance_id else None
    given = {"text": content.text, "html": content.html or None, "collection_url": url}
    return Answer(OutboxContent.of(found, call.zone, **given))
