"""The question of a report: parameters of the address, the best ones where it has none, and the fields of the form."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from afterword import errors
from afterword.console.periods import CALENDAR, DATES, PeriodChoice
from afterword.console.response_list import CHANNELS
from afterword.console.screens import Visit
from afterword.core.figures import cells as core_cells, templates
from afterword.core.figures.queries import ReportContext
from afterword.core.figures.templates import TEMPLATES
from afterword.core.questionnaires.metadata import MetadataDefinition
from afterword.core.questionnaires.question_types import SCORES
from afterword.kit.texts import Marked, Texts
from afterword.kit.ui.lists import address
from afterword.listening.reports.custom_reports import CustomReport
from afterword.listening.reports.resources import ReportSpec, document_of
from afterword.listening.screens import views
from afterword.listening.screens.views import Names, Urls

PERIODS: Final = (7, 30, 90, 365)
DAYS_DEFAULT: Final = 90
CONDITION_CHARACTERS_MAX: Final = 2_000
# Name and sentence of each template.
READY_TEXTS: Final[Mapping[str, tuple[Marked, Marked]]] = {
    **{name: (score.label, score.text) for name, score in SCORES.items()},
    "trend": ("Trend", "A score per day, week, month or quarter."),
    "by_metadata": ("Compare groups", "The score of each branch or product, and which of them differ."),
    "distribution": ("Distribution", "How often each answer to a question was given."),
    "funnel": ("Funnel", "From the message to the completed response."),
    "sending": ("Sending", "Messages sent, delivered, bounced, opened and answered, by day, channel or pipeline."),
    "drivers": ("Drivers", "Which ratings drive an outcome."),
}
METRICS: Final[Mapping[str, Marked]] = {
    **{name: score.label for name, score in SCORES.items()},
    "mean": "Mean of a question",
    "response": "Answered, of sent",
    "completion": "Completed, of started",
}
BUCKETS: Final[Mapping[str, Marked]] = {"day": "Day", "week": "Week", "month": "Month", "quarter": "Quarter"}
COMPARES: Final[Mapping[str, Marked]] = {
    "none": "Nothing",
    "previous_period": "Previous period",
    "previous_year": "Previous year",
    "rest": "All other groups",
}
STORE: Final = "questionnaire_metadata:store_id"
# The parameters of an address beside the period, each a member of a spec.
_OWN: Final = ("metric", "question_id", "metadata", "by", "bucket", "outcome_question_id", "compare")
BYS: Final[Mapping[str, Marked]] = {"bucket": "Time", "channel": "Channel", "pipeline": "Pipeline"}
OF_ANSWERS: Final = frozenset({"drivers", "sending"})  # not for readers of figures alone


class Field(msgspec.Struct, frozen=True):
    """A choice of the form: its options are pairs of value and text."""

    name: str
    label: str
    options: Sequence[tuple[str, str]]
    value: str = ""


class AskedReport(msgspec.Struct, frozen=True):
    """A report as its address asks for it: a template, or a saved one with changes of period and filter."""

    path: str
    given: Mapping[str, str]
    period: Mapping[str, Any]  # members of the spec; empty for that of the saved report
    template_id: str | None
    saved: CustomReport | None = None

    def url(self, below: str = "", **changed: object) -> str:
        return address(f"{self.path}{below}", {**self.given, **changed})

    @property
    def condition(self) -> object:
        text = self.given.get("condition", "")
        try:
            return msgspec.json.decode(text) if text else None
        except msgspec.DecodeError:
            raise errors.Invalid.at("/spec/filter", "invalid_format", "A condition as JSON is expected.") from None

    def spec(self, questionnaire_ids: Sequence[str], context: ReportContext) -> dict[str, Any]:
        """The spec of the address; of what it does not name, the best known."""
        if self.saved is not None:
            spec = {**self.saved.spec, **self.period}
            if self.given.get("compare"):
                spec["compare"] = self.given["compare"]
            filters = [each for each in (spec.get("filter"), self.condition) if each is not None]
            return {**spec, "filter": {"all": filters} if len(filters) > 1 else next(iter(filters), None)}
        chosen = {name: self.given[name] for name in _OWN if self.given.get(name)}
        document = {
            "questionnaire_ids": questionnaire_ids,
            "template_id": self.template_id,
            "filter": self.condition,
            **_defaults(self.template_id or "", context, chosen),
            **chosen,
        }
        try:
            spec = document_of(msgspec.convert(document, ReportSpec))
        except msgspec.ValidationError:
            raise errors.Invalid("The address asks for something that is not there.") from None
        return {**spec, "last_days": DAYS_DEFAULT, **self.period}


def given_of(query: Mapping[str, str]) -> dict[str, str]:
    """The parameters of the address, as far as they are some."""
    compare = query.get("compare", "")
    given = {
        "questionnaire": query.get("questionnaire", "")[:22],
        **PeriodChoice.read(query, "", PERIODS).query,
        "condition": query.get("condition", "")[:CONDITION_CHARACTERS_MAX],
        **{name: query.get(name, "")[:300] for name in _OWN},
        "compare": compare if compare in COMPARES else "",
    }
    return {name: value for name, value in given.items() if value}


def period_of(visit: Visit, given: Mapping[str, str]) -> Mapping[str, Any]:
    """The members of a spec for the period that an address names; none where it names none."""
    return PeriodChoice.read(given, "", PERIODS).spec(visit) if given.get("period") else {}


def form_of(
    visit: Visit, wanted: AskedReport, spec: Mapping[str, Any], names: Names, metadata: Mapping[str, str]
) -> dict[str, Any]:
    """The fields that the report has: name, label, options and the chosen value."""
    words = visit.words
    found = [] if wanted.saved is not None else _own_fields(visit, wanted, spec, names, metadata)
    days = spec.get("last_days")
    period = PeriodChoice.read(wanted.given, days or spec.get("calendar_period") or "", PERIODS)
    as_saved: list[tuple[str, str]] = []
    if period.name not in {*CALENDAR, *map(str, PERIODS), DATES}:
        period = PeriodChoice("")
        as_saved = [("", words.plural("{n} day", "{n} days", days) if days else words("As saved"))]
    if wanted.template_id not in {"drivers", templates.COMMENTS}:
        has_rest = wanted.template_id == "by_metadata" or bool(spec.get("group_by"))
        compares = [(name, words(text)) for name, text in COMPARES.items() if name != "rest" or has_rest]
        found.append(Field("compare", words("Compare with"), compares, str(spec["compare"])))
    return {
        "fields": found,
        "period": period.field(words, PERIODS, as_saved),
        "condition": wanted.given.get("condition", ""),
    }


def _own_fields(
    visit: Visit, wanted: AskedReport, spec: Mapping[str, Any], names: Names, metadata: Mapping[str, str]
) -> list[Field]:
    words, buckets = visit.words, BUCKETS
    if not visit.caller.reads_answers:
        buckets = {name: BUCKETS[name] for name in ("month", "quarter")}
    asks_mean = spec.get("metric") == "mean"
    numeric = core_cells.DISTRIBUTED if wanted.template_id == "distribution" else core_cells.NUMERIC
    found = [
        Field("metric", words("Score"), [(name, words(text)) for name, text in METRICS.items()]),
        Field("metadata", words("Groups"), list(metadata.items())),
        Field("by", words("Groups"), [(name, words(text)) for name, text in BYS.items()]),
        Field("outcome_question_id", words("Outcome"), _questions(names, core_cells.NUMERIC)),
        Field("question_id", words("Question"), _questions(names, numeric)),
        Field("bucket", words("Steps"), [(name, words(text)) for name, text in buckets.items()]),
    ]
    own = {each.name for each in TEMPLATES[wanted.template_id or ""].own}
    if wanted.template_id != "distribution" and not asks_mean:
        own -= {"question_id"}
    shown = [replace(one, value=str(spec.get(one.name) or "")) for one in found if one.name in own]
    if len(names.questionnaires) > 1:
        options = [("", words("All")), *sorted(names.questionnaires.items(), key=lambda pair: pair[1])]
        shown.insert(0, Field("questionnaire", words("Questionnaire"), options, wanted.given.get("questionnaire", "")))
    return shown


def _questions(names: Names, types: frozenset[str]) -> list[tuple[str, str]]:
    return [(id_, question.plain_title) for id_, question in names.questions.items() if question.type in types]


def _defaults(template_id: str, context: ReportContext, chosen: Mapping[str, str]) -> dict[str, Any]:
    """The parameters that a report needs and that the address does not name."""
    scores = [metric for metric in SCORES if context.of_types(metric)]
    metric = chosen.get("metric") or (scores[0] if scores else "response")
    numeric = context.of_types(*SCORES, *sorted(core_cells.NUMERIC - {*SCORES}))
    scored = [each for kind in SCORES for each in context.of_types(kind)] or list(numeric)
    match template_id:
        case "trend" | "by_metadata":
            found: dict[str, Any] = {"metric": metric}
            if metric == "mean" and scored:
                found["question_id"] = scored[0]
            if template_id == "trend":
                return {**found, "bucket": "month" if context.protected else "week"}
            return {**found, "compare": "rest", "metadata": next(iter(_declared(context)), core_cells.CASE_GROUPS[0])}
        case "sending":
            return {"by": "bucket", "bucket": "week"}
        case "distribution":
            rated = scored or list(context.of_types(*sorted(core_cells.DISTRIBUTED)))
            return {"question_id": rated[0]} if rated else {}
        case "drivers":
            rated = {each for each, one in context.questions.items() if core_cells.is_rated(one)}
            among = set[str]().union(*(asked for asked in context.together if len(asked & rated) > 1))
            return {"outcome_question_id": next((one for one in scored if one in among), scored[0])} if scored else {}
        case _:
            return {}


def groups_of(words: Texts, context: ReportContext) -> dict[str, str]:
    return {**declared(words, context), **{group: words(views.GROUPS[group]) for group in core_cells.CASE_GROUPS}}


def report_names(
    words: Texts,
    context: ReportContext,
    questionnaires: Mapping[str, str],
    *,
    url: Urls | None = None,
    pipelines: Mapping[str, str] | None = None,
) -> Names:
    """The names of rows of a report. `url`: None where no responses may be read."""
    return Names(
        words=words,
        questions=context.questions,
        questionnaires=questionnaires,
        channels=CHANNELS,
        metadata=declared(words, context),
        url=url or (lambda _selection, _stages: ""),
        pipelines=pipelines or {},
    )


def declared(words: Texts, context: ReportContext) -> dict[str, str]:
    """The names by which responses may be grouped, with their titles, the likeliest first."""
    return {name: one.title_in(words) for name, one in _declared(context).items()}


def _declared(context: ReportContext) -> dict[str, MetadataDefinition]:
    found = {
        f"questionnaire_metadata:{name}": one
        for declared in context.declared
        for name, one in declared.questionnaire.items()
        if not one.anonymize
    }
    likely = sorted(found, key=lambda name: (name != STORE, found[name].type not in {"text", "boolean"}))
    return {name: found[name] for name in likely}
