"""Charts of screens: places from `core/charts`, the words beside them, and the table with their figures."""

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import Any, Final

import msgspec

from afterword.core import charts
from afterword.core.charts import Bar, Point, Square, Trend, scale, trend, whisker
from afterword.core.figures.periods import Bucket, Period, are_cut
from afterword.core.figures.reports import Figure
from afterword.kit.texts import Marked, Texts
from afterword.kit.ui.text import NOTHING, before_text, figure_text, suppressed_text, value_text

PARTS: Final[Mapping[str, Marked]] = {"detractor": "Detractors", "passive": "Passives", "promoter": "Promoters"}
BANDS: Final[Mapping[str, Marked]] = {"promoter": "happy", "passive": "neutral", "detractor": "unhappy", "": ""}
HOUR_MARKS: Final = (0, 6, 12, 18)
Bounds = tuple[float, float]
Places = tuple[float, float, float]


class Text(msgspec.Struct, frozen=True):
    """A cell of a table; `kind` is a class of its style."""

    text: str
    url: str = ""
    kind: str = ""


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One point, bar or row of a chart. `text` is its reading line, `short` stands beside it, `why` in its place.

    `before`: its bar in the period before, without a width for a value with its interval.
    """

    name: str
    text: str = ""
    url: str = ""
    band: str = ""
    short: str = ""
    why: str = ""
    places: Places | None = None
    bar: Bar | None = None
    before: Bar | None = None
    level: int = 0


class Axis(msgspec.Struct, frozen=True):
    """The ends of a scale with its middle, and the place of all rows together."""

    ends: Sequence[float] = ()
    total: float | None = None


class View(msgspec.Struct, frozen=True, kw_only=True):
    """A chart as `charts.html` draws it; `start`: the place in percent where its texts begin."""

    kind: str
    finding: str
    title: str = ""
    start: int = 0
    points: Sequence[Entry] = ()
    chart: Trend | None = None
    axis: Axis = Axis()
    parts: Sequence[Entry] = ()
    marks: Sequence[Entry] = ()
    head: Sequence[str] = ()
    rows: Sequence[Sequence[Text]] = ()
    is_wordy: bool = False  # the names of rows may be long: on a phone each row is a card


def trend_view(
    words: Texts,
    figures: Sequence[Figure],
    names: Sequence[str],
    *,
    bounds: Bounds,
    unit: str,
    head: Sequence[str],
    finding: str,
    title: str = "",
    marks: Sequence[str] = (),
    urls: Sequence[str] | None = None,
    rows: Sequence[Sequence[Text]] | None = None,
) -> View:
    """A score over time; `marks`: short names along the axis; `rows` of the table, where it has more than figures."""
    is_mirrored = words.direction == "rtl"
    texts = [figure_text(words, figure, unit=unit) for figure in figures]
    before = [None if one.suppressed or one.change is None else one.change.previous for one in figures]
    links = urls or [""] * len(names)
    return View(
        kind="trend",
        title=title,
        finding=finding,
        start=100 if is_mirrored else 0,
        chart=trend([point_of(figure) for figure in figures], bounds=bounds, mirrored=is_mirrored, before=before),
        points=[
            Entry(name=name, text=" · ".join(filter(None, (f"{name}: {text}", before_text(words, figure)))), url=url)
            for name, text, url, figure in zip(names, texts, links, figures, strict=True)
        ],
        marks=[Entry(name=name) for name in marks or names],
        head=head,
        rows=rows or [[Text(name, url), Text(text)] for name, text, url in zip(names, texts, links, strict=True)],
    )


def cut_text(words: Texts, period: Period, bucket: Bucket, starts: Sequence[date]) -> str:
    """Says that a step at an end of a trend is not whole: it has fewer answers, and may differ for that alone."""
    match are_cut(period, bucket, first=starts[0], last=starts[-1]):
        case (True, True):
            return words("The first and the last interval are incomplete.")
        case (True, False):
            return words("The first interval is incomplete.")
        case (False, True):
            return words("The last interval is incomplete.")
        case _:
            return ""


def funnel_view(
    words: Texts, figures: Sequence[tuple[str, Figure]], *, finding: str, urls: Sequence[str] | None = None
) -> View:
    """Stages with their counts, each with its share of the first; `urls`: of what they count."""
    links = urls or [""] * len(figures)
    counts = [0 if figure.suppressed else int(figure.measure.value or 0) for _, figure in figures]
    first = counts[0] if counts else 0
    places = charts.bars(counts, of=max(first, *counts, 0), mirrored=words.direction == "rtl")
    shares = [
        NOTHING if figure.suppressed or not first else f"{words.figure(100 * count / first)} %"
        for (_, figure), count in zip(figures, counts, strict=True)
    ]
    shown = [
        NOTHING if figure.suppressed else words.count(count) for (_, figure), count in zip(figures, counts, strict=True)
    ]
    return View(
        kind="rows",
        finding=finding,
        points=[
            Entry(
                name=name,
                url=link,
                short=f"{number} · {share}" if not figure.suppressed else NOTHING,
                bar=None if figure.suppressed else bar,
                why=suppressed_text(words, figure) if figure.suppressed else "",
            )
            for (name, figure), number, share, bar, link in zip(figures, shown, shares, places, links, strict=True)
        ],
        head=(words("Stage"), words("Count"), words("Share")),
        rows=[
            [Text(name, link), Text(number), Text(share)]
            for (name, _), number, share, link in zip(figures, shown, shares, links, strict=True)
        ],
    )


def week_view(words: Texts, counts: Mapping[tuple[int, int], int], *, finding: str, **table: Any) -> View:
    """The hours of a week by day (0: Monday) and hour, the darker the more there is in one."""
    is_mirrored = words.direction == "rtl"
    squares = charts.grid(counts, mirrored=is_mirrored)
    first = {one.hour: one for one in squares if one.day == 0}
    return View(
        kind="week",
        finding=finding,
        start=100 if is_mirrored else 0,
        points=[_hour(words, one, counts[one.day, one.hour]) for one in squares if one.level],
        parts=[Entry(name=words.weekday(one.day), bar=one.bar) for one in squares if one.hour == 0],
        marks=[Entry(name=f"{hour}:00", bar=first[hour].bar) for hour in HOUR_MARKS],
        **table,
    )


def groups_view(
    words: Texts,
    groups: Sequence[tuple[str, Figure, str]],
    *,
    total: Figure | None,
    bounds: Bounds,
    unit: str,
    finding: str,
    is_whole: bool = False,
    **table: Any,
) -> View:
    """Dots with whiskers on one scale; `groups`: the name, figure and address of each.

    `is_whole`: from end to end, with the values of the period before.
    """
    ends = bounds if is_whole else scale([point_of(figure) for _, figure, _ in groups], bounds)
    middle = (ends[0] + ends[1]) / 2
    shown = [ends[0], middle, ends[1]]
    all_together = whisker_of(words, total, bounds=ends) if total is not None else None
    return View(
        kind="rows",
        finding=finding,
        points=[
            Entry(
                name=name,
                url=url,
                places=whisker_of(words, figure, bounds=ends),
                before=_before(words, figure, ends) if is_whole else None,
                short=value_text(words, figure, unit=unit),
                why=figure_text(words, figure, unit=unit),
                band=figure_band(figure),
            )
            for name, figure, url in groups
        ],
        axis=Axis(shown, all_together[0] if all_together else None),
        **table,
    )


def whisker_of(words: Texts, figure: Figure, *, bounds: Bounds) -> Places | None:
    measure = figure.measure
    if figure.suppressed or measure.value is None:
        return None
    low, high = (measure.interval.low, measure.interval.high) if measure.interval else (measure.value, measure.value)
    return whisker(measure.value, low, high, bounds=bounds, mirrored=words.direction == "rtl")


def _before(words: Texts, figure: Figure, bounds: Bounds) -> Bar | None:
    if (value := previous_of(figure)) is None:
        return None
    return Bar(whisker(value, value, value, bounds=bounds, mirrored=words.direction == "rtl")[0], 0)


def previous_of(figure: Figure) -> float | None:
    """The value of the period before; None where there is none, or none to show."""
    return None if figure.suppressed or figure.change is None else figure.change.previous


def parts_of(words: Texts, figure: Figure, link: Callable[..., str] | None = None) -> Sequence[Entry]:
    """Detractors, passives and promoters, each with its part of the bar."""
    parts = figure.measure.parts or {}
    counts = [parts.get(name, 0) for name in PARTS]
    return [
        Entry(
            name=name,
            band=name,
            text=f"{words(text)} {words.count(count)}",
            url=link(band=name) if link is not None else "",
            bar=bar,
        )
        for (name, text), count, bar in zip(
            PARTS.items(), counts, charts.stack(counts, mirrored=words.direction == "rtl"), strict=True
        )
    ]


def point_of(figure: Figure) -> Point:
    if figure.suppressed or figure.measure.value is None:
        return Point(None)
    interval = figure.measure.interval
    return Point(figure.measure.value, *((interval.low, interval.high) if interval else (None, None)))


def figure_band(figure: Figure) -> str:
    """Whether a group is clearly higher or lower than what it is compared with."""
    if figure.suppressed or figure.change is None or not figure.change.real:
        return ""
    return "higher" if figure.change.difference > 0 else "lower"


def _hour(words: Texts, square: Square, count: int) -> Entry:
    text = f"{words.weekday(square.day)} {square.hour}:00: {words.count(count)}"
    return Entry(name="", text=text, bar=square.bar, level=square.level)
