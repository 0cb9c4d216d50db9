"""Responses of all questionnaires: by key, by tab and within the caller's applications, on an index of their own."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from afterword import db
from afterword.responses import service, store
from afterword.responses.store import Filter, ResponseRow
from tests.reports.conftest import CSAT, NPS, TEXT, House
from tests.reports.conftest import house as house  # noqa: PLC0414  a fixture


async def now_of(house: House) -> datetime:
    async with db.connection(house.pool) as database:
        return database.clock.now()


async def listed(
    house: House,
    *,
    tab: str = "all",
    score: str = "",
    band: str = "",
    after: tuple[datetime, str] | None = None,
    limit: int = 50,
    **given: Any,
) -> list[ResponseRow]:
    now = await now_of(house)
    async with db.connection(house.pool) as database:
        questions = await service.questions_of(database, caller=house.caller, questionnaire_id=None)
        chosen = Filter(
            from_time=now - timedelta(days=90),
            to_time=after[0] if after else now,
            has_comment=tab == "comment",
            ranges=questions.ranges(score=score, band="detractor" if tab == "unhappy" else band),
        )
        asked: dict[str, Any] = {**house.caller.reach, "questions": questions.listed, **given}
        found = await store.list_responses(
            database, **asked, chosen=chosen, after=after[1] if after else "", limit=limit
        )
        if after is None and limit > len(found):
            assert len(found) == await store.count_responses(database, **asked, chosen=chosen)
    return found


def ids_of(rows: Sequence[ResponseRow]) -> list[str]:
    return [row.instance_id for row in rows]


class TestList:
    async def test_rows(self, house: House) -> None:
        now = await now_of(house)
        unhappy = await house.respond({NPS: 3, CSAT: 5, TEXT: "Too late."}, now=now - timedelta(hours=1))
        happy = await house.respond({CSAT: 5}, now=now - timedelta(hours=2))
        await house.respond({}, now=now - timedelta(hours=3))
        gone = await house.respond({NPS: 1}, now=now - timedelta(hours=4))
        await house.delete(gone, now=now)
        rows = await listed(house)
        assert [unhappy.instance_id, happy.instance_id] == ids_of(rows)
        assert [(NPS, 3), (CSAT, 5)] == [row.score for row in rows]
        assert ["Too late.", None] == [row.comment for row in rows]
        assert [unhappy.instance_id] == ids_of(await listed(house, tab="comment"))
        assert [unhappy.instance_id] == ids_of(await listed(house, tab="unhappy"))

    async def test_by_score_and_band(self, house: House) -> None:
        now = await now_of(house)
        given = ({NPS: 3, CSAT: 5}, {NPS: 7}, {NPS: 10, CSAT: 1}, {CSAT: 3})
        made = [(await house.respond(one, now=now - timedelta(hours=1 + n))).instance_id for n, one in enumerate(given)]
        assert made[:3] == ids_of(await listed(house, score="nps"))
        assert [made[0]] == ids_of(await listed(house, score="nps", band="detractor"))
        assert [made[0], made[2]] == ids_of(await listed(house, band="promoter"))
        assert [made[1], made[3]] == ids_of(await listed(house, band="passive"))
        assert [] == ids_of(await listed(house, score="ces"))

    async def test_other_applications_and_tests(self, house: House) -> None:
        await house.respond({NPS: 3}, now=await now_of(house) - timedelta(hours=1))
        assert [] == await listed(house, application_ids=["0" * 22])
        assert [] == await listed(house, test_only=True)
        assert [] == await listed(house, organization_id="0" * 22)

    async def test_pages_that_new_responses_never_move(self, house: House) -> None:
        now = await now_of(house)
        moment = now - timedelta(hours=1)
        for _ in range(5):
            await house.respond({NPS: 9}, now=moment)  # at the same moment, so that ids decide
        await house.respond({NPS: 8}, now=moment - timedelta(seconds=1))
        everything = ids_of(await listed(house))
        assert 6 == len(everything)
        seen: list[str] = []
        after: tuple[datetime, str] | None = None
        while rows := await listed(house, after=after, limit=2):
            seen += ids_of(rows)
            after = rows[-1].submitted_time, rows[-1].instance_id
            await house.respond({NPS: 7}, now=await now_of(house) - timedelta(seconds=1))
        assert everything == seen

    async def test_index(self, house: House) -> None:
        """Neither the newest page nor one far behind reads more than its rows."""
        async with db.connection(house.pool) as database:
            # In an order by hand this small table may be read by any index; in that of the list by one alone.
            await database.execute("set enable_seqscan = off; set enable_bitmapscan = off; set enable_sort = off")
            rows = await database.fetch(
                """explain select instance_id from questionnaire_instance i where i.organization_id = $1
                     and i.submitted_time is not null and i.deleted_time is null and not i.test
                     and i.submitted_time <= $2 and (i.submitted_time, $3::text) < ($2, i.instance_id)
                   order by i.submitted_time desc, i.instance_id limit 50""",
                *(house.caller.organization_id, database.clock.now(), ""),
            )
        plan = "\n".join(row[0] for row in rows)
        assert "questionnaire_instance_responses" in plan
        assert "Sort" not in plan


@pytest.mark.parametrize(
    ("question_id", "score", "band"),
    [(NPS, 6, "detractor"), (NPS, 7, "passive"), (NPS, 9, "promoter"), (CSAT, 2, "detractor"), (CSAT, 3, "passive")],
)
async def test_band(house: House, question_id: str, score: int, band: str) -> None:
    async with db.connection(house.pool) as database:
        questions = await service.questions_of(database, caller=house.caller, questionnaire_id=None)
        nobody = replace(house.caller, application_ids=("0" * 22,))
        assert {} == (await service.questions_of(database, caller=nobody, questionnaire_id=None)).types
    assert band == questions.band(question_id, score)


class TestApi:
    async def test_confined_and_test_tokens(self, house: House) -> None:
        await house.respond({NPS: 3}, now=await now_of(house) - timedelta(hours=1))
        assert 401 == (await house.http.get("/v3.2/q/response")).status_code
        assert 422 == (await house.get("/q/response", only="happy")).status_code
        assert 422 == (await house.get("/q/response", tag="x" * 51)).status_code

    async def test_same_as_the_rows(self, house: House) -> None:
        now = await now_of(house)
        unhappy = await house.respond({NPS: 3, TEXT: "Too late."}, now=now - timedelta(hours=1))
        await house.respond({CSAT: 5}, now=now - timedelta(hours=2))
        [first, second] = (await house.get("/q/response")).json()["results"]
        assert (unhappy.instance_id, NPS, 3, "detractor", "Too late.", None) == (
            first["instance_id"],
            first["score_question_id"],
            first["score"],
            first["band"],
            first["comment"],
            first["alert_instance_id"],
        )
        assert (5, "promoter", None) == (second["score"], second["band"], second["comment"])
        for only in ("comment", "unhappy"):
            assert [first] == (await house.get("/q/response", only=only)).json()["results"]


async def test_a_filter_that_few_meet_looks_at_so_many_rows_alone(house: House) -> None:
    now = await now_of(house)
    oldest = await house.respond({NPS: 0}, now=now - timedelta(hours=9))
    for hours in (1, 2, 3):
        await house.respond({NPS: 10}, now=now - timedelta(hours=hours))
    chosen = Filter(from_time=now - timedelta(days=1), to_time=now, ranges=[(NPS, 0, 6)])
    async with db.connection(house.pool) as database:
        questions = await service.questions_of(database, caller=house.caller, questionnaire_id=None)
        given: dict[str, Any] = {**house.caller.reach, "questions": questions.listed, "limit": 5, "scanned": 2}
        seen: list[str] = []
        after: tuple[datetime, str] = (now, "")
        for _ in range(3):
            behind = replace(chosen, to_time=after[0])
            seen += ids_of(await store.list_responses(database, **given, chosen=behind, after=after[1]))
            last = await store.get_last_scanned(
                database, **house.caller.reach, chosen=behind, after=after[1], scanned=2
            )
            if last is None:
                break
            after = last
    assert [oldest.instance_id] == seen
