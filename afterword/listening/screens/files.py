"""The table of a report as CSV: a line for each row and figure, and for all together."""

import csv
import io
from collections.abc import Sequence
from datetime import datetime

from starlette.responses import Response

from afterword.console.screens import Visit
from afterword.core.figures import shown
from afterword.core.figures.reports import Figure
from afterword.core.wire.exports import guarded
from afterword.kit.db import Database
from afterword.listening.reports.results import Result
from afterword.tenants import audit

HEAD = ("metric", "value", "low", "high", "n", "previous", "difference", "p", "suppressed")


def file_of(result: Result, *, now: datetime) -> Response:
    """The figures as the API gives them, empty where one is hidden."""
    groups = list(result.rows[0].key) if result.rows else []
    lines: list[Sequence[object]] = [[*map(guarded, groups), *HEAD]]
    for row in result.rows:
        key = ["" if row.key[each] is None else guarded(str(row.key[each])) for each in groups]
        lines += [[*key, *_cells(figure)] for figure in row.figures]
    lines += [[*([""] * len(groups)), *_cells(figure)] for figure in result.total]
    return csv_of(lines, now=now)


async def note(visit: Visit, db: Database, *, report_id: str | None, name: str | None) -> None:
    """Record that the table of a report was taken; `report_id` of a saved one."""
    await audit.record(
        db,
        caller=visit.caller,
        action="downloaded",
        thing_kind="report",
        thing_id=report_id,
        thing_name=name,
        now=visit.now,
    )


def csv_of(lines: Sequence[Sequence[object]], *, now: datetime) -> Response:
    text = io.StringIO()
    csv.writer(text).writerows(lines)
    return Response(
        text.getvalue().encode("utf-8-sig"),  # without the mark spreadsheets guess another encoding
        media_type="text/csv",
        headers={
            "Content-Disposition": f'attachment; filename="report-{now.date().isoformat()}.csv"',
            "Cache-Control": "no-store",
        },
    )


def _cells(figure: Figure) -> list[object]:
    found = shown.document_of(figure)
    interval, change = found["interval"], found["change"]
    return [
        found["metric"],
        found["value"],
        interval and interval["low"],
        interval and interval["high"],
        found["n"],
        change and change["previous"],
        change and change["difference"],
        change and change["p"],
        str(found["suppressed"]).lower(),
    ]
