"""WooCommerce: one event for each status of an order, and the ping that nobody signs."""

from typing import Any

import pytest

from afterword.core.sources import woocommerce
from afterword.core.sources.parts import NotSigned
from tests.core.sources.calls import NOW, SECRET, URL, WOO_ORDER, Call, changed, one, read, signed

PING = b"webhook_id=12"


def call(document: Any = WOO_ORDER, topic: str = "order.updated") -> Call:
    return Call(
        "woocommerce", {"x-wc-webhook-topic": topic, "x-wc-webhook-source": "https://shop.example.com/"}, document
    )


class TestPing:
    @pytest.mark.parametrize(
        "body", [b"webhook_id=", b"webhook_id=12&a=1", b"webhook_id=12\n{}", b" webhook_id=1", b""]
    )
    def test_nothing_else_goes_unsigned(self, body: bytes) -> None:
        with pytest.raises(NotSigned):
            woocommerce.verify(SECRET, {}, body, NOW, URL)

    def test_a_wrong_signature_counts(self) -> None:
        with pytest.raises(NotSigned):
            woocommerce.verify(SECRET, {"x-wc-webhook-signature": "x"}, PING, NOW, URL)

    def test_ok(self) -> None:
        woocommerce.verify(SECRET, {"content-type": "application/x-www-form-urlencoded"}, PING, NOW, URL)
        woocommerce.verify(SECRET, signed("woocommerce", PING), PING, NOW, URL)
        assert [] == woocommerce.read({}, PING)


@pytest.mark.parametrize(
    ("status", "what"),
    [
        ("processing", "order.paid"),
        ("shipped", "order.shipped"),
        ("delivered", "order.delivered"),
        ("cancelled", "order.cancelled"),
        ("refunded", "order.refunded"),
        ("pending", "other"),
        ("on-hold", "other"),
        ("failed", "other"),
    ],
)
def test_statuses(status: str, what: str) -> None:
    assert what == one(call(changed(WOO_ORDER, status=status))).what


def test_created_and_paid_at_once() -> None:
    found = read(call(changed(WOO_ORDER, status="processing"), "order.created"))
    assert ["order.created", "order.paid"] == [each.what for each in found]
    assert 2 == len({each.event_id for each in found})


def test_saved_again() -> None:
    """Every save tells of the order anew: a status counts once, anything else each time."""
    later = {"date_modified_gmt": "2026-11-25T08:00:00"}
    assert one(call()).event_id == one(call(changed(WOO_ORDER, **later))).event_id
    pending = changed(WOO_ORDER, status="pending")
    assert one(call(pending)).event_id != one(call(changed(pending, **later))).event_id


def test_refunds() -> None:
    some = changed(WOO_ORDER, refunds=[{"id": 1, "total": "-5.00"}])
    more = changed(WOO_ORDER, refunds=[{"id": 1, "total": "-5.00"}, {"id": 2, "total": "-2.50"}])
    assert ["order.delivered", "order.refunded"] == [each.what for each in read(call(some))]
    assert one(call()).event_id == read(call(some))[0].event_id, "it is not delivered a second time"
    assert (5, 7.5) == tuple(read(call(document))[1].values["refunded"] for document in (some, more))
    assert read(call(some))[1].event_id != read(call(more))[1].event_id


def test_language_of_a_shop_in_several() -> None:
    assert "fr" == one(call(changed(WOO_ORDER, lang="fr"))).locale


def test_empty_objects_of_php() -> None:
    assert "" == one(call(changed(WOO_ORDER, billing=[], shipping=[]))).email


@pytest.mark.parametrize(("topic", "what"), [("customer.created", "customer.created"), ("customer.updated", "other")])
def test_customers(topic: str, what: str) -> None:
    found = one(call({"id": 4, "email": "niko@example.com", "first_name": "Niko"}, topic))
    assert (what, "niko@example.com", "Niko") == (found.what, found.email, found.first_name)


@pytest.mark.parametrize("topic", ["customer.created", "customer.updated", "customer.deleted", "product.updated"])
def test_ids_that_are_no_orders(topic: str) -> None:
    """Customer 727 says nothing about order 727."""
    order = one(call(changed(WOO_ORDER, id=727)))
    other = one(call({"id": 727, "email": "niko@example.com"}, topic))
    assert "727" == order.object_id == one(call({"id": 727}, "order.deleted")).object_id
    assert f"{topic.partition('.')[0]} 727" == other.object_id
    assert "" == one(call({"email": "niko@example.com"}, topic)).object_id


def test_deleted() -> None:
    assert "other" == one(call({"id": 727}, "order.deleted")).what
