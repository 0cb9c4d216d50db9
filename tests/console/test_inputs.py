"""Declared forms: an empty field is null, or as its member needs it; values come back as they are stored."""

from datetime import UTC, date, datetime, time

from afterword.console.inputs import Input, document_of, placed, text_of
from afterword.console.screens import Form
from afterword.errors import FieldError, Invalid

KINDS = ("number", "text", "area", "clock", "moment", "choice", "checks", "switch", "lines", "secret")


def test_empty_fields() -> None:
    inputs = [Input(kind, kind, kind) for kind in KINDS]
    expected = {**dict.fromkeys(KINDS), "checks": [], "switch": False, "lines": []}
    assert expected == document_of(Form({}), inputs)
    needed = [Input(kind, kind, kind, required=True) for kind in ("number", "text")]
    assert {"number": 0, "text": ""} == document_of(Form({}), needed)


def test_typed() -> None:
    form = Form({"checks": ["1", "", "3"], "switch": ["1"], "lines": [" a \n\nb"], "number": ["12"]})
    inputs = [Input(kind, kind, kind) for kind in ("checks", "switch", "lines", "number")]
    assert {"checks": ["1", "3"], "switch": True, "lines": ["a", "b"], "number": "12"} == document_of(form, inputs)


def test_stored() -> None:
    plain, lines = Input("one", "text", ""), Input("one", "lines", "")
    moment = datetime(2029, 12, 1, 7, tzinfo=UTC)
    for value, expected in ((None, ""), (True, "1"), (False, ""), (7, "7"), (time(9, 5), "09:05"), ([1, 2], ["1", "2"]),
                            (moment, "2029-12-01T09:00")):  # fmt: skip
        assert expected == text_of(value, plain, "Europe/Athens")
    assert "2029-12-24\n2029-12-31" == text_of([date(2029, 12, 24), date(2029, 12, 31)], lines, "UTC")
    assert "" == text_of(None, lines, "UTC")


def test_secrets_are_read_as_typed_and_never_shown() -> None:
    secret = Input("token", "secret", "")
    assert {"token": " a b "} == document_of(Form({"token": [" a b "]}), [secret])
    assert "" == text_of("a b", secret, "UTC")


def test_errors_stand_at_their_field() -> None:
    refusal = placed(Invalid.of(FieldError("invalid_format", "No.", pointer="/holidays/3"), FieldError("x", "No.")))
    assert ["/holidays", "/"] == [one.pointer for one in refusal.errors]
