"""Low-water marks: each lane remembers its first live row, so that a claim skips index entries of dead rows.

While some transaction keeps its snapshot no dead row is removed, and each claim leaves more of them where the next one
begins. So a worker whose polls have become slow begins them shortly before its last claim. Once a second it begins at
the first row all the same, to find items that have come back (retries, edits, items that were handed back).
"""

import time
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

from afterword.core.scheduling.lanes import LaneKey

SLOW_SECONDS: Final = 0.02
WHOLE_SECONDS: Final = 1.0
MARGIN: Final = timedelta(seconds=2)  # transactions that committed later than others which came after them


class LowWaterMarks:
    """The due time of each lane before which nothing is left, as far as this worker has seen."""

    def __init__(self) -> None:
        self._empty_until: dict[LaneKey, datetime] = {}
        self._is_slow = False
        self._whole_at = float("-inf")
        self._is_whole = True

    def begin(self) -> Mapping[LaneKey, datetime]:
        """Begin a poll: the due times at which it may begin, none for lanes that are read from their first row."""
        now = time.monotonic()
        self._is_whole = not self._is_slow or now - self._whole_at >= WHOLE_SECONDS
        if self._is_whole:
            self._whole_at = now
            self._empty_until.clear()
            return {}
        return self._empty_until

    def looked(self, seconds: float) -> None:
        """Note the time of the poll; only a whole one shows whether dead rows make it slow."""
        if self._is_whole:
            self._is_slow = seconds > SLOW_SECONDS

    def reached(self, claimed: Mapping[LaneKey, datetime]) -> None:
        """Note the last due time that was claimed of each lane: claims go in the order of due times."""
        if self._is_slow:
            self._empty_until |= {lane: due_time - MARGIN for lane, due_time in claimed.items()}
