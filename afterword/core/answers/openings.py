"""Whether a public link takes responses at a moment."""

from datetime import datetime
from typing import Final, Literal

State = Literal["off", "scheduled", "open", "over"]
STATES: Final[tuple[State, ...]] = ("open", "scheduled", "over", "off")


def state_of(*, active: bool, opens_time: datetime | None, closes_time: datetime | None, now: datetime) -> State:
    """`opens_time` is the first open moment, `closes_time` the first that is not."""
    if not active:
        return "off"
    if closes_time is not None and closes_time <= now:
        return "over"
    return "scheduled" if opens_time is not None and now < opens_time else "open"
