"""The SQL of sender domains of an account."""

from afterword.db import Database


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
