"""Any other system: its settings, each fault of them by its name, and what they read."""

from typing import Any

import pytest

from afterword.core.sources.general import KIND, configure
from afterword.core.sources.parts import NotSigned
from afterword.errors import Invalid
from tests.core.sources.calls import (
    GENERAL_EVENT,
    NOW,
    SECRET,
    SETTINGS,
    URL,
    Call,
    base64_of,
    changed,
    one,
    read,
    standard,
)

BODY = b'{"type": "x"}'


def faults(**settings: str) -> set[tuple[str | None, str]]:
    with pytest.raises(Invalid) as caught:
        configure({"event": "type", **settings})
    return {(each.pointer, each.code) for each in caught.value.errors}


class TestSettings:
    @pytest.mark.parametrize(
        ("settings", "pointer", "code"),
        [
            ({"event": " "}, "event", "required"),
            ({"e_mail": "a"}, "e_mail", "unknown_member"),
            ({"email": "a..b"}, "email", "invalid_format"),
            ({"email": "a[x]"}, "email", "invalid_format"),
            ({"email": "a |"}, "email", "invalid_format"),
            ({"email": ".a"}, "email", "invalid_format"),
            ({"email": "header: x y"}, "email", "invalid_format"),
            ({"email": "a" * 501}, "email", "invalid_format"),
            ({"events": "shipped"}, "events", "invalid_format"),
            ({"events": "shipped = order.sent"}, "events", "unknown_value"),
            ({"events": "\n".join(f"e{n} = other" for n in range(51))}, "events", "too_many"),
            ({"values": "Total = a"}, "values", "invalid_format"),
            ({"values": "total = a..b"}, "values", "invalid_format"),
            ({"values": "= a"}, "values", "invalid_format"),
            ({"signature": "X-Sig md5 hex"}, "signature", "invalid_format"),
            ({"signature": "X Sig"}, "signature", "invalid_format"),
        ],
    )
    def test_faults(self, settings: dict[str, str], pointer: str, code: str) -> None:
        assert {(f"/settings/{pointer}", code)} == faults(**settings)

    def test_all_at_once(self) -> None:
        assert {"/settings/email", "/settings/values"} == {place for place, _ in faults(email="[", values="x")}

    def test_slow_paths(self) -> None:
        """Nothing takes long to refuse."""
        assert faults(email="a " * 249 + "[", phone=".a" * 250)

    def test_not_configured(self) -> None:
        with pytest.raises(Invalid):
            KIND.read({}, BODY)

    def test_ok(self) -> None:
        kind = configure(SETTINGS)
        assert {"total": "total", "express": "express", "region": "region"} == kind.values
        assert KIND.whats == kind.whats


class TestVerify:
    @pytest.mark.parametrize(
        ("signature", "headers"),
        [
            ("", standard(BODY)),
            ("X-Api-Key", {"x-api-key": SECRET}),
            ("Authorization", {"authorization": f"Bearer {SECRET}"}),
            ("X-Sig sha256 base64", {"x-sig": base64_of(BODY)}),
            ("X-Sig sha256 base64 v0=", {"x-sig": f"v0={base64_of(BODY)}"}),
        ],
    )
    def test_each_way(self, signature: str, headers: dict[str, str]) -> None:
        kind = configure({"event": "type", "signature": signature})
        kind.verify(SECRET, headers, BODY, NOW, URL)
        for wrong in ({}, dict.fromkeys(headers, "x"), {"x-afterword-secret": SECRET}):
            with pytest.raises(NotSigned):
                kind.verify(SECRET, wrong, BODY, NOW, URL)


class TestRead:
    @pytest.mark.parametrize(
        ("members", "pointer"),
        [
            ({"type": None}, "/type"),
            ({"id": ""}, "/id"),
            ({"order": {"customer": {"mails": "x"}}}, "/order/customer/mails"),
            ({"order": {"total": "free"}}, "/order/total"),
            ({"at": "noon"}, "/at"),
        ],
    )
    def test_wrong_shape(self, members: Any, pointer: str) -> None:
        with pytest.raises(Invalid) as caught:
            read(Call("general", {}, changed(GENERAL_EVENT, **members)))
        assert pointer in {each.pointer for each in caught.value.errors}

    def test_ok(self) -> None:
        found = one(Call("general", {}, GENERAL_EVENT))
        assert ("e-1", "order.delivered", "parcel.delivered") == (found.event_id, found.what, found.name)
        assert ("W-9", "9", "jo@example.com", "Jo") == (found.subject, found.object_id, found.email, found.first_name)
        assert {"total": 12.5, "express": True} == found.values

    @pytest.mark.parametrize(
        ("name", "what"), [("order.paid", "order.paid"), ("refund", "order.refunded"), ("new", "other")]
    )
    def test_names(self, name: str, what: str) -> None:
        kind = configure({"event": "header:X-Event | type", "events": "refund = order.refunded; new=other"})
        assert what == kind.read({"x-event": name}, b"{}")[0].what
        assert what == kind.read({}, f'{{"type": "{name}"}}'.encode())[0].what

    def test_paths_that_find_nothing(self) -> None:
        (found,) = configure({**SETTINGS, "event_id": ""}).read({}, b'{"type": "x"}')
        assert ("", "", "", None, {}) == (found.email, found.subject, found.locale, found.time, found.values)
        assert 32 == len(found.event_id)
