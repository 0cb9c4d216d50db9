"""Calls as each system makes them: its headers, its signature, and a small body about made-up people."""

import base64
import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

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
    """One call: the kind of the source, its own headers without the signature, and the body.

    `expected`: what it says, in the members of a Happening that are not empty; no id where that is a digest.
    """

    kind: str
    headers: Headers
    document: Any
    expected: Mapping[str, Any] = field(default_factory=dict[str, Any])

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


NAMED = msgspec.json.decode((Path(__file__).parent / "calls.json").read_bytes(), type=dict[str, Call])
CALLS = tuple(NAMED.values())
SHOPIFY_ORDER = NAMED["shopify_order"].document
SHOPIFY_FULFILLMENT = NAMED["shopify_fulfillment"].document
WOO_ORDER = NAMED["woo_order"].document
MAGENTO_ORDER = NAMED["magento_order"].document
PRESTASHOP_ORDER = NAMED["prestashop_order"].document
STRIPE_EVENT = NAMED["stripe_event"].document
ZENDESK_TICKET = NAMED["zendesk_ticket"].document
ZENDESK_EVENT = NAMED["zendesk_event"].document
FRESHDESK_TICKET = NAMED["freshdesk_ticket"].document["freshdesk_webhook"]
HUBSPOT_WORKFLOW = NAMED["hubspot_workflow"].document
HUBSPOT_EVENT = NAMED["hubspot_event"].document[0]
GENERAL_EVENT = NAMED["general_event"].document


def changed(document: Mapping[str, Any], **members: Any) -> dict[str, Any]:
    return {**document, **members}
