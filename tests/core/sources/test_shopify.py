"""Shopify's topics: orders, fulfillments, refunds and customers."""

from typing import Any

import pytest

from afterword.errors import Invalid
from tests.core.sources.calls import SHOPIFY_FULFILLMENT, SHOPIFY_ORDER, Call, changed, one, read

REFUND = {
    "id": 890088186047892319,
    "order_id": 820982911946154508,
    "created_at": "2026-11-25T10:00:00+02:00",
    "transactions": [{"id": 1, "kind": "refund", "amount": "30.00"}, {"id": 2, "kind": "refund", "amount": "13.75"}],
}
EVENT = {
    "id": 5,
    "fulfillment_id": 123456,
    "order_id": 820982911946154508,
    "status": "delivered",
    "happened_at": "2026-11-24T10:00:00+02:00",
    "created_at": "2026-11-24T10:00:00+02:00",
}


def call(topic: str, document: Any, **headers: str) -> Call:
    return Call("shopify", {"x-shopify-topic": topic, "x-shopify-webhook-id": "w-9", **headers}, document)


def test_no_topic() -> None:
    with pytest.raises(Invalid) as caught:
        read(Call("shopify", {}, SHOPIFY_ORDER))
    assert "X-Shopify-Topic" == caught.value.errors[0].header


def test_time_of_the_header() -> None:
    found = one(call("orders/create", SHOPIFY_ORDER, **{"x-shopify-triggered-at": "2026-11-20T08:00:00.123456789Z"}))
    assert found.time is not None
    assert (8, 0) == (found.time.hour, found.time.minute)


@pytest.mark.parametrize(
    ("topic", "what"),
    [
        ("orders/paid", "order.paid"),
        ("orders/fulfilled", "order.shipped"),
        ("orders/cancelled", "order.cancelled"),
        ("orders/updated", "other"),
        ("orders/partially_fulfilled", "other"),
    ],
)
def test_topics(topic: str, what: str) -> None:
    assert what == one(call(topic, SHOPIFY_ORDER)).what


@pytest.mark.parametrize(
    ("topic", "status", "what"),
    [
        ("fulfillments/create", None, "order.shipped"),
        ("fulfillments/update", "delivered", "order.delivered"),
        ("fulfillments/update", "in_transit", "other"),
        ("fulfillments/update", None, "other"),
    ],
)
@pytest.mark.parametrize("name", ["#1041.1", "#1041-F1", "#1041.12"])
def test_fulfillments(topic: str, status: str | None, what: str, name: str) -> None:
    found = one(call(topic, changed(SHOPIFY_FULFILLMENT, shipment_status=status, name=name)))
    assert (what, "#1041", "820982911946154508") == (found.what, found.subject, found.object_id)
    assert ("maria@example.com", "+306901234567", "Maria") == (found.email, found.phone, found.first_name)
    assert ("ACS", "GR") == (found.values["carrier"], found.values["country"])


@pytest.mark.parametrize("topic", ["orders/create", "orders/paid", "orders/cancelled"])
@pytest.mark.parametrize("name", ["EU.1041", "2026.1041", "SHOP-F1041", "#1041-EU"])
def test_numbers_of_orders_are_whole(topic: str, name: str) -> None:
    """A shop may give its numbers a prefix; only fulfillments have a part behind the number of the order."""
    assert name == one(call(topic, changed(SHOPIFY_ORDER, name=name))).subject


@pytest.mark.parametrize("topic", ["fulfillment_events/create", "fulfillment_events/update"])
def test_events_of_fulfillments(topic: str) -> None:
    found = one(call(topic, EVENT))
    assert ("order.delivered", "", "", "820982911946154508") == (
        found.what,
        found.email,
        found.subject,
        found.object_id,
    )
    assert "other" == one(call(topic, changed(EVENT, status="out_for_delivery"))).what


def test_refund() -> None:
    found = one(call("refunds/create", REFUND))
    assert ("order.refunded", "820982911946154508", 43.75) == (found.what, found.object_id, found.values["refunded"])


def test_customer() -> None:
    found = one(call("customers/create", {"id": 7, "email": "maria@example.com", "first_name": "Maria"}))
    assert ("customer.created", "Maria", "customers 7") == (found.what, found.first_name, found.object_id)


def test_without_an_address() -> None:
    bare = changed(SHOPIFY_ORDER, email="", contact_email=None, customer=None, shipping_address=None)
    found = one(call("orders/create", bare))
    assert ("", "", "") == (found.email, found.phone, found.first_name)


def test_tried_out() -> None:
    assert one(call("orders/create", changed(SHOPIFY_ORDER, test=True))).is_test
    assert one(call("orders/create", SHOPIFY_ORDER, **{"x-shopify-test": "true"})).is_test
    assert not one(call("orders/create", SHOPIFY_ORDER, **{"x-shopify-test": "false"})).is_test


def test_id_of_a_call_without_one() -> None:
    ids = {
        one(Call("shopify", {"x-shopify-topic": topic}, SHOPIFY_ORDER)).event_id for topic in ("orders/a", "orders/b")
    }
    assert 2 == len(ids)
