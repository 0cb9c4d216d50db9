"""A worker process with the pace of the rig: `python -m tests.run.worker.faults.runner '{"database_url": …}'`.

It is the product's own `worker.run` with numbers that operators cannot set.
"""

import asyncio
import ctypes
import json
import os
import random
import resource
import signal
import sys
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import structlog
import uvloop

from afterword.core.messaging.networks import networks_of
from afterword.core.wire.site import Site
from afterword.kit import db, log
from afterword.kit.transport.base import EMAIL, Begin, Channel, Message, Outcome
from afterword.run.worker import Pace, captured, isolation, run
from afterword.sending.channels.conversation import Timeouts
from afterword.sending.channels.email import EmailChannel
from afterword.sending.messages import composing
from afterword.sending.messages.composing import MessageContext
from tests.run.worker.faults.mutants import mutate

SLOTS = 4
LEASE_SECONDS = 3.0
HEARTBEAT_SECONDS = 0.75
MAIL_FROM = "survey@rig.example"
BLOCKS = "blocks the loop"
HUNGRY_BYTES_MAX = 2_000_000_000
BITE_BYTES = 64_000_000

logger: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)


@dataclass(frozen=True, kw_only=True)
class Orders:
    """Settings of a worker of the rig. An unknown outcome is repeated after 600 s times `backoff_factor`."""

    database_url: str
    smtp_url: str
    public_url: str
    secret: str
    slots: int = SLOTS
    dot_seconds: float = 2.0
    lease_seconds: float = LEASE_SECONDS
    heartbeat_seconds: float = HEARTBEAT_SECONDS
    margin_seconds: float = 0.25
    poll_seconds: float = 0.05
    reap_seconds: float = 0.25
    backoff_factor: float = 0.0005
    stuck_seconds: float = 300.0
    has_poison: bool = False  # see `_poison`
    blocking: float = 0.0  # the share of sends that block the loop, see `_Blocking`
    block_seconds: float = 0.0
    blocks_max: int = 1  # of one process, or a test would only wait
    idle_seconds: int = db.IDLE_TRANSACTION_TIMEOUT_SECONDS  # until a transaction that says nothing is ended
    apart_seconds: float = isolation.SECONDS_MAX
    hogs: bool = False  # and keep every thread of the process from running
    statement_cache_size: int | None = None
    networks: str = ""  # private ones that calls may go to
    folder: str | None = None  # where it keeps what it remembers

    @property
    def text(self) -> str:
        """As a command line carries it."""
        return json.dumps(asdict(self))


async def main(orders: Orders) -> None:
    mutate()
    if orders.has_poison:
        _poison()
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)

    def channels(pool: db.Pool) -> Mapping[int, Channel]:
        email = EmailChannel(orders.smtp_url, orders.slots, timeouts=Timeouts(dot=orders.dot_seconds))
        return {**captured(pool), EMAIL: _Blocking(email, orders) if orders.blocking else email}

    pace = Pace(
        slots=orders.slots,
        lease_seconds=orders.lease_seconds,
        heartbeat_seconds=orders.heartbeat_seconds,
        margin_seconds=orders.margin_seconds,
        poll_seconds=orders.poll_seconds,
        reap_seconds=orders.reap_seconds,
        backoff_factor=orders.backoff_factor,
        stuck_seconds=orders.stuck_seconds,
    )
    db.IDLE_TRANSACTION_TIMEOUT_SECONDS = orders.idle_seconds  # pyrefly: ignore[bad-assignment]
    isolation.run = partial(isolation.run, seconds=orders.apart_seconds)
    await run(
        database_url=orders.database_url,
        site=Site(orders.public_url, orders.secret.encode(), networks_of(orders.networks)),
        channels=channels,
        mail_from=MAIL_FROM,
        stop=stop,
        pace=pace,
        statement_cache_size=orders.statement_cache_size,
        folder=None if orders.folder is None else Path(orders.folder),
    )


class _Blocking:
    """A channel that now and then calls what it should await, and says so before."""

    def __init__(self, channel: EmailChannel, orders: Orders) -> None:
        self._channel = channel
        self._orders = orders
        self._draw = random.Random(orders.slots)  # noqa: S311
        self._left = orders.blocks_max

    async def send(self, message: Message, *, begin: Begin) -> Outcome:
        async def block() -> None:
            await begin()
            if self._left and self._draw.random() < self._orders.blocking:
                self._left -= 1
                logger.info(BLOCKS)
                if self._orders.hogs:  # a call into C that lets nobody else have the interpreter
                    ctypes.PyDLL(None).usleep(ctypes.c_uint(int(self._orders.block_seconds * 1_000_000)))
                else:
                    time.sleep(self._orders.block_seconds)  # noqa: ASYNC251  that is the fault

        return await self._channel.send(message, begin=block)

    async def close(self) -> None:
        await self._channel.close()


def _poison() -> None:
    """Rendering for these recipients takes its process with it, or eats its memory, or never ends."""
    compose = composing.compose_mail

    def poisoned(context: MessageContext) -> Message:
        recipient = context.recipient
        if recipient.startswith("deadly"):
            os._exit(137)
        if recipient.startswith("hungry"):
            _, most = resource.getrlimit(resource.RLIMIT_AS)  # apart there is one, which nobody may raise
            limit = HUNGRY_BYTES_MAX if most == resource.RLIM_INFINITY else min(most, HUNGRY_BYTES_MAX)
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
            pieces = [bytes(BITE_BYTES) for _ in range(HUNGRY_BYTES_MAX // BITE_BYTES + 1)]  # not written: quick
            raise AssertionError(len(pieces))
        while recipient.startswith("endless"):
            pass
        return compose(context)

    composing.compose_mail = poisoned


if __name__ == "__main__":
    log.set_up(level="info", as_json=True)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main(Orders(**json.loads(sys.argv[1]))))
