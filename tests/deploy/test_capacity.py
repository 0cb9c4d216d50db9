"""The simulation of larger installations: its month, its bounds, and the page that has its tables."""

from dataclasses import replace

import pytest

from benchmarks import capacity, costs
from benchmarks.capacity import BEGIN, BOUNDS, DOCUMENT, END, ITEMS, Load

ONE = costs.Costs(
    web_post_ms=1, database_post_ms=1, worker_mail_ms=2, database_mail_ms=2, web_event_ms=0, database_event_ms=0,
    reader_event_ms=0.1, web_answer_ms=0, database_answer_ms=0, worker_idle_ms=10, database_idle_ms=0,
    item_bytes=1_000, event_bytes=100, wal_bytes=10_000, events=4,
)  # fmt: skip
HUNDRED = Load(mean=10, peak=100, largest=0.5)


def test_month() -> None:
    """The same each time; its mean is the month's, and its busiest hour is no average."""
    load = capacity.draw()
    assert load == capacity.draw()
    assert ITEMS == pytest.approx(load.mean * capacity.HOURS * 3600)
    assert 3 * load.mean < load.peak < 30 * load.mean
    assert 0 < load.largest < 1


def test_needs() -> None:
    found = capacity.needs(ONE, HUNDRED)
    assert (0.1, 0.2, 0.3) == pytest.approx((found.web_cores, found.worker_cores, found.database_cores))
    assert (2, 2) == (found.web_processes, found.worker_processes)  # one may die
    assert 2 * capacity.WEB_CONNECTIONS + 2 * capacity.WORKER_CONNECTIONS == found.connections
    assert 10 * 86_400 * capacity.ITEM_DAYS * 1_000 == pytest.approx(found.items_disk)
    assert 1e6 == pytest.approx(found.wal)


def test_workers_for_turns() -> None:
    """A worker that hardly computes takes only so many events a second."""
    load = Load(mean=10, peak=10_000, largest=0.5)
    found = capacity.needs(replace(ONE, worker_mail_ms=0.001), load)
    assert found.worker_processes * capacity.TURN_EVENTS >= found.events > 2 * capacity.TURN_EVENTS


def test_nothing_bends() -> None:
    assert [] == capacity.bent(capacity.needs(ONE, HUNDRED))


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"database_mail_ms": 1_000}, "Processor of the primary"),
        ({"worker_mail_ms": 1_000}, "Connections without a pooler"),
        ({"item_bytes": 1e7}, "Disk"),
        ({"wal_bytes": 1e7}, "Write-ahead log"),
        ({"reader_event_ms": 10}, "Each reader of the event log"),
    ],
)
def test_each_bends(change: dict[str, float], name: str) -> None:
    [found] = capacity.bent(capacity.needs(replace(ONE, **change), HUNDRED))
    assert found.startswith(name)


def test_the_furthest_first() -> None:
    found = capacity.bent(capacity.needs(replace(ONE, wal_bytes=1e7, item_bytes=1e9), HUNDRED))
    assert ["Disk", "Write-ahead log"] == [each.partition(" (")[0] for each in found]
    assert set(BOUNDS) >= {"Disk", "Write-ahead log"}


def test_the_page_says_the_same() -> None:
    """`python -m benchmarks capacity --record` writes it."""
    _, begin, rest = DOCUMENT.read_text(encoding="utf-8").partition(BEGIN)
    written, end, _ = rest.partition(END)
    assert begin
    assert end
    assert f"\n{capacity.tables(costs.read())}\n" == written
