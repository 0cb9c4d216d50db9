"""SQL of taggings: a tag for many responses, and how far it has come."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, LiteralString

from afterword.kit.db import Database
from afterword.kit.db.columns import qualified

Action = Literal["add", "remove"]
State = Literal["running", "done", "undoing", "undone"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tagging:
    """`passed`: of the `found` responses so many were gone through; `undone`: of the `changed` ones."""

    organization_id: str
    tagging_id: str
    tag: str
    action: Action
    state: State
    found: int
    passed: int
    changed: int
    undone: int
    created_by: str
    actor_kind: str
    version: int
    created_time: datetime


_COLUMNS: Final[LiteralString] = """organization_id, tagging_id, tag, action, state, found, passed, changed, undone,
  created_by, actor_kind, version, created_time"""
_OPEN: Final[LiteralString] = "r.changed is null"
_TO_UNDO: Final[LiteralString] = "r.changed"


async def insert_tagging(
    db: Database,
    *,
    organization_id: str,
    tagging_id: str,
    tag: str,
    action: Action,
    instance_ids: Sequence[str],
    created_by: str,
    actor_kind: str,
    now: datetime,
) -> Tagging:
    row = await db.fetch_one(
        f"""with made as (
              insert into tagging (organization_id, tagging_id, tag, action, found, created_by, actor_kind,
                created_time, updated_time)
              values ($1, $2, $3, $4, cardinality($5::text[]), $6, $7, $8, $8) returning {_COLUMNS}),
            noted as (
              insert into tagging_response (organization_id, tagging_id, instance_id)
              select $1, $2, unnest($5))
            select {_COLUMNS} from made""",
        *(organization_id, tagging_id, tag, action, list(instance_ids), created_by, actor_kind, now),
    )
    return Tagging(**dict(row))


async def get_tagging(
    db: Database,
    *,
    organization_id: str,
    application_ids: Sequence[str],
    test_only: bool,
    tagging_id: str,
    created_by: str,
    is_locked: bool = False,
) -> Tagging | None:
    """None also where one of its responses is of another application (none: all), or no test with `test_only`."""
    lock: LiteralString = "for update" if is_locked else ""
    row = await db.fetch_row(
        f"""select {_COLUMNS} from tagging t
            where t.organization_id = $1 and t.tagging_id = $2 and t.created_by = $3
              and (cardinality($4::text[]) = 0 and not $5 or not exists (
                select from tagging_response r
                join questionnaire_instance i on i.organization_id = $1 and i.instance_id = r.instance_id
                join questionnaire q on q.organization_id = $1 and q.questionnaire_id = i.questionnaire_id
                where r.organization_id = $1 and r.tagging_id = $2 and ($5 and not i.test
                  or cardinality($4) > 0 and q.owner_application_id <> all($4)))) {lock}""",
        *(organization_id, tagging_id, created_by, list(application_ids), test_only),
    )
    return Tagging(**dict(row)) if row else None


async def claim_tagging(db: Database) -> Tagging | None:
    row = await db.fetch_row(
        f"""select {_COLUMNS} from tagging where state in ('running', 'undoing')
            order by updated_time limit 1 for update skip locked"""
    )
    return Tagging(**dict(row)) if row else None


async def list_next(db: Database, *, organization_id: str, tagging_id: str, is_back: bool, limit: int) -> list[str]:
    """The next responses to go through, or to change back."""
    waiting: LiteralString = _TO_UNDO if is_back else _OPEN
    rows = await db.fetch(
        f"""select r.instance_id from tagging_response r where r.organization_id = $1 and r.tagging_id = $2
              and {waiting} order by r.instance_id limit $3""",
        *(organization_id, tagging_id, limit),
    )
    return [row["instance_id"] for row in rows]


async def settle_part(
    db: Database,
    *,
    organization_id: str,
    tagging: Tagging,
    instance_ids: Sequence[str],
    changed_ids: Sequence[str],
    state: State,
    now: datetime,
) -> Tagging:
    """These responses are gone through, and so many of them were changed, or changed back."""
    is_back = tagging.state == "undoing"
    row = await db.fetch_one(
        f"""with gone as (
              update tagging_response set changed = (instance_id = any($4::text[]) and not $5)
              where organization_id = $1 and tagging_id = $2 and instance_id = any($3::text[]))
            update tagging t set state = $6, updated_time = $7, version = t.version + 1,
              passed = t.passed + case when $5 then 0 else cardinality($3) end,
              changed = t.changed + case when $5 then 0 else cardinality($4) end,
              undone = t.undone + case when $5 then cardinality($4) else 0 end
            where t.organization_id = $1 and t.tagging_id = $2 returning {qualified(_COLUMNS, "t")}""",
        *(organization_id, tagging.tagging_id, list(instance_ids), list(changed_ids), is_back, state, now),
    )
    return Tagging(**dict(row))


async def update_to_undoing(db: Database, *, organization_id: str, tagging_id: str, now: datetime) -> None:
    await db.execute(
        """update tagging set state = 'undoing', updated_time = $3, version = version + 1
           where organization_id = $1 and tagging_id = $2""",
        *(organization_id, tagging_id, now),
    )
