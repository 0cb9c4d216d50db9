"""Freshdesk: the simple form of its webhooks, and how a rule says what happened."""

from typing import Any

import pytest

from tests.core.sources.calls import FRESHDESK_TICKET, Call, changed, one


def call(**members: Any) -> Call:
    return Call("freshdesk", {}, {"freshdesk_webhook": changed(FRESHDESK_TICKET, **members)})


def test_without_its_envelope_and_in_older_words() -> None:
    found = one(
        Call("freshdesk", {}, {"ticket_id": "7", "requester_email": "tom@example.com", "requester_name": "Tom"})
    )
    assert ("7", "tom@example.com", "Tom") == (found.subject, found.email, found.first_name)


@pytest.mark.parametrize(
    ("trigger", "status", "what"),
    [
        ("ticket.reopened", "Resolved", "ticket.reopened"),
        ("{ticket_action:created}", "Open", "ticket.created"),
        ("{status:{from:Open,to:Closed}}", "Closed", "ticket.solved"),
        ("{status:{from:Resolved,to:Closed}}", "Closed", "other"),
        ("{status:{from:Resolved,to:Open}}", "Open", "ticket.reopened"),
        ("{priority:{from:Low,to:High}}", "Open", "other"),
        ("", "Closed", "ticket.solved"),
        ("", "Pending", "other"),
    ],
)
def test_whats(trigger: str, status: str, what: str) -> None:
    assert what == one(call(triggered_event=trigger, ticket_status=status)).what


def test_repeated_or_not() -> None:
    assert one(call()).event_id == one(call()).event_id
    assert one(call()).event_id != one(call(ticket_status="Open")).event_id
