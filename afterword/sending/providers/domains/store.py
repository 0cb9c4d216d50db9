"""The SQL of sender domains of an account."""

from dataclasses import dataclass

from afterword.kit.db import Database


@dataclass(frozen=True, slots=True)
class WayOut:
    """A domain that mails come from, and the account that they leave through; None: by the installation's server."""

    domain: str
    organization_id: str | None
    account_id: str | None


async def list_ways(db: Database, *, mail_from: str, limit: int) -> list[WayOut]:  # any tenant: the doctor looks at all
    """Of pipelines by mail that go on; one row for a domain that many send from through the same server."""
    rows = await db.fetch(
        """select distinct lower(split_part(coalesce(p.sender_address, $1), '@', 2)) as domain,
             case when a.settings is not null then a.organization_id end as organization_id,
             case when a.settings is not null then a.account_id end as account_id
           from pipeline p
           join channel_account a on a.organization_id = p.organization_id and a.account_id = p.account_id
           where p.channel_id = 1 and p.deleted_time is null and not p.paused
             and (p.end_time is null or p.end_time > now())
           order by domain, organization_id, account_id limit $2""",
        mail_from,
        limit,
    )
    return [WayOut(**row) for row in rows]


async def list_account_domains(db: Database, *, organization_id: str, account_id: str, limit: int) -> list[str]:
    """The domains that its pipelines send from, then the others that the organization may send from."""
    rows = await db.fetch(
        """select d.domain, min(d.place) as place from (
             select lower(split_part(p.sender_address, '@', 2)) as domain, 0 as place from pipeline p
             where p.organization_id = $1 and p.account_id = $2 and p.deleted_time is null
               and p.sender_address is not null
             union all
             select regexp_replace(s.domain, '^.*@', ''), 1 from organization_sender_domain s
             where s.organization_id = $1) d
           group by d.domain order by place, d.domain limit $3""",
        organization_id,
        account_id,
        limit,
    )
    return [row["domain"] for row in rows]
