"""`afterword erasure export` and `replay`: the ledger of erasures, for use after a restore.

A backup from before an erasure still has the person. The ledger, kept apart from the backups, has ids and hashes alone;
replayed before the service starts, it erases those people again.
"""

import asyncio
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Final
from uuid import uuid4

import cyclopts
import msgspec

from afterword import db, errors
from afterword.cli.context import open_pool, read_text
from afterword.core.scheduling.retries import JITTER_MAX
from afterword.privacy import service, store
from afterword.privacy.store import LedgerLine
from afterword.queue.sending import service as sending
from afterword.queue.sending.outcomes import Waits
from afterword.worker.imports import Importer

LEDGER_BYTES_MAX: Final = 1_000_000_000
LINES_A_READ: Final = 200
REAP_ITEMS_MAX: Final = 100
WAIT_SECONDS: Final = 0.5
WORK_SECONDS_MAX: Final = 3_600.0

app = cyclopts.App(name="erasure")


@app.command
async def export() -> None:
    """Print the ledger, a line of JSON for each erasure: ids and hashes, which name nobody.

    Keep it apart from the backups, for as long as the oldest of them.
    """
    after = "", ""
    async with open_pool() as (_, pool):
        while True:
            async with db.connection(pool) as database:
                kept = await store.list_ledger_lines(database, after=after, limit=LINES_A_READ)
            for one in kept:
                print(_line(one))
                after = one.erasure.organization_id, one.erasure.erasure_id
            if len(kept) < LINES_A_READ:
                return


@app.command(name="replay")
async def replay(file: Path, /) -> None:
    """Erase the people again who were erased since a restored backup; before `afterword serve`. Can be repeated.

    Args:
        file: The last output of `afterword erasure export`.
    """
    ledger = list(_read(file))
    done = 0
    async with open_pool() as (context, pool):
        # No worker uses this database yet. What ran when the backup was taken ends first, since of a person one
        # erasure runs at a time.
        await _work(pool, secret=context.site.secret)
        for kept in ledger:
            async with db.transaction(pool) as database:
                is_begun = await service.replay(database, kept=kept, now=database.clock.now())
            if is_begun:
                await _work(pool, secret=context.site.secret)
                done += 1
    left = len(ledger) - done
    print(f"{done:,} erased again, {left:,} were erased already or belong to no organization here.")


async def _work(pool: db.Pool, *, secret: bytes) -> None:
    """Bring all erasures to their end. Raises Unavailable after an hour without one."""
    deadline = time.monotonic() + WORK_SECONDS_MAX
    while True:
        async with db.transaction(pool) as database:
            if await service.work_next(database, now=database.clock.now()):
                continue
            if not await store.count_running(database):
                return
            await sending.reap(database, limit=REAP_ITEMS_MAX, waits=Waits(JITTER_MAX, 1.0))
        if time.monotonic() > deadline:
            raise errors.Unavailable("An erasure waits for something that does not come to its end.")
        if not await Importer(pool, uuid4(), secret=secret).work_next(asyncio.Event()):
            await asyncio.sleep(WAIT_SECONDS)


def _line(kept: LedgerLine) -> str:
    """The members that a replay and a proof need; the reason and the progress stay in the database."""
    erasure = kept.erasure
    names = (
        "organization_id", "erasure_id", "responder_id", "mode", "suppress", "state", "counts", "requested_time",
        "finished_time", "requested_by", "checksum",
    )  # fmt: skip
    document = {name: getattr(erasure, name) for name in names}
    return msgspec.json.encode({**document, "subjects": kept.subjects, "suppressed": kept.suppressed}).decode()


def _read(file: Path) -> Iterable[LedgerLine]:
    for number, line in enumerate(read_text(file, bytes_max=LEDGER_BYTES_MAX).splitlines(), 1):
        if not line.strip():
            continue
        try:
            document = msgspec.json.decode(line)
            kept = msgspec.convert(
                {
                    "erasure": {**document, "reason": None, "step": "", "mark": "", "salt": None, "version": 1},
                    "subjects": document["subjects"],
                    "suppressed": document["suppressed"],
                },
                LedgerLine,
            )
        except (msgspec.DecodeError, KeyError, TypeError) as error:
            raise errors.Invalid(f"{file} is no ledger of erasures, in line {number}.") from error
        yield kept
