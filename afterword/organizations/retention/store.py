"""SQL of retention periods and legal holds. The periods are columns of the organization."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, LiteralString

from afterword.core.wire.lists import Page, Rows
from afterword.db import Database


@dataclass(frozen=True, slots=True, kw_only=True)
class Periods:
    """Days after which something is anonymized or deleted; None: see `DAYS`."""

    organization_id: str
    anonymize_after_days: int | None
    delete_after_days: int | None
    texts_days: int | None
    people_days: int | None
    items_days: int | None
    uploads_days: int | None
    answers_days: int | None
    events_days: int | None
    audit_days: int | None
    exports_days: int | None
    version: int
    updated_time: datetime
    updated_by: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LegalHold:
    """`responder_id`: the person whose data is kept; None: all of the organization."""

    organization_id: str
    hold_id: str
    responder_id: str | None
    reason: str
    created_time: datetime
    created_by: str | None
    version: int


_COLUMNS: Final[LiteralString] = """organization_id, anonymize_after_days, delete_after_days, texts_days, people_days,
  items_days, uploads_days, answers_days, events_days, audit_days, exports_days, version, updated_time, updated_by"""
_HOLD: Final[LiteralString] = "organization_id, hold_id, responder_id, reason, created_time, created_by, version"

# Days by kind, of a row `o` with these columns; null: nothing is removed by age, or by the installation's own limit.
DAYS: Final[LiteralString] = """(values
  ('texts', coalesce(o.texts_days, o.anonymize_after_days)),
  ('people', coalesce(o.people_days, o.anonymize_after_days)),
  ('items', coalesce(o.items_days, o.anonymize_after_days)),
  ('uploads', coalesce(o.uploads_days, o.anonymize_after_days)),
  ('answers', coalesce(o.answers_days, o.delete_after_days)), ('events', o.events_days), ('audit', o.audit_days),
  ('exports', o.exports_days)) k (kind, days)"""


async def get_periods(db: Database, *, organization_id: str, is_locked: bool = False) -> Periods | None:
    lock: LiteralString = "for no key update" if is_locked else ""
    row = await db.fetch_row(f"select {_COLUMNS} from organization where organization_id = $1 {lock}", organization_id)
    return Periods(**row) if row else None


async def list_days(db: Database, *, organization_id: str, changes: Mapping[str, object]) -> dict[str, int]:
    """The days by kind as they would be after these changes, without kinds that are kept."""
    rows = await db.fetch(
        f"""select k.kind, k.days from organization w cross join lateral jsonb_populate_record(w, $2) o
           cross join lateral {DAYS} where w.organization_id = $1 and k.days is not null""",
        *(organization_id, changes),
    )
    return {row["kind"]: row["days"] for row in rows}


async def update_periods(
    db: Database, *, organization_id: str, changes: Mapping[str, object], now: datetime, updated_by: str | None
) -> Periods:
    """Write these columns, and no others, of a locked row."""
    row = await db.fetch_one(
        f"""update organization o
           set (anonymize_after_days, delete_after_days, texts_days, people_days, items_days, uploads_days,
                answers_days, events_days, audit_days, exports_days)
               = (select s.anonymize_after_days, s.delete_after_days, s.texts_days, s.people_days, s.items_days,
                    s.uploads_days, s.answers_days, s.events_days, s.audit_days, s.exports_days
                  from jsonb_populate_record(o, $2) s),
             version = version + 1, updated_time = greatest($3, updated_time), updated_by = $4
           where organization_id = $1 returning {_COLUMNS}""",
        *(organization_id, changes, now, updated_by),
    )
    return Periods(**row)


async def insert_hold(db: Database, *, organization_id: str, hold: Mapping[str, object]) -> LegalHold:
    """Raises Dangling where the organization has no such responder."""
    row = await db.fetch_one(
        f"""insert into legal_hold (organization_id, hold_id, responder_id, reason, created_time, created_by)
           select $1, h.hold_id, h.responder_id, h.reason, h.created_time, h.created_by
           from jsonb_populate_record(null::legal_hold, $2) h returning {_HOLD}""",
        *(organization_id, hold),
    )
    return LegalHold(**row)


async def list_holds(db: Database, *, organization_id: str, page: Page) -> Rows[LegalHold]:
    rows = await db.fetch_list(f"select {_HOLD} from legal_hold where organization_id = $1", organization_id, page=page)
    return rows.map(lambda row: LegalHold(**row))


async def get_hold(db: Database, *, organization_id: str, hold_id: str) -> LegalHold | None:
    row = await db.fetch_row(
        f"select {_HOLD} from legal_hold where organization_id = $1 and hold_id = $2", *(organization_id, hold_id)
    )
    return LegalHold(**row) if row else None


async def count_holds_locked(db: Database, *, organization_id: str) -> int:
    """Those of the organization, whose row is locked: nobody makes another one meanwhile."""
    await db.execute("select 1 from organization where organization_id = $1 for no key update", organization_id)
    return await db.fetch_value("select count(*) from legal_hold where organization_id = $1", organization_id)


async def delete_hold(db: Database, *, organization_id: str, hold_id: str) -> int:
    return await db.execute(
        "delete from legal_hold where organization_id = $1 and hold_id = $2", *(organization_id, hold_id)
    )


async def list_held_people(
    db: Database, *, organization_id: str, people: Sequence[tuple[str | None, bytes | None]]
) -> set[int]:
    """The places of those people, each by an id or an address, of whom a hold keeps the data; not a hold on all."""
    rows = await db.fetch(
        """select n.place - 1 as place
           from unnest($2::text[], $3::bytea[]) with ordinality n (responder_id, address_key, place)
           where exists (select from legal_hold h where h.organization_id = $1 and (h.responder_id = n.responder_id
               or exists (select from responder_address a where a.organization_id = $1
                 and a.responder_id = h.responder_id and a.address_key = n.address_key)))""",
        *(organization_id, [one for one, _ in people], [key for _, key in people]),
    )
    return {row["place"] for row in rows}


async def get_is_held(
    db: Database, *, organization_id: str, responder_id: str | None, address_key: bytes | None = None
) -> bool:
    """True if a hold covers all, the person, or whoever has the address."""
    return await db.fetch_value(
        """select exists (select from legal_hold h
             where h.organization_id = $1 and (h.responder_id is null or h.responder_id = $2
               or exists (select from responder_address a where a.organization_id = $1
                 and a.responder_id = h.responder_id and a.address_key = $3)))""",
        *(organization_id, responder_id, address_key),
    )
