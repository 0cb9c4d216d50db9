"""Long work in steps, each a transaction in which the row of the work is locked and keeps how far it is.

A process that dies repeats or loses nothing, and another goes on.
"""

from collections import Counter
from collections.abc import Awaitable
from dataclasses import dataclass, field

import structlog

from afterword import errors
from afterword.kit.db import Database, savepoint

logger: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class StepResult:
    """`mark`: the position of the walk, None: at its end; `waits`: to be repeated later; `back`: a part to repeat."""

    counts: Counter[str] = field(default_factory=Counter[str])
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
