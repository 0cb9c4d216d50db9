"""Stripe: its signature with several secrets, its types of events, and amounts in the smallest unit."""

from typing import Any

import pytest

from afterword.core.sources import stripe
from afterword.core.sources.parts import NotSigned
from tests.core.sources.calls import NOW, SECONDS, SECRET, STRIPE_EVENT, URL, Call, changed, one, signed

BODY = '{"note":"Ζωή"}'.encode()
GOOD = signed("stripe", BODY)["stripe-signature"].rpartition("=")[2]


def event(kind: str, **members: Any) -> Call:
    return Call("stripe", {}, changed(STRIPE_EVENT, type=kind, data={"object": members}))


class TestSignature:
    @pytest.mark.parametrize(
        "header",
        [
            f"v1={GOOD}",
            f"t={SECONDS}",
            f"t={SECONDS},v0={GOOD}",
            f"t=,v1={GOOD}",
            f"t={SECONDS}.0,v1={GOOD}",
            f"t={int(SECONDS) - 301},v1={GOOD}",
            f"t={int(SECONDS) + 1},v1={GOOD}",
            f"t={SECONDS},v1={GOOD[:-1]}",
            f"t={SECONDS}" + f",v1={'0' * 64}" * 10 + f",v1={GOOD}",
            "t,v1",
        ],
    )
    def test_wrong(self, header: str) -> None:
        with pytest.raises(NotSigned):
            stripe.verify(SECRET, {"stripe-signature": header}, BODY, NOW, URL)

    @pytest.mark.parametrize(
        "header",
        [
            f"t={SECONDS},v1={GOOD}",
            f"t={SECONDS},v1={'0' * 64},v1={GOOD}",
            f"t={SECONDS}, v1={GOOD}, v0=test",
            f"v1={GOOD},t={SECONDS}",
        ],
    )
    def test_ok(self, header: str) -> None:
        stripe.verify(SECRET, {"stripe-signature": header}, BODY, NOW, URL)
        with pytest.raises(NotSigned):
            stripe.verify(SECRET, {"stripe-signature": header}, BODY[:-1], NOW, URL)


def test_paid_later() -> None:
    first = one(event("checkout.session.completed", id="cs_1", payment_status="unpaid"))
    second = one(event("checkout.session.async_payment_succeeded", id="cs_1", payment_status="paid"))
    assert ("order.created", "order.paid") == (first.what, second.what)


def test_invoice() -> None:
    found = one(
        event("invoice.paid", id="in_1", number="F-7", amount_paid=1000, currency="eur", customer_email="a@example.com")
    )
    assert ("order.paid", "F-7", "a@example.com", 10) == (found.what, found.subject, found.email, found.values["total"])


def test_invoice_of_a_subscription() -> None:
    """Since its version 2025-03-31 an invoice names its subscription below `parent`, and no payment."""
    parent = {"type": "subscription_details", "subscription_details": {"subscription": "sub_1"}}
    paid = one(event("invoice.paid", id="in_1", number="F-7", parent=parent, customer_email="a@example.com"))
    ended = one(event("customer.subscription.deleted", id="sub_1"))
    assert "sub_1" == paid.object_id == ended.object_id
    assert "in_2" == one(event("invoice.paid", id="in_2", parent=None)).object_id


def test_refund() -> None:
    charge = {"id": "ch_1", "payment_intent": "pi_1", "amount": 2198, "amount_refunded": 500, "currency": "eur"}
    found = one(event("charge.refunded", **charge, billing_details={"email": "ann@example.com"}))
    assert ("order.refunded", "pi_1", "ann@example.com") == (found.what, found.object_id, found.email)
    assert (5, 21.98) == (found.values["refunded"], found.values["total"])


def test_refund_of_an_invoice() -> None:
    """A refund names no invoice since 2025-03-31; the credit note by which an invoice is refunded does."""
    note: dict[str, Any] = {"id": "cn_1", "invoice": "in_1", "number": "F-7-CN-01", "amount": 2198, "currency": "eur"}
    paid = one(event("invoice.paid", id="in_1", number="F-7", amount_paid=2198, currency="eur"))
    refunds = [{"amount_refunded": 500, "refund": "re_1", "type": "refund"}]
    found = one(event("credit_note.created", **note, refunds=refunds))
    assert ("order.refunded", 5) == (found.what, found.values["refunded"])
    assert "in_1" == paid.object_id == found.object_id
    assert "order.refunded" == one(event("credit_note.created", **note, refund="re_1")).what
    assert "other" == one(event("credit_note.created", **note, refunds=[])).what


def test_subscription_and_customer() -> None:
    ended = one(event("customer.subscription.deleted", id="sub_1", status="canceled"))
    made = one(event("customer.created", id="cus_1", email="a@example.com", name="Al Bo", preferred_locales=["de-AT"]))
    assert ("subscription.ended", "sub_1", "") == (ended.what, ended.subject, ended.email)
    assert ("customer.created", "a@example.com", "Al", "de-at") == (made.what, made.email, made.first_name, made.locale)


@pytest.mark.parametrize(("currency", "total"), [("jpy", 2198), ("eur", 21.98), ("kwd", 2.198), ("huf", 21.98)])
def test_units(currency: str, total: float) -> None:
    assert total == one(event("invoice.paid", id="in_1", amount_paid=2198, currency=currency)).values["total"]


def test_tried_out() -> None:
    assert one(Call("stripe", {}, changed(STRIPE_EVENT, livemode=False))).is_test


def test_other_types() -> None:
    assert ("other", "payment_intent.succeeded") == (
        one(event("payment_intent.succeeded", id="pi_1")).what,
        one(event("payment_intent.succeeded", id="pi_1")).name,
    )
