"""Turns an outcome into a settlement: next status, texts, next due time. Pure: `now` and jitter are arguments."""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, assert_never

import msgspec

from afterword import ids
from afterword.core.messaging.addresses import domain_of
from afterword.core.scheduling import retries, statuses
from afterword.core.scheduling.decisions import RESULT_CHARACTERS_MAX, Decision
from afterword.core.scheduling.lanes import AccountKey, LaneKey
from afterword.core.scheduling.statuses import Item, Move
from afterword.kit.db import Database
from afterword.kit.transport.base import WEBHOOK, Outcome, Refused, Retry, Sent, Unknown
from afterword.kit.transport.http import host_of
from afterword.sending.providers import rates
from afterword.sending.providers.rates import DomainKey
from afterword.sending.queue.lanes import LaneSettings
from afterword.sending.queue.records import Claimed
from afterword.sending.queue.sending.store import Overdue, Settlement


async def within_rates(
    db: Database,
    *,
    items: Sequence[Claimed],
    settings: Mapping[LaneKey, LaneSettings],
    accounts: Collection[AccountKey],
    jitter: float,
) -> tuple[list[Claimed], list[Settlement]]:
    """Items within their domain's rate, in order, and releases of the others, spread over time; no attempt is counted.

    `accounts` are those with throttled domains; items of others are not looked at.
    """
    keys: dict[tuple[str, str], DomainKey] = {}
    for item in items:
        account = settings[item.lane].account
        domain = _domain_of(item, settings[item.lane]) if account in accounts else None
        if domain is not None:
            keys[item.key] = (*account, domain)
    grants = await rates.update_tokens(db, wanted=Counter(keys.values())) if keys else {}
    going: list[Claimed] = []
    over: list[Settlement] = []
    places: dict[DomainKey, int] = defaultdict(int)
    for item in items:
        key = keys.get(item.key)
        grant = grants.get(key) if key is not None else None
        if key is None or grant is None:
            going.append(item)
            continue
        places[key] += 1
        if places[key] <= grant.count:
            going.append(item)
            continue
        # The wait by the rate alone, but longer after each throttle, so that items do not return to an empty bucket.
        turn = timedelta(seconds=(places[key] - grant.count) / grant.rate)
        wait = max(turn, retries.throttle_wait(item.throttled + 1, jitter=1.0)) * jitter
        over.append(overdrawn(item, key[2], wait=retries.clamped(wait.total_seconds())))
    return going, over


def _domain_of(item: Claimed, settings: LaneSettings) -> str | None:
    if settings.pipeline.channel_id == WEBHOOK:
        return host_of(settings.pipeline.target_url or "")
    return domain_of(item.responder_channel_identifier)


REPLY_CHARACTERS_MAX: Final = 500
REASON_UNKNOWN: Final = "outcome_unknown"
REASON_LOST: Final = "worker_lost"
REASON_THROTTLED: Final = "throttled"
CONNECTION_WAIT_SECONDS: Final = 10


class Waits(msgspec.Struct, frozen=True):
    """Factors of every wait: `jitter`, 0.8 to 1.2, and `factor`, which shortens waits in tests."""

    jitter: float = 1.0
    factor: float = 1.0


def settled(item: Claimed, outcome: Outcome, *, waits: Waits, now: datetime) -> Settlement:
    match outcome:
        case Sent():
            return _sent(item, outcome, now)
        case Refused():
            return _refused(item, outcome, now)
        case Retry(cause="recipient"):
            return _retried(item, outcome, waits, now)
        case Retry():
            of_attempt = {"reply_code": outcome.reply_code, "reply": outcome.reason}
            told = "throttled" if outcome.cause == "throttle" else "retry"
            return _uncounted(item, statuses.THROTTLED, outcome, waits, now, outcome=told, **of_attempt)
        case Unknown():
            return _unknown(item, statuses.UNKNOWN, outcome.reason, waits, now)
        case _:
            assert_never(outcome)


def released(item: Claimed, outcome: Retry, *, waits: Waits, now: datetime) -> Settlement:
    """A throttle or a fault of ours before the item began: back, without an attempt."""
    return _uncounted(item, statuses.RELEASE, outcome, waits, now)


def overdrawn(item: Claimed, domain: str, *, wait: timedelta) -> Settlement:
    """The rate of the recipient's domain is used up: back for `wait`, without an attempt."""
    now = item.database_now
    return _of(
        item,
        statuses.RELEASE.step(Item.CLAIMED, Item.SCHEDULED),
        reason=REASON_THROTTLED,
        result=f"Held: {domain} takes few messages at the moment",
        due_time=min(now + wait, max(item.not_after, now)),
        counted=0,
    )


def handed_back(item: Claimed) -> Settlement:
    return _of(item, statuses.RELEASE.step(Item.CLAIMED, Item.SCHEDULED), counted=0)


def decided(item: Claimed, decision: Decision) -> Settlement:
    is_skip = decision.verdict == "skip"
    move, to = (statuses.SKIP, Item.IGNORED) if is_skip else (statuses.HOLD, Item.SCHEDULED)
    return _of(
        item,
        move.step(Item.CLAIMED, to),
        reason=decision.reason,
        result=decision.text,
        due_time=decision.until,
        counted=1 if is_skip else 0,
        trace=[check.as_trace for check in decision.checks],
        event_id=ids.ordered(item.database_now),
        type="queue_item.ignored" if is_skip else "queue_item.waiting",
    )


def given_up(item: Claimed, cause: str, *, waits: Waits, now: datetime, is_deadly: bool = False) -> Settlement:
    """The item could not be made ready for sending: later again, or failed when its attempts are used up.

    `is_deadly`: it ended its process, so each further try is made in a process of its own.
    """
    reason = REASON_LOST if is_deadly else "error"
    return _again(item, statuses.GIVE_UP, cause, _backoff(item, waits), now, reason=reason)


def known(item: Claimed | Overdue, settlement: Settlement, *, now: datetime) -> Settlement:
    """The same end of an attempt when an earlier one was accepted: the item is sent."""
    move = statuses.ALREADY_ACCEPTED if isinstance(item, Claimed) else statuses.REAP_SENDING
    return msgspec.structs.replace(
        settlement,
        status=move.step(Item.SENDING, Item.SENT),
        reason=None,
        result=None,
        due_time=None,
        counted=1,
        event_id=ids.ordered(now),
        type="queue_item.sent",
    )


def reaped(item: Overdue, *, waits: Waits) -> Settlement:
    now = item.database_now
    if item.status == Item.SENDING:
        return _unknown(item, statuses.REAP_SENDING, "the worker was lost", waits, now)
    used_up = item.attempts >= item.attempts_max
    return _of(
        item,
        statuses.REAP_CLAIMED.step(Item.CLAIMED, Item.FAILED if used_up else Item.SCHEDULED),
        reason=REASON_LOST,
        result=f"Worker lost {item.attempts} times before sending" if used_up else "Retry: the worker was lost",
        due_time=None if used_up else now,
        event_id=ids.ordered(now),
        type="queue_item.failed" if used_up else None,
    )


def _sent(item: Claimed, outcome: Sent, now: datetime) -> Settlement:
    return _of(
        item,
        statuses.ACCEPTED.step(Item.SENDING, Item.SENT),
        outcome="accepted",
        reply_code=outcome.reply_code,
        reply=outcome.reply,
        provider_reference=outcome.reference,
        event_id=ids.ordered(now),
        type="queue_item.sent",
    )


def _refused(item: Claimed, outcome: Refused, now: datetime) -> Settlement:
    return _of(
        item,
        statuses.REFUSED.step(Item.SENDING, Item.FAILED),
        reason="refused",
        result=f"Failed: {outcome.reason}",
        outcome="refused",
        reply_code=outcome.reply_code,
        reply=outcome.reason,
        event_id=ids.ordered(now),
        type="queue_item.failed",
    )


def _retried(item: Claimed, outcome: Retry, waits: Waits, now: datetime) -> Settlement:
    wait = max(_backoff(item, waits), retries.clamped(outcome.after_seconds) * waits.factor)
    return _again(
        item,
        statuses.RETRY,
        outcome.reason,
        wait,
        now,
        reason="retry",
        outcome="retry",
        reply_code=outcome.reply_code,
        reply=outcome.reason,
    )


def _uncounted(item: Claimed, move: Move, retry: Retry, waits: Waits, now: datetime, **of_attempt: Any) -> Settlement:
    """A throttle or a fault of ours: repeated until `not_after`. `of_attempt`: how it ended, if the item began."""
    [current] = move.sources
    return _of(
        item,
        move.step(current, Item.SCHEDULED),
        reason=REASON_THROTTLED if retry.cause == "throttle" else retry.cause,
        result=f"Held: {retry.reason}",
        due_time=_uncounted_due(item, retry, waits, now),
        counted=0,
        **of_attempt,
    )


def _unknown(item: Claimed | Overdue, move: Move, cause: str, waits: Waits, now: datetime) -> Settlement:
    """The message may have arrived: again later if a repetition is allowed and possible, else uncertain or failed."""
    if item.resend_after_seconds is None:
        return _of(
            item,
            move.step(Item.SENDING, Item.UNCERTAIN),
            reason=REASON_UNKNOWN,
            result=f"Outcome unknown, not sent again: {cause}",
            outcome="unknown",
            reply=cause,
            event_id=ids.ordered(now),
            type="queue_item.failed",
        )
    wait = timedelta(seconds=item.resend_after_seconds) * waits.factor
    if item.attempts > 1:  # a silent receiver is asked again soon only once
        wait = max(wait, _backoff(item, waits))
    text = f"outcome unknown: {cause}"
    return _again(item, move, text, wait, now, reason=REASON_UNKNOWN, outcome="unknown", reply=cause)


def _again(
    item: Claimed | Overdue, move: Move, cause: str, wait: timedelta, now: datetime, **fields: Any
) -> Settlement:
    used_up = retries.is_used_up(item.attempts, attempts_max=item.attempts_max) or now + wait >= item.not_after
    [current] = move.sources
    times = "1 attempt" if item.attempts == 1 else f"{item.attempts} attempts"
    return _of(
        item,
        move.step(current, Item.FAILED if used_up else Item.SCHEDULED),
        result=f"Failed after {times}: {cause}" if used_up else f"Retry: {cause}",
        due_time=None if used_up else now + wait,
        event_id=ids.ordered(now),
        type="queue_item.failed" if used_up else "queue_item.retried",
        **fields,
    )


def _of(item: Claimed | Overdue, status: Item, **fields: Any) -> Settlement:
    """The settlement of an item at the epoch that we know, with its texts within their limits."""
    for name, limit in (("result", RESULT_CHARACTERS_MAX), ("reply", REPLY_CHARACTERS_MAX)):
        text = fields.get(name)
        if text is not None and len(text) > limit:
            fields[name] = f"{text[: limit - 1]}…"
    return Settlement(
        organization_id=item.organization_id, item_id=item.item_id, epoch=item.epoch, status=status, **fields
    )


def _backoff(item: Claimed | Overdue, waits: Waits) -> timedelta:
    return retries.backoff(item.attempts, jitter=waits.jitter) * waits.factor


def _uncounted_due(item: Claimed, outcome: Retry, waits: Waits, now: datetime) -> datetime:
    """The next due time, `not_after` at the latest; the decision then says that it is too late."""
    if outcome.cause == "throttle":
        wait = retries.throttle_wait(item.throttled + 1, jitter=waits.jitter)
    else:
        wait = timedelta(seconds=CONNECTION_WAIT_SECONDS) * waits.jitter
    wait = max(wait, retries.clamped(outcome.after_seconds)) * waits.factor
    return min(now + wait, max(item.not_after, now))
