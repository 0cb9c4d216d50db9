"""The outcome of a case in words."""

from datetime import UTC, datetime
from typing import Any, cast

import pytest

from afterword.cases.alert_instances.store import WorkItem
from afterword.cases.screens.figures import outcome_text
from afterword.cases.statuses import title_of
from afterword.kit.texts import texts

NOW = datetime(2026, 11, 25, tzinfo=UTC)

WORDS = texts("console", "en")


class Item:
    """As much of a work item as the words are made of."""

    recovery_item_id: str | None = "I"
    recovery_time: Any = NOW
    recovered: bool | None = True
    first_score: int | None = 3
    score_now: int | None = 8


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"recovery_item_id": None, "recovery_time": None}, ""),
        ({"recovery_time": None}, "asked again"),
        ({"recovered": None}, "answered again"),
        ({"first_score": None}, "recovered"),
        ({}, "3 → 8, recovered"),
        ({"recovered": False, "score_now": 4}, "3 → 4, not recovered"),
    ],
)
def test_outcome(changes: dict[str, Any], expected: str) -> None:
    item = Item()
    for name, value in changes.items():
        setattr(item, name, value)
    shown = outcome_text(WORDS, cast("WorkItem", item))
    assert expected == shown.replace("\u2068", "").replace("\u2069", "")


def test_status() -> None:
    assert "In progress" == title_of(WORDS, 2, "Other")
    assert "Other" == title_of(WORDS, 100, "Other")
