"""Composes the message of an item for any channel."""

from afterword.channels.base import LINK, SMS, WEBHOOK, Message
from afterword.messages import email, sms, webhook
from afterword.messages.context import MessageContext

_COMPOSERS = {SMS: sms.compose, WEBHOOK: webhook.compose, LINK: MessageContext.message}


def compose(context: MessageContext) -> Message:
    return _COMPOSERS.get(context.pipeline.channel_id, email.compose)(context)
