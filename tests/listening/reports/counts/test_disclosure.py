"""A hidden group stays hidden from a reader who may not read single answers, whatever reports are compared.

Each test is one way to compute a group of one to four people, which the organization's minimum base of five hides.
"""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import Any
from zoneinfo import ZoneInfo

import httpx2
import pytest

from afterword.asking.instances.store import Instance
from afterword.core.questionnaires import definition as core_definition
from afterword.kit import db
from tests.asking.instances.anonymity.test_service import (
    Survey,
    survey as survey,  # noqa: PLC0414  a fixture
)
from tests.asking.questionnaires.conftest import api as api  # noqa: PLC0414  a fixture
from tests.listening.reports.conftest import (
    CHOICE,
    CSAT,
    DOCUMENT,
    MANY,
    MATRIX,
    NPS,
    ROW,
    TEXT,
    ZONE,
    House,
    make_questionnaire,
)

MINIMUM = 5
STORE = "questionnaire_metadata:store_id"
SECOND = f"{'QSECOND':0<22}"
OTHER_ROW = f"{'ROWTWO':0<22}"


@dataclass
class Reader:
    """A token that reads reports and no single answer, over one month that is over."""

    house: House
    token: str
    month: datetime  # its first moment
    after: datetime

    @property
    def tenth(self) -> datetime:
        return self.month + timedelta(days=9)

    async def ask(self, template_id: str, **parameters: Any) -> Any:
        """The result of a template; None where it is refused."""
        given = {
            "questionnaire_id": self.house.questionnaire_id,
            "from_time": self.month.isoformat(),
            "to_time": self.after.isoformat(),
            **parameters,
        }
        return _result(await self.house.get(f"/report/template/{template_id}", token=self.token, **given))

    async def run(self, metrics: list[dict[str, Any]], **spec: Any) -> Any:
        """The result of a custom report that somebody else saved; None where it is refused."""
        period = {"from_time": self.month.isoformat(), "to_time": self.after.isoformat()}
        saved = {"questionnaire_ids": [self.house.questionnaire_id], "metrics": metrics, **period, **spec}
        response = await self.house.send("POST", "/report/custom", {"title": "Shared", "spec": saved})
        assert 201 == response.status_code, response.text
        path = f"/report/custom/{response.json()['report_id']}/run"
        return _result(await self.house.get(path, token=self.token))

    async def is_refused(self, template_id: str, **parameters: Any) -> bool:
        """Whether this reader alone is refused what readers of single answers may ask."""
        result, self.token, own = await self.ask(template_id, **parameters), self.house.token, self.token
        assert await self.ask(template_id, **parameters) is not None
        self.token = own
        return result is None

    async def by_store(self, **parameters: Any) -> dict[str, dict[str, Any]]:
        """The NPS of each store."""
        result = await self.ask("by_metadata", metric="nps", metadata=STORE, **parameters)
        return {row["key"][STORE]: row["figures"][0] for row in result["rows"]}

    async def answer(self, *values: int, at: datetime | None = None, store: str | None = None, **more: Any) -> None:
        """Each value the answer of somebody else to the NPS question, on the tenth if no other time is given."""
        metadata = {} if store is None else {"store_id": store}
        for value, alike in groupby(values):
            await self.respond({NPS: value}, now=at, metadata=metadata, count=len([*alike]), **more)

    async def respond(self, answers: dict[str, object], *, now: datetime | None = None, **more: Any) -> Instance:
        return await self.house.respond(answers, now=now or self.tenth, **more)

    async def stores(self) -> None:
        """Three people in s1, six in s2, eight and nine in the others."""
        for store, values in (("s1", [0] * 3), ("s2", [9] * 6), ("s3", [9] * 8), ("s4", [7] * 9)):
            await self.answer(*values, store=store)


def _result(response: Any) -> Any:
    assert response.status_code in {200, 422}, response.text
    return response.json() if response.status_code == 200 else None


def total(result: dict[str, Any] | None, metric: str | None = None) -> int | None:
    """The n of the total, or of one of its figures; None where it is hidden or refused."""
    if result is None:
        return None
    return next(each["n"] for each in result["total"] if metric in {None, each["metric"]})


def is_small(*numbers: int | None) -> bool:
    """Whether the first number less the others is a small group."""
    first, *others = numbers
    if first is None or any(each is None for each in others):
        return False
    return 0 < first - sum(each or 0 for each in others) < MINIMUM


@pytest.fixture
async def reader(house: House) -> Reader:
    async with db.connection(house.pool) as database:
        today = database.clock.now().astimezone(ZoneInfo(ZONE))
    after = today.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    month = (after - timedelta(days=1)).replace(day=1)
    return Reader(house, await house.token_for(scopes={"Report.Read"}), month.astimezone(UTC), after.astimezone(UTC))


class TestOneQuestion:
    """Ways that need one questionnaire with one question."""

    async def test_all_less_a_filter(self, reader: Reader) -> None:
        await reader.stores()
        every = total(await reader.ask("nps"))
        for operator, store in (("not_equal", "s1"), ("not_equal", "s2"), ("equal", "s1"), ("equal", "s2")):
            leaf = f'{{"subject": "{STORE}", "operator": "{operator}", "value": "{store}"}}'
            filtered = total(await reader.ask("nps", filter=leaf))
            assert not is_small(every, filtered)
            assert not is_small(filtered)
        assert 26 == every

    async def test_the_second_hidden_group_by_a_filter(self, reader: Reader) -> None:
        await reader.stores()
        rows = await reader.by_store()
        assert {"s1": None, "s2": None, "s3": 8, "s4": 9} == {store: figure["n"] for store, figure in rows.items()}
        result = await reader.ask("nps", filter=f'{{"subject": "{STORE}", "operator": "equal", "value": "s2"}}')
        assert (True, None) == (result["total"][0]["suppressed"], result["total"][0]["value"])

    async def test_one_date_basis_less_another(self, reader: Reader) -> None:
        await reader.answer(*[9] * 20)
        await reader.answer(*[0] * 3, complete=False)
        assert 23 == total(await reader.ask("nps", date_basis="submitted"))
        for basis in ("completed", "sent"):
            assert not is_small(23, total(await reader.ask("nps", date_basis=basis)))
            assert await reader.run([{"metric": "nps"}], date_basis=basis) is None

    async def test_by_store_and_by_store_and_language(self, reader: Reader) -> None:
        await reader.stores()
        await reader.answer(*[9] * 6, store="s3", locale="el")
        hidden = {store for store, figure in (await reader.by_store()).items() if figure["suppressed"]}
        result = await reader.run([{"metric": "nps"}], group_by=[STORE, "locale"])
        assert {"s1", "s2"} == hidden
        assert {("s3", "en", 8), ("s3", "el", 6), ("s4", "en", 9)} == {
            (row["key"][STORE], row["key"]["locale"], row["figures"][0]["n"]) for row in result["rows"]
        }

    async def test_the_rate_of_a_small_stage(self, reader: Reader) -> None:
        """Twenty were sent the questionnaire, three began and two completed it: 67 percent."""
        await reader.respond({}, count=17)
        await reader.respond({NPS: 9}, complete=False)
        await reader.respond({NPS: 9}, count=2)
        result = await reader.ask("funnel")
        found = {each["metric"]: each for each in result["total"]}
        assert found["completion"]["suppressed"]
        assert found["started"]["value"] is None
        assert found["completed"]["value"] is None

    async def test_rates_as_others_see_them(self, reader: Reader) -> None:
        """Twenty were sent the questionnaire, twelve began and seven completed it."""
        await reader.respond({}, count=8)
        await reader.respond({NPS: 9}, complete=False, count=5)
        await reader.respond({NPS: 9}, count=7)
        tokens = reader.house.token, reader.token
        others, own = [await replace(reader, token=token).ask("funnel") for token in tokens]
        found = {each["metric"]: each["value"] for each in own["total"]}
        assert {each["metric"]: each["value"] for each in others["total"]} == found
        assert 60 == found["response"]

    async def test_the_size_of_a_group_by_its_response_rate(self, reader: Reader) -> None:
        await reader.stores()
        for store in ("s1", "s2", "s3", "s4"):
            await reader.respond({}, metadata={"store_id": store}, count=20)
        result = await reader.run([{"metric": "nps"}, {"metric": "response"}], group_by=[STORE])
        rows = {row["key"][STORE]: row["figures"] for row in result["rows"]}
        assert [True, True] == [figure["suppressed"] for figure in rows["s1"]]
        assert [None, None] == [figure["value"] for figure in rows["s2"]], "the next smallest, for both"
        assert [8, 28] == [figure["n"] for figure in rows["s3"]]

    async def test_a_distribution_less_a_filter(self, reader: Reader) -> None:
        await reader.stores()
        every = await reader.ask("distribution", question_id=NPS)
        leaf = f'{{"subject": "{STORE}", "operator": "not_equal", "value": "s1"}}'
        others = await reader.ask("distribution", question_id=NPS, filter=leaf)
        assert (26, 17) == (total(every), total(others))

    async def test_answers_of_one_person(self, reader: Reader) -> None:
        """Five answers of somebody are no group of five."""
        await reader.answer(*[9] * 12, store="s2")
        await reader.answer(*[8] * 9, store="s3")
        first = await reader.respond({NPS: 0}, metadata={"store_id": "s1"})
        for _ in range(4):
            await reader.respond({NPS: 0}, metadata={"store_id": "s1"}, responder_id=first.responder_id)
        assert {"s1": None, "s2": 12, "s3": None} == {
            store: figure["n"] for store, figure in (await reader.by_store()).items()
        }

    async def test_one_person_alone(self, reader: Reader) -> None:
        first = await reader.respond({NPS: 0})
        for _ in range(5):
            await reader.respond({NPS: 0}, responder_id=first.responder_id)
        for result in (await reader.ask("nps"), await reader.ask("distribution", question_id=NPS),
                       await reader.ask("funnel")):  # fmt: skip
            assert all(figure["value"] is None for figure in result["total"] if figure["n"] != 0)

    async def test_the_total_less_the_shown_rows(self, reader: Reader) -> None:
        await reader.stores()
        rows = [figure["n"] for figure in (await reader.by_store()).values() if figure["n"] is not None]
        assert not is_small(total(await reader.ask("nps")), *rows)

    async def test_one_person_in_a_window_and_its_change(self, reader: Reader) -> None:
        await reader.answer(*[9] * 10)
        await reader.answer(0, at=reader.month - timedelta(days=3))
        result = await reader.ask("nps", compare="previous_period")
        assert (10, None) == (result["total"][0]["n"], result["total"][0]["change"])


class TestTime:
    """Ways that compare two times."""

    @pytest.mark.parametrize("step", [timedelta(seconds=1), timedelta(days=1)])
    async def test_periods_that_differ_by_a_moment_or_a_day(self, reader: Reader, step: timedelta) -> None:
        noon = reader.tenth
        await reader.answer(*[9] * 10, at=noon - 2 * step)
        await reader.answer(0, at=noon)
        ends = [(noon + step).isoformat(), noon.isoformat()]
        found = [total(await reader.ask("nps", to_time=end)) for end in ends]
        assert [11, 11] == found
        starts = [noon.isoformat(), (noon + step).isoformat()]
        assert [11, 11] == [total(await reader.ask("nps", from_time=start)) for start in starts]

    async def test_the_month_that_goes_on(self, reader: Reader) -> None:
        """A report a minute later has nobody new in it."""
        await reader.answer(*[9] * 10)
        result = await reader.ask("nps", to_time=(reader.after + timedelta(hours=1)).isoformat())
        await reader.answer(*[0] * 6, at=reader.after + timedelta(minutes=1))
        later = await reader.ask("nps", to_time=(reader.after + timedelta(hours=1)).isoformat())
        assert result["total"] == later["total"]
        assert result["period"]["to_time"] == later["period"]["to_time"]
        assert reader.after == datetime.fromisoformat(later["period"]["to_time"])

    async def test_a_month_of_a_quarter(self, reader: Reader) -> None:
        """Six people in two months, three in one: the longer time less the shorter one would be those three."""
        before = reader.month - timedelta(days=5)
        await reader.answer(*[9] * 8, store="s1")
        await reader.answer(*[9] * 8, store="s2")
        await reader.answer(*[0] * 3, store="s1", at=before)
        await reader.answer(*[9] * 9, store="s2", at=before)
        longer = await reader.by_store(from_time=before.isoformat())
        shorter = await reader.by_store()
        assert {"s1": 8, "s2": 8} == {store: figure["n"] for store, figure in longer.items()}
        assert {"s1": 8, "s2": 8} == {store: figure["n"] for store, figure in shorter.items()}
        assert 28 == total(await reader.ask("nps", from_time=before.isoformat()))

    async def test_a_trend_by_day(self, reader: Reader) -> None:
        for bucket in ("day", "week"):
            assert await reader.is_refused("trend", metric="nps", bucket=bucket), bucket

    async def test_another_time_zone(self, reader: Reader) -> None:
        assert await reader.is_refused("nps", time_zone="Asia/Tokyo")
        assert await reader.ask("nps", time_zone=ZONE) is not None

    async def test_months_are_compared_with_months(self, reader: Reader) -> None:
        """As many days before would reach into another month, where this one is the longer."""
        before = (reader.month - timedelta(days=5)).astimezone(ZoneInfo(ZONE)).replace(day=1)
        await reader.answer(*[9] * 10)
        await reader.answer(*[0] * 10, at=before + timedelta(hours=12))
        await reader.answer(*[9] * 10, at=before - timedelta(hours=12))
        result = await reader.ask("nps", compare="previous_period")
        assert -100 == result["total"][0]["change"]["previous"]


class TestQuestions:
    """Ways that compare questions or questionnaires."""

    @pytest.fixture
    async def second(self, reader: Reader) -> str:
        """A questionnaire with a second NPS question and a second row of the matrix."""
        house, group = reader.house, DOCUMENT["groups"][0]
        questions = [
            {**each, "rows": [*each["rows"], {"row_id": OTHER_ROW, "label": "Drinks"}]} if "rows" in each else each
            for each in group["questions"]
        ]
        questions.append({"question_id": SECOND, "type": "nps", "title": "And we?"})
        document = {**DOCUMENT, "groups": [{**group, "questions": questions}]}
        house.definition = core_definition.parse(document)
        async with db.transaction(house.pool) as database:
            return await make_questionnaire(database, house.caller.organization_id, house.application_id, document)

    async def test_all_questions_less_one(self, reader: Reader, second: str) -> None:
        await self.answer_both(reader, second)
        every = await reader.ask("nps", questionnaire_id=second)
        one = await reader.ask("nps", questionnaire_id=second, question_id=NPS)
        other = await reader.ask("nps", questionnaire_id=second, question_id=SECOND)
        assert (12, 12, None) == (total(every), total(one), total(other))
        assert [12, None] == [row["figures"][0]["n"] for row in every["rows"]]

    async def test_all_questions_less_one_in_one_report(self, reader: Reader, second: str) -> None:
        await self.answer_both(reader, second)
        result = await reader.run([{"metric": "nps"}, {"metric": "nps", "question_id": NPS}],
                                  questionnaire_ids=[second])  # fmt: skip
        assert [12, 12] == [figure["n"] for figure in result["total"]]

    async def answer_both(self, reader: Reader, second: str) -> None:
        await reader.respond({NPS: 9, SECOND: 0}, questionnaire_id=second, count=3)
        await reader.respond({NPS: 9}, questionnaire_id=second, count=9)

    async def test_one_row_of_a_matrix(self, reader: Reader, second: str) -> None:
        """Six judged the food in one month, two in the month before: both months less one are those two."""
        before = reader.month - timedelta(days=5)
        for moment, judged in ((reader.tenth, 6), (before, 2)):
            for rows, count in (({ROW: 1, OTHER_ROW: 2}, judged), ({OTHER_ROW: 2}, 8 - judged)):
                await reader.respond({MATRIX: rows}, now=moment, questionnaire_id=second, count=count)
        given = {"questionnaire_id": second, "question_id": MATRIX, "from_time": before.isoformat()}
        both = await reader.ask("distribution", **given)
        assert [6, 16] == [figure["n"] for figure in both["total"]]
        alone = await reader.ask("distribution", **given, to_time=reader.month.isoformat())
        assert [None, 8] == [figure["n"] for figure in alone["total"]]

    async def test_two_questionnaires_less_one(self, reader: Reader, second: str) -> None:
        await reader.answer(*[9] * 12)
        await reader.answer(*[0] * 3, questionnaire_id=second)
        both = await reader.ask("nps", questionnaire_id=f"{reader.house.questionnaire_id},{second}")
        assert (12, 12) == (total(both), total(await reader.ask("nps")))
        funnel = await reader.ask("funnel", questionnaire_id=f"{reader.house.questionnaire_id},{second}")
        assert 12 == total(funnel, "sent")

    async def test_drivers(self, reader: Reader) -> None:
        """The products of two ratings tell single people apart."""
        assert await reader.is_refused("drivers", outcome_question_id=NPS, question_ids=CSAT)


class TestFilters:
    """Ways that combine filters."""

    async def test_what_a_filter_may_compare(self, reader: Reader) -> None:
        for subject in (f"question:{MANY}", f"question:{TEXT}", "tag:angry"):
            leaf = f'{{"subject": "{subject}", "operator": "is_empty"}}'
            assert await reader.is_refused("nps", filter=leaf)
        leaf = f'{{"subject": "question:{CHOICE}", "operator": "equal", "value": 1}}'
        assert await reader.ask("nps", filter=leaf) is not None

    async def test_three_attributes(self, reader: Reader) -> None:
        leaf = f'{{"subject": "question:{CHOICE}", "operator": "equal", "value": 1}}'
        assert await reader.run([{"metric": "nps"}], group_by=[STORE, "locale", "version"]) is None
        assert await reader.ask("by_metadata", metric="nps", metadata=STORE, filter=leaf) is not None
        assert await reader.run([{"metric": "nps"}], group_by=[STORE, "bucket"], bucket="month") is not None

    async def test_channels_and_pipelines(self, reader: Reader) -> None:
        assert await reader.is_refused("funnel", channel_id=1)
        assert await reader.is_refused("funnel", pipeline_id="z" * 22)

    async def test_the_general_tracker(self, reader: Reader) -> None:
        """Two large groups that overlap in a small one: C = A and B is A + B less (A or B)."""
        await reader.stores()
        for value in (1, 2, 3):
            for store in ("s3", "s4"):
                count = 2 if value == 1 else 9
                await reader.respond({NPS: 9, CHOICE: value}, metadata={"store_id": store}, count=count)
        a = f'{{"subject": "{STORE}", "operator": "in", "value": ["s3", "s1"]}}'
        b = f'{{"subject": "question:{CHOICE}", "operator": "equal", "value": 1}}'
        ways = [a, b, f'{{"all": [{a}, {b}]}}', f'{{"any": [{a}, {b}]}}', f'{{"all": [{a}, {{"not": {b}}}]}}']
        of_a, of_b, both, either, first_alone = [total(await reader.ask("nps", filter=way)) for way in ways]
        assert (28, None) == (of_a, both)
        assert not is_small(of_a, first_alone)
        if of_a is not None and of_b is not None:
            assert not is_small(of_a + of_b, either)

    async def test_two_names_of_the_same(self, reader: Reader) -> None:
        """By id and by title the same stores are hidden, although the next smallest are alike."""
        titles = {"s1": "Volos", "s2": "Xanthi", "s3": "Athens", "s4": "Patras"}
        for store, number in (("s1", 3), ("s2", 6), ("s3", 6), ("s4", 9)):
            metadata = {"store_id": store, "title": titles[store]}
            await reader.respond({NPS: 9}, metadata=metadata, count=number)
        by_id = {titles[store] for store, figure in (await reader.by_store()).items() if figure["suppressed"]}
        result = await reader.ask("by_metadata", metric="nps", metadata="questionnaire_metadata:title")
        shown = {row["key"]["questionnaire_metadata:title"] for row in result["rows"]
                 if not row["figures"][0]["suppressed"]}  # fmt: skip
        assert {"Volos", "Xanthi", "Athens"} == by_id
        assert {"Patras"} == shown

    async def test_a_cell_by_its_margins(self, reader: Reader) -> None:
        """Two people of s3 write Greek; the table less its margins would show them."""
        for store, locale, number in (("s3", "en", 20), ("s3", "el", 2), ("s4", "en", 30), ("s4", "el", 25),
                                      ("s5", "en", 40), ("s5", "el", 35)):  # fmt: skip
            await reader.answer(*[9] * number, store=store, locale=locale)
        result = await reader.run([{"metric": "nps"}], group_by=[STORE, "locale"])
        turned = await reader.run([{"metric": "nps"}], group_by=["locale", STORE])
        cells = {(row["key"][STORE], row["key"]["locale"]): row["figures"][0]["n"] for row in result["rows"]}
        assert {("s5", "en"): 40, ("s5", "el"): 35} == cells
        assert cells == {(row["key"][STORE], row["key"]["locale"]): row["figures"][0]["n"] for row in turned["rows"]}
        assert (152, 0) == (total(result), result["suppressed_rows"])


class TestReadersOfSingleAnswers:
    """Nothing is hidden from them."""

    async def test_filters_days_and_bases(self, reader: Reader) -> None:
        await reader.stores()
        reader.token = reader.house.token
        leaf = f'{{"subject": "{STORE}", "operator": "not_equal", "value": "s1"}}'
        assert 23 == total(await reader.ask("nps", filter=leaf))
        assert await reader.ask("trend", metric="nps", bucket="day") is not None
        assert 26 == total(await reader.ask("nps", date_basis="completed"))
        assert {"s1": 3, "s2": 6, "s3": 8, "s4": 9} == {
            store: figure["n"] for store, figure in (await reader.by_store()).items()
        }


ANSWERED, SENT = 5, 8


async def figures(survey: Survey, template_id: str, **parameters: str) -> dict[str, Any]:
    given = {"questionnaire_id": survey.questionnaire_id, **parameters}
    found = await survey.api.get(f"/report/template/{template_id}?{httpx2.QueryParams(given)}")
    assert 200 == found.status_code, found.text
    rows = [{each["metric"]: each for each in row["figures"]} for row in found.json()["rows"]]
    return max(rows, key=lambda row: row["sent"]["value"])  # beside the responses, which no channel brought


async def listed(survey: Survey, *stages: str) -> int:
    given = {"questionnaire_id[]": survey.questionnaire_id, "stage[]": stages}
    found = await survey.api.get(f"/report/invitation?{httpx2.QueryParams(given)}")
    assert 200 == found.status_code, found.text
    return len(found.json()["results"])


@pytest.fixture
async def answered(survey: Survey, pool: db.Pool) -> Survey:
    """Eight mails were sent and delivered, and five of them answered."""
    await survey.answer(ANSWERED)
    for number in range(ANSWERED, SENT):
        await survey.invite(number)
    async with db.transaction(pool) as database:
        await database.execute("update organization set minimum_base = 1")
        await database.execute(
            """update questionnaire_instance set channel_id = 1, sent_time = created_time, delivered_time = created_time
               where anonymity = 'invitation'"""
        )
    return survey


async def test_funnel(answered: Survey) -> None:
    found = await figures(answered, "funnel")
    stages = {"created": 8, "sent": 8, "delivered": 8, "viewed": 5, "started": 5, "submitted": 5, "completed": 5}
    assert stages == {name: found[name]["value"] for name in stages}
    assert [8, 8, 5, 5] == [await listed(answered, *each) for each in ((), ("sent",), ("started",), ("completed",))]


async def test_rates(answered: Survey) -> None:
    for parameters in ({}, {"by": "channel"}):
        found = await figures(answered, "sending", **parameters)
        assert (62.5, 8) == (found["response"]["value"], found["response"]["n"]), found
        assert 5 == await listed(answered, "sent", "submitted")
