"""A count reads from the answers only the time that is not kept."""

from datetime import UTC, date, datetime

from afterword.core.figures import queries
from afterword.core.figures.periods import Period
from afterword.core.figures.queries import CountQuery, DailyCounts

FIRST, SECOND = date(2026, 6, 18), date(2026, 6, 19)
NOON = datetime(2026, 6, 17, 12, tzinfo=UTC)
NOW = datetime(2026, 6, 20, 3, 20, tzinfo=UTC)
ASKED = CountQuery(
    organization_id="us",
    questionnaire_ids=("one",),
    period=Period(NOON, NOW, "UTC"),
    buckets=(NOON.date(),),
    basis="submitted",
    zone="UTC",
)


def read(kept: DailyCounts) -> list[tuple[datetime, datetime]]:
    return [(span.from_time, span.to_time) for span in queries.gaps_of(ASKED, kept)]


def day(number: int, hour: int = 0) -> datetime:
    return datetime(2026, 6, number, hour, tzinfo=UTC)


def test_nothing_is_kept() -> None:
    assert [(NOON, NOW)] == read(DailyCounts())


def test_ends_and_stale_days() -> None:
    kept = DailyCounts(until={"one": date(2026, 6, 20)}, live={"one": [FIRST]})
    assert [(NOON, day(19)), (day(20), NOW)] == read(kept)
    assert [(NOON, day(18)), (day(19), NOW)] == read(DailyCounts(until={"one": SECOND}))


def test_hours_of_today() -> None:
    hours = {"2026-06-20T00", "2026-06-20T02"}
    kept = DailyCounts(until={"one": date(2026, 6, 20)}, hours={"one": hours})
    assert [(NOON, day(18)), (day(20, 1), day(20, 2)), (day(20, 3), NOW)] == read(kept)
    kept = DailyCounts(until={"one": SECOND}, hours={"one": hours})
    assert [(NOON, day(18)), (day(19), day(20)), (day(20, 1), day(20, 2)), (day(20, 3), NOW)] == read(kept)
