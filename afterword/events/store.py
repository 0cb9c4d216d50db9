"""SQL of the event log: rows written in the transaction of their cause."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from afterword.db import Database, Row


@dataclass(frozen=True, slots=True)
class Actor:
    """Who did it: `user`, `token`, `responder`, `worker` or `gateway`, and which one."""

    kind: str = "worker"
    id: str | None = None


@dataclass(frozen=True, slots=True)
class NewEvent:
    """What happened to which thing. `data` is the row after the change, as JSON; doors render it as the resource."""

    organization_id: str
    event_id: str
    type: str
    subject_id: str | None
    subject_version: int | None
    questionnaire_id: str | None
    actor_kind: str
    actor_id: str | None
    data: Mapping[str, Any]
    is_terminal: bool = False
    test: bool = False


@dataclass(frozen=True, slots=True)
class Event:
    """A row of the log. `seq` grows with insertion, not with commit: readers go by (xid, seq)."""

    organization_id: str
    event_id: str
    seq: int
    type: str
    questionnaire_id: str | None
    subject_id: str | None
    subject_version: int | None
    is_terminal: bool
    actor_kind: str
    actor_id: str | None
    test: bool
    data: dict[str, Any]
    created_time: datetime


async def insert_events(db: Database, *, events: Sequence[NewEvent]) -> None:  # any tenant: a batch serves many
    """Append all of them in their order, with one statement."""
    await db.execute(
        """insert into event (organization_id, event_id, type, questionnaire_id, subject_id, subject_version,
                              is_terminal, actor_kind, actor_id, test, data)
           select organization_id, event_id, type, questionnaire_id, subject_id, subject_version,
                  is_terminal, actor_kind, actor_id, test, data
           from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[],
                       $7::boolean[], $8::text[], $9::text[], $10::boolean[], $11::jsonb[])
             with ordinality as e (organization_id, event_id, type, questionnaire_id, subject_id, subject_version,
                                   is_terminal, actor_kind, actor_id, test, data, place)
           order by place""",
        [event.organization_id for event in events],
        [event.event_id for event in events],
        [event.type for event in events],
        [event.questionnaire_id for event in events],
        [event.subject_id for event in events],
        [event.subject_version for event in events],
        [event.is_terminal for event in events],
        [event.actor_kind for event in events],
        [event.actor_id for event in events],
        [event.test for event in events],
        [event.data for event in events],
    )


async def list_events(
    db: Database, *, organization_id: str, subject_id: str | None = None, type_name: str | None = None, limit: int = 500
) -> list[Event]:
    """Events of an organization, oldest first; of one subject or one type when given."""
    rows = await db.fetch(
        """select organization_id, event_id, seq, type, questionnaire_id, subject_id, subject_version, is_terminal,
                  actor_kind, actor_id, test, data, created_time
           from event
           where organization_id = $1 and ($2::text is null or subject_id = $2) and ($3::text is null or type = $3)
           order by seq limit $4""",
        organization_id,
        subject_id,
        type_name,
        limit,
    )
    return [_event(row) for row in rows]


def _event(row: Row) -> Event:
    return Event(**dict(row))
