"""The overview: urgent things first, then the scores in sentences with their trend, then the way of the invitations."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

from starlette.responses import Response

from afterword.alerts.cases import store as cases_store
from afterword.console import response_list as responses
from afterword.console.screens import HOME, Screens, Visit
from afterword.console.text import change_word, figure_text, shown_figure
from afterword.core.charts.trend import Point, trend
from afterword.core.figures.reports import Figure
from afterword.core.wire.lists import Page
from afterword.organizations import api as organizations_api
from afterword.organizations import store as organizations_store
from afterword.reports.overview import service
from afterword.reports.overview.service import Overview, Score
from afterword.texts import Texts
from afterword.web import fields, html

PERIODS: Final = (7, 30, 90)
DAYS_DEFAULT: Final = 30
COMMENTS: Final = 5
APPLICATIONS_MAX: Final = 100
APPLICATIONS: Final = fields.listing_of(organizations_api.Application)
NAMES: Final[Mapping[str, str]] = {"nps": "NPS", "csat": "CSAT", "ces": "CES"}
UNITS: Final[Mapping[str, str]] = {"nps": "", "csat": " %", "ces": " %"}
BOUNDS: Final[Mapping[str, tuple[float, float]]] = {"nps": (-100, 100), "csat": (0, 100), "ces": (0, 100)}
PARTS: Final[Mapping[str, str]] = {"detractor": "Detractors", "passive": "Passives", "promoter": "Promoters"}
STAGES: Final[Mapping[str, str]] = {
    "sent": "Sent",
    "delivered": "Delivered",
    "viewed": "Opened",
    "started": "Answered",
    "completed": "Completed",
}

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
    caller, organization_id = visit.caller, visit.caller.organization_id
    async with visit.read() as db:
        applications = await organizations_store.list_applications(
            db,
            organization_id=organization_id,
            among=caller.application_ids,
            page=Page.first(APPLICATIONS, limit=APPLICATIONS_MAX),
        )
        known = {one.application_id for one in applications.items}
        application_id = chosen if chosen in known else None
        found = await service.overview(db, caller=caller, application_id=application_id, days=days, now=visit.now)
        cases = await cases_store.count_cases(
            db,
            organization_id=organization_id,
            application_ids=[application_id] if application_id else caller.application_ids,
            test_only=caller.test,
            user_id=caller.user_id,
            now=visit.now,
        )
        comments: list[dict[str, Any]] = []
        choice = responses.Choice(application_id=application_id or "", days=days)
        if found and caller.reads_answers:
            comments = await responses.newest(visit, db, replace(choice, tab="comment"), limit=COMMENTS)
    return visit.page(
        "overview.html",
        title=visit.words("Overview"),
        days=days,
        periods=[(each, visit.words.plural("{n} day", "{n} days", each)) for each in PERIODS],
        applications=[(one.application_id, one.display_name) for one in applications.items],
        application_id=application_id or "",
        cases=cases,
        comments=comments,
        comments_url=choice.url(tab="comment"),
        scores=[
            _score(visit.words, one, choice, is_of_months=found.is_of_months)
            for one in (found.scores if found else ())
            if found and one.figure.measure.n
        ],
        months=_months(visit.words, found) if found and found.is_of_months else "",
        reads_answers=caller.reads_answers,
        funnel=_funnel(visit.words, found) if found else [],
        bins=_bins(visit.words, found) if found else "",
        has_questionnaires=found is not None,
        has_answers=found is not None and any(one.figure.measure.n for one in found.scores),
    )


def _days(text: str) -> int:
    return int(text) if text in map(str, PERIODS) else DAYS_DEFAULT


def _score(words: Texts, score: Score, choice: responses.Choice, *, is_of_months: bool) -> dict[str, Any]:
    figure, bounds = score.figure, BOUNDS[score.metric]
    measure = figure.measure
    kind, change = change_word(words, figure, days=None if is_of_months else choice.days)
    points = [_point(one.figure) for one in score.bins]
    choice = replace(choice, score=score.metric)
    return {
        "metric": score.metric,
        "url": choice.url(),
        "name": NAMES[score.metric],
        "figure": replace(
            shown_figure(words, figure, unit=UNITS[score.metric], bounds=bounds), change_kind=kind, change=change
        ),
        "chart": trend(points, bounds=bounds, mirrored=words.direction == "rtl"),
        "rows": [
            {
                "start": words.day(one.start.isoformat()),
                "text": figure_text(words, one.figure, unit=UNITS[score.metric]),
            }
            for one in score.bins
        ],
        "parts": _parts(measure.parts or {}, measure.n, choice)
        if score.metric == "nps" and not figure.suppressed
        else [],
    }


def _point(figure: Figure) -> Point:
    if figure.suppressed or figure.measure.value is None:
        return Point(None)
    interval = figure.measure.interval
    return Point(figure.measure.value, *((interval.low, interval.high) if interval else (None, None)))


def _parts(parts: Mapping[str, int], n: int, choice: responses.Choice) -> Sequence[dict[str, Any]]:
    """The shares of detractors, passives and promoters, with the place where each begins, in percent."""
    found: list[dict[str, Any]] = []
    start = 0.0
    for name in PARTS:
        count = parts.get(name, 0) if name != "passive" else n - parts.get("detractor", 0) - parts.get("promoter", 0)
        share = round(100 * count / n, 2) if n else 0.0
        url = choice.url(band=name)
        found.append({"name": name, "text": PARTS[name], "url": url, "count": count, "start": start, "share": share})
        start = round(start + share, 2)
    return found


def _funnel(words: Texts, found: Overview) -> list[dict[str, Any]]:
    """Each stage with its count and its share of those that were sent."""
    sent = _count(found.funnel[0][1])
    return [
        {
            "name": words(STAGES[stage]),
            "count": _count(figure),
            "is_hidden": figure.suppressed,
            "share": round(100 * _count(figure) / sent, 1) if sent else 0.0,
        }
        for stage, figure in found.funnel
    ]


def _count(figure: Figure) -> int:
    return int(figure.measure.value or 0)


def _months(words: Texts, found: Overview) -> str:
    zone = found.period.zone
    first, last = found.period.from_time.astimezone(zone), found.period.to_time.astimezone(zone) - timedelta(days=1)
    return words(
        "You see whole months: {first} to {last}.",
        first=words.day(first.date().isoformat()),
        last=words.day(last.date().isoformat()),
    )


def _bins(words: Texts, found: Overview) -> str:
    text = {"day": words("By day."), "week": words("By week."), "month": words("By month.")}[found.bucket]
    return f"{text} {words('Shorter steps would have fewer than 30 answers each.')}" if found.is_coarse else text
