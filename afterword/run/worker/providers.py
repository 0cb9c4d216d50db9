"""The state of provider accounts in one worker: connections in use, recent outcomes, and their consequences."""

from collections import Counter, defaultdict, deque
from collections.abc import Mapping
from datetime import datetime
from typing import Final

import structlog

from afterword.core.scheduling import retries
from afterword.core.scheduling.lanes import AccountKey
from afterword.kit import db
from afterword.kit.transport.base import Outcome, Retry, Sent
from afterword.sending.providers import health
from afterword.sending.queue.lanes import Lane

REPLY_GOODBYE: Final = 421  # RFC 5321: the service is closing the connection, a failure for the breaker

logger: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)


class Accounts:
    """Slots in flight and the breaker's memory, by account, in this process."""

    def __init__(self, pool: db.Pool) -> None:
        self._pool = pool
        self._in_flight: Counter[AccountKey] = Counter()
        self._slots_max: dict[AccountKey, int] = {}
        self.versions: dict[AccountKey, int | None] = {}  # of the settings; None: it has none of its own
        self._last: defaultdict[AccountKey, deque[bool]] = defaultdict(lambda: deque(maxlen=retries.BREAKER_WINDOW))
        self._troubled: set[AccountKey] = set()
        self._probing: set[AccountKey] = set()

    def meet(self, lane: Lane) -> None:
        """Take over the state of a lane's account."""
        key = (lane.organization_id, lane.account_id)
        self._slots_max[key] = lane.slots_max
        self.versions[key] = lane.settings_version
        if lane.failures or lane.open_until is not None:
            self._troubled.add(key)

    def probe(self, account: AccountKey) -> None:
        """Note that the next item of this account is its probe."""
        self._probing.add(account)

    def free(self) -> Mapping[AccountKey, int]:
        """The free slots of each known account in this process."""
        return {key: slots - self._in_flight[key] for key, slots in self._slots_max.items()}

    def full(self) -> list[AccountKey]:
        return [key for key, free in self.free().items() if free <= 0]

    def enter(self, account: AccountKey) -> None:
        self._in_flight[account] += 1

    def leave(self, account: AccountKey) -> None:
        self._in_flight[account] -= 1
        if self._in_flight[account] <= 0:
            del self._in_flight[account]

    async def learn(self, account: AccountKey, outcome: Outcome, *, since: datetime) -> bool:
        """Apply an item's outcome to its account: slow down, pause, open the breaker, recover; True if it now rests.

        `since`: the claim of the item.
        """
        match outcome:
            case Retry(cause="account"):
                await self._pause(account, outcome.reason, since)
                return True
            case Retry(cause="throttle"):
                async with db.transaction(self._pool) as database:
                    await health.slow_down(database, account=account, domain=outcome.domain)
                return outcome.reply_code == REPLY_GOODBYE and await self._fail(account, since)
            case Retry(cause="connection"):
                if account not in self._troubled:
                    logger.warning(
                        "provider away", organization_id=account[0], account_id=account[1], cause=outcome.reason
                    )
                return await self._fail(account, since)
            case Sent():
                await self._recover(account)
                return False
            case _:
                self._last[account].append(False)
                return False

    async def _pause(self, account: AccountKey, reason: str, since: datetime) -> None:
        async with db.transaction(self._pool) as database:
            is_new = await health.update_to_paused(database, account=account, reason=reason, since=since)
        if is_new:
            logger.error("account paused", organization_id=account[0], account_id=account[1], reason=reason)

    async def _fail(self, account: AccountKey, since: datetime) -> bool:
        is_probe = account in self._probing
        self._probing.discard(account)
        self._troubled.add(account)
        last = self._last[account]
        last.append(True)
        is_failing = retries.is_failing(tuple(last))
        async with db.transaction(self._pool) as database:
            seconds = await health.record_failure(
                database, account=account, since=since, is_probe=is_probe, is_failing=is_failing
            )
        if seconds:
            last.clear()
            logger.warning("account rests", organization_id=account[0], account_id=account[1], seconds=seconds)
        return seconds > 0

    async def _recover(self, account: AccountKey) -> None:
        self._last[account].append(False)
        if account in self._troubled:
            self._troubled.discard(account)
            self._probing.discard(account)
            logger.info("provider answers again", organization_id=account[0], account_id=account[1])
            async with db.transaction(self._pool) as database:
                await health.update_to_healthy(database, account=account)
