"""A report as CSV: no cell that a spreadsheet computes, nothing of hidden figures, all together at the end."""

import csv
import io
from datetime import UTC, datetime
from typing import Any

from afterword.core.figures import metrics
from afterword.core.figures.periods import Period
from afterword.core.figures.reports import Figure
from afterword.core.figures.rows import RowKey, Selection
from afterword.listening.reports.results import Result, Row
from afterword.listening.screens.exports import HEAD, file_of

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
