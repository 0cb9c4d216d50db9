"""Cases as rows of lists: status, severity, due time and outcome in words."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from afterword.cases.statuses import title_of
from afterword.cases.work.store import WorkItem
from afterword.console.response_list import BANDS, excerpt
from afterword.console.screens import Visit
from afterword.kit.texts import Marked, Texts
from afterword.kit.ui.text import distance_text, due_text, near_moment

CASES: Final = "/console/cases"
SEVERITIES: Final[Mapping[str, Marked]] = {
    "low": "Low severity", "normal": "", "high": "High severity", "critical": "Critical",
}  # fmt: skip


def row_of(visit: Visit, item: WorkItem) -> dict[str, Any]:
    words = visit.words
    return {
        "url": f"{CASES}/{item.alert_instance_id}",
        "item": item,
        "status": title_of(words, item.status_id, item.status_title),
        "severity": words(SEVERITIES[item.severity]),
        "band_text": words(BANDS[item.band or ""]),
        "comment": excerpt(item.comment or "", ()) if visit.caller.reads_answers else (),
        "due": _due(visit, item) if item.resolved_time is None else "",
        "is_late": item.resolved_time is None and item.due_time is not None and item.due_time < visit.now,
        "opened": near_moment(words, item.created_time, now=visit.now, zone=visit.zone),
        "closed": words.moment(item.resolved_time, time_zone=visit.zone) if item.resolved_time else "",
        "outcome": outcome_text(words, item),
    }


def with_load(words: Texts, name: str, open_cases: int) -> str:
    return f"{name} · {words.plural('{n} open case', '{n} open cases', open_cases)}"


def outcome_text(words: Texts, item: WorkItem) -> str:
    """The answer of a customer who was asked again: "3 → 8, recovered"; empty while nothing was asked."""
    if item.recovery_time is None:
        return words("asked again") if item.recovery_item_id else ""
    if item.recovered is None:
        return words("answered again")
    verdict = words("recovered") if item.recovered else words("not recovered")
    if item.first_score is None or item.score_now is None:
        return verdict
    return words(
        "{before} → {after}, {verdict}",
        before=words.number(item.first_score),
        after=words.number(item.score_now),
        verdict=verdict,
    )


def _due(visit: Visit, item: WorkItem) -> str:
    """When the case is due, or since when its clock stands still and how much is left on it."""
    words = visit.words
    if item.waiting_since is None:
        return due_text(words, item.due_time, now=visit.now, zone=visit.zone)
    since = near_moment(words, item.waiting_since, now=visit.now, zone=visit.zone)
    if item.due_left_seconds is None:
        return words("waits for the customer since {moment}", moment=since)
    left = timedelta(seconds=item.due_left_seconds)
    distance = distance_text(words, left)
    if left < timedelta(0):
        return words(
            "waits for the customer since {moment}, then overdue by {distance}", moment=since, distance=distance
        )
    return words("waits for the customer since {moment}, {distance} left", moment=since, distance=distance)
