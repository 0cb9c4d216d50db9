"""The mail of a case to its customer: by the pipeline's sender, and known again by its answer."""

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import cast

import pytest

from afterword.cases.messages import Message, compose
from afterword.core.messaging.reply_text import replied_to
from afterword.core.wire.site import Site
from afterword.sending.messages.composing import SenderNotAllowed
from afterword.sending.queue.lanes import LaneSettings

NOW = datetime(2026, 11, 28, 12, tzinfo=UTC)
SITE = Site("https://ask.example", b"k" * 32)
REPLY = Message(
    organization_id="o", message_id="m" * 22, alert_instance_id="c", incoming=False, address="ann@example.org",
    subject="Your\nparcel", body="Sorry.\n\nIt is on its way.", locale="en", key=None, state="waiting",
    created_time=NOW,
)  # fmt: skip


def settings_of(sender: str | None, domains: tuple[str, ...] = ()) -> LaneSettings:
    pipeline = SimpleNamespace(sender_address=sender, sender_name="Shop", reply_to=None)
    fingerprint = SimpleNamespace(sender_domains=domains)
    settings = SimpleNamespace(pipeline=pipeline, fingerprint=fingerprint, organization_name="Demo")
    return cast("LaneSettings", settings)


def test_a_sender_of_somebody_else() -> None:
    settings = settings_of("shop@other.example", ("shop.example",))
    with pytest.raises(SenderNotAllowed):
        compose(REPLY, settings=settings, sender="no-reply@ask.example", answered=None, site=SITE, now=NOW)


@pytest.mark.parametrize("answered", [None, "<a@example.org>"])
def test_mail(answered: str | None) -> None:
    mail = compose(
        REPLY, settings=settings_of(None), sender="no-reply@ask.example", answered=answered, site=SITE, now=NOW
    )
    assert ("no-reply@ask.example", "Shop", "ann@example.org") == (mail.sender, mail.sender_name, mail.recipient)
    assert REPLY.message_id == replied_to(mail.item_id, SITE.secret)
    assert "\n" not in (mail.subject or "")
    assert REPLY.body == mail.text
    assert "<p>It is on its way.</p>" in (mail.html or "").replace("\n", "")
    assert [answered, answered] == [mail.headers.get(name) for name in ("In-Reply-To", "References")]
