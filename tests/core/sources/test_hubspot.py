"""HubSpot: its signature of version 3, a workflow's properties, and an app's events."""

from datetime import UTC, datetime
from typing import Any

import pytest

from afterword.core.sources import hubspot
from afterword.core.sources.parts import NotSigned
from tests.core.sources.calls import (
    HUBSPOT_EVENT,
    MILLISECONDS,
    NOW,
    SECRET,
    URL,
    Call,
    base64_of,
    changed,
    one,
    read,
    signed,
)

BODY = b"[]"


class TestSignature:
    """The first two are those that HubSpot's own clients are tested with."""

    @pytest.mark.parametrize(
        ("time", "signature"),
        [
            ("1693657560000", "K36dawei4A+QBNolUOqo7s91KQDWQ5MXZ/QufNYuk/Y="),
            ("1700000300000", "RnbPH7+UMKVkbV32P8bz450N4M56aPmcru1+D3kSDtw="),
        ],
    )
    def test_documented(self, time: str, signature: str) -> None:
        secret, body = "yyyyyyyy-yyyy-yyyy-yyyy-yyyyyyyyyyyy", b"{'example_field':'example_value'}"
        headers = {"x-hubspot-signature-v3": signature, "x-hubspot-request-timestamp": time}
        now = datetime.fromtimestamp(int(time) / 1000, UTC)
        hubspot.verify(secret, headers, body, now, "https://www.example.com/webhook_uri")
        with pytest.raises(NotSigned):
            hubspot.verify(secret, headers, body, now, "https://www.example.com/webhook_uri/")

    @pytest.mark.parametrize("time", ["abc", "NaN", "", "-1", "1e15"])
    def test_no_number(self, time: str) -> None:
        """A time that is no number is refused even where the signature holds: its age is unknown."""
        given = base64_of(f"POST{URL}".encode() + BODY + time.encode())
        with pytest.raises(NotSigned, match=r"no time|is missing"):
            hubspot.verify(
                SECRET, {"x-hubspot-signature-v3": given, "x-hubspot-request-timestamp": time}, BODY, NOW, URL
            )

    def test_one_character_moved_to_the_time(self) -> None:
        """Nothing stands between body and time in the signed text; an old request must not pass so."""
        old = "1790000000000"
        given = base64_of(f"POST{URL}[]{old}".encode())
        headers = {"x-hubspot-signature-v3": given, "x-hubspot-request-timestamp": f"]{old}"}
        with pytest.raises(NotSigned, match="no time"):
            hubspot.verify(SECRET, headers, b"[", NOW, URL)

    def test_older_versions_prove_nothing(self) -> None:
        headers = {"x-hubspot-signature": base64_of(BODY), "x-hubspot-signature-version": "v1"}
        with pytest.raises(NotSigned, match="X-HubSpot-Signature-v3 is missing"):
            hubspot.verify(SECRET, headers, BODY, NOW, URL)

    def test_a_wrong_signature_beside_the_secret(self) -> None:
        headers = {**signed("hubspot", BODY), "x-hubspot-signature-v3": "x", "x-afterword-secret": SECRET}
        with pytest.raises(NotSigned):
            hubspot.verify(SECRET, headers, BODY, NOW, URL)

    @pytest.mark.parametrize(
        ("url", "read_as"),
        [
            ("https://a.example/in/k?x=a%3Ab%2fc%40d", "https://a.example/in/k?x=a:b/c@d"),
            ("https://a.example/in/k?x=a%20b%26c", "https://a.example/in/k?x=a%20b%26c"),
        ],
    )
    def test_decoded_signs(self, url: str, read_as: str) -> None:
        given = base64_of(f"POST{read_as}".encode() + BODY + MILLISECONDS.encode())
        headers = {"x-hubspot-signature-v3": given, "x-hubspot-request-timestamp": MILLISECONDS}
        assert url.partition("?")[0] == read_as.partition("?")[0]
        hubspot.verify(SECRET, headers, BODY, NOW, url)

    def test_key_of_a_workflow(self) -> None:
        hubspot.verify(SECRET, {"x-afterword-secret": SECRET}, BODY, NOW, URL)
        with pytest.raises(NotSigned, match="another one"):
            hubspot.verify(SECRET, {"x-afterword-secret": "x"}, BODY, NOW, URL)


def test_deal() -> None:
    deal = {
        "event": "order.paid",
        "hs_object_id": 5,
        "order_number": "A-5",
        "amount": "120.5",
        "deal_currency_code": "EUR",
    }
    found = one(Call("hubspot", {}, deal))
    assert ("order.paid", "A-5", "deal 5", 120.5) == (found.what, found.subject, found.object_id, found.values["total"])


@pytest.mark.parametrize(
    ("members", "what", "object_id"),
    [
        ({"subscriptionType": "ticket.creation"}, "ticket.created", "987"),
        ({"subscriptionType": "contact.creation"}, "customer.created", "contact 987"),
        ({"subscriptionType": "object.creation", "objectTypeId": "0-5"}, "ticket.created", "987"),
        ({"subscriptionType": "object.creation", "objectTypeId": "0-1"}, "customer.created", "contact 987"),
        ({"subscriptionType": "object.creation", "objectTypeId": "0-2"}, "other", "0-2 987"),
        ({"propertyName": "closed_date", "propertyValue": "1795860000000"}, "ticket.solved", "987"),
        ({"propertyName": "closed_date", "propertyValue": ""}, "ticket.reopened", "987"),
        ({"subscriptionType": "ticket.propertyChange", "propertyName": "subject"}, "other", "987"),
        ({"subscriptionType": "contact.propertyChange", "propertyName": "email"}, "other", "contact 987"),
        ({"subscriptionType": "deal.propertyChange", "propertyName": "amount"}, "other", "deal 987"),
        ({"subscriptionType": "object.propertyChange", "objectTypeId": "0-3"}, "other", "deal 987"),
        ({"subscriptionType": "company.creation"}, "other", "company 987"),
    ],
)
def test_events(members: Any, what: str, object_id: str) -> None:
    """Contacts, deals, companies and tickets count from 1 each: contact 987 says nothing about ticket 987."""
    found = one(Call("hubspot", {}, [changed(HUBSPOT_EVENT, **members)]))
    assert (what, object_id, "") == (found.what, found.object_id, found.email)


@pytest.mark.parametrize(
    ("members", "object_id"),
    [
        ({"event": "ticket.solved", "hs_ticket_id": 987}, "987"),
        ({"event": "follow-up", "hs_ticket_id": 987}, "987"),
        ({"event": "customer.created", "hs_object_id": 987}, "contact 987"),
        ({"event": "order.shipped", "hs_object_id": 987}, "deal 987"),
        ({"event": "order.shipped", "order_number": "987"}, "deal 987"),
        ({"hs_object_id": 987}, "workflow 987"),
        ({"event": "customer.created", "email": "eva@example.com"}, ""),
    ],
)
def test_objects_of_workflows(members: Any, object_id: str) -> None:
    assert object_id == one(Call("hubspot", {}, members)).object_id


def test_many_at_once() -> None:
    """The id of an event is not unique by itself; a repeated delivery has another attempt number alone."""
    other = changed(HUBSPOT_EVENT, objectId=988)
    found = read(Call("hubspot", {}, [HUBSPOT_EVENT, other, changed(HUBSPOT_EVENT, attemptNumber=1)]))
    ids = [each.event_id for each in found]
    assert (3, 2, ids[0]) == (len(ids), len(set(ids)), ids[2])


def test_no_events() -> None:
    assert [] == read(Call("hubspot", {}, []))
