"""The overview: urgent things first, then the scores in sentences with their trend, then the way of the invitations."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

from starlette.responses import Response

from afterword.console import response_list as responses
from afterword.console.screens import HOME, Screens, Visit
from afterword.core.figures import periods
from afterword.core.figures.rows import Selection, buckets_of
from afterword.kit.texts import Marked, Texts
from afterword.kit.ui import charts
from afterword.kit.ui.text import change_word, shown_figure
from afterword.kit.web import html
from afterword.listening.reports import overview
from afterword.listening.reports.overview import Overview, Score, Subjects
from afterword.listening.screens import reports, welcome
from afterword.listening.screens.attention import needs_of, waits_of
from afterword.sending.screens.invitations import link_of

PERIODS: Final = (7, 30, 90)
DAYS_DEFAULT: Final = 30
COMMENTS: Final = 5
NAMES: Final[Mapping[str, str]] = {"nps": "NPS", "csat": "CSAT", "ces": "CES"}
UNITS: Final[Mapping[str, str]] = {"nps": "", "csat": " %", "ces": " %"}
BOUNDS: Final[Mapping[str, tuple[float, float]]] = {"nps": (-100, 100), "csat": (0, 100), "ces": (0, 100)}
STAGES: Final[Mapping[str, Marked]] = {
    "sent": "Sent", "delivered": "Delivered", "viewed": "Opened", "started": "Answered", "completed": "Completed",
}  # fmt: skip

routes = Screens()


@routes.get(HOME)
async def home(visit: Visit) -> Response:
    """The overview, or the first section of a role that reads no reports: here everybody arrives who logs in."""
    if "Report.Read" not in visit.caller.scopes:
        return html.redirect(visit.sections[0]["url"])
    return await _overview(visit)


async def _overview(visit: Visit) -> Response:
    days = _days(visit.query.get("days", ""))
    chosen = visit.query.get("application", "")
    async with visit.read() as db:
        subjects = await overview.subjects(db, caller=visit.caller, application_id=chosen)
        application_id = subjects.application_id
        found = await overview.overview_of(db, caller=visit.caller, subjects=subjects, days=days, now=visit.now)
        needs = await needs_of(visit, db, application_id=application_id)
        waits = await waits_of(visit, db, application_id=application_id, days=days)
        comments: list[dict[str, Any]] = []
        choice = responses.ResponseFilter(application_id=application_id or "", days=days)
        if found and visit.caller.reads_answers:
            comments = await responses.newest(visit, db, replace(choice, tab="comment"), limit=COMMENTS)
        pinned = await reports.pinned(visit, db) if found and subjects.has_pinned else []
        has_answers = found is not None and any(one.figure.measure.n for one in found.scores)
        next_steps = await welcome.next_steps(visit, db) if found and not has_answers else []
    return visit.page(
        "overview.html",
        title=visit.words("Overview"),
        days=days,
        periods=[(each, visit.words.plural("{n} day", "{n} days", each)) for each in PERIODS],
        applications=subjects.applications,
        application_id=application_id or "",
        needs=needs,
        waits=waits,
        comments=comments,
        pinned=pinned,
        comments_url=choice.url(tab="comment"),
        scores=[
            _score(visit.words, one, choice, found, reads_answers=visit.caller.reads_answers)
            for one in (found.scores if found else ())
            if found and one.figure.measure.n
        ],
        months=_months(visit.words, found) if found and found.is_of_months else "",
        reads_answers=visit.caller.reads_answers,
        funnel=funnel(visit.words, found, _stage_urls(visit, found, subjects)) if found else None,
        has_questionnaires=found is not None,
        has_answers=has_answers,
        next_steps=next_steps,
    )


def _days(text: str) -> int:
    return int(text) if text in map(str, PERIODS) else DAYS_DEFAULT


def _score(
    words: Texts, score: Score, choice: responses.ResponseFilter, found: Overview, *, reads_answers: bool
) -> dict[str, Any]:
    """The sentence, chart and links of a score; the links lead to exactly the responses that are counted."""
    figure, unit, bounds = score.figure, UNITS[score.metric], BOUNDS[score.metric]
    kind, change = change_word(words, figure, days=None if found.is_of_months else choice.days)
    between = periods.text_of(found.period.from_time, found.period.to_time)
    choice = replace(choice, score=score.metric, between=between)
    edges = buckets_of(found.period, [one.start for one in score.bins]).values() if reads_answers else ()
    starts = [words.day(one.start.isoformat()) for one in score.bins]
    view = charts.trend_view(
        words,
        [one.figure for one in score.bins],
        starts,
        bounds=bounds,
        unit=unit,
        head=(words("From"), NAMES[score.metric]),
        finding=f"{_bins(words, found, score)} {words('The band is the 95 % interval.')}",
        urls=[choice.url(between=periods.text_of(first, last)) for first, last in edges],
    )
    has_parts = score.metric == "nps" and not figure.suppressed
    return {
        "metric": score.metric,
        "url": choice.url(),
        "name": NAMES[score.metric],
        "figure": replace(shown_figure(words, figure, unit=unit, bounds=bounds), change_kind=kind, change=change),
        "view": replace(view, parts=charts.parts_of(words, figure, choice.url if reads_answers else None))
        if has_parts
        else view,
    }


def _stage_urls(visit: Visit, found: Overview, subjects: Subjects) -> Sequence[str] | None:
    """The invitations of each stage; None for readers of figures alone."""
    if not visit.caller.reads_answers:
        return None
    period = found.period
    selection = Selection(
        questionnaire_ids=list(subjects.owners), from_time=period.from_time, to_time=period.to_time, date_basis="sent"
    )
    return [link_of(selection, [stage]) for stage, _ in found.funnel]


def funnel(words: Texts, found: Overview, urls: Sequence[str] | None = None) -> charts.View:
    figures = [(words(STAGES[stage]), figure) for stage, figure in found.funnel]
    return charts.funnel_view(
        words,
        figures,
        finding=words("Messages that went out in this period; each share is of those that were sent."),
        urls=urls,
    )


def _months(words: Texts, found: Overview) -> str:
    zone = found.period.zone
    first, last = found.period.from_time.astimezone(zone), found.period.to_time.astimezone(zone) - timedelta(days=1)
    return words(
        "You see whole months: {first} to {last}.",
        first=words.day(first.date().isoformat()),
        last=words.day(last.date().isoformat()),
    )


def _bins(words: Texts, found: Overview, score: Score) -> str:
    texts = [
        {"day": words("By day."), "week": words("By week."), "month": words("By month.")}[found.bucket],
        words("Shorter steps would have fewer than 30 answers each.") if found.is_coarse else "",
        charts.cut_text(words, found.period, found.bucket, [one.start for one in score.bins]),
    ]
    return " ".join(filter(None, texts))
