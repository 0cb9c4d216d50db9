"""Composes the mail to the customer of a case: the agent's words and nothing else."""

from datetime import datetime

from afterword.cases.messages.store import Message as Reply
from afterword.core.messaging import proofs
from afterword.core.messaging.addresses import is_among
from afterword.core.text import locales
from afterword.core.wire.site import Site
from afterword.kit.transport.base import EMAIL, Message
from afterword.kit.transport.mime import one_line
from afterword.kit.web import html
from afterword.sending.messages.email import SenderNotAllowed
from afterword.sending.queue.lanes.store import LaneSettings


def compose(
    reply: Reply, *, settings: LaneSettings, sender: str, answered: str | None, site: Site, now: datetime
) -> Message:
    """The mail by the pipeline's sender. `answered`: the Message-ID of the customer's last mail.

    Its own Message-ID carries a proof, by which an answer is known. Raises SenderNotAllowed.
    """
    pipeline = settings.pipeline
    if pipeline.sender_address is not None and not is_among(
        pipeline.sender_address, settings.fingerprint.sender_domains or ()
    ):
        raise SenderNotAllowed("sender_address: the organization may not send from this domain.")
    headers = {"Content-Language": reply.locale}
    if answered:
        headers |= {"In-Reply-To": answered, "References": answered}
    subject = one_line(reply.subject)
    return Message(
        item_id=proofs.reply_proof(reply.message_id, site.secret),
        organization_id=reply.organization_id,
        channel_id=EMAIL,
        recipient=reply.address,
        sender=pipeline.sender_address or sender,
        sender_name=pipeline.sender_name or settings.organization_name,
        reply_to=pipeline.reply_to,
        subject=subject,
        html=html.render(
            "email/reply.html",
            language=reply.locale,
            direction=locales.direction(reply.locale),
            subject=subject,
            paragraphs=[part.split("\n") for part in reply.body.split("\n\n")],
        ),
        text=reply.body,
        locale=reply.locale,
        composed_time=now,
        headers=headers,
    )
