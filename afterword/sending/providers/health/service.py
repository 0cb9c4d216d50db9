"""Health of accounts: circuit breaker after failures, pauses until an operator resumes, rates after throttles."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from afterword.core.figures import metrics
from afterword.core.scheduling import retries
from afterword.core.scheduling.lanes import AccountKey
from afterword.kit.db import Database
from afterword.sending.providers.health import store
from afterword.sending.providers.health.store import Figures, PausedAccount
from afterword.sending.providers.rates import service as rates

PAUSED_ACCOUNTS_MAX: Final = 1_000
RATE_CEILING_MIN: Final = 5.0  # messages a second, also where the measured rate was low
RATE_PAUSE_SECONDS: Final = 1.0  # throttles of messages in flight at the same time count once
RATE_SAMPLE_EVENTS: Final = 5_000
FIGURES_MESSAGES_MAX: Final = 2_000
FIGURES_AGE: Final = timedelta(days=30)
FIGURES_PIPELINES_MAX: Final = 50
BOUNCES_MAX: Final = 0.05  # Amazon SES puts senders under review from here on
COMPLAINTS_MAX: Final = 0.001  # Gmail and Yahoo ask for less, and refuse mail from 0.003 on


@dataclass(frozen=True, slots=True)
class Share:
    """A share of the messages with its interval. `is_high`: the whole interval lies above `share_max`."""

    count: int
    share: float | None
    low: float | None
    high: float | None
    share_max: float

    @property
    def is_high(self) -> bool:
        return self.low is not None and self.low > self.share_max


@dataclass(frozen=True, slots=True)
class Health:
    figures: Figures
    bounces: Share
    complaints: Share


async def health_of(db: Database, *, account: AccountKey, now: datetime) -> Health:
    """Bounces and complaints of its newest messages, against the shares at which mailbox providers stop taking mail."""
    figures = await store.get_figures(
        db,
        organization_id=account[0],
        account_id=account[1],
        since=now - FIGURES_AGE,
        limit=FIGURES_MESSAGES_MAX,
        pipelines_max=FIGURES_PIPELINES_MAX,
    )
    return Health(
        figures,
        _share(figures.bounced, figures.sent, BOUNCES_MAX),
        _share(figures.complained, figures.sent, COMPLAINTS_MAX),
    )


def _share(count: int, sent: int, share_max: float) -> Share:
    measure = metrics.share(count, sent, metric="share")
    if measure.value is None or measure.interval is None:
        return Share(count, None, None, None, share_max)
    return Share(count, measure.value / 100, measure.interval.low / 100, measure.interval.high / 100, share_max)


async def win_probe(db: Database, *, account: AccountKey, open_until: datetime) -> bool:
    """Claim the probe of an account whose breaker may close again."""
    return await store.claim_probe(
        db, organization_id=account[0], account_id=account[1], open_until=open_until, seconds=retries.BREAKER_SECONDS
    )


async def record_failure(
    db: Database, *, account: AccountKey, since: datetime, is_probe: bool, is_failing: bool
) -> float:
    """Count a failed conversation of an account; the seconds that it rests from now on, 0 for none.

    `since`: the claim of its item; failures of items claimed before a person resumed the account do not count.
    `is_probe`: the item tried a resting account. `is_failing`: half of the last conversations failed, which opens the
    breaker like five failures in a row and counts as that many, so that the rests after it double alike.
    """
    organization_id, account_id = account
    failures = await store.update_failures(
        db,
        organization_id=organization_id,
        account_id=account_id,
        failures=1,
        failures_min=retries.BREAKER_FAILURES if is_failing else 0,
        since=since,
        is_probe=is_probe,
    )
    if failures is None:
        return 0.0
    seconds = retries.breaker_seconds(failures)
    if seconds:
        await store.update_breaker(db, organization_id=organization_id, account_id=account_id, seconds=seconds)
    return seconds


async def record_success(db: Database, *, account: AccountKey) -> None:
    """Close the breaker after a successful conversation."""
    await store.update_to_healthy(db, organization_id=account[0], account_id=account[1])


async def slow_down(db: Database, *, account: AccountKey, domain: str | None = None) -> None:
    """Halve the rate of a throttled account, at most once a second.

    If one recipient domain throttled it, only the domain's rate is halved, unless several domains do so at once.
    """
    if domain is not None and await rates.slow_down(db, account=account, domain=domain):
        return
    await store.update_rate(
        db,
        organization_id=account[0],
        account_id=account[1],
        pause_seconds=RATE_PAUSE_SECONDS,
        ceiling_min=RATE_CEILING_MIN,
        sample=RATE_SAMPLE_EVENTS,
    )


async def pause(
    db: Database, *, account: AccountKey, reason: str, since: datetime | None = None, by_operator: bool = False
) -> bool:
    """Pause an account whose login or trust is at fault, until a person resumes it; True if it was not paused.

    `since`: the claim of the item that met the fault. If a person has resumed the account after that, a late answer
    does not pause it again.
    """
    return await store.update_to_paused(
        db,
        organization_id=account[0],
        account_id=account[1],
        reason=reason[: store.REASON_CHARACTERS_MAX],
        since=since,
        by_operator=by_operator,
    )


async def resume(db: Database, *, account: AccountKey) -> bool:
    """Resume an account after an operator's review; True if it was paused or resting."""
    return await store.update_to_resumed(db, organization_id=account[0], account_id=account[1])


async def resume_all(db: Database) -> list[PausedAccount]:
    paused = await store.list_paused_accounts(db, limit=PAUSED_ACCOUNTS_MAX)
    for account in paused:
        await resume(db, account=(account.organization_id, account.account_id))
    return paused
