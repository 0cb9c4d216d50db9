"""Variables of the item: in the reader's language, and worked out only where a text uses them."""

from datetime import UTC, datetime

import pytest

from afterword.sending.messages import composing
from tests.sending.messages.test_email import Pipeline, compose
from tests.sending.messages.test_email import fresh_cache as fresh_cache  # noqa: PLC0414  a fixture

OF_ITEM = (
    "{{ item.recipient }} {{ item.external_reference | none }} {{ item.send_date }} {{ item.valid_until | for ever }}"
)


@pytest.mark.parametrize(
    ("expected", "locale", "time_zone"),
    [
        ("ann@example.org A-17 November 1, 2026 December 2, 2026", "en", "UTC"),
        ("ann@example.org A-17 2 Νοεμβρίου 2026 2 Δεκεμβρίου 2026", "el", "Europe/Athens"),
        ("ann@example.org A-17 1 نوفمبر 2026 2 ديسمبر 2026", "ar-EG", "UTC"),
    ],
)
def test_variables_of_the_item(expected: str, locale: str, time_zone: str) -> None:
    """Dates are in the reader's language, and in the days of the sender's zone."""
    message = compose(
        pipeline=Pipeline(message_subject=OF_ITEM, message_body=OF_ITEM),
        locale=locale,
        external_reference="A-17",
        send_time=datetime(2026, 11, 1, 23, 0, tzinfo=UTC),
        time_zone=time_zone,
    )
    assert expected == message.subject
    assert expected in message.text


def test_variables_of_an_item_that_says_nothing() -> None:
    message = compose(pipeline=Pipeline(message_subject=OF_ITEM))
    assert "ann@example.org none November 2, 2026 December 2, 2026" == message.subject


def test_what_a_text_does_not_use_is_not_worked_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_values: object) -> None:
        raise AssertionError

    monkeypatch.setattr(composing, "texts", never)
    assert "Well?" == compose(pipeline=Pipeline(message_subject="Well?", message_body="{{ link }}")).subject
