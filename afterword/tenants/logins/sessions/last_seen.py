"""Times when sessions were seen: collected in the memory of a web process, stored by its own task."""

from datetime import datetime
from typing import Final

from afterword.tenants.logins.sessions.store import Session

SESSIONS_MAX: Final = 10_000  # noted between two writings; what is beyond is noted the next time


class SessionUses:
    def __init__(self) -> None:
        self._seen: dict[str, datetime] = {}

    def note(self, session: Session, *, now: datetime) -> None:
        if session.session_id in self._seen or len(self._seen) < SESSIONS_MAX:
            self._seen[session.session_id] = now

    def take(self) -> dict[str, datetime]:
        seen, self._seen = self._seen, {}
        return seen
