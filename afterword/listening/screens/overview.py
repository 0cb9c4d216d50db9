"""The overview: urgent things first, then the scores in sentences with their trend, then the way of the invitations."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec.structs import replace
from starlette.responses import Response

from afterword.asking.screens.coupons import PATH as COUPONS
from afterword.cases.alert_instances import store as cases_store
from afterword.cases.screens.figures import CASES
from afterword.console import response_list as responses
from afterword.console.periods import PeriodChoice
from afterword.console.screens import HOME, Screens, Visit
from afterword.core.figures import periods
from afterword.core.figures.rows import Selection, buckets_of
from afterword.core.questionnaires.question_types import SCORES
from afterword.core.scheduling.statuses import PublicItem
from afterword.kit.db import Database
from afterword.kit.texts import Texts
from afterword.kit.ui import charts
from afterword.kit.ui.lists import address
from afterword.kit.ui.text import shown_figure
from afterword.kit.web import html
from afterword.listening.reports import overview
from afterword.listening.reports.overview import Overview, Score, Subjects
from afterword.listening.screens import reports, welcome
from afterword.listening.screens.questionnaire_results import results_url
from afterword.listening.screens.views import METRICS
from afterword.sending.queue import lists
from afterword.sending.screens.invitations import link_of
from afterword.sending.screens.pipelines import PIPELINES
from afterword.sending.screens.providers import PROVIDERS
from afterword.sending.screens.queue_items import (
    CHANNELS,
    NO_REASON,
    SENDING,
    STATUSES,
    SendingFilter,
    item_filter_of,
    reason_text,
    sum_of,
)
from afterword.tenants.screens.account import DEMONSTRATION
from afterword.tenants.screens.organization import DOMAIN

COUNT_MAX: Final = 1_000

Sentence = tuple[str, str, bool]  # the text, the address that it leads to (empty: none), whether it is urgent


async def attention_of(visit: Visit, db: Database, *, application_id: str | None) -> list[Sentence]:
    """The urgent ones first; of somebody with a limit cases alone."""
    words = visit.words
    reach: Any = {**visit.caller.reach, **({"application_ids": [application_id]} if application_id else {})}
    user_id, now = visit.caller.user_id, visit.now
    found: Mapping[str, Any]
    if visit.caller.limit is None:
        found = await overview.get_attention(db, **reach, user_id=user_id, now=now)
    else:
        counted = await cases_store.count_cases(db, **reach, only=visit.caller.only, user_id=user_id, now=now)
        found = {**overview.NOTHING, "cases": counted}
    cases = found["cases"]
    overdue = words.plural("{n} case is overdue", "{n} cases are overdue", cases["overdue"])
    mine = words.plural("{n} open case is yours", "{n} open cases are yours", cases["mine"])
    unassigned = words.plural("{n} open case has no owner", "{n} open cases have no owner", cases["unassigned"])
    all_open = words.plural("{n} case is open", "{n} cases are open", cases["open"])

    def cases_of(tab: str) -> str:
        return address(CASES, tab=tab, application=application_id)

    return [
        *([(overdue, cases_of("overdue"), True)] if cases["overdue"] else []),
        *_sending(visit, found),
        *[
            (
                words("“{name}” used to get answers regularly, and has had none for a week.", name=one["display_name"]),
                address("/console/responses", questionnaire=one["questionnaire_id"]),
                True,
            )
            for one in found["silent"]
        ],
        *[
            (
                words(
                    "Credits of “{title}” are low: {left} of {all} left.",
                    title=one["title"],
                    left=max(0, one["credits_left"]),
                    all=one["credits"],
                ),
                "",
                True,
            )
            for one in found["plans"]
        ],
        *_coupons(visit, found["pools"]),
        *[
            (
                words("The record of {host} is gone. New links have the address of this installation.", host=host),
                DOMAIN if visit.may_open(DOMAIN) else "",
                True,
            )
            for host in (found["lost_host"],)
            if host
        ],
        *([(mine, cases_of("mine"), False)] if cases["mine"] else []),
        *([(unassigned, cases_of("unassigned"), False)] if cases["unassigned"] else []),
        *([(all_open, cases_of(""), False)] if cases["open"] else []),
    ]


async def waits_of(visit: Visit, db: Database, *, application_id: str | None, period: PeriodChoice) -> list[Sentence]:
    """The messages that wait, by reason, and those of the period that failed."""
    if not visit.may_open(SENDING):
        return []
    chosen = SendingFilter.read({"application": application_id or "", **period.query})
    wanted = replace(item_filter_of(visit, chosen, tab="waiting"), statuses=[*STATUSES["waiting"], PublicItem.FAILED])
    counts = await lists.count_items(db, caller=visit.caller, wanted=wanted, limit=COUNT_MAX)
    words = visit.words
    found: list[tuple[int, Sentence]] = []
    for reason in sorted({one.reason or "" for one in counts if one.status_id in STATUSES["waiting"]}):
        count, is_capped = sum_of(counts, STATUSES["waiting"], reason)
        if reason:
            text = words.plural(
                "{n} message waits: {reason}", "{n} messages wait: {reason}", count, is_capped=is_capped
            )
            text = text.replace("{reason}", reason_text(words, reason))
        else:
            text = words.plural("{n} scheduled", "{n} scheduled", count, is_capped=is_capped)
        url = chosen.url(tab="waiting", reason=reason or NO_REASON)
        found.append((count, (text, url, False)))
    sentences = [sentence for _, sentence in sorted(found, key=lambda pair: -pair[0])]
    failed, is_capped = sum_of(counts, [PublicItem.FAILED])
    if failed:
        text = words.plural(
            "{n} message failed in this period", "{n} messages failed in this period", failed, is_capped=is_capped
        )
        url = chosen.url(tab="failed")
        sentences.insert(0, (text, url, True))
    return sentences


def _coupons(visit: Visit, pools: Sequence[Mapping[str, Any]]) -> list[Sentence]:
    if not visit.may_open(COUPONS):
        return []
    words = visit.words
    return [
        (
            words.plural(
                "The coupon pool “{title}” has {n} free code.",
                "The coupon pool “{title}” has {n} free codes.",
                one["free_count"],
            ).replace("{title}", one["title"])
            if one["free_count"]
            else words("The coupon pool “{title}” is empty.", title=one["title"]),
            f"{COUPONS}/{one['pool_id']}",
            True,
        )
        for one in pools
    ]


def _sending(visit: Visit, found: Mapping[str, Any]) -> list[Sentence]:
    words = visit.words
    sentences: list[Sentence] = []
    waiting = address(SENDING, tab="waiting")
    if found["is_paused"]:
        sentences.append((words("All sending is paused until the administrator has looked at it."), "", True))
    for one in found["accounts"]:
        account = one["title"] or words(CHANNELS[one["channel_id"]])
        if one["is_paused"] and visit.session.pause_reason is not None:
            continue  # the head of each page says it of all accounts
        if one["is_paused"]:
            reason = one["paused_reason"] or words("the account needs a person to look at it")
            text = words("Sending by {account} is paused: {reason}", account=account, reason=reason)
        else:
            text = words("Sending by {account} is failing.", account=account)
        url = f"{PROVIDERS}/{one['account_id']}"
        sentences.append((text, url if visit.may_open(PROVIDERS) else waiting, True))
    for one in found["pipelines"]:
        url = f"{PIPELINES}/{one['questionnaire_id']}/{one['pipeline_id']}" if visit.may_open(PIPELINES) else waiting
        sentences.append((words("The pipeline “{title}” is off.", title=one["title"]), url, False))
    return sentences


PERIODS: Final = (7, 30, 90)
DAYS_DEFAULT: Final = 30
COMMENTS: Final = 5

routes = Screens()


@routes.get(HOME, for_limited="part", is_long=True)
async def home(visit: Visit, db: Database) -> Response:
    """The overview, or the first section of a role that reads no reports: here everybody arrives who logs in."""
    if "Report.Read" not in visit.caller.scopes:
        return html.redirect(visit.sections[0]["url"])
    period = PeriodChoice.read(visit.query, DAYS_DEFAULT, PERIODS)
    chosen = visit.query.get("application", "")
    subjects = await overview.get_subjects(db, caller=visit.caller, application_id=chosen)
    application_id = subjects.application_id
    found = await overview.overview_of(
        db, caller=visit.caller, subjects=subjects, period=period.spec(visit), now=visit.now
    )
    attention = await attention_of(visit, db, application_id=application_id)
    waits = await waits_of(visit, db, application_id=application_id, period=period)
    comments: list[dict[str, Any]] = []
    choice = responses.ResponseFilter.read({"application": application_id or "", **period.query})
    if found and visit.caller.reads_answers:
        comments = await responses.newest(visit, db, dataclasses.replace(choice, tab="comment"), limit=COMMENTS)
    pinned = await reports.pinned(visit, db) if found and subjects.has_pinned else []
    has_answers = found is not None and any(one.figure.measure.n for one in found.scores)
    steps = await welcome.first_steps(visit, db) if found and not has_answers else []
    first, last = reports.ends_of(visit.words, found.period) if found else ("", "")
    return visit.page(
        "overview.html",
        title=visit.words("Overview"),
        period=period.field(visit.words, PERIODS),
        applications=subjects.applications,
        application_id=application_id or "",
        attention=attention,
        waits=waits,
        comments=comments,
        pinned=pinned,
        comments_url=choice.url(tab="comment"),
        scores=[
            _score(visit.words, one, choice, found, reads_answers=visit.caller.reads_answers)
            for one in (found.scores if found else ())
            if found and one.figure.measure.n
        ],
        months=visit.words("Your role shows whole months: {first} to {last}.", first=first, last=last)
        if found and found.is_of_months
        else "",
        dates=reports.months_of(visit.words, found.period) if found else "",
        results=[
            (name, results_url(questionnaire_id, period.query)) for questionnaire_id, name in subjects.published.items()
        ]
        if has_answers
        else [],
        reads_answers=visit.caller.reads_answers,
        funnel=funnel(visit.words, found, _stage_urls(visit, found, subjects))
        if found and (not steps or found.funnel[0][1].measure.value)
        else None,
        has_questionnaires=found is not None,
        has_answers=has_answers,
        steps=steps,
        closing_url=welcome.CLOSING,
        demo_url=DEMONSTRATION if visit.site.has_demonstration and not visit.session.demonstration_time else "",
    )


def _score(
    words: Texts, score: Score, choice: responses.ResponseFilter, found: Overview, *, reads_answers: bool
) -> dict[str, Any]:
    """The sentence, chart and links of a score; the links lead to exactly the responses that are counted."""
    kept, figure = SCORES[score.metric], score.figure
    unit, bounds = kept.unit, kept.bounds
    between = periods.text_of(found.period.from_time, found.period.to_time)
    choice = dataclasses.replace(choice, score=score.metric, between=between)
    edges = buckets_of(found.period, [one.start for one in score.bins]).values() if reads_answers else ()
    urls = [address(choice.path, {**choice.query, "between": periods.text_of(*each)}) for each in edges]
    view = trend_of(words, score, urls)
    has_parts = kept.is_net and not figure.suppressed
    return {
        "metric": score.metric,
        "url": choice.url(),
        "name": kept.label,
        "about": f"{_bins(words, found, score)} {words('The band is the 95 % interval.')}",
        "figure": shown_figure(words, figure, unit=unit, bounds=bounds),
        "of_all": shown_figure(words, score.of_all, unit=unit, bounds=bounds) if score.of_all else None,
        "view": replace(view, parts=charts.parts_of(words, figure, choice.url if reads_answers else None))
        if has_parts
        else view,
    }


def trend_of(words: Texts, score: Score, urls: Sequence[str] | None = None) -> charts.View:
    kept = SCORES[score.metric]
    return charts.trend_view(
        words,
        [one.figure for one in score.bins],
        [words.day(one.start.isoformat()) for one in score.bins],
        bounds=kept.bounds,
        unit=kept.unit,
        head=(words("From"), kept.label),
        finding="",
        marks=[words.short_day(one.start.isoformat()) for one in score.bins],
        urls=urls,
    )


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
    figures = [(words(METRICS[stage]), figure) for stage, figure in found.funnel]
    return charts.funnel_view(
        words,
        figures,
        finding=words("Messages sent in this period. Each percentage is of the messages sent."),
        urls=urls,
    )


def _bins(words: Texts, found: Overview, score: Score) -> str:
    texts = [
        {"day": words("By day."), "week": words("By week."), "month": words("By month.")}[found.bucket],
        words("Shorter intervals would have fewer than 30 answers each.") if found.is_coarse else "",
        charts.cut_text(words, found.period, found.bucket, [one.start for one in score.bins]),
    ]
    return " ".join(filter(None, texts))
