"""Reports by mail: the user's digests, a form for one more, and the page that a mail's link stops it by."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from starlette.responses import Response

from afterword import errors
from afterword.console.screens import DOMAIN, HOME, LANGUAGES, Guest, Screens, Visit
from afterword.core.figures import periods
from afterword.core.organizations.access import Caller
from afterword.core.questionnaires.question_types import SCORES
from afterword.core.wire.lists import Page
from afterword.kit.db import Database
from afterword.kit.nouns import service as nouns
from afterword.kit.texts import Marked, Texts, own_name, texts
from afterword.kit.ui.charts import View
from afterword.kit.ui.text import ShownFigure, change_word, figure_text
from afterword.kit.web import html
from afterword.listening.reports import custom_reports, digests, results
from afterword.listening.reports import overview as overviews
from afterword.listening.reports.custom_reports import REPORT
from afterword.listening.reports.digests import DIGEST, ReportDigest
from afterword.listening.screens import overview, reports
from afterword.listening.screens.forms import report_names

ROWS_MAX: Final = 20  # of a table in a mail
SECTIONS_MAX: Final = 10
DAYS: Final[Mapping[str, int]] = {"weekly": 7, "monthly": 30}  # of the overview
STOP: Final = "/console/digest"

Section = dict[str, Any]


async def mail_due(db: Database, *, secret: bytes, now: datetime, limit: int) -> int:
    async def write(db: Database, caller: Caller, digest: ReportDigest) -> Mapping[str, Any]:
        return await content_of(db, caller=caller, digest=digest, secret=secret, now=now)

    return await digests.mail_due(db, write=write, now=now, limit=limit)


async def content_of(
    db: Database, *, caller: Caller, digest: ReportDigest, secret: bytes, now: datetime
) -> Mapping[str, Any]:
    """The texts of the mail in its language, and addresses without that of the site."""
    words = texts(DOMAIN, digest.locale)
    organization_id, digest_id = digest.organization_id, digest.digest_id
    if digest.report_id is None:
        title, url = words("Overview"), f"{HOME}?days={DAYS[digest.frequency]}"
        period, sections = await _overview(db, words, caller, days=DAYS[digest.frequency], now=now)
    else:
        url = reports.SAVED.replace("{report_id}", digest.report_id)
        title, period, sections = await _report(db, words, caller, digest.report_id, now=now)
    token = digests.stop_token(organization_id, digest_id, secret=secret)
    regularly = {"weekly": words("every week"), "monthly": words("every month")}[digest.frequency]
    return {
        "language": words.language,
        "direction": words.direction,
        "subject": f"{title}: {period}" if period else title,
        "title": title,
        "period": period,
        "sections": sections[:SECTIONS_MAX],
        "url": url,
        "open": words("Open it in the console"),
        "stop_url": f"{STOP}/{organization_id}/{digest_id}/{token}",
        "stop": words("Stop these e-mails"),
        "why": words("You chose to get this e-mail {regularly}.", regularly=regularly),
    }


async def _overview(
    db: Database, words: Texts, caller: Caller, *, days: int, now: datetime
) -> tuple[str, list[Section]]:
    subjects = await overviews.get_subjects(db, caller=caller, application_id=None)
    found = await overviews.overview_of(db, caller=caller, subjects=subjects, period={"last_days": days}, now=now)
    if found is None:
        return "", [_section("", [words("There is no questionnaire yet.")])]
    sections: list[Section] = []
    for score in found.scores:
        if score.figure.measure.n:
            figure = figure_text(words, score.figure, unit=SCORES[score.metric].unit)
            change = change_word(words, score.figure, days=None if found.is_of_months else days)[1]
            sections.append(_section(SCORES[score.metric].label, [figure, change]))
    if not sections:
        sections.append(_section("", [words("No answers in this period.")]))
    stages = overview.funnel(words, found)
    sections.append(_section(words("From sent to completed"), [stages.finding], stages))
    return reports.months_of(words, found.period), sections


async def _report(
    db: Database, words: Texts, caller: Caller, report_id: str, *, now: datetime
) -> tuple[str, str, list[Section]]:
    report = await custom_reports.get(db, caller=caller, report_id=report_id)
    if report.has_texts:  # since it was changed: digests of such reports are refused
        return (
            report.title,
            "",
            [_section("", [words("Words of comments are not sent by e-mail. Open the report to read them.")])],
        )
    try:
        plan = await results.planned(db, caller=caller, spec=report.spec, now=now)
        result = await results.run_plan(db, plan)
    except errors.Invalid:
        text = words(
            "This report cannot be shown to you right now: it reads too many answers, or a part of it has been deleted."
        )
        return report.title, "", [_section("", [text])]
    questionnaires = await reports.names_of(db, caller=caller)
    pipelines = await reports.pipelines_of(db, caller=caller, result=result)
    names = report_names(words, plan.context, questionnaires, pipelines=pipelines)
    values = reports.values_of(words, result, names, template_id=report.spec.get("template_id"))
    sections = [_section(name, _sentences(figure)) for name, figure in values["totals"]]
    for view in values["views"]:
        sections.append(_section(view.title if not sections else "", [view.finding], view))
    if values["hidden"]:
        sections.append(_section("", [values["hidden"]]))
    return report.title, values["months"], sections


def _sentences(figure: ShownFigure) -> Sequence[str]:
    value = f"{figure.value} {figure.basis}" if figure.value else figure.basis
    return [value, figure.change]


def _section(title: str, sentences: Sequence[str], view: View | None = None) -> Section:
    rows = [[cell.text for cell in row] for row in view.rows] if view else []
    # The last row is of all together.
    shown = rows if len(rows) <= ROWS_MAX else [*rows[: ROWS_MAX - 1], rows[-1]]
    return {
        "title": title,
        "sentences": [one for one in sentences if one],
        "head": list(view.head) if view else [],
        "rows": shown,
    }


MAILS: Final = f"{reports.REPORTS}/mails"
OVERVIEW: Final = "overview"
HOUR_DEFAULT: Final = 8
WEEK_DAYS: Final[tuple[Marked, ...]] = (
    "Every Monday", "Every Tuesday", "Every Wednesday", "Every Thursday", "Every Friday", "Every Saturday",
    "Every Sunday",
)  # fmt: skip

routes = Screens()


@routes.post(MAILS, scope="Report.Read")
async def create_mail(visit: Visit) -> Response:
    frequency, _, day = visit.form.text("when").partition(" ")
    hour, locale, report_id = (visit.form.text(name) for name in ("hour", "locale", "report_id"))
    columns: dict[str, Any] = {
        "report_id": None if report_id == OVERVIEW else report_id,
        "frequency": frequency if frequency in {"weekly", "monthly"} else "weekly",
        "day": int(day) if day in map(str, range(1, periods.MONTH_DAYS_MAX + 1)) else 1,
        "hour": int(hour) if hour in map(str, range(24)) else HOUR_DEFAULT,
        "locale": locale if locale in LANGUAGES else visit.words.language,
    }
    try:
        async with visit.write() as db:
            await nouns.create(DIGEST, db, caller=visit.caller, columns=columns, site=visit.site, now=visit.now)
    except errors.Invalid as refusal:
        return await _page(visit, refusal=refusal)
    return html.redirect(f"{MAILS}?done=saved")


@routes.post(f"{MAILS}/{{digest_id}}/send", scope="Report.Read")
async def send_mail(visit: Visit) -> Response:
    async with visit.write() as db:
        await digests.send_now(db, caller=visit.caller, **visit.ids, now=visit.now)
    return html.redirect(f"{MAILS}?done=digest_sent")


@routes.post(f"{MAILS}/{{digest_id}}/stop", scope="Report.Read")
async def stop_mail(visit: Visit) -> Response:
    async with visit.write() as db:
        await nouns.delete(DIGEST, db, caller=visit.caller, key=visit.id("digest_id"), site=visit.site, now=visit.now)
    return html.redirect(f"{MAILS}?done=removed")


@routes.open_get(f"{STOP}/{{organization_id}}/{{digest_id}}/{{token}}")
async def confirm_stop(guest: Guest) -> Response:
    """Without a login. A link scanner that opens it stops nothing."""
    words = guest.words
    if not await _stopped(guest, is_done=False):
        return _ended(guest)
    return guest.page(
        "digest_stop.html",
        title=words("Stop these e-mails?"),
        action=guest.request.url.path,
        button=words("Stop these e-mails"),
    )


@routes.open_post(f"{STOP}/{{organization_id}}/{{digest_id}}/{{token}}")
async def stop_without_login(guest: Guest) -> Response:
    await _stopped(guest, is_done=True)
    return _ended(guest)


async def _stopped(guest: Guest, *, is_done: bool) -> bool:
    names = ("organization_id", "digest_id", "token")
    organization_id, digest_id, token = (guest.request.path_params[name] for name in names)
    async with guest.write() as db:
        return await digests.stop_by_token(
            db,
            organization_id=organization_id,
            digest_id=digest_id,
            token=token,
            secret=guest.site.secret,
            is_done=is_done,
        )


def _ended(guest: Guest) -> Response:
    words = guest.words
    text = words("They are no longer sent. You can turn them on again in the console, under Reports.")
    return guest.page("shared_ended.html", title=words("These e-mails are stopped"), text=text)


@routes.get(MAILS, scope="Report.Read")
async def _page(visit: Visit, *, refusal: errors.Invalid | None = None) -> Response:
    words = visit.words
    async with visit.read() as db:
        found = await digests.digests_of(db, caller=visit.caller)
        saved = await nouns.rows(
            REPORT, db, **visit.caller.part, page=Page.first(reports.SAVED_LISTING, limit=reports.LISTED_MAX)
        )
    titles = {one.report_id: one.title for one in saved.items}
    form = visit.form
    return visit.page(
        "digests.html",
        title=words("Reports by mail"),
        refusal=refusal,
        mails=[_row(visit, one, titles) for one in found],
        reports=[
            (OVERVIEW, words("Overview")),
            *((one.report_id, one.title) for one in saved.items if not one.has_texts),
        ],
        report_id=form.text("report_id") or visit.query.get("report", OVERVIEW),
        whens=_whens(words),
        when=form.text("when") or "weekly 1",
        hours=[(str(hour), f"{hour}:00") for hour in range(24)],
        hour=form.text("hour") or str(HOUR_DEFAULT),
        languages=[(each, own_name(each)) for each in LANGUAGES],
        locale=form.text("locale") or words.language,
        zone=visit.zone,
    )


def _row(visit: Visit, one: ReportDigest, titles: dict[str, str]) -> dict[str, str]:
    words = visit.words
    named = words("Overview") if one.report_id is None else titles.get(one.report_id, words("A report"))
    when = dict(_whens(words))[f"{one.frequency} {one.day}"]
    moment = words.moment(max(one.due_time, visit.now), time_zone=visit.zone)
    return {
        "title": named,
        "url": reports.SAVED.replace("{report_id}", one.report_id) if one.report_id else "/console",
        "when": words("{when} at {hour}:00, next {moment}.", when=when, hour=one.hour, moment=moment),
        "action": f"{MAILS}/{one.digest_id}",
    }


def _whens(words: Texts) -> list[tuple[str, str]]:
    days = [(f"weekly {number}", words(text)) for number, text in enumerate(WEEK_DAYS, start=1)]
    months = range(1, periods.MONTH_DAYS_MAX + 1)
    return days + [(f"monthly {day}", words("Every month on day {day}", day=day)) for day in months]
