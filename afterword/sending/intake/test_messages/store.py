"""The SQL of messages that are sent as a test."""

from collections.abc import Sequence
from dataclasses import asdict, astuple, dataclass
from datetime import datetime
from typing import Final, LiteralString

from afterword.kit.db import Database
from afterword.kit.db.columns import qualified


@dataclass(frozen=True, slots=True, kw_only=True)
class TestMessage:
    """A message that is asked for: of a pipeline, or of an account alone. `metadata` by kind, as an item keeps them."""

    organization_id: str
    trial_id: str
    questionnaire_id: str | None = None
    pipeline_id: str | None = None
    account_id: str | None = None
    channel_id: int
    recipient: str
    locale: str
    metadata: dict[str, dict[str, str]]
    external_reference: str | None
    captured: bool = False  # asked for by a test token: it stays in the outbox
    created_time: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class TestResult:
    """The result of a test message. `outcome` is null while it is being sent."""

    state: str
    subject: str | None
    body: str | None
    outcome: str | None
    reply: str | None
    finished_time: datetime | None


_COLUMNS: Final[LiteralString] = """organization_id, trial_id, questionnaire_id, pipeline_id, account_id, channel_id,
  recipient, locale, metadata, external_reference, captured, created_time"""
_COLUMNS_T: Final = qualified(_COLUMNS, "t")


async def count_recent_locked(
    db: Database, *, organization_id: str, since: datetime, open_since: datetime
) -> tuple[int, int, datetime | None]:
    """Count the test messages since a time, and those under way; also return the oldest time.

    One that is under way counts as such from `open_since` on, since its worker may be gone. No other is inserted until
    the transaction ends.
    """
    await db.execute("select pg_advisory_xact_lock(hashtextextended('trial/' || $1, 0))", organization_id)
    row = await db.fetch_one(
        """select count(*) as count, count(*) filter (where state <> 'done' and created_time > $3) as open,
             min(created_time) as oldest
           from trial where organization_id = $1 and created_time > $2""",
        organization_id,
        since,
        open_since,
    )
    return row["count"], row["open"], row["oldest"]


async def insert_test_message(db: Database, *, organization_id: str, test: TestMessage, created_by: str | None) -> None:
    await db.execute(
        f"""insert into trial ({_COLUMNS}, created_by)
           select {_COLUMNS}, $2 from jsonb_populate_record(null::trial, $3::jsonb) where organization_id = $1""",
        organization_id,
        created_by,
        asdict(test),
    )


async def claim_test_messages(  # any tenant: the worker serves everyone
    db: Database, *, channel_ids: Sequence[int], since: datetime, limit: int
) -> list[TestMessage]:
    """Take what waits on these channels, the oldest first; each is taken once, and what waits too long never."""
    rows = await db.fetch(
        f"""with head as materialized (
             select organization_id, trial_id from trial
             where state = 'waiting' and created_time > $2 and channel_id = any ($1::smallint[])
             order by created_time limit $3 for update skip locked)
           update trial t set state = 'sending'
           from head where t.organization_id = head.organization_id and t.trial_id = head.trial_id
           returning {_COLUMNS_T}""",
        list(channel_ids),
        since,
        limit,
    )
    return [TestMessage(**row) for row in rows]


async def settle_test_message(db: Database, *, organization_id: str, trial_id: str, result: TestResult) -> None:
    await db.execute(
        """update trial set state = $3, subject = $4, body = $5, outcome = $6, reply = $7, finished_time = $8
           where organization_id = $1 and trial_id = $2 and state = 'sending'""",
        organization_id,
        trial_id,
        *astuple(result),
    )


async def get_result(db: Database, *, organization_id: str, trial_id: str) -> TestResult | None:
    row = await db.fetch_row(
        """select state, subject, body, outcome, reply, finished_time from trial
           where organization_id = $1 and trial_id = $2""",
        organization_id,
        trial_id,
    )
    return TestResult(**row) if row else None


async def delete_waiting_test_message(db: Database, *, organization_id: str, trial_id: str) -> bool:
    """Take back what no worker has taken; whether it was still there."""
    count = await db.execute(
        "delete from trial where organization_id = $1 and trial_id = $2 and state = 'waiting'",
        organization_id,
        trial_id,
    )
    return count == 1
