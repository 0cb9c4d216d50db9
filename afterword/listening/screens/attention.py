"""All that needs somebody, in sentences with links: cases, failing sending, silence, credits; and what waits."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

from afterword.asking.screens.coupons import PATH as COUPONS
from afterword.cases.screens.rows import CASES
from afterword.console.screens import Visit
from afterword.core.scheduling.statuses import PublicItem
from afterword.kit.db import Database
from afterword.kit.ui.lists import address
from afterword.listening.reports import overview
from afterword.sending.queue import lists
from afterword.sending.queue.lists import RequestedItems
from afterword.sending.screens.pipelines import PIPELINES
from afterword.sending.screens.providers import PROVIDERS
from afterword.sending.screens.queue_items import CHANNELS, NO_REASON, SENDING, STATUSES, reason_text
from afterword.tenants.screens.organization import DOMAIN

COUNT_MAX: Final = 1_000

Sentence = tuple[str, str, bool]  # the text, the address that it leads to (empty: none), whether it is urgent


async def needs_of(visit: Visit, db: Database, *, application_id: str | None) -> list[Sentence]:
    """The urgent ones first."""
    words = visit.words
    found = await overview.get_needs(
        db,
        organization_id=visit.caller.organization_id,
        application_ids=[application_id] if application_id else visit.caller.application_ids,
        test_only=visit.caller.test,
        user_id=visit.caller.user_id,
        now=visit.now,
    )
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
                words("“{name}” had answers regularly, and none for a week.", name=one["display_name"]),
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
                    left=words.count(max(0, one["credits_left"])),
                    all=words.count(one["credits"]),
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


async def waits_of(visit: Visit, db: Database, *, application_id: str | None, days: int) -> list[Sentence]:
    """The messages that wait, by reason, and those of the period that failed."""
    if "Queue.Read" not in visit.caller.scopes:
        return []
    counts = await lists.count_items(
        db,
        caller=visit.caller,
        wanted=RequestedItems(
            statuses=[*STATUSES["waiting"], PublicItem.FAILED],
            application_id=application_id,
            from_time=visit.now - timedelta(days=days),
        ),
        limit=COUNT_MAX,
    )
    words = visit.words
    waiting = Counter[str]()
    failed = 0
    for one in counts:
        if one.status_id == PublicItem.FAILED:
            failed += one.count
        else:
            waiting[one.reason or NO_REASON] += one.count
    capped = {one.reason or NO_REASON for one in counts if one.is_capped}
    found: list[tuple[int, Sentence]] = []
    for reason, count in waiting.items():
        if reason == NO_REASON:
            text = words.plural("{n} scheduled", "{n} scheduled", count)
        else:
            text = words.plural("{n} message waits: {reason}", "{n} messages wait: {reason}", count)
            text = text.replace("{reason}", reason_text(words, reason))
        if reason in capped:
            text = text.replace(words.count(count), f"{words.count(count)}+", 1)
        url = address(SENDING, tab="waiting", reason=reason, application=application_id, days=days)
        found.append((count, (text, url, False)))
    sentences = [sentence for _, sentence in sorted(found, key=lambda pair: -pair[0])]
    if failed:
        text = words.plural("{n} message failed in this period", "{n} messages failed in this period", failed)
        url = address(SENDING, tab="failed", application=application_id, days=days)
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
        sentences.append((words("All sending is paused until the operator has looked."), "", True))
    for one in found["accounts"]:
        account = one["title"] or words(CHANNELS[one["channel_id"]])
        if one["is_paused"] and visit.session.pause_reason is not None:
            continue  # the head of each page says it of all accounts
        if one["is_paused"]:
            reason = one["paused_reason"] or words("the account waits for a person")
            text = words("Sending by {account} is paused: {reason}", account=account, reason=reason)
        else:
            text = words("Sending by {account} is failing.", account=account)
        url = f"{PROVIDERS}/{one['account_id']}"
        sentences.append((text, url if visit.may_open(PROVIDERS) else waiting, True))
    for one in found["pipelines"]:
        url = f"{PIPELINES}/{one['questionnaire_id']}/{one['pipeline_id']}" if visit.may_open(PIPELINES) else waiting
        sentences.append((words("The pipeline “{title}” is off.", title=one["title"]), url, False))
    return sentences
