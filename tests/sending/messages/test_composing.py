"""Each channel has its composer; a channel without one of its own gets the mail."""

import pytest

from afterword.kit.transport.base import EMAIL, LINK, OUTBOX, SMS, WEBHOOK
from afterword.sending.messages import composing
from tests.sending.messages.test_email import Pipeline, context_of
from tests.sending.messages.test_email import fresh_cache as fresh_cache  # noqa: PLC0414  a fixture


@pytest.mark.parametrize(
    ("channel_id", "has_html", "begins"),
    [(EMAIL, True, "Northwind"), (OUTBOX, True, "Northwind"), (SMS, False, "Northwind"), (WEBHOOK, False, '{"type":'),
     (LINK, False, "")],
)  # fmt: skip
def test_of_each_channel(channel_id: int, begins: str, *, has_html: bool) -> None:
    message = composing.compose(context_of(pipeline=Pipeline(channel_id=channel_id)))
    assert (channel_id, "i" * 22, has_html) == (message.channel_id, message.item_id, bool(message.html))
    assert begins in message.text[:80]
