"""The channels of provider accounts in one worker: connections in use, recent outcomes, and their consequences."""

import asyncio
import time
from collections import Counter, defaultdict, deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, MutableMapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Final

import msgspec
import structlog

from afterword import errors
from afterword.core.scheduling import retries
from afterword.core.scheduling.lanes import AccountKey
from afterword.core.wire.site import Site
from afterword.kit import db, sealing
from afterword.kit.transport.base import LINK, OUTBOX, WEBHOOK, Cause, Channel, Outcome, Refused, Retry, Sent, Unknown
from afterword.kit.transport.http import Caller
from afterword.kit.transport.mime import Report
from afterword.sending.channels import accounts as kinds
from afterword.sending.channels.outbox import TestChannel
from afterword.sending.providers import health, service as accounts
from afterword.sending.queue.lanes import Lane
from afterword.sending.receipts import service as receipts

REPLY_GOODBYE: Final = 421  # RFC 5321: the service is closing the connection, a failure for the breaker
SERVER_ERROR: Final = 500  # HTTP: from here on the answer of a gateway says nothing about the recipient

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
        self._slots: dict[AccountKey, tuple[int, asyncio.Semaphore]] = {}
        self._closed: dict[AccountKey, float] = {}  # since when, by our own outcomes

    def meet(self, lane: Lane, *, looked: float) -> None:
        """Take the state of a lane's account from a look that began at `looked` (seconds of `time.monotonic`)."""
        key = (lane.organization_id, lane.account_id)
        if lane.open_until is None and self._closed.get(key, looked) < looked:
            del self._closed[key]
        self._slots_max[key] = lane.slots_max
        self.versions[key] = lane.settings_version
        if lane.failures or lane.open_until is not None:
            self._troubled.add(key)

    def probe(self, account: AccountKey) -> None:
        self._probing.add(account)
        self._closed.pop(account, None)

    def close(self, account: AccountKey) -> None:
        self._closed[account] = time.monotonic()

    def is_closed(self, account: AccountKey) -> bool:
        """True until a later look shows it open, or it is probed: a claim under way may not know of it."""
        return account in self._closed

    def free(self) -> Mapping[AccountKey, int]:
        """The number that may still be claimed of each account: as many wait for a slot as there are."""
        return {key: 2 * slots - self._in_flight[key] for key, slots in self._slots_max.items()}

    def slot(self, account: AccountKey) -> asyncio.Semaphore:
        """The slots of an account, of which a message takes one while it is sent."""
        slots_max = self._slots_max[account]
        if account not in self._slots or self._slots[account][0] != slots_max:
            self._slots[account] = slots_max, asyncio.Semaphore(slots_max)
        return self._slots[account][1]

    def full(self) -> list[AccountKey]:
        return [key for key, free in self.free().items() if free <= 0]

    def enter(self, account: AccountKey) -> None:
        self._in_flight[account] += 1

    def leave(self, account: AccountKey) -> None:
        self._in_flight[account] -= 1
        if self._in_flight[account] <= 0:
            del self._in_flight[account]

    async def learn(self, account: AccountKey, outcome: Outcome, *, channel_id: int, since: datetime) -> bool:
        """Apply an item's outcome to its account: slow down, pause, open the breaker, recover; True if it now rests.

        `since`: the claim of the item. A webhook without an answer tells nothing of the addresses of other pipelines.
        """
        match outcome:
            case Retry(cause="account"):
                await self._pause(account, outcome.reason, since)
                return True
            case Retry(cause="throttle"):
                await db.change(self._pool, health.slow_down, account=account, domain=outcome.domain)
                return outcome.reply_code == REPLY_GOODBYE and await self._fail(account, since)
            case Retry(cause="connection") | Unknown() if channel_id != WEBHOOK:
                if account not in self._troubled:
                    logger.warning(
                        "provider away", organization_id=account[0], account_id=account[1], cause=outcome.reason
                    )
                return await self._fail(account, since)
            case Sent() | Refused(reply_code=int()):
                await self._recover(account)
                return False
            case Retry(cause="recipient", reply_code=int(code)) if code < SERVER_ERROR:
                await self._recover(account)
                return False
            case _:
                self._last[account].append(False)
                return False

    async def _pause(self, account: AccountKey, reason: str, since: datetime) -> None:
        is_new = await db.change(self._pool, health.update_to_paused, account=account, reason=reason, since=since)
        if is_new:
            logger.error("account paused", organization_id=account[0], account_id=account[1], reason=reason)

    async def _fail(self, account: AccountKey, since: datetime) -> bool:
        is_probe = account in self._probing
        self._probing.discard(account)
        self._troubled.add(account)
        last = self._last[account]
        last.append(True)
        is_failing = retries.is_failing(tuple(last))
        seconds = await db.change(
            self._pool, health.record_failure, account=account, since=since, is_probe=is_probe, is_failing=is_failing
        )
        if seconds:
            last.clear()
            logger.warning("account rests", organization_id=account[0], account_id=account[1], seconds=seconds)
        return seconds > 0

    async def _recover(self, account: AccountKey) -> None:
        self._last[account].append(False)
        if account in self._troubled and not self.is_closed(account):
            is_probe = account in self._probing
            self._troubled.discard(account)
            self._probing.discard(account)
            logger.info("provider answers again", organization_id=account[0], account_id=account[1])
            await db.change(self._pool, health.update_to_healthy, account=account, is_probe=is_probe)


IDLE_SECONDS_MAX: Final = 600.0
CHANNELS_MAX: Final = 500  # open at once, besides those in use
# A receipt may come before the settlement of its message, while its reference is still unknown.
RECEIPT_PAUSES: Final = (0.0, 2.0, 20.0)
RECEIPTS_MAX: Final = 1_000  # waiting at once


class NoChannelError(Exception):
    """The account has no usable channel; `cause` and `reason` are the item's outcome."""

    def __init__(self, cause: Cause, reason: str) -> None:
        super().__init__(reason)
        self.cause: Cause = cause
        self.reason = reason


class _AccountChannel(msgspec.Struct):
    """The channel of an account's settings at a version, and the number of messages that use it."""

    channel: Channel
    version: int
    users: int = 0
    is_old: bool = False
    used: float = msgspec.field(default_factory=time.monotonic)


class ChannelRegistry:
    """`defaults`: the installation's own channels. `versions`: of each account's settings, as lanes show them."""

    def __init__(
        self,
        *,
        pool: db.Pool,
        site: Site,
        defaults: Mapping[int, Channel],
        versions: MutableMapping[AccountKey, int | None],
    ) -> None:
        self._pool = pool
        self._site = site
        self._defaults = defaults
        self._versions = versions
        self._caller = Caller(allowed=site.networks)
        self._made: dict[AccountKey, _AccountChannel] = {}
        self._making: dict[AccountKey, asyncio.Lock] = {}
        self._leaving: set[asyncio.Task[None]] = set()
        self._receipts = asyncio.Semaphore(RECEIPTS_MAX)

    @asynccontextmanager
    async def use(self, account: AccountKey, channel_id: int, *, test_attempt: int | None) -> AsyncGenerator[Channel]:
        """The channel of a message while it is sent. Raises NoChannelError.

        `test_attempt`: None sends to the address. The number of an attempt keeps the message in the outbox: each
        caller says so, so that no test item can reach an address by a way of its own.
        """
        if test_attempt is not None and channel_id != LINK:
            yield TestChannel(self._defaults[OUTBOX], attempt=test_attempt, report=self._reporter(account))
            return
        own = await self._current(account)
        if own is None:
            default = self._defaults.get(channel_id)
            if default is None:
                raise NoChannelError("connection", "the account has no settings to send by")
            yield default
            return
        own.users += 1
        try:
            yield own.channel
        finally:
            own.users -= 1
            own.used = time.monotonic()
            if own.is_old and not own.users:
                self._leave(own)

    async def refresh(self, account: AccountKey) -> None:
        organization_id, account_id = account
        self._versions[account] = await db.load(
            self._pool, accounts.get_settings_version, organization_id=organization_id, account_id=account_id
        )

    async def close(self) -> None:
        for own in self._made.values():
            self._leave(own)
        self._made.clear()
        if self._leaving:
            await asyncio.gather(*self._leaving, return_exceptions=True)
        await self._caller.close()

    async def _current(self, account: AccountKey) -> _AccountChannel | None:
        if account in self._versions and self._versions[account] is None:
            return None
        own = self._made.get(account)
        if own is not None and self._is_current(account, own):
            return own
        async with self._making.setdefault(account, asyncio.Lock()):
            own = self._made.get(account)
            if own is not None and self._is_current(account, own):
                return own
            made = await self._make(account)
            if own is not None:
                self._retire(account)
            if made is not None:
                self._sweep()
                self._made[account] = made
            return made

    def _is_current(self, account: AccountKey, own: _AccountChannel) -> bool:
        """True unless a lane showed a later version; the channel's own may be later still."""
        return own.version >= (self._versions.get(account) or 0)

    async def _make(self, account: AccountKey) -> _AccountChannel | None:
        organization_id, account_id = account
        try:
            async with db.connection(self._pool) as database:
                opened = await accounts.open_account(
                    database, organization_id=organization_id, account_id=account_id, site=self._site
                )
            if opened is None:
                return None
            kind = kinds.kind_of(opened.kind)
            if kind is None:
                raise NoChannelError("account", f"this version knows no account of the kind {opened.kind}")
            context = kinds.Context(
                caller=self._caller,
                slots=opened.slots_max,
                report=self._reporter(account),
                networks=self._site.networks if opened.is_own else None,
            )
            return _AccountChannel(kinds.make(kind, opened.settings, context), opened.version)
        except sealing.Unreadable:
            sentence = "its settings were sealed with another secret: write them anew with “afterword account set”"
            raise NoChannelError("account", sentence) from None
        except errors.Unavailable as error:
            raise NoChannelError("connection", "the database is away") from error
        except ValueError as error:
            raise NoChannelError("account", str(error)) from None

    def _sweep(self) -> None:
        oldest = time.monotonic() - IDLE_SECONDS_MAX
        idle = sorted((own.used, account) for account, own in self._made.items() if not own.users)
        surplus = len(self._made) - CHANNELS_MAX
        for place, (used, account) in enumerate(idle):
            if used < oldest or place < surplus:
                self._retire(account)

    def _retire(self, account: AccountKey) -> None:
        own = self._made.pop(account)
        own.is_old = True
        if not own.users:
            self._leave(own)

    def _leave(self, own: _AccountChannel) -> None:
        self._keep(own.channel.close())

    def _keep(self, work: Awaitable[None]) -> None:
        async def run() -> None:
            try:
                await work
            except Exception:
                logger.exception("a channel could not be closed, or its receipts not taken")

        task = asyncio.get_running_loop().create_task(run())
        self._leaving.add(task)
        task.add_done_callback(self._leaving.discard)

    def _reporter(self, account: AccountKey) -> Callable[[Sequence[Report]], Awaitable[None]]:
        async def report(found: Sequence[Report]) -> None:
            await self._receipts.acquire()
            self._keep(self._take(account, found))

        return report

    async def _take(self, account: AccountKey, found: Sequence[Report]) -> None:
        """Apply receipts, and again later while none of them is new."""
        try:
            for pause in RECEIPT_PAUSES:
                await asyncio.sleep(pause)
                async with db.transaction(self._pool) as database:
                    counted = await receipts.take(
                        database,
                        organization_id=account[0],
                        account_id=account[1],
                        reports=found,
                        now=database.clock.now(),
                        secret=self._site.secret,
                    )
                if counted:
                    return
            references = [report.provider_reference for report in found][:10]
            sentence = "receipts that name no message of this account, or that were no news"
            logger.warning(sentence, organization_id=account[0], account_id=account[1], references=references)
        finally:
            self._receipts.release()
