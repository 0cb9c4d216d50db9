"""Stripe: checkouts, invoices, refunds and subscriptions (https://docs.stripe.com/api/events/types)."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from afterword.core.sources import paths, signatures
from afterword.core.sources.parts import SIGNING_SECRET, Happening, SourceKind, labels_of

_NO_DECIMALS: Final = {
    "bif", "clp", "djf", "gnf", "jpy", "kmf", "krw", "mga", "pyg", "rwf", "vnd", "vuv", "xaf", "xof", "xpf"
}  # fmt: skip
_THREE_DECIMALS: Final = {"bhd", "jod", "kwd", "omr", "tnd"}
_PATHS: Final = paths.PATHS["stripe"]


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
    what = _PATHS.whats.get(kind, "other")
    if kind == "checkout.session.completed":  # a bank transfer is paid days later
        what = "order.created" if given.text("data.object.payment_status") == "unpaid" else "order.paid"
    if kind == "credit_note.created" and not given.text("data.object.refunds[0].refund | data.object.refund"):
        what = "other"  # it makes an invoice smaller that nobody has paid
    currency = given.text("data.object.currency")
    found = given.happening(
        _PATHS,
        event_id=event_id,
        what=what,
        name=kind,
        is_test=not given.flag("livemode"),
        values={
            "total": _amount(given, "amount_total", "amount_paid", "amount", currency=currency),
            "refunded": _amount(given, "amount_refunded", "refunds[0].amount_refunded", currency=currency) or None,
            "currency": currency.upper(),
        },
    )
    return [found]


def _amount(given: paths.Document, *names: str, currency: str) -> float | None:
    """The first of these; Stripe counts in the smallest unit of the currency."""
    amount = given.number(" | ".join(f"data.object.{name}" for name in names))
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
