"""The labels that kinds share, and a happening of which little is known."""

import pytest

from afterword.core.sources.parts import ORDER_WHATS, TICKET_WHATS, Happening, labels_of


def test_an_unknown_label() -> None:
    with pytest.raises(KeyError):
        labels_of("total", "nope")


def test_labels() -> None:
    assert {"total": "Order total", "tags": "Tags"} == labels_of("total", "tags")


def test_little_is_needed() -> None:
    found = Happening(event_id="1", what="other", name="ping")
    assert ("", "", {}, False, None) == (found.email, found.object_id, found.values, found.is_test, found.time)


def test_orders_and_tickets_are_apart() -> None:
    assert set() == set(ORDER_WHATS) & set(TICKET_WHATS)
