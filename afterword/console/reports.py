"""Reports: the ready and the saved ones, each as charts with its tables; the address holds the whole question."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Final
from urllib.parse import parse_qsl, quote

import msgspec
from starlette.responses import Response

from afterword import errors
from afterword.console import report_views
from afterword.console.lists import Listing, address, key_of, read_key
from afterword.console.report_files import file_of
from afterword.console.report_views import Names
from afterword.console.response_list import CHANNELS, RESPONSES
from afterword.console.screens import Screens, Visit
from afterword.console.text import shown_figure
from afterword.core.figures import queries
from afterword.core.figures import reports as core_reports
from afterword.core.figures.queries import ReportContext
from afterword.core.figures.rows import Selection
from afterword.core.figures.templates import TEMPLATES
from afterword.core.reading.findings import Findings
from afterword.core.wire.lists import Page
from afterword.db import Database
from afterword.questionnaires import api as questionnaires_api
from afterword.questionnaires import store as questionnaires_store
from afterword.reports import plans, results, service, store
from afterword.reports.resources import CustomReport as CustomReportShown
from afterword.reports.resources import ReportSpec, document_of
from afterword.reports.results import Result
from afterword.reports.store import CustomReport
from afterword.web import fields, html

REPORTS: Final = "/console/reports"
READY: Final = f"{REPORTS}/ready/{{template_id}}"
SAVED: Final = f"{REPORTS}/saved/{{report_id}}"
PERIODS: Final = (7, 30, 90, 365)
DAYS_DEFAULT: Final = 90
LISTED_MAX: Final = 200
ROWS: Final = 50
CONDITION_CHARACTERS_MAX: Final = 2_000
TITLE_CHARACTERS_MAX: Final = 200
QUESTIONNAIRES: Final = fields.listing_of(questionnaires_api.Questionnaire)
SAVED_LISTING: Final = fields.listing_of(CustomReportShown, order=(("created_time", "desc"),))
# Name and sentence of each template.
READY_TEXTS: Final[Mapping[str, tuple[str, str]]] = {
    "nps": ("NPS", "Promoters less detractors, of each question."),
    "csat": ("CSAT", "The share of satisfied customers, of each question."),
    "ces": ("CES", "The share of those for whom it was easy, of each question."),
    "trend": ("Trend", "A score by day, week, month or quarter."),
    "by_metadata": ("Groups side by side", "A score of each branch or product, and which differ from the others."),
    "distribution": ("Distribution", "How often each answer was given to a question."),
    "funnel": ("Funnel", "From the message to the completed response."),
    "drivers": ("Drivers", "Which ratings go together with an outcome."),
}
METRICS: Final[Mapping[str, str]] = {
    "nps": "NPS",
    "csat": "CSAT",
    "ces": "CES",
    "mean": "Mean of a question",
    "response": "Answered of sent",
    "completion": "Completed of started",
}
BUCKETS: Final[Mapping[str, str]] = {"day": "Day", "week": "Week", "month": "Month", "quarter": "Quarter"}
COMPARES: Final[Mapping[str, str]] = {
    "none": "Nothing",
    "previous_period": "The time before",
    "previous_year": "The year before",
    "rest": "All other groups",
}
STORE: Final = "questionnaire_metadata:store_id"
# The parameters of an address beside the period, each a member of a spec.
_OWN: Final = ("metric", "question_id", "metadata", "bucket", "outcome_question_id", "compare")

routes = Screens()


@dataclass(frozen=True, slots=True)
class Field:
    """A choice of the form: its options are pairs of value and text."""

    name: str
    label: str
    options: Sequence[tuple[str, str]]
    value: str = ""


@dataclass(frozen=True, slots=True)
class AskedReport:
    """A report as its address asks for it: a template, or a saved one with changes of period and filter."""

    path: str
    given: Mapping[str, str]
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

    def spec(self, questionnaire_ids: Sequence[str], context: ReportContext | None = None) -> dict[str, Any]:
        """The spec of the address; of what it does not name, the best known."""
        days = int(self.given.get("days") or 0)
        if self.saved is not None:
            spec = dict(self.saved.spec)
            if days:
                spec |= {"last_days": days, "from_time": None, "to_time": None}
            if self.given.get("compare"):
                spec["compare"] = self.given["compare"]
            filters = [each for each in (spec.get("filter"), self.condition) if each is not None]
            return {**spec, "filter": {"all": filters} if len(filters) > 1 else next(iter(filters), None)}
        chosen = {name: self.given[name] for name in _OWN if self.given.get(name)}
        document = {
            "questionnaire_ids": questionnaire_ids,
            "template_id": self.template_id,
            "filter": self.condition,
            "last_days": days or DAYS_DEFAULT,
            **(_defaults(self.template_id or "", context, chosen) if context else {}),
            **chosen,
        }
        try:
            return document_of(msgspec.convert(document, ReportSpec))
        except msgspec.ValidationError:
            raise errors.Invalid("The address asks for something that is not there.") from None


@routes.get(REPORTS, scope="Report.Read")
async def list_reports(visit: Visit) -> Response:
    key = read_key(visit.query.get("after", ""))
    async with visit.read() as db:
        found = await store.list_custom_reports(
            db,
            organization_id=visit.caller.organization_id,
            application_ids=visit.caller.application_ids,
            page=replace(Page.first(SAVED_LISTING, limit=ROWS), after=key),
        )
    rows, more = found.items, found.has_more
    return visit.page(
        "reports.html",
        title=visit.words("Reports"),
        ready=[
            {"url": f"{REPORTS}/ready/{name}", "title": visit.words(title), "text": visit.words(text)}
            for name, (title, text) in READY_TEXTS.items()
            if visit.caller.reads_answers or name != "drivers"
        ],
        saved=Listing(
            rows=[
                {
                    "url": SAVED.replace("{report_id}", one.report_id),
                    "title": one.title,
                    "text": _kind(visit, one),
                    "when": visit.words.date(one.updated_time, time_zone=visit.zone),
                }
                for one in rows
            ],
            empty=visit.words("Nothing is saved yet. Open a ready report, choose its period and groups, and save it."),
            next_url=address(REPORTS, after=key_of(rows[-1].created_time, rows[-1].report_id)) if more else "",
            first_url=REPORTS if key else "",
        ),
    )


@routes.get(READY, scope="Report.Read")
async def ready_report(visit: Visit) -> Response:
    return await _page(visit, _ready(visit))


@routes.get(SAVED, scope="Report.Read")
async def saved_report(visit: Visit) -> Response:
    return await _page(visit, await _saved(visit))


@routes.get(f"{READY}/csv", scope="Report.Read")
async def ready_file(visit: Visit) -> Response:
    async with visit.read() as db:
        result, *_ = await _run(visit, db, _ready(visit))
    return file_of(result, now=visit.now)


@routes.get(f"{SAVED}/csv", scope="Report.Read")
async def saved_file(visit: Visit) -> Response:
    wanted = await _saved(visit)
    async with visit.read() as db:
        result, *_ = await _run(visit, db, wanted)
    return file_of(result, now=visit.now)


@routes.post(READY, scope="Report.Create")
async def save_report(visit: Visit) -> Response:
    """Save the report of an address under a title."""
    wanted = replace(_ready(visit), given=_given(dict(parse_qsl(visit.form.text("given")))))
    title = visit.form.text("title")[:TITLE_CHARACTERS_MAX]
    if not title:
        wrong = visit.words("Give the report a title.")
        return await _page(visit, wanted, refusal=errors.Invalid.at("/title", "required", wrong))
    async with visit.write() as db:
        spec = (await _asked(visit, db, wanted))[0]
        columns = {"title": title, "description": None, "application_id": None, "spec": spec}
        report = await service.create(db, caller=visit.caller, columns=columns, now=visit.now)
    return html.redirect(f"{SAVED.replace('{report_id}', report.report_id)}?done=saved")


@routes.get(f"{SAVED}/delete", scope="Report.Delete")
async def confirm_deletion(visit: Visit) -> Response:
    wanted = await _saved(visit)
    words = visit.words
    title = wanted.saved.title if wanted.saved else ""
    return visit.page(
        "confirm.html",
        title=words("Delete this report?"),
        sentences=[words("“{title}” is deleted for everybody. The answers stay.", title=title)],
        action=wanted.path + "/delete",
        back=wanted.path,
        hidden=[],
        button=words("Delete the report"),
    )


@routes.post(f"{SAVED}/delete", scope="Report.Delete")
async def delete_report(visit: Visit) -> Response:
    async with visit.write() as db:
        await service.delete(db, caller=visit.caller, report_id=visit.id("report_id"), expect=lambda _: None)
    return html.redirect(f"{REPORTS}?done=removed")


def _ready(visit: Visit) -> AskedReport:
    template_id = visit.id("template_id")
    if template_id not in READY_TEXTS:
        raise errors.NotFound("There is no such report.")
    return AskedReport(f"{REPORTS}/ready/{template_id}", _given(visit.query), template_id)


async def _saved(visit: Visit) -> AskedReport:
    async with visit.read() as db:
        report = await results.get_saved(db, caller=visit.caller, report_id=visit.id("report_id"))
    path = SAVED.replace("{report_id}", report.report_id)
    return AskedReport(path, _given(visit.query), report.spec.get("template_id"), report)


def _given(query: Mapping[str, str]) -> dict[str, str]:
    """The parameters of the address, as far as they are some."""
    days, compare = query.get("days", ""), query.get("compare", "")
    given = {
        "questionnaire": query.get("questionnaire", "")[:22],
        "days": days if days in map(str, PERIODS) else "",
        "condition": query.get("condition", "")[:CONDITION_CHARACTERS_MAX],
        **{name: query.get(name, "")[:300] for name in _OWN},
        "compare": compare if compare in COMPARES else "",
    }
    return {name: value for name, value in given.items() if value}


async def _asked(
    visit: Visit, db: Database, wanted: AskedReport
) -> tuple[dict[str, Any], ReportContext, Mapping[str, str]]:
    """The spec, the questions of its questionnaires, and the names of all questionnaires. Raises Invalid."""
    found = await questionnaires_store.list_questionnaires(
        db,
        organization_id=visit.caller.organization_id,
        application_ids=visit.caller.application_ids,
        page=Page.first(QUESTIONNAIRES, limit=LISTED_MAX),
    )
    names = {one.questionnaire_id: one.display_name for one in found.items}
    if not names:
        raise errors.NotFound("There is no questionnaire yet.")
    chosen = wanted.given.get("questionnaire", "")
    questionnaire_ids = [chosen] if chosen in names else list(names)[: core_reports.QUESTIONNAIRES_MAX]
    if wanted.saved is not None:
        questionnaire_ids = list(wanted.saved.questionnaire_ids)
    query = queries.ReportQuery(questionnaire_ids=tuple(questionnaire_ids))
    findings = Findings(place=plans.in_spec)
    context = await plans.load_context(db, caller=visit.caller, query=query, findings=findings)
    return wanted.spec(questionnaire_ids, context), context, names


async def _run(visit: Visit, db: Database, wanted: AskedReport) -> tuple[Result, Names, dict[str, Any], ReportContext]:
    spec, context, questionnaires = await _asked(visit, db, wanted)
    result = await results.run_plan(db, plans.plan_spec(spec, context, now=visit.now))
    names = Names(
        words=visit.words,
        questions=context.questions,
        questionnaires=questionnaires,
        channels=CHANNELS,
        metadata=_declared(context),
        url=_responses if visit.caller.reads_answers else lambda _: "",
    )
    return result, names, spec, context


async def _page(visit: Visit, wanted: AskedReport, *, refusal: errors.Invalid | None = None) -> Response:
    words = visit.words
    values: dict[str, Any] = {"views": [], "totals": [], "months": "", "hidden": "", "form": None, "csv_url": ""}
    async with visit.read() as db:
        try:
            result, names, spec, context = await _run(visit, db, wanted)
        except errors.Invalid as wrong:
            refusal = refusal or wrong
        else:
            values = _values(visit, wanted, result, names)
            values["form"] = _form(visit, wanted, spec, names, _declared(context))
    title = wanted.saved.title if wanted.saved else words(READY_TEXTS[wanted.template_id or ""][0])
    return visit.page(
        "report.html",
        title=title,
        status=refusal.status if refusal else 200,
        refusal=refusal,
        wanted=wanted,
        given="&".join(f"{quote(name)}={quote(value, safe='')}" for name, value in wanted.given.items()),
        filters=[(words("One condition"), wanted.url(condition=""))] if wanted.given.get("condition") else [],
        about=_kind(visit, wanted.saved) if wanted.saved else words(READY_TEXTS[wanted.template_id or ""][1]),
        may_save="Report.Create" in visit.caller.scopes and wanted.saved is None,
        may_delete="Report.Delete" in visit.caller.scopes and wanted.saved is not None,
        typed=visit.form.text("title"),
        **values,
    )


def _values(visit: Visit, wanted: AskedReport, result: Result, names: Names) -> dict[str, Any]:
    words, zone = visit.words, result.period.zone
    first, last = result.period.from_time.astimezone(zone), result.period.to_time.astimezone(zone)
    views = report_views.views(result, names, template_id=wanted.template_id)
    totals = [] if wanted.template_id in {"distribution", "funnel", "drivers"} else result.total
    return {
        "views": views,
        "totals": [
            (
                report_views.metric_name(words, one),
                replace(
                    shown_figure(words, one, unit=report_views.unit_of(one), bounds=report_views.bounds_of(one)),
                    change=report_views.change_sentence(words, one),
                ),
            )
            for one in totals
        ],
        "months": words(
            "{first} to {last}",
            first=words.day(first.date().isoformat()),
            last=words.day((last - timedelta(microseconds=1)).date().isoformat()),
        ),
        "hidden": words.plural(
            "{n} row is hidden, so that nobody can be recognized by it.",
            "{n} rows are hidden, so that nobody can be recognized by them.",
            result.suppressed_rows,
        )
        if result.suppressed_rows
        else "",
        "csv_url": wanted.url("/csv"),
    }


def _form(
    visit: Visit, wanted: AskedReport, spec: Mapping[str, Any], names: Names, metadata: Mapping[str, str]
) -> dict[str, Any]:
    """The fields that the report has: name, label, options and the chosen value."""
    words = visit.words
    found = [] if wanted.saved is not None else _own_fields(visit, wanted, spec, names, metadata)
    days = str(spec.get("last_days") or "")
    periods = [(str(each), words.plural("{n} day", "{n} days", each)) for each in PERIODS]
    if days not in dict(periods):
        as_saved = words.plural("{n} day", "{n} days", int(days)) if days else words("As saved")
        periods = [("", as_saved), *periods]
    found.append(Field("days", words("Period"), periods, days if days in dict(periods) else ""))
    if wanted.template_id != "drivers":
        has_rest = wanted.template_id == "by_metadata" or bool(spec.get("group_by"))
        compares = [(name, words(text)) for name, text in COMPARES.items() if name != "rest" or has_rest]
        found.append(Field("compare", words("Compare with"), compares, str(spec["compare"])))
    return {"fields": found, "condition": wanted.given.get("condition", "")}


def _own_fields(
    visit: Visit, wanted: AskedReport, spec: Mapping[str, Any], names: Names, metadata: Mapping[str, str]
) -> list[Field]:
    """The fields of a ready report's parameters."""
    words, buckets = visit.words, BUCKETS
    if not visit.caller.reads_answers:
        buckets = {name: BUCKETS[name] for name in ("month", "quarter")}
    asks_mean = spec.get("metric") == "mean"
    numeric = core_reports.DISTRIBUTED if wanted.template_id == "distribution" else core_reports.NUMERIC
    found = [
        Field("metric", words("Score"), [(name, words(text)) for name, text in METRICS.items()]),
        Field("metadata", words("Groups"), list(metadata.items())),
        Field("outcome_question_id", words("Outcome"), _questions(names, core_reports.NUMERIC)),
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
    return [(id_, question.title) for id_, question in names.questions.items() if question.type in types]


def _defaults(template_id: str, context: ReportContext, chosen: Mapping[str, str]) -> dict[str, Any]:
    """The parameters that a report needs and that the address does not name."""
    scores = [metric for metric in ("nps", "csat", "ces") if context.of_types(metric)]
    metric = chosen.get("metric") or (scores[0] if scores else "response")
    numeric = context.of_types(*("nps", "csat", "ces"), *sorted(core_reports.NUMERIC - {"nps", "csat", "ces"}))
    scored = [each for kind in ("nps", "csat", "ces") for each in context.of_types(kind)] or list(numeric)
    match template_id:
        case "trend" | "by_metadata":
            found: dict[str, Any] = {"metric": metric}
            if metric == "mean" and scored:
                found["question_id"] = scored[0]
            if template_id == "trend":
                return {**found, "bucket": "month" if context.protected else "week"}
            names = list(_declared(context))
            return {**found, "compare": "rest", **({"metadata": names[0]} if names else {})}
        case "distribution":
            rated = scored or list(context.of_types(*sorted(core_reports.DISTRIBUTED)))
            return {"question_id": rated[0]} if rated else {}
        case "drivers":
            return {"outcome_question_id": scored[0]} if scored else {}
        case _:
            return {}


def _declared(context: ReportContext) -> dict[str, str]:
    """The names by which responses may be grouped, with their titles: declared, not personal, the likeliest first."""
    found = {
        f"questionnaire_metadata:{name}": one
        for declared in context.declared
        for name, one in declared.questionnaire.items()
        if not one.anonymize
    }
    likely = sorted(found, key=lambda name: (name != STORE, found[name].type not in {"text", "boolean"}))
    return {name: found[name].title for name in likely}


def _responses(selection: Selection) -> str:
    """The address of a row's responses."""
    one = selection.questionnaire_ids[0] if len(selection.questionnaire_ids) == 1 else ""
    return address(
        RESPONSES,
        {
            "questionnaire": one,
            "channel": selection.channel_id,
            "condition": json.dumps(selection.condition) if selection.condition else "",
            "between": f"{selection.from_time.isoformat()}/{selection.to_time.isoformat()}",
        },
    )


def _kind(visit: Visit, report: CustomReport) -> str:
    """The sentence about a saved report: the template that it is of, else its scores and groups."""
    words, spec = visit.words, report.spec
    if spec.get("template_id") in READY_TEXTS:
        return words(READY_TEXTS[spec["template_id"]][1])
    metrics = ", ".join(words(METRICS[each["metric"]]) for each in spec["metrics"])
    groups = ", ".join(
        words(report_views.GROUPS.get(each, each.partition(":")[2] or each)) for each in spec["group_by"]
    )
    return words("{metrics}, by {groups}", metrics=metrics, groups=groups) if groups else metrics
