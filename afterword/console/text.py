"""Words and numbers of screens: slugs, and figures with n, interval and change."""

import re
import unicodedata
from collections.abc import Mapping
from datetime import datetime
from typing import Final
from zoneinfo import available_timezones

from afterword.core.figures.reports import Figure
from afterword.texts import Texts

SLUG_CHARACTERS_MAX: Final = 40
DAYS_MIN: Final = 2  # below it a distance is told in hours
ZONES: Final = ("UTC", *sorted(zone for zone in available_timezones() if "/" in zone and not zone.startswith("Etc/")))
CHANGES: Final[Mapping[str, str]] = {
    "none": "No clear change from the {days} days before ({previous}).",
    "higher": "Higher than in the {days} days before ({previous}).",
    "lower": "Lower than in the {days} days before ({previous}).",
}
CHANGES_OF_MONTHS: Final[Mapping[str, str]] = {
    "none": "No clear change from the months before ({previous}).",
    "higher": "Higher than in the months before ({previous}).",
    "lower": "Lower than in the months before ({previous}).",
}
_OTHER: Final = re.compile(r"[^a-z0-9]+")


def slug_of(name: str) -> str:
    """The name in lower-case letters, digits and hyphens; empty where nothing of it is left."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return _OTHER.sub("-", plain).strip("-")[:SLUG_CHARACTERS_MAX].strip("-")


def figure_text(words: Texts, figure: Figure, *, unit: str = "") -> str:
    """The value with its interval and its number of answers, or the reason why there is none."""
    measure = figure.measure
    if figure.suppressed:
        return words("Hidden: so few answers that somebody could be recognized.")
    if measure.value is None:
        return words("No answers yet.")
    value = f"{words.number(round(measure.value, 1))}{unit}"
    answers = words.plural("{n} answer", "{n} answers", measure.n)
    if measure.interval is None:
        return f"{value}, {answers}"
    low, high = (words.number(round(each, 1)) for each in (measure.interval.low, measure.interval.high))
    return words("{value} ({low} to {high}), {answers}", value=value, low=low, high=high, answers=answers)


def change_word(words: Texts, figure: Figure, *, days: int | None) -> tuple[str, str]:
    """Whether the figure differs from that before by more than chance: a word and the sentence.

    `days`: None for whole months.
    """
    change = figure.change
    if figure.suppressed or figure.measure.value is None:
        return "", ""
    if change is None or change.p is None:
        return "few", words("Too few answers before to tell a change.")
    previous = words.number(round(change.previous, 1))
    kind = "none" if not change.real else "higher" if change.difference > 0 else "lower"
    if days is None:
        return kind, words(CHANGES_OF_MONTHS[kind], previous=previous)
    return kind, words(CHANGES[kind], days=days, previous=previous)


def due_text(words: Texts, due: datetime | None, *, now: datetime, zone: str) -> str:
    """The due time with the distance from now: hours within two days, else days."""
    if due is None:
        return ""
    seconds = (due - now).total_seconds()
    hours, days = int(abs(seconds) // 3_600), int(abs(seconds) // 86_400)
    distance = (
        words.plural("{n} day", "{n} days", days) if days >= DAYS_MIN else words.plural("{n} hour", "{n} hours", hours)
    )
    moment = words.moment(due, time_zone=zone)
    if seconds < 0:
        return words("overdue for {distance} ({moment})", distance=distance, moment=moment)
    return words("due in {distance} ({moment})", distance=distance, moment=moment)
