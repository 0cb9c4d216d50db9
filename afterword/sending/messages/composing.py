"""Composes the message of an item for any channel."""

from afterword.kit.transport.base import LINK, SMS, WEBHOOK, Message
from afterword.sending.messages import email, sms, webhook
from afterword.sending.messages.context import MessageContext

_COMPOSERS = {SMS: sms.compose, WEBHOOK: webhook.compose, LINK: MessageContext.message}


def authored_texts(context: MessageContext) -> tuple[str | None, str | None]:
    """The authored subject and text with their values, without the channel's frame; None where there is none."""
    is_sms, pages, instance = context.pipeline.channel_id == SMS, context.pages, context.instance
    link = pages.short_url(instance.short_code) if is_sms else pages.collection_url(instance.instance_id)
    subject, body = email.authored_texts(context, link=link)
    return subject, sms.text_of(context) if is_sms else body


def compose(context: MessageContext) -> Message:
    return _COMPOSERS.get(context.pipeline.channel_id, email.compose)(context)
