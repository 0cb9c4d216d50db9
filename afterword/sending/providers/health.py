"""Health of accounts: circuit breaker after failures, pauses until an operator resumes, rates after throttles."""

from datetime import datetime, timedelta
from typing import Any, Final

import msgspec

from afterword.core.figures import metrics
from afterword.core.scheduling import retries
from afterword.core.scheduling.lanes import AccountKey
from afterword.kit.db import Database
from afterword.kit.web import fields
from afterword.sending.providers import rates
from afterword.sending.providers.rates import ACCEPTED

REASON_CHARACTERS_MAX: Final = 500


class PausedAccount(msgspec.Struct, frozen=True):
    organization_id: str
    account_id: str
    domain: str
    channel_id: int
    paused_time: datetime
    paused_reason: str | None


class Figures(msgspec.Struct, frozen=True):
    """The newest messages that its pipelines sent, and reports about them; `domains` throttle, with their rates."""

    sent: int
    bounced: int
    complained: int
    last_sent_time: datetime | None
    domains: list[dict[str, Any]]


async def _get_figures(db: Database, *, account: AccountKey, since: datetime) -> Figures:
    return await db.records(Figures).fetch_one(
        """with own as (
             select pipeline_id from pipeline where organization_id = $1 and account_id = $2 limit $5),
           newest as materialized (
             select i.item_id, i.dispatched_time from own
             cross join lateral (
               select q.item_id, q.dispatched_time from queue_item q
               where q.organization_id = $1 and q.pipeline_id = own.pipeline_id and q.status = 4
                 and q.send_time >= $3 and q.send_time <= now() and not q.test
               order by q.send_time desc, q.item_id limit $4) i
             order by i.dispatched_time desc, i.item_id limit $4),
           report as (
             select bool_or(r.kind in ('bounced', 'failed')) as bounced, bool_or(r.kind = 'complained') as complained
             from newest n join delivery_report r on r.organization_id = $1 and r.item_id = n.item_id
             group by n.item_id)
           select (select count(*) from newest) as sent, (select max(dispatched_time) from newest) as last_sent_time,
             (select count(*) from report where bounced) as bounced,
             (select count(*) from report where complained) as complained,
             (select coalesce(jsonb_agg(jsonb_build_object('domain', d.domain, 'rate', d.rate)), '[]')
              from (select domain, rate from domain_rate where organization_id = $1 and account_id = $2
                    order by throttled_time desc, domain limit 20) d) as domains""",
        *account,
        since,
        FIGURES_MESSAGES_MAX,
        FIGURES_PIPELINES_MAX,
    )


async def claim_probe(db: Database, *, account: AccountKey, open_until: datetime) -> bool:
    """True for the one worker that may probe an account whose breaker may close again."""
    return await db.touches(
        """update channel_account set open_until = now() + make_interval(secs => $4::float8)
           where organization_id = $1 and account_id = $2 and open_until = $3 and open_until <= now()""",
        *account,
        open_until,
        retries.BREAKER_SECONDS,
    )


async def _update_failures(
    db: Database, *, account: AccountKey, failures_min: int, since: datetime, is_probe: bool
) -> int | None:
    """Add a failure in a row, to so many at least, and return their number; None while the account rests already.

    Items in flight when the breaker opened fail for the same cause, so only the probe counts then. Items claimed before
    a person resumed the account (`since`) do not count either.
    """
    return await db.fetch_value(
        """update channel_account set failures = greatest(failures + 1, $3), updated_time = now()
           where organization_id = $1 and account_id = $2 and ($4 or open_until is null or open_until <= now())
             and (resumed_time is null or resumed_time <= $5)
           returning failures""",
        *account,
        failures_min,
        is_probe,
        since,
    )


async def _update_breaker(db: Database, *, account: AccountKey, seconds: float) -> None:
    """Let the account rest; a longer rest stays."""
    await db.execute(
        """update channel_account
           set open_until = greatest(open_until, now() + make_interval(secs => $3::float8)), updated_time = now()
           where organization_id = $1 and account_id = $2""",
        *account,
        seconds,
    )


async def update_to_healthy(db: Database, *, account: AccountKey, is_probe: bool) -> None:
    """Forget the failures of an account that answered; while it rests, only what the probe met counts."""
    await db.execute(
        """update channel_account set failures = 0, open_until = null, updated_time = now()
           where organization_id = $1 and account_id = $2 and (failures > 0 or open_until is not null)
             and ($3 or open_until is null or open_until <= now())""",
        *account,
        is_probe,
    )


async def update_to_paused(
    db: Database, *, account: AccountKey, reason: str, since: datetime | None = None, by_operator: bool = False
) -> bool:
    """Pause an account whose login or trust is at fault, until a person resumes it; True if it was not paused so.

    `since`: the claim of the item that met the fault. If a person has resumed the account after that, a late answer
    does not pause it again.
    """
    return await db.touches(
        """update channel_account
           set paused_time = coalesce(paused_time, now()), paused_reason = $3, is_paused_by_operator = $5,
             updated_time = now()
           where organization_id = $1 and account_id = $2
             and (paused_time is null or ($5 and not is_paused_by_operator))
             and ($4::timestamptz is null or resumed_time is null or resumed_time <= $4)""",
        *account,
        reason[:REASON_CHARACTERS_MAX],
        since,
        by_operator,
    )


async def list_paused_accounts(db: Database, *, limit: int) -> list[PausedAccount]:  # any tenant: for operators
    """Paused accounts, the longest paused first."""
    return await db.records(PausedAccount).fetch(
        """select a.organization_id, a.account_id, o.domain, a.channel_id, a.paused_time, a.paused_reason
           from channel_account a join organization o using (organization_id)
           where a.paused_time is not null order by a.paused_time, a.account_id limit $1""",
        limit,
    )


async def update_to_resumed(db: Database, *, account: AccountKey) -> bool:
    """End the account's pause and rest; True if there was one."""
    return await db.touches(
        """update channel_account
           set paused_time = null, paused_reason = null, is_paused_by_operator = false, failures = 0, open_until = null,
             resumed_time = now(), updated_time = now()
           where organization_id = $1 and account_id = $2
             and (paused_time is not null or open_until is not null)""",
        *account,
    )


async def update_rate(db: Database, *, account: AccountKey) -> None:
    """Halve the account's rate after a throttle, at most once in RATE_PAUSE_SECONDS.

    Without a ceiling the rate at which the account accepted becomes one: in the last 10 seconds, or since it began to
    send in them. It is read from the newest events, which is exact over all workers.
    """
    await db.execute(
        f"""with accepted as (
             {ACCEPTED}
               and (select rate_ceiling from channel_account where organization_id = $1 and account_id = $2) is null)
           update channel_account a
           set rate_ceiling = coalesce(a.rate_ceiling, accepted.rate),
             rate = greatest(coalesce(a.rate, a.rate_ceiling, accepted.rate) * 0.5, $4 * 0.02),
             tokens = least(a.tokens, 0), refilled_time = now(), updated_time = now()
           from accepted
           where a.organization_id = $1 and a.account_id = $2
             and (a.rate is null or a.updated_time < now() - make_interval(secs => $3::float8))""",
        *account,
        RATE_PAUSE_SECONDS,
        RATE_CEILING_MIN,
        rates.SAMPLE_EVENTS,
    )


PAUSED_ACCOUNTS_MAX: Final = 1_000
RATE_CEILING_MIN: Final = 5.0  # messages a second, also where the measured rate was low
RATE_PAUSE_SECONDS: Final = 1.0  # throttles of messages in flight at the same time count once
FIGURES_MESSAGES_MAX: Final = 2_000
FIGURES_AGE: Final = timedelta(days=30)
FIGURES_PIPELINES_MAX: Final = 50
BOUNCES_MAX: Final = 0.05  # Amazon SES puts senders under review from here on
COMPLAINTS_MAX: Final = 0.001  # Gmail and Yahoo ask for less, and refuse mail from 0.003 on


class ReportedShare(fields.Resource):
    """Messages of which something was reported, as a share with its interval of 95 %. `is_high`: all of it is above."""

    count: int
    share: float | None
    low: float | None
    high: float | None
    share_max: float
    is_high: bool


class Health(msgspec.Struct, frozen=True):
    figures: Figures
    bounces: ReportedShare
    complaints: ReportedShare


async def health_of(db: Database, *, account: AccountKey, now: datetime) -> Health:
    """Bounces and complaints of its newest messages, against the shares at which mailbox providers stop taking mail."""
    figures = await _get_figures(db, account=account, since=now - FIGURES_AGE)
    return Health(
        figures,
        _share(figures.bounced, figures.sent, BOUNCES_MAX),
        _share(figures.complained, figures.sent, COMPLAINTS_MAX),
    )


def _share(count: int, sent: int, share_max: float) -> ReportedShare:
    measure = metrics.share(count, sent, metric="share")
    if measure.value is None or measure.interval is None:
        return ReportedShare(count=count, share=None, low=None, high=None, share_max=share_max, is_high=False)
    value, low, high = (each / 100 for each in (measure.value, measure.interval.low, measure.interval.high))
    return ReportedShare(count=count, share=value, low=low, high=high, share_max=share_max, is_high=low > share_max)


async def record_failure(
    db: Database, *, account: AccountKey, since: datetime, is_probe: bool, is_failing: bool
) -> float:
    """Count a failed conversation of an account; the seconds that it rests from now on, 0 for none.

    `since`: the claim of its item; failures of items claimed before a person resumed the account do not count.
    `is_probe`: the item tried a resting account. `is_failing`: half of the last conversations failed, which opens the
    breaker like five failures in a row and counts as that many, so that the rests after it double alike.
    """
    failures_min = retries.BREAKER_FAILURES if is_failing else 0
    failures = await _update_failures(db, account=account, failures_min=failures_min, since=since, is_probe=is_probe)
    if failures is None:
        return 0.0
    seconds = retries.breaker_seconds(failures)
    if seconds:
        await _update_breaker(db, account=account, seconds=seconds)
    return seconds


async def slow_down(db: Database, *, account: AccountKey, domain: str | None = None) -> None:
    """Halve the rate of a throttled account, at most once a second.

    If one recipient domain throttled it, only the domain's rate is halved, unless several domains do so at once.
    """
    if domain is not None and await rates.slow_down(db, account=account, domain=domain):
        return
    await update_rate(db, account=account)


async def resume_all(db: Database) -> list[PausedAccount]:
    paused = await list_paused_accounts(db, limit=PAUSED_ACCOUNTS_MAX)
    for account in paused:
        await update_to_resumed(db, account=(account.organization_id, account.account_id))
    return paused
