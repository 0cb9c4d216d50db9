"""The channel of each provider account, made at first use; else the installation's channel.

A channel is made of an account's settings at one version; when a lane shows another one, the next message gets a new
channel, and the old one is closed after the messages that still use it.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, MutableMapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

import structlog

from afterword import db, errors, sealing
from afterword.channels import accounts as kinds
from afterword.channels.base import Cause, Channel
from afterword.channels.http import Caller
from afterword.channels.reports import Report
from afterword.core.scheduling.lanes import AccountKey
from afterword.core.wire.site import Site
from afterword.providers import service as accounts
from afterword.providers import store as accounts_store
from afterword.receipts import service as reports

IDLE_SECONDS_MAX: Final = 600.0
WAYS_MAX: Final = 500  # kept open at once, those in use aside
# A receipt may be quicker than the settlement of its message; then nothing knows its reference yet.
RECEIPT_PAUSES: Final = (0.0, 2.0, 20.0)
RECEIPTS_MAX: Final = 1_000  # waiting at once

logger: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)


class NoWayError(Exception):
    """The account has no channel that this process could use; what that means for the item."""

    def __init__(self, cause: Cause, reason: str) -> None:
        super().__init__(reason)
        self.cause: Cause = cause
        self.reason = reason


@dataclass(slots=True)
class _Way:
    """A channel, the version of the settings that it was made of, and how many messages use it."""

    channel: Channel
    version: int
    users: int = 0
    is_old: bool = False
    used: float = field(default_factory=time.monotonic)


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
        self._made: dict[AccountKey, _Way] = {}
        self._making: dict[AccountKey, asyncio.Lock] = {}
        self._leaving: set[asyncio.Task[None]] = set()
        self._receipts = asyncio.Semaphore(RECEIPTS_MAX)

    @asynccontextmanager
    async def use(self, account: AccountKey, channel_id: int) -> AsyncGenerator[Channel]:
        """The channel of a message, for as long as it is sent. Raises NoWayError."""
        way = await self._way(account)
        if way is None:
            default = self._defaults.get(channel_id)
            if default is None:
                raise NoWayError("connection", "the account has no settings to send by")
            yield default
            return
        way.users += 1
        try:
            yield way.channel
        finally:
            way.users -= 1
            way.used = time.monotonic()
            if way.is_old and not way.users:
                self._leave(way)

    async def look(self, account: AccountKey) -> None:
        """See for oneself which version is the current one: for messages that no lane shows."""
        organization_id, account_id = account
        async with db.connection(self._pool) as database:
            self._versions[account] = await accounts_store.get_settings_version(
                database, organization_id=organization_id, account_id=account_id
            )

    async def close(self) -> None:
        """Close all that was made. No send is under way any more; the installation's own channels are their maker's."""
        for way in self._made.values():
            self._leave(way)
        self._made.clear()
        if self._leaving:
            await asyncio.gather(*self._leaving, return_exceptions=True)
        await self._caller.close()

    async def _way(self, account: AccountKey) -> _Way | None:
        """The account's own way, None where it has none."""
        if account in self._versions and self._versions[account] is None:
            return None
        way = self._made.get(account)
        if way is not None and self._is_current(account, way):
            return way
        async with self._making.setdefault(account, asyncio.Lock()):
            way = self._made.get(account)
            if way is not None and self._is_current(account, way):
                return way
            made = await self._make(account)
            if way is not None:
                self._retire(account)
            if made is not None:
                self._sweep()
                self._made[account] = made
            return made

    def _is_current(self, account: AccountKey, way: _Way) -> bool:
        """Never older than what a lane showed; it may be newer, when it was made after that look."""
        return way.version >= (self._versions.get(account) or 0)

    async def _make(self, account: AccountKey) -> _Way | None:
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
                raise NoWayError("account", f"this version knows no account of the kind {opened.kind}")
            ground = kinds.Context(caller=self._caller, slots=opened.slots_max, report=self._reporter(account))
            return _Way(kinds.make(kind, opened.settings, ground), opened.version)
        except sealing.Unreadable:
            sentence = "its settings were sealed with another secret: write them anew with “afterword account set”"
            raise NoWayError("account", sentence) from None
        except errors.Unavailable as error:
            raise NoWayError("connection", "the database is away") from error
        except ValueError as error:
            raise NoWayError("account", str(error)) from None

    def _sweep(self) -> None:
        """Retire what nobody has used for long, and the longest unused when there are too many."""
        oldest = time.monotonic() - IDLE_SECONDS_MAX
        idle = sorted((way.used, account) for account, way in self._made.items() if not way.users)
        surplus = len(self._made) - WAYS_MAX
        for place, (used, account) in enumerate(idle):
            if used < oldest or place < surplus:
                self._retire(account)

    def _retire(self, account: AccountKey) -> None:
        way = self._made.pop(account)
        way.is_old = True
        if not way.users:
            self._leave(way)

    def _leave(self, way: _Way) -> None:
        self._keep(way.channel.close())

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
        """Hand receipts on; once more later while none of them was news."""
        try:
            for pause in RECEIPT_PAUSES:
                await asyncio.sleep(pause)
                async with db.transaction(self._pool) as database:
                    counted = await reports.take(
                        database,
                        organization_id=account[0],
                        account_id=account[1],
                        reports=found,
                        now=database.clock.now(),
                        secret=self._site.secret,
                    )
                if counted:
                    return
        finally:
            self._receipts.release()
