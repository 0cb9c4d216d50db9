"""Calls as each system makes them: its headers, its signature, and a small body about made-up people."""

import base64
import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from afterword.core.sources import KINDS
from afterword.core.sources.parts import Happening, SourceKind

SECRET = "a secret of the tests"
NOW = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
URL = "https://feedback.example.com/in/k7"
SECONDS = str(int(NOW.timestamp()))
MILLISECONDS = f"{SECONDS}000"
Headers = Mapping[str, str]


def base64_of(content: bytes, key: bytes = SECRET.encode()) -> str:
    return base64.b64encode(hmac.digest(key, content, hashlib.sha256)).decode()


def standard(body: bytes, *, time: str = SECONDS) -> dict[str, str]:
    signed = f"msg_1.{time}.".encode() + body
    return {"webhook-id": "msg_1", "webhook-timestamp": time, "webhook-signature": f"v1,{base64_of(signed)}"}


def signed(kind: str, body: bytes, time: datetime = NOW) -> dict[str, str]:
    """The headers that prove a call of this kind."""
    seconds = str(int(time.timestamp()))
    text = time.strftime("%Y-%m-%dT%H:%M:%SZ")
    digest = hmac.digest(SECRET.encode(), f"{seconds}.".encode() + body, hashlib.sha256).hex()
    called = f"POST{URL}".encode() + body + f"{seconds}000".encode()
    return {
        "shopify": {"x-shopify-hmac-sha256": base64_of(body)},
        "woocommerce": {"x-wc-webhook-signature": base64_of(body)},
        "stripe": {"stripe-signature": f"t={seconds},v1={digest}"},
        "zendesk": {
            "x-zendesk-webhook-signature": base64_of(text.encode() + body),
            "x-zendesk-webhook-signature-timestamp": text,
        },
        "hubspot": {"x-hubspot-signature-v3": base64_of(called), "x-hubspot-request-timestamp": f"{seconds}000"},
        "prestashop": standard(body, time=seconds),
        "general": standard(body, time=seconds),
    }.get(kind, {"x-afterword-secret": SECRET})


@dataclass(frozen=True)
class Call:
    """One call: the kind of the source, its own headers without the signature, and the body."""

    kind: str
    headers: Headers
    document: Any

    @property
    def body(self) -> bytes:
        return json.dumps(self.document, ensure_ascii=False).encode()


SETTINGS = {
    "event": "type",
    "events": "parcel.delivered = order.delivered",
    "event_id": "id",
    "time": "at",
    "subject": "order.number | order.id",
    "object_id": "order.id",
    "email": "order.customer.mails[0]",
    "first_name": "order.customer.first",
    "values": "total = order.total\nexpress = order.express\nregion = order.region",
}


def kind_of(name: str) -> SourceKind:
    """The kind as a source has it."""
    kind = KINDS[name]
    return kind.configure(SETTINGS) if kind.configure else kind


def read(call: Call) -> Sequence[Happening]:
    return kind_of(call.kind).read(call.headers, call.body)


def one(call: Call) -> Happening:
    (found,) = read(call)
    return found


SHOPIFY_ORDER = {
    "id": 820982911946154508,
    "name": "#1041",
    "email": "maria@example.com",
    "created_at": "2026-11-20T09:30:00+02:00",
    "updated_at": "2026-11-20T09:31:00+02:00",
    "customer_locale": "el-GR",
    "currency": "EUR",
    "total_price": "73.75",
    "current_total_price": "73.75",
    "payment_gateway_names": ["shopify_payments", "gift_card"],
    "source_name": "web",
    "tags": "wholesale, first",
    "test": False,
    "phone": None,
    "customer": {"id": 7, "first_name": "Μαρία", "last_name": "Παππά", "email": "other@example.com"},
    "shipping_address": {"first_name": "Maria", "country_code": "GR", "phone": "690 123 4567"},
    "line_items": [{"id": 1, "quantity": 2, "price": "30.00"}, {"id": 2, "quantity": 1, "price": "13.75"}],
}
SHOPIFY_FULFILLMENT = {
    "id": 123456,
    "order_id": 820982911946154508,
    "status": "success",
    "shipment_status": "delivered",
    "tracking_company": "ACS",
    "created_at": "2026-11-22T09:30:00+02:00",
    "updated_at": "2026-11-24T10:00:00+02:00",
    "email": "maria@example.com",
    "destination": {"first_name": "Maria", "last_name": "Pappa", "phone": "+306901234567", "country_code": "GR"},
    "line_items": [{"id": 1, "quantity": 3}],
    "name": "#1041.1",
}
WOO_ORDER = {
    "id": 727,
    "number": "727",
    "status": "completed",
    "currency": "EUR",
    "date_created_gmt": "2026-11-20T07:30:00",
    "date_modified_gmt": "2026-11-24T08:00:00",
    "total": "29.35",
    "created_via": "checkout",
    "payment_method": "bacs",
    "payment_method_title": "Bank transfer",
    "billing": {
        "first_name": "Niko",
        "last_name": "Berg",
        "country": "DE",
        "email": "niko@example.com",
        "phone": "0151 23456789",
    },
    "shipping": {"first_name": "Niko", "country": "AT"},
    "line_items": [{"id": 315, "quantity": 2}, {"id": 316, "quantity": 1}],
    "refunds": [],
}
MAGENTO_ORDER = {
    "entity_id": "12",
    "increment_id": "000000012",
    "status": "complete",
    "state": "complete",
    "updated_at": "2026-11-24 08:00:00",
    "customer_email": "ines@example.com",
    "customer_firstname": "In&eacute;s",
    "customer_lastname": "D&#039;Arc",
    "telephone": "612 34 56 78",
    "country_id": "ES",
    "grand_total": "48.5000",
    "total_refunded": "",
    "order_currency_code": "EUR",
    "total_qty_ordered": "3.0000",
    "store_id": "1",
}
PRESTASHOP_ORDER = {
    "time": "2026-11-24T09:00:00+01:00",
    "order": {"id": 31, "reference": "XKBKNABJK", "total_paid": "61.80", "payment": "Bank wire"},
    "state": {"id": 5, "name": "Livré", "paid": True, "shipped": True, "role": "delivered"},
    "customer": {"email": "luc@example.com", "firstname": "Luc", "lastname": "Petit"},
    "phone": "06 12 34 56 78",
    "country": "FR",
    "currency": "EUR",
    "locale": "fr-FR",
    "shop": "Atelier",
    "items": 2,
}
STRIPE_EVENT = {
    "id": "evt_1",
    "object": "event",
    "created": 1795860000,
    "livemode": True,
    "type": "checkout.session.completed",
    "data": {
        "object": {
            "id": "cs_1",
            "object": "checkout.session",
            "amount_total": 2198,
            "currency": "eur",
            "client_reference_id": "1041",
            "payment_intent": "pi_1",
            "payment_status": "paid",
            "payment_method_types": ["card"],
            "locale": "auto",
            "customer_details": {
                "email": "ann@example.com",
                "name": "Ann Mary Lee",
                "phone": "+441632960001",
                "address": {"country": "GB"},
            },
        }
    },
}
ZENDESK_TICKET = {
    "event": "ticket.solved",
    "time": "2026-11-29T11:58Z",
    "ticket": {
        "id": "35436",
        "subject": "Where is my parcel?",
        "status": "Solved",
        "group": "Delivery",
        "priority": "High",
        "type": "Question",
        "agent": "Omar Idris",
        "brand": "Shop",
        "channel": "Web form",
        "tags": "parcel late",
    },
    "requester": {
        "email": "ann@example.com",
        "phone": "",
        "first_name": "Ann",
        "last_name": "Lee",
        "locale": "en-GB",
    },
}
ZENDESK_EVENT = {
    "type": "zen:event-type:ticket.status_changed",
    "account_id": 22129848,
    "id": "cbe4028c-7239-495d-b020-f22348516046",
    "time": "2026-11-29T11:58:00Z",
    "zendesk_event_version": "2022-11-06",
    "subject": "zen:ticket:5158",
    "detail": {
        "id": "5158",
        "subject": "Where is my parcel?",
        "status": "SOLVED",
        "group_id": "77",
        "assignee_id": "12",
        "tags": ["parcel", "late"],
        "via": {"channel": "web_service"},
    },
    "event": {"current": "SOLVED", "previous": "OPEN"},
}
FRESHDESK_TICKET = {
    "freshdesk_webhook": {
        "ticket_id": 11,
        "ticket_subject": "Broken cup",
        "ticket_status": "Resolved",
        "ticket_priority": "Low",
        "ticket_group_name": "Returns",
        "ticket_agent_name": "Rita Roy",
        "ticket_source": "Email",
        "ticket_tags": "cup",
        "ticket_contact_name": "Tom Old",
        "ticket_contact_email": "tom@example.com",
        "ticket_contact_phone": "+14155550100",
        "triggered_event": "{status:{from:Open,to:Resolved}}",
    }
}
HUBSPOT_WORKFLOW = {
    "event": "ticket.solved",
    "hs_ticket_id": "987",
    "subject": "Late parcel",
    "hs_pipeline_stage": "4",
    "hs_ticket_priority": "HIGH",
    "closed_date": "1795860000000",
    "email": "eva@example.com",
    "firstname": "Eva",
    "lastname": "Holm",
    "phone": "+4520123456",
    "hs_language": "da",
}
HUBSPOT_EVENT = {
    "eventId": 100,
    "subscriptionId": 12,
    "portalId": 33,
    "appId": 1160452,
    "occurredAt": 1795860000000,
    "subscriptionType": "ticket.creation",
    "attemptNumber": 0,
    "objectId": 987,
    "changeSource": "CRM",
}
GENERAL_EVENT = {
    "id": "e-1",
    "type": "parcel.delivered",
    "at": "2026-11-29T10:00:00Z",
    "order": {
        "id": 9,
        "number": "W-9",
        "total": "12.50",
        "express": True,
        "customer": {"mails": ["jo@example.com"], "first": "Jo"},
    },
}
CALLS = (
    Call("shopify", {"x-shopify-topic": "orders/create", "x-shopify-webhook-id": "w-1"}, SHOPIFY_ORDER),
    Call("shopify", {"x-shopify-topic": "fulfillments/update", "x-shopify-webhook-id": "w-2"}, SHOPIFY_FULFILLMENT),
    Call(
        "woocommerce",
        {"x-wc-webhook-topic": "order.updated", "x-wc-webhook-source": "https://shop.example.com/"},
        WOO_ORDER,
    ),
    Call("magento", {}, MAGENTO_ORDER),
    Call("prestashop", {}, PRESTASHOP_ORDER),
    Call("stripe", {}, STRIPE_EVENT),
    Call("zendesk", {}, ZENDESK_TICKET),
    Call("zendesk", {}, ZENDESK_EVENT),
    Call("freshdesk", {}, FRESHDESK_TICKET),
    Call("hubspot", {}, HUBSPOT_WORKFLOW),
    Call("hubspot", {}, [HUBSPOT_EVENT]),
    Call("general", {}, GENERAL_EVENT),
)


def changed(document: Mapping[str, Any], **members: Any) -> dict[str, Any]:
    return {**document, **members}
