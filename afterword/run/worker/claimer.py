"""The claimer: shares the free slots among lanes by turns. A turn is one cheap read and one claim."""

import random
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Final

import structlog

from afterword import errors, ids
from afterword.core.scheduling.lanes import START, AccountKey, DueLane, LaneKey, next_cursor, share_slots
from afterword.kit import db
from afterword.kit.db import Pool
from afterword.run.worker.channels import Accounts
from afterword.run.worker.flights import LANES_MAX, ROUNDS_MAX, SLOTS_MAX, Pace, cause_of, jitter
from afterword.run.worker.guard import Guard
from afterword.run.worker.jobs import LowWaterMarks
from afterword.sending.providers import health
from afterword.sending.queue import lanes
from afterword.sending.queue.lanes import Lane, SettingsCache
from afterword.sending.queue.records import Claimed
from afterword.sending.queue.sending import service as sending
from afterword.sending.queue.sending.dispatches import Dispatch
from afterword.sending.queue.sending.outcomes import Waits
from afterword.sending.queue.sending.service import Lease

END: Final[LaneKey] = ("~", "~")  # behind every id

logger: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)


class Claimer:
    """Shares free slots among the open lanes and claims; dispatches go to `enter` with the time of their claim."""

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
        self._marks = LowWaterMarks()
        self._cursor: LaneKey = (random.choice(ids.ALPHABET), "")  # noqa: S311  workers start at different places

    async def turn(self, free: int) -> int:
        """Share the free slots and claim, again from lanes that gave their whole share; the number of claimed items."""
        empty_until = self._marks.begin()
        started = time.monotonic()
        found = await self._lanes(empty_until)
        self._marks.looked(time.monotonic() - started)
        turns = [_due_lane(lane) for lane in found]
        metered = frozenset((lane.organization_id, lane.account_id) for lane in found if lane.tokens is not None)
        by_domain = frozenset((lane.organization_id, lane.account_id) for lane in found if lane.has_domain_rates)
        first_due = {(lane.organization_id, lane.pipeline_id): lane.due_time for lane in found}
        claimed_in_all = 0
        for number in range(ROUNDS_MAX):
            shares = share_slots(turns, free=free, free_of_account=self._accounts.free())
            if number == 0:
                self._cursor = next_cursor(turns, shares)
            if not shares:
                break
            claimed, entered = await self._claim(shares, metered, by_domain, first_due)
            claimed_in_all += sum(claimed.values())
            free -= entered
            # A metered or probing account has had its share of this turn; other lanes may have more due.
            turns = [
                turn
                for turn in turns
                if claimed.get(turn.key, 0) >= shares.get(turn.key, 1) and turn.items_max >= SLOTS_MAX
            ]
            if not turns:
                break
        return claimed_in_all

    async def _lanes(self, empty_until: Mapping[LaneKey, datetime]) -> list[Lane]:
        """The next open lanes with something due, from the cursor on in a circle, without probes of other workers."""
        limit, found = LANES_MAX, list[Lane]()
        busy = self._accounts.full()
        async with db.connection(self._pool) as database:
            for after, until in ((self._cursor, END), (START, self._cursor)):
                if after < until and len(found) < limit:
                    found += await lanes.list_lanes(
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
        """One lane of each account whose breaker has rested, if this worker won its probe."""
        resting = {
            (lane.organization_id, lane.account_id): lane for lane in reversed(found) if lane.open_until is not None
        }
        won: list[Lane] = []
        for account, lane in resting.items():
            async with db.transaction(self._pool) as database:
                is_won = lane.open_until is None or await health.claim_probe(
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
        """Claim and prepare in one transaction; the number claimed of each lane, and the number of dispatches."""
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
        self._marks.reached(prepared.reached)
        for dispatch in prepared.dispatches:
            self._enter(dispatch, started)
        return prepared.claimed, len(prepared.dispatches)

    async def _claim_one_by_one(self, shares: Mapping[LaneKey, int]) -> tuple[Mapping[LaneKey, int], int]:
        """As `_claim`, but an item that cannot be prepared fails alone: it counts an attempt and waits."""
        started = time.monotonic()
        async with db.transaction(self._pool) as database:
            items = await sending.claim_bare(database, shares=shares, lease=self._lease, seq_min=self._guard.seq_min)
        entered = 0
        for item in items:
            for dispatch in await self._prepare_alone(item):
                self._enter(dispatch, started)
                entered += 1
        return Counter(item.lane for item in items), entered

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
        waits = Waits(jitter(), self._pace.backoff_factor)
        async with db.transaction(self._pool) as database:
            await sending.give_up(database, item=item, cause=cause, waits=waits, now=database.clock.now())
        return ()


def _due_lane(lane: Lane) -> DueLane:
    """A lane with something due: a probe is one item, a metered account gives the tokens of its bucket."""
    items_max = SLOTS_MAX if lane.tokens is None else lane.tokens
    return DueLane(
        lane.organization_id,
        lane.pipeline_id,
        lane.account_id,
        lane.priority,
        1 if lane.open_until is not None else items_max,
    )
