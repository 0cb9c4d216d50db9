"""The messages of the next seven days by the hour in which they become due."""

from collections import Counter
from zoneinfo import ZoneInfo

from afterword.console.screens import Visit
from afterword.kit.db import Database
from afterword.kit.texts import Texts
from afterword.kit.ui.charts import Text, View, week_view
from afterword.sending.queue import lists
from afterword.sending.queue.lists import RequestedItems


async def plan_of(visit: Visit, db: Database, *, wanted: RequestedItems) -> View | None:
    """None where nothing waits for a time of these days."""
    words, zone = visit.words, ZoneInfo(visit.zone)
    found = await lists.count_hours(db, caller=visit.caller, wanted=wanted, time_zone=visit.zone, now=visit.now)
    if not found:
        return None
    hours, days = Counter[tuple[int, int]](), Counter[str]()
    for one in found:
        local = one.hour.astimezone(zone)
        hours[local.weekday(), local.hour] += one.count
        days[local.date().isoformat()] += one.count
    finding = words.plural(
        "{n} message becomes due in the next seven days. The rules then decide about it.",
        "{n} messages become due in the next seven days. The rules then decide about each.",
        hours.total(),
    )
    more = words("There are more: of each pipeline 10,000 are counted.") if any(one.is_capped for one in found) else ""
    return week_view(
        words,
        hours,
        finding=f"{finding} {more}".strip(),
        head=(words("Day"), words("Messages")),
        rows=[[Text(words.day(day)), Text(words.count(count))] for day, count in sorted(days.items())],
    )


def kept_sentence(words: Texts, days: int) -> str:
    """The time that messages and their details are kept; 0 days: for good."""
    if not days:
        return words("Messages and their details are kept for good.")
    return words.plural(
        "A message and its details are kept for {n} day after its end.",
        "A message and its details are kept for {n} days after its end.",
        days,
    )
