"""SQL of public links."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal, LiteralString

from afterword.core.answers import instances
from afterword.core.answers.instances import State
from afterword.core.wire.lists import Page, Rows
from afterword.db import Database, Row
from afterword.db.columns import assigned, qualified

COUNTED_MAX: Final = 10_000  # responses of one link in a list


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """`metadata`: values of the questionnaire's metadata; `parameters`: names that the visitor's address may give."""

    organization_id: str
    link_id: str
    questionnaire_id: str
    key: str
    title: str
    metadata: Mapping[str, str]
    parameters: Sequence[str]
    takes_reference: bool
    one_response_per: Literal["browser", "address"] | None
    opens_time: datetime | None
    closes_time: datetime | None
    responses_max: int | None
    locale: str | None
    active: bool
    box: Mapping[str, Any] | None
    kiosk: Mapping[str, Any] | None
    kiosk_pin_hash: str | None
    version: int
    created_time: datetime
    updated_time: datetime
    created_by: str | None
    updated_by: str | None

    def state(self, now: datetime) -> State:
        return instances.state_of(active=self.active, opens_time=self.opens_time, closes_time=self.closes_time, now=now)


_CHANGEABLE: Final[LiteralString] = """title, metadata, parameters, takes_reference, one_response_per, opens_time,
  closes_time, responses_max, locale, active, box, kiosk, kiosk_pin_hash"""
_COLUMNS: Final[LiteralString] = f"""organization_id, link_id, questionnaire_id, key, {_CHANGEABLE}, version,
  created_time, updated_time, created_by, updated_by"""
_COLUMNS_L: Final = qualified(_COLUMNS, "l")
_REACHED: Final[LiteralString] = f"""select {_COLUMNS_L} from public_link l
  where l.organization_id = $1 and (cardinality($2::text[]) = 0 or exists (
    select from questionnaire q where q.organization_id = $1 and q.questionnaire_id = l.questionnaire_id
      and q.owner_application_id = any($2)))"""


async def get_link(
    db: Database, *, organization_id: str, link_id: str, application_ids: Sequence[str] = (), is_locked: bool = False
) -> Link | None:
    lock: LiteralString = "for update of l" if is_locked else ""
    return _found(
        await db.fetch_row(f"{_REACHED} and l.link_id = $3 {lock}", organization_id, list(application_ids), link_id)
    )


async def get_link_by_key(  # any tenant: the key opens the page
    db: Database, *, key: str
) -> Link | None:
    return _found(await db.fetch_row(f"select {_COLUMNS} from public_link where key = $1", key))


async def list_links(
    db: Database,
    *,
    organization_id: str,
    application_ids: Sequence[str] = (),
    questionnaire_id: str | None = None,
    page: Page,
) -> Rows[Link]:
    rows = await db.fetch_list(
        f"{_REACHED} and ($3::text is null or l.questionnaire_id = $3)",
        *(organization_id, list(application_ids), questionnaire_id),
        page=page,
    )
    return rows.map(_link)


async def count_links_locked(db: Database, *, organization_id: str) -> int:
    await db.execute("select pg_advisory_xact_lock(hashtextextended('public_link:' || $1, 0))", organization_id)
    return await db.fetch_value("select count(*) from public_link where organization_id = $1", organization_id)


async def count_answered(
    db: Database, *, organization_id: str, link_ids: Sequence[str], limit: int = COUNTED_MAX
) -> dict[str, int]:
    rows = await db.fetch(
        """select k.link_id, (
             select count(*) from (
               select from questionnaire_instance i where i.organization_id = $1 and i.link_id = k.link_id
                 and i.submitted_time is not null and i.deleted_time is null limit $3) i) as count
           from unnest($2::text[]) k (link_id)""",
        *(organization_id, list(link_ids), limit),
    )
    return {row["link_id"]: row["count"] for row in rows}


async def get_has_instances(db: Database, *, organization_id: str, link_id: str) -> bool:
    """Whether responses name the link, also ones that are held back."""
    return await db.fetch_value(
        """select exists (
             select from questionnaire_instance where organization_id = $1 and link_id = $2
               and submitted_time is not null and deleted_time is null)
           or exists (
             select from questionnaire_instance where organization_id = $1 and link_id = $2
               and coalesce(judgement, 'marked') in ('held', 'rejected') and flags is not null
               and deleted_time is null)""",
        *(organization_id, link_id),
    )


async def claim_responses(db: Database, *, organization_id: str, link_id: str) -> None:
    """Let one transaction at a time add a response, so that `responses_max` holds."""
    await db.execute("select pg_advisory_xact_lock(hashtextextended('link:' || $1 || $2, 0))", organization_id, link_id)


async def count_confirmations(db: Database, *, organization_id: str, address_key: bytes, since: datetime) -> int:
    return await db.fetch_value(
        """select count(*) from notice_mail where organization_id = $1 and created_time > $3 and address_key = $2""",
        *(organization_id, address_key, since),
    )


async def insert_link(
    db: Database,
    *,
    organization_id: str,
    link_id: str,
    questionnaire_id: str,
    key: str,
    columns: Mapping[str, Any],
    now: datetime,
    by: str | None,
) -> Link:
    row = await db.fetch_one(
        f"""insert into public_link (organization_id, link_id, questionnaire_id, key, {_CHANGEABLE}, created_time,
             updated_time, created_by, updated_by)
           select $1, $2, $3, $4, {qualified(_CHANGEABLE, "s")}, $6, $6, $7, $7
           from jsonb_populate_record(null::public_link, $5::jsonb) s
           returning {_COLUMNS}""",
        *(organization_id, link_id, questionnaire_id, key, dict(columns), now, by),
    )
    return _link(row)


async def update_link(
    db: Database, *, organization_id: str, link_id: str, changes: Mapping[str, Any], now: datetime, by: str | None
) -> Link | None:
    row = await db.fetch_row(
        f"""update public_link l
           set {assigned(_CHANGEABLE, "s")}, version = l.version + 1, updated_time = greatest(l.updated_time, $4),
             updated_by = $5
           from public_link o, jsonb_populate_record(o, $3::jsonb) s
           where l.organization_id = $1 and l.link_id = $2 and o.organization_id = $1 and o.link_id = $2
             and ({qualified(_CHANGEABLE, "l")}) is distinct from ({qualified(_CHANGEABLE, "s")})
           returning {_COLUMNS_L}""",
        *(organization_id, link_id, dict(changes), now, by),
    )
    return _found(row)


async def delete_link(db: Database, *, organization_id: str, link_id: str) -> None:
    await db.execute("delete from public_link where organization_id = $1 and link_id = $2", organization_id, link_id)


def _found(row: Row | None) -> Link | None:
    return _link(row) if row else None


def _link(row: Row) -> Link:
    return Link(**dict(row))
