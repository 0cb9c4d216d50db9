"""The event log as tests read it: whole, in the order of its rows."""

from operator import itemgetter

from afterword.events.service import Event, shown_of
from afterword.kit.db import Database


async def list_events(
    db: Database, *, organization_id: str, subject_id: str | None = None, type_name: str | None = None, limit: int = 500
) -> list[Event]:
    """Events of an organization, oldest first; of one subject or one type when given."""
    rows = await db.fetch(
        f"""select {shown_of("e")} from event e
           where organization_id = $1 and ($2::text is null or subject_id = $2) and ($3::text is null or type = $3)
           order by seq limit $4""",
        organization_id,
        subject_id,
        type_name,
        limit,
    )
    return [Event(*itemgetter(*Event.__struct_fields__)(row)) for row in rows]
