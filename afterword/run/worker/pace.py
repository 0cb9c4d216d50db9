"""The limits and intervals of a worker, each with its unit, and the relations between them."""

from dataclasses import dataclass
from typing import Final

from afterword.kit.db import IDLE_TRANSACTION_TIMEOUT_SECONDS

SLOTS: Final = 50
SLOTS_MAX: Final = 200
LEASE_SECONDS: Final = 60.0
HEARTBEAT_SECONDS: Final = 15.0
LEASE_MARGIN_SECONDS: Final = 5.0
POLL_SECONDS: Final = 0.25
POLL_CIRCLES: Final = 20  # an idle worker spends at most a twentieth of its time on polling
POLL_CIRCLES_SECONDS_MAX: Final = 2.0  # and never pauses for longer because its polls are slow
REAP_SECONDS: Final = 1.0
REAP_ITEMS_MAX: Final = 500
BATCH_ITEMS_MAX: Final = 200
LANES_MAX: Final = 32
ROUNDS_MAX: Final = 3
DOT_SECONDS: Final = 600.0
SEND_SECONDS_MAX: Final = 1200.0
GRACE_SECONDS: Final = 25.0
STUCK_SECONDS: Final = 300.0  # an event loop that stands still for so long never goes on
AWAY_SECONDS_MAX: Final = 2.0  # between two tries to reach a database that is away
POOL_SIZE: Final = 8

assert HEARTBEAT_SECONDS * 3 + LEASE_MARGIN_SECONDS < LEASE_SECONDS  # noqa: S101  two lost heartbeats lose no lease
# A process that stands still while it has rows locked loses those locks before it loses their leases.
assert IDLE_TRANSACTION_TIMEOUT_SECONDS + HEARTBEAT_SECONDS * 2 + LEASE_MARGIN_SECONDS < LEASE_SECONDS  # noqa: S101
assert DOT_SECONDS < SEND_SECONDS_MAX  # noqa: S101  the channel gives up before its slot does


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """The limits and intervals of one worker. `backoff_factor` shortens the waits between attempts in tests."""

    slots: int = SLOTS
    lease_seconds: float = LEASE_SECONDS
    heartbeat_seconds: float = HEARTBEAT_SECONDS
    margin_seconds: float = LEASE_MARGIN_SECONDS
    poll_seconds: float = POLL_SECONDS
    reap_seconds: float = REAP_SECONDS
    send_seconds_max: float = SEND_SECONDS_MAX
    grace_seconds: float = GRACE_SECONDS
    stuck_seconds: float = STUCK_SECONDS
    backoff_factor: float = 1.0

    def __post_init__(self) -> None:
        if self.heartbeat_seconds * 3 + self.margin_seconds >= self.lease_seconds:
            raise ValueError("A lease must outlast three heartbeats and the margin.")
        if not 1 <= self.slots <= SLOTS_MAX:
            raise ValueError(f"A worker has 1 to {SLOTS_MAX} slots.")


def idle_seconds(poll_seconds: float, *, circle: float, before: float) -> float:
    """Seconds until the next poll, after one that took `circle` seconds and found nothing, and one of `before`.

    The quicker of the two shows the number of lanes; a single slow one only shows that the machine was busy.
    """
    return max(poll_seconds, min(POLL_CIRCLES * min(circle, before), POLL_CIRCLES_SECONDS_MAX))
