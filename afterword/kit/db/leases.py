"""Leases of long work: one worker at a time has a job, from its claim to its end, over many transactions.

A job is a row of a table with the columns `state`, `owner`, `lease_until`, `finished_time`, `error`, `version`, a count
of attempts, and a key of `organization_id` and an id. It is `queued`, then `running` in the hands of its owner, then
ended: `done`, `failed` or `cancelled`. Whoever lost the lease settles nothing: each statement of an owner names it.
"""

from collections import Counter
from collections.abc import Awaitable, Sequence
from datetime import datetime, timedelta
from typing import Final, Generic, LiteralString, Protocol, TypeVar
from uuid import UUID

import msgspec
import structlog

from afterword import errors
from afterword.errors import Sentence
from afterword.kit.db import Database, savepoint
from afterword.kit.db.columns import qualified

logger: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)


class StepResult(msgspec.Struct, frozen=True, kw_only=True):
    """`mark`: the position of the walk, None: at its end; `waits`: to be repeated later; `back`: a part to repeat."""

    counts: Counter[str] = msgspec.field(default_factory=Counter[str])
    mark: str | None = None
    waits: bool = False
    back: str | None = None


async def take(db: Database, work: Awaitable[StepResult], **logged: str) -> StepResult:
    """A step that fails is undone and logged, and waits: what is wrong with one organization's rows stops no other."""
    try:
        async with savepoint(db):
            return await work
    except errors.Unavailable:
        raise
    except Exception:
        logger.exception("a step failed", **logged)
        return StepResult(waits=True)


LEASE_SECONDS: Final = 60
ATTEMPTS_MAX: Final = 5  # in a row that led no further
OPEN_MAX: Final = 20  # jobs of an organization in one table, waiting or running
WAIT_SECONDS: Final = 60


class LeaseLost(Exception):
    """The job was cancelled or removed, or another worker has it: nothing of this transaction may stay."""


class LeasedJob(Protocol):
    """The record of a job. `attempts` are those in a row that led no further."""

    @property
    def organization_id(self) -> str: ...

    @property
    def attempts(self) -> int: ...

    @property
    def finished_time(self) -> datetime | None: ...


Job = TypeVar("Job", bound=LeasedJob)


class Leases(msgspec.Struct, Generic[Job], frozen=True, kw_only=True):
    """The jobs of one table.

    `turn` is the column by which the next one is found, the smallest first. `resumable`: a condition on `j`, a job that
    ended and can go on. `on_claim`, `on_release` and `on_end` are assignments that belong to these moves, each behind a
    comma; `$2` of a claim is the time, `$7` and more of an end are its `values`.
    """

    record: type[Job]
    table: LiteralString
    id: LiteralString
    columns: LiteralString
    turn: LiteralString = "turn_time"
    attempts: LiteralString = "attempts"
    resumable: LiteralString = "false"
    on_claim: LiteralString = ""
    on_release: LiteralString = ""
    on_end: LiteralString = ""

    @property
    def is_held(self) -> LiteralString:
        """The condition that `$1`, `$2` is a job that worker `$3` has."""
        return f"organization_id = $1 and {self.id} = $2 and owner = $3 and state = 'running'"

    async def require_capacity(self, db: Database, *, organization_id: str, noun: str) -> None:
        """Raise TooMany where OPEN_MAX jobs of the organization have not ended."""
        query = f"select count(*) from {self.table} where organization_id = $1 and state in ('queued', 'running')"
        if await db.fetch_value(query, organization_id) >= OPEN_MAX:
            text = "{n} {noun} are waiting or running; ask again when one of them has ended."
            message = Sentence(text, n=OPEN_MAX, noun=Sentence(noun))
            raise errors.TooMany(message, headers={"Retry-After": str(WAIT_SECONDS)})

    async def claim(self, db: Database, *, owner: UUID, now: datetime | None = None) -> Job | None:
        # any tenant: a worker serves all of them
        """Take the job whose turn it is and that nobody has, at most one of an organization at a time.

        The attempt counts from here on, so that one whose workers die is not tried for ever.
        """
        now = now or db.clock.now()
        row = await db.fetch_row(
            f"""update {self.table} j set state = 'running', owner = $1, lease_until = $3,
                 {self.attempts} = {self.attempts} + 1, version = version + 1{self.on_claim}
               from (
                 select organization_id, {self.id} from {self.table} o
                 where o.state in ('queued', 'running') and (o.lease_until is null or o.lease_until < $2)
                   and not exists (
                     select from {self.table} other
                     where other.organization_id = o.organization_id and other.{self.id} <> o.{self.id}
                       and other.state = 'running' and other.lease_until >= $2)
                 order by {self.turn} limit 1 for update skip locked
               ) next
               where j.organization_id = next.organization_id and j.{self.id} = next.{self.id}
               returning {qualified(self.columns, "j")}""",
            *(owner, now, _until(now)),
        )
        return None if row is None else self.record(**row)

    async def renew(self, db: Database, *, job: Job, owner: UUID, now: datetime) -> None:
        """Prolong the lease, which no client notices, if it is still this worker's."""
        await db.execute(
            f"update {self.table} set lease_until = greatest(lease_until, $4) where {self.is_held}",
            *(job.organization_id, getattr(job, self.id), owner, _until(now)),
        )

    async def release(self, db: Database, *, job: Job, owner: UUID, is_tried: bool) -> None:
        """Let another worker go on. `is_tried`: something went wrong, which counts; a worker that stops does not."""
        await db.execute(
            f"""update {self.table} set owner = null, lease_until = null,
                 {self.attempts} = greatest({self.attempts} - $4, 0){self.on_release}
               where {self.is_held}""",
            *(job.organization_id, getattr(job, self.id), owner, int(not is_tried)),
        )

    async def end(
        self,
        db: Database,
        *,
        job: Job,
        owner: UUID | None,
        state: str,
        now: datetime,
        error: str | None = None,
        values: Sequence[object] = (),
    ) -> Job | None:
        """End the job; None: it is not this worker's any more, or it has ended. No `owner`: whoever has it loses it."""
        row = await db.fetch_row(
            f"""update {self.table} set state = $4, error = $5, finished_time = $6, owner = null, lease_until = null,
                 version = version + 1{self.on_end}
               where organization_id = $1 and {self.id} = $2 and state in ('queued', 'running')
                 and ($3::uuid is null or owner = $3)
               returning {self.columns}""",
            job.organization_id,
            getattr(job, self.id),
            owner,
            state,
            error,
            now,
            *values,
        )
        return None if row is None else self.record(**row)

    async def resume(self, db: Database, *, job: Job, now: datetime, refusal: str) -> Job:
        """Let one that ended go on; one that has not ended does anyway. Raises Conflict with `refusal` if it cannot."""
        if job.finished_time is None:
            return job
        row = await db.fetch_row(
            f"""update {self.table} j set state = 'queued', error = null, finished_time = null, {self.attempts} = 0,
                 {self.turn} = $3, version = version + 1
               where organization_id = $1 and {self.id} = $2 and {self.resumable}
               returning {self.columns}""",
            *(job.organization_id, getattr(job, self.id), now),
        )
        if row is None:
            raise errors.Conflict(refusal, "not_ready")
        return self.record(**row)

    async def delete(self, db: Database, *, job: Job) -> None:
        await db.execute(
            f"delete from {self.table} where organization_id = $1 and {self.id} = $2",
            *(job.organization_id, getattr(job, self.id)),
        )


def _until(now: datetime) -> datetime:
    return now + timedelta(seconds=LEASE_SECONDS)
