"""Stripe: checkouts, invoices, refunds and subscriptions (https://docs.stripe.com/api/events/types)."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from afterword.core.sources import paths, signatures
from afterword.core.sources.parts import SIGNING_SECRET, Happening, SourceKind, What, labels_of

_TYPES: Final[Mapping[str, What]] = {
    "checkout.session.async_payment_succeeded": "order.paid",
    "invoice.paid": "order.paid",
    "charge.refunded": "order.refunded",
    "customer.created": "customer.created",
    "customer.subscription.deleted": "subscription.ended",
}
_OBJECT: Final = "data.object"
_NO_DECIMALS: Final = {
    "bif", "clp", "djf", "gnf", "jpy", "kmf", "krw", "mga", "pyg", "rwf", "vnd", "vuv", "xaf", "xof", "xpf"
}  # fmt: skip
_THREE_DECIMALS: Final = {"bhd", "jod", "kwd", "omr", "tnd"}


def _inside(*names: str) -> str:
    return " | ".join(f"{_OBJECT}.{name}" for name in names)


_PATHS: Final = paths.Paths(
    time="created",
    subject=_inside(
        "client_reference_id", "number", "metadata.order_number", "metadata.order_id", "payment_intent", "id"
    ),
    object_id=_inside("payment_intent", "subscription", "id"),
    email=_inside(
        "customer_details.email", "customer_email", "billing_details.email", "receipt_email", "metadata.email", "email"
    ),
    phone=_inside("customer_details.phone", "customer_phone", "billing_details.phone", "phone"),
    country=_inside("customer_details.address.country", "customer_address.country", "billing_details.address.country"),
    whole_name=_inside("customer_details.name", "customer_name", "billing_details.name", "name"),
    locale=_inside("locale", "preferred_locales[0]"),
    texts={
        "country": _inside(
            "customer_details.address.country", "customer_address.country", "billing_details.address.country"
        ),
        "payment": _inside("payment_method_details.type", "payment_method_types[]"),
        "store": "account",
        "status": _inside("payment_status", "status"),
    },
)


def verify(secret: str, headers: Mapping[str, str], body: bytes, now: datetime, _url: str) -> None:
    """`t=…,v1=…`: HMAC-SHA256 over time, point and body; one v1 for each secret that holds."""
    pairs = [part.strip().partition("=") for part in signatures.required(headers, "Stripe-Signature").split(",")]
    time = next((value for name, _, value in pairs if name == "t"), "")
    signatures.check_age(signatures.unix_seconds(time, "Stripe-Signature"), now)
    given = [value for name, _, value in pairs if name == "v1"]
    signatures.check_any(given, secret.encode(), f"{time}.".encode() + body, encoding="hex")


def read(headers: Mapping[str, str], body: bytes) -> Sequence[Happening]:
    given = paths.document_of(headers, body)
    event_id, kind = given.text("id", is_required=True), given.text("type", is_required=True)
    what = _TYPES.get(kind, "other")
    if kind == "checkout.session.completed":  # a bank transfer is paid days later
        what = "order.created" if given.text(_inside("payment_status")) == "unpaid" else "order.paid"
    currency = given.text(_inside("currency"))
    found = given.happening(
        _PATHS,
        event_id=event_id,
        what=what,
        name=kind,
        is_test=not given.flag("livemode"),
        values={
            "total": _amount(given, _inside("amount_total", "amount_paid", "amount"), currency),
            "refunded": _amount(given, _inside("amount_refunded"), currency) or None,
            "currency": currency.upper(),
        },
    )
    return [found]


def _amount(given: paths.Document, path: str, currency: str) -> float | None:
    """Stripe counts in the smallest unit of the currency."""
    amount = given.number(path)
    if amount is None or currency in _NO_DECIMALS:
        return amount
    return amount / (1000 if currency in _THREE_DECIMALS else 100)


KIND: Final = SourceKind(
    name="stripe",
    label="Stripe",
    secret_label=SIGNING_SECRET,
    verify=verify,
    read=read,
    whats=("order.created", "order.paid", "order.refunded", "customer.created", "subscription.ended"),
    values=labels_of(*_PATHS.texts, "total", "refunded", "currency"),
    steps=(
        "In Stripe, open Developers, Webhooks. Add a destination with this URL.",
        "Choose checkout.session.completed, invoice.paid, charge.refunded and customer.subscription.deleted.",
        "Copy the signing secret of the destination.",
    ),
)
