"""When rules look, what they compared, when cases are due and fold."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from afterword.core.messaging import alerts
from afterword.core.questionnaires import conditions
from afterword.core.questionnaires.conditions import All, AnyOf, Leaf, Not

NOW = datetime(2026, 11, 21, 16, 23, 45, tzinfo=UTC)
NPS = "metric:nps:Q000000000000000000001"


class TestJudge:
    def test_no_conditions(self) -> None:
        assert alerts.Match(holds=True, leaves=[]) == alerts.judge(None, {})

    def test_leaves_of_what_does_not_hold_too(self) -> None:
        node = All((Leaf("a", "equal", 1), Not(Leaf("b", "equal", 2))))
        match = alerts.judge(node, {"a": 1, "b": 2})
        assert not match.holds
        assert [True, True] == [leaf.matches for leaf in match.leaves]

    def test_figures_by_window(self) -> None:
        node = AnyOf((Leaf(NPS, "less", 0), Leaf(NPS, "less", 0, 7)))
        match = alerts.judge_figures(node, {(NPS, 30): 12.5, (NPS, 7): -3.0})
        assert match.holds
        assert [(NPS, 12.5, False), (NPS, -3.0, True)] == [(x.subject, x.actual, x.matches) for x in match.leaves]

    @pytest.mark.parametrize("figures", [{}, {(NPS, 30): None}])
    def test_missing_figure(self, figures: alerts.Figures) -> None:
        assert not alerts.judge_figures(Leaf(NPS, "less", 0), figures).holds
        assert alerts.judge_figures(Leaf(NPS, "is_empty"), figures).holds


class TestReading:
    def test_metrics_each_once(self) -> None:
        node = All((Leaf(NPS, "less", 0), AnyOf((Leaf(NPS, "less", 9), Leaf("metric:response", "less", 9, 7)))))
        assert [(NPS, 30), ("metric:response", 7)] == alerts.metrics_of(node)

    def test_no_metrics(self) -> None:
        assert [] == alerts.metrics_of(Leaf("tag:vip", "is_empty")) == alerts.metrics_of(None)

    @pytest.mark.parametrize(
        ("document", "expected"),
        [
            (None, set()),
            ("question:a", set()),
            ({"subject": "question:a"}, {"a"}),
            ({"subject": "question:a:row"}, {"a"}),
            ({"subject": "metric:nps:a"}, {"a"}),
            ({"subject": "metric:response"}, set()),
            ({"subject": "question"}, set()),
            ({"subject": 7}, set()),
            ({"all": [{"subject": "question:a"}, {"not": {"subject": "question:b"}}, 7]}, {"a", "b"}),
        ],
    )
    def test_question_ids(self, document: object, expected: set[str]) -> None:
        assert expected == alerts.question_ids_in(document)


class TestDocuments:
    @pytest.mark.parametrize(
        ("actual", "expected"),
        [
            (Decimal("12.50"), 12.5),
            (Decimal(7), 7),
            (date(2026, 11, 21), "2026-11-21"),
            ("x" * 501, "x" * 500),
            ([1, 2], [1, 2]),
            ({"row": Decimal(1)}, {"row": 1}),
            (None, None),
            (True, True),
        ],
    )
    def test_plain(self, actual: object, expected: object) -> None:
        leaf = conditions.LeafResult("a", "equal", ("x", "y"), actual, matches=False)
        [document] = alerts.documents([leaf])
        assert {
            "subject": "a", "operator": "equal", "value": ["x", "y"], "actual": expected, "matches": False,
        } == document  # fmt: skip


@pytest.mark.parametrize(
    ("hours_ago", "fold_hours", "expected"), [(0, 0, False), (0, 1, True), (0.9, 1, True), (1, 1, False), (2, 1, False)]
)
def test_folds(hours_ago: float, fold_hours: int, expected: bool) -> None:  # noqa: FBT001
    assert expected is alerts.folds(NOW - timedelta(hours=hours_ago), now=NOW, fold_hours=fold_hours)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (("nps", 3, 10, "detractor"), ("nps", 8, 10, "passive"), True),
        (("nps", 3, 10, "detractor"), ("nps", 6, 10, "detractor"), False),
        (("nps", 7, 10, "passive"), ("nps", 7, 10, "passive"), False),
        (("nps", 7, 10, "passive"), ("nps", 9, 10, "promoter"), True),
        (("nps", 3, 10, "detractor"), ("csat", 3, 5, "passive"), True),
        (("nps", 3, 10, "detractor"), ("rating", 4, 5, None), True),
        (("rating", 1, 5, None), ("rating", 2, 5, None), False),
        (("rating", 1, 5, None), ("rating", 3, 5, None), True),
        (("rating", 5, 5, None), ("nps", 6, 10, "detractor"), False),
        ((None, None, None, None), ("nps", 9, 10, "promoter"), None),
        (("nps", 3, 10, "detractor"), (None, None, None, None), None),
    ],
)
def test_is_recovered(before: Any, after: Any, expected: object) -> None:
    assert expected is alerts.is_recovered(alerts.score_of(*before), alerts.score_of(*after))
