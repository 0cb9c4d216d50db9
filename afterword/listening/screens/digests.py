"""Reports by mail: the user's digests, a form for one more, and the page that a mail's link stops it by."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any, Final

from starlette.responses import Response

from afterword import errors
from afterword.cases import chats
from afterword.cases.alert_instances import store as cases
from afterword.console.screens import DOMAIN, HOME, LANGUAGES, Guest, Screens, Visit
from afterword.core.figures import periods
from afterword.core.figures.periods import Period
from afterword.core.messaging import addresses
from afterword.core.organizations.access import Caller, installation
from afterword.core.questionnaires import visuals
from afterword.core.questionnaires.question_types import SCORES
from afterword.core.questionnaires.visuals import Theme
from afterword.core.wire.lists import Page
from afterword.kit.db import Database
from afterword.kit.nouns import service as nouns
from afterword.kit.texts import Marked, Texts, own_name, texts
from afterword.kit.ui.charts import View
from afterword.kit.ui.text import change_word, figure_text
from afterword.kit.web import html
from afterword.listening.reports import custom_reports, digests, overview as overviews, results
from afterword.listening.reports.custom_reports import REPORT
from afterword.listening.reports.digests import DIGEST, ReportDigest
from afterword.listening.responses import service as responses
from afterword.listening.responses.service import Filter
from afterword.listening.screens import overview, reports
from afterword.listening.screens.reports import report_names
from afterword.sending.messages.invitation import LOGO_HEIGHT_MAX, LOGO_WIDTH_MAX
from afterword.tenants.organizations import service as organizations, users

ROWS_MAX: Final = 20  # of a table in a mail
SECTIONS_MAX: Final = 10
DAYS: Final[Mapping[str, int]] = {"weekly": 7, "monthly": 30}  # of the overview
REGULARLY: Final[Mapping[str, Marked]] = {"weekly": "every week", "monthly": "every month"}
CASES_MAX: Final = 5
COMMENTS_SEEN: Final = 50  # the newest of a band, of which the best or worst is taken
COMMENT_CHARACTERS_MAX: Final = 400
QUOTED: Final[tuple[tuple[Marked, str], ...]] = (("Best comment", "promoter"), ("Worst comment", "detractor"))
ASKED: Final[Marked] = "{organization} would like to mail you “{report}” {regularly}."
MAILED: Final[Marked] = "{organization} mails you “{report}” {regularly}."
STOPPED: Final[tuple[Marked, Marked]] = (
    "These e-mails are stopped",
    "They are no longer sent. People with a login can turn them on again in the console, under Reports.",
)
STOP: Final = "/console/digest"
CONSENT: Final = "/console/digest-consent"

Section = dict[str, Any]


async def mail_due(db: Database, *, secret: bytes, now: datetime, limit: int) -> int:
    return await digests.mail_due(db, write=partial(content_of, secret=secret, now=now), now=now, limit=limit)


async def content_of(
    db: Database, caller: Caller, digest: ReportDigest, *, secret: bytes, now: datetime
) -> Mapping[str, Any]:
    """The texts of the mail in its language, and addresses without that of the site."""
    words = texts(DOMAIN, digest.locale)
    organization_id, digest_id = digest.organization_id, digest.digest_id
    organization = await organizations.get_organization(db, organization_id=organization_id)
    name = organization.display_name if organization else ""
    brand = visuals.inherited(organization.brand if organization else None)
    regularly = words(REGULARLY[digest.frequency])
    token = digests.link_token(organization_id, digest_id, secret=secret)
    content: dict[str, Any] = {
        "language": words.language,
        "direction": words.direction,
        "brand": _brand(name, brand),
        "period": "",
        "stop_url": f"{STOP}/{organization_id}/{digest_id}/{token}",
        "stop": words("Stop these e-mails"),
    }
    if digest.is_asked:
        return content | await _question(db, words, caller, digest, name=name, secret=secret)
    is_reader = digest.recipient is None or (
        await users.get_user_by_email(db, organization_id=organization_id, email=digest.recipient)
    )
    if digest.report_id is None:
        title, url = words("Overview"), f"{HOME}?days={DAYS[digest.frequency]}"
        period, sections = await _overview(db, words, caller, digest, is_reader=bool(is_reader), now=now)
    else:
        url = reports.SAVED.replace("{report_id}", digest.report_id)
        title, period, sections = await _report(db, words, caller, digest.report_id, now=now)
    why = words("You chose to get this e-mail {regularly}.", regularly=regularly)
    if digest.recipient is not None:
        why = words(
            "{organization} sends you this mail {regularly}, as you agreed.", organization=name, regularly=regularly
        )
    return content | {
        "subject": f"{title}: {period}" if period else title,
        "title": title,
        "period": period,
        "sections": sections[:SECTIONS_MAX],
        "url": url if is_reader else "",
        "open": words("Open it in the console"),
        "why": why,
    }


async def _question(
    db: Database, words: Texts, caller: Caller, digest: ReportDigest, *, name: str, secret: bytes
) -> dict[str, Any]:
    """The first mail to another address: it has no figures, and nothing else is sent until somebody agrees."""
    key = digest.organization_id, digest.digest_id
    token = digests.link_token(*key, secret=secret, purpose=digests.CONSENT_PURPOSE)
    asked = await _said(db, words, caller, digest, ASKED)
    subject = words("May {organization} mail you its figures?", organization=name)
    return {
        "subject": subject,
        "title": subject,
        "sections": [_section("", [asked, words("Nothing is sent until you agree. The link works for seven days.")])],
        "url": f"{CONSENT}/{'/'.join(key)}/{token}",
        "open": words("Agree, and get the mail"),
        "why": words("If you do not want it, do nothing."),
        "stop": words("Do not ask again"),
    }


async def _said(db: Database, words: Texts, caller: Caller, digest: ReportDigest, sentence: Marked) -> str:
    """The sentence with whose report comes how often."""
    organization = await organizations.get_organization(db, organization_id=digest.organization_id)
    report = words("Overview")
    if digest.report_id is not None:
        report = (await custom_reports.get(db, caller=caller, report_id=digest.report_id)).title
    name = organization.display_name if organization else ""
    return words(sentence, organization=name, report=report, regularly=words(REGULARLY[digest.frequency]))


def _brand(name: str, theme: Theme) -> dict[str, Any]:
    logo = visuals.read_address(theme.logo or "")
    size = min(1, LOGO_WIDTH_MAX / logo.width, LOGO_HEIGHT_MAX / logo.height) if logo else 1
    return {
        "name": name,
        "color": visuals.colors_of(theme, "light")["accent"],
        "logo": [logo.address, max(1, round(logo.width * size)), max(1, round(logo.height * size))] if logo else [],
    }


async def _overview(
    db: Database, words: Texts, caller: Caller, digest: ReportDigest, *, is_reader: bool, now: datetime
) -> tuple[str, list[Section]]:
    days = DAYS[digest.frequency]
    subjects = await overviews.get_subjects(db, caller=caller, application_id=None)
    found = await overviews.overview_of(db, caller=caller, subjects=subjects, period={"last_days": days}, now=now)
    if found is None:
        return "", [_section("", [words("There is no questionnaire yet.")])]
    sections: list[Section] = []
    for score in found.scores:
        if score.figure.measure.n:
            figure = figure_text(words, score.figure, unit=SCORES[score.metric].unit)
            change = change_word(words, score.figure, days=None if found.is_of_months else days)[1]
            sections.append(_section(SCORES[score.metric].label, [figure, change], overview.trend_of(words, score)))
    if not sections:
        sections.append(_section("", [words("No answers in this period.")]))
    if digest.comments and caller.reads_answers:
        sections += [
            _section(words(title), [text])
            for title, band in QUOTED
            if (text := await _comment(db, words, caller, band=band, period=found.period))
        ]
    if "Alert Instance.Read" in caller.scopes:
        sections += await _cases(db, words, caller, is_reader=is_reader, now=now)
    stages = overview.funnel(words, found)
    sections.append(_section(words("From sent to completed"), [stages.finding], stages))
    return reports.months_of(words, found.period), sections


async def _comment(db: Database, words: Texts, caller: Caller, *, band: str, period: Period) -> str:
    """The words of the best or worst score, the longest of equal ones, without addresses and numbers in them."""
    chosen = Filter(only=caller.only, tab="comment", band=band, from_time=period.from_time, to_time=period.to_time)
    found = await responses.find(db, responses.RequestedResponses(caller=caller, chosen=chosen), limit=COMMENTS_SEEN)
    sign = 1 if band == "promoter" else -1
    known = [one for one in found.rows if one.comment and one.score is not None and one.score_max]
    if not known:
        return ""
    best = max(known, key=lambda one: (sign * (one.score or 0) / (one.score_max or 1), len(one.comment or "")))
    text = addresses.mask(best.comment or "", best.person or "")
    text = text if len(text) <= COMMENT_CHARACTERS_MAX else f"{text[:COMMENT_CHARACTERS_MAX]}…"
    return words("“{comment}” ({score} of {most})", comment=text, score=best.score, most=best.score_max)


async def _cases(db: Database, words: Texts, caller: Caller, *, is_reader: bool, now: datetime) -> list[Section]:
    """The open cases that are due first, without the person; links for readers who can log in."""
    found = await cases.list_work(
        db, **caller.sight, tab="", user_id=caller.user_id, now=now, after=None, limit=CASES_MAX + 1
    )
    if not found:
        return []
    links = [
        (
            f"{one.alert_title}, {words.date(one.created_time, time_zone=caller.time_zone)}",
            f"/console/cases/{one.alert_instance_id}" if is_reader else "",
        )
        for one in found[:CASES_MAX]
    ]
    more = [words("There are more.")] if len(found) > CASES_MAX else []
    return [{**_section(words("Open cases"), more), "links": links}]


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
    questionnaires = await reports.names_of(db, caller.part, plan.query.questionnaire_ids)
    pipelines = await reports.pipelines_of(db, caller=caller, result=result)
    names = report_names(words, plan.context, questionnaires, pipelines=pipelines)
    values = reports.values_of(words, result, names, template_id=report.spec.get("template_id"))
    sections = [
        _section(name, [f"{figure.value} {figure.basis}".strip(), figure.change]) for name, figure in values["totals"]
    ]
    for view in values["views"]:
        sections.append(_section(view.title if not sections else "", [view.finding], view))
    if values["hidden"]:
        sections.append(_section("", [values["hidden"]]))
    return report.title, values["months"], sections


def _section(title: str, sentences: Sequence[str], view: View | None = None) -> Section:
    rows = [[cell.text for cell in row] for row in view.rows] if view else []
    bars = _bars(view) if view else []
    shown = slice(None)
    if len(rows) > ROWS_MAX:  # the last row is of all together
        rows, shown = [*rows[: ROWS_MAX - 1], rows[-1]], slice(ROWS_MAX - 1)
    bars = bars[shown]
    return {
        "title": title,
        "sentences": [one for one in sentences if one],
        "head": list(view.head) if view else [],
        "rows": rows,
        "bars": [*bars, *[None] * (len(rows) - len(bars))] if any(bars) else [],
    }


def _bars(view: View) -> list[int | None]:
    """The length of a bar for each row in percent, as the picture on the screen has it; none for other pictures."""
    if view.kind == "trend" and view.chart:
        places = {dot.index: round(100 - dot.y) for dot in view.chart.dots}
        return [places.get(index) for index in range(len(view.points))]
    if view.kind == "rows":
        return [
            round(one.bar.width) if one.bar else round(one.places[0]) if one.places else None for one in view.points
        ]
    return []


MAILS: Final = f"{reports.REPORTS}/mails"
OVERVIEW: Final = "overview"
HOUR_DEFAULT: Final = 8
WEEK_DAYS: Final[tuple[Marked, ...]] = (
    "Every Monday", "Every Tuesday", "Every Wednesday", "Every Thursday", "Every Friday", "Every Saturday",
    "Every Sunday",
)  # fmt: skip

routes = Screens()


@routes.post(MAILS, scope="Report.Read", for_limited="part", again=(errors.Invalid, errors.TooMany))
async def create_mail(visit: Visit, db: Database) -> Response:
    frequency, _, day = visit.form.text("when").partition(" ")
    hour, locale, report_id = (visit.form.text(name) for name in ("hour", "locale", "report_id"))
    columns: dict[str, Any] = {
        "report_id": None if report_id == OVERVIEW else report_id,
        "frequency": frequency if frequency in {"weekly", "monthly"} else "weekly",
        "day": int(day) if day in map(str, range(1, periods.MONTH_DAYS_MAX + 1)) else 1,
        "hour": int(hour) if hour in map(str, range(24)) else HOUR_DEFAULT,
        "locale": locale if locale in LANGUAGES else visit.words.language,
        "recipient": visit.form.text("recipient").strip() or None,
        "chat_id": visit.form.text("chat_id") or None,
        "comments": bool(visit.form.text("comments")),
    }
    await nouns.create(DIGEST, db, columns=columns, **visit.acting)
    return html.redirect(f"{MAILS}?done=saved")


@routes.post(f"{MAILS}/{{digest_id}}/send", scope="Report.Read", for_limited="part")
async def send_mail(visit: Visit) -> Response:
    await visit.change(digests.send_now, caller=visit.caller, **visit.ids, now=visit.now)
    return html.redirect(f"{MAILS}?done=digest_sent")


@routes.post(f"{MAILS}/{{digest_id}}/stop", scope="Report.Read", for_limited="part")
async def stop_mail(visit: Visit, db: Database) -> Response:
    await nouns.delete(DIGEST, db, key=visit.id("digest_id"), **visit.acting)
    return html.redirect(f"{MAILS}?done=removed")


@routes.open_get(f"{STOP}/{{organization_id}}/{{digest_id}}/{{token}}")
@routes.open_get(f"{CONSENT}/{{organization_id}}/{{digest_id}}/{{token}}")
async def confirm_link(guest: Guest, db: Database) -> Response:
    """Without a login. A link scanner that opens it stops nothing, and agrees to nothing."""
    digest = await _linked(guest, db)
    words, is_consent = guest.words, _is_consent(guest)
    if digest is None:
        return _ended(guest)
    if is_consent and not digest.is_asked:
        return _agreed(guest)
    title = words("Get these figures by mail?") if is_consent else words("Stop these e-mails?")
    button = words("Agree, and get the mail") if is_consent else words("Stop these e-mails")
    text = await _said(db, words, installation(digest.organization_id), digest, ASKED if digest.is_asked else MAILED)
    return guest.page("digest_stop.html", title=title, text=text, action=guest.request.url.path, button=button)


@routes.open_post(f"{STOP}/{{organization_id}}/{{digest_id}}/{{token}}")
async def stop_without_login(guest: Guest, db: Database) -> Response:
    if digest := await _linked(guest, db):
        await digests.delete_digest(db, digest)
    return _ended(guest)


@routes.open_post(f"{CONSENT}/{{organization_id}}/{{digest_id}}/{{token}}")
async def consent(guest: Guest, db: Database) -> Response:
    if digest := await _linked(guest, db):
        await digests.agree(db, digest=digest, now=guest.now)
    return _agreed(guest) if digest else _ended(guest)


def _is_consent(guest: Guest) -> bool:
    return guest.request.url.path.startswith(CONSENT)


async def _linked(guest: Guest, db: Database) -> ReportDigest | None:
    purpose = digests.CONSENT_PURPOSE if _is_consent(guest) else digests.PURPOSE
    return await digests.open_link(db, **guest.request.path_params, secret=guest.site.secret, purpose=purpose)


def _agreed(guest: Guest) -> Response:
    text = guest.words("You get the mail from now on. A link in each one stops it.")
    return guest.page("shared_ended.html", title=guest.words("Thank you"), text=text)


def _ended(guest: Guest) -> Response:
    title, text = map(guest.words, reports.WORDS[errors.Gone.status] if _is_consent(guest) else STOPPED)
    return guest.page("shared_ended.html", title=title, text=text)


@routes.get(MAILS, scope="Report.Read", for_limited="part")
async def _page(visit: Visit, db: Database, *, refusal: errors.Refusal | None = None) -> Response:
    words = visit.words
    found = await digests.digests_of(db, caller=visit.caller)
    rooms = await chats.list_titles(db, organization_id=visit.caller.organization_id)
    saved = await nouns.rows(
        REPORT, db, **visit.caller.part, page=Page.first(reports.SAVED_LISTING, limit=reports.LISTED_MAX)
    )
    titles = {one.report_id: one.title for one in saved.items}
    form = visit.form
    return visit.page(
        "digests.html",
        title=words("Reports by mail"),
        refusal=refusal,
        mails=[_row(visit, one, titles, dict(rooms)) for one in found],
        chats=[("", words("None: by e-mail")), *rooms] if rooms and not visit.caller.is_limited else [],
        chat_id=form.text("chat_id"),
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
        recipient=form.text("recipient"),
        comments=form.text("comments"),
        may_comment=visit.caller.reads_answers,
        zone=visit.zone,
    )


def _row(visit: Visit, one: ReportDigest, titles: dict[str, str], rooms: dict[str, str]) -> dict[str, Any]:
    words = visit.words
    named = words("Overview") if one.report_id is None else titles.get(one.report_id, words("A report"))
    when = dict(_whens(words))[f"{one.frequency} {one.day}"]
    moment = words.moment(max(one.due_time, visit.now), time_zone=visit.zone)
    return {
        "title": named,
        "url": reports.SAVED.replace("{report_id}", one.report_id) if one.report_id else "/console",
        "when": words("{when} at {hour}:00, next {moment}.", when=when, hour=one.hour, moment=moment),
        "action": f"{MAILS}/{one.digest_id}",
        "recipient": one.recipient or rooms.get(one.chat_id or "", ""),
        "is_asked": one.is_asked,
    }


def _whens(words: Texts) -> list[tuple[str, str]]:
    days = [(f"weekly {number}", words(text)) for number, text in enumerate(WEEK_DAYS, start=1)]
    months = range(1, periods.MONTH_DAYS_MAX + 1)
    return days + [(f"monthly {day}", words("Every month on day {day}", day=day)) for day in months]
