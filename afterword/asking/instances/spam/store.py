"""SQL of doubtful responses and their judgement."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, LiteralString

from afterword.asking.instances.store import INSTANCE_COLUMNS, Instance
from afterword.core.wire.lists import Page, Rows
from afterword.kit.db import Database

State = Literal["held", "rejected", "accepted", "marked"]
STATES: Final[tuple[State, ...]] = ("held", "rejected", "accepted", "marked")


@dataclass(frozen=True, slots=True, kw_only=True)
class DoubtfulResponse:
    """`state`: `marked` for one that was never held back."""

    instance_id: str
    questionnaire_id: str
    questionnaire_name: str
    link_id: str | None
    link_title: str | None
    submitted_time: datetime
    flags: list[str]
    state: State


_DOUBTFUL: Final[LiteralString] = """from questionnaire_instance i
  join questionnaire q on q.organization_id = i.organization_id and q.questionnaire_id = i.questionnaire_id
  where i.organization_id = $1 and i.flags is not null and i.deleted_time is null and not (i.test or $3::boolean)
    and coalesce(i.submitted_time, i.held_submitted_time) is not null
    and (cardinality($2::text[]) = 0 or q.owner_application_id = any($2))"""


async def list_doubtful(
    db: Database,
    *,
    organization_id: str,
    application_ids: Sequence[str],
    test_only: bool,
    state: State,
    flag: str | None,
    page: Page,
) -> Rows[DoubtfulResponse]:
    rows = await db.fetch_list(
        f"""select i.instance_id, i.questionnaire_id, q.display_name as questionnaire_name, i.link_id,
              (select l.title from public_link l
               where l.organization_id = i.organization_id and l.link_id = i.link_id) as link_title,
              coalesce(i.submitted_time, i.held_submitted_time) as submitted_time, i.flags,
              coalesce(i.judgement, 'marked') as state
            {_DOUBTFUL} and coalesce(i.judgement, 'marked') = $4
              and ($5::text is null or i.flags @> array[$5::text])""",
        *(organization_id, list(application_ids), test_only, state, flag),
        page=page,
    )
    return rows.map(lambda row: DoubtfulResponse(**dict(row)))


async def count_doubtful(
    db: Database,
    *,
    organization_id: str,
    application_ids: Sequence[str],
    test_only: bool,
    states: Sequence[State],
    limit: int,
) -> dict[State, int]:
    rows = await db.fetch(
        f"""select k.state, (select count(*) from (
              select {_DOUBTFUL} and coalesce(i.judgement, 'marked') = k.state limit $4) i) as count
            from unnest($5::text[]) k (state)""",
        *(organization_id, list(application_ids), test_only, limit, list(states)),
    )
    return {row["state"]: row["count"] for row in rows}


async def update_accepted(
    db: Database, *, organization_id: str, instance_id: str, now: datetime, updated_by: str | None
) -> Instance | None:
    """Give a response that is kept apart its times, and count its answers."""
    row = await db.fetch_row(
        f"""with answers as (
             update answer set provisional = false
             where organization_id = $1 and instance_id = $2 and provisional)
           update questionnaire_instance
           set judgement = 'accepted', viewed_time = coalesce(viewed_time, held_submitted_time),
             submitted_time = held_submitted_time, completed_time = held_completed_time, held_submitted_time = null,
             held_completed_time = null, version = version + 1, updated_time = greatest(updated_time, $3),
             updated_by = $4
           where organization_id = $1 and instance_id = $2 returning {INSTANCE_COLUMNS}""",
        *(organization_id, instance_id, now, updated_by),
    )
    return None if row is None else Instance.of(row)


async def update_rejected(
    db: Database, *, organization_id: str, instance_id: str, now: datetime, updated_by: str | None
) -> Instance | None:
    row = await db.fetch_row(
        f"""with answers as (
             update answer set provisional = true
             where organization_id = $1 and instance_id = $2 and not provisional)
           update questionnaire_instance
           set judgement = 'rejected', viewed_time = null,
             held_submitted_time = coalesce(held_submitted_time, submitted_time),
             held_completed_time = coalesce(held_completed_time, completed_time), submitted_time = null,
             completed_time = null, version = version + 1, updated_time = greatest(updated_time, $3), updated_by = $4
           where organization_id = $1 and instance_id = $2 returning {INSTANCE_COLUMNS}""",
        *(organization_id, instance_id, now, updated_by),
    )
    return None if row is None else Instance.of(row)
