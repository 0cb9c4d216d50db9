"""Composes what the webhook channel posts for one item: a JSON document with all that a sender of one's own needs."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final, Protocol

import msgspec

from afterword.channels.base import Message
from afterword.channels.mime import one_line
from afterword.core.messaging import placeholders
from afterword.core.wire import times
from afterword.core.wire.site import Site
from afterword.messages import email
from afterword.messages.email import Instance, Occasion
from afterword.questionnaires.store import Version

TYPE: Final = "queue_item.dispatch"


class Pipeline(email.Pipeline, Protocol):
    """What a posting needs of a pipeline; the whole record will do."""

    @property
    def questionnaire_id(self) -> str:
        """What is asked."""
        ...

    @property
    def target_url(self) -> str | None:
        """Where it is posted to."""
        ...


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
    """The posting of one item, in the instance's locale; its members are those of a mail.

    Equal in every attempt but for `timestamp`: a receiver tells a repetition by `item_id`, which is the webhook-id too.
    """
    del version
    unsubscribe_url = None if unsubscribe_id is None else site.unsubscribe_url(unsubscribe_id)
    fixed = {
        "organization": one_line(organization_name),
        "questionnaire": one_line(questionnaire_name),
        "link": site.collection_url(instance.instance_id),
        "unsubscribe_link": unsubscribe_url or "",
        "item.recipient": recipient,
    }
    subject, body = _texts(pipeline, instance, occasion, fixed=fixed, responder=responder_metadata, now=now)
    data = {
        "item_id": item_id,
        "pipeline_id": pipeline.pipeline_id,
        "questionnaire_id": pipeline.questionnaire_id,
        "questionnaire_instance_id": instance.instance_id,
        "external_reference": occasion.external_reference,
        "send_time": times.format_optional(occasion.send_time),
        "responder_channel_identifier": recipient,
        "locale": instance.locale,
        "valid_until": times.format_optional(email.valid_until(instance, now)),
        "collection_url": site.collection_url(instance.instance_id),
        "collection_url_short": site.short_url(instance.short_code),
        "unsubscribe_url": unsubscribe_url,
        "organization": organization_name,
        "postal_address": postal_address,
        "questionnaire": questionnaire_name,
        "subject": subject or None,
        "body": body or None,
        "metadata": {"responder": dict(responder_metadata), "questionnaire": dict(instance.metadata)},
    }
    return Message(
        item_id=item_id,
        organization_id=pipeline.organization_id,
        channel_id=pipeline.channel_id,
        recipient=recipient,
        sender=sender,
        sender_name=pipeline.sender_name,
        reply_to=pipeline.reply_to,
        subject=subject,
        html="",
        text=_encoded(data, now),
        locale=instance.locale,
        composed_time=now,
        target_url=pipeline.target_url,
    )


def _texts(
    pipeline: Pipeline,
    instance: Instance,
    occasion: Occasion,
    *,
    fixed: Mapping[str, str],
    responder: Mapping[str, str],
    now: datetime,
) -> tuple[str, str]:
    """Subject and body as their author wrote them, filled; empty where there is none."""
    authored = email.authored(pipeline, instance.locale, occasion.reminder_number)
    subject, body = (placeholders.parse(text or "") for text in authored)
    own = email.item_values(
        subject.names | body.names,
        occasion=occasion,
        recipient=fixed["item.recipient"],
        locale=instance.locale,
        valid_until=email.valid_until(instance, now),
        now=now,
    )
    values = placeholders.values_of(fixed={**fixed, **own}, responder=responder, questionnaire=instance.metadata)
    return one_line(subject.fill(values)), body.fill(values)


def _encoded(data: Mapping[str, object], now: datetime) -> str:
    return msgspec.json.encode({"type": TYPE, "timestamp": times.format_time(now), "data": data}).decode()
