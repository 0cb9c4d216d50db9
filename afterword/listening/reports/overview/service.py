"""The scores of an application over the last days, each with its trend and its change against the days before."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Final

from afterword import errors
from afterword.asking.questionnaires import contexts
from afterword.core.figures import periods
from afterword.core.figures.periods import Bucket, Period
from afterword.core.figures.queries import ReportContext, ReportQuery
from afterword.core.figures.reports import QUESTIONNAIRES_MAX, Figure
from afterword.core.organizations.access import Caller
from afterword.kit.db import Database
from afterword.listening.reports import results
from afterword.listening.reports.overview import store
from afterword.listening.reports.overview.store import Subjects

APPLICATIONS_MAX: Final = 100
SCORES: Final = ("nps", "csat", "ces")
BIN_ANSWERS: Final = 30  # so many a bin on average, or the next larger bin is taken
BIN_DAYS: Final[Mapping[Bucket, int]] = {"day": 1, "week": 7, "month": 30}
BINS_MIN: Final = 3  # fewer points are no trend
BINS_MAX: Final = 60  # more points cannot be told apart
DAYS_MAX: Final = 366
FUNNEL: Final = ("sent", "delivered", "viewed", "started", "completed")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bin:
    """The figure of the days from `start` on."""

    start: date
    figure: Figure


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    metric: str
    figure: Figure
    bins: Sequence[Bin]


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """`bucket`: the bins of the trends; `is_coarse`: smaller ones would have had too few answers.

    `is_of_months`: the period is of whole months.
    """

    period: Period
    scores: Sequence[Score]
    bucket: Bucket
    is_coarse: bool
    funnel: Sequence[tuple[str, Figure]]
    questionnaires: int
    is_of_months: bool


async def subjects(db: Database, *, caller: Caller, application_id: str | None) -> Subjects:
    """The newest QUESTIONNAIRES_MAX questionnaires of the application, or of all where it is out of reach."""
    return await store.get_subjects(
        db,
        **caller.part,
        application_id=application_id,
        applications_max=APPLICATIONS_MAX,
        questionnaires_max=QUESTIONNAIRES_MAX,
        versions_max=contexts.VERSIONS_MAX,
    )


async def overview(
    db: Database, *, caller: Caller, application_id: str | None, days: int, now: datetime
) -> Overview | None:
    """The figures of an application, or of all; None where there is no questionnaire.

    Raises Invalid for an application out of reach.
    """
    found = await subjects(db, caller=caller, application_id=application_id)
    if application_id and found.application_id is None:
        message = "There is no such application."
        raise errors.Invalid.of(errors.FieldError("unknown_id", message, parameter="application_id"))
    return await overview_of(db, caller=caller, subjects=found, days=days, now=now)


async def overview_of(db: Database, *, caller: Caller, subjects: Subjects, days: int, now: datetime) -> Overview | None:
    """The figures of these questionnaires; None where there is none. Readers of figures alone get whole months."""
    if not subjects.owners:
        return None
    owners = subjects.owners
    context = ReportContext(
        organization_id=caller.organization_id,
        time_zone=subjects.time_zone,
        minimum_base=subjects.minimum_base,
        first_weekday=subjects.first_weekday,
        questions=await contexts.questions_of(
            db, organization_id=caller.organization_id, version_ids=subjects.version_ids
        ),
        declared=(),  # no figure is by metadata
        test=caller.test,
        protected=not caller.reads_answers,
    )
    metrics = tuple((metric, None) for metric in SCORES if context.of_types(metric))
    query = ReportQuery(
        questionnaire_ids=tuple(owners),
        metrics=metrics,
        group_by=("bucket",),
        bucket="month" if context.protected else "day",
        last_days=days,
        compare="previous_period",
    )
    funnel = replace(query, metrics=tuple((stage, None) for stage in FUNNEL), group_by=(), bucket=None, compare="none")
    stages = await results.run_query(db, query=funnel, context=context, now=now)
    scores, chosen = await _scores(db, query, context, now=now) if metrics else ((), query)
    return Overview(
        period=stages.period,
        scores=scores,
        bucket=chosen.bucket or "day",
        is_coarse=bool(scores) and not context.protected and chosen.bucket != _finest(days),
        funnel=tuple(zip(FUNNEL, stages.total, strict=True)),
        questionnaires=len(owners),
        is_of_months=context.protected,
    )


async def _scores(
    db: Database, query: ReportQuery, context: ReportContext, *, now: datetime
) -> tuple[Sequence[Score], ReportQuery]:
    """The scores, with the query whose bins have answers enough."""
    days = query.last_days or 1

    def choose(total: Sequence[Figure]) -> Bucket:
        most = max(figure.measure.n for figure in total)
        chosen: Bucket = _finest(days)
        for bucket, length in BIN_DAYS.items():
            if BINS_MIN * length <= days <= BINS_MAX * length:
                chosen = bucket
                if most * length >= BIN_ANSWERS * days:
                    break
        return chosen

    steps: list[Bucket] = [bucket for bucket, length in BIN_DAYS.items() if days <= BINS_MAX * length]
    result, query = await results.run_trend(db, query=query, context=context, now=now, steps=steps, choose=choose)
    starts = periods.buckets(result.period, query.bucket)
    return [
        Score(
            metric=metric,
            figure=result.total[index],
            bins=[Bin(start=start, figure=row.figures[index]) for start, row in zip(starts, result.rows, strict=True)],
        )
        for index, (metric, _) in enumerate(query.metrics)
    ], query


def _finest(days: int) -> Bucket:
    """The shortest bins that so many days are shown in."""
    for bucket, length in BIN_DAYS.items():
        if days <= BINS_MAX * length:
            return bucket
    return "month"
