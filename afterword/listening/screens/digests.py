"""Reports by mail: the user's digests, a form for one more, and the page that a mail's link stops it by."""

from typing import Any, Final

from starlette.responses import Response

from afterword import errors
from afterword.console.screens import LANGUAGES, Guest, Screens, Visit
from afterword.core.figures import digests as core_digests
from afterword.core.wire.lists import Page
from afterword.kit.nouns import service as nouns
from afterword.kit.texts import Marked, Texts
from afterword.kit.web import html
from afterword.listening.reports import digests
from afterword.listening.reports.custom_reports import REPORT
from afterword.listening.reports.digests import DIGEST, ReportDigest
from afterword.listening.screens import reports
from afterword.listening.screens.digest_mails import STOP

MAILS: Final = f"{reports.REPORTS}/mails"
OVERVIEW: Final = "overview"
HOUR_DEFAULT: Final = 8
WEEK_DAYS: Final[tuple[Marked, ...]] = (
    "Every Monday", "Every Tuesday", "Every Wednesday", "Every Thursday", "Every Friday", "Every Saturday",
    "Every Sunday",
)  # fmt: skip
NAMES: Final = {"en": "English", "el": "Ελληνικά"}

routes = Screens()


@routes.post(MAILS, scope="Report.Read")
async def create_mail(visit: Visit) -> Response:
    frequency, _, day = visit.form.text("when").partition(" ")
    hour, locale, report_id = (visit.form.text(name) for name in ("hour", "locale", "report_id"))
    columns: dict[str, Any] = {
        "report_id": None if report_id == OVERVIEW else report_id,
        "frequency": frequency if frequency in {"weekly", "monthly"} else "weekly",
        "day": int(day) if day in map(str, range(1, core_digests.MONTH_DAYS_MAX + 1)) else 1,
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
        title=words("Stop this mail?"),
        action=guest.request.url.path,
        button=words("Stop this mail"),
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
    text = words("It is not sent any more. In the console, under Reports, it can be chosen again.")
    return guest.page("shared_ended.html", title=words("This mail is stopped"), text=text)


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
        status=refusal.status if refusal else 200,
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
        languages=[(each, NAMES[each]) for each in LANGUAGES],
        locale=form.text("locale") or words.language,
        zone=visit.zone,
    )


def _row(visit: Visit, one: ReportDigest, titles: dict[str, str]) -> dict[str, str]:
    words = visit.words
    named = words("Overview") if one.report_id is None else titles.get(one.report_id, words("A report"))
    when = dict(_whens(words))[f"{one.frequency} {one.day}"]
    return {
        "title": named,
        "url": reports.SAVED.replace("{report_id}", one.report_id) if one.report_id else "/console",
        "when": words("{when} at {hour}:00, next {moment}.", when=when, hour=one.hour, moment=_moment(visit, one)),
        "action": f"{MAILS}/{one.digest_id}",
    }


def _moment(visit: Visit, one: ReportDigest) -> str:
    return visit.words.moment(max(one.due_time, visit.now), time_zone=visit.zone)


def _whens(words: Texts) -> list[tuple[str, str]]:
    days = [(f"weekly {number}", words(text)) for number, text in enumerate(WEEK_DAYS, start=1)]
    months = range(1, core_digests.MONTH_DAYS_MAX + 1)
    return days + [(f"monthly {day}", words("Every month on day {day}", day=day)) for day in months]
