"""Composes the JSON document of the webhook channel, for organizations that send themselves."""

from typing import Final

import msgspec

from afterword.core.wire import times
from afterword.kit.transport.base import Message
from afterword.sending.messages import email
from afterword.sending.messages.context import MessageContext

TYPE: Final = "queue_item.dispatch"


def compose(context: MessageContext) -> Message:
    """The webhook message of one item, in the instance's locale.

    Equal in every attempt except `timestamp`; receivers recognize a repetition by `item_id`, also sent as webhook-id.
    """
    pipeline, instance, pages = context.pipeline, context.instance, context.pages
    link = pages.collection_url(instance.instance_id)
    subject, body = email.authored_texts(context, link=link)
    data = {
        "item_id": context.item_id,
        "pipeline_id": pipeline.pipeline_id,
        "questionnaire_id": pipeline.questionnaire_id,
        "questionnaire_instance_id": instance.instance_id,
        "external_reference": context.external_reference,
        "send_time": times.format_optional(context.send_time),
        "responder_channel_identifier": context.recipient,
        "locale": instance.locale,
        "valid_until": times.format_optional(context.valid_until),
        "collection_url": link,
        "collection_url_short": pages.short_url(instance.short_code),
        "unsubscribe_url": context.unsubscribe_url,
        "organization": context.organization_name,
        "postal_address": context.postal_address,
        "questionnaire": context.questionnaire_name,
        "subject": subject or None,
        "body": body or None,
        "metadata": {"responder": dict(context.responder_metadata), "questionnaire": dict(instance.metadata)},
    }
    return context.message(
        sender_name=pipeline.sender_name,
        reply_to=pipeline.reply_to,
        subject=subject or "",
        text=msgspec.json.encode({"type": TYPE, "timestamp": times.format_time(context.now), "data": data}).decode(),
        target_url=pipeline.target_url,
    )
