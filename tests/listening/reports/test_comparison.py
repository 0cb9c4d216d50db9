"""Kept counts that differ from their answers are found, and counted again."""

from datetime import timedelta

import pytest

from afterword.kit import db
from afterword.listening.reports import comparison
from afterword.listening.reports.comparison import Comparison
from afterword.listening.reports.daily_counts import service as rollups
from tests.listening.reports.conftest import NPS, House
from tests.listening.reports.test_daily_counts import NOW, asked, compare, keep, work

SPANS = 4  # all, and by version, channel, locale


async def compared(house: House) -> Comparison:
    async with db.transaction(house.pool) as database:
        return await comparison.compare(database, now=NOW)


async def kept(house: House) -> None:
    """Three responses of three days, counted."""
    for number in range(3):
        await house.respond({NPS: 9}, now=NOW - timedelta(days=1 + number))
    await keep(house)


async def falsify(house: House) -> None:
    await house.execute(
        """update rollup_count set counts = array[7]
           where dimension = '' and day = (select max(day) from rollup_count)"""
    )


async def test_nothing_is_kept(house: House) -> None:
    assert Comparison(0, 0, []) == await compared(house)


async def test_all_is_well(house: House) -> None:
    await kept(house)
    found = await compared(house)
    assert found.spans >= SPANS
    assert (0, []) == (found.skipped, found.wrong)


async def test_what_nobody_has_counted_yet_is_no_difference(house: House) -> None:
    await kept(house)
    await house.respond({NPS: 1}, now=NOW - timedelta(days=1))
    assert [] == (await compared(house)).wrong


async def test_a_difference_is_found_and_counted_again(house: House) -> None:
    await kept(house)
    await falsify(house)
    found = await compared(house)
    assert [("", (NOW - timedelta(days=1)).date())] == [(span.dimension, day) for span, day in found.wrong]
    async with db.transaction(house.pool) as database:
        await rollups.recount(database, days=found.wrong, now=NOW)
    assert await compare(house, asked(house)), "reports read the answers until then"
    await work(house, NOW + timedelta(seconds=rollups.AGAIN_SECONDS))
    async with db.transaction(house.pool) as database:
        assert 0 == await database.fetch_value("select count(*) from rollup_dirty")
    assert [] == (await compared(house)).wrong
    assert await compare(house, asked(house))


async def test_a_wrong_hour_of_today(house: House) -> None:
    await house.respond({NPS: 9}, now=NOW - timedelta(hours=2))
    await kept(house)
    await house.execute("update rollup_count set counts = array[7] where dimension = 'hour'")
    found = await compared(house)
    assert [("hour", NOW.date())] == [(span.dimension, day) for span, day in found.wrong]
    async with db.transaction(house.pool) as database:
        await rollups.recount(database, days=found.wrong, now=NOW)
    assert await compare(house, asked(house))
    await work(house, NOW + timedelta(seconds=rollups.AGAIN_SECONDS))
    assert [] == (await compared(house)).wrong


async def test_what_is_too_large_is_skipped(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    await kept(house)
    monkeypatch.setattr("afterword.listening.reports.counts.RESPONSES_MAX", 2)
    monkeypatch.setattr("afterword.listening.reports.counts.CASES_MAX", 2)
    found = await compared(house)
    assert found.spans - 1 == found.skipped, "all but the hours of today, which has no answers"


async def test_no_time_is_left(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    await kept(house)
    await falsify(house)
    monkeypatch.setattr(comparison, "SECONDS_MAX", -1.0)
    found = await compared(house)
    assert (found.spans, []) == (found.skipped, found.wrong)
