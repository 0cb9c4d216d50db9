"""The needs of installations larger than any machine here: a simulation on the measured costs of a unit.

`python -m benchmarks capacity` prints the tables, with `--record` it writes them into docs/capacity.md. A month is
drawn hour by hour with a seed: organizations of unequal size, each with its time zone, its week and its campaigns. The
busiest hour decides on processor time and rates, the month on the disk. `BOUNDS` are the limits of one primary.
"""

import math
import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final

from afterword.kit.settings import Settings
from afterword.run.worker import jobs, loop
from afterword.run.worker.flights import POOL_SIZE
from benchmarks.costs import Costs

DOCUMENT: Final = Path(__file__).parents[1] / "docs" / "capacity.md"
BEGIN: Final = "<!-- capacity, written by `python -m benchmarks capacity --record` -->\n"
END: Final = "<!-- end of capacity -->\n"

_SETTINGS: Final[Mapping[str, Any]] = {each.name: each.default for each in fields(Settings)}

# The installation that is drawn.
ORGANIZATIONS: Final = 1_000
ITEMS: Final = 100_000_000  # a month, of all of them
SCALES: Final = (1, 10, 100)
HOURS: Final = 28 * 24
ZIPF: Final = 1.0  # the organization of rank r has a share of 1 / r ** ZIPF
DAY: Final = (1, 1, 1, 1, 1, 2, 4, 8, 14, 18, 20, 20, 18, 17, 18, 19, 20, 20, 19, 17, 13, 8, 4, 2)  # shares of hours
WEEK: Final = (1.1, 1.1, 1.1, 1.1, 1.2, 0.8, 0.6)  # of days, from Monday
ZONES: Final = (-8, -5, 0, 1, 1, 1, 2, 2, 2, 3, 5, 8)  # hours from UTC
CAMPAIGNS: Final = 0.4  # the share of items that come at once: so many an organization and month, in one hour each
CAMPAIGNS_A_MONTH: Final = 4
WORKING_DAYS: Final = 5
CAMPAIGN_HOURS: Final = (9, 10, 11, 14)  # local time
ANSWERED: Final = 0.2  # the share of items that a person answers
ANSWER_EVENTS: Final = 3  # of an answered one, beside those of its sending
OUTSIDE_READERS: Final = 1  # of the event log, an event
ITEM_DAYS: Final[int] = _SETTINGS["queue_retention_days"]
EVENT_DAYS: Final = 90
_SEED: Final = 20_261_129

# The limits of one process or server.
BUSY_MAX: Final = 0.6  # the share of a core that a process is planned with
WEB_CONNECTIONS: Final[int] = _SETTINGS["database_pool"]
WORKER_CONNECTIONS: Final = POOL_SIZE + 1  # and its heartbeat
TURN_EVENTS: Final = (
    loop.BATCHES_MAX * jobs.READ_EVENTS_MAX / jobs.READ_SECONDS
)  # a second, at most, of a worker's turns
BOUNDS: Final[Mapping[str, tuple[float, str]]] = {
    "Processor of the primary": (32, " cores: half of a large machine"),
    "Connections without a pooler": (500, ", beyond which a pooler is due"),
    "Disk": (30e12, "B, of which a restore takes a day at 350 MB a second"),
    "Write-ahead log": (100e6, "B a second, assumed of a standby that applies it in one process"),
    "Each reader of the event log": (BUSY_MAX, " of the core that it has, since one process reads at a time"),
}


@dataclass(frozen=True, slots=True)
class Load:
    """Items a second: the mean of a month, and its busiest hour; and the share of the largest campaign in that hour."""

    mean: float
    peak: float
    largest: float


@dataclass(frozen=True, slots=True)
class Needs:
    """The needs of the busiest hour, and of the disk after the first `ITEM_DAYS`."""

    load: Load
    web_cores: float
    worker_cores: float
    database_cores: float
    web_processes: int
    worker_processes: int
    connections: int
    events: float  # a second
    reader_cores: float  # of each reader
    wal: float  # bytes a second
    items_disk: float
    events_disk: float

    @property
    def of_bounds(self) -> dict[str, float]:
        """The need for each of `BOUNDS`, in its unit."""
        return dict(zip(
            BOUNDS,
            (self.database_cores, self.connections, self.items_disk + self.events_disk, self.wal, self.reader_cores),
            strict=True,
        ))  # fmt: skip


def draw() -> Load:
    """The load of `ITEMS` a month. Where an hour lies decides how many come in it, not chance."""
    source = random.Random(_SEED)  # noqa: S311  the same month each time
    weights = [1 / rank**ZIPF for rank in range(1, ORGANIZATIONS + 1)]
    total = sum(weights)
    steady = [DAY[hour % 24] * WEEK[hour // 24 % 7] for hour in range(HOURS)]
    days = [day for day in range(HOURS // 24) if day % 7 < WORKING_DAYS]
    by_zone: defaultdict[int, float] = defaultdict(float)
    hours: defaultdict[int, float] = defaultdict(float)
    largest = 0.0  # the organization's part of its own busiest hour
    for weight in weights:
        items, zone = ITEMS * weight / total, source.choice(ZONES)
        by_zone[zone] += items * (1 - CAMPAIGNS)
        for _ in range(CAMPAIGNS_A_MONTH):
            hour = source.choice(days) * 24 + source.choice(CAMPAIGN_HOURS)
            hours[(hour - zone) % HOURS] += items * CAMPAIGNS / CAMPAIGNS_A_MONTH
        largest = max(largest, items * CAMPAIGNS / CAMPAIGNS_A_MONTH)
    for zone, items in by_zone.items():
        for hour, share in enumerate(steady):
            hours[(hour - zone) % HOURS] += items * share / sum(steady)
    peak = max(hours.values())
    return Load(ITEMS / (HOURS * 3600), peak / 3600, largest / peak)


def needs(costs: Costs, load: Load) -> Needs:
    """Of one installation under this load."""
    events = costs.events + ANSWERED * ANSWER_EVENTS
    web = costs.web_post_ms + OUTSIDE_READERS * events * costs.web_event_ms + ANSWERED * costs.web_answer_ms
    database = (
        costs.database_post_ms
        + costs.database_mail_ms
        + OUTSIDE_READERS * events * costs.database_event_ms
        + ANSWERED * costs.database_answer_ms
    )
    web_cores, worker_cores = load.peak * web / 1000, load.peak * costs.worker_mail_ms / 1000
    web_processes = max(2, math.ceil(web_cores / BUSY_MAX))
    a_second = load.peak * events
    worker_processes = max(2, math.ceil(worker_cores / BUSY_MAX), math.ceil(a_second / TURN_EVENTS))
    a_day = load.mean * 86_400
    return Needs(
        load=load,
        web_cores=web_cores,
        worker_cores=worker_cores,
        database_cores=(load.peak * database + worker_processes * costs.database_idle_ms) / 1000,
        web_processes=web_processes,
        worker_processes=worker_processes,
        connections=web_processes * WEB_CONNECTIONS + worker_processes * WORKER_CONNECTIONS,
        events=a_second,
        reader_cores=a_second * costs.reader_event_ms / 1000,
        wal=load.peak * costs.wal_bytes,
        items_disk=a_day * ITEM_DAYS * costs.item_bytes,
        events_disk=a_day * EVENT_DAYS * events * costs.event_bytes,
    )


def at_scales(costs: Costs) -> list[Needs]:
    """The installation, and larger ones with as many times its items."""
    load = draw()
    return [needs(costs, Load(load.mean * scale, load.peak * scale, load.largest)) for scale in SCALES]


def bent(found: Needs) -> list[str]:
    """The bounds that are passed, the furthest first."""
    times = {name: need / BOUNDS[name][0] for name, need in found.of_bounds.items()}
    return [
        f"{name} ({times[name]:.1f} times)" for name in sorted(times, key=lambda name: -times[name]) if times[name] > 1
    ]


def tables(costs: Costs) -> str:
    """The costs of a unit, the needs and the bounds, as the page has them."""
    found = at_scales(costs)
    return "\n".join([*_costs(costs), "", *_needs(found), "", *_bounds(found)]) + "\n"


def write(text: str) -> None:
    document = DOCUMENT.read_text(encoding="utf-8")
    before, _, rest = document.partition(BEGIN)
    _, _, after = rest.partition(END)
    DOCUMENT.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}", encoding="utf-8")


def _costs(costs: Costs) -> Iterator[str]:
    yield "| Unit | Its process | PostgreSQL |"
    yield "|---|---|---|"
    for what, own, database in (
        ("an item by a request of its own", costs.web_post_ms, costs.database_post_ms),
        ("a mail to a new person", costs.worker_mail_ms, costs.database_mail_ms),
        ("an event that an outside reader takes", costs.web_event_ms, costs.database_event_ms),
        ("an event that a worker's reader passes", costs.reader_event_ms, None),
        ("a questionnaire of two pages, answered", costs.web_answer_ms, costs.database_answer_ms),
        ("a second of an idle worker", costs.worker_idle_ms, costs.database_idle_ms),
    ):
        yield f"| {what} | {own:.2f} ms | {'with it' if database is None else f'{database:.2f} ms'} |"
    yield (
        f"| a sent item with its person, {costs.events:.1f} events | - | {costs.item_bytes / 1000:.1f} kB, and "
        f"{costs.event_bytes / 1000:.2f} kB an event; {costs.wal_bytes / 1000:.1f} kB of write-ahead log |"
    )


def _needs(found: Sequence[Needs]) -> Iterator[str]:
    yield "| | " + " | ".join(f"{ITEMS * scale / 1e6:,.0f} million items a month" for scale in SCALES) + " |"
    yield "|---|" + "---|" * len(SCALES)
    rows = {
        "Items a second: mean, busiest hour": [f"{each.load.mean:,.0f}, {each.load.peak:,.0f}" for each in found],
        "Of the busiest hour: the largest campaign": [f"{100 * each.load.largest:.0f} %" for each in found],
        "Cores: web, worker, PostgreSQL": [
            f"{each.web_cores:,.1f}, {each.worker_cores:,.1f}, {each.database_cores:,.1f}" for each in found
        ],
        "Processes: web, worker": [f"{each.web_processes:,}, {each.worker_processes:,}" for each in found],
        "Connections without a pooler": [f"{each.connections:,}" for each in found],
        "Events a second; cores of each reader": [f"{each.events:,.0f}; {each.reader_cores:,.2f}" for each in found],
        "Write-ahead log, to each standby": [f"{each.wal / 1e6:,.1f} MB a second" for each in found],
        f"Disk: items of {ITEM_DAYS} days, events of {EVENT_DAYS}": [
            f"{each.items_disk / 1e12:,.1f}, {each.events_disk / 1e12:,.1f} TB" for each in found
        ],
        "**Bends, the furthest first**": [", ".join(bent(each)) or "nothing" for each in found],
    }
    for name, cells in rows.items():
        yield f"| {name} | {' | '.join(cells)} |"


def _bounds(found: Sequence[Needs]) -> Iterator[str]:
    yield "| Bound of one primary | Bound | Reached at |"
    yield "|---|---|---|"
    for name, (bound, words) in BOUNDS.items():
        items = ITEMS * bound / found[0].of_bounds[name]
        yield f"| {name} | {_number(bound)}{words} | {items / 1e6:,.0f} million items a month |"


def _number(value: float) -> str:
    for size, prefix in ((1e12, "T"), (1e6, "M")):
        if value >= size:
            return f"{value / size:,.0f} {prefix}"
    return f"{value:,.0f}" if value >= 1 else f"{value}"
