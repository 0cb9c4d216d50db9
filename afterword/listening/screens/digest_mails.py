"""The figures of a digest in words: those of the screen that it leads to, for the user as of now."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from afterword import errors
from afterword.console.response_list import CHANNELS
from afterword.console.screens import DOMAIN, HOME
from afterword.core.organizations.access import Caller
from afterword.kit.db import Database
from afterword.kit.texts import Texts, texts
from afterword.kit.ui.charts import View
from afterword.kit.ui.text import ShownFigure, change_word, figure_text
from afterword.listening.reports import custom_reports, digests, results
from afterword.listening.reports import overview as overviews
from afterword.listening.reports.digests import ReportDigest
from afterword.listening.screens import overview, reports
from afterword.listening.screens.forms import declared
from afterword.listening.screens.views import Names

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
        "stop": words("Stop this mail"),
        "why": words("You chose to get this mail {regularly}.", regularly=regularly),
    }


async def _overview(
    db: Database, words: Texts, caller: Caller, *, days: int, now: datetime
) -> tuple[str, list[Section]]:
    subjects = await overviews.subjects(db, caller=caller, application_id=None)
    found = await overviews.overview_of(db, caller=caller, subjects=subjects, days=days, now=now)
    if found is None:
        return "", [_section("", [words("There is no questionnaire yet.")])]
    sections: list[Section] = []
    for score in found.scores:
        if score.figure.measure.n:
            figure = figure_text(words, score.figure, unit=overview.UNITS[score.metric])
            change = change_word(words, score.figure, days=None if found.is_of_months else days)[1]
            sections.append(_section(overview.NAMES[score.metric], [figure, change]))
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
            [_section("", [words("Words of comments are not mailed. Open the report to read them.")])],
        )
    try:
        plan = await results.planned(db, caller=caller, spec=report.spec, now=now)
        result = await results.run_plan(db, plan)
    except errors.Invalid:
        text = words("This report cannot be shown to you now: it reads too many answers, or a part of it was removed.")
        return report.title, "", [_section("", [text])]
    names = Names(
        words=words,
        questions=plan.context.questions,
        questionnaires=await reports.names_of(db, caller=caller),
        channels=CHANNELS,
        metadata=declared(words, plan.context),
        url=lambda _selection, _stages: "",
        pipelines=await reports.pipelines_of(db, caller=caller, result=result),
    )
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
