"""Words and numbers of screens: slugs, and figures with n, interval and change."""

import ipaddress
import re
import unicodedata
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo, available_timezones

import msgspec

from afterword.core.charts import whisker
from afterword.core.figures.metrics import PAIRS_MIN
from afterword.core.figures.reports import Figure
from afterword.core.text.locales import Marked
from afterword.kit.texts import Texts, tables_of


def network_of(host: str) -> str:
    """The network of an address, as far as a person is behind it: 24 bits of IPv4, 56 of IPv6."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return "unknown"
    return str(ipaddress.ip_network((address, 24 if address.version == 4 else 56), strict=False))  # noqa: PLR2004


def device_of(agent: str) -> str:
    """Browser and system in two words, as a person recognizes them."""
    browsers = (("Edg", "Edge"), ("OPR", "Opera"), ("Firefox", "Firefox"), ("Chrom", "Chrome"), ("Safari", "Safari"))
    systems = (
        ("iPhone", "iPhone"), ("iPad", "iPad"), ("Android", "Android"), ("Windows", "Windows"), ("Mac OS", "Mac"),
        ("Linux", "Linux"),
    )  # fmt: skip
    browser = next((name for mark, name in browsers if mark in agent), "")
    system = next((name for mark, name in systems if mark in agent), "")
    return ", ".join(filter(None, (browser, system))) or "?"


_TABLES: Final = tables_of(__name__)
TEXTS: Final[Mapping[str, Marked]] = _TABLES["done"]
MAILED: Final = frozenset({"invited", "mailed", "sent", "digest_sent"})
KEPT: Final[Marked] = (
    "This installation has no mail server. Its administrator can find the e-mail there and give you the link."
)


SLUG_CHARACTERS_MAX: Final = 40
HOUR_SECONDS: Final = 3_600
DAY_SECONDS: Final = 86_400
DECIMALS: Final[Mapping[str, int]] = {"count": 0, "correlation": 2}  # of others one
NOTHING: Final = "\u2013"  # in place of a figure
DAYS_MIN: Final = 2  # below it a distance is told in hours
PHONE, LIGHT = "phone", "light"  # how previews are shown
LOOKS: Final[dict[str, Marked]] = {"phone": "On a phone", "desktop": "On a desktop"}
SHADES: Final[dict[str, Marked]] = {"light": "Light", "dark": "Dark"}
ZONES: Final = ("UTC", *sorted(zone for zone in available_timezones() if "/" in zone and not zone.startswith("Etc/")))
ZONE_OPTIONS: Final = tuple((one, one) for one in ZONES)
CHANGES: Final[Mapping[str, Marked]] = _TABLES["changes"]
CHANGES_OF_MONTHS: Final[Mapping[str, Marked]] = _TABLES["changes_of_months"]
ERASED_ADDRESS: Final = re.compile(r"(erased:)?[0-9a-f]{64}\Z")
WEEKDAYS: Final[Mapping[int, Marked]] = dict(enumerate(_TABLES["weekdays"], start=1))
WEEKDAY_OPTIONS: Final = tuple((str(number), text) for number, text in WEEKDAYS.items())
_OTHER: Final = re.compile(r"[^a-z0-9]+")


def slug_of(name: str) -> str:
    """The name in lower-case letters, digits and hyphens; empty where nothing of it is left."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return _OTHER.sub("-", plain).strip("-")[:SLUG_CHARACTERS_MAX].strip("-")


class ShownFigure(msgspec.Struct, frozen=True):
    """`value`: "48.2", empty where there is none. `basis`: "(39.9 to 55.6), 384 answers", or the reason for no value.

    `change_kind`: none, higher, lower, few. `before`: the figure that it is compared with. `whisker`: places of value,
    low and high on the axis, in percent; `ends`: of that axis.
    """

    value: str
    basis: str
    change_kind: str = ""
    change: str = ""
    before: str = ""
    whisker: tuple[float, float, float] | None = None
    ends: Sequence[str] = ()


def shown_figure(
    words: Texts, figure: Figure, *, unit: str = "", bounds: tuple[float, float] | None = None
) -> ShownFigure:
    """The figure for the macro `figure`; `bounds`: the ends of its axis, where it has one."""
    measure = figure.measure
    if figure.suppressed:
        return ShownFigure("", suppressed_text(words, figure))
    if measure.value is None:
        return ShownFigure("", words("No answers yet."))
    value = value_text(words, figure, unit=unit)
    is_of_messages = measure.base in {"sent", "delivered"}
    messages = words.plural("{n} message", "{n} messages", measure.n)
    answers = messages if is_of_messages else words.plural("{n} answer", "{n} answers", measure.n)
    basis, place = answers, None
    if interval := measure.interval:
        low, high = (words.figure(each, decimals_of(figure)) for each in (interval.low, interval.high))
        basis = words("({low} to {high}), {answers}", low=low, high=high, answers=answers)
        if bounds:
            is_mirrored = words.direction == "rtl"
            place = whisker(measure.value, interval.low, interval.high, bounds=bounds, mirrored=is_mirrored)
    change = change_text(words, figure)
    ends = [words.figure(end, 0) for end in bounds or ()]
    return ShownFigure(value, basis, change_kind(figure), change, before_text(words, figure), place, ends)


def figure_text(words: Texts, figure: Figure, *, unit: str = "") -> str:
    """The value with its interval and its number of answers, or the reason why there is none."""
    shown = shown_figure(words, figure, unit=unit)
    if not shown.value:
        return shown.basis
    return f"{shown.value} {shown.basis}" if shown.basis.startswith("(") else f"{shown.value}, {shown.basis}"


def value_text(words: Texts, figure: Figure, *, unit: str = "") -> str:
    """The value alone; a dash where there is none to show."""
    value = figure.measure.value
    if figure.suppressed or value is None:
        return NOTHING
    return f"{words.figure(value, decimals_of(figure))}{unit}"


def interval_text(words: Texts, figure: Figure) -> str:
    """Both ends of the interval; empty where there is none."""
    interval = figure.measure.interval
    if interval is None:
        return ""
    low, high = (words.figure(each, decimals_of(figure)) for each in (interval.low, interval.high))
    return words("{low} to {high}", low=low, high=high)


def decimals_of(figure: Figure) -> int:
    return DECIMALS.get(figure.measure.unit, 1)


def address_text(words: Texts, identifier: str) -> str:
    """The address that somebody was written to; of an erased person a keyed hash is left, which nobody can read."""
    return words("Erased person") if ERASED_ADDRESS.match(identifier) else identifier


def suppressed_text(words: Texts, figure: Figure) -> str:
    if figure.suppressed_reason == "few_pairs":
        return words("Fewer than {n} responses answer both questions, which is too few for a correlation.", n=PAIRS_MIN)
    return words("Hidden: this group, or one that it would reveal, has too few people.")


def change_kind(figure: Figure) -> str:
    """Whether a figure differs by more than chance: higher, lower, none, few; empty for no figure."""
    change = figure.change
    if figure.suppressed or figure.measure.value is None:
        return ""
    if change is None or change.p is None:
        return "few"
    return "none" if not change.real else "higher" if change.difference > 0 else "lower"


def change_word(words: Texts, figure: Figure, *, days: int | None) -> tuple[str, str]:
    """The kind of change with its sentence. `days`: None for whole months."""
    kind, change = change_kind(figure), figure.change
    if not kind:
        return "", ""
    if change is None or kind == "few":
        return kind, words("Too few earlier answers to compare.")
    previous = words.figure(change.previous, decimals_of(figure))
    if days is None:
        return kind, words(CHANGES_OF_MONTHS[kind], previous=previous)
    return kind, words(CHANGES[kind], days=days, previous=previous)


def change_text(words: Texts, figure: Figure) -> str:
    """The difference with its sign, and whether it is more than chance; empty where nothing is compared."""
    change = figure.change
    if figure.suppressed or change is None:
        return ""
    difference = words.figure(change.difference, decimals_of(figure), is_signed=True)
    if change.p is None:
        return difference
    return (
        words("{difference}, clear", difference=difference)
        if change.real
        else words("{difference}, may be chance", difference=difference)
    )


def before_text(words: Texts, figure: Figure) -> str:
    """The figure of the time before; empty where nothing is compared."""
    if figure.suppressed or figure.change is None:
        return ""
    return words("before: {figure}", figure=words.figure(figure.change.previous, decimals_of(figure)))


def due_text(words: Texts, due: datetime | None, *, now: datetime, zone: str) -> str:
    """The due time with the distance from now: hours within two days, else days."""
    if due is None:
        return ""
    distance, moment = distance_text(words, due - now), near_moment(words, due, now=now, zone=zone)
    if due < now:
        return words("overdue for {distance} ({moment})", distance=distance, moment=moment)
    return words("due in {distance} ({moment})", distance=distance, moment=moment)


def distance_text(words: Texts, span: timedelta) -> str:
    """Minutes below an hour, hours within two days, else days; the sign is left out."""
    seconds = abs(span.total_seconds())
    if seconds < HOUR_SECONDS:
        return words.plural("{n} minute", "{n} minutes", int(seconds // 60))
    hours, days = int(seconds // HOUR_SECONDS), int(seconds // DAY_SECONDS)
    return (
        words.plural("{n} day", "{n} days", days) if days >= DAYS_MIN else words.plural("{n} hour", "{n} hours", hours)
    )


def call_text(words: Texts, start: datetime | None, end: datetime | None, *, now: datetime, zone: str) -> str:
    """When to call: a moment, or from when until when; empty for no call."""
    if start is None:
        return ""
    text = near_moment(words, start, now=now, zone=zone)
    return f"{text}\u2013{words.clock(end, time_zone=zone)}" if end else text


def actor_text(words: Texts, kind: str, name: str | None) -> str:
    """The author of an entry of the audit log."""
    match kind:
        case "system":
            return "Afterword"
        case "command":
            return words("A command of the administrator")
        case "token":
            return words("The token “{title}”", title=name or "…")
        case _:
            return name or words("Former member")


def near_moment(words: Texts, time: datetime, *, now: datetime, zone: str) -> str:
    """Today, tomorrow and yesterday by name, with the time of day; else the date too."""
    time = time.astimezone(ZoneInfo(zone))  # once: what follows finds it there
    days = (time.date() - now.astimezone(time.tzinfo).date()).days
    if abs(days) > 1:
        return words.moment(time, time_zone=zone)
    clock = words.clock(time, time_zone=zone)
    match days:
        case 0:
            return words("today {clock}", clock=clock)
        case 1:
            return words("tomorrow {clock}", clock=clock)
        case _:
            return words("yesterday {clock}", clock=clock)
