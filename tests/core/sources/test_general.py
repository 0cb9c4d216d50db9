"""Any other system: its settings, each fault of them by its name, and what they read."""

import pytest

from afterword.core.sources.general import KIND, configure
from afterword.core.sources.parts import NotSigned
from afterword.errors import Invalid
from tests.core.sources.calls import NOW, SECRET, SETTINGS, URL, base64_of, standard

BODY = b'{"type": "x"}'


def wrong_settings(**settings: str) -> set[tuple[str | None, str]]:
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
        assert {(f"/settings/{pointer}", code)} == wrong_settings(**settings)

    def test_all_at_once(self) -> None:
        assert {"/settings/email", "/settings/values"} == {place for place, _ in wrong_settings(email="[", values="x")}

    def test_slow_paths(self) -> None:
        """Nothing takes long to refuse."""
        assert wrong_settings(email="a " * 249 + "[", phone=".a" * 250)

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


def test_customers_are_no_orders() -> None:
    read = configure({"event": "e", "object_id": "id", "events": "new = customer.created; got = order.paid"}).read
    found = [read({}, b'{"e": "%s", "id": 7}' % name)[0].object_id for name in (b"new", b"got", b"other")]
    assert ["customer 7", "7", "7"] == found
