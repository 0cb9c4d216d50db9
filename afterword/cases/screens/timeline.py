"""The history of a case as sentences."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from afterword.cases.history import Entry
from afterword.kit.texts import Marked, Texts
from afterword.kit.ui.text import near_moment

SEVERITIES: Final[Mapping[str, Marked]] = {
    "low": "Low severity", "normal": "Normal severity", "high": "High severity", "critical": "Critical",
}  # fmt: skip

MAILS: Final = {"message_sent", "message_received"}
STATES: Final[Mapping[str, Marked]] = {
    "sent": "",
    "received": "",
    "failed": "It could not be sent: {error}",
    "unknown": "It may have arrived or not, so it was not sent again: {error}",
}
ON_ITS_WAY: Final[Marked] = "It is on its way."


class Timeline:
    """Turns entries into lines; `statuses` are names by id, `outcome` is that of asking again."""

    def __init__(self, words: Texts, *, now: datetime, zone: str, statuses: Mapping[int, str], outcome: str) -> None:
        self.words = words
        self._now = now
        self._zone = zone
        self._statuses = statuses
        self._outcome = outcome

    def lines(self, entries: Sequence[Entry]) -> list[dict[str, Any]]:
        return [
            {
                "kind": one.kind,
                "id": one.history_id,
                "who": one.user_name,
                "when": self.words.moment(one.created_time, time_zone=self._zone),
                "body": one.body,
                "mail": self._mail(one) if one.kind in MAILS else None,
                "sentences": [] if one.kind in MAILS else self._sentences(one),
            }
            for one in entries
        ]

    def _mail(self, entry: Entry) -> dict[str, Any]:
        address = entry.changes["address"]
        note = STATES.get(entry.changes["state"], ON_ITS_WAY)
        return {
            "head": self.words("To {address}", address=address)
            if entry.kind == "message_sent"
            else self.words("From {address}", address=address),
            "subject": entry.changes["subject"],
            "note": self.words(note, error=entry.changes["error"] or "") if note else "",
            "is_cut": entry.changes["is_cut"],
            "other_sender": entry.changes["other_sender"],
        }

    def _sentences(self, entry: Entry) -> list[str]:
        to = {name: change["to"] for name, change in entry.changes.items()}
        tellers = {
            "assigned_user_id": lambda given: (
                self.words("Owner: {name}", name=entry.owner_name or self.words("somebody"))
                if given
                else self.words("No owner any more.")
            ),
            "status_id": lambda given: self.words("Status: {title}", title=self._statuses.get(given, "?")),
            "severity": lambda given: self.words(SEVERITIES[given]),
            "call_back_time": self._call_back,
            "cause": lambda given: self.words("Cause: {text}", text=given) if given else "",
            "remedy": lambda given: self.words("Remedy: {text}", text=given) if given else "",
            "escalated_time": lambda _: self.words("The case has been open for too long."),
            "recovery_item_id": lambda _: self.words("The customer is asked again."),
            "recovery_time": lambda _: self.words("The customer answered again: {outcome}.", outcome=self._outcome),
            "resolved_time": self._end,
        }
        found = [teller(to[name]) for name, teller in tellers.items() if name in to]
        return [text for text in (*found[:-1], self._clock(to), *found[-1:]) if text]

    def _call_back(self, time: str | None) -> str:
        return self.words("Call back {moment}.", moment=self._moment(time)) if time else self.words("Called back.")

    def _end(self, time: str | None) -> str:
        return self.words("The case was closed.") if time else self.words("The case was opened again.")

    def _clock(self, to: Mapping[str, Any]) -> str:
        due = to.get("due_time")
        if to.get("waiting_since"):
            return self.words("Waits for the customer; the clock stands still.")
        if due is None:
            return self.words("Waits for the customer no longer.") if "waiting_since" in to else ""
        if "waiting_since" in to:
            return self.words("The clock goes on: due {moment}.", moment=self._moment(due))
        return self.words("Due {moment}.", moment=self._moment(due))

    def _moment(self, text: str) -> str:
        return near_moment(self.words, datetime.fromisoformat(text), now=self._now, zone=self._zone)
