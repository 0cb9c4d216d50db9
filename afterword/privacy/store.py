"""The SQL of the ledger of erasures: what was asked for, where the work stands, what is proven."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, LiteralString

from afterword.kit.db import Database, Row
from afterword.kit.db.columns import qualified


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasure:
    """An erasure, and where the work on it stands. `salt` is there as long as it runs."""

    organization_id: str
    erasure_id: str
    responder_id: str
    mode: str
    suppress: bool
    reason: str | None
    state: str
    counts: dict[str, int]
    requested_time: datetime
    finished_time: datetime | None
    requested_by: str | None
    checksum: str | None
    step: str
    mark: str
    salt: bytes | None
    version: int

    @property
    def key(self) -> dict[str, str]:
        return {"organization_id": self.organization_id, "erasure_id": self.erasure_id}


_COLUMNS: Final[LiteralString] = """organization_id, erasure_id, responder_id, mode, suppress, reason, state, counts,
  requested_time, finished_time, requested_by, checksum, step, mark, salt, version"""
_NEW: Final[LiteralString] = "erasure_id, responder_id, mode, suppress, reason, requested_time, requested_by, salt"
_COLUMNS_E: Final = qualified(_COLUMNS, "e")


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerLine:
    """A line of the ledger as it is kept outside of the database: ids and hashes alone."""

    erasure: Erasure
    subjects: dict[str, list[str]]
    suppressed: list[tuple[int, str]]  # channel_id, the key in hexadecimal


async def get_erasure(db: Database, *, organization_id: str, erasure_id: str) -> Erasure | None:
    row = await db.fetch_row(
        f"select {_COLUMNS} from erasure where organization_id = $1 and erasure_id = $2", organization_id, erasure_id
    )
    return _erasure(row) if row else None


async def count_running(db: Database) -> int:  # any tenant: a command of the operator waits for all of them
    return await db.fetch_value("select count(*) from erasure where state = 'running'")


async def insert_erasure(db: Database, *, organization_id: str, erasure: Mapping[str, Any]) -> Erasure | None:
    """Add it to the ledger, unless it is there; raises Taken while another one of this person runs."""
    row = await db.fetch_row(
        f"""insert into erasure (organization_id, {_NEW})
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
           on conflict (organization_id, erasure_id) do nothing returning {_COLUMNS}""",
        organization_id,
        *(erasure[name] for name in _NEW.split(", ")),
    )
    return _erasure(row) if row else None


async def insert_subjects(
    db: Database, *, organization_id: str, erasure_id: str, kind: str, subject_ids: Sequence[str]
) -> None:
    await db.execute(
        """insert into erasure_subject (organization_id, erasure_id, kind, subject_id)
           select $1, $2, $3, unnest($4::text[]) on conflict do nothing""",
        *(organization_id, erasure_id, kind, subject_ids),
    )


async def claim_erasure(db: Database, *, now: datetime) -> Erasure | None:
    row = await db.fetch_row(
        f"""select {_COLUMNS} from erasure where state = 'running' and due_time <= $1
           order by due_time limit 1 for update skip locked""",
        now,
    )
    return _erasure(row) if row else None


async def settle_step(
    db: Database,
    *,
    organization_id: str,
    erasure_id: str,
    step: str,
    mark: str,
    counts: Mapping[str, int],
    due_time: datetime,
) -> None:
    await db.execute(
        """update erasure set step = $3, mark = $4, counts = $5, due_time = $6, version = version + 1
           where organization_id = $1 and erasure_id = $2 and state = 'running'""",
        *(organization_id, erasure_id, step, mark, dict(counts), due_time),
    )


async def settle_erasure(
    db: Database, *, organization_id: str, erasure_id: str, counts: Mapping[str, int], checksum: str, now: datetime
) -> None:
    """It is done; the key of its hashes is thrown away."""
    await db.execute(
        """update erasure set state = 'done', step = 'done', mark = '', counts = $3, checksum = $4, finished_time = $5,
             salt = null, version = version + 1
           where organization_id = $1 and erasure_id = $2 and state = 'running'""",
        *(organization_id, erasure_id, dict(counts), checksum, now),
    )


async def list_ledger_lines(  # any tenant: the ledger is the installation's
    db: Database, *, after: tuple[str, str], limit: int
) -> list[LedgerLine]:
    """The next lines of the ledger behind (organization_id, erasure_id)."""
    rows = await db.fetch(
        f"""select {_COLUMNS_E},
             (select coalesce(jsonb_object_agg(s.kind, s.subject_ids), '{{}}') from (
                select kind, jsonb_agg(subject_id order by subject_id) as subject_ids from erasure_subject
                where organization_id = e.organization_id and erasure_id = e.erasure_id group by kind) s) as subjects,
             (select coalesce(jsonb_agg(jsonb_build_array(p.channel_id, encode(p.address_key, 'hex'))), '[]')
              from erasure_subject s
                join suppression p on p.organization_id = s.organization_id and p.suppression_id = s.subject_id
              where s.organization_id = e.organization_id and s.erasure_id = e.erasure_id and s.kind = 'suppression'
                and p.reason = 'erased') as suppressed
           from erasure e where (e.organization_id, e.erasure_id) > ($1, $2)
           order by e.organization_id, e.erasure_id limit $3""",
        *after,
        limit,
    )
    return [
        LedgerLine(
            erasure=_erasure(row),
            subjects=row["subjects"],
            suppressed=[(channel_id, key) for channel_id, key in row["suppressed"]],
        )
        for row in rows
    ]


async def get_has_organization(db: Database, *, organization_id: str) -> bool:
    """Whether the organization is there: a restored backup may be older than it."""
    return await db.fetch_value("select exists (select from organization where organization_id = $1)", organization_id)


def _erasure(row: Row) -> Erasure:
    return Erasure(**{name: row[name] for name in Erasure.__dataclass_fields__})
