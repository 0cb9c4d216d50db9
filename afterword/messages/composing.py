"""Composes the message of an item for any channel."""

from datetime import datetime

from afterword.channels.base import SMS, WEBHOOK, Message
from afterword.messages import email, sms, webhook
from afterword.messages.context import MessageContext


def compose(context: MessageContext) -> Message:
    """The message of one item for the pipeline's channel."""
    write = {SMS: sms.compose, WEBHOOK: webhook.compose}.get(context.pipeline.channel_id, email.compose)
    return write(context)


def without_texts(
    *, item_id: str, organization_id: str, channel_id: int, recipient: str, sender: str, locale: str, now: datetime
) -> Message:
    """A message without texts, for a channel that sends nothing, such as links."""
    return Message(
        item_id=item_id,
        organization_id=organization_id,
        channel_id=channel_id,
        recipient=recipient,
        sender=sender,
        sender_name=None,
        reply_to=None,
        subject="",
        html="",
        text="",
        locale=locale,
        composed_time=now,
    )
