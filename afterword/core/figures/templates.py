"""Ready reports: what each shows, and its query parameters."""

from collections.abc import Mapping
from typing import Final

import msgspec

from afterword.core.figures import metrics
from afterword.core.figures.periods import CALENDAR_PERIODS
from afterword.core.figures.reports import BOUNCED, RATES, STAGES
from afterword.core.questionnaires.question_types import SCORES


class Parameter(msgspec.Struct, frozen=True):
    """A query parameter of a template."""

    name: str
    type: str  # as in the reference: id, time, text, number
    required: bool = False
    default: object = None


class Template(msgspec.Struct, frozen=True):
    template_id: str
    title: str
    description: str
    own: tuple[Parameter, ...] = ()
    metrics: tuple[str, ...] = ()
    basis: str = "submitted"

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        return (
            *self.own,
            Parameter("questionnaire_id", "[id]", required=True),
            Parameter("from_time", "time", default="30 days before to_time"),
            Parameter("to_time", "time", default="now"),
            Parameter("calendar_period", ", ".join(CALENDAR_PERIODS)),
            Parameter("time_zone", "zone", default="the organization's"),
            Parameter("date_basis", "submitted, completed or sent", default=self.basis),
            Parameter("filter", "Condition as JSON"),
            Parameter("level", "number 0.5-0.999", default=metrics.LEVEL_DEFAULT),
            Parameter("compare", "none, previous_period, previous_year or rest", default="none"),
        )


_BY_METRIC: Final = "submitted; of response and completion sent"
COMMENTS: Final = "comments"
_QUESTION: Final = Parameter("question_id", "id")
_METRIC: Final = Parameter("metric", "nps, csat, ces, mean, response or completion", required=True)
TEMPLATES: Final[Mapping[str, Template]] = {
    each.template_id: each
    for each in (
        *(
            Template(name, one.report, one.description, (_QUESTION,), (name, *([f"{name}_mean"] if one.mean else [])))
            for name, one in SCORES.items()
        ),
        Template(
            "distribution",
            "Distribution",
            "How often each value was given to one question, in percent of its answers.",
            (Parameter("question_id", "id", required=True),),
        ),
        Template(
            "funnel",
            "Funnel",
            "What became of the invitations that went out in the period, in counts and rates.",
            (Parameter("channel_id", "integer"), Parameter("pipeline_id", "id")),
            (*STAGES, *RATES),
            basis="sent",
        ),
        Template(
            "sending",
            "Sending",
            "What became of the messages of each day, channel or pipeline, in counts and rates.",
            (
                Parameter("by", "bucket, channel or pipeline", default="bucket"),
                Parameter("bucket", "day, week, month or quarter", default="day"),
            ),
            ("sent", "delivered", BOUNCED, "viewed", "started", "completed", "delivery", "response"),
            basis="sent",
        ),
        Template(
            "trend",
            "Trend",
            "A metric by day, week, month or quarter.",
            (_METRIC, _QUESTION, Parameter("bucket", "day, week, month or quarter", default="month")),
            basis=_BY_METRIC,
        ),
        Template(
            "by_metadata",
            "By metadata",
            "A metric for each value of a name of metadata, such as each store.",
            (
                _METRIC,
                _QUESTION,
                Parameter(
                    "metadata",
                    "questionnaire_metadata:{name}, responder_metadata:{name}, case:cause or case:remedy",
                    required=True,
                ),
            ),
            basis=_BY_METRIC,
        ),
        Template(
            "drivers",
            "Drivers",
            "How strongly the ratings of other questions, and of the rows of a matrix whose columns are a scale, go "
            "together with an outcome; hidden below 30 pairs.",
            (Parameter("outcome_question_id", "id", required=True), Parameter("question_ids", "[id]")),
        ),
        Template(
            COMMENTS,
            "Comments",
            "The words of the newest 2,000 comments on one questionnaire, or of each group; without date_basis, filter "
            "and compare.",
            (
                Parameter("metadata", "band, channel or questionnaire_metadata:{name}"),
                Parameter("band", "detractor, passive or promoter"),
            ),
        ),
    )
}
