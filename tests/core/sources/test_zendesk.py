"""Zendesk: what a trigger posts, events of tickets, and the signature over time and body."""

import json
import re
from datetime import timedelta

import pytest

from afterword.core.sources import paths, zendesk
from afterword.core.sources.parts import NotSigned
from afterword.errors import Invalid
from tests.core.sources.calls import (
    NOW,
    SECRET,
    URL,
    ZENDESK_EVENT,
    ZENDESK_TICKET,
    Call,
    base64_of,
    changed,
    one,
    read,
)

TESTING = "dGhpc19zZWNyZXRfaXNfZm9yX3Rlc3Rpbmdfb25seQ=="  # the documented secret of webhooks that are tried out


def test_secret_of_tries() -> None:
    """The secret is taken as its text: it is not base64 of another."""
    body, text = b'{"event":"ticket.updated","id":123}', "2021-03-25T05:09:27Z"
    headers = {
        "x-zendesk-webhook-signature": "S/RDdU2ERmj7LHDDoWJ2onPYH+t7/f2+LTM4dL7UiLM=",
        "x-zendesk-webhook-signature-timestamp": text,
    }
    then = paths.time_of(text)
    assert then is not None
    zendesk.verify(TESTING, headers, body, then, URL)
    with pytest.raises(NotSigned, match="five minutes"):
        zendesk.verify(TESTING, headers, body, then + timedelta(seconds=301), URL)


def test_signed_without_a_time() -> None:
    headers = {
        "x-zendesk-webhook-signature": base64_of(b"soon{}"),
        "x-zendesk-webhook-signature-timestamp": "soon",
    }
    with pytest.raises(NotSigned, match="no time"):
        zendesk.verify(SECRET, headers, b"{}", NOW, URL)


def test_template() -> None:
    known = {"{{ticket.updated_at_with_timestamp}}": "2026-11-29T11:58Z", "{{ticket.id}}": "35436"}
    filled = json.loads(
        re.sub(r"\{\{[^}]+\}\}", lambda found: known.get(found[0], found[0][2:-2]), zendesk.KIND.template)
    )
    assert ZENDESK_TICKET["ticket"].keys() == filled["ticket"].keys()
    assert ZENDESK_TICKET["requester"].keys() == filled["requester"].keys()
    assert "ticket.solved" == one(Call("zendesk", {}, filled)).what


@pytest.mark.parametrize(
    ("event", "what"),
    [
        ("ticket.created", "ticket.created"),
        ("ticket.closed", "ticket.solved"),
        ("ticket.reopened", "ticket.reopened"),
        ("ticket.merged", "other"),
        ("", "other"),
    ],
)
def test_words_of_triggers(event: str, what: str) -> None:
    assert what == one(Call("zendesk", {}, changed(ZENDESK_TICKET, event=event))).what


def test_event_without_a_ticket() -> None:
    with pytest.raises(Invalid, match=r"ticket\.id"):
        read(Call("zendesk", {}, {"event": "ticket.solved"}))


@pytest.mark.parametrize("document", [{}, [], {"foo": "bar"}, {"ticket": {"subject": "A test"}}])
def test_button_to_test_a_webhook(document: object) -> None:
    """A body without an event is listed, and asks nobody."""
    found = one(Call("zendesk", {"x-zendesk-webhook-invocation-id": "01G"}, document))
    assert ("other", "ticket", "01G", "") == (found.what, found.name, found.event_id, found.object_id)


@pytest.mark.parametrize(
    ("before", "after", "what"),
    [
        ("OPEN", "SOLVED", "ticket.solved"),
        ("PENDING", "CLOSED", "ticket.solved"),
        ("SOLVED", "CLOSED", "other"),
        ("SOLVED", "OPEN", "ticket.reopened"),
        ("NEW", "OPEN", "other"),
    ],
)
def test_events(before: str, after: str, what: str) -> None:
    found = one(Call("zendesk", {}, changed(ZENDESK_EVENT, event={"previous": before, "current": after})))
    assert (what, "5158", "") == (found.what, found.subject, found.email)
    assert ("cbe4028c-7239-495d-b020-f22348516046", "parcel, late") == (found.event_id, found.values["tags"])


def test_created_event() -> None:
    assert (
        "ticket.created" == one(Call("zendesk", {}, changed(ZENDESK_EVENT, type="zen:event-type:ticket.created"))).what
    )


def test_name_in_one_piece() -> None:
    found = one(Call("zendesk", {}, changed(ZENDESK_TICKET, requester={"name": "Ann Lee", "email": "ann@example.com"})))
    assert ("Ann", "Lee") == (found.first_name, found.last_name)


@pytest.mark.parametrize("sort", ["user", "organization", "article"])
def test_ids_that_are_no_tickets(sort: str) -> None:
    """User 5158 says nothing about ticket 5158."""
    other = changed(ZENDESK_EVENT, type=f"zen:event-type:{sort}.created", detail={"id": "5158", "email": "a@b.example"})
    assert f"{sort} 5158" == one(Call("zendesk", {}, other)).object_id
    assert "5158" == one(Call("zendesk", {}, ZENDESK_EVENT)).object_id
