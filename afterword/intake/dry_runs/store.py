"""The SQL of a dry run: who is behind an address."""

from collections.abc import Sequence
from dataclasses import dataclass

from afterword.db import Database


@dataclass(frozen=True, slots=True)
class Reached:
    """The responder of an address, as far as a message needs to know them. `metadata` is name -> text."""

    address_key: bytes
    responder_id: str
    locale: str | None
    metadata: dict[str, str]


async def list_reached(
    db: Database, *, organization_id: str, channel_id: int, address_keys: Sequence[bytes], with_metadata: bool
) -> dict[bytes, Reached]:
    """The responders of these addresses of one channel; unknown addresses lack."""
    rows = await db.fetch(
        """select d.address_key, r.responder_id, r.locale, case when $4 then r.metadata else '{}' end as metadata
           from unnest($3::bytea[]) as b (address_key)
           join responder_address d on d.organization_id = $1 and d.channel_id = $2 and d.address_key = b.address_key
           join responder r on r.organization_id = d.organization_id and r.responder_id = d.responder_id""",
        organization_id,
        channel_id,
        address_keys,
        with_metadata,
    )
    return {row["address_key"]: Reached(**row) for row in rows}
