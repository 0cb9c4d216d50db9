"""Delivers events to webhooks: fan-out from the log, claim, call with no transaction open, settle.

It has slots of its own: a target that hangs holds two of them, and nothing of what sends messages.
"""

import asyncio
import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import msgspec
import structlog

from afterword import errors
from afterword.core.messaging import webhooks
from afterword.core.messaging.webhooks import Reply
from afterword.core.wire import times
from afterword.core.wire.site import Site
from afterword.events import sending, service as events
from afterword.events.sending import Delivery, LaneKey
from afterword.events.service import Render
from afterword.events.webhooks import seal_context
from afterword.kit import db, sealing
from afterword.kit.db import Pool
from afterword.kit.transport.http import Caller, CallFailed
from afterword.run.worker import flights
from afterword.run.worker.flights import Flights, Repeat, cause_of, jitter, repeat

SLOTS: Final = 40
FAN_OUT: Final = "fan out"
FAN_OUT_SECONDS: Final = 0.25
FAN_OUT_EVENTS_MAX: Final = 500
FAN_OUT_DELIVERIES_MAX: Final = 2_500  # deliveries of one turn; beyond it the next are shorter
POLL_SECONDS: Final = 0.5
REAP_SECONDS: Final = 2.0
RENEW_SECONDS: Final = 5.0
REAP_MAX: Final = 50
CALL_SECONDS_MAX: Final = 15.0
GRACE_SECONDS: Final = CALL_SECONDS_MAX + 2.0  # for what is being sent when the worker stops
SETTLE_TRIES_MAX: Final = 5  # then the lease ends, and it is sent again
JSON: Final = "application/json"

assert RENEW_SECONDS * 3 < sending.LEASE_SECONDS  # noqa: S101  two lost renewals lose no lease

logger: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)


class Deliverer(Flights[Delivery]):
    """Runs until it is told to stop; what it has in flight then is given its time."""

    name = "webhooks"
    poll_seconds = POLL_SECONDS
    grace_seconds = GRACE_SECONDS

    def __init__(
        self,
        *,
        pool: Pool,
        site: Site,
        caller: Caller,
        render: Render,
        slots: int = SLOTS,
        lease_seconds: float = sending.LEASE_SECONDS,
        renew_seconds: float = RENEW_SECONDS,
        call_seconds: float = CALL_SECONDS_MAX,
    ) -> None:
        super().__init__(pool=pool, site=site)
        self._caller = caller
        self._render = render
        self.slots = slots
        self._lease_seconds = lease_seconds
        self._renew_seconds = renew_seconds
        self._call_seconds = call_seconds
        self._cursor: LaneKey = sending.START
        self._fan_out_events = FAN_OUT_EVENTS_MAX

    async def run(self, stop: asyncio.Event, repeat: Repeat = repeat) -> None:
        async with self._caller, asyncio.TaskGroup() as group:
            group.create_task(repeat(self.fan_out, name=FAN_OUT, seconds=FAN_OUT_SECONDS, stop=stop))
            group.create_task(repeat(self._reap, name="reap deliveries", seconds=REAP_SECONDS, stop=stop))
            landed = asyncio.Event()  # after `stop`, what is in flight is held until it has ended
            group.create_task(
                flights.repeat(self._renew, name="renew deliveries", seconds=self._renew_seconds, stop=landed)
            )
            await super().run(stop, repeat)
            landed.set()

    async def fan_out(self) -> bool:
        """True if there may be more. Takes fewer at a time while it is slow, because the webhooks are locked."""
        limit = self._fan_out_events
        self._fan_out_events = max(1, limit // 2)  # unless it ends well
        passed_count, delivery_count = await db.change(self._pool, sending.fan_out, limit=limit)
        if delivery_count <= FAN_OUT_DELIVERIES_MAX:
            more = limit * 2 if delivery_count <= FAN_OUT_DELIVERIES_MAX // 4 else limit
            self._fan_out_events = min(FAN_OUT_EVENTS_MAX, more)
        if delivery_count:
            self._wake.set()
        return passed_count == limit

    async def claim(self, limit: int) -> tuple[Sequence[Delivery], bool]:
        deliveries, self._cursor = await db.change_by_key(
            self._pool, sending.claim, after=self._cursor, limit=limit, lease_seconds=self._lease_seconds
        )
        return deliveries, bool(deliveries) or self._cursor != sending.START

    async def _reap(self) -> bool:
        now = self._pool.clock.now()
        return await db.change(self._pool, sending.reap, limit=REAP_MAX, now=now, jitter=jitter()) == REAP_MAX

    async def _renew(self) -> bool:
        if leases := [delivery.lease for delivery in self._flights.values()]:
            await db.change(self._pool, sending.update_leases, leases=leases, lease_seconds=self._lease_seconds)
        return False

    async def serve(self, delivery: Delivery) -> None:
        if not delivery.is_subscribed:  # it was given other types or another binding since, perhaps another target too
            reply = Reply(duration_ms=0, error="The webhook does not want this any more.", is_ours=True, is_last=True)
            await self._settle(delivery, reply)
            return
        try:
            content = await self._content(delivery)
        except errors.Unavailable:
            await db.change(self._pool, sending.release, lease=delivery.lease)
            return
        except Exception as error:
            logger.exception("an event could not be rendered", event_id=delivery.event.event_id)
            reply = Reply(duration_ms=0, error=cause_of("Rendering failed", error), is_ours=True)
            await self._settle(delivery, reply)
            return
        await self._settle(delivery, await self._call(delivery, content))

    async def _content(self, delivery: Delivery) -> bytes:
        event, zone = delivery.event, times.zone_of(delivery.time_zone)
        async with db.connection(self._pool) as database:
            zones = {event.organization_id: zone}
            (data,) = await self._render(database, events=[event], site=self._site, zones=zones)
        return msgspec.json.encode(events.body_of(event, data, zone))

    async def _call(self, delivery: Delivery, content: bytes) -> Reply:
        started, now = time.monotonic(), self._pool.clock.now()
        try:
            answer = await self._caller.request(
                "POST",
                delivery.target_url,
                headers={"content-type": JSON, **self._signed(delivery, content, now)},
                content=content,
                seconds=self._call_seconds,
            )
        except CallFailed as error:
            return Reply(duration_ms=_milliseconds(started), error=error.reason)
        except sealing.Unreadable:
            return Reply(duration_ms=0, error="Its secret cannot be read: renew it.", is_ours=True)
        return Reply(
            duration_ms=_milliseconds(started),
            status=answer.status,
            retry_after_seconds=webhooks.read_retry_after(answer.headers.get("retry-after"), now=now),
            excerpt=webhooks.excerpt_of(answer.body),
            error=_refused(answer.status),
        )

    def _signed(self, delivery: Delivery, content: bytes, now: datetime) -> Mapping[str, str]:
        context = seal_context(delivery.lease.organization_id, delivery.lease.webhook_id)
        keys = [sealing.unseal(one, secret=self._site.secret, context=context) for one in delivery.secrets]
        return webhooks.sign(content, event_id=delivery.event.event_id, timestamp=int(now.timestamp()), keys=keys)

    async def _settle(self, delivery: Delivery, reply: Reply) -> None:
        """Write it down; a database that is away for a moment, or a replay that holds the webhook, is waited for."""
        for tries in range(1, SETTLE_TRIES_MAX + 1):
            try:
                told: dict[str, Any] = {"now": self._pool.clock.now(), "jitter": jitter()}
                await db.change(self._pool, sending.settle, lease=delivery.lease, reply=reply, **told)
            except errors.Unavailable:
                if tries == SETTLE_TRIES_MAX:
                    raise
                await asyncio.sleep(tries * jitter())
            else:
                return


def _refused(status: int) -> str | None:
    if 200 <= status < 300:  # noqa: PLR2004
        return None
    if 300 <= status < 400:  # noqa: PLR2004
        return f"The target answered {status}: redirects are not followed."
    return f"The target answered {status}."


def _milliseconds(started: float) -> int:
    return int((time.monotonic() - started) * 1000)
