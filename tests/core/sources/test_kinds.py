"""All kinds of sources keep the same promises, proved with the calls that their systems make."""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any

import msgspec
import pytest

from afterword.core.sources import KINDS
from afterword.core.sources.parts import Happening, NotSigned, SourceKind
from afterword.errors import Invalid
from tests.core.sources.calls import (
    CALLS,
    GENERAL_EVENT,
    HUBSPOT_EVENT,
    HUBSPOT_WORKFLOW,
    MAGENTO_ORDER,
    NAMED,
    NOW,
    PRESTASHOP_ORDER,
    SECRET,
    SHOPIFY_ORDER,
    STRIPE_EVENT,
    URL,
    WOO_ORDER,
    ZENDESK_TICKET,
    Call,
    changed,
    kind_of,
    one,
    read,
    signed,
)

EACH = pytest.mark.parametrize("call", CALLS, ids=lambda call: f"{call.kind}-{CALLS.index(call)}")
TIMED = {"stripe", "zendesk", "hubspot", "prestashop", "general"}  # the signature has a time
SHARED = {"magento", "freshdesk"}  # the secret itself is sent
UNKNOWN = {
    "shopify": {"x-shopify-topic": "products/update"},
    "woocommerce": {"x-wc-webhook-topic": "action.wc_points"},
}


def verify(call: Call, headers: Mapping[str, str], *, secret: str = SECRET, body: bytes | None = None) -> None:
    kind_of(call.kind).verify(secret, headers, call.body if body is None else body, NOW, URL)


def refusal(call: Call, headers: Mapping[str, str], *, secret: str = SECRET, body: bytes | None = None) -> str:
    with pytest.raises(NotSigned) as caught:
        verify(call, headers, secret=secret, body=body)
    assert SECRET not in str(caught.value)
    return str(caught.value)


@EACH
class TestVerify:
    def test_missing(self, call: Call) -> None:
        assert "is missing" in refusal(call, call.headers)

    @pytest.mark.parametrize("value", ["", " ", "x", "=", "é\udcff", "v1,", "t=,v1=", "Basic !", "0" * 5_000])
    def test_broken_headers(self, call: Call, value: str) -> None:
        assert refusal(call, dict.fromkeys(signed(call.kind, call.body), value))

    def test_other_secret(self, call: Call) -> None:
        wrong = "The secret is another one." if call.kind in SHARED else "The signature is wrong"
        assert wrong in refusal(call, signed(call.kind, call.body), secret="another")

    def test_no_secret(self, call: Call) -> None:
        assert "no secret" in refusal(call, signed(call.kind, call.body), secret="")

    def test_changed_body(self, call: Call) -> None:
        headers = signed(call.kind, call.body)
        if call.kind in SHARED:
            assert "x-afterword-secret" in headers  # which proves who sends, not what
        else:
            assert "the body was changed" in refusal(call, headers, body=call.body + b" ")

    @pytest.mark.parametrize("seconds", [-301, 301, -5 * 365 * 86_400])
    def test_old_or_ahead(self, call: Call, seconds: int) -> None:
        headers = signed(call.kind, call.body, NOW + timedelta(seconds=seconds))
        if call.kind in TIMED:
            assert "older than five minutes" in refusal(call, headers)
        else:
            verify(call, headers)
            assert "timestamp" not in "".join(headers)

    def test_replayed_with_another_time(self, call: Call) -> None:
        old = signed(call.kind, call.body, NOW - timedelta(hours=1))
        fresh = signed(call.kind, call.body)
        if call.kind not in TIMED:
            assert old == fresh
            return
        mixed = {
            name: fresh[name].split(",")[0] + "," + value.split(",")[1] if name == "stripe-signature" else value
            for name, value in {**fresh, **{name: old[name] for name in old if name.endswith("signature")}}.items()
        }
        mixed |= {name: old[name] for name in old if name.endswith("signature-v3")}
        assert "The signature is wrong" in refusal(call, mixed)

    @pytest.mark.parametrize("seconds", [-299, 0, 299])
    def test_ok(self, call: Call, seconds: int) -> None:
        headers = signed(call.kind, call.body, NOW + timedelta(seconds=seconds))
        assert headers
        verify(call, headers)


@EACH
class TestRead:
    def test_ok(self, call: Call) -> None:
        found = {name: value for name, value in msgspec.to_builtins(one(call)).items() if value}
        assert {"event_id": found["event_id"], **call.expected} == found

    def test_says_no_more_than_it_declares(self, call: Call) -> None:
        kind, (found,) = kind_of(call.kind), read(call)
        assert found.what in kind.whats
        assert set() == set(found.values) - set(kind.values)

    def test_repeated(self, call: Call) -> None:
        assert read(call)[0].event_id == read(call)[0].event_id

    def test_unknown_event(self, call: Call) -> None:
        headers = UNKNOWN.get(call.kind, call.headers)
        document = {
            "stripe": {"id": "evt_2", "type": "radar.early_fraud_warning.created"},
            "general": {"id": "e-2", "type": "stock.changed"},
            "freshdesk": {"ticket_id": 1, "ticket_status": "Waiting on Customer"},
            "zendesk": {"type": "zen:event-type:article.published", "id": "z"},
            "magento": {"entity_id": "1", "status": "fraud"},
            "prestashop": {"order": {"id": 1}, "state": {"name": "Backorder"}},
            "hubspot": [{"subscriptionType": "company.deletion", "eventId": 1, "objectId": 2}],
        }.get(call.kind, {})
        (found,) = read(Call(call.kind, headers, document))
        assert ("other", True, "") == (found.what, bool(found.name), found.email)

    @pytest.mark.parametrize(
        "body",
        [b"", b"{", b"\xff\xfe{}", b'{"a": NaN}', b'{"a": "\\ud800"}', b"[" * 100_000, b"1", b'"x"', b"null"],
    )
    def test_no_document(self, call: Call, body: bytes) -> None:
        with pytest.raises(Invalid):
            kind_of(call.kind).read(call.headers, body)

    def test_any_shape(self, call: Call) -> None:
        """Each member in turn becomes something else: it is read or refused by its name, and nothing else breaks."""
        refused = 0
        for path in list(places(call.document)):
            for other in ({"x": 1}, [[]], True, None, 10**400, "", " \x00\u2028", -1.5e300):
                document = json.loads(call.body)
                put(document, path, other)
                found = tried(Call(call.kind, call.headers, document))
                refused += not found
                assert "\\x00" not in repr(found)
        assert refused

    def test_byte_order_mark(self, call: Call) -> None:
        kind = kind_of(call.kind)
        found, marked = (kind.read(call.headers, mark + call.body)[0] for mark in (b"", b"\xef\xbb\xbf"))
        assert (found.email, found.subject) == (marked.email, marked.subject)


WRONG = [
    ("freshdesk_ticket", {"freshdesk_webhook": {}}, ["/ticket_id"]),
    ("freshdesk_ticket", {"freshdesk_webhook": "x"}, ["", "/ticket_id"]),
    ("freshdesk_ticket", {}, ["/ticket_id"]),
    ("freshdesk_ticket", {"ticket_id": 1, "ticket_status": [2]}, ["/ticket_status"]),
    ("hubspot_event", [changed(HUBSPOT_EVENT, objectId=None)], ["/objectId"]),
    ("hubspot_event", [HUBSPOT_EVENT, changed(HUBSPOT_EVENT, occurredAt="x")], ["/occurredAt"]),
    ("hubspot_workflow", changed(HUBSPOT_WORKFLOW, email=["a"]), ["/email"]),
    ("hubspot_event", ["x"], [""]),
    ("magento_order", {}, ["/entity_id"]),
    ("magento_order", changed(MAGENTO_ORDER, telephone=None, billing_address="x"), ["/billing_address"]),
    ("magento_order", changed(MAGENTO_ORDER, grand_total="free"), ["/grand_total"]),
    ("magento_order", [MAGENTO_ORDER], ["", "/entity_id"]),
    ("prestashop_order", changed(PRESTASHOP_ORDER, order={}), ["/order/id"]),
    ("prestashop_order", changed(PRESTASHOP_ORDER, customer=[["x"]]), ["/customer"]),
    ("prestashop_order", changed(PRESTASHOP_ORDER, items="two"), ["/items"]),
    ("shopify_order", changed(SHOPIFY_ORDER, email={"a": 1}), ["/email"]),
    ("shopify_order", changed(SHOPIFY_ORDER, current_total_price="much"), ["/current_total_price"]),
    ("shopify_order", changed(SHOPIFY_ORDER, line_items={"quantity": 1}), ["/line_items"]),
    ("shopify_order", changed(SHOPIFY_ORDER, customer="Maria"), ["/customer"]),
    ("shopify_order", changed(SHOPIFY_ORDER, updated_at="soon"), ["/updated_at"]),
    ("stripe_event", {"type": "invoice.paid"}, ["/id"]),
    ("stripe_event", {"id": "evt_1"}, ["/type"]),
    ("stripe_event", changed(STRIPE_EVENT, data="x"), ["/data"]),
    (
        "stripe_event",
        changed(STRIPE_EVENT, data={"object": {"customer_details": "x"}}),
        ["/data/object/customer_details"],
    ),
    ("stripe_event", changed(STRIPE_EVENT, data={"object": {"amount_total": "many"}}), ["/data/object/amount_total"]),
    ("woo_order", changed(WOO_ORDER, id=None), ["/id"]),
    ("woo_order", changed(WOO_ORDER, billing="x"), ["/billing"]),
    ("woo_order", changed(WOO_ORDER, total="?"), ["/total"]),
    ("woo_order", changed(WOO_ORDER, refunds={"total": 1}), ["/refunds"]),
    ("zendesk_ticket", changed(ZENDESK_TICKET, ticket={}), ["/ticket/id"]),
    ("zendesk_ticket", changed(ZENDESK_TICKET, requester="Ann"), ["/requester"]),
    ("zendesk_ticket", changed(ZENDESK_TICKET, time="today"), ["/time"]),
    ("general_event", changed(GENERAL_EVENT, type=None), ["/type"]),
    ("general_event", changed(GENERAL_EVENT, id=""), ["/id"]),
    ("general_event", changed(GENERAL_EVENT, order={"customer": {"mails": "x"}}), ["/order/customer/mails"]),
    ("general_event", changed(GENERAL_EVENT, order={"total": "free"}), ["/order/total"]),
    ("general_event", changed(GENERAL_EVENT, at="noon"), ["/at"]),
]


@pytest.mark.parametrize(("name", "document", "pointers"), WRONG)
def test_wrong_shape(name: str, document: Any, pointers: list[str]) -> None:
    with pytest.raises(Invalid) as caught:
        read(replace(NAMED[name], document=document))
    assert pointers == [each.pointer for each in caught.value.errors]


def tried(call: Call) -> Sequence[Happening]:
    """None where a member is refused, which has a place."""
    with suppress(Invalid):
        return read(call)
    return []


def places(value: object, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    entries = (
        list(value.items()) if isinstance(value, dict) else list(enumerate(value)) if isinstance(value, list) else []
    )
    return [one for name, below in entries for one in ((*path, name), *places(below, (*path, name)))]


def put(document: object, path: tuple[str | int, ...], value: object) -> None:
    for name in path[:-1]:
        document = document[name]  # pyrefly: ignore
    document[path[-1]] = value  # pyrefly: ignore


class TestKinds:
    def test_each_has_a_call(self) -> None:
        assert KINDS.keys() == {call.kind for call in CALLS}

    def test_those_that_users_describe_come_last(self) -> None:
        assert "general" == [*KINDS][-1]

    @pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
    def test_texts(self, kind: SourceKind) -> None:
        assert all((kind.label, kind.secret_label, *kind.steps, *kind.values.values()))
        assert kind.steps
        assert (kind.configure is not None) == bool(kind.settings)
        assert all(name.isidentifier() for name in kind.values)

    @pytest.mark.parametrize("name", ["magento", "zendesk"])
    def test_template_is_json(self, name: str) -> None:
        assert isinstance(json.loads(KINDS[name].template), dict)
