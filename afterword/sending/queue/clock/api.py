"""Routes of the clock of test items."""

from datetime import datetime
from typing import Annotated, Any, Final

from msgspec import Meta

from afterword.core.wire import times
from afterword.kit.db import Database
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call, Routes
from afterword.sending.queue.clock import service

PATH: Final = "/q/queue/clock"

routes = Routes(tag="Queue")


class TestClockRequest(fields.Request):
    """Hours to move the clock forward by."""

    hours: Annotated[int, Meta(ge=1, le=service.AHEAD_HOURS_MAX, description="From where it stands.")]


class TestClock(fields.Answer):
    """The clock of the organization's test items."""

    time: Annotated[fields.DateTime, Meta(description="Now, for test items.")]
    ahead_seconds: Annotated[int, Meta(description="How far it is ahead of the real time.")]


@routes.get(PATH, scope="Queue.Read", answer=TestClock, summary="Get the clock of test items")
async def get_clock(call: Call[None], db: Database) -> Answer:
    return _shown(call, await service.get(db, caller=call.caller, now=call.now))


@routes.post(
    PATH,
    scope="Queue.Update",
    body=TestClockRequest,
    answer=TestClock,
    status=200,
    summary="Move the clock of test items forward",
    description="Reminders, windows, caps and expiry of test items come that much earlier. Real items do not see it.",
    refusals=("too_many_items",),
)
async def move_clock(call: Call[TestClockRequest], db: Database) -> Answer:
    return _shown(call, await service.move(db, caller=call.caller, hours=call.body.hours, now=call.now))


@routes.delete(
    PATH,
    scope="Queue.Update",
    summary="Set the clock of test items back",
    description="To the real time. What waits keeps its time of the clock; what was sent stays as old as it became.",
)
async def reset_clock(call: Call[None], db: Database) -> None:
    await service.reset(db, caller=call.caller)


def _shown(call: Call[Any], time: datetime) -> Answer:
    return Answer(
        TestClock(time=times.format_time(time, zone=call.zone), ahead_seconds=round((time - call.now).total_seconds()))
    )
