"""How long an item of each channel waits after an unknown outcome, and the address that its schedule has."""

import pytest

from afterword.channels.base import LINK, OUTBOX, WEBHOOK
from afterword.queue.scheduler import RESEND_AFTER_SECONDS, address_errors
from tests.queue.conftest import EMAIL, SMS


def test_resending_after_an_unknown_outcome() -> None:
    """Mail after ten minutes, receivers that keep the id at once, SMS never."""
    assert {EMAIL: 600, SMS: None, WEBHOOK: 1, LINK: 1, OUTBOX: 1} == dict(RESEND_AFTER_SECONDS)


@pytest.mark.parametrize(
    ("channel_id", "document", "codes"),
    [
        (EMAIL, {"responder_channel_identifier": "nobody"}, ["invalid_address"]),
        (SMS, {"responder_channel_identifier": "ann@example.com"}, ["invalid_address"]),
        (EMAIL, {"responder_channel_identifier": "ann@example.com"}, []),
        (EMAIL, {}, []),  # that it is missing is told by its reader
        (EMAIL, {"responder_channel_identifier": 7}, []),
    ],
)
def test_the_address_of_a_record_with_other_errors(
    channel_id: int, document: dict[str, object], codes: list[str]
) -> None:
    assert codes == [error.code for error in address_errors(channel_id, document, locale=None)]
