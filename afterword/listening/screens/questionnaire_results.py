"""The results of a questionnaire: all its questions on one page, of a period beside the one before."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from msgspec.structs import replace
from starlette.responses import Response

from afterword import errors
from afterword.asking.instances.reviews import count_clicks
from afterword.asking.questionnaires import access
from afterword.asking.questionnaires.store import Questionnaire
from afterword.console.periods import PeriodChoice
from afterword.console.response_list import COMMENT_CHARACTERS_MAX, RESPONSES
from afterword.console.screens import Screens, Visit
from afterword.core.figures import reports as core_reports
from afterword.core.figures.rows import Selection
from afterword.core.questionnaires.question_types import SCORES, TYPES, Question
from afterword.kit.db import Database
from afterword.kit.texts import Texts
from afterword.kit.ui import charts
from afterword.kit.ui.charts import Text, View
from afterword.kit.ui.lists import address, read_number
from afterword.kit.ui.text import near_moment, shown_figure
from afterword.listening.reports import question_results
from afterword.listening.reports.question_results import METADATA, QuestionnaireResults, QuestionResult
from afterword.listening.screens import views
from afterword.listening.screens.reports import PERIODS, Field, months_of, report_names
from afterword.listening.screens.views import Names
from afterword.sending.screens.invitations import links

RESULTS: Final = "/console/questionnaires/{questionnaire_id}/results"
DAYS_DEFAULT: Final = 30
VALUE_CHARACTERS_MAX: Final = 300
PAGE_DIGITS_MAX: Final = 3
VALUES: Final = (  # of the template, empty where the results are refused
    "fields", "dates", "before", "is_of_months", "group", "all_url", "score", "of_all", "groups", "drivers",
    "blocks", "may_read", "next_url", "first_url", "reviews",
)  # fmt: skip
PARTS: Final = ("nps",)  # whose segments have a colour

Url = Callable[..., str]

routes = Screens()


def results_url(questionnaire_id: str, query: Mapping[str, str] | None = None) -> str:
    return address(RESULTS.replace("{questionnaire_id}", questionnaire_id), query or {})


@routes.get(RESULTS, scope="Report.Read", for_limited="part", is_long=True)
async def questionnaire_results(visit: Visit, db: Database) -> Response:
    query, words, path = visit.query, visit.words, results_url(visit.id("questionnaire_id"))
    period, number = PeriodChoice.read(query, DAYS_DEFAULT, PERIODS), query.get("page", "")
    page = read_number(number, PAGE_DIGITS_MAX) or 0
    asked: dict[str, Any] = {name: query.get(name, "")[:VALUE_CHARACTERS_MAX] for name in ("by", "value")}
    refusal: errors.Invalid | None = None
    values: dict[str, Any] = dict.fromkeys(VALUES, ())
    questionnaire = await access.get(db, caller=visit.caller, questionnaire_id=visit.id("questionnaire_id"))
    given: dict[str, Any] = {"caller": visit.caller, "questionnaire": questionnaire, "now": visit.now}
    try:
        found = await question_results.read(db, **given, **asked, period=period.spec(visit), page=page)
    except errors.Invalid as wrong:
        refusal = wrong
    else:
        reviews = await _reviews(visit, db, questionnaire, found)
        shown = {**period.query, "by": found.by, "value": found.value, "page": page or ""}
        values = _values(visit, questionnaire, found, lambda **changed: address(path, {**shown, **changed}), page)
        values["reviews"] = reviews
    return visit.page(
        "results.html",
        title=words("Results of “{name}”", name=questionnaire.display_name),
        refusal=refusal,
        action=path,
        back=(questionnaire.display_name, path.removesuffix("/results"))
        if visit.is_open(RESULTS.removesuffix("/results"))
        else (words("Responses"), RESPONSES),
        period=period.field(words, PERIODS),
        **values,
    )


async def _reviews(visit: Visit, db: Database, questionnaire: Questionnaire, found: QuestionnaireResults) -> str:
    """The number of people who opened the review link in the period; empty for none, and for one group."""
    if found.value:
        return ""
    count = await count_clicks(db, **questionnaire.key, period=found.period, only=visit.caller.only)
    return (
        visit.words.plural("{n} person opened the review link.", "{n} people opened the review link.", count)
        if count
        else ""
    )


def _values(
    visit: Visit, questionnaire: Questionnaire, found: QuestionnaireResults, url_of: Url, page: int
) -> dict[str, Any]:
    """`url_of`: the address of these results with changes."""
    words, questionnaire_id = visit.words, questionnaire.questionnaire_id
    url = links([questionnaire_id]) if found.may_read else None
    names = report_names(words, found.context, {questionnaire_id: questionnaire.display_name}, url=url)
    shares = [row for one in found.questions if not one.is_of_means for row in one.rows]
    most = views.most_of(shares)
    return {
        "fields": _fields(words, names, found, has_all=visit.caller.limit is None),
        "dates": months_of(words, found.period),
        "before": months_of(words, found.earlier),
        "is_of_months": not found.may_read,
        "group": f"{names.group(f'{METADATA}:{found.by}')}: {found.value}" if found.value else "",
        "all_url": url_of(value="", page="") if found.value and visit.caller.limit is None else "",
        "score": words(SCORES[found.outcome.type].label) if found.outcome else "",
        "of_all": shown_figure(words, found.of_all, unit=views.unit_of(found.of_all)) if found.of_all else None,
        "groups": _groups(names, found, url_of) if found.groups else None,
        "drivers": None if found.drivers is None else views.drivers(found.drivers, names, title=""),
        "blocks": [_block(visit, names, one, most=most) for one in found.questions],
        "may_read": found.may_read,
        "next_url": url_of(page=page + 1) if found.has_more else "",
        "first_url": url_of(page="") if page else "",
    }


def _fields(words: Texts, names: Names, found: QuestionnaireResults, *, has_all: bool) -> Sequence[Field]:
    """The choice of a name, where there are several, and of its values; `has_all`: or none of them."""
    titles = {name: names.group(f"{METADATA}:{name}") for name in found.values}
    if not titles:
        return []
    options = [(value, value) for value in sorted(found.values[found.by])]
    if has_all:
        options.insert(0, ("", words("All")))
    shown = [Field("value", titles[found.by], options, found.value)]
    return [Field("by", words("Groups"), list(titles.items()), found.by), *shown] if len(titles) > 1 else shown


def _groups(names: Names, found: QuestionnaireResults, url_of: Url) -> View | None:
    """The outcome of each group; the name of a group leads to its results."""
    words, total = names.words, found.total
    if total is None:
        return None
    group = f"{METADATA}:{found.by}"
    unit, bounds = views.unit_of(total), views.bounds_of(total)
    known = {value: url_of(value=value, page="") for value in found.values[found.by]}
    shown = [(names.of(row.key), row.figures[0], known.get(str(row.key[group]), "")) for row in found.groups]
    return charts.groups_view(
        words,
        shown,
        total=total if not found.value else None,
        bounds=bounds,
        unit=unit,
        finding=views.groups_finding(words, shown),
        head=views.head_of(names, names.group(group), total, "rest"),
        rows=[
            [Text(name, url), *views.figure_cells(words, figure, names.url(row.selection, ()))]
            for (name, figure, url), row in zip(shown, found.groups, strict=True)
        ],
    )


def _block(visit: Visit, names: Names, one: QuestionResult, *, most: float) -> dict[str, Any]:
    """A question with its figure, its charts, and the newest of its words; `most`: the largest share of the page."""
    words, question, figure = visit.words, one.question, one.figure
    url = names.url(one.selection, ())
    is_empty = one.is_empty
    if is_empty:
        one = replace(one, rows=(), is_of_means=False)
    block: dict[str, Any] = {
        "id": question.question_id,
        "title": question.plain_title,
        "about": _about(words, question),
        "url": url,
        "figure": None,
        "parts": (),
        "is_text": question.shape == "text",
        "is_empty": is_empty,
        "is_wide": len(one.rows) > views.COLUMNS_MAX or one.is_of_means,
        "views": [_means(names, one)] if one.is_of_means else (),
        "comments": [
            {
                "text": said.text
                if len(said.text) <= COMMENT_CHARACTERS_MAX
                else f"{said.text[:COMMENT_CHARACTERS_MAX]}…",
                "locale": said.locale,
                "url": url.replace(RESPONSES, f"{RESPONSES}/{said.instance_id}", 1),
                "when": near_moment(words, said.submitted_time, now=visit.now, zone=visit.zone),
            }
            for said in one.comments
        ],
    }
    if one.rows and not one.is_of_means:
        found = views.distributions(one.rows, question, names, most=most, title="")
        block["views"] = [replace(view, title="") for view in found] if question.ranks else found
    if figure is not None:
        unit, bounds = views.unit_of(figure), views.bounds_of(figure)
        block["figure"] = shown_figure(words, figure, unit=unit, bounds=bounds)
        if question.type in PARTS and not figure.suppressed and figure.measure.n:
            block["parts"] = charts.parts_of(words, figure, _segment_links(names, one.selection, question))
    return block


def _segment_links(names: Names, selection: Selection, question: Question) -> Callable[..., str]:
    """The addresses of the responses in a segment of a score."""
    subject = f"question:{question.question_id}"
    segments = {name: (low, high) for name, low, high in TYPES[question.type].segments}

    def link(*, band: str) -> str:
        bounds = zip(("greater_equal", "less_equal"), segments[band], strict=True)
        within = [{"subject": subject, "operator": operator, "value": value} for operator, value in bounds]
        return names.url(replace(selection, condition={"all": [selection.condition, *within]}), ())

    return link


def _about(words: Texts, question: Question) -> str:
    if question.type in SCORES:
        return words(SCORES[question.type].text)
    if question.type in core_reports.NUMERIC:
        return words("The mean of its answers.")
    return words("The share of those who put it first.") if question.ranks else ""


def _means(names: Names, one: QuestionResult) -> View:
    """The mean of each row of a matrix on the scale of its columns."""
    words, question = names.words, one.question
    ratings = core_reports.ratings_of(question)
    low, high = min(ratings, key=lambda each: ratings[each]), max(ratings, key=lambda each: ratings[each])
    figures = [(names.of(row.key), row.figures[0], names.url(row.selection, ())) for row in one.rows]
    return charts.groups_view(
        words,
        figures,
        total=None,
        bounds=(ratings[low], ratings[high]),
        unit="",
        is_whole=True,
        finding=words(
            "Means from {low} ({low_label}) to {high} ({high_label}).",
            low=words.number(ratings[low]),
            low_label=question.label_of(low) or "",
            high=words.number(ratings[high]),
            high_label=question.label_of(high) or "",
        ),
        head=[words("Row"), words("Mean"), words("95 % interval"), words("Answers"), words("Change")],
        rows=[[Text(name), *views.figure_cells(words, figure, url, has_before=True)] for name, figure, url in figures],
    )
