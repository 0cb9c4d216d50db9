"""SQL of custom domains, and of the organization that a public page belongs to."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, LiteralString

from afterword.kit.db import Database, Row
from afterword.kit.db.columns import columns_of

State = Literal["pending", "proven", "active", "lost"]


@dataclass(frozen=True, slots=True)
class CustomDomain:
    organization_id: str
    host: str
    proven_time: datetime | None
    reached_time: datetime | None
    lost_time: datetime | None
    checked_time: datetime | None
    problem: str | None
    version: int
    created_time: datetime
    updated_time: datetime
    created_by: str | None
    updated_by: str | None

    @property
    def state(self) -> State:
        if self.proven_time is None:
            return "pending"
        if self.lost_time is not None:
            return "lost"
        return "proven" if self.reached_time is None else "active"

    @property
    def is_held(self) -> bool:
        return self.state in {"proven", "active"}


_COLUMNS: Final = columns_of(CustomDomain)
# The host that the organization $1 had, if its record is gone.
LOST_HOST: Final[LiteralString] = """select host from custom_domain
  where organization_id = $1 and lost_time is not null"""
_HELD: Final[LiteralString] = "proven_time is not null and lost_time is null"


async def get_domain(db: Database, *, organization_id: str, is_locked: bool = False) -> CustomDomain | None:
    lock: LiteralString = "for no key update" if is_locked else ""
    query: LiteralString = f"select {_COLUMNS} from custom_domain where organization_id = $1 {lock}"
    return _found(await db.fetch_row(query, organization_id))


async def get_holder(db: Database, *, host: str) -> CustomDomain | None:  # any tenant: one of them holds the host
    return _found(await db.fetch_row(f"select {_COLUMNS} from custom_domain where host = $1 and {_HELD}", host))


async def list_held(  # any tenant: a process serves everyone
    db: Database, *, limit: int
) -> list[tuple[str, str, bool]]:
    """Organizations, their hosts, and whether these lead here."""
    rows = await db.fetch(
        f"""select organization_id, host, reached_time is not null as is_active from custom_domain where {_HELD}
           order by organization_id limit $1""",
        limit,
    )
    return [(row["organization_id"], row["host"], row["is_active"]) for row in rows]


async def update_domain(
    db: Database, *, organization_id: str, host: str, now: datetime, updated_by: str | None
) -> CustomDomain:
    """Claim a host in place of the one before; nothing about it is known yet."""
    row = await db.fetch_row(
        f"""insert into custom_domain (organization_id, host, created_time, updated_time, created_by, updated_by)
           values ($1, $2, $3, $3, $4, $4)
           on conflict (organization_id) do update set host = excluded.host, proven_time = null, reached_time = null,
             lost_time = null, checked_time = null, problem = null, version = custom_domain.version + 1,
             updated_time = excluded.updated_time, updated_by = excluded.updated_by
           returning {_COLUMNS}""",
        *(organization_id, host, now, updated_by),
    )
    return _only(row)


async def delete_domain(db: Database, *, organization_id: str) -> None:
    await db.execute("delete from custom_domain where organization_id = $1", organization_id)


async def update_proven(db: Database, *, organization_id: str, host: str, now: datetime) -> None:
    """Its record was found. A host that was lost must be reached again. Raises Taken while another one holds it."""
    await db.execute(
        """update custom_domain set proven_time = coalesce(proven_time, $3), lost_time = null,
             reached_time = case when lost_time is null then reached_time end, version = version + 1, updated_time = $3
           where organization_id = $1 and host = $2 and (proven_time is null or lost_time is not null)""",
        *(organization_id, host, now),
    )


async def update_lost(db: Database, *, organization_id: str, host: str, now: datetime) -> None:
    await db.execute(
        f"""update custom_domain set lost_time = $3, version = version + 1, updated_time = $3
           where organization_id = $1 and host = $2 and {_HELD}""",
        *(organization_id, host, now),
    )


async def update_reached(db: Database, *, organization_id: str, host: str, now: datetime) -> bool:
    """Whether the organization holds the host; noted once."""
    row = await db.fetch_row(
        f"""update custom_domain set reached_time = coalesce(reached_time, $3), problem = null,
             version = version + (reached_time is null)::int
           where organization_id = $1 and host = $2 and {_HELD} returning host""",
        *(organization_id, host, now),
    )
    return row is not None


async def update_checked(db: Database, *, organization_id: str, host: str, problem: str | None, now: datetime) -> None:
    await db.execute(
        "update custom_domain set checked_time = $3, problem = $4 where organization_id = $1 and host = $2",
        *(organization_id, host, now, problem),
    )


async def claim_due(  # any tenant: the worker serves everyone
    db: Database, *, now: datetime, checked_before: datetime, limit: int
) -> list[CustomDomain]:
    """Domains that were proven once and not asked about lately, marked so that no other worker asks."""
    rows = await db.fetch(
        f"""with due as (
             select organization_id from custom_domain where proven_time is not null and checked_time < $2
             order by checked_time limit $3 for update skip locked)
           update custom_domain set checked_time = $1 where organization_id in (select organization_id from due)
           returning {_COLUMNS}""",
        *(now, checked_before, limit),
    )
    return [CustomDomain(**dict(row)) for row in rows]


async def list_owners(db: Database, *, kind: str, key: str) -> set[str]:  # any tenant: the key opens the page
    """The organizations of the page `/{kind}/{key}`; of a short code there may be two."""
    rows = await db.fetch(
        """select organization_id from questionnaire_instance where $1 = 'a' and instance_id = $2
           union all select organization_id from asset where $1 = 'asset' and asset_id = $2
           union all select organization_id from public_link where $1 = 'l' and key = $2
           union all select organization_id from questionnaire where $1 = 'p' and questionnaire_id = $2
           union all select organization_id from questionnaire_instance
             where $1 = 's' and short_code = $2 and deleted_time is null
           union all select organization_id from responder_address where $1 = 'u' and unsubscribe_id = $2""",
        *(kind, key),
    )
    return {row["organization_id"] for row in rows}


def _found(row: Row | None) -> CustomDomain | None:
    return CustomDomain(**dict(row)) if row else None


def _only(row: Row | None) -> CustomDomain:
    assert row is not None  # noqa: S101
    return CustomDomain(**dict(row))
