"""The messages of the next seven days by the hour in which they become due."""

import asyncio
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from zoneinfo import ZoneInfo

from msgspec.structs import replace
from starlette.responses import Response

from afterword.console.answers import has_answer, note_person, titled
from afterword.console.periods import PeriodFilter
from afterword.console.removals import removal
from afterword.console.screens import Screens, Visit
from afterword.core.scheduling.statuses import Item, PublicItem
from afterword.core.wire import times
from afterword.core.wire.lists import Page
from afterword.errors import Sentence
from afterword.kit.db import Database
from afterword.kit.texts import Marked, Texts
from afterword.kit.ui.charts import Text, View, week_view
from afterword.kit.ui.lists import Listing, Tab, one_of, parameter, read_key
from afterword.kit.ui.text import address_text
from afterword.kit.web import html
from afterword.people.responders import store as responders_store
from afterword.sending.channels.outbox import CAPTURED
from afterword.sending.intake import lists as intake
from afterword.sending.intake.imports.service import ProblemKind, list_failed_rows
from afterword.sending.intake.lists import SEARCHED_MAX, AddressList
from afterword.sending.queue import lists, outbox, service as queue, traces
from afterword.sending.queue.lists import Count, ListedItem, RequestedItems
from afterword.sending.queue.records import ATTEMPTS, STATUS_ABORTED, QueueItemRecord, QueueItemUpdate


async def plan_of(visit: Visit, db: Database, *, wanted: RequestedItems) -> View | None:
    """None where nothing waits for a time of these days."""
    words, zone = visit.words, ZoneInfo(visit.zone)
    found = await lists.count_hours(db, caller=visit.caller, wanted=wanted, time_zone=visit.zone, now=visit.now)
    if not found:
        return None
    hours, days = Counter[tuple[int, int]](), Counter[str]()
    for one in found:
        local = one.hour.astimezone(zone)
        hours[local.weekday(), local.hour] += one.count
        days[local.date().isoformat()] += one.count
    finding = words.plural(
        "{n} message becomes due in the next seven days. The rules then decide about it.",
        "{n} messages become due in the next seven days. The rules then decide about each.",
        hours.total(),
    )
    more = (
        words("There are more: at most 10,000 of each pipeline are counted.")
        if any(one.is_capped for one in found)
        else ""
    )
    return week_view(
        words,
        hours,
        finding=f"{finding} {more}".strip(),
        head=(words("Day"), words("Messages")),
        rows=[[Text(words.day(day)), Text(words.count(count))] for day, count in sorted(days.items())],
    )


def kept_sentence(words: Texts, days: int) -> str:
    """The time that messages and their details are kept; 0 days: for good."""
    if not days:
        return words("Messages and their details are kept forever.")
    return words.plural(
        "A message and its details are kept for {n} day after its end.",
        "A message and its details are kept for {n} days after its end.",
        days,
    )


SENDING: Final = "/console/sending"
NEW_ACT: Final = f"{SENDING}/acts/new"
ROWS: Final = 50
TABS: Final[Mapping[str, Marked]] = {
    "all": "All", "waiting": "Waiting", "sent": "Sent", "not_asked": "Not asked", "failed": "Failed",
}  # fmt: skip
STATUSES: Final[Mapping[str, tuple[PublicItem, ...]]] = {
    "all": tuple(PublicItem), "waiting": (PublicItem.PENDING, PublicItem.PROCESSING), "sent": (PublicItem.SENT,),
    "not_asked": (PublicItem.ABORTED, PublicItem.IGNORED), "failed": (PublicItem.FAILED,),
}  # fmt: skip
STATUS_TEXTS: Final[Mapping[int, Marked]] = {
    PublicItem.PENDING: "Waiting", PublicItem.PROCESSING: "Being sent", PublicItem.SENT: "Sent",
    PublicItem.FAILED: "Failed", PublicItem.ABORTED: "Cancelled", PublicItem.IGNORED: "Not asked",
}  # fmt: skip
KEPT: Final[Marked] = "Kept in the outbox"
PERIODS: Final = (7, 30, 90, 365)
DAYS_DEFAULT: Final = 30
REASON_CHARACTERS_MAX: Final = 50
SEARCH_CHARACTERS_MAX: Final = 320
REFERENCE_CHARACTERS_MAX: Final = 100
ATTEMPTS_MAX: Final = 50
SOURCES: Final = "/console/settings/sources"
NO_REASON: Final = "none"  # of the address
REASONS: Final[Mapping[str, Marked]] = {
    NO_REASON: "scheduled", "not_started": "the pipeline has not started",
    "application_inactive": "the application is not active", "no_credits": "the credits are used up",
    "previous_open": "the message before is still being sent", "frequency_cap": "asked lately by this pipeline",
    "contact_policy": "the contact policy", "outside_window": "outside the dispatch window", "holiday": "a holiday",
    "quiet_hours": "quiet hours", "paused": "the pipeline is paused",
    "account_paused": "the account needs a person to look at it", "account_resting": "the provider does not respond",
    "no_account": "there is no account to send with", "all_paused": "all sending is paused",
    "throttled": "the provider asks for a slower rate", "connection": "the provider cannot be reached",
    "account": "the provider refuses the account", "retry": "the provider refused it for now",
    "outcome_unknown": "the provider's answer was lost", "worker_lost": "a worker stopped",
    "error": "an error of the service", "refused": "the recipient's server refused it",
    "ended": "the pipeline has ended", "inactive": "the questionnaire is not active",
    "closed": "the questionnaire has enough responses", "previous_not_sent": "the message before was not sent",
    "already_answered": "already answered", "instance_expired": "the questionnaire has expired",
    "unsubscribed": "unsubscribed", "hard_bounce": "the address does not exist",
    "complaint": "the recipient complained", "blocked": "the address is blocked", "erased": "the person was erased",
    "conditions": "the conditions are not met", "too_late": "too late to send", "cancelled": "cancelled",
    "resolved": "decided by a person", "no_date": "the date that the delay counts from is missing",
}  # fmt: skip
RULES: Final[Mapping[str, Marked]] = {
    "period": "Pipeline open", "credits": "Credits left", "previous": "Message before",
    "suppression": "May be contacted", "conditions": "Conditions met",
    "frequency_cap": "Not asked lately by this pipeline", "contact_policy": "Contact policy",
    "window": "Dispatch window", "expiry": "In time",
}  # fmt: skip
OUTCOMES: Final[Mapping[str, Marked]] = {
    "accepted": "Accepted", "accepted_late": "Accepted, known later", "retry": "Refused for now",
    "throttled": "Slowed down by the provider", "refused": "Refused", "unknown": "Answer lost",
}  # fmt: skip
TIMES: Final[tuple[Marked, ...]] = ("Created", "Send time", "Sent")
CHANNELS: Final[Mapping[int, Marked]] = {1: "E-mail", 2: "SMS", 3: "Webhook", 4: "Link", 5: "Outbox"}
OUTCOMES_WITH_REASON: Final[Mapping[int, Marked]] = {
    PublicItem.PENDING: "Waits: {reason}",
    PublicItem.FAILED: "Failed: {reason}",
    PublicItem.IGNORED: "Not asked: {reason}",
}

routes = Screens()


@dataclass(frozen=True)
class SendingFilter(PeriodFilter):
    path = SENDING
    lengths = PERIODS
    days_default = DAYS_DEFAULT

    tab: str = one_of(TABS, "all")
    reason: str = parameter(REASON_CHARACTERS_MAX)
    application: str = parameter()
    pipeline: str = parameter()
    after: str = parameter(60)


@routes.get(SENDING, scope="Queue.Read", for_limited="part")
async def list_items(visit: Visit) -> Response:
    words, asked = visit.words, visit.query.get("q", "").strip()[:SEARCH_CHARACTERS_MAX]
    chosen = SendingFilter.read(visit.query)
    if asked:
        return await _why(visit, asked)
    async with visit.read() as db:
        counts = await lists.count_items(db, caller=visit.caller, wanted=item_filter_of(visit, chosen, tab="all"))
        wanted = replace(item_filter_of(visit, chosen, tab=chosen.tab), reason=reason_of(chosen))
        rows = await lists.list_items(
            db,
            caller=visit.caller,
            wanted=wanted,
            after=read_key(chosen.after),
            oldest_first=chosen.tab == "waiting",
            limit=ROWS,
        )
        some = rows if rows.items else await lists.list_items(db, caller=visit.caller, wanted=RequestedItems(), limit=1)
        plan = None
        if chosen.tab == "waiting" and not chosen.reason and not chosen.after:
            plan = await plan_of(
                visit, db, wanted=RequestedItems(application_id=wanted.application_id, pipeline_id=wanted.pipeline_id)
            )
    tabs = [
        Tab(
            url=chosen.url(tab=tab, reason=""),
            text=words("Sent or kept") if tab == "sent" and visit.keeps_mail else words(text),
            count=sum_text(words, counts, STATUSES[tab]),
            is_current=tab == chosen.tab,
        )
        for tab, text in TABS.items()
    ]
    listing = Listing(
        rows=[row_of(visit, one) for one in rows.items],
        filters=[
            *([(words("one pipeline"), chosen.url(pipeline=""))] if chosen.pipeline else []),
            *([(reason_text(words, chosen.reason), chosen.url(reason=""))] if chosen.reason else []),
        ],
        empty=words("No messages here. Choose a longer period or another tab.")
        if some.items or some.has_more
        else words("No message yet. Send a questionnaire to a list, or connect a shop under Settings."),
        note=kept_sentence(words, visit.site.queue_days),
        **chosen.pages(rows.next_key),
    )
    return visit.page(
        "sending.html",
        title=words("Sending"),
        list=listing,
        tabs=tabs,
        chosen=chosen,
        period=chosen.chosen_period.field(words, PERIODS),
        reasons=_reasons(words, counts, chosen),
        acts_url=chosen.url(tab=chosen.tab if chosen.tab == "failed" else "all").replace(SENDING, NEW_ACT, 1),
        acts_count=sum_of(counts, [waits_or_failed(chosen)], reason_of(chosen)),
        may_repeat=visit.may_open(NEW_ACT) and "Queue.Create" in visit.caller.scopes,
        plan=plan,
    )


@routes.get(f"{SENDING}/{{item_id}}", scope="Queue.Read", for_limited="part")
async def item_page(visit: Visit, db: Database) -> Response:
    words, item_id = visit.words, visit.id("item_id")
    current = await queue.get(db, caller=visit.caller, item_id=item_id)
    item = queue.visible(current, visit.caller)
    trace = await traces.explain(db, item=current, now=visit.now, zone=times.zone_of(visit.zone), words=words)
    attempts = await traces.list_attempt_records(
        db, organization_id=item.organization_id, item_id=item_id, page=Page.first(ATTEMPTS, limit=ATTEMPTS_MAX)
    )
    instance_id = item.questionnaire_instance_id if visit.caller.reads_answers else None
    is_kept = any(one.reply == CAPTURED for one in attempts.items)
    has_message = is_kept and await outbox.get_has_message(db, organization_id=item.organization_id, message_id=item_id)
    ids = {"organization_id": item.organization_id, "questionnaire_id": item.questionnaire_id}
    is_answered = bool(instance_id) and await has_answer(db, caller=visit.caller, instance_id=instance_id)
    note_person(visit, item.responder_id)
    is_waiting = item.status_id == PublicItem.PENDING
    return visit.page(
        "sending_item.html",
        title=words("Message to {recipient}", recipient=address_text(words, item.responder_channel_identifier)),
        item=item,
        state=words(_status_text(item.status_id, is_kept=is_kept)),
        sentence=_outcome_of(words, item.status_id, trace.reason or ""),
        detail=trace.result or item.result or "",
        told=f"Held: {REASONS.get(trace.reason or '', '')}",  # by the sentence
        pipeline_summary=trace.pipeline_summary,
        planned=datetime.fromisoformat(trace.planned_time) if is_waiting and trace.planned_time else None,
        times=[
            (words(text), f"{visit.moment(time)} {why}".strip())
            for text, time, why in zip(
                TIMES,
                (item.created_time, item.send_time, item.dispatched_time),
                ("", f"({trace.delay_summary})" if trace.delay_summary else "", ""),
                strict=True,
            )
            if time is not None
        ],
        checks=sorted(trace.checks, key=lambda check: check.passed),
        rules=RULES,
        attempts=attempts.items,
        outcomes=OUTCOMES,
        metadata=await titled(db, **ids, groups=item.metadata, words=words),
        outbox_url=f"{SENDING}/outbox/{item_id}" if has_message and visit.is_open(f"{SENDING}/outbox") else "",
        kept=kept_sentence(words, visit.site.queue_days),
        event_url=f"{SOURCES}/{trace.source_id}/events/{trace.source_event_id}"
        if trace.source_id and visit.may_open(SOURCES)
        else "",
        response_url=f"/console/responses/{item.questionnaire_instance_id}" if is_answered else "",
        is_open=item.status_id in {PublicItem.PENDING, PublicItem.PROCESSING},
        is_later=is_waiting and item.send_time > visit.now,
        is_repeatable=item.status in traces.REPEATABLE,
    )


def _whom(visit: Visit, item: QueueItemRecord) -> str:
    return visit.words("One message, to {recipient}.", recipient=item.responder_channel_identifier)


async def _change(visit: Visit, db: Database, change: QueueItemUpdate) -> None:
    await queue.change(db, caller=visit.caller, item_id=visit.id("item_id"), change=change, secret=visit.site.secret)


removal(
    routes,
    f"{SENDING}/{{item_id}}/cancel",
    scope="Queue.Update",
    for_limited="part",
    title="Cancel this message?",
    sentences=lambda visit, item: [
        _whom(visit, item),
        visit.words("It will not be sent. It stays in the list as cancelled."),
    ],
    button="Cancel the message",
    get=lambda visit: visit.find(queue.get),
    remove=lambda visit, db: _change(visit, db, QueueItemUpdate(status_id=STATUS_ABORTED)),
    to=f"{SENDING}/{{item_id}}",
    done="message_cancelled",
)
removal(
    routes,
    f"{SENDING}/{{item_id}}/now",
    scope="Queue.Update",
    for_limited="part",
    title="Send this message now?",
    sentences=lambda visit, item: [
        _whom(visit, item),
        visit.words("It becomes due now. The rules still apply: quiet hours and sending windows can hold it back."),
    ],
    button="Send now",
    get=lambda visit: visit.find(queue.get),
    remove=lambda visit, db: _change(
        visit, db, QueueItemUpdate(send_time=times.moment_at(visit.now, times.zone_of(visit.zone)))
    ),
    to=f"{SENDING}/{{item_id}}",
    done="message_due",
    is_harmless=True,
)


@routes.get(f"{SENDING}/{{item_id}}/again", scope="Queue.Create", for_limited="part")
async def confirm_again(visit: Visit) -> Response:
    words, item = visit.words, await visit.find(queue.get)
    sentences = [_whom(visit, item), words("A new message is created, due now. The rules apply as always.")]
    if item.status == Item.UNCERTAIN:
        sentences.append(words("It is not known whether the first one arrived, so it may arrive twice."))
    return visit.confirm(
        title=words("Send this message again?"),
        sentences=sentences,
        button=words("Send again"),
        is_harmless=item.status != Item.UNCERTAIN,
    )


@routes.post(f"{SENDING}/{{item_id}}/again", scope="Queue.Create", for_limited="part")
async def send_again(visit: Visit) -> Response:
    item = await visit.change(traces.repeat, caller=visit.caller, **visit.ids, secret=visit.site.secret, now=visit.now)
    return html.redirect(f"{SENDING}/{item.item_id}?done=message_again")


def row_of(visit: Visit, item: ListedItem) -> dict[str, Any]:
    words = visit.words
    when: Any = item.dispatched_time or item.send_time
    return {
        "url": f"{SENDING}/{item.item_id}",
        "item": item,
        "recipient": address_text(words, item.responder_channel_identifier),
        "status": words(_status_text(item.status_id, is_kept=item.is_kept)),
        "kind": item.status_id.name.lower(),
        "channel": words(CHANNELS[item.channel_id]),
        "sentence": sentence_of(visit, item),
        "when": visit.near(when),
    }


def _status_text(status: int, *, is_kept: bool) -> Marked:
    return KEPT if is_kept and status == PublicItem.SENT else STATUS_TEXTS[status]


def sentence_of(visit: Visit, item: ListedItem) -> str:
    """The cause of an end, or of a wait; empty where status and time say all."""
    words, reason = visit.words, item.reason or ""
    if reason and item.status_id == PublicItem.PENDING and item.due_time > visit.now:
        moment = visit.moment(item.due_time)
        return words("On hold until {moment}: {reason}", moment=moment, reason=reason_text(words, reason))
    return _outcome_of(words, item.status_id, reason)


def _outcome_of(words: Texts, status_id: int, reason: str) -> str:
    sentence = OUTCOMES_WITH_REASON.get(status_id) if reason else None
    return words(sentence, reason=reason_text(words, reason)) if sentence else ""


def reason_text(words: Texts, reason: str) -> str:
    return words(REASONS[reason]) if reason in REASONS else reason


def said(words: Texts, kind: ProblemKind) -> str:
    """The problem of a row in the reader's language."""
    sentence = words.said(Sentence(kind.text, **kind.values))
    return words("Column “{column}”: {problem}", column=kind.column, problem=sentence) if kind.column else sentence


async def _why(visit: Visit, asked: str) -> Response:
    """The items of an order or an address, and what is known of it where there is none."""
    words = visit.words
    async with visit.read() as db:
        found, facts = await _asked(visit, db, asked)
        is_over = found or visit.caller.limit is not None  # lists are of no branch
        newest = [] if is_over else await intake.list_lists(db, **visit.caller.part, after=None, limit=SEARCHED_MAX)
        checked = [one.list_id for one in newest if one.is_kept and one.state]
        searched = [await intake.get(db, caller=visit.caller, list_id=list_id) for list_id in checked]
    faulty = await _faulty(visit, searched, asked)
    if not found and not faulty:
        facts = [words("No message found. None was requested for this address or order."), *facts]
    listing = Listing(rows=[row_of(visit, one) for one in found[:ROWS]], empty="")
    return visit.page("why_not.html", title=words("Why not?"), list=listing, asked=asked, facts=facts, faulty=faulty)


async def _faulty(visit: Visit, searched: Sequence[AddressList], asked: str) -> list[tuple[str, str]]:
    """A sentence for each faulty row of these lists that has this, and the address of its check."""
    words, told = visit.words, list[tuple[str, str]]()
    rows = await asyncio.to_thread(intake.rows_with, searched, asked)
    async with visit.read() as db:
        for one, number in rows:
            key = {"organization_id": one.organization_id, "import_id": one.import_id or one.check_id or ""}
            for row in await list_failed_rows(db, **key, after=number - 1, limit=1):
                sentence = words(
                    "Line {n} of {file} has a problem, so no message was scheduled. {problem}",
                    n=row.line or row.row,
                    file=one.file_name or words("Pasted rows"),
                    problem=" ".join(said(words, kind) for kind in row.kinds),
                )
                here = f"{SENDING}/lists/{one.list_id}/{'result' if one.import_id else 'check'}"
                told += [(sentence, f"{here}?after={number - 1}#faulty")] if row.row == number else []
    return told


async def _asked(visit: Visit, db: Database, asked: str) -> tuple[list[ListedItem], list[str]]:
    """The items of an order or an address, and since when the address is suppressed."""
    words, caller, secret = visit.words, visit.caller, visit.site.secret
    found: list[ListedItem] = []
    if len(asked) <= REFERENCE_CHARACTERS_MAX and asked.isprintable():
        by_key = RequestedItems(external_reference=asked, with_order_key=True)
        found = (await lists.list_items(db, caller=caller, wanted=by_key, limit=ROWS)).items
    if not (keys := lists.keys_of(asked, secret=secret)):
        return found, []
    by_address = await lists.list_items(
        db, caller=caller, wanted=RequestedItems(identifier=asked), limit=ROWS, secret=secret
    )
    is_known = caller.limit is None or bool(by_address.items)  # of people of others nothing is told
    suppressions = await responders_store.list_suppressions_for(
        db, addresses=[(caller.organization_id, *key) for key in keys if is_known], now=visit.now
    )
    return [*found, *by_address.items], [
        words(
            "{channel}: nothing has been sent to this address since {moment}: {reason}.",
            channel=words(CHANNELS[one.channel_id]),
            moment=visit.moment(one.created_time),
            reason=reason_text(words, one.reason),
        )
        for one in suppressions
    ]


def item_filter_of(visit: Visit, chosen: SendingFilter, *, tab: str) -> RequestedItems:
    """Those planned in the period; what still waits for a later time belongs to it, unless the period is over."""
    first, last = chosen.span(visit)
    return RequestedItems(
        statuses=STATUSES[tab],
        application_id=chosen.application or None,
        pipeline_id=chosen.pipeline or None,
        from_time=first,
        to_time=last,
    )


def reason_of(chosen: SendingFilter) -> str | None:
    return "" if chosen.reason == NO_REASON else chosen.reason or None


def sum_of(counts: list[Count], statuses: Collection[PublicItem], reason: str | None = None) -> tuple[int, bool]:
    """The messages of these statuses, and whether there are more than that; `reason`: None any, empty none."""
    ours = [one for one in counts if one.status_id in statuses and reason in (None, one.reason or "")]
    return sum(one.count for one in ours), any(one.is_capped for one in ours)


def sum_text(words: Texts, counts: list[Count], statuses: Collection[PublicItem], reason: str | None = None) -> str:
    count, is_capped = sum_of(counts, statuses, reason)
    return words.count(count, is_capped=is_capped)


def waits_or_failed(chosen: SendingFilter) -> PublicItem:
    """The status of the messages that an act finds: those that failed on their tab, else those that wait."""
    return PublicItem.FAILED if chosen.tab == "failed" else PublicItem.PENDING


def _reasons(words: Texts, counts: list[Count], chosen: SendingFilter) -> list[tuple[str, str, str]]:
    """The reasons of the tab with their counts, the most frequent first: text, address, count."""
    statuses = STATUSES[chosen.tab]
    reasons = {one.reason for one in counts if one.reason and one.status_id in statuses} - {chosen.reason}
    return [
        (reason_text(words, reason), chosen.url(reason=reason), sum_text(words, counts, statuses, reason))
        for reason in sorted(reasons, key=lambda one: (-sum_of(counts, statuses, one)[0], one))
    ]
