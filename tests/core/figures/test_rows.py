"""The responses behind a row, as a condition; tests/listening/reports/test_api.py counts them again."""

from datetime import UTC, datetime
from typing import Any

import pytest

from afterword.core.figures.periods import Period, buckets
from afterword.core.figures.reports import RequestedMetric
from afterword.core.figures.rows import RowKey, answer_condition, buckets_of, selection_of
from afterword.core.questionnaires import definition
from tests.listening.reports.conftest import DOCUMENT, MANY, MATRIX, NPS, RANKING, ROW

PERIOD = Period(datetime(2026, 1, 5, tzinfo=UTC), datetime(2026, 3, 10, tzinfo=UTC), "UTC")
QUESTIONS = {each.question_id: each for each in definition.parse(DOCUMENT).questions()}
ANSWERED = {"subject": f"question:{NPS}", "operator": "is_not_empty"}


def selection(key: RowKey, *, metric: str = "nps", condition: object = None) -> Any:
    question_ids = frozenset({NPS}) if metric == "nps" else frozenset[str]()
    return selection_of(
        key,
        questionnaire_ids=["a", "b"],
        period=PERIOD,
        buckets=buckets_of(PERIOD, buckets(PERIOD, "month")),
        basis="submitted",
        wanted=[RequestedMetric(metric, question_ids)],
        types={NPS: "nps", "consent": "consent"},
        condition=condition,
    )


def test_everything() -> None:
    found = selection({})
    assert (["a", "b"], PERIOD.from_time, PERIOD.to_time) == (found.questionnaire_ids, found.from_time, found.to_time)
    assert ANSWERED == found.condition
    assert selection({}, metric="response").condition is None


@pytest.mark.parametrize(
    ("bucket", "low", "high"),
    [
        ("2026-01-01", PERIOD.from_time, datetime(2026, 2, 1, tzinfo=UTC)),
        ("2026-02-01", datetime(2026, 2, 1, tzinfo=UTC), datetime(2026, 3, 1, tzinfo=UTC)),
        ("2026-03-01", datetime(2026, 3, 1, tzinfo=UTC), PERIOD.to_time),
    ],
)
def test_bucket(bucket: str, low: datetime, high: datetime) -> None:
    found = selection({"bucket": bucket})
    assert (low, high) == (found.from_time, found.to_time)


def test_groups() -> None:
    key: RowKey = {"questionnaire": "b", "version": "v", "channel": 1, "locale": "el", "questionnaire_metadata:x": None}
    found = selection(key, metric="response", condition={"a": 1})
    assert (["b"], "v", 1, "el") == (found.questionnaire_ids, found.version_id, found.channel_id, found.locale)
    assert {"all": [{"a": 1}, {"subject": "questionnaire_metadata:x", "operator": "is_empty"}]} == found.condition
    assert {"all": [{"subject": "question:consent", "operator": "equal", "value": False}, ANSWERED]} == selection(
        {"question:consent": "false"}
    ).condition


@pytest.mark.parametrize(
    ("question_id", "key", "condition"),
    [
        (NPS, {"value": 9}, {"subject": f"question:{NPS}", "operator": "equal", "value": 9}),
        (MANY, {"value": 2}, {"subject": f"question:{MANY}", "operator": "contains", "value": 2}),
        (MATRIX, {"row_id": ROW, "value": 1}, {"subject": f"question:{MATRIX}:{ROW}", "operator": "equal", "value": 1}),
        (RANKING, {"rank": 1, "value": 1}, {"subject": f"question:{RANKING}", "operator": "is_not_empty"}),
    ],
)
def test_answers(question_id: str, key: RowKey, condition: object) -> None:
    assert condition == answer_condition(QUESTIONS[question_id], key)
