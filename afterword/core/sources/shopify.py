"""Shopify: topics of orders, fulfillments and refunds (https://shopify.dev/docs/apps/build/webhooks).

A fulfillment has number and address; a refund, or an event of a fulfillment, has the id of the order alone.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from afterword.core.sources import paths, signatures
from afterword.core.sources.parts import ORDER_WHATS, SIGNING_SECRET, Happening, SourceKind, labels_of

_PATHS: Final = paths.PATHS["shopify"]
_PART: Final = re.compile(r"(?:\.|-F)\d+\Z")  # #1041.1 and #1041-F1 are fulfillments of #1041


def read(headers: Mapping[str, str], body: bytes) -> Sequence[Happening]:
    given = paths.document_of(headers, body)
    topic = given.text("header:X-Shopify-Topic", is_required=True)
    status = given.text("shipment_status | status") if topic.startswith("fulfillment") else ""
    found = given.happening(
        _PATHS,
        event_id=given.text("header:x-shopify-webhook-id") or paths.digest_of(topic.encode() + body),
        what="order.delivered" if status == "delivered" else _PATHS.whats.get(topic, "other"),
        name=f"{topic} {status}".strip(),
        is_test=given.flag("test") or given.flag("header:x-shopify-test"),
        about="" if topic.startswith("orders/") or given.text("order_id") else topic.partition("/")[0],
    )
    return [replace(found, subject=_PART.sub("", found.subject)) if topic.startswith("fulfillment") else found]


KIND: Final = SourceKind(
    name="shopify",
    label="Shopify",
    secret_label=SIGNING_SECRET,
    verify=signatures.by_hmac("X-Shopify-Hmac-Sha256"),
    read=read,
    whats=(*ORDER_WHATS, "customer.created"),
    values=labels_of(*_PATHS.texts, *_PATHS.numbers),
    steps=(
        "In Shopify, open Settings, Notifications, Webhooks.",
        "Create webhooks in JSON with this URL: Order creation, Order fulfillment, Fulfillment update.",
        "Create two more for Refund create and Order cancellation.",
        "Copy the secret that signs your webhooks from that page.",
    ),
)
