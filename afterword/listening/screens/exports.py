"""Exports of the responses that the list shows: asked for with its filter, watched, and downloaded."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from datetime import datetime
from typing import Any, Final

from starlette.responses import Response, StreamingResponse

from afterword import errors
from afterword.console.response_list import RESPONSES, ResponseFilter, chips_of
from afterword.console.screens import Screens, Visit
from afterword.core.figures.reports import Figure
from afterword.core.wire import tables
from afterword.core.wire.exports import Format, guarded
from afterword.core.wire.lists import Page
from afterword.kit import db as databases
from afterword.kit.db import Database
from afterword.kit.web import fields, headers, html
from afterword.listening.exports import api, service as exports
from afterword.listening.exports.formats import MEDIA_TYPES, missing_extra
from afterword.listening.exports.store import Export
from afterword.listening.reports.results import Result
from afterword.listening.responses import service as responses
from afterword.tenants import audit

HEAD = ("metric", "value", "low", "high", "n", "previous", "difference", "p", "suppressed")


def file_of(result: Result, *, now: datetime) -> Response:
    """The figures as the API gives them, empty where one is hidden."""
    groups = list(dict.fromkeys(name for row in result.rows for name in row.key))
    lines: list[Sequence[object]] = [[*map(guarded, groups), *HEAD]]
    for row in result.rows:
        key = ["" if row.key.get(each) is None else guarded(str(row.key[each])) for each in groups]
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
    return Response(
        tables.csv_text(lines).encode("utf-8-sig"),  # without the mark spreadsheets guess another encoding
        media_type="text/csv",
        headers=headers.saved_as(f"report-{now.date().isoformat()}.csv"),
    )


def _cells(figure: Figure) -> list[object]:
    found = figure.document
    cells = {**found, **(found["interval"] or {}), **(found["change"] or {})}
    cells["suppressed"] = str(found["suppressed"]).lower()
    return [cells.get(name) for name in HEAD]


routes = Screens()
EXPORTS: Final = f"{RESPONSES}/export"
ONE: Final = f"{EXPORTS}/{{export_id}}"
FORMATS: Final[dict[Format, str]] = {
    "csv": "CSV", "xlsx": "Excel (XLSX)", "jsonl": "JSON Lines", "sav": "SPSS", "parquet": "Parquet",
}  # fmt: skip
OWN: Final = fields.listing_of(api.Export)
OWN_MAX: Final = 10
REFRESH_SECONDS: Final = "2"


@routes.post(
    EXPORTS, scope="Questionnaire Export.Create", proof=True, for_limited="part", again=(errors.Invalid, errors.TooMany)
)
async def export(visit: Visit, db: Database) -> Response:
    visit.caller.require("Questionnaire Instance.Read")
    choice, form = ResponseFilter.read(visit.query), visit.form
    name = form.text("format")
    columns = {
        "format": name if name in FORMATS else "csv",
        "locale": visit.words.language,
        "values_as": "labels",
        "include_metadata": bool(form.text("metadata")),
        "include_recipient": bool(form.text("recipient")),
        "byte_order_mark": name == "csv",  # spreadsheets open the file
        "filter": None,
    }
    wanted = choice.requested(visit, await choice.theme(visit, db))
    made = await exports.create_of_list(db, wanted, columns=columns, now=visit.now)
    return html.redirect(choice.url(f"export/{made.export_id}"))


@routes.get(EXPORTS, scope="Questionnaire Export.Create", proof=True, for_limited="part")
async def _form(visit: Visit, db: Database, refusal: errors.Refusal | None = None) -> Response:
    visit.caller.require("Questionnaire Instance.Read")
    words, choice = visit.words, ResponseFilter.read(visit.query)
    fixed = choice.fixed(visit)
    count: int | None = None
    theme = await fixed.theme(visit, db)
    wanted = fixed.requested(visit, theme)
    try:
        count = len(await responses.select(db, wanted, limit=exports.LISTED_MAX))
    except errors.Invalid as too_many:
        refusal = refusal or too_many
    own = await _own(visit, db, choice)
    return visit.page(
        "export.html",
        title=words("Export responses")
        if count is None
        else words.plural("Export {n} response", "Export {n} responses", count),
        refusal=refusal,
        count=count,
        filters=[text for text, _ in await chips_of(visit, db, choice, theme)],
        action=fixed.url("export"),
        back=choice.url(),
        formats=[(name, title) for name, title in FORMATS.items() if not missing_extra(name)],
        format=visit.form.text("format") or "csv",
        own=own,
        may_recipient=exports.ITEM_SCOPE in visit.caller.scopes,
    )


async def _own(visit: Visit, db: Database, choice: ResponseFilter) -> list[dict[str, Any]]:
    """The newest files that the reader has asked for."""
    if "Questionnaire Export.Read" not in visit.caller.scopes:
        return []
    found = await exports.list_of_lists(db, caller=visit.caller, page=Page.first(OWN, limit=OWN_MAX))
    return [
        {
            "url": choice.url(f"export/{one.export_id}"),
            "when": visit.words.moment(one.created_time, time_zone=visit.zone),
            "text": _text(visit, one),
        }
        for one in found.items
    ]


def _text(visit: Visit, one: Export) -> str:
    rows = one.selected_count if one.row_count is None or one.state != "done" else one.row_count
    return f"{visit.words.plural('{n} response', '{n} responses', rows or 0)} · {FORMATS[one.format]}"


@routes.get(ONE, scope="Questionnaire Export.Read", for_limited="part")
async def show_export(visit: Visit) -> Response:
    one = await visit.find(exports.get)
    words, choice = visit.words, ResponseFilter.read(visit.query)
    is_open = one.state in {"queued", "running"}
    response = visit.page(
        "export_file.html",
        title=words("Export of responses"),
        export=one,
        text=_text(visit, one),
        is_open=is_open,
        asked=words.moment(one.created_time, time_zone=visit.zone),
        until=words.date(one.expires_time, time_zone=visit.zone) if one.expires_time else "",
        may_download={"Questionnaire Instance.Read", *one.scopes} <= visit.caller.scopes,
        url=f"{EXPORTS}/{one.export_id}/file",
        again=choice.url("export"),
        back=choice.url(),
    )
    if is_open:
        response.headers["Refresh"] = REFRESH_SECONDS
    return response


@routes.get(f"{ONE}/file", scope="Questionnaire Export.Read", proof=True, for_limited="part")
async def download(visit: Visit) -> Response:
    visit.caller.require("Questionnaire Instance.Read")
    one = await visit.find(exports.get)
    exports.require_file(one, caller=visit.caller)
    rest = exports.download(databases.on_demand(visit.pool), caller=visit.caller, export=one, now=visit.now)
    first = await anext(rest, b"")  # while a refusal can still be shown

    async def chunks() -> AsyncGenerator[bytes, None]:
        async with aclosing(rest):
            yield first
            async for chunk in rest:
                yield chunk

    return StreamingResponse(
        chunks(),
        media_type=MEDIA_TYPES[one.format],
        headers={**headers.saved_as(one.file_name or one.export_id), "Content-Length": str(one.bytes)},
    )
