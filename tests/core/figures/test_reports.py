import pytest

from afterword.core.figures import metrics
from afterword.core.figures.reports import (
    RATES,
    STAGES,
    Cell,
    Figure,
    People,
    Repeat,
    RequestedMetric,
    Table,
    Tally,
    dimensions,
    driver,
    gather,
    measure_of,
    pools,
    read_group,
    tabulate,
)

NPS = RequestedMetric("nps", frozenset({"Q1"}))
BY_STORE = ("questionnaire_metadata:store",)


def cell(value: str, count: int, *, store: str = "a", question_id: str = "Q1") -> Cell:
    return Cell(0, "S", (store,), question_id, value, count)


def table(*cells: Cell, before: tuple[Cell, ...] | None = None, people: People | None = None) -> Table:
    then = None if before is None else gather([NPS], before, BY_STORE, ())
    now = gather([NPS], cells, BY_STORE, (), people)
    return tabulate([NPS], now, then, level=0.95)


def tally(**counts: int) -> Tally:
    found = Tally()
    found.update(counts)
    return found


def test_questions_of_the_same_metrics_count_as_one() -> None:
    asked = [RequestedMetric("mean", frozenset("abc")), RequestedMetric("csat", frozenset("c"))]
    assert {"a": "a", "b": "a", "c": "c"} == pools(asked, separately=False)
    assert {"a": "a", "b": "b", "c": "c"} == pools(asked, separately=True)


class TestTable:
    def test_figures_of_rows_and_of_all(self) -> None:
        found = table(
            cell("10", 6),
            cell("0", 2),
            cell("9", 4, store="b"),
            cell("7", 4, store="b"),
            cell("0", 99, question_id="Q2"),  # not asked for
        )

        assert [(("a",), 50.0, 8), (("b",), 50.0, 8)] == [
            (line.key, line.figures[0].measure.value, line.figures[0].measure.n) for line in found.lines
        ]
        assert (50.0, 16) == (found.total[0].measure.value, found.total[0].measure.n)

    def test_changes_against_groups_that_were_there(self) -> None:
        before = (cell("0", 9), cell("0", 1, store="b"))
        found = table(cell("10", 9), cell("10", 9, store="b"), cell("10", 9, store="c"), before=before)
        changes = [line.figures[0].change for line in found.lines]
        assert [200.0, 200.0, None] == [change and change.difference for change in changes]

    def test_who_answers_often_widens_the_interval(self) -> None:
        people = People([Repeat(0, "S", ("a",), "Q1", person, 4, 1.0) for person in range(10)])
        [line] = table(cell("10", 40), people=people).lines
        assert 4.0 == line.figures[0].measure.effect


class TestRates:
    @pytest.mark.parametrize("rate", RATES)
    def test_counts_among_a_stage(self, rate: str) -> None:
        hits, of, base = RATES[rate]
        assert of in STAGES
        assert of == base
        measure = measure_of(RequestedMetric(rate), tally(**{of: 10, hits: 4, "delivered": 10}), level=0.95)
        assert (10, base) == (measure.n, measure.base)

    def test_deliveries_that_nobody_reports_are_unknown(self) -> None:
        assert measure_of(RequestedMetric("delivery"), tally(sent=10), level=0.95).value is None
        assert 0.0 == measure_of(RequestedMetric("response"), tally(sent=10), level=0.95).value


@pytest.mark.parametrize(("pairs", "reason"), [(metrics.PAIRS_MIN, None), (metrics.PAIRS_MIN - 1, "few_pairs")])
def test_drivers_of_few_pairs_are_hidden(pairs: int, reason: str | None) -> None:
    counts = {(str(number % 11), str(number % 5)): 1 for number in range(pairs)}
    mean = Figure(metrics.mean({1.0: 10}, metric="mean", level=0.95))
    assert pairs == sum(counts.values())
    assert reason == driver(counts, pairs, mean, level=0.95).suppressed_reason


@pytest.mark.parametrize(
    ("text", "group"),
    [
        ("bucket", ("bucket", "")),
        ("question:Q1", ("question", "Q1")),
        ("responder_metadata:a:b", ("responder_metadata", "a:b")),
        ("bucket:day", None),
        ("question", None),
        ("question:", None),
        ("questionnaire_metadata:" + "x" * 256, None),
        ("store", None),
        ("", None),
    ],
)
def test_groups(text: str, group: tuple[str, str] | None) -> None:
    assert group == read_group(text)


def test_dimensions_are_what_each_response_has_a_value_of() -> None:
    asked = ("bucket", "locale", "questionnaire", "questionnaire_metadata:store", "question_id")
    assert (("locale", ""), ("questionnaire_metadata", "store")) == dimensions(asked)
