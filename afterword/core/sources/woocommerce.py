"""WooCommerce: every save of an order is an event, so its status says what happened, once for each status."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from afterword.core.sources import paths, signatures
from afterword.core.sources.parts import ORDER_WHATS, Happening, SourceKind, What, labels_of

_PATHS: Final = paths.PATHS["woocommerce"]
_PING: Final = re.compile(rb"webhook_id=\d+\Z")
_check: Final = signatures.by_hmac("X-WC-Webhook-Signature")


def verify(secret: str, headers: Mapping[str, str], body: bytes, now: datetime, url: str) -> None:
    """The ping of a new webhook is not signed, and says nothing; WooCommerce wants the answer 200 to it."""
    if "x-wc-webhook-signature" in headers or not _PING.match(body):
        _check(secret, headers, body, now, url)


def read(headers: Mapping[str, str], body: bytes) -> Sequence[Happening]:
    if _PING.match(body):
        return []
    given = paths.document_of(headers, body)
    topic = given.text("header:X-WC-Webhook-Topic", is_required=True)
    number, status = given.text("id", is_required=topic.startswith("order.")), given.text("status")
    refunded, changed = abs(given.number("refunds[].total") or 0), given.text("date_modified_gmt")
    store = given.text("header:x-wc-webhook-source").partition("://")[2].rstrip("/")
    said = (topic, status) if topic in {"order.created", "order.updated"} else (topic,)
    whats: list[What] = [_PATHS.whats[one] for one in said if one in _PATHS.whats]
    if refunded and "order.refunded" not in whats:
        whats.append("order.refunded")
    return [
        given.happening(
            _PATHS,
            event_id=f"{number} {what}"
            + {"order.refunded": f" {refunded}", "other": f" {topic} {status} {changed}"}.get(what, ""),
            what=what,
            name=f"{topic} {status}".strip(),
            about="" if topic.startswith("order.") else topic.partition(".")[0],
            values={"refunded": refunded or None, "store": store},
        )
        for what in whats or ["other"]
    ]


KIND: Final = SourceKind(
    name="woocommerce",
    label="WooCommerce",
    secret_label="Secret",  # noqa: S106  a label
    verify=verify,
    read=read,
    whats=(*ORDER_WHATS, "customer.created"),
    values=labels_of(*_PATHS.texts, *_PATHS.numbers, "refunded", "store"),
    steps=(
        "In WordPress, open WooCommerce, Settings, Advanced, Webhooks.",
        "Create two active webhooks, Order created and Order updated, with this URL and this secret.",
    ),
)
