"""Waits after an unknown outcome, the address of a schedule, and metadata under strict handling."""

from typing import Any

import pytest

from afterword import errors
from afterword.core.questionnaires import metadata
from afterword.kit.transport.base import LINK, OUTBOX, WEBHOOK
from afterword.kit.web.fields import MetadataGroups
from afterword.sending.queue.records import QueueItemRequest
from afterword.sending.queue.scheduler import RESEND_AFTER_SECONDS, address_errors, checked, checked_rows
from tests.sending.queue.conftest import EMAIL, SMS


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


def request(**fields: Any) -> QueueItemRequest:
    return QueueItemRequest(responder_channel_identifier="ann@example.com", **fields)


UNDECLARED = request(metadata=MetadataGroups(questionnaire={"no_such_name": "x"}))


def test_undeclared_metadata_strict() -> None:
    with pytest.raises(errors.Invalid) as caught:
        checked(UNDECLARED, metadata.GLOBAL)
    assert ["unknown_metadata"] == [error.code for error in caught.value.errors]


def test_undeclared_metadata_lax() -> None:
    assert UNDECLARED is checked(UNDECLARED, None)


def test_undeclared_metadata_of_rows() -> None:
    """One name that nobody declared refuses its own row, and no other."""
    wrong, plain = errors.Invalid.at("/locale", "invalid_locale", "No locale."), request()
    found = checked_rows([plain, UNDECLARED, wrong], metadata.GLOBAL)
    assert (plain, wrong) == (found[0], found[2])
    assert isinstance(found[1], errors.Invalid)
