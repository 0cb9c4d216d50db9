"""SQL of the wishes of responders to be called, which their cases hold."""

from dataclasses import dataclass
from datetime import datetime

from afterword.kit.db import Database


@dataclass(frozen=True, slots=True)
class RequestedCall:
    """A call that a responder asked for. `is_taken`: somebody works on it, and it cannot be changed any more."""

    number: str | None
    from_time: datetime | None
    until_time: datetime | None
    note: str | None
    is_taken: bool
    resolved_time: datetime | None

    @property
    def is_open(self) -> bool:
        return self.resolved_time is None and self.number is not None and self.from_time is not None


async def get_call(db: Database, *, organization_id: str, instance_id: str) -> RequestedCall | None:
    row = await db.fetch_row(
        """select call_back_number as number, call_back_time as from_time, call_back_until_time as until_time,
             call_back_note as note, updated_by is not null as is_taken, resolved_time
           from alert_instance
           where organization_id = $1 and instance_id = $2 and call_back_requested_time is not null
           order by created_time desc limit 1""",
        *(organization_id, instance_id),
    )
    return RequestedCall(**dict(row)) if row else None
