"""Times of use of tokens: collected in the memory of a web process, stored by its own task, never by a request."""

from datetime import datetime
from typing import Final

from afterword.core.organizations.access import Caller

TOKENS_MAX: Final = 10_000  # noted between two writings; what is beyond is noted the next time


class Ticks:
    """The last use of each token since the last write."""

    def __init__(self) -> None:
        self._used: dict[tuple[str, str], datetime] = {}

    def note(self, caller: Caller, *, now: datetime) -> None:
        key = (caller.organization_id, caller.token_id)
        if key in self._used or len(self._used) < TOKENS_MAX:
            self._used[key] = now

    def take(self) -> dict[tuple[str, str], datetime]:
        used, self._used = self._used, {}
        return used
