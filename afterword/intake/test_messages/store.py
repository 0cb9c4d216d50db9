"""The SQL of messages that are sent as a test."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from afterword.db import Database


@dataclass(frozen=True, slots=True, kw_only=True)
class TestMessage:
    """A message that is asked for; `metadata` by kind, as an item keeps them."""

    organization_id: str
    trial_id: str
    questionnaire_id: str
    pipeline_id: str
    channel_id: int
    recipient: str
    locale: str
    metadata: dict[str, dict[str, str]]
    external_reference: str | None
    created_time: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The result of a test message. `outcome` is null while it is being sent."""

    state: str
    subject: str | None
    body: str | None
    outcome: str | None
    reply: str | None
    finished_time: datetime | None


@dataclass(frozen=True, slots=True)
class Recent:
    """Recent test messages of an organization: their number, those being sent, and the oldest time."""

    count: int
    open: int
    oldest: datetime | None


async def claim_turn(db: Database, *, organization_id: str) -> None:
    """Let one trial of the organization be counted and written after the other, until the transaction ends."""
    await db.execute("select pg_advisory_xact_lock(hashtextextended('trial/' || $1, 0))", organization_id)


async def count_recent(db: Database, *, organization_id: str, since: datetime, open_since: datetime) -> Recent:
    """The trials since a time; one that is under way counts as such from `open_since` on: its worker may be gone."""
    row = await db.fetch_row(
        """select count(*) as count, count(*) filter (where state <> 'done' and created_time > $3) as open,
             min(created_time) as oldest
           from trial where organization_id = $1 and created_time > $2""",
        organization_id,
        since,
        open_since,
    )
    if row is None:
        raise AssertionError("an aggregate has one row")
    return Recent(row["count"], row["open"], row["oldest"])


async def insert_trial(db: Database, *, organization_id: str, trial: TestMessage, created_by: str | None) -> None:
    """Ask a worker to send it."""
    await db.execute(
        """insert into trial (organization_id, trial_id, questionnaire_id, pipeline_id, channel_id, recipient, locale,
             metadata, external_reference, created_time, created_by)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)""",
        organization_id,
        trial.trial_id,
        trial.questionnaire_id,
        trial.pipeline_id,
        trial.channel_id,
        trial.recipient,
        trial.locale,
        trial.metadata,
        trial.external_reference,
        trial.created_time,
        created_by,
    )


async def claim_trials(  # any tenant: the worker serves everyone
    db: Database, *, channel_ids: Sequence[int], since: datetime, limit: int
) -> list[TestMessage]:
    """Take what waits on these channels, the oldest first; each is taken once, and what waits too long never."""
    rows = await db.fetch(
        """with head as materialized (
             select organization_id, trial_id from trial
             where state = 'waiting' and created_time > $2 and channel_id = any ($1::smallint[])
             order by created_time limit $3 for update skip locked)
           update trial t set state = 'sending'
           from head where t.organization_id = head.organization_id and t.trial_id = head.trial_id
           returning t.organization_id, t.trial_id, t.questionnaire_id, t.pipeline_id, t.channel_id, t.recipient,
             t.locale, t.metadata, t.external_reference, t.created_time""",
        list(channel_ids),
        since,
        limit,
    )
    return [TestMessage(**dict(row)) for row in rows]


async def settle_trial(db: Database, *, organization_id: str, trial_id: str, finding: Finding) -> None:
    """Write what became of a trial that was taken."""
    await db.execute(
        """update trial set state = 'done', subject = $3, body = $4, outcome = $5, reply = $6, finished_time = $7
           where organization_id = $1 and trial_id = $2 and state = 'sending'""",
        organization_id,
        trial_id,
        finding.subject,
        finding.body,
        finding.outcome,
        finding.reply,
        finding.finished_time,
    )


async def get_finding(db: Database, *, organization_id: str, trial_id: str) -> Finding | None:
    """The current result of a test message."""
    row: Any = await db.fetch_row(
        """select state, subject, body, outcome, reply, finished_time from trial
           where organization_id = $1 and trial_id = $2""",
        organization_id,
        trial_id,
    )
    return Finding(**dict(row)) if row else None


async def delete_waiting_trial(db: Database, *, organization_id: str, trial_id: str) -> bool:
    """Take back what no worker has taken; whether it was still there."""
    count = await db.execute(
        "delete from trial where organization_id = $1 and trial_id = $2 and state = 'waiting'",
        organization_id,
        trial_id,
    )
    return count == 1


async def prune_trials(db: Database, *, before: datetime, limit: int) -> int:  # any tenant: a job for everyone
    """Remove trials older than a time; how many."""
    return await db.execute(
        """delete from trial where (organization_id, trial_id) in (
             select organization_id, trial_id from trial where created_time < $1 order by created_time limit $2)""",
        before,
        limit,
    )
