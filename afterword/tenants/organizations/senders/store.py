"""SQL of sender domains: each row is a domain, or one address of it, in lower case."""

from afterword.kit.db import Database


async def insert_sender(db: Database, *, organization_id: str, domain: str) -> None:
    await db.execute(
        """insert into organization_sender_domain (organization_id, domain) values ($1, $2)
           on conflict (organization_id, domain) do nothing""",
        *(organization_id, domain),
    )


async def count_other_organizations(db: Database, *, organization_id: str, limit: int) -> int:
    return await db.fetch_value(
        "select count(*) from (select from organization where organization_id <> $1 limit $2) o", organization_id, limit
    )


async def list_senders(db: Database, *, organization_id: str) -> list[str]:
    rows = await db.fetch(
        "select domain from organization_sender_domain where organization_id = $1 order by domain", organization_id
    )
    return [row["domain"] for row in rows]


async def delete_sender(db: Database, *, organization_id: str, domain: str) -> None:
    await db.execute(
        "delete from organization_sender_domain where organization_id = $1 and domain = $2", organization_id, domain
    )
