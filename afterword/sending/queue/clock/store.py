"""The SQL of test clocks."""

from afterword.kit.db import Database


async def get_seconds(db: Database, *, organization_id: str) -> int:
    """Lead of the clock of the organization's test items over the real time."""
    return await db.fetch_value(
        "select test_clock_seconds from organization where organization_id = $1", organization_id
    )


async def get_seconds_locked(db: Database, *, organization_id: str) -> int:
    return await db.fetch_value(
        "select test_clock_seconds from organization where organization_id = $1 for no key update", organization_id
    )


async def update_seconds(db: Database, *, organization_id: str, seconds: int) -> None:
    await db.execute(
        "update organization set test_clock_seconds = $2 where organization_id = $1", organization_id, seconds
    )


async def count_waiting(db: Database, *, organization_id: str, limit: int) -> int:
    return await db.fetch_value(
        """select count(*) from (
             select from queue_item where organization_id = $1 and test and status = 1 limit $2) found""",
        *(organization_id, limit),
    )


async def update_due_times(db: Database, *, organization_id: str, seconds: int) -> int:
    """Make waiting test items due so much earlier, but not before now, where the search in a lane may have passed.

    With negative seconds later. Their number.
    """
    return await db.execute(
        """update queue_item set due_time = greatest(due_time - make_interval(secs => $2::int), now())
           where organization_id = $1 and test and status = 1 and due_time > now()""",
        *(organization_id, seconds),
    )


async def update_sent_times(db: Database, *, organization_id: str, seconds: int) -> int:
    """Let sent, unanswered test instances be so much older, which moves their expiry; their number."""
    return await db.execute(
        """update questionnaire_instance set sent_time = sent_time - make_interval(secs => $2::int)
           where organization_id = $1 and test and sent_time is not null and submitted_time is null
             and deleted_time is null and valid_days > 0""",
        *(organization_id, seconds),
    )
