"""All questions of a questionnaire: each figure is the one that its report gives, also of one group."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from afterword.asking.questionnaires import access
from afterword.core.organizations.access import SCOPES
from afterword.kit import db
from afterword.listening.reports import counts, question_results
from afterword.listening.reports.question_results import QuestionnaireResults
from tests.listening.reports.conftest import CES, CHOICE, CSAT, MANY, MATRIX, NPS, NUMBER, RANKING, ROW, TEXT, House

STORES = {"north": (9, 10, 10, 3), "south": (2, 4, 9, 6, 0)}


async def read(house: House, now: datetime, *, without: str = "", **asked: Any) -> QuestionnaireResults:
    caller = replace(house.caller, scopes=SCOPES - {without})
    async with db.connection(house.pool) as database:
        questionnaire = await access.get(database, caller=caller, questionnaire_id=house.questionnaire_id)
        given: dict[str, Any] = {"period": {"last_days": 10}, "by": "", "value": "", "page": 0, **asked}
        return await question_results.read(database, caller=caller, questionnaire=questionnaire, now=now, **given)


@pytest.fixture
async def stores(house: House, now: datetime) -> House:
    for days, change in ((1, 0), (12, -1)):
        for store, scores in STORES.items():
            for number, score in enumerate(scores):
                await house.respond(
                    {
                        NPS: max(0, score + change),
                        CSAT: min(5, score // 2 + 1),
                        CHOICE: number % 3 + 1,
                        MANY: [1, 2] if number else [3],
                        MATRIX: {ROW: number % 3 + 1},
                        NUMBER: number,
                        RANKING: [2, 1, 3],
                        TEXT: f"{store} {number}",
                    },
                    now=now - timedelta(days=days, hours=number),
                    metadata={"store_id": store},
                )
    return house


def shown(figure: Any) -> tuple[object, ...]:
    value, change = figure.measure.value, figure.change
    return value and round(value, 2), figure.measure.n, change and round(change.previous, 2)


async def test_nobody_has_answered(house: House, now: datetime) -> None:
    found = await read(house, now)
    assert ({}, "", []) == (found.values, found.by, [*found.groups])
    assert (None, 0, None) == shown(found.questions[0].figure)
    assert found.drivers is not None
    assert {0} == {row.figures[0].measure.n for row in found.drivers}


@pytest.mark.parametrize("value", ["", "south"])
async def test_equal_to_its_reports(stores: House, now: datetime, value: str) -> None:
    """The score, the mean and the share of each value, with those of the days before, of all and of one group."""
    found = {one.question.question_id: one for one in (await read(stores, now, value=value)).questions}
    day = (now - timedelta(days=10)).date()
    more: dict[str, Any] = {
        "from_time": f"{day}T00:00:00+02:00", "to_time": now.isoformat(), "compare": "previous_period",
    }  # fmt: skip
    if value:
        more["filter"] = f'{{"subject": "questionnaire_metadata:store_id", "operator": "equal", "value": "{value}"}}'

    def given(figure: Any) -> tuple[object, ...]:
        return figure["value"], figure["n"], figure["change"] and figure["change"]["previous"]

    for question_id, template in ((NPS, "nps"), (CSAT, "csat")):
        [row] = (await stores.template(template, **more))["rows"]
        assert given(row["figures"][0]) == shown(found[question_id].figure)
    for question_id in (NPS, CSAT, CHOICE, MANY):
        rows = (await stores.template("distribution", question_id=question_id, **more))["rows"]
        assert [given(row["figures"][0]) for row in rows] == [shown(row.figures[0]) for row in found[question_id].rows]
        assert [row["selection"]["condition"] for row in rows] != []
    drivers = await stores.template(
        "drivers", outcome_question_id=NPS, question_ids=MATRIX, **more | {"compare": "none"}
    )
    [mean] = [row["figures"][1] for row in drivers["rows"]]
    [row] = found[MATRIX].rows
    assert (mean["value"], mean["n"]) == shown(row.figures[0])[:2]
    assert found[MATRIX].is_of_means
    assert {1: 0.0, 2: 100.0, 3: 0.0} == {row.key["value"]: row.figures[0].measure.value for row in found[RANKING].rows}
    assert (None, ()) == (found[TEXT].figure, found[TEXT].rows)
    assert found[NUMBER].figure is not None
    assert 0 == shown(found[CES].figure)[1]


async def test_comments(stores: House, now: datetime) -> None:
    """The newest of the period, and of the group."""
    [found] = [one for one in (await read(stores, now)).questions if one.question.question_id == TEXT]
    assert ["north 0", "south 0"] == sorted(one.text for one in found.comments[:2])
    [found] = [one for one in (await read(stores, now, value="south")).questions if one.question.question_id == TEXT]
    assert ["south 0", "south 1", "south 2"] == [one.text for one in found.comments]


async def test_groups(stores: House, now: datetime) -> None:
    """Each group beside all others, whichever is chosen; a value that nobody has is none."""
    found = await read(stores, now, by="nothing", value="south")
    assert ("store_id", "south") == (found.by, found.value)
    assert {"store_id": ["south", "north"]} == found.values
    groups = {row.key["questionnaire_metadata:store_id"]: row.figures[0] for row in found.groups}
    assert {"south": (-60.0, 5), "north": (50.0, 4)} == {name: shown(one)[:2] for name, one in groups.items()}
    assert 50.0 == shown(groups["south"])[2]
    assert "" == (await read(stores, now, value="west")).value


async def test_a_name_of_many_values_makes_no_groups(
    stores: House, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(question_results, "VALUES_MAX", 1)
    found = await read(stores, now)
    assert ({}, 9) == (found.values, shown(found.total)[1])


async def test_values_that_hardly_come_again_make_no_groups(stores: House, now: datetime) -> None:
    """As numbers of orders, which would be the first groups of every shop that sends them."""
    for number in ("1042", "1043", "1043"):
        metadata = {"store_id": "south", "transaction_id": number}
        await stores.respond({NPS: 9}, now=now - timedelta(hours=1), metadata=metadata)
    found = await read(stores, now)
    assert ("store_id", ["store_id"]) == (found.by, [*found.values])


async def test_pages(stores: House, now: datetime, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(question_results, "QUESTIONS_MAX", 4)
    pages = [await read(stores, now, page=page) for page in range(4)]
    assert [4, 4, 2, 0] == [len(page.questions) for page in pages]
    assert [True, True, False, False] == [page.has_more for page in pages]
    assert [True, False, False, False] == [page.drivers is not None for page in pages]


async def test_drivers_of_a_group(stores: House, now: datetime, monkeypatch: pytest.MonkeyPatch) -> None:
    """As its report gives them with a filter, of as many responses as there are: no filter looks at them."""
    at = {"from_time": (now - timedelta(days=5)).isoformat(), "to_time": now.isoformat()}
    condition = '{"subject": "questionnaire_metadata:store_id", "operator": "equal", "value": "south"}'
    for number in range(10):
        answers = {NPS: number % 11, CSAT: number % 5 + 1, MATRIX: {ROW: number % 3 + 1}}
        await stores.respond(answers, now=now - timedelta(days=1), metadata={"store_id": "south"}, count=4)
    rows = (await stores.template("drivers", outcome_question_id=NPS, filter=condition, **at))["rows"]
    monkeypatch.setattr(counts, "FILTERED_MAX", 3)
    found = (await read(stores, now, value="south", period=at)).drivers or ()
    assert [row["key"] for row in rows] == [row.key for row in found]
    assert {45} == {row.figures[0].measure.n for row in found if row.key["question_id"] != CES}
    assert [row["figures"][0]["value"] for row in rows] == [
        value and round(value, 3) for value in (row.figures[0].measure.value for row in found)
    ]


class TestReaderOfFigures:
    @pytest.fixture
    def now(self, now: datetime) -> datetime:
        """In the middle of a month: at the beginning of one, the answers would be those of a month that is over."""
        return (now.replace(day=1) - timedelta(days=1)).replace(day=15)

    async def test_small_groups(self, stores: House, now: datetime) -> None:
        """Nothing of few people, whole months, no single answers; all of it for those who read each answer."""
        period = {"from_time": f"{now - timedelta(days=60)}", "to_time": f"{now}"}
        found = await read(stores, now, without="Questionnaire Instance.Read", value="south", period=period)
        assert not found.may_read
        assert found.drivers is None
        assert all(not one.comments for one in found.questions)
        figures = [row.figures[0] for one in found.questions for row in one.rows]
        figures += [one.figure for one in found.questions if one.figure is not None]
        assert all(figure.suppressed or figure.measure.n >= 5 for figure in figures)
        assert any(figure.suppressed for figure in figures)
        open_ = await read(stores, now, value="south", period=period)
        assert not any(row.figures[0].suppressed for one in open_.questions for row in one.rows)

    async def test_values_that_somebody_may_not_read(self, stores: House, now: datetime) -> None:
        """There are no groups then, and all the rest."""
        found = await read(stores, now, without="Questionnaire Value.Read", value="south")
        assert ({}, "", "", True) == (found.values, found.by, found.value, found.may_read)
        assert 9 == shown(found.total)[1]
