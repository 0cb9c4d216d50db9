"""Views of results and words, and their file: one view for each part of a question, findings that are true."""

import csv
import io
from datetime import UTC, datetime
from typing import Any

from afterword.console.screens import DOMAIN
from afterword.core.figures import metrics
from afterword.core.figures.periods import Period
from afterword.core.figures.reports import Figure, distribution
from afterword.core.figures.rows import RowKey, Selection
from afterword.core.questionnaires import definition
from afterword.kit.texts import texts
from afterword.listening.reports.results import Result, Row
from afterword.listening.screens.exports import HEAD, file_of
from afterword.listening.screens.views import (
    BARS_MAX,
    Names,
    count_sentence,
    figure_cells,
    groups_view,
    views,
    words_view,
)
from tests.listening.reports.conftest import CHOICE, DOCUMENT, MATRIX, NPS

QUESTIONS = {each.question_id: each for each in definition.parse(DOCUMENT).questions()}
NAMES = Names(
    words=texts(DOMAIN, "en"),
    questions=QUESTIONS,
    questionnaires={"q": "After delivery"},
    channels={None: "Link", 1: "E-mail"},
    metadata={"questionnaire_metadata:store_id": "Store"},
    url=lambda _selection, _stages: "/responses",
)


def test_names() -> None:
    key: RowKey = {"bucket": "2026-03-01", "questionnaire": "q", "channel": 1, f"question:{CHOICE}": 2, "locale": None}
    assert "March 1, 2026 · After delivery · E-mail · Choice 2 · No answer" == NAMES.of(key)
    assert ["Store", "Which?", "x"] == [
        NAMES.group(each) for each in ("questionnaire_metadata:store_id", f"question:{CHOICE}", "responder_metadata:x")
    ]


def test_a_sentence_in_place_of_a_figure_has_lines() -> None:
    hidden, shown = Figure(metrics.nps(3, 0, 4), suppressed=True), Figure(metrics.nps(3, 0, 4))
    assert ["why", ""] == [figure_cells(NAMES.words, each)[0].kind for each in (hidden, shown)]


def test_distribution_by_part() -> None:
    """Numbers are columns in the colours of their segments, labels are rows; each row of a matrix has its own view."""
    shares = distribution({"0": 1, "10": 9}, effect=1.0, values=["0", "10"], level=0.95, is_hidden=False)
    keys: list[RowKey] = [{"value": 0, "label": None}, {"value": 10, "label": None}]
    total = Figure(metrics.count(10, metric="answers", of=10))
    [view] = views(
        result_of(list(zip(keys, shares, strict=True)), total=total, question_id=NPS), NAMES, template_id="distribution"
    )
    assert ("columns", "How likely?", ["detractor", "promoter"]) == (
        view.kind,
        view.title,
        [one.band for one in view.points],
    )
    assert "Most often" in view.finding
    parts: list[RowKey] = [
        {"row_id": row, "row": row, "value": value, "label": f"Choice {value}"} for row in "ab" for value in (1, 2)
    ]
    found = views(
        result_of(list(zip(parts, [*shares, *shares], strict=True)), total=total, question_id=MATRIX),
        NAMES,
        template_id="distribution",
    )
    assert [("rows", "a"), ("rows", "b")] == [(one.kind, one.title) for one in found]


def test_findings_of_groups() -> None:
    figures = [Figure(metrics.nps(30, 2, 40)), Figure(metrics.nps(5, 20, 40))]
    keys: list[RowKey] = [{"locale": "en"}, {"locale": "el"}]
    [view] = views(result_of(list(zip(keys, figures, strict=True)), total=figures[0]), NAMES, template_id=None)
    assert ("NPS", "From el to en.") == (view.title, view.finding.replace("\u2068", "").replace("\u2069", ""))
    assert ["en", "el", "Total"] == [row[0].text for row in view.rows]
    [alone] = views(result_of([(keys[0], figures[0])], total=figures[0]), NAMES, template_id=None)
    assert ("table", ["en"]) == (alone.kind, [row[0].text for row in alone.rows])


WORDS = texts(DOMAIN, "en")


def test_sentence() -> None:
    assert "1 comment." == count_sentence(WORDS, 1, is_part=False)
    assert "there are more" in count_sentence(WORDS, 2_000, is_part=True)


def test_views_of_words() -> None:
    many = [(f"w{number}", 50 - number, f"/{number}") for number in range(BARS_MAX + 1)]
    view = words_view(WORDS, many, n=100)
    assert (BARS_MAX, BARS_MAX + 1) == (len(view.points), len(view.rows))
    assert "w0, w1, w2" in view.finding
    groups = groups_view(
        WORDS, [(("north", 9, "/n"), [("late", 6, "/l")]), (("west", 5, "/w"), [])], group="Store", title=""
    )
    assert [("north", "/n"), ("north · late", "/l"), ("west", "/w")] == [
        (row[0].text, row[0].url) for row in groups.rows
    ]
    assert "late (north)" in groups.finding


NOW = datetime(2026, 11, 25, tzinfo=UTC)
SELECTION = Selection(questionnaire_ids=["a"], from_time=NOW, to_time=NOW, date_basis="submitted")


def result_of(rows: list[tuple[RowKey, Figure]], *, total: Figure, **parameters: Any) -> Result:
    return Result(
        period=Period(NOW, NOW, "UTC"),
        date_basis="submitted",
        parameters=parameters,
        rows=[Row(key=key, figures=[figure], selection=SELECTION) for key, figure in rows],
        total=[total],
        suppressed_rows=0,
        truncated=False,
        selection=SELECTION,
    )


def test_cells() -> None:
    nps = metrics.nps(5, 2, 10)
    rows: list[tuple[RowKey, Figure]] = [
        ({"city": "=1+1"}, Figure(nps)),
        ({"city": None}, Figure(nps, suppressed=True)),
    ]
    result = result_of(rows, total=Figure(nps))
    text = bytes(file_of(result, now=NOW).body).decode("utf-8-sig")
    head, formula, hidden, total = csv.reader(io.StringIO(text))
    assert ["city", *HEAD] == head
    assert ["'=1+1", "nps", "30.0"] == formula[:3]
    assert ["", "nps", *[""] * 7, "true"] == hidden
    assert ["", "nps", "30.0", *formula[3:]] == total
