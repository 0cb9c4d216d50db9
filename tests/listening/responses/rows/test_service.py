"""Rows of responses: as the answers are now, after each change, and for older responses too."""

import json
from datetime import datetime, timedelta
from typing import Any

import pytest

from afterword.events import service
from afterword.kit import db
from afterword.listening.responses import rows as responses_rows
from tests.conftest import settled
from tests.listening.reports.conftest import CSAT, NPS, TEXT, House, now_of


async def rows_of(house: House) -> list[dict[str, Any]]:
    async with db.connection(house.pool) as database:
        rows = await database.fetch(
            """select instance_id, score_question_id, score, band, comment, words::text as words, submitted_time
               from response order by submitted_time desc"""
        )
    return [dict(row) for row in rows]


async def test_row(house: House, now: datetime) -> None:
    made = await house.respond({CSAT: 2, NPS: 9, TEXT: "  Fine. "}, now=now, metadata={"order": "B"})
    await house.respond({}, now=now)
    await house.follow()
    [row] = await rows_of(house)
    assert (made.instance_id, NPS, 9, "promoter", "Fine.") == (
        row["instance_id"], row["score_question_id"], row["score"], row["band"], row["comment"],
    )  # fmt: skip
    assert f"'={house.caller.organization_id}' 'b':" in row["words"]


async def test_changes(house: House, now: datetime) -> None:
    made = await house.respond({NPS: 9, TEXT: "Fine."}, now=now, complete=False)
    gone = await house.respond({NPS: 1}, now=now - timedelta(hours=1))
    await house.follow()
    await house.answer(made, {NPS: 4, TEXT: None}, now=now)
    await house.delete(gone, now=now)
    await house.follow()
    [row] = await rows_of(house)
    assert (4, "detractor", None) == (row["score"], row["band"], row["comment"])
    assert "fine" not in row["words"]


async def test_key_question(house: House, now: datetime) -> None:
    await house.execute("update questionnaire set key_question_id = $1", CSAT)
    await house.respond({CSAT: 2, NPS: 9}, now=now)
    await house.respond({NPS: 9}, now=now - timedelta(hours=1))
    await house.follow()
    assert [(CSAT, 2), (NPS, 9)] == [(row["score_question_id"], row["score"]) for row in await rows_of(house)]


async def test_older_responses(house: House, now: datetime, monkeypatch: pytest.MonkeyPatch) -> None:
    """Filled a part at a time, to the end, also where the log tells nothing of them any more."""
    monkeypatch.setattr(responses_rows, "FILLED_MAX", 2)
    for hours in range(5):
        await house.respond({NPS: 9}, now=now - timedelta(hours=hours))
    await house.execute("delete from event")

    async def fill() -> int:
        async with db.transaction(house.pool) as database:
            return await responses_rows.fill(database, now=now)

    later = now + timedelta(hours=1)
    async with db.transaction(house.pool) as database:
        assert not (await responses_rows.compare(database, now=later)).is_filled
    assert [2, 2, 1, 0] == [await fill() for _ in range(4)]
    assert 5 == len(await rows_of(house))
    async with db.transaction(house.pool) as database:
        found = await responses_rows.compare(database, now=later)
        assert (True, 5, []) == (found.is_filled, found.compared, found.wrong)
        await database.execute("update response set score = 1 where submitted_time = $1", now)
        await database.execute("delete from response where submitted_time < $1", now - timedelta(hours=3))
        assert 2 == len((await responses_rows.compare(database, now=later)).wrong)
        await responses_rows.update_to_fill_again(database)
    assert [2, 2, 1, 0] == [await fill() for _ in range(4)]
    assert [9] * 5 == [row["score"] for row in await rows_of(house)]


async def test_one_writer_at_a_time(house: House) -> None:
    """While one process has the cursor no other writes rows that it read before."""
    await house.follow()
    made = await house.respond({NPS: 9}, now=await now_of(house))
    await settled(house.pool)
    async with db.transaction(house.pool) as first, db.transaction(house.pool) as second:
        assert await service.claim_reader(first, reader=responses_rows.READER)
        ids = [made.instance_id]
        assert not await responses_rows.rewrite(second, organization_id=house.caller.organization_id, instance_ids=ids)
        assert 0 == await responses_rows.fill(second, now=second.clock.now())
        assert 0 == await responses_rows.follow(second, now=second.clock.now())
    assert [] == await rows_of(house)


@pytest.mark.parametrize(
    ("kind", "score", "band"),
    [("nps", 6, "detractor"), ("nps", 7, "passive"), ("nps", 9, "promoter"), ("csat", 2, "detractor"),
     ("csat", 3, "passive"), ("ces", 7, "promoter"), ("rating", 5, None)],
)  # fmt: skip
def test_band(kind: str, score: int, band: str | None) -> None:
    assert band == responses_rows.band_of(kind, score)


async def test_objects_as_the_database_gives_them_back(house: House) -> None:
    value = {"street": "Main", "city": {"name": "Bern", "id": 1, "è": [{"bb": 1, "a": 2}]}, "zip": None}
    async with db.connection(house.pool) as database:
        stored = await database.fetch_value("select $1::jsonb", value)
    assert json.dumps(stored) == json.dumps(responses_rows.as_stored(value))
