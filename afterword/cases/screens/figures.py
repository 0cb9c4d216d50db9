"""The figures of the work on cases, each of which leads to its cases; the short ones above the list of cases."""

from collections.abc import Mapping
from datetime import date, datetime, timedelta
from typing import Any, Final, cast, get_args

import msgspec
from starlette.responses import Response

from afterword.cases import figures
from afterword.cases.alert_instances import store
from afterword.cases.alert_instances.store import SELECTIONS, Selection, WorkItem
from afterword.cases.figures import BUCKETS, Figures, Group, Row
from afterword.cases.statuses import SYSTEM_TITLES, title_of
from afterword.console.response_list import BANDS, excerpt
from afterword.console.screens import Screens, Visit
from afterword.core.figures import periods
from afterword.core.figures.metrics import Measure
from afterword.core.figures.periods import Bucket
from afterword.core.wire import times
from afterword.kit.db import Database
from afterword.kit.texts import Marked, Texts
from afterword.kit.ui.lists import ROWS, Column, Listing, address, key_of, read_key
from afterword.kit.ui.text import distance_text, due_text, near_moment

CASES: Final = "/console/cases"
SEVERITIES: Final[Mapping[str, Marked]] = {
    "low": "Low severity", "normal": "Normal severity", "high": "High severity", "critical": "Critical",
}  # fmt: skip


def row_of(visit: Visit, item: WorkItem) -> dict[str, Any]:
    words = visit.words
    return {
        "url": f"{CASES}/{item.alert_instance_id}",
        "item": item,
        "status": title_of(words, item.status_id, item.status_title),
        "severity": "" if item.severity == "normal" else words(SEVERITIES[item.severity]),
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
    """The answer of a customer who was asked again: "3 → 8, won back"; empty while nothing was asked."""
    if item.recovery_time is None:
        return words("asked again") if item.recovery_item_id else ""
    if item.recovered is None:
        return words("answered again")
    verdict = words("won back") if item.recovered else words("not won back")
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
        return words("waiting for the customer since {moment}", moment=since)
    left = timedelta(seconds=item.due_left_seconds)
    distance = distance_text(words, left)
    if left < timedelta(0):
        return words(
            "waiting for the customer since {moment}, then overdue by {distance}", moment=since, distance=distance
        )
    return words("waiting for the customer since {moment}, {distance} left", moment=since, distance=distance)


FIGURES: Final = f"{CASES}/figures"
FOUND: Final = f"{CASES}/figures/cases"
DAYS: Final = (30, 7, 90, 365)
GROUPS: Final[Mapping[Group, Marked]] = {
    "month": "Month", "week": "Week", "day": "Day", "owner": "Case owner", "cause": "Cause", "remedy": "Action taken",
    "status": "Status", "alert": "Alert", "severity": "Severity",
}  # fmt: skip
SELECTED: Final[Mapping[Selection, Marked]] = {
    "opened": "Opened cases", "closed": "Closed cases", "in_time": "Closed in time", "late": "Closed late",
    "answered": "Answered again", "won_back": "Won back", "not_won_back": "Not won back",
}  # fmt: skip
KEY_CHARACTERS_MAX: Final = 100
_NO_KEY: Final = "-"  # in an address: cases without a value

routes = Screens()


class Shown(msgspec.Struct, frozen=True):
    """One figure of a row: the text, its basis (interval and number of cases), and the address of its cases."""

    text: str
    basis: str
    url: str


@routes.get(FIGURES, scope="Alert Instance.Read")
async def figures_page(visit: Visit, db: Database) -> Response:
    words, text, name = visit.words, visit.query.get("days", ""), visit.query.get("by", "")
    days = int(text) if text in map(str, DAYS) else DAYS[0]
    group: Group = name if name in GROUPS else "week"
    found = await figures_of(visit, db, days=days, group=group)
    return visit.page(
        "case_figures.html",
        title=words("Work on cases"),
        days=days,
        periods=[(each, words.plural("{n} day", "{n} days", each)) for each in DAYS],
        group=group,
        group_name=words(GROUPS[group]),
        groups=[(name, words(text)) for name, text in GROUPS.items()],
        columns=[Column(text=words(text), is_number=True) for text in COLUMNS],
        total=shown(visit, found, found.total, is_total=True),
        rows=[(_title(visit, found, row), shown(visit, found, row)) for row in found.rows],
        is_cut=found.is_cut,
    )


@routes.get(FOUND, scope="Alert Instance.Read")
async def found_cases(visit: Visit) -> Response:
    query, words = visit.query, visit.words
    name = query.get("figure", "")
    selection: Selection = name if name in SELECTIONS else "opened"
    group = query.get("by", "")
    group = group if group in get_args(Group) and group not in BUCKETS else None
    value = query.get("key", "")[:KEY_CHARACTERS_MAX]
    from_time, to_time = (_time(visit, query.get(each, "")) for each in ("from", "to"))
    to_time = to_time or visit.now
    rows = await visit.load(
        store.list_selected,
        **visit.caller.reach,
        selection=selection,
        from_time=from_time or to_time - timedelta(days=DAYS[0]),
        to_time=to_time,
        group_by=group,
        key=None if value == _NO_KEY else value,
        after=read_key(query.get("after", "")),
        limit=ROWS + 1,
    )
    last = rows[ROWS - 1] if len(rows) > ROWS else None
    return visit.page(
        "case_list.html",
        title=words(SELECTED[selection]),
        found=Listing(
            rows=[row_of(visit, one) for one in rows[:ROWS]],
            empty=words("No cases."),
            next_url=address(FOUND, query, after=key_of(last.created_time, last.alert_instance_id)) if last else "",
            first_url=address(FOUND, query, after="") if "after" in query else "",
        ),
    )


async def figures_of(visit: Visit, db: Database, *, days: int, group: Group | None) -> Figures:
    return await figures.figures(
        db,
        caller=visit.caller,
        from_time=periods.whole_second(visit.now) - timedelta(days=days),
        to_time=None,
        time_zone=visit.zone,
        group_by=group,
        now=visit.now,
    )


def shown(visit: Visit, found: Figures, row: Row, *, is_total: bool = False) -> list[Shown]:
    words = visit.words
    hours = words.figure(row.median_hours) if row.median_hours is not None else ""
    return [
        Shown(words.count(row.opened), "", _url(found, row, "opened", row.opened, is_total=is_total)),
        Shown(words.count(row.closed), "", _url(found, row, "closed", row.closed, is_total=is_total)),
        _share(visit, row.in_time, _url(found, row, "in_time", row.in_time.hits, is_total=is_total)),
        Shown(
            words("{hours} h", hours=hours) if hours else "",
            words.plural("of {n} case", "of {n} cases", row.measured) if hours else "",
            "",
        ),
        _share(visit, row.won_back, _url(found, row, "won_back", row.won_back.hits, is_total=is_total)),
    ]


COLUMNS: Final[tuple[Marked, ...]] = (
    "Opened cases", "Closed cases", "Closed in time", "Time to close (median)", "Won back"
)  # fmt: skip


def short(visit: Visit, found: Figures) -> list[tuple[str, Shown]]:
    names = (visit.words(text) for text in COLUMNS)
    return list(zip(names, shown(visit, found, found.total, is_total=True), strict=True))


def _share(visit: Visit, measure: Measure, url: str) -> Shown:
    words = visit.words
    if measure.value is None:
        return Shown("", "", "")
    basis = words.plural("of {n} case", "of {n} cases", measure.n)
    if measure.interval is not None:
        low, high = (words.number(round(each)) for each in (measure.interval.low, measure.interval.high))
        basis = words("({low} to {high}) {basis}", low=low, high=high, basis=basis)
    return Shown(f"{words.number(round(measure.value))}\u00a0%", basis, url)


def _url(found: Figures, row: Row, selection: Selection, number: int | None, *, is_total: bool) -> str:
    if not number:
        return ""
    period, group = found.period, found.group_by
    from_time, to_time = period.from_time, period.to_time
    if not is_total and group in BUCKETS:
        day = date.fromisoformat(row.key or "")
        starts = periods.buckets(period, cast("Bucket", group))
        later = [periods.day_start(each, period.zone) for each in starts if each > day]
        from_time = max(from_time, periods.day_start(day, period.zone))
        to_time = min([to_time, *later[:1]])
    is_grouped = not is_total and group is not None and group not in BUCKETS
    return address(
        FOUND,
        {"figure": selection, "from": from_time.isoformat(), "to": to_time.isoformat()},
        by=group if is_grouped else None,
        key=(row.key if row.key is not None else _NO_KEY) if is_grouped else None,
    )


def _title(visit: Visit, found: Figures, row: Row) -> str:
    words = visit.words
    if row.title is None:
        return words("no owner") if found.group_by == "owner" else words("not noted")
    if found.group_by in BUCKETS:
        return words.day(row.title)
    if found.group_by == "severity":
        return words(SEVERITIES[row.title])
    if found.group_by == "status" and int(row.key or 0) in SYSTEM_TITLES:
        return words(SYSTEM_TITLES[int(row.key or 0)])
    return row.title


def _time(visit: Visit, text: str) -> datetime | None:
    try:
        return times.parse_date_time(text, zone=times.zone_of(visit.zone), now=visit.now).instant if text else None
    except times.InvalidDateTime:
        return None
