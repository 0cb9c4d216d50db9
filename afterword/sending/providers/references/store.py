"""The SQL of provider references."""

from collections.abc import Sequence
from datetime import datetime

from afterword.kit.db import Database
from afterword.kit.db.columns import arrays


async def insert_references(  # any tenant: a worker's batch serves many
    db: Database, *, references: Sequence[tuple[str, str, str, str]], now: datetime
) -> None:
    """Insert (organization, account, reference, item) of each message; a known reference stays."""
    await db.execute(
        """insert into provider_reference (organization_id, account_id, provider_reference, item_id, created_time)
           select organization_id, account_id, provider_reference, item_id, $5
           from unnest($1::text[], $2::text[], $3::text[], $4::text[])
             with ordinality as n (organization_id, account_id, provider_reference, item_id, position)
           order by position
           on conflict do nothing""",
        *arrays(sorted(references), 4),
        now,
    )
