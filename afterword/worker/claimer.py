"""The claimer: whose turn it is, and how much of it fits into the free slots. One cheap read and one claim a turn."""

import random
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Final

import structlog

from afterword import db, errors, ids
from afterword.core.scheduling.lanes import START, AccountKey, DueLane, LaneKey, next_cursor, share_slots
from afterword.core.scheduling.retries import JITTER_MAX, JITTER_MIN
from afterword.db import Pool
from afterword.providers.health import service as health
from afterword.queue.lanes import store as lanes_store
from afterword.queue.lanes.service import SettingsCache
from afterword.queue.lanes.store import Lane
from afterword.queue.records import Claimed
from afterword.queue.sending import service as sending
from afterword.queue.sending.dispatches import Dispatch
from afterword.queue.sending.outcomes import Waits
from afterword.queue.sending.service import Lease
from afterword.worker.failures import cause_of
from afterword.worker.guard import Guard
from afterword.worker.low_water import LowWaterMarks
from afterword.worker.pace import LANES_MAX, ROUNDS_MAX, SLOTS_MAX, Pace
from afterword.worker.providers import Accounts

END: Final[LaneKey] = ("~", "~")  # behind every id

logger: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)


class Claimer:
    """Deals free slots among the open lanes and claims; what goes is handed to `enter` with the moment of its claim."""

    def __init__(
        self,
        *,
        pool: Pool,
        channel_ids: Sequence[int],
        secret: bytes,
        lease: Lease,
        cache: SettingsCache,
        accounts: Accounts,
        pace: Pace,
        guard: Guard,
        enter: Callable[[Dispatch, float], None],
    ) -> None:
        self._pool = pool
        self._channel_ids = sorted(channel_ids)
        self._secret = secret
        self._lease = lease
        self._cache = cache
        self._accounts = accounts
        self._pace = pace
        self._guard = guard
        self._enter = enter
        self._heads = LowWaterMarks()
        self._cursor: LaneKey = (random.choice(ids.ALPHABET), "")  # noqa: S311  workers start at different places

    async def turn(self, free: int) -> int:
        """Deal the free slots and claim, lanes that gave their whole share again; how many items were claimed."""
        empty_until = self._heads.begin()
        started = time.monotonic()
        found = await self._lanes(empty_until)
        self._heads.looked(time.monotonic() - started)
        turns = [_due_lane(lane) for lane in found]
        metered = frozenset((lane.organization_id, lane.account_id) for lane in found if lane.tokens is not None)
        by_domain = frozenset((lane.organization_id, lane.account_id) for lane in found if lane.has_domain_rates)
        heads = {(lane.organization_id, lane.pipeline_id): lane.due_time for lane in found}  # no claim looks before
        claimed_in_all = 0
        for number in range(ROUNDS_MAX):
            shares = share_slots(turns, free=free, free_of_account=self._accounts.free())
            if number == 0:
                self._cursor = next_cursor(turns, shares)
            if not shares:
                break
            claimed, entered = await self._claim(shares, metered, by_domain, heads)
            claimed_in_all += sum(claimed.values())
            free -= entered
            # A metered or probing account has had its share of this turn; the others may have more due.
            turns = [
                turn
                for turn in turns
                if claimed.get(turn.key, 0) >= shares.get(turn.key, 1) and turn.items_max >= SLOTS_MAX
            ]
            if not turns:
                break
        return claimed_in_all

    async def _lanes(self, empty_until: Mapping[LaneKey, datetime]) -> list[Lane]:
        """The next open lanes with something due, from the cursor on and around, without probes that others won."""
        limit, found = LANES_MAX, list[Lane]()
        busy = self._accounts.full()
        async with db.connection(self._pool) as database:
            for after, until in ((self._cursor, END), (START, self._cursor)):
                if after < until and len(found) < limit:
                    found += await lanes_store.list_lanes(
                        database,
                        after=after,
                        until=until,
                        channel_ids=self._channel_ids,
                        busy=busy,
                        limit=limit - len(found),
                        empty_until=empty_until,
                    )
        for lane in found:
            self._accounts.meet(lane)
        return [lane for lane in found if lane.open_until is None] + await self._probes(found)

    async def _probes(self, found: Sequence[Lane]) -> list[Lane]:
        """One lane of each account whose breaker has rested, if we are the one worker that may try it."""
        resting = {
            (lane.organization_id, lane.account_id): lane for lane in reversed(found) if lane.open_until is not None
        }
        won: list[Lane] = []
        for account, lane in resting.items():
            async with db.transaction(self._pool) as database:
                is_won = lane.open_until is None or await health.win_probe(
                    database, account=account, open_until=lane.open_until
                )
            if is_won:
                self._accounts.probe(account)
                won.append(lane)
        return won

    async def _claim(
        self,
        shares: Mapping[LaneKey, int],
        metered: frozenset[AccountKey],
        by_domain: frozenset[AccountKey],
        empty_until: Mapping[LaneKey, datetime],
    ) -> tuple[Mapping[LaneKey, int], int]:
        """Claim and prepare in one transaction; how many were claimed of each lane, and how many of all went."""
        started = time.monotonic()
        try:
            async with db.transaction(self._pool) as database:
                prepared = await sending.claim(
                    database,
                    shares=shares,
                    metered=metered,
                    lease=self._lease,
                    cache=self._cache,
                    secret=self._secret,
                    draw=random.random,
                    seq_min=self._guard.seq_min,
                    by_domain=by_domain,
                    empty_until=empty_until,
                )
        except errors.Unavailable:
            raise
        except Exception:
            logger.exception("a batch could not be prepared; one by one now")
            return await self._claim_one_by_one(shares)
        self._heads.reached(prepared.reached)
        for dispatch in prepared.dispatches:
            self._enter(dispatch, started)
        return prepared.claimed, len(prepared.dispatches)

    async def _claim_one_by_one(self, shares: Mapping[LaneKey, int]) -> tuple[Mapping[LaneKey, int], int]:
        """The same such that an item which cannot be prepared hurts only itself: it counts an attempt and waits."""
        started = time.monotonic()
        async with db.transaction(self._pool) as database:
            items = await sending.claim_bare(database, shares=shares, lease=self._lease, seq_min=self._guard.seq_min)
        counts: dict[LaneKey, int] = {}
        entered = 0
        for item in items:
            counts[item.lane] = counts.get(item.lane, 0) + 1
            for dispatch in await self._prepare_alone(item):
                self._enter(dispatch, started)
                entered += 1
        return counts, entered

    async def _prepare_alone(self, item: Claimed) -> Sequence[Dispatch]:
        try:
            async with db.transaction(self._pool) as database:
                return await sending.prepare(
                    database, items=[item], cache=self._cache, secret=self._secret, draw=random.random
                )
        except errors.Unavailable:
            raise  # the leases run out, and the reaper gives the items back
        except Exception as error:
            logger.exception(
                "an item could not be prepared", organization_id=item.organization_id, item_id=item.item_id
            )
            cause = cause_of("Preparing failed", error, item.responder_channel_identifier)
        waits = Waits(random.uniform(JITTER_MIN, JITTER_MAX), self._pace.backoff_factor)  # noqa: S311
        async with db.transaction(self._pool) as database:
            await sending.give_up(database, item=item, cause=cause, waits=waits, now=database.clock.now())
        return ()


def _due_lane(lane: Lane) -> DueLane:
    """A lane as far as dealing is concerned: a probe is one item, a metered account gives what its bucket holds."""
    items_max = SLOTS_MAX if lane.tokens is None else lane.tokens
    return DueLane(
        lane.organization_id,
        lane.pipeline_id,
        lane.account_id,
        lane.priority,
        1 if lane.open_until is not None else items_max,
    )
