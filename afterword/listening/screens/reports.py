"""Reports: the ready and the saved ones, each as charts with its tables.

The address holds the whole question: its parameters, the best ones where it has none, and the fields of the form.
"""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Final
from urllib.parse import parse_qsl, quote

import msgspec
from msgspec.structs import replace
from starlette.responses import Response

from afterword import errors
from afterword.asking.instances.rendering import logo_url
from afterword.asking.questionnaires import access, contexts, visuals
from afterword.cases.screens.figures import FIGURES
from afterword.console.periods import CALENDAR, DATES, PeriodChoice
from afterword.console.removals import removal
from afterword.console.response_list import CHANNELS
from afterword.console.screens import Guest, Screens, Visit
from afterword.core.figures import queries, reports as core_reports, templates
from afterword.core.figures.periods import Period
from afterword.core.figures.queries import ReportContext
from afterword.core.figures.templates import TEMPLATES
from afterword.core.organizations.access import Caller, Part
from afterword.core.questionnaires.metadata import MetadataDefinition
from afterword.core.questionnaires.question_types import SCORES
from afterword.core.questionnaires.visuals import DEFAULT, inherited
from afterword.core.reading.findings import Findings
from afterword.core.wire.lists import Page
from afterword.kit.db import Database
from afterword.kit.nouns import service as nouns, structs
from afterword.kit.texts import Marked, Texts
from afterword.kit.ui.charts import View
from afterword.kit.ui.lists import Listing, address, page_links, page_of
from afterword.kit.ui.text import shown_figure
from afterword.kit.web import fields, html
from afterword.listening.reports import custom_reports, results, shares
from afterword.listening.reports.custom_reports import REPORT, CustomReport
from afterword.listening.reports.resources import ReportSpec, document_of
from afterword.listening.reports.results import Result
from afterword.listening.screens import views
from afterword.listening.screens.exports import file_of, note
from afterword.listening.screens.views import Names, Urls
from afterword.sending.pipelines import resources as pipelines_resources, store as pipelines_store
from afterword.sending.screens.invitations import links
from afterword.tenants.organizations import service as organizations

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
    numeric = core_reports.DISTRIBUTED if wanted.template_id == "distribution" else core_reports.NUMERIC
    found = [
        Field("metric", words("Score"), [(name, words(text)) for name, text in METRICS.items()]),
        Field("metadata", words("Groups"), list(metadata.items())),
        Field("by", words("Groups"), [(name, words(text)) for name, text in BYS.items()]),
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
    return [(id_, question.plain_title) for id_, question in names.questions.items() if question.type in types]


def _defaults(template_id: str, context: ReportContext, chosen: Mapping[str, str]) -> dict[str, Any]:
    """The parameters that a report needs and that the address does not name."""
    scores = [metric for metric in SCORES if context.of_types(metric)]
    metric = chosen.get("metric") or (scores[0] if scores else "response")
    numeric = context.of_types(*SCORES, *sorted(core_reports.NUMERIC - {*SCORES}))
    scored = [each for kind in SCORES for each in context.of_types(kind)] or list(numeric)
    match template_id:
        case "trend" | "by_metadata":
            found: dict[str, Any] = {"metric": metric}
            if metric == "mean" and scored:
                found["question_id"] = scored[0]
            if template_id == "trend":
                return {**found, "bucket": "month" if context.protected else "week"}
            return {**found, "compare": "rest", "metadata": next(iter(_declared(context)), core_reports.CASE_GROUPS[0])}
        case "sending":
            return {"by": "bucket", "bucket": "week"}
        case "distribution":
            rated = scored or list(context.of_types(*sorted(core_reports.DISTRIBUTED)))
            return {"question_id": rated[0]} if rated else {}
        case "drivers":
            rated = {each for each, one in context.questions.items() if core_reports.is_rated(one)}
            among = set[str]().union(*(asked for asked in context.together if len(asked & rated) > 1))
            return {"outcome_question_id": next((one for one in scored if one in among), scored[0])} if scored else {}
        case _:
            return {}


def groups_of(words: Texts, context: ReportContext) -> dict[str, str]:
    return {**declared(words, context), **{group: words(views.GROUPS[group]) for group in core_reports.CASE_GROUPS}}


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


WORDS: Final[Mapping[int, tuple[Marked, Marked]]] = {
    404: ("There is no such report", "The address may be incomplete, or the link was disabled."),
    410: ("This link has expired", "Ask the person who sent it for a new one."),
    422: (
        "This report cannot be shown right now",
        "It reads more answers than a link may, or a part of it has been deleted.",
    ),
}

routes = Screens()


@routes.open_get("/console/shared/{organization_id}/{secret}")
async def shared_report(guest: Guest, db: Database) -> Response:
    organization_id, secret = (guest.request.path_params[name] for name in ("organization_id", "secret"))
    words = guest.words
    try:
        report, plan = await shares.read(db, organization_id=organization_id, secret=secret, now=guest.now)
        values = await _shared(guest, db, report, plan)
        organization = await organizations.get_organization(db, organization_id=organization_id)
    except (errors.NotFound, errors.Gone, errors.Invalid) as refusal:
        title, text = map(words, WORDS[refusal.status])
        return guest.page("shared_ended.html", title=title, status=refusal.status, text=text)
    brand = organization.display_name if organization else ""
    return guest.page("shared.html", title=report.title, brand=brand, back="", **values)


async def _shared(guest: Guest, db: Database, report: CustomReport, plan: queries.Plan) -> dict[str, Any]:
    """The values of the page that a link opens, but for the name of the organization."""
    key = {"organization_id": report.organization_id}
    result = await results.run_plan(db, plan)
    questionnaire_id = plan.query.questionnaire_ids[0]
    layers = await visuals.get_layers(db, **key, questionnaire_id=questionnaire_id)
    theme = inherited(layers.organization, layers.application, layers.visual) if layers else DEFAULT
    named = await names_of(db, Part(**key, application_ids=()), plan.query.questionnaire_ids)
    names = report_names(guest.words, plan.context, named)
    return {
        **values_of(guest.words, result, names, template_id=report.spec.get("template_id")),
        "logo_url": logo_url(theme, questionnaire_id),
    }


REPORTS: Final = "/console/reports"
READY: Final = f"{REPORTS}/ready/{{template_id}}"
SAVED: Final = f"{REPORTS}/saved/{{report_id}}"
SHARE_DAYS: Final = (30, 7, 90, 365)
LISTED_MAX: Final = 200
TITLE_CHARACTERS_MAX: Final = 200
PINNED_BARS: Final = 10  # of words: more would push away what stands below on the overview
PINNED_ROWS: Final = 30
PIPELINES: Final = fields.listing_of(pipelines_resources.Pipeline)
SAVED_LISTING: Final = structs.listing_of(REPORT)


@routes.get(REPORTS, scope="Report.Read", for_limited="part")
async def list_reports(visit: Visit, db: Database) -> Response:
    found = await nouns.rows(REPORT, db, **visit.caller.part, page=page_of(SAVED_LISTING, visit.query))
    return visit.page(
        "reports.html",
        title=visit.words("Reports"),
        ready=[
            {"url": f"{REPORTS}/ready/{name}", "title": visit.words(title), "text": visit.words(text)}
            for name, (title, text) in READY_TEXTS.items()
            if visit.caller.reads_answers or name not in OF_ANSWERS
        ],
        shows_comments=visit.caller.reads_answers,
        shows_cases=visit.may_open(FIGURES),
        saved=Listing(
            rows=[
                {
                    "url": SAVED.replace("{report_id}", one.report_id),
                    "title": one.title,
                    "text": _kind(visit, one),
                    "when": visit.words.date(one.updated_time, time_zone=visit.zone),
                }
                for one in found.items
            ],
            empty=visit.words(
                "No saved reports yet. Open a ready-made report, choose its period and groups, and save it."
            ),
            **page_links(found, visit.query, REPORTS),
        ),
    )


@routes.get(READY, scope="Report.Read", for_limited="part", is_long=True)
@routes.get(SAVED, scope="Report.Read", for_limited="part", is_long=True)
async def show_report(visit: Visit, refusal: errors.Refusal | None = None) -> Response:
    return await _page(visit, await _wanted(visit), refusal=refusal)


@routes.get(f"{READY}/csv", scope="Report.Read", for_limited="part")
@routes.get(f"{SAVED}/csv", scope="Report.Read", for_limited="part")
async def report_file(visit: Visit) -> Response:
    wanted = await _wanted(visit)
    saved = wanted.saved
    report_id, name = (saved.report_id, saved.title) if saved else (None, wanted.template_id)
    async with visit.read() as db:
        result, *_ = await _run(visit, db, wanted)
        await note(visit, db, report_id=report_id, name=name)
    return file_of(result, now=visit.now)


@routes.post(READY, scope="Report.Create")
async def save_report(visit: Visit) -> Response:
    given = given_of(dict(parse_qsl(visit.form.text("given"))))
    wanted = replace(_ready(visit), given=given, period=period_of(visit, given))
    title = visit.form.text("title", TITLE_CHARACTERS_MAX)
    if not title:
        wrong = visit.words("Give the report a title.")
        return await _page(visit, wanted, refusal=errors.Invalid.at("/title", "required", wrong))
    async with visit.write() as db:
        spec = (await _asked(visit, db, wanted))[0]
        columns = {"title": title, "description": None, "application_id": None, "spec": spec}
        made = await nouns.create(REPORT, db, columns=columns, **visit.acting)
    return html.redirect(f"{SAVED.replace('{report_id}', made.record.report_id)}?done=saved")


removal(
    routes,
    f"{SAVED}/delete",
    scope="Report.Delete",
    title="Delete this report?",
    sentences=["“{title}” is deleted for everybody. The answers stay."],
    button="Delete the report",
    get=lambda visit: visit.find(custom_reports.get),
    remove=lambda visit, db: nouns.delete(REPORT, db, key=visit.id("report_id"), **visit.acting),
    to=REPORTS,
)


@routes.post(f"{SAVED}/pin", scope="Report.Update", again=(errors.Invalid,), at=SAVED)
async def pin_report(visit: Visit, db: Database) -> Response:
    report_id = visit.id("report_id")
    changes = {"pinned": bool(visit.form.text("pinned"))}
    await nouns.update(REPORT, db, key=report_id, changes=changes, **visit.acting)
    return html.redirect(f"{SAVED.replace('{report_id}', report_id)}?done=saved")


@routes.post(f"{SAVED}/share", scope="Report.Update", for_limited="part", again=(errors.Invalid,), at=SAVED)
async def share_report(visit: Visit) -> Response:
    """Make a link, and show it this once."""
    days = visit.form.text("share_days")
    asked = await _saved(visit)
    share, secret = await visit.change(
        shares.create,
        caller=visit.caller,
        **visit.ids,
        days=int(days) if days in map(str, SHARE_DAYS) else SHARE_DAYS[0],
        now=visit.now,
    )
    link = shares.url_of(visit.site.public_url, share.organization_id, secret)
    return await _page(visit, asked, link=link)


@routes.get(f"{SAVED}/preview", scope="Report.Update", for_limited="part")
async def preview_share(visit: Visit, db: Database) -> Response:
    report, plan = await shares.preview(db, caller=visit.caller, **visit.ids, now=visit.now)
    values = await _shared(visit, db, report, plan)
    back, brand = SAVED.replace("{report_id}", report.report_id), visit.session.organization_name
    return visit.page("shared.html", title=report.title, brand=brand, back=back, **values)


@routes.post(f"{SAVED}/share/{{share_id}}/end", scope="Report.Update", for_limited="part")
async def end_share(visit: Visit) -> Response:
    report_id = visit.id("report_id")
    await visit.change(shares.end, caller=visit.caller, report_id=report_id, share_id=visit.id("share_id"))
    return html.redirect(f"{SAVED.replace('{report_id}', report_id)}?done=link_ended")


async def pinned(visit: Visit, db: Database) -> list[dict[str, Any]]:
    """The pinned reports, each with its first chart; without one where it cannot be run now."""
    found = await custom_reports.list_pinned_reports(db, **visit.caller.part)
    shown: list[dict[str, Any]] = []
    for report in found:
        path = SAVED.replace("{report_id}", report.report_id)
        asked = AskedReport(path, {}, {}, report.spec.get("template_id"), report)
        view: View | None = None
        try:
            result, names, *_ = await _run(visit, db, asked)
            view = next(iter(views.views(result, names, template_id=asked.template_id)), None)
        except (errors.Invalid, errors.Conflict):  # more than a report may read, not for this role, or no questionnaire
            pass
        is_open = False
        if view is not None and report.has_texts:  # the words of groups stand in the table alone
            is_open = bool(report.spec.get("metadata")) and len(view.rows) <= PINNED_ROWS
            view = replace(view, points=view.points[:PINNED_BARS])
        shown.append({"title": report.title, "url": asked.path, "view": view, "is_open": is_open})
    return shown


async def _wanted(visit: Visit) -> AskedReport:
    return await _saved(visit) if "report_id" in visit.ids else _ready(visit)


def _ready(visit: Visit) -> AskedReport:
    template_id = visit.id("template_id")
    if template_id not in READY_TEXTS:
        raise errors.NotFound("There is no such report.")
    given = given_of(visit.query)
    return AskedReport(f"{REPORTS}/ready/{template_id}", given, period_of(visit, given), template_id)


async def _saved(visit: Visit) -> AskedReport:
    report = await visit.load(custom_reports.get, caller=visit.caller, report_id=visit.id("report_id"))
    path, given = SAVED.replace("{report_id}", report.report_id), given_of(visit.query)
    return AskedReport(path, given, period_of(visit, given), report.spec.get("template_id"), report)


async def _asked(
    visit: Visit, db: Database, wanted: AskedReport
) -> tuple[dict[str, Any], ReportContext, Mapping[str, str]]:
    """The spec, the questions of its questionnaires, and the names of all questionnaires. Raises Invalid."""
    chosen, saved = wanted.given.get("questionnaire", ""), wanted.saved.questionnaire_ids if wanted.saved else ()
    reached = await access.offered(db, visit.caller.part, also=[chosen, *saved])
    names = {one.questionnaire_id: one.display_name for one in reached}
    if not names:
        raise errors.Conflict("There is no questionnaire yet.")
    ready = [chosen] if chosen in names else list(names)[: core_reports.QUESTIONNAIRES_MAX]
    questionnaire_ids = list(saved) or ready
    query = queries.ReportQuery(questionnaire_ids=tuple(questionnaire_ids))
    findings = Findings(place=queries.in_spec)
    owners = {one.questionnaire_id: one.owner_application_id for one in reached}
    context = await contexts.load_context(db, caller=visit.caller, query=query, findings=findings, known=owners)
    return wanted.spec(questionnaire_ids, context), context, names


async def _run(visit: Visit, db: Database, wanted: AskedReport) -> tuple[Result, Names, dict[str, Any], ReportContext]:
    spec, context, questionnaires = await _asked(visit, db, wanted)
    result = await results.run_plan(db, queries.plan_spec(spec, context, now=visit.now))
    pipelines = await pipelines_of(db, caller=visit.caller, result=result)
    url = links(questionnaires) if visit.caller.reads_answers else None
    names = report_names(visit.words, context, questionnaires, url=url, pipelines=pipelines)
    return result, names, spec, context


async def _page(
    visit: Visit, wanted: AskedReport, *, refusal: errors.Refusal | None = None, link: str = ""
) -> Response:
    words = visit.words
    values: dict[str, Any] = {"views": [], "totals": [], "months": "", "hidden": "", "form": None, "csv_url": ""}
    async with visit.read() as db:
        try:
            result, names, spec, context = await _run(visit, db, wanted)
        except errors.Invalid as wrong:
            refusal = refusal or wrong
        else:
            values = values_of(words, result, names, template_id=wanted.template_id)
            values["csv_url"] = wanted.url("/csv")
            values["form"] = form_of(visit, wanted, spec, names, groups_of(words, context))
        saved = wanted.saved
        reach = {"organization_id": visit.caller.organization_id, "only": visit.caller.only, "limit": shares.SHARES_MAX}
        listed = await shares.list_shares(db, **reach, report_id=saved.report_id) if saved else []
    is_whole = visit.caller.limit is None  # saved reports are of the whole organization
    title = wanted.saved.title if wanted.saved else words(READY_TEXTS[wanted.template_id or ""][0])
    return visit.page(
        "report.html",
        title=title,
        refusal=refusal,
        wanted=wanted,
        given="&".join(f"{quote(name)}={quote(value, safe='')}" for name, value in wanted.given.items()),
        filters=[(words("One condition"), wanted.url(condition=""))] if wanted.given.get("condition") else [],
        about=_kind(visit, wanted.saved) if wanted.saved else words(READY_TEXTS[wanted.template_id or ""][1]),
        may_save=is_whole and "Report.Create" in visit.caller.scopes and wanted.saved is None,
        may_delete=is_whole and "Report.Delete" in visit.caller.scopes and wanted.saved is not None,
        may_pin=is_whole,
        typed=visit.form.text("title"),
        saved=wanted.saved,
        link=link,
        shares=[
            {
                "url": f"{wanted.path}/share/{one.share_id}/end",
                "made": visit.words.moment(one.created_time, time_zone=visit.zone),
                "until": visit.words.moment(one.expires_time, time_zone=visit.zone),
                "has_ended": one.expires_time <= visit.now,
            }
            for one in listed
        ],
        share_days=[(str(each), words.plural("{n} day", "{n} days", each)) for each in SHARE_DAYS],
        **values,
    )


def values_of(words: Texts, result: Result, names: Names, *, template_id: str | None) -> dict[str, Any]:
    shown = views.views(result, names, template_id=template_id)
    totals = [] if template_id in {"distribution", "funnel", "sending", "drivers", templates.COMMENTS} else result.total
    return {
        "views": shown,
        "totals": [
            (
                views.metric_name(words, one),
                replace(
                    shown_figure(words, one, unit=views.unit_of(one), bounds=views.bounds_of(one)),
                    change=views.change_sentence(words, one),
                    change_kind="",
                    before="",
                ),
            )
            for one in totals
        ],
        "months": months_of(words, result.period),
        "hidden": _hidden(words, result) if result.suppressed_rows else "",
    }


def _hidden(words: Texts, result: Result) -> str:
    number = result.suppressed_rows
    if any(one.suppressed_reason == "few_pairs" for row in result.rows for one in row.figures):
        return words.plural(
            "{n} row has too few answers for a correlation.", "{n} rows have too few answers for a correlation.", number
        )
    return words.plural(
        "{n} row is hidden so that no one can be identified.",
        "{n} rows are hidden so that no one can be identified.",
        number,
    )


def months_of(words: Texts, period: Period) -> str:
    first, last = ends_of(words, period)
    return words("{first} to {last}", first=first, last=last)


def ends_of(words: Texts, period: Period) -> tuple[str, str]:
    """The first and the last day."""
    zone = period.zone
    first, last = period.from_time.astimezone(zone), period.to_time.astimezone(zone) - timedelta(microseconds=1)
    return words.day(first.date().isoformat()), words.day(last.date().isoformat())


async def names_of(db: Database, part: Part, questionnaire_ids: Sequence[str]) -> Mapping[str, str]:
    return {one.questionnaire_id: one.display_name for one in await access.offered(db, part, also=questionnaire_ids)}


async def pipelines_of(db: Database, *, caller: Caller, result: Result) -> Mapping[str, str]:
    if "pipeline" not in result.parameters.get("group_by", ()):
        return {}
    found = await pipelines_store.list_pipelines(db, **caller.part, page=Page.first(PIPELINES, limit=LISTED_MAX))
    return {one.pipeline_id: one.title for one in found.items}


def _kind(visit: Visit, report: CustomReport) -> str:
    """The sentence about a saved report: the template that it is of, else its scores and groups."""
    words, spec = visit.words, report.spec
    if report.has_texts:
        return words("The words of the comments, for all and per group.")
    if spec.get("template_id") in READY_TEXTS:
        return words(READY_TEXTS[spec["template_id"]][1])
    metrics = ", ".join(words(METRICS[each["metric"]]) for each in spec["metrics"])
    groups = ", ".join(words(views.GROUPS.get(each, each.partition(":")[2] or each)) for each in spec["group_by"])
    return words("{metrics}, by {groups}", metrics=metrics, groups=groups) if groups else metrics
