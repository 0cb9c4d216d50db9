"""Restore detection in a worker: remembers the newest event, and pauses all sending on an older database.

The memory is also a file of the data folder, so that it outlasts the process. Workers on one machine share the file.
"""

import asyncio
import os
import tempfile
from pathlib import Path
from typing import Final

import msgspec
import structlog

from afterword.events import log
from afterword.kit import db
from afterword.run.worker.flights import repeat
from afterword.sending.queue import restores
from afterword.sending.queue.restores import SendingMark

FILE_NAME: Final = "sending-mark.json"
CHECK_SECONDS: Final = 5.0
_MARK: Final = msgspec.json.Decoder(SendingMark)

logger: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)


class Guard:
    """Keeps the sending mark, and checks whether sending is paused."""

    def __init__(self, *, pool: db.Pool, folder: Path | None) -> None:
        self._pool = pool
        self._file = None if folder is None else folder / FILE_NAME
        self._mark = read_mark(self._file)
        self._kept = self._mark
        self._has_checked = False
        self._reason: str | None = None

    @property
    def seq_min(self) -> int:
        """The last known event. The claim compares it with the log, so that no older database is claimed from."""
        return 0 if self._mark is None else self._mark.seq

    async def is_open(self) -> bool:
        """True while sending is not paused; the first call checks. Raises Unavailable without a database."""
        if not self._has_checked:
            await self._check()
        return self._reason is None

    async def run(self, stop: asyncio.Event) -> None:
        await repeat(self._check, name="the guard of sending", seconds=CHECK_SECONDS, stop=stop)

    async def _check(self) -> bool:
        await self._adopt()
        async with db.transaction(self._pool) as database:
            # Without a file no mark outlasts a restart, so late items prove nothing.
            view = await restores.check_log(
                database, mark=self._mark, is_first=not self._has_checked and self._file is not None
            )
        if view.reason is not None and self._reason is None:
            logger.error("sending is paused; look, then run: afterword doctor --confirm-sending", reason=view.reason)
        elif view.reason is None and self._reason is not None:
            logger.info("sending was confirmed")
        self._mark, self._reason, self._has_checked = view.mark, view.reason, True
        if self._file is not None and self._mark is not None and self._mark != self._kept:
            await asyncio.to_thread(_write, self._file, self._mark)
            self._kept = self._mark
        return False  # not again at once

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
