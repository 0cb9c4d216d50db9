"""Freshdesk: the simple form of its webhooks, and how a rule says what happened."""

from typing import Any

import pytest

from afterword.errors import Invalid
from tests.core.sources.calls import FRESHDESK_TICKET, Call, changed, one, read

TICKET = FRESHDESK_TICKET["freshdesk_webhook"]


def call(**members: Any) -> Call:
    return Call("freshdesk", {}, {"freshdesk_webhook": changed(TICKET, **members)})


@pytest.mark.parametrize(
    ("document", "pointer"),
    [
        ({"freshdesk_webhook": {}}, "/ticket_id"),
        ({}, "/ticket_id"),
        ({"ticket_id": 1, "ticket_status": [2]}, "/ticket_status"),
    ],
)
def test_wrong_shape(document: Any, pointer: str) -> None:
    with pytest.raises(Invalid) as caught:
        read(Call("freshdesk", {}, document))
    assert pointer in {each.pointer for each in caught.value.errors}


def test_no_object_inside() -> None:
    with pytest.raises(Invalid):
        read(Call("freshdesk", {}, {"freshdesk_webhook": "x"}))


def test_ticket() -> None:
    found = one(call())
    assert ("ticket.solved", "ticket Resolved", "11") == (found.what, found.name, found.subject)
    assert ("tom@example.com", "+14155550100", "Tom", "Old") == (
        found.email,
        found.phone,
        found.first_name,
        found.last_name,
    )
    assert {
        "ticket_subject": "Broken cup",
        "status": "Resolved",
        "priority": "Low",
        "group": "Returns",
        "agent": "Rita Roy",
        "channel": "Email",
        "tags": "cup",
    } == found.values


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
