"""Metadata under strict handling: one name that nobody declared refuses its own row, and no other."""

from typing import Any

import pytest

from afterword import errors
from afterword.core.questionnaires import metadata
from afterword.queue.request_reader import checked, checked_rows
from afterword.queue.resources import QueueItemRequest
from afterword.web.fields import MetadataGroups


def request(**fields: Any) -> QueueItemRequest:
    return QueueItemRequest(responder_channel_identifier="ann@example.com", **fields)


UNDECLARED = request(metadata=MetadataGroups(questionnaire={"no_such_name": "x"}))


def test_strict() -> None:
    with pytest.raises(errors.Invalid) as caught:
        checked(UNDECLARED, declared=metadata.GLOBAL, is_strict=True)
    assert ["unknown_metadata"] == [error.code for error in caught.value.errors]


def test_lax() -> None:
    assert UNDECLARED is checked(UNDECLARED, declared=metadata.GLOBAL, is_strict=False)


def test_rows() -> None:
    wrong, plain = errors.Invalid.at("/locale", "invalid_locale", "No locale."), request()
    found = checked_rows([plain, UNDECLARED, wrong], declared=metadata.GLOBAL, is_strict=True)
    assert (plain, wrong) == (found[0], found[2])
    assert isinstance(found[1], errors.Invalid)
