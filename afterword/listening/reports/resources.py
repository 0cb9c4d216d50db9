"""The requests and answers of reports, and their mapping from what was computed."""

from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from afterword import errors
from afterword.core.figures import metrics
from afterword.core.figures.periods import DAYS_MAX, Bucket, CalendarPeriod, Compare
from afterword.core.figures.queries import ReportQuery
from afterword.core.figures.reports import (
    GROUPS_MAX,
    METRICS_MAX,
    QUESTIONNAIRES_MAX,
    Basis,
    Figure as FigureRecord,
    Metric,
    SuppressedReason,
)
from afterword.core.figures.rows import Selection
from afterword.core.figures.templates import Parameter
from afterword.core.questionnaires import conditions
from afterword.core.questionnaires.question_types import ScoreName
from afterword.kit.nouns.structs import shown_as
from afterword.kit.web import fields

FILTER_CHARACTERS_MAX = 12_000

Level = Annotated[float, Meta(ge=0.5, le=0.999)]
QuestionnaireIds = Annotated[list[fields.Id], Meta(min_length=1, max_length=QUESTIONNAIRES_MAX)]
GroupBy = Annotated[str, Meta(min_length=1, max_length=300, examples=["bucket", "questionnaire_metadata:store_id"])]
Condition = Annotated[
    dict[str, Any], Meta(examples=[{"subject": "questionnaire_metadata:store_id", "operator": "equal", "value": "7"}])
]


TemplateId = Literal[
    ScoreName, "distribution", "funnel", "sending", "trend", "by_metadata", "drivers", "comments"
]  # fmt: skip
By = Literal["bucket", "channel", "pipeline"]
Band = Literal["detractor", "passive", "promoter"]


class MetricWanted(fields.Request):
    """A metric. Without a question, nps, csat and ces are of all questions of their type."""

    metric: Metric
    question_id: fields.Id | None = None


class ReportParameters(fields.Request, kw_only=True):
    """The parameters that templates and custom reports share."""

    from_time: fields.Moment | None = None
    to_time: fields.Moment | None = None
    calendar_period: CalendarPeriod | None = None
    time_zone: fields.Zone | None = None
    date_basis: Basis | None = None
    level: Level = 0.95
    compare: Compare = "none"
    question_id: fields.Id | None = None
    metric: Metric | None = None
    bucket: Bucket | None = None
    metadata: Annotated[str, Meta(min_length=1, max_length=300)] | None = None
    channel_id: Annotated[int, Meta(ge=1, le=32_767)] | None = None
    pipeline_id: fields.Id | None = None
    outcome_question_id: fields.Id | None = None
    question_ids: Annotated[list[fields.Id], Meta(max_length=200)] | None = None
    by: By | None = None
    band: Band | None = None


class ReportSpec(ReportParameters):
    """The definition of a custom report: metrics or a template, questionnaires, groups, period."""

    questionnaire_ids: QuestionnaireIds
    metrics: Annotated[list[MetricWanted], Meta(max_length=METRICS_MAX)] | UnsetType = UNSET
    template_id: TemplateId | None = None
    group_by: Annotated[list[GroupBy], Meta(max_length=GROUPS_MAX)] | UnsetType = UNSET
    filter: Condition | None = None
    last_days: Annotated[int, Meta(ge=1, le=DAYS_MAX)] | None = None
    chart: Literal["table", "bar", "line", "gauge"] = "table"


class MetricShown(fields.Answer):
    """A metric of a spec."""

    metric: str
    question_id: fields.Id | None


class SpecShown(fields.Answer):
    """A spec with every member."""

    questionnaire_ids: list[fields.Id]
    metrics: list[MetricShown]
    group_by: list[str]
    bucket: str | None
    filter: dict[str, Any] | None
    from_time: fields.DateTime | None
    to_time: fields.DateTime | None
    last_days: int | None
    date_basis: str | None
    time_zone: str | None
    compare: str
    level: float
    chart: str
    calendar_period: str | None = None
    template_id: str | None = None
    question_id: fields.Id | None = None
    metric: str | None = None
    metadata: str | None = None
    channel_id: int | None = None
    pipeline_id: fields.Id | None = None
    outcome_question_id: fields.Id | None = None
    question_ids: list[fields.Id] | None = None
    by: str | None = None
    band: str | None = None


TemplateParameter: Final = shown_as("TemplateParameter", Parameter, types={"default": Any})


class ReportTemplate(fields.Answer):
    """A ready report and its parameters."""

    template_id: str
    title: str
    description: str
    parameters: list[TemplateParameter]


Interval: Final = shown_as("Interval", metrics.Interval)
Change: Final = shown_as("Change", metrics.Change, types={"method": str})


class Figure(fields.Answer):
    """One number with its unit, base, interval and method."""

    metric: str
    value: float | None
    unit: str
    n: int | None
    base: str
    population: int | None
    interval: Interval | None
    method: str
    scale: str | None
    parts: dict[str, int] | None
    suppressed: bool
    suppressed_reason: Annotated[
        SuppressedReason | None,
        Meta(
            description="`few_people`: the group, or one that it would show, has fewer people than the minimum base, "
            "and the caller may not read single answers. `few_pairs`: a correlation of fewer than 30 pairs."
        ),
    ]
    change: Change | None


class PeriodShown(fields.Resource):
    """The time that a report covers."""

    from_time: fields.DateTime
    to_time: fields.DateTime
    time_zone: str
    date_basis: str


SelectionShown: Final = shown_as(
    "SelectionShown",
    Selection,
    types={
        "questionnaire_ids": list[fields.Id],
        "date_basis": str,
        "condition": dict[str, Any] | None,
        "version_id": fields.Id | None,
        "pipeline_id": fields.Id | None,
        "only": str | None,
    },
)


class ResultRow(fields.Answer):
    """One row: the values of its groups, its figures, and the responses behind them."""

    key: dict[str, str | int | None]
    figures: list[Figure]
    selection: SelectionShown


class ReportResult(fields.Resource):
    """The result of a report."""

    template_id: str | None
    report_id: fields.Id | None
    title: str
    generated_time: fields.DateTime
    period: PeriodShown
    parameters: dict[str, Any]
    rows: list[ResultRow]
    total: list[Figure]
    suppressed_rows: int
    truncated: bool


class TemplateQuery(ReportParameters):
    """The parameters of all templates; GET /report/template lists those of each."""

    questionnaire_id: QuestionnaireIds
    filter: Annotated[str, Meta(max_length=FILTER_CHARACTERS_MAX)] | None = None


class ReportRun(fields.Request):
    """A report that is run without being saved."""

    spec: ReportSpec


def figure_of(figure: FigureRecord) -> Figure:
    return msgspec.convert(figure.document, Figure)


def query_of(query: Any) -> ReportQuery:
    """The members of a GET that say what is counted, and of when. Raises Invalid."""
    given = {
        **query.named(),
        "questionnaire_ids": tuple(dict.fromkeys(query.questionnaire_id)),
        "filter": conditions.read_parameter(query.filter),
        "from_time": query.from_time and query.from_time.instant,
        "to_time": query.to_time and query.to_time.instant,
    }
    return msgspec.convert(given, ReportQuery)


def document_of(spec: ReportSpec) -> dict[str, Any]:
    """A spec as it is stored: every member, times in UTC."""
    document: dict[str, Any] = {"metrics": [], "group_by": [], **spec.named()}
    if spec.template_id is not None:
        given = [name for name in ("metrics", "group_by") if document[name]]
        decided = "The template decides this."
        errors.check([errors.FieldError("exclusive", decided, pointer=f"/spec/{name}") for name in given])
    elif not document["metrics"]:
        code = "required" if spec.metrics is UNSET else "too_few"
        raise errors.Invalid.at("/spec/metrics", code, "Metrics or a template are required.")
    document["metrics"] = [each.named() for each in document["metrics"]]
    for name in ("from_time", "to_time"):
        document[name] = document[name] and document[name].instant.isoformat()
    return document
