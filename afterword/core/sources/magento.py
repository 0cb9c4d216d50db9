"""Magento and Adobe Commerce: an order as their REST interface has it, posted by an extension with a shared secret.

Open-source Magento has no webhooks. Those of Adobe Commerce wait for the answer inside the check-out, and its events
come through Adobe I/O: what forwards these adds the secret. The template is for the free extension Mageplaza Webhook.
"""

import html
from collections.abc import Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from afterword.core.reading.documents import is_object
from afterword.core.sources import paths, signatures
from afterword.core.sources.parts import ORDER_WHATS, SHARED_SECRET, Happening, SourceKind, What, labels_of

_ENVELOPES: Final = ("event", "data", "value", "order")  # of Adobe's events and of extensions
_PATHS: Final = paths.PATHS["magento"]
_PLAIN: Final = (
    "entity_id", "increment_id", "status", "state", "updated_at", "customer_email", "grand_total", "total_refunded",
    "order_currency_code", "total_qty_ordered", "store_id",
)  # fmt: skip
_SENT: Final = {
    **{name: f"item.{name}" for name in _PLAIN},
    "customer_firstname": "item.customer_firstname | escape",  # so that a quotation mark does not end the text
    "customer_lastname": "item.customer_lastname | escape",
    "telephone": "item.shippingAddress.telephone",
    "country_id": "item.shippingAddress.country_id",
}


def read(headers: Mapping[str, str], body: bytes) -> Sequence[Happening]:
    given = paths.document_of(headers, body)
    for name in _ENVELOPES:
        inner = given.document.get(name) if is_object(given.document) else None
        given.document = inner if is_object(inner) else given.document
    order_id = given.text("entity_id | increment_id", is_required=True)
    status, refunded = given.text("status | state"), given.number("total_refunded") or 0
    whats: list[What] = [_PATHS.whats.get(status) or _PATHS.whats.get(given.text("state"), "other")]
    if refunded > 0 and "order.refunded" not in whats:
        whats.append("order.refunded")
    changed = given.text("updated_at")
    found = given.happening(_PATHS, event_id="", what="other", name=f"order {status}".strip())
    return [
        replace(
            found,
            what=what,
            event_id=f"{order_id} {what}"
            + {"order.refunded": f" {refunded}", "other": f" {status} {changed}"}.get(what, ""),
            first_name=html.unescape(found.first_name),
            last_name=html.unescape(found.last_name),
        )
        for what in whats
    ]


KIND: Final = SourceKind(
    name="magento",
    label="Magento, Adobe Commerce",
    secret_label=SHARED_SECRET,
    verify=signatures.by_header(signatures.SECRET_HEADER, "Authorization"),
    read=read,
    whats=ORDER_WHATS,
    values=labels_of(*_PATHS.texts, *_PATHS.numbers),
    steps=(
        "Install the extension Mageplaza Webhook in Magento.",
        "Create a hook of the type Order for all statuses: POST, application/json, this URL and this body.",
        "Add the header X-Afterword-Secret with this secret to the hook.",
    ),
    template="{\n" + ",\n".join(f'  "{name}": "{{{{ {item} }}}}"' for name, item in _SENT.items()) + "\n}\n",
)
