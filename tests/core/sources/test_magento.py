"""Magento: an order of the template, of the REST interface and of Adobe's events."""

import json
import re
from typing import Any

import pytest

from afterword.core.sources import magento
from tests.core.sources.calls import MAGENTO_ORDER, Call, changed, one, read

REST = {
    "entity_id": 12,
    "increment_id": "000000012",
    "status": "complete",
    "state": "complete",
    "updated_at": "2026-11-24 08:00:00",
    "customer_email": "ines@example.com",
    "customer_firstname": "Inés",
    "customer_lastname": "D'Arc",
    "grand_total": 48.5,
    "total_qty_ordered": 3,
    "order_currency_code": "EUR",
    "store_name": "Main Website\nMain Store\nDefault",
    "billing_address": {"telephone": "612 34 56 78", "country_id": "ES"},
    "payment": {"method": "checkmo"},
}


def test_template() -> None:
    """Each placeholder of the template becomes what an order has."""
    filled = re.sub(
        r"\{\{ item\.(?:\w+\.)?(\w+)[^}]*\}\}", lambda found: MAGENTO_ORDER[found[1]], magento.KIND.template
    )
    assert MAGENTO_ORDER == json.loads(filled)


@pytest.mark.parametrize(
    "document",
    [
        REST,
        {"order": REST},
        {"data": {"order": REST}},
        {"type": "com.adobe.commerce.observer.sales_order_save_commit_after", "data": {"value": REST}},
        {"event_id": "e", "event": {"data": {"value": REST}}},
    ],
)
def test_envelopes(document: Any) -> None:
    found = one(Call("magento", {}, document))
    assert ("000000012", "Inés", "+34612345678") == (found.subject, found.first_name, found.phone)
    assert ("checkmo", "Main Website Main Store Default") == (found.values["payment"], found.values["store"])


@pytest.mark.parametrize(
    ("status", "state", "what"),
    [
        ("pending", "new", "order.created"),
        ("processing", "processing", "order.paid"),
        ("delivered", "complete", "order.delivered"),
        ("packed_here", "processing", "order.paid"),
        ("closed", "closed", "order.refunded"),
        ("canceled", "canceled", "order.cancelled"),
        ("holded", "holded", "other"),
    ],
)
def test_statuses(status: str, state: str, what: str) -> None:
    assert what == one(Call("magento", {}, changed(REST, status=status, state=state))).what


def test_saved_again() -> None:
    again = changed(REST, updated_at="2026-11-25 08:00:00")
    assert one(Call("magento", {}, REST)).event_id == one(Call("magento", {}, again)).event_id


def test_credit_memo() -> None:
    found = read(Call("magento", {}, changed(REST, total_refunded="10.0000")))
    assert ["order.shipped", "order.refunded"] == [each.what for each in found]
    assert one(Call("magento", {}, REST)).event_id == found[0].event_id, "it is not shipped a second time"
    assert 10 == found[1].values["refunded"]
    assert 1 == len(read(Call("magento", {}, changed(REST, total_refunded="0.0000"))))
