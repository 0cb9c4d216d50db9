"""The HTTP routes of reports, templates and custom ones."""

from typing import Any

import msgspec

from afterword import errors
from afterword.core.figures.templates import TEMPLATES
from afterword.core.wire import times
from afterword.kit.db import Database
from afterword.kit.web.operations import Answer, Call, Routes
from afterword.listening.reports import custom_reports, results
from afterword.listening.reports.resources import (
    PeriodShown,
    ReportResult,
    ReportRun,
    ReportTemplate,
    ResultRow,
    SelectionShown,
    TemplateQuery,
    document_of,
    figure_of,
    query_of,
)

routes = Routes(tag="Reports", scope="Report")


@routes.get(
    "/report/template",
    answer=ReportTemplate,
    for_limited="free",
    shape="array",
    summary="Get all report templates",
    description="Ready reports, and the query parameters that each takes.",
)
async def list_report_templates(_call: Call[None], _db: Database) -> Answer:
    return Answer([msgspec.convert(each, ReportTemplate, from_attributes=True) for each in TEMPLATES.values()])


@routes.get(
    "/report/template/{template_id}",
    answer=ReportResult,
    query=TemplateQuery,
    for_limited="part",
    texts=("template_id",),
    is_long=True,
    summary="Run a report template",
    description=(
        "Every figure comes with its interval, the method, and the number of answers it is computed from. From readers "
        "who may not read single answers groups below the organization's minimum base are hidden, and so is a second "
        "one that would reveal them."
    ),
)
async def run_report_template(call: Call[None], db: Database) -> Answer:
    template = errors.found(TEMPLATES.get(call.ids["template_id"]), "There is no such template.")
    query: TemplateQuery = call.query
    result = await results.run_template(
        db, caller=call.caller, template=template, query=query_of(query), given=query.named(), now=call.now
    )
    return _answer(call, result, template_id=template.template_id, title=template.title)


routes.all += custom_reports.routes.all


@routes.get(
    "/report/custom/{report_id}/run",
    answer=ReportResult,
    for_limited="part",
    is_long=True,
    summary="Run a custom report",
)
async def run_custom_report(call: Call[None], db: Database) -> Answer:
    report = await custom_reports.get(db, caller=call.caller, **call.ids)
    result = await results.run(db, caller=call.caller, spec=report.spec, now=call.now)
    return _answer(call, result, report_id=report.report_id, title=report.title)


@routes.post(
    "/report/run",
    scope="Report.Read",
    answer=ReportResult,
    status=200,
    for_limited="part",
    is_long=True,
    summary="Run a report that is not saved",
    description="Its spec is that of a custom report. Nothing is stored.",
)
async def run_report(call: Call[ReportRun], db: Database) -> Answer:
    result = await results.run(db, caller=call.caller, spec=document_of(call.body.spec), now=call.now)
    return _answer(call, result, title="")


def _answer(
    call: Call[Any], result: results.Result, *, title: str, template_id: str | None = None, report_id: str | None = None
) -> Answer:
    """The result as the API shows it; the period in its own zone."""
    zone = result.period.zone
    rows = [
        ResultRow(
            key=dict(row.key),
            figures=[figure_of(figure) for figure in row.figures],
            selection=SelectionShown.of(row.selection, zone),
        )
        for row in result.rows
    ]
    shown = ReportResult.of(
        result,
        template_id=template_id,
        report_id=report_id,
        title=title,
        generated_time=times.format_time(call.now, zone=call.zone),
        period=PeriodShown.of(result.period, zone, date_basis=result.date_basis),
        rows=rows,
        total=[figure_of(figure) for figure in result.total],
    )
    return Answer(shown)
