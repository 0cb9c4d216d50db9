"""A report's query against the questions of its questionnaires: all errors at once, at their places."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from afterword import errors
from afterword.core.figures import periods, queries
from afterword.core.figures.queries import ReportContext, ReportQuery
from afterword.core.questionnaires import definition
from afterword.core.questionnaires.metadata import GLOBAL
from afterword.core.reading.findings import Findings
from tests.listening.reports.conftest import CSAT, DOCUMENT, NPS, TEXT

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


@pytest.fixture
def context() -> ReportContext:
    questions = definition.parse(DOCUMENT).questions()
    return ReportContext(
        organization_id="O",
        time_zone="Europe/Athens",
        minimum_base=5,
        first_weekday=1,
        questions={question.question_id: question for question in questions},
        declared=[GLOBAL],
    )


def check(query: ReportQuery, context: ReportContext) -> list[tuple[str | None, str]]:
    findings = Findings()
    queries.requested_metrics(query, context, findings)
    queries.check_groups(query, context, findings)
    with pytest.raises(errors.Invalid) as caught:
        queries.scope_of(query, context, now=NOW, findings=findings)
    return [(error.pointer, error.code) for error in caught.value.errors]


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ({"metrics": (("mean", None),)}, ("metrics/0/question_id", "required")),
        ({"metrics": (("nps", CSAT),)}, ("metrics/0/question_id", "unknown_value")),
        ({"metrics": (("nps", "Q"),)}, ("metrics/0/question_id", "unknown_id")),
        ({"group_by": ("shop",)}, ("group_by/0", "unknown_value")),
        ({"group_by": ("locale", "locale")}, ("group_by/1", "exclusive")),
        ({"group_by": (f"question:{TEXT}",)}, ("group_by/0", "unknown_value")),
        ({"group_by": ("bucket",)}, ("bucket", "required")),
        ({"from_time": NOW}, ("to_time", "out_of_range")),
        ({"from_time": NOW - timedelta(days=9_999)}, ("from_time", "out_of_range")),
    ],
)
def test_refused(context: ReportContext, members: dict[str, Any], expected: tuple[str, str]) -> None:
    assert [expected] == check(ReportQuery(questionnaire_ids=("Q",), **members), context)


def test_all_at_once(context: ReportContext) -> None:
    query = ReportQuery(questionnaire_ids=("Q",), metrics=(("mean", None),), group_by=("shop",), from_time=NOW)
    assert ["metrics/0/question_id", "group_by/0", "to_time"] == [pointer for pointer, _ in check(query, context)]


def test_accepted(context: ReportContext) -> None:
    query = ReportQuery(questionnaire_ids=("Q",), metrics=(("nps", None),), last_days=7)
    findings = Findings()
    [metric] = queries.requested_metrics(query, context, findings)
    period, condition = queries.scope_of(query, context, now=NOW, findings=findings)
    assert (frozenset({NPS}), None) == (metric.question_ids, condition)
    begin = periods.day_start(periods.day_of(NOW, period.zone) - timedelta(days=7), period.zone)
    assert (begin, NOW, "Europe/Athens") == (period.from_time, period.to_time, period.time_zone)
