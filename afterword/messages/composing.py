"""Which composer writes the message of a channel: all take the same, and all give a Message; and which has no texts."""

from collections.abc import Mapping
from datetime import datetime

from afterword.channels.base import SMS, WEBHOOK, Message
from afterword.core.wire.site import Site
from afterword.messages import email, sms, webhook
from afterword.messages.email import Instance, Occasion
from afterword.messages.webhook import Pipeline
from afterword.questionnaires.store import Version


def compose(
    *,
    item_id: str,
    recipient: str,
    pipeline: Pipeline,
    version: Version,
    instance: Instance,
    responder_metadata: Mapping[str, str],
    unsubscribe_id: str | None,
    organization_name: str,
    postal_address: str | None,
    questionnaire_name: str,
    sender: str,
    site: Site,
    now: datetime,
    occasion: Occasion,
) -> Message:
    """The message of one item for the pipeline's channel; links, the outbox and mail read alike."""
    write = {SMS: sms.compose, WEBHOOK: webhook.compose}.get(pipeline.channel_id, email.compose)
    return write(
        item_id=item_id,
        recipient=recipient,
        pipeline=pipeline,
        version=version,
        instance=instance,
        responder_metadata=responder_metadata,
        unsubscribe_id=unsubscribe_id,
        organization_name=organization_name,
        postal_address=postal_address,
        questionnaire_name=questionnaire_name,
        sender=sender,
        site=site,
        now=now,
        occasion=occasion,
    )


def unread(
    *, item_id: str, organization_id: str, channel_id: int, recipient: str, sender: str, locale: str, now: datetime
) -> Message:
    """A message for a channel that sends nothing, as links do: whose it is, without texts that nobody would read."""
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
