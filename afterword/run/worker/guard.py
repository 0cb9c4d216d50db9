"""Restore detection in a worker: remembers the newest event, and pauses all sending on an older database.

The memory is also a file of the data folder, so that it outlasts the process. Workers on one machine share the file.
On a new timeline, which a promotion begins, it compares what this process sent with what is recorded, and waits for the
other workers to do so.
"""

import asyncio
import contextlib
import os
import tempfile
import time
import uuid
from functools import partial
from pathlib import Path
from typing import Final

import msgspec
import structlog

from afterword import errors
from afterword.events import log
from afterword.kit import db
from afterword.run.worker.flights import Pace, repeat
from afterword.sending.queue import restores
from afterword.sending.queue.restores import LogEnd, SendingMark
from afterword.sending.queue.sending import losses
from afterword.sending.queue.sending.losses import Loss, Memory
from afterword.sending.queue.sending.service import Lease

FILE_NAME: Final = "sending-mark.json"
CHECK_SECONDS: Final = 5.0
OTHERS_SECONDS_MAX: Final = 15.0  # until workers that have not compared are taken for dead
SHOWN_MAX: Final = 20
_MARK: Final = msgspec.json.Decoder(SendingMark)

logger: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)


class Guard:
    """Keeps the sending mark, compares on a new timeline, and checks whether sending is paused."""

    def __init__(self, *, pool: db.Pool, folder: Path | None, pace: Pace = Pace()) -> None:  # noqa: B008  frozen
        self.run_id = uuid.uuid4()
        self.memory = Memory()
        self.timeline: int | None = None  # the one on which all has been compared
        self._pool = pool
        self._lease = Lease(owner=self.run_id, seconds=pace.lease_seconds, margin_seconds=pace.margin_seconds)
        self._file = None if folder is None else folder / FILE_NAME
        self._mark = read_mark(self._file)
        self._kept = self._mark
        self._has_checked = False
        self._is_in_doubt = True
        self._reason: str | None = None
        self._checking = asyncio.Lock()
        self._loss = Loss()  # told when all is compared
        self._compared: tuple[int, float] = (0, 0.0)  # the timeline, and when
        self._is_unsure = False  # whether more is lost than is remembered

    @property
    def seq_min(self) -> int:
        """The last known event. The claim compares it with the log, so that no older database is claimed from."""
        return 0 if self._mark is None else self._mark.seq

    async def is_open(self) -> bool:
        """True while sending is not paused; looks first if it must. Raises Unavailable without a database."""
        if self._is_in_doubt:
            await self._check()
        return self._reason is None and not self._is_in_doubt

    def doubt(self) -> None:
        """Look before the next claim: it may be another server that answers."""
        self._is_in_doubt = True

    async def run(self, stop: asyncio.Event) -> None:
        await repeat(self._check, name="the guard of sending", seconds=CHECK_SECONDS, stop=stop)
        with contextlib.suppress(errors.Unavailable):
            await db.change(self._pool, restores.delete_worker, run_id=self.run_id)

    async def _check(self) -> bool:
        async with self._checking:
            await self._adopt()
            timeline = await db.load(self._pool, restores.get_timeline)
            missing = await self._meet(timeline)
            if timeline != self.timeline and not await self._is_whole(timeline, missing):
                return False
            async with db.transaction(self._pool) as database:
                # Without a file no mark outlasts a restart, so late items prove nothing.
                is_first = not self._has_checked and self._file is not None
                view = await restores.check_log(database, mark=self._mark, is_first=is_first, timeline=timeline)
            if view.reason is not None and self._reason is None:
                logger.error(
                    "sending is paused; look, then run: afterword doctor --confirm-sending", reason=view.reason
                )
            elif view.reason is None and self._reason is not None:
                logger.info("sending was confirmed")
            if view.has_jumped:
                logger.error("no worker was seen for long, or the clock is wrong: nothing is removed by age for a day")
            self._mark, self._reason, self._has_checked = view.mark, view.reason, True
            self.timeline, self._is_in_doubt = timeline, False
            if self._file is not None and self._mark is not None and self._mark != self._kept:
                await asyncio.to_thread(_write, self._file, self._mark)
                self._kept = self._mark
            return False  # not again at once

    async def _meet(self, timeline: int) -> int:
        """Compare, if this timeline is new to us, and say so; the number of workers that have not."""
        loss, meeting = self._loss, partial(restores.update_worker, run_id=self.run_id, timeline=timeline)
        if self._compared[0] == timeline:
            return await db.change(self._pool, meeting, is_settled=self.timeline == timeline)
        await losses.compare(self._pool, memory=self.memory, lease=self._lease, loss=loss)
        async with db.transaction(self._pool) as database:
            end = await restores.get_log_end(database)
            events = max(self.seq_min - end.seq, 0) if self._is_of_another(end, timeline) else 0
            if events or loss.recorded or loss.gone:
                counts = loss.add_to(await restores.get_locked_loss(database), events=events)
                await restores.update_loss(database, text=losses.text_of(counts, end.time), counts=counts)
            missing = await meeting(database, is_settled=False)
        since = self.memory.since = self.memory.since or self._pool.clock.now()
        self._compared, self._is_unsure = (timeline, time.monotonic()), since > end.time or bool(loss.gone)
        if loss.gone:
            logger.error(
                "messages left for items that are gone", item_ids=[key[1] for key in sorted(loss.gone)[:SHOWN_MAX]]
            )
        self._loss = Loss()
        return missing

    async def _is_whole(self, timeline: int, missing: int) -> bool:
        """True once all workers have compared on this new timeline, or were waited for.

        Pauses sending where an item is gone of which a message left, and where more may be lost than is remembered.
        """
        if missing and time.monotonic() - self._compared[1] < OTHERS_SECONDS_MAX:
            return False
        async with db.transaction(self._pool) as database:
            end, lost = await restores.get_log_end(database), await restores.get_loss(database)
            if lost is not None and self._is_of_another(end, timeline):
                if missing or self._is_unsure:
                    await restores.update_to_paused(database, reason=lost)
                elif self.seq_min > end.seq:
                    self._mark = None
        if lost is not None:
            logger.warning("a change of servers lost something", loss=lost)
        return True

    def _is_of_another(self, end: LogEnd, timeline: int) -> bool:
        """Whether the mark is of the server before the one of this timeline, and still counts."""
        mark = self._mark
        return (
            mark is not None
            and (mark.installation_id, mark.confirmed_time) == (end.installation_id, end.confirmed_time)
            and mark.timeline not in {0, timeline}
        )

    async def _adopt(self) -> None:
        count = await db.change(self._pool, log.adopt)
        if count is not None:
            logger.warning("the event log was restored from another cluster; its order is this one's now", events=count)


def read_mark(file: Path | None) -> SendingMark | None:
    """The sending mark of this machine; None: missing or unreadable."""
    if file is None:
        return None
    try:
        return _MARK.decode(file.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, msgspec.DecodeError) as error:
        logger.warning("what was remembered of the database cannot be read", file=str(file), cause=str(error))
        return None


def _write(file: Path, mark: SendingMark) -> None:
    """Replace the file as a whole; a failure only loses the mark at a restart."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=file.parent, prefix=f".{FILE_NAME}-")
        with os.fdopen(descriptor, "wb") as made:
            made.write(msgspec.json.encode(mark))
        Path(name).replace(file)
    except OSError as error:
        logger.warning("what is remembered of the database was not kept", file=str(file), cause=str(error))
