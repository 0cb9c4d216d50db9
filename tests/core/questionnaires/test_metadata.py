"""Metadata: what is refused, grouped and flat maps, merging, types."""

from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, strategies as st

from afterword import ids
from afterword.core.questionnaires import metadata
from afterword.core.questionnaires.metadata import GLOBAL, Changes, Declared, MetadataDefinition, Type, merge, typed
from afterword.core.reading import structs
from afterword.core.reading.structs import Context
from afterword.errors import Invalid
from afterword.kit.web import fields

MANY = {f"n{i}": "x" for i in range(201)}


class Groups(fields.Request):
    metadata: fields.MetadataGroups


class Flat(fields.Request):
    metadata: fields.MetadataAny


def collected(request: type[Groups | Flat], document: object, *, strict: bool) -> Any:
    """The metadata of a request."""
    reading = context(strict=strict)
    body = structs.collect(request, {"metadata": document}, reading)
    reading.check()
    assert body is not None
    return body.metadata


def grouped(document: object, *, strict: bool = False) -> Changes:
    """The changes in a request that creates."""
    return metadata.changes_of(collected(Groups, document, strict=strict).named(), strict=strict)


def flat(document: object, *, declared: Declared = GLOBAL, strict: bool = False) -> Changes:
    """The changes in a PATCH of an instance."""
    return metadata.changes_of(collected(Flat, document, strict=strict), declared=declared, strict=strict)


def context(*, strict: bool) -> Context:
    return Context(now=datetime(2026, 11, 21, tzinfo=UTC), zone=UTC, strict=strict)


def wrong(read: Callable[..., Changes], document: object, *, strict: bool = False) -> list[tuple[str | None, str]]:
    with pytest.raises(Invalid) as caught:
        read(document, strict=strict)
    return [(error.pointer, error.code) for error in caught.value.errors]


@pytest.mark.parametrize(
    ("read", "document", "pointer", "code"),
    [
        (grouped, {"questionnaire": "x"}, "/metadata/questionnaire", "wrong_type"),
        (grouped, {"questionnaire": ["x"]}, "/metadata/questionnaire", "wrong_type"),
        (grouped, {"responder": 7}, "/metadata/responder", "wrong_type"),
        (grouped, {"responder": {"email": {}}}, "/metadata/responder/email", "wrong_type"),
        (grouped, {"responder": {"email": []}}, "/metadata/responder/email", "wrong_type"),
        (grouped, {"questionnaire": {"": "x"}}, "/metadata/questionnaire/", "invalid_format"),
        (grouped, {"questionnaire": {"a\nb": "x"}}, "/metadata/questionnaire/a\nb", "invalid_format"),
        (grouped, {"questionnaire": {"a/b~": {}}}, "/metadata/questionnaire/a~1b~0", "wrong_type"),
        (grouped, {"questionnaire": {"n" * 256: "x"}}, "/metadata/questionnaire/" + "n" * 256, "invalid_format"),
        (grouped, {"questionnaire": {"a": "x" * 4097}}, "/metadata/questionnaire/a", "too_long"),
        (grouped, {"questionnaire": MANY}, "/metadata/questionnaire", "too_many"),
        (flat, {"transaction_id": {}}, "/metadata/transaction_id", "wrong_type"),
        (flat, {"x": ["y"]}, "/metadata/x", "wrong_type"),
        (flat, {"x": "y" * 4097}, "/metadata/x", "too_long"),
        (flat, MANY, "/metadata", "too_many"),
        (flat, {"questionnaire": MANY}, "/metadata/questionnaire", "too_many"),
    ],
)
def test_refusals(read: Callable[..., Changes], document: dict[str, object], pointer: str, code: str) -> None:
    assert [(pointer, code)] == wrong(read, document)


def test_all_errors_at_once() -> None:
    assert 3 == len(wrong(grouped, {"questionnaire": {"a": [], "b": "ok", "c": {}}, "responder": 1}))


@pytest.mark.parametrize(
    ("document", "pointer", "code"),
    [
        ({"questionnaire": {"basket": "1"}}, "/metadata/questionnaire/basket", "unknown_metadata"),
        ({"responder": {"transaction_id": "1"}}, "/metadata/responder/transaction_id", "unknown_metadata"),
        ({"questionnaire": {"store_pickup": "maybe"}}, "/metadata/questionnaire/store_pickup", "invalid_format"),
        ({"questionnaire": {"transaction_date": "soon"}}, "/metadata/questionnaire/transaction_date", "invalid_format"),
        ({"transaction_id": "1"}, "/metadata/transaction_id", "unknown_member"),
    ],
)
def test_strict(document: dict[str, object], pointer: str, code: str) -> None:
    assert [(pointer, code)] == wrong(grouped, document, strict=True)
    assert grouped(document)


def test_strict_flat() -> None:
    document = {"basket": "1", "store_pickup": "maybe", "responder": {"tier": "gold"}}
    assert [
        ("/metadata/responder/tier", "unknown_metadata"),
        ("/metadata/basket", "unknown_metadata"),
        ("/metadata/store_pickup", "invalid_format"),
    ] == wrong(flat, document, strict=True)


def test_grouped() -> None:
    changes = grouped(
        {
            "questionnaire": {"transaction_id": "1042 (XKBK)", "count": 12, "price": 12.5, "gift": True, "old": None},
            "responder": {"email": "", "tier": "gold", "vip": False},
            "other": {"x": "y"},
        }
    )
    assert {
        "transaction_id": "1042 (XKBK)",
        "count": "12",
        "price": "12.5",
        "gift": "true",
        "old": None,
    } == changes.questionnaire
    assert {"email": None, "tier": "gold", "vip": "false"} == changes.responder
    assert {
        "questionnaire": {"transaction_id": "1042 (XKBK)", "count": "12", "price": "12.5", "gift": "true"},
        "responder": {"tier": "gold", "vip": "false"},
    } == changes.as_stored


@pytest.mark.parametrize("document", [{}, {"questionnaire": [], "responder": []}])
def test_nothing(document: dict[str, object]) -> None:
    assert Changes() == grouped(document) == flat(document)


def test_nothing_of_a_group_beside_names() -> None:
    assert Changes(questionnaire={"a": "1"}) == flat({"questionnaire": [], "a": "1"})


def test_flat() -> None:
    changes = flat({"transaction_id": "1043", "email": "ann@example.com", "tier": "gold", "responder": {"tier": "s"}})
    assert {"transaction_id": "1043", "tier": "gold"} == changes.questionnaire
    assert {"email": "ann@example.com", "tier": "s"} == changes.responder


def test_a_name_wins_over_its_group() -> None:
    assert {"email": "b"} == flat({"email": "b", "responder": {"email": "a"}}).responder


def test_flat_name_like_a_group() -> None:
    assert {"questionnaire": "yes", "responder": "no"} == flat(
        {"questionnaire": "yes", "responder": "no"}
    ).questionnaire


def test_name_declared_for_both_is_the_questionnaires() -> None:
    declared = Declared.of(
        [MetadataDefinition("tier", "questionnaire", "T"), MetadataDefinition("tier", "responder", "T")]
    )
    assert {"tier": "1"} == flat({"tier": "1"}, declared=declared).questionnaire


def test_global_definitions() -> None:
    assert ["transaction_id", "transaction_date", "store_pickup", "store_id", "score"] == list(GLOBAL.questionnaire)
    assert ["email", "phone_number", "first_name", "last_name"] == list(GLOBAL.responder)
    assert all(definition.anonymize for definition in GLOBAL.responder.values())


def test_merge() -> None:
    assert {"a": "1", "c": "4"} == merge({"a": "1", "b": "2", "c": "3"}, {"b": None, "c": "4", "d": ""})


def test_merge_keeps_the_limit() -> None:
    full = {f"n{i}": "x" for i in range(200)}
    assert {**full, "n7": "y"} == merge(full, {"n7": "y", "more": "z"})
    assert 200 == len(merge(full, {"n7": None, "more": "z"}))


@given(st.dictionaries(st.text(), st.text(min_size=1)), st.dictionaries(st.text(), st.none() | st.text()))
def test_merge_again_changes_nothing(current: dict[str, str], changes: dict[str, str | None]) -> None:
    once = merge(current, changes)
    assert once == merge(once, changes)
    assert all(once.values())


@pytest.mark.parametrize(
    ("type_name", "text", "value"),
    [
        ("text", "x", "x"),
        ("text", "", None),
        ("text", None, None),
        ("number", "12.50", Decimal("12.5")),
        ("number", "-3", Decimal(-3)),
        ("number", "1e3", None),
        ("number", "12,5", Decimal("12.5")),
        ("number", "1.000", Decimal("1.000")),  # as programs write it
        ("number", "1,000", None),  # a thousand or a one
        ("number", "250,000", None),
        ("number", "1'041.00", Decimal(1041)),
        ("number", "\u20ac 1.041,50", Decimal("1041.5")),
        ("number", "\u22125", Decimal(-5)),
        ("number", "4,9E+12", None),
        ("number", "1" * 19, None),
        ("number", "\u0663", Decimal(3)),
        ("boolean", "1", True),
        ("boolean", "FALSE", False),
        ("boolean", "yes", None),
        ("date", "2026-11-20", date(2026, 11, 20)),
        ("date", "2026-11-20 18:02:11", date(2026, 11, 20)),
        ("date", "2026-11-20T18:02:11+02:00", date(2026, 11, 20)),
        ("date", "15/01/2027", date(2027, 1, 15)),
        ("date", "2026-02-30", None),
        ("date", "20.11.2026", None),
        ("date", "0000-01-01", None),
    ],
)
def test_typed(type_name: Type, text: str | None, value: object) -> None:
    assert value == typed(type_name, text)


class TestDeclaredFor:
    RETAIL = "0000000000000000retail"

    def test_the_products_names(self) -> None:
        declared = metadata.declared_for("0000000000000000custom", [])
        assert metadata.GLOBAL.questionnaire == declared.questionnaire
        assert metadata.GLOBAL.responder == declared.responder
        assert "number" == metadata.declared_for(self.RETAIL, []).types["questionnaire_metadata:order_total"]

    def test_ids_are_ids_and_unlike_each_other(self) -> None:
        known = [one.metadata_id for one in metadata.PRODUCT]
        assert all(ids.is_id(one) for one in known)
        assert len(known) == len(set(known))

    def test_the_narrowest_decides(self) -> None:
        levels = ("application", "organization", "application_type")
        own = [
            metadata.MetadataDefinition("order_total", "questionnaire", level, "text", level=level) for level in levels
        ]
        titles = [metadata.declared_for(self.RETAIL, own[n:]).questionnaire["order_total"].title for n in range(3)]
        assert ["application", "application_type", "application_type"] == titles
        assert "organization" == metadata.declared_for(self.RETAIL, own[1:2]).questionnaire["order_total"].title

    def test_titles(self) -> None:
        """The product's own and those of common names are in the reader's words, an organization's as it wrote them."""
        own = [metadata.MetadataDefinition("shelf", "questionnaire", "Store", metadata_id="1" * 22)]
        declared = metadata.declared_for(None, own)
        names = ("store_id", "shelf", "first_name", "depot")
        words = {"Store": "Κατάστημα", "First name": "Όνομα", "": ""}.__getitem__
        assert ["Κατάστημα", "Store", "Όνομα", "depot"] == [
            declared.title("questionnaire", name, words) for name in names
        ]

    def test_personal_stays_personal(self) -> None:
        own = [metadata.MetadataDefinition("email", "responder", "Mail", level="application")]
        email = metadata.declared_for(None, own).responder["email"]
        assert ("Mail", True) == (email.title, email.anonymize)
