"""The results of a questionnaire: all its questions on one page, of a period beside the one before."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from starlette.responses import Response

from afterword import errors
from afterword.asking.questionnaires import access
from afterword.asking.questionnaires.store import Questionnaire
from afterword.console.periods import PeriodChoice
from afterword.console.response_list import COMMENT_CHARACTERS_MAX, RESPONSES
from afterword.console.screens import Screens, Visit
from afterword.core.figures import cells as core_cells
from afterword.core.figures.rows import Selection
from afterword.core.questionnaires.question_types import SCORES, TYPES, Question
from afterword.kit.texts import Texts
from afterword.kit.ui import charts
from afterword.kit.ui.charts import Text, View
from afterword.kit.ui.lists import address
from afterword.kit.ui.text import before_text, change_kind, change_text, near_moment, shown_figure
from afterword.listening.reports import question_results
from afterword.listening.reports.question_results import METADATA, AskedResults, QuestionnaireResults, QuestionResult
from afterword.listening.screens import views
from afterword.listening.screens.forms import PERIODS, Field, report_names
from afterword.listening.screens.reports import months_of
from afterword.listening.screens.views import Names
from afterword.sending.screens.invitations import links

RESULTS: Final = "/console/questionnaires/{questionnaire_id}/results"
DAYS_DEFAULT: Final = 30
VALUE_CHARACTERS_MAX: Final = 300
PAGES_MAX: Final = 100
VALUES: Final = (  # of the template, empty where the results are refused
    "fields", "dates", "before", "is_of_months", "group", "all_url", "score", "groups", "drivers",
    "blocks", "may_read", "next_url", "first_url",
)  # fmt: skip
PARTS: Final = ("nps",)  # whose segments have a colour

routes = Screens()


@dataclass(frozen=True, slots=True)
class Chosen:
    """The question of the address; `page`: from 0."""

    path: str
    period: PeriodChoice
    by: str
    value: str
    page: int

    def url(self, **changed: object) -> str:
        given = {**self.period.query, "by": self.by, "value": self.value, "page": self.page or ""}
        return address(self.path, {**given, **changed})


def results_url(questionnaire_id: str, query: Mapping[str, str] | None = None) -> str:
    return address(RESULTS.replace("{questionnaire_id}", questionnaire_id), query or {})


@routes.get(RESULTS, scope="Report.Read")
async def questionnaire_results(visit: Visit) -> Response:
    query, words = visit.query, visit.words
    page = query.get("page", "")
    chosen = Chosen(
        results_url(visit.id("questionnaire_id")),
        PeriodChoice.read(query, DAYS_DEFAULT, PERIODS),
        query.get("by", "")[:VALUE_CHARACTERS_MAX],
        query.get("value", "")[:VALUE_CHARACTERS_MAX],
        min(int(page), PAGES_MAX) if page.isascii() and page.isdigit() and len(page) < PAGES_MAX else 0,
    )
    asked = AskedResults(period=chosen.period.spec(visit), by=chosen.by, value=chosen.value, page=chosen.page)
    refusal: errors.Invalid | None = None
    values: dict[str, Any] = dict.fromkeys(VALUES, ())
    async with visit.read() as db:
        questionnaire = await access.get(db, caller=visit.caller, questionnaire_id=visit.id("questionnaire_id"))
        try:
            found = await question_results.read(
                db, caller=visit.caller, questionnaire=questionnaire, asked=asked, now=visit.now
            )
        except errors.Invalid as wrong:
            refusal = wrong
        else:
            values = _values(visit, chosen, questionnaire, found)
    return visit.page(
        "results.html",
        title=words("Results of “{name}”", name=questionnaire.display_name),
        refusal=refusal,
        action=chosen.path,
        back=(questionnaire.display_name, chosen.path.removesuffix("/results")),
        period=chosen.period.field(words, PERIODS),
        **values,
    )


def _values(visit: Visit, chosen: Chosen, questionnaire: Questionnaire, found: QuestionnaireResults) -> dict[str, Any]:
    words, questionnaire_id = visit.words, questionnaire.questionnaire_id
    chosen = replace(chosen, by=found.by, value=found.value)
    url = links([questionnaire_id]) if found.may_read else None
    names = report_names(words, found.context, {questionnaire_id: questionnaire.display_name}, url=url)
    shares = [row for one in found.questions if not one.is_of_means for row in one.rows]
    most = views.most_of(shares)
    return {
        "fields": _fields(words, names, found),
        "dates": months_of(words, found.period),
        "before": months_of(words, found.earlier),
        "is_of_months": not found.may_read,
        "group": f"{names.group(f'{METADATA}:{found.by}')}: {found.value}" if found.value else "",
        "all_url": chosen.url(value="", page="") if found.value else "",
        "score": words(SCORES[found.outcome.type].label) if found.outcome else "",
        "groups": _groups(names, found, chosen) if found.groups else None,
        "drivers": None if found.drivers is None else views.drivers(found.drivers, names, title=""),
        "blocks": [_block(visit, names, one, most=most) for one in found.questions],
        "may_read": found.may_read,
        "next_url": chosen.url(page=chosen.page + 1) if found.has_more else "",
        "first_url": chosen.url(page="") if chosen.page else "",
    }


def _fields(words: Texts, names: Names, found: QuestionnaireResults) -> Sequence[Field]:
    """The choice of a name, where there are several, and of its values."""
    titles = {name: names.group(f"{METADATA}:{name}") for name in found.values}
    if not titles:
        return []
    options = [("", words("All")), *((value, value) for value in sorted(found.values[found.by]))]
    shown = [Field("value", titles[found.by], options, found.value)]
    return [Field("by", words("Groups"), list(titles.items()), found.by), *shown] if len(titles) > 1 else shown


def _groups(names: Names, found: QuestionnaireResults, chosen: Chosen) -> View | None:
    """The outcome of each group; the name of a group leads to its results."""
    words, total = names.words, found.total
    if total is None:
        return None
    group = f"{METADATA}:{found.by}"
    unit, bounds = views.unit_of(total), views.bounds_of(total)
    known = {value: chosen.url(value=value, page="") for value in found.values[found.by]}
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
        block["figure"] = replace(
            shown_figure(words, figure, unit=unit, bounds=bounds),
            change_kind=change_kind(figure),
            change=change_text(words, figure),
            before=before_text(words, figure),
        )
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
    if question.type in core_cells.NUMERIC:
        return words("The mean of its answers.")
    return words("The share of those who put it first.") if question.ranks else ""


def _means(names: Names, one: QuestionResult) -> View:
    """The mean of each row of a matrix on the scale of its columns."""
    words, question = names.words, one.question
    ratings = core_cells.ratings_of(question)
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
        rows=[[Text(name), *views.figure_cells(words, figure, url)] for name, figure, url in figures],
    )
