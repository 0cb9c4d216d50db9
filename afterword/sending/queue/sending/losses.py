"""Records again what a worker did and a server does not know that was promoted before it had received all of it.

A worker remembers the sends that are under way and the outcomes of the last minute. On a new timeline it compares them
with the database before it claims: mail that left is recorded as accepted late, its instance is there again, and what
is under way goes on.
"""

import time
from collections import deque
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

import msgspec
from msgspec.structs import replace

from afterword import ids
from afterword.asking.instances import issuing
from afterword.events.service import Actor
from afterword.kit.db import Dangling, Database, Pool, change, savepoint
from afterword.kit.transport.base import Sent, Unknown
from afterword.people.responders import service as people_service
from afterword.people.responders.store import Address, Responder
from afterword.sending.queue import late_outcomes
from afterword.sending.queue.records import LeaseKey
from afterword.sending.queue.sending import service, store
from afterword.sending.queue.sending.dispatches import Dispatch
from afterword.sending.queue.sending.service import Lease, Result

MEMORY_SECONDS: Final = 60.0
MEMORY_OUTCOMES_MAX: Final = 5_000  # some 15 MB
BATCH_ITEMS_MAX: Final = 200
Begun = Mapping[LeaseKey, tuple[Dispatch, Result | None]]


class Memory(msgspec.Struct, kw_only=True):
    """The begun sends of one process, and their outcomes, of the last minute at least while there is room."""

    since: datetime | None = None  # the database's time from which on nothing is forgotten
    _begun: dict[LeaseKey, Dispatch] = msgspec.field(default_factory=dict[LeaseKey, Dispatch])
    _results: deque[tuple[float, datetime, Result]] = msgspec.field(
        default_factory=deque[tuple[float, datetime, Result]]
    )

    def begin(self, dispatch: Dispatch) -> None:
        self._begun[dispatch.item.lease_key] = dispatch

    def end(self, result: Result, *, now: datetime) -> None:
        """Keep the outcome of a send, before it is written."""
        moment = time.monotonic()
        self._results.append((moment, now, result))
        while self._results[0][0] < moment - MEMORY_SECONDS or len(self._results) > MEMORY_OUTCOMES_MAX:
            self.since = self._results.popleft()[1]

    def drop(self, lease_key: LeaseKey) -> None:
        self._begun.pop(lease_key, None)

    def all(self) -> Begun:
        """Begun sends by lease, the earlier attempts of an item first; with its outcome, if there is one."""
        found: dict[LeaseKey, tuple[Dispatch, Result | None]] = {key: (each, None) for key, each in self._begun.items()}
        found |= {result.dispatch.item.lease_key: (result.dispatch, result) for _, _, result in self._results}
        return dict(sorted(found.items(), key=lambda entry: entry[0][2]))


class Loss(msgspec.Struct):
    """Attempts recorded again, and items that are gone, of which mail left."""

    recorded: int = 0
    gone: set[LeaseKey] = msgspec.field(default_factory=set[LeaseKey])

    def add_to(self, before: Sequence[int], *, events: int) -> list[int]:
        """The least number of events that are gone, attempts and items. `before`: those of other workers."""
        most, again, gone = before
        return [max(most, events), again + self.recorded, gone + len(self.gone)]


def text_of(counts: Sequence[int], end: datetime) -> str:
    return (
        f"The server that took over had received what was before {end:%Y-%m-%d %H:%M:%S} UTC. Of what came after, "
        f"workers know of {counts[0]} events at least, of {counts[1]} attempts to send, which are recorded again, and "
        f"of {counts[2]} items that are gone though a message may have left."
    )


async def compare(pool: Pool, *, memory: Memory, lease: Lease, loss: Loss) -> None:
    """Record again what is remembered and not there, also what ends meanwhile, and add it to `loss`."""
    done = set[tuple[LeaseKey, bool]]()
    while batch := _next({key: entry for key, entry in memory.all().items() if (key, entry[1] is None) not in done}):
        given = {"begun": batch, "lease": lease, "now": pool.clock.now()}
        found = await change(pool, record_again, **given)
        loss.recorded += found.recorded
        loss.gone |= found.gone
        done |= {(key, result is None) for key, (_, result) in batch.items()}


def _next(begun: Begun) -> Begun:
    """The next that one transaction takes: one attempt of an item, as the outcome of the first decides about more."""
    batch: dict[LeaseKey, tuple[Dispatch, Result | None]] = {}
    keys = set[tuple[str, str]]()
    for key, entry in begun.items():
        if key[:2] not in keys and len(batch) < BATCH_ITEMS_MAX:
            keys.add(key[:2])
            batch[key] = entry
    return batch


async def record_again(db: Database, *, begun: Begun, lease: Lease, now: datetime) -> Loss:
    """Begin and settle these attempts, of one item each, where there is no record of that."""
    existing = set(await late_outcomes.list_locked_items(db, items=[key[:2] for key in begun]))
    gone = {key for key, (_, result) in begun.items() if key[:2] not in existing and _may_have_left(result)}
    there = [key for key in begun if key[:2] in existing]
    is_lost = await store.list_lost(db, lease_keys=there) if there else {}
    lost = {key: begun[key] for key in there if is_lost.get(key)}
    if lost:
        try:
            async with savepoint(db):
                await _restore_instances(db, [dispatch for dispatch, _ in lost.values()], now)
        except Dangling:  # a version that is gone too: the links of these mails lead nowhere
            pass
        await store.update_items_to_begun(
            db,
            begins=[
                (*key, it.item.attempts, it.instance.instance_id, it.instance.responder_id, _may_have_left(result))
                for key, (it, result) in lost.items()
            ],
            owner=lease.owner,
            lease_seconds=lease.seconds,
        )
    results = [replace(result, is_late=True) for key in is_lost if (result := begun[key][1]) is not None]
    if results:
        await service.settle(db, results=results, now=now)
    return Loss(len(lost.keys() | {result.dispatch.item.lease_key for result in results}), gone)


def _may_have_left(result: Result | None) -> bool:
    return result is None or isinstance(result.outcome, Sent | Unknown)


async def _restore_instances(db: Database, dispatches: Sequence[Dispatch], now: datetime) -> None:
    """Insert the people and instances that the mails lead to under their ids, where they are gone."""
    people = {(each.item.organization_id, each.responder.responder_id): each for each in dispatches}
    responders = [
        Responder(*key, found.locale, found.time_zone, dict(found.metadata), None, 1, now, now, None, None)
        for key, found in ((key, each.responder) for key, each in people.items())
    ]
    addresses = [
        Address(*each.address_id, each.responder.responder_id, each.responder.address, each.responder.unsubscribe_id)
        for each in people.values()
        if each.responder.address is not None and each.responder.unsubscribe_id is not None
    ]
    await people_service.insert_again(db, responders=responders, addresses=addresses, now=now)
    instances = [each.instance for each in dispatches]
    event_ids = ids.ordered_many(now, len(instances))
    await issuing.insert_instances(db, instances=instances, event_ids=event_ids, actor=Actor("worker"))
