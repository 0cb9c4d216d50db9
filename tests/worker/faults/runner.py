"""A worker process with the pace of the rig: `python -m tests.worker.faults.runner '{"database_url": …}'`.

It is the product's own `worker.run` with numbers that operators cannot set.
"""

import asyncio
import json
import signal
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass

import uvloop

from afterword import db, log
from afterword.channels.base import EMAIL, Channel
from afterword.channels.email import EmailChannel
from afterword.core.site import Site
from afterword.worker import Pace, captured, run
from tests.worker.faults.mutants import mutate

SLOTS = 4
LEASE_SECONDS = 3.0
MAIL_FROM = "survey@rig.example"


@dataclass(frozen=True, kw_only=True)
class Orders:
    """What a worker of the rig is told. An unknown outcome is repeated after 600 s times `backoff_factor`."""

    database_url: str
    smtp_url: str
    public_url: str
    secret: str
    slots: int = SLOTS
    dot_seconds: float = 2.0
    lease_seconds: float = LEASE_SECONDS
    heartbeat_seconds: float = 0.75
    margin_seconds: float = 0.25
    poll_seconds: float = 0.05
    reap_seconds: float = 0.25
    backoff_factor: float = 0.0005

    @property
    def text(self) -> str:
        """As a command line carries it."""
        return json.dumps(asdict(self))


async def main(orders: Orders) -> None:
    """Work until SIGTERM."""
    mutate()
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)

    def channels(pool: db.Pool) -> Mapping[int, Channel]:
        return {**captured(pool), EMAIL: EmailChannel(orders.smtp_url, orders.slots, orders.dot_seconds)}

    pace = Pace(
        slots=orders.slots,
        lease_seconds=orders.lease_seconds,
        heartbeat_seconds=orders.heartbeat_seconds,
        margin_seconds=orders.margin_seconds,
        poll_seconds=orders.poll_seconds,
        reap_seconds=orders.reap_seconds,
        backoff_factor=orders.backoff_factor,
    )
    await run(
        database_url=orders.database_url,
        site=Site(orders.public_url, orders.secret.encode()),
        channels=channels,
        mail_from=MAIL_FROM,
        stop=stop,
        pace=pace,
    )


if __name__ == "__main__":
    log.set_up(level="info", as_json=True)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main(Orders(**json.loads(sys.argv[1]))))
