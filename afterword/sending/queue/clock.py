"""Moves the clock of an organization's test items forward, so that reminders and windows can be tried at once."""

from datetime import datetime, timedelta
from typing import Annotated, Any, Final, LiteralString

from msgspec import Meta

from afterword import errors
from afterword.core.organizations.access import Caller
from afterword.core.wire import times
from afterword.kit.db import Database
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call, Routes


async def _get_seconds(db: Database, *, organization_id: str, is_locked: bool = False) -> int:
    """Lead of the clock of the organization's test items over the real time."""
    lock: LiteralString = "for no key update" if is_locked else ""
    query = f"select test_clock_seconds from organization where organization_id = $1 {lock}"
    return await db.fetch_value(query, organization_id)


async def _update_seconds(db: Database, *, organization_id: str, seconds: int) -> None:
    await db.execute(
        "update organization set test_clock_seconds = $2 where organization_id = $1", organization_id, seconds
    )


async def _count_waiting(db: Database, *, organization_id: str, limit: int) -> int:
    return await db.fetch_value(
        """select count(*) from (
             select from queue_item where organization_id = $1 and test and status = 1 limit $2) found""",
        *(organization_id, limit),
    )


async def _update_due_times(db: Database, *, organization_id: str, seconds: int) -> int:
    """Make waiting test items due so much earlier, but not before now, where the search in a lane may have passed.

    With negative seconds later. Their number.
    """
    return await db.execute(
        """update queue_item set due_time = greatest(due_time - make_interval(secs => $2::int), now())
           where organization_id = $1 and test and status = 1 and due_time > now()""",
        *(organization_id, seconds),
    )


async def _update_sent_times(db: Database, *, organization_id: str, seconds: int) -> int:
    """Let sent, unanswered test instances be so much older, which moves their expiry; their number."""
    return await db.execute(
        """update questionnaire_instance set sent_time = sent_time - make_interval(secs => $2::int)
           where organization_id = $1 and test and sent_time is not null and submitted_time is null
             and deleted_time is null and valid_days > 0""",
        *(organization_id, seconds),
    )


AHEAD_HOURS_MAX: Final = 9_600  # 400 days
ITEMS_MAX: Final = 10_000  # moved at once


class TooManyItems(errors.Conflict):
    """So many test items wait that moving them would hold up others."""

    code_default = "too_many_items"


async def get(db: Database, *, caller: Caller, now: datetime) -> datetime:
    seconds = await _get_seconds(db, organization_id=caller.organization_id)
    return now + timedelta(seconds=seconds)


async def move(db: Database, *, caller: Caller, hours: int, now: datetime) -> datetime:
    """Move the clock forward; its time. Raises Forbidden, Invalid `out_of_range`, TooManyItems."""
    caller.require_whole()
    organization_id = caller.organization_id
    ahead = await _get_seconds(db, organization_id=organization_id, is_locked=True) + hours * 3600
    if ahead > AHEAD_HOURS_MAX * 3600:
        message = f"The clock may be {AHEAD_HOURS_MAX // 24} days ahead; set it back first."
        raise errors.Invalid.at("/hours", "out_of_range", message)
    if await _count_waiting(db, organization_id=organization_id, limit=ITEMS_MAX + 1) > ITEMS_MAX:
        raise TooManyItems(f"More than {ITEMS_MAX:,} test items wait; cancel some of them first.")
    await _update_seconds(db, organization_id=organization_id, seconds=ahead)
    await _update_due_times(db, organization_id=organization_id, seconds=hours * 3600)
    await _update_sent_times(db, organization_id=organization_id, seconds=hours * 3600)
    return now + timedelta(seconds=ahead)


async def reset(db: Database, *, caller: Caller) -> None:
    """Set the clock back to now; what waits for a later time waits for the whole of it again. Raises Forbidden."""
    caller.require_whole()
    organization_id = caller.organization_id
    ahead = await _get_seconds(db, organization_id=organization_id, is_locked=True)
    await _update_seconds(db, organization_id=organization_id, seconds=0)
    await _update_due_times(db, organization_id=organization_id, seconds=-ahead)


PATH: Final = "/q/queue/clock"

routes = Routes(tag="Queue")


class TestClockRequest(fields.Request):
    """Hours to move the clock forward by."""

    hours: Annotated[int, Meta(ge=1, le=AHEAD_HOURS_MAX, description="From where it stands.")]


class TestClock(fields.Answer):
    """The clock of the organization's test items."""

    time: Annotated[fields.DateTime, Meta(description="Now, for test items.")]
    ahead_seconds: Annotated[int, Meta(description="How far it is ahead of the real time.")]


@routes.get(PATH, scope="Queue.Read", answer=TestClock, summary="Get the clock of test items")
async def get_clock(call: Call[None], db: Database) -> Answer:
    return _shown(call, await get(db, caller=call.caller, now=call.now))


@routes.post(
    PATH,
    scope="Queue.Update",
    answer=TestClock,
    status=200,
    summary="Move the clock of test items forward",
    description="Reminders, windows, caps and expiry of test items come that much earlier. Real items do not see it.",
    refusals=("too_many_items",),
)
async def move_clock(call: Call[TestClockRequest], db: Database) -> Answer:
    return _shown(call, await move(db, caller=call.caller, hours=call.body.hours, now=call.now))


@routes.delete(
    PATH,
    scope="Queue.Update",
    summary="Set the clock of test items back",
    has_version=False,
    description="To the real time. What waits keeps its time of the clock; what was sent stays as old as it became.",
)
async def reset_clock(call: Call[None], db: Database) -> None:
    call.expect(errors.ABSENT)  # the time that a client has read is another by now
    await reset(db, caller=call.caller)


def _shown(call: Call[Any], time: datetime) -> Answer:
    return Answer(
        TestClock(time=times.format_time(time, zone=call.zone), ahead_seconds=round((time - call.now).total_seconds()))
    )
