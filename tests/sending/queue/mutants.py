"""Guards of the engine, broken on purpose: each mutant is what a statement has, and what it has instead."""

import itertools
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any, Final

import msgspec
import pytest

from afterword.core.scheduling.statuses import Item
from afterword.kit import db
from afterword.sending.queue import service
from tests.run.worker.faults.mutants import flat

_FENCED: Final = "and q.item_id = b.item_id and q.epoch = b.epoch and "
_BARE: Final = "and q.item_id = b.item_id and "
_TOLD: Final = "from moved where type is not null) select"
_UNTOLD: Final = "from moved where type is not null and false) select"
LOST_EVERY: Final = 3

MUTANTS: Final[Mapping[str, tuple[str, str]]] = {
    "the reaper forgets unknown": ("outcome = 'unknown', reply = 'lease lost'", "outcome = 'retry', reply = ''"),
    "begin ignores the epoch": (
        f"{_FENCED}q.status::int = 2 and q.lease_until",
        f"{_BARE}q.status::int = 2 and q.lease_until",
    ),
    "settle ignores the epoch": (f"{_FENCED}q.status::int = 3", f"{_BARE}q.status::int = 3"),
    "the claim keeps the epoch": (
        "set status = 2, epoch = q.epoch + 1, attempts",
        "set status = 2, epoch = greatest(q.epoch, 1), attempts",
    ),
    "the claim counts no attempt": ("attempts = q.attempts + 1, owner", "attempts = q.attempts, owner"),
    "late acceptance tells a second end": ("k.status < 4 as is_terminal", "true as is_terminal"),
    "cancel while sending": ("any($2::text[]) and status in (1, 2)", "any($2::text[]) and status in (1, 2, 3)"),
    "late acceptance forgotten": ("where a.outcome = 'accepted_late' or", "where false and"),
    "a report of the open attempt forgotten": ("or (a.outcome is null and exists", "or (false and exists"),
    "renew is not fenced": (
        f"{_FENCED}q.status::int in (2, 3) and q.lease_until > now()",
        f"{_BARE}q.status::int in (2, 3)",
    ),
    # It is committed apart, and now and then the process dies between the two.
    "the event is outside the transaction": (_TOLD, _UNTOLD),
}
_NOW_AND_THEN: Final = {"the event is outside the transaction"}
_locked: Final[Any] = service._locked


async def _locked_too_late(*given: Any, **named: Any) -> Any:
    item = await _locked(*given, **named)
    return msgspec.structs.replace(item, status=Item.CLAIMED) if item.status == Item.SENDING else item


@contextmanager
def broken(name: str) -> Generator[None]:
    """The product with this guard broken, until the end of the block; fails if no statement had it."""
    guard, instead = MUTANTS[name]
    turns, found = itertools.count(1), 0

    def breaking(method: Any) -> Any:
        async def send(self: Any, query: Any, *values: object, **more: Any) -> Any:
            nonlocal found
            bare = flat(query)
            if guard not in bare:
                return await method(self, query, *values, **more)
            found += 1
            if name in _NOW_AND_THEN and next(turns) % LOST_EVERY:
                return await method(self, query, *values, **more)
            return await method(self, bare.replace(guard, instead), *values, **more)

        return send

    with pytest.MonkeyPatch.context() as patch:
        for method in ("fetch", "fetch_row", "fetch_value", "execute"):
            patch.setattr(db.Database, method, breaking(getattr(db.Database, method)))
        if name == "cancel while sending":  # the service looks as well, at a row that it has locked
            patch.setattr(service, "_locked", _locked_too_late)
        try:
            yield
        finally:
            assert found, f"no statement has this guard any more: {guard}"  # pyrefly: ignore[redundant-condition]
