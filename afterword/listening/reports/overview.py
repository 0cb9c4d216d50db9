"""The scores of an application over the last days, each with its trend and its change against the days before."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Annotated, Any, Final, LiteralString, Unpack

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from afterword import errors
from afterword.asking.links.domains import LOST_HOST
from afterword.asking.questionnaires import contexts
from afterword.cases.alert_instances.store import OPEN_COUNTS
from afterword.core.figures import periods, queries
from afterword.core.figures.periods import Bucket, CalendarPeriod, Period
from afterword.core.figures.queries import ReportContext, ReportQuery
from afterword.core.figures.reports import QUESTIONNAIRES_MAX, Figure as FigureRecord
from afterword.core.organizations.access import Caller, Reach, values_of
from afterword.core.questionnaires.question_types import SCORES
from afterword.kit.db import Database
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call, Routes
from afterword.listening.reports import results
from afterword.listening.reports.resources import Figure, PeriodShown, figure_of

LISTED_MAX: Final = 5  # of each kind
QUESTIONNAIRES_LISTED_MAX: Final = 500  # the newest, among which these are looked for
SILENT: Final = timedelta(days=7)
BEFORE: Final = timedelta(days=28)  # the days in which answers came regularly
ANSWERS_MIN: Final = 5
LOW_SHARE: Final = 0.1
PUBLISHED_MAX: Final = 8  # questionnaires whose results the overview leads to

# The pools of $1 with few free codes, which are counted up to that.
_LOW_POOLS: Final[LiteralString] = """select * from (
    select p.pool_id, p.title, p.low_count, (select count(*) from (
      select from coupon_code c where c.organization_id = p.organization_id and c.pool_id = p.pool_id
        and c.instance_id is null limit p.low_count + 1) f) as free_count
    from coupon_pool p where p.organization_id = $1) p
  where free_count <= low_count"""


class Subjects(msgspec.Struct, frozen=True, kw_only=True):
    """The subjects of an overview: the newest questionnaires, by id with their application, and their versions' ids.

    `applications`: all that can be chosen, id and name; `application_id`: the chosen one.
    """

    applications: Sequence[tuple[str, str]]
    application_id: str | None
    owners: Mapping[str, str]
    version_ids: Sequence[str]
    time_zone: str
    minimum_base: int
    first_weekday: int
    has_pinned: bool
    published: Mapping[str, str]  # the newest of those in use, with their names


async def get_subjects(db: Database, *, caller: Caller, application_id: str | None) -> Subjects:
    """The newest QUESTIONNAIRES_MAX questionnaires of the application, or of all where it is out of reach."""
    row = await db.fetch_one(
        """with known as materialized (
             select a.application_id, a.display_name from application a
             where a.organization_id = $1 and (cardinality($2::text[]) = 0 or a.application_id = any($2))
             order by a.created_time desc, a.application_id limit $4),
           chosen as materialized (
             select a.application_id from application a
             where a.organization_id = $1 and (cardinality($2) = 0 or a.application_id = any($2))
               and a.application_id = $3),
           own as materialized (
             select q.questionnaire_id, q.owner_application_id, q.created_time, q.display_name,
               q.archived_time is null and q.published_version_id is not null as is_in_use from questionnaire q
             where q.organization_id = $1 and case when exists (select from chosen)
               then q.owner_application_id = $3 else cardinality($2) = 0 or q.owner_application_id = any($2) end
             order by q.created_time desc, q.questionnaire_id limit $5),
           version as (
             select v.version_id, row_number() over (partition by v.questionnaire_id order by v.number desc) as place,
               o.created_time, o.questionnaire_id
             from own o join questionnaire_version v
               on v.organization_id = $1 and v.questionnaire_id = o.questionnaire_id
             order by place, o.created_time desc, o.questionnaire_id limit $6)
           select o.time_zone, o.minimum_base, o.first_weekday,
             (select c.application_id from chosen c) as application_id,
             array(select k.application_id from known k) as application_ids,
             array(select k.display_name from known k) as application_names,
             array(select w.questionnaire_id from own w) as questionnaire_ids,
             array(select w.owner_application_id from own w) as owners,
             array(select w.questionnaire_id from own w where w.is_in_use limit $7) as published_ids,
             array(select w.display_name from own w where w.is_in_use limit $7) as published_names,
             array(select v.version_id from version v
                   order by v.place, v.created_time desc, v.questionnaire_id) as version_ids,
             exists (select from custom_report r where r.organization_id = $1 and r.pinned_time is not null)
               as has_pinned
           from organization o where o.organization_id = $1""",
        *(caller.organization_id, list(caller.application_ids), application_id),
        *(APPLICATIONS_MAX, QUESTIONNAIRES_MAX, contexts.VERSIONS_MAX, PUBLISHED_MAX),
    )
    return Subjects(
        applications=list(zip(row["application_ids"], row["application_names"], strict=True)),
        application_id=row["application_id"],
        owners=dict(zip(row["questionnaire_ids"], row["owners"], strict=True)),
        published=dict(zip(row["published_ids"], row["published_names"], strict=True)),
        **{name: row[name] for name in ("version_ids", "time_zone", "minimum_base", "first_weekday", "has_pinned")},
    )


# Silence is found by one look at an index for each questionnaire, so that years of answers cost nothing.
_ATTENTION: Final[LiteralString] = f"""with own as materialized (
    select q.questionnaire_id, q.display_name, q.published_version_id from questionnaire q
    where q.organization_id = $1 and q.archived_time is null
      and (cardinality($2::text[]) = 0 or q.owner_application_id = any($2))
    order by q.created_time desc limit $6),
  account as (
    select a.account_id, a.channel_id, a.title, a.paused_reason, a.paused_time is not null as is_paused
    from channel_account a
    where a.organization_id = $1 and (a.paused_time is not null or a.open_until > $5)
      and exists (
        select from pipeline p where p.organization_id = $1 and p.account_id = a.account_id
          and p.deleted_time is null and p.questionnaire_id in (select questionnaire_id from own))
    order by a.account_id limit $7),
  stopped as (
    select p.questionnaire_id, p.pipeline_id, p.title from pipeline p
    where p.organization_id = $1 and p.paused and p.deleted_time is null
      and p.questionnaire_id in (select questionnaire_id from own)
    order by p.title limit $7),
  silent as (
    select o.questionnaire_id, o.display_name from own o
    where o.published_version_id is not null
      and not exists (
        select from questionnaire_instance i
        where i.organization_id = $1 and i.questionnaire_id = o.questionnaire_id and not i.test
          and i.deleted_time is null and i.submitted_time is not null and i.submitted_time >= $8)
      and (select count(*) from (
        select from questionnaire_instance i
        where i.organization_id = $1 and i.questionnaire_id = o.questionnaire_id and not i.test
          and i.deleted_time is null and i.submitted_time is not null and i.submitted_time >= $9
        limit $10) a) = $10
      and exists (
        select from questionnaire_instance i
        where i.organization_id = $1 and i.questionnaire_id = o.questionnaire_id and i.created_time >= $8
          and i.sent_time is not null and not i.test)
    order by o.display_name limit $7),
  low as (
    select p.title, p.remaining_credits + p.extra_credits as credits_left, p.credits from plan p
    where p.organization_id = $1 and p.state = 'active' and p.kind <> 'unlimited' and p.start_time <= $5
      and (p.end_time is null or p.end_time > $5)
      and (p.application_id is null or cardinality($2) = 0 or p.application_id = any($2))
      and p.remaining_credits + p.extra_credits <= p.credits * $11::float8
    order by p.plan_id limit $7),
  pool as ({_LOW_POOLS} order by free_count, pool_id limit $7)
  select (select to_jsonb(c) from ({OPEN_COUNTS}) c) as cases,
    exists (select from sending_guard where paused_time is not null) as is_paused,
    (select coalesce(jsonb_agg(to_jsonb(account)), '[]') from account) as accounts,
    (select coalesce(jsonb_agg(to_jsonb(stopped)), '[]') from stopped) as pipelines,
    (select coalesce(jsonb_agg(to_jsonb(silent)), '[]') from silent) as silent,
    (select coalesce(jsonb_agg(to_jsonb(low)), '[]') from low) as plans,
    (select coalesce(jsonb_agg(to_jsonb(pool)), '[]') from pool) as pools,
    ({LOST_HOST}) as lost_host"""


NOTHING: Final[Mapping[str, Any]] = {
    **dict.fromkeys(("accounts", "pipelines", "silent", "plans", "pools"), ()), "is_paused": False, "lost_host": None,
}  # fmt: skip


async def get_attention(
    db: Database, *, user_id: str | None, now: datetime, **reach: Unpack[Reach]
) -> Mapping[str, Any]:
    """All that needs a person, each kind as a list of documents: `accounts`, `pipelines`, `silent`, `plans`, `pools`.

    `cases`: the counts of open cases, as `alerts/cases` counts them.
    `lost_host`: of the organization's public pages, while its record is gone.
    `is_paused`: all sending of the installation waits for its operator.
    """
    row = await db.fetch_one(
        _ATTENTION,
        *(*values_of(reach), reach["test_only"], user_id, now, QUESTIONNAIRES_LISTED_MAX, LISTED_MAX),
        *(now - SILENT, now - SILENT - BEFORE, ANSWERS_MIN, LOW_SHARE),
    )
    return dict(row)


class FirstSteps(msgspec.Struct, frozen=True):
    """The progress of a new organization. `is_closed`: somebody closed the list of what is left."""

    is_closed: bool
    has_tested: bool
    has_sent: bool
    has_alert: bool
    has_colleagues: bool


async def get_first_steps(db: Database, *, organization_id: str) -> FirstSteps:
    return await db.records(FirstSteps).fetch_one(
        """select o.first_steps_closed_time is not null as is_closed,
             exists (select from questionnaire_instance i where i.organization_id = $1 and i.test
               and i.submitted_time is not null and i.deleted_time is null) as has_tested,
             exists (select from queue_item q where q.organization_id = $1 and not q.test) as has_sent,
             exists (select from alert a where a.organization_id = $1 and a.active and a.deleted_time is null
               and a.trigger <> 'call_back') as has_alert,
             (select count(*) > 1 from organization_user u where u.organization_id = $1 and u.active
               and not u.service and u.removed_time is null) as has_colleagues
           from organization o where o.organization_id = $1""",
        organization_id,
    )


async def update_first_steps(db: Database, *, organization_id: str, now: datetime) -> None:
    await db.execute(
        """update organization set first_steps_closed_time = $2
           where organization_id = $1 and first_steps_closed_time is null""",
        *(organization_id, now),
    )


APPLICATIONS_MAX: Final = 100
BIN_ANSWERS: Final = 30  # so many a bin on average, or the next larger bin is taken
BIN_DAYS: Final[Mapping[Bucket, int]] = {"day": 1, "week": 7, "month": 30}
BINS_MIN: Final = 3  # fewer points are no trend
BINS_MAX: Final = 60  # more points cannot be told apart
DAYS_MAX: Final = 366
FUNNEL: Final = ("sent", "delivered", "viewed", "started", "completed")


class Bin(msgspec.Struct, frozen=True, kw_only=True):
    """The figure of the days from `start` on."""

    start: date
    figure: FigureRecord


class Score(msgspec.Struct, frozen=True, kw_only=True):
    """`of_all`: of a caller with a limit the figure of everybody, if enough others are in it."""

    metric: str
    figure: FigureRecord
    bins: Sequence[Bin]
    of_all: FigureRecord | None = None


class Overview(msgspec.Struct, frozen=True, kw_only=True):
    """`bucket`: the bins of the trends; `is_coarse`: smaller ones would have had too few answers.

    `is_of_months`: the period is of whole months.
    """

    period: Period
    scores: Sequence[Score]
    bucket: Bucket
    is_coarse: bool
    funnel: Sequence[tuple[str, FigureRecord]]
    questionnaires: int
    is_of_months: bool


async def overview_of(
    db: Database, *, caller: Caller, subjects: Subjects, period: Mapping[str, Any], now: datetime
) -> Overview | None:
    """The figures of these questionnaires; None where there is none. Readers of figures alone get whole months.

    `period`: the members of a spec that say it.
    """
    if not subjects.owners:
        return None
    owners, organization_id = subjects.owners, caller.organization_id
    questions, _ = await contexts.questions_of(db, organization_id=organization_id, version_ids=subjects.version_ids)
    context = ReportContext(
        organization_id=organization_id,
        time_zone=subjects.time_zone,
        minimum_base=subjects.minimum_base,
        first_weekday=subjects.first_weekday,
        questions=questions,
        declared=(),  # no figure is by metadata
        test=caller.test,
        protected=not caller.reads_answers,
        only=caller.only,
    )
    metrics = tuple((metric, None) for metric in SCORES if context.of_types(metric))
    asked = {"metrics": [], **period, "questionnaire_ids": tuple(owners), "compare": "previous_period"}
    steps: Bucket = "month" if context.protected else "day"
    query = replace(queries.query_of(asked), metrics=metrics, group_by=("bucket",), bucket=steps)
    funnel = replace(query, metrics=tuple((stage, None) for stage in FUNNEL), group_by=(), bucket=None, compare="none")
    stages = await results.run_query(db, query=funnel, context=context, now=now)
    days = max(1, round((stages.period.to_time - stages.period.from_time) / timedelta(days=1)))
    scores, chosen = await _scores(db, query, context, days=days, now=now) if metrics else ((), query)
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
    db: Database, query: ReportQuery, context: ReportContext, *, days: int, now: datetime
) -> tuple[Sequence[Score], ReportQuery]:
    """The scores, with the query whose bins have answers enough."""

    def choose(total: Sequence[FigureRecord]) -> Bucket:
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
    of_all: Sequence[FigureRecord] = ()
    if context.only:
        whole = replace(query, group_by=(), bucket=None, compare="none")
        of_all = (await results.run_query(db, query=whole, context=replace(context, only=None), now=now)).total
    starts = periods.buckets(result.period, query.bucket)
    return [
        Score(
            metric=metric,
            figure=result.total[index],
            bins=[Bin(start=start, figure=row.figures[index]) for start, row in zip(starts, result.rows, strict=True)],
            of_all=results.of_others(of_all[index], result.total[index], context.minimum_base) if of_all else None,
        )
        for index, (metric, _) in enumerate(query.metrics)
    ], query


def _finest(days: int) -> Bucket:
    """The shortest bins that so many days are shown in."""
    for bucket, length in BIN_DAYS.items():
        if days <= BINS_MAX * length:
            return bucket
    return "month"


routes = Routes(tag="Reports", scope="Report")


class OverviewQuery(fields.Request):
    """The period that the overview covers, 30 days where none is named, and the application."""

    days: Annotated[int, Meta(ge=1, le=DAYS_MAX)] | None = None
    calendar_period: CalendarPeriod | None = None
    application_id: fields.Id | None = None


class OverviewBin(fields.Answer):
    """A step of a trend, from its first day on."""

    bucket: str
    figure: Figure


class OverviewScore(fields.Answer):
    """A score of all questionnaires together; its `change` is against as many days before."""

    figure: Figure
    bins: list[OverviewBin]
    of_all: Annotated[
        Figure | None,
        Meta(
            description="For a caller with a limit, the figure of everybody, if the others have as many answers as the "
            "minimum base; else null."
        ),
    ] = None


class ReportOverview(fields.Answer):
    """The scores of the period with their trends, and the funnel. Without a questionnaire all of it is empty."""

    period: PeriodShown | None
    bucket: Annotated[str, Meta(description="The shortest steps that have 30 answers each on average.")]
    questionnaires: Annotated[int, Meta(description="So many are counted, the newest of them.")]
    scores: list[OverviewScore]
    funnel: list[Figure]


@routes.get(
    "/report/overview",
    answer=ReportOverview,
    query=OverviewQuery,
    for_limited="part",
    is_long=True,
    summary="Get the overview",
    description="The scores of the last days with their trend and change, and the funnel of the invitations.",
)
async def get_overview(call: Call[None], db: Database) -> Answer:
    query: OverviewQuery = call.query
    subjects = await get_subjects(db, caller=call.caller, application_id=query.application_id)
    if query.application_id and subjects.application_id is None:
        raise errors.Invalid.in_query("application_id", "unknown_id", "There is no such application.")
    period = {"last_days": query.days, "calendar_period": query.calendar_period}
    found = await overview_of(db, caller=call.caller, subjects=subjects, period=period, now=call.now)
    if found is None:
        return Answer(ReportOverview(period=None, bucket="day", questionnaires=0, scores=[], funnel=[]))
    return Answer(
        ReportOverview(
            period=PeriodShown.of(found.period, found.period.zone, date_basis="submitted"),
            bucket=found.bucket,
            questionnaires=found.questionnaires,
            scores=[
                OverviewScore(
                    figure=figure_of(score.figure),
                    bins=[OverviewBin(bucket=f"{each.start}", figure=figure_of(each.figure)) for each in score.bins],
                    of_all=figure_of(score.of_all) if score.of_all else None,
                )
                for score in found.scores
            ],
            funnel=[figure_of(figure) for _, figure in found.funnel],
        )
    )
