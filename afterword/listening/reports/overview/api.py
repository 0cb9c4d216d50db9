"""The HTTP route of the overview."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from afterword.core.figures import reports as core_reports
from afterword.core.figures import shown
from afterword.core.wire import times
from afterword.kit.db import Database
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call, Routes
from afterword.listening.reports.overview import service
from afterword.listening.reports.resources import Figure, PeriodShown

routes = Routes(tag="Reports")


class OverviewQuery(fields.Request):
    """The days that the overview covers, and the application."""

    days: Annotated[int, Meta(ge=1, le=service.DAYS_MAX)] = 30
    application_id: fields.Id | None = None


class OverviewBin(fields.Answer):
    """A step of a trend, from its first day on."""

    bucket: str
    figure: Figure


class OverviewScore(fields.Answer):
    """A score of all questionnaires together; its `change` is against as many days before."""

    figure: Figure
    bins: list[OverviewBin]


class ReportOverview(fields.Answer):
    """The scores of the period with their trends, and the funnel. Without a questionnaire all of it is empty."""

    period: PeriodShown | None
    bucket: Annotated[str, Meta(description="The shortest steps that have 30 answers each on average.")]
    questionnaires: Annotated[int, Meta(description="So many are counted, the newest of them.")]
    scores: list[OverviewScore]
    funnel: list[Figure]


@routes.get(
    "/report/overview",
    scope="Report.Read",
    answer=ReportOverview,
    query=OverviewQuery,
    summary="Get the overview",
    description="The scores of the last days with their trend and change, and the funnel of the invitations.",
)
async def get_overview(call: Call[None], db: Database) -> Answer:
    query: Any = call.query
    found = await service.overview(
        db, caller=call.caller, application_id=query.application_id, days=query.days, now=call.now
    )
    if found is None:
        return Answer(ReportOverview(period=None, bucket="day", questionnaires=0, scores=[], funnel=[]))
    zone = found.period.zone
    return Answer(
        ReportOverview(
            period=PeriodShown(
                from_time=times.format_time(found.period.from_time, zone=zone),
                to_time=times.format_time(found.period.to_time, zone=zone),
                time_zone=found.period.time_zone,
                date_basis="submitted",
            ),
            bucket=found.bucket,
            questionnaires=found.questionnaires,
            scores=[
                OverviewScore(
                    figure=_figure(score.figure),
                    bins=[
                        OverviewBin(bucket=bin_.start.isoformat(), figure=_figure(bin_.figure)) for bin_ in score.bins
                    ],
                )
                for score in found.scores
            ],
            funnel=[_figure(figure) for _, figure in found.funnel],
        )
    )


def _figure(figure: core_reports.Figure) -> Figure:
    return msgspec.convert(shown.document_of(figure), Figure)
