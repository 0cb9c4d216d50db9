"""The decision of a rule, as a table."""

from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest

from afterword.core.questionnaires.conditions import read_saved
from afterword.core.sources.rules import Event, Terms, reason_against, text_of

NOW: Final = datetime(2026, 11, 29, tzinfo=UTC)
HOUR: Final = timedelta(hours=1)
LARGE: Final = {"subject": "questionnaire_metadata:total", "operator": "greater", "value": 20}
NAMED: Final = {"subject": "questionnaire_metadata:currency", "operator": "equal", "value": "eur"}


@pytest.mark.parametrize(
    ("reason", "terms", "told"),
    [
        (None, {}, {}),
        ("test", {}, {"is_test": True}),
        ("too_old", {}, {"time": NOW - timedelta(days=14, seconds=1)}),
        (None, {}, {"time": NOW - timedelta(days=14)}),
        ("stopped", {}, {"stops": {"order.refunded": NOW - 9 * HOUR}}),
        (None, {"unless": ()}, {"stops": {"order.refunded": NOW}}),
        ("stopped", {"unless": ("ticket.reopened",)}, {"stops": {"ticket.reopened": NOW - HOUR}}),
        (None, {"unless": ("ticket.reopened",)}, {"stops": {"ticket.reopened": NOW - 2 * HOUR}}),
        ("conditions", {"condition": LARGE}, {}),
        ("conditions", {"condition": LARGE}, {"values": {"total": 20}}),
        (None, {"condition": LARGE}, {"values": {"total": 20.01}}),
        (None, {"condition": NAMED}, {"values": {"currency": "EUR"}}),
    ],
)
def test_reason(reason: str | None, terms: dict[str, Any], told: dict[str, Any]) -> None:
    condition = read_saved(terms.pop("condition", None))
    ours: dict[str, Any] = {"condition": condition, "unless": ("order.refunded",), "age_days_max": 14, **terms}
    theirs: dict[str, Any] = {"time": NOW - HOUR, "is_test": False, "values": {}, "stops": {}, **told}
    assert reason == reason_against(Terms(**ours), Event(**theirs), now=NOW)


def test_texts() -> None:
    assert ["20", "20", "20.5", "true", "EUR"] == [text_of(one) for one in (20, 20.0, 20.5, True, "EUR")]
