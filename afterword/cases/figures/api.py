"""The route of the figures of the work on cases."""

from typing import Final

from afterword.cases.figures import service
from afterword.cases.figures.service import Figures, Group, Row
from afterword.core.figures.metrics import Measure
from afterword.core.wire import times
from afterword.kit.db import Database
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call, Routes

PATH: Final = "/alert/figures"

routes = Routes(tag="Alert Instance")


class FiguresQuery(fields.Request):
    """The period, in the organization's time zone, and the groups."""

    from_time: fields.Moment | None = None
    to_time: fields.Moment | None = None
    group_by: Group | None = None


class CaseShare(fields.Resource):
    """`hits` of `n` cases in percent, with the interval of 95 %; null of no case."""

    hits: int
    n: int
    value: float | None
    low: float | None
    high: float | None


class CaseCounts(fields.Resource):
    """The work on the cases of one group."""

    key: str | None
    title: str | None
    opened: int
    closed: int
    in_time: CaseShare
    median_hours: float | None
    measured: int
    answered: int
    won_back: CaseShare


class CaseFigures(fields.Resource):
    """The work on cases in a period: each counts as opened, closed and asked again by the time when it was."""

    from_time: fields.DateTime
    to_time: fields.DateTime
    group_by: Group | None
    total: CaseCounts
    rows: list[CaseCounts]
    truncated: bool


@routes.get(
    PATH,
    scope="Alert Instance.Read",
    query=FiguresQuery,
    answer=CaseFigures,
    summary="Get the figures of the work on cases",
    description=(
        "Times to close are business hours, without those in which the customer was waited for. `won_back`: customers "
        "whose answer to the recovery questionnaire is better by the rule, of those who could be compared."
    ),
)
async def get_case_figures(call: Call[None], db: Database) -> Answer:
    query: FiguresQuery = call.query
    found = await service.figures(
        db,
        caller=call.caller,
        from_time=query.from_time and query.from_time.instant,
        to_time=query.to_time and query.to_time.instant,
        time_zone=str(call.zone),
        group_by=query.group_by,
        now=call.now,
    )
    return Answer(_shown(found, call))


def _shown(found: Figures, call: Call[None]) -> CaseFigures:
    return CaseFigures(
        from_time=times.format_time(found.period.from_time, zone=call.zone),
        to_time=times.format_time(found.period.to_time, zone=call.zone),
        group_by=found.group_by,
        total=_counts(found.total),
        rows=[_counts(row) for row in found.rows],
        truncated=found.is_cut,
    )


def _counts(row: Row) -> CaseCounts:
    return CaseCounts(
        key=row.key,
        title=row.title,
        opened=row.opened,
        closed=row.closed,
        in_time=_share(row.in_time),
        median_hours=row.median_hours,
        measured=row.measured,
        answered=row.answered,
        won_back=_share(row.won_back),
    )


def _share(measure: Measure) -> CaseShare:
    interval = measure.interval
    return CaseShare(
        hits=measure.hits or 0,
        n=measure.n,
        value=None if measure.value is None else round(measure.value, 2),
        low=None if interval is None else round(interval.low, 2),
        high=None if interval is None else round(interval.high, 2),
    )
