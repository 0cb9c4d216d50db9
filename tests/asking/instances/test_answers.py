"""Saving answers: what is kept, what is refused, what becomes of the instance, and which events tell it."""

import asyncio
from collections import Counter
from datetime import timedelta

import pytest

from afterword import errors
from afterword.asking.instances import answers as answers_service, service
from afterword.asking.instances.answers import Closed, Expired, Finalized, Inactive
from afterword.asking.instances.issuing import IssueInput
from afterword.asking.instances.service import Change
from afterword.asking.instances.store import Instance
from afterword.core.answers.values import Given
from afterword.core.questionnaires.metadata import Changes
from afterword.kit import db
from tests.asking.instances.conftest import MULTI, NOW, NPS, SINGLE, TEXT, World

STATEMENT = "QSTATEMENT000000000001"
DAY = timedelta(days=1)


async def stored(world: World, instance: Instance) -> dict[str, object]:
    async with db.connection(world.pool) as database:
        answers = await answers_service.list_answers(
            database, organization_id=instance.organization_id, instance_id=instance.instance_id
        )
    return {answer.question_id: answer.value for answer in answers}


class TestRefusals:
    async def test_expired(self, world: World) -> None:
        """More days reopen it."""
        instance = await world.issue(IssueInput(valid_days=7))

        for complete in (False, True):
            with pytest.raises(Expired) as refusal:
                await world.save(instance, {NPS: 10}, complete=complete, now=NOW + 7 * DAY)
            assert (410, "expired") == (refusal.value.status, refusal.value.code)
        assert {} == await stored(world, instance)
        async with db.transaction(world.pool) as database:
            await service.update(
                database,
                caller=world.caller,
                instance_id=instance.instance_id,
                change=Change(valid_days=9),
                now=NOW + 8 * DAY,
            )

        saved = await world.save(instance, {NPS: 10}, now=NOW + 8 * DAY)  # the record from before: only its id counts

        assert NOW + 8 * DAY == saved.instance.submitted_time

    async def test_finalized(self, world: World) -> None:
        instance = await world.issue()
        await world.save(instance, {NPS: 10}, complete=True)

        for answers, complete in (({NPS: 1}, False), ({NPS: 1}, True), ({NPS: None}, False), ({}, True)):
            with pytest.raises(Finalized) as refusal:
                await world.save(instance, answers, complete=complete)
            assert (409, "finalized") == (refusal.value.status, refusal.value.code)
        assert {NPS: 10} == await stored(world, instance)

    async def test_inactive(self, world: World) -> None:
        instance = await world.issue()
        await world.set_questionnaire(active=False)

        with pytest.raises(Inactive):
            await world.save(instance, {NPS: 10})

    async def test_unknown_question(self, world: World) -> None:
        """One that was not drawn is unknown too."""
        instance = await world.issue()
        async with db.transaction(world.pool) as database:
            await database.execute("update questionnaire_instance set question_ids = $1", [NPS])

        for question_id in ("0" * 22, SINGLE):
            with pytest.raises(errors.Invalid) as refusal:
                await world.save(instance, {NPS: 10, question_id: 1})
            assert ["unknown_id"] == [error.code for error in refusal.value.errors]
            assert {} == await stored(world, instance)

    async def test_closed(self, world: World) -> None:
        first, second, third = [await world.issue() for _ in range(3)]
        await world.save(first, {NPS: 10})
        await world.set_questionnaire(responses_max=2)
        await world.save(second, {NPS: 10})

        with pytest.raises(Closed):
            await world.save(third, {NPS: 10})
        assert {NPS: 9} == await stored(world, (await world.save(first, {NPS: 9})).instance)  # it has its seat

    async def test_closed_at_once(self, world: World) -> None:
        instances = [await world.issue() for _ in range(12)]
        await world.set_questionnaire(responses_max=3)

        results = await asyncio.gather(
            *(world.save(instance, {NPS: 10}) for instance in instances), return_exceptions=True
        )

        assert 3 == sum(not isinstance(result, BaseException) for result in results)
        assert 9 == sum(isinstance(result, Closed) for result in results)


class TestWrongAnswers:
    async def test_one(self, world: World) -> None:
        """Right answers are kept."""
        instance = await world.issue()
        for question_id, value, code in (
            (NPS, 11, "out_of_range"),
            (NPS, "7", "wrong_type"),
            (NPS, True, "wrong_type"),
            (SINGLE, 3, "unknown_value"),
            (MULTI, [1, 1], "duplicate"),
            (MULTI, 1, "wrong_type"),
            (TEXT, "x" * 21, "too_long"),
            (TEXT, " ", "too_short"),
            (STATEMENT, 1, "unknown_value"),
        ):
            saved = await world.save(instance, {question_id: value}, complete=True)
            assert [(f"/answers/{question_id}", code)] == [(error.pointer, error.code) for error in saved.wrong]
            assert saved.instance == instance
            assert {} == await stored(world, instance)

        saved = await world.save(instance, {NPS: 7, SINGLE: 99}, complete=True)

        assert {NPS: 7} == await stored(world, instance)
        assert (NOW, False) == (saved.instance.submitted_time, saved.instance.finalized)

    async def test_a_finalized_one_stays_whole(self, world: World) -> None:
        instance = await world.issue(IssueInput(editable=True))
        await world.save(instance, {NPS: 10}, complete=True)

        for answers in ({NPS: None}, {NPS: 7}, {NPS: 10, SINGLE: 99}):  # 7 leads on to a required question
            saved = await world.save(instance, answers)
            assert saved.wrong
        assert {NPS: 10} == await stored(world, instance)
        assert ["created", "viewed", "submitted", "completed"] == await world.news(instance.instance_id)


class TestSave:
    async def test_first_answer(self, world: World) -> None:
        instance = await world.issue()

        saved = await world.save(instance, {NPS: 7}, now=NOW + DAY)

        assert (NOW + DAY, NOW + DAY, None, 2) == (
            saved.instance.viewed_time,
            saved.instance.submitted_time,
            saved.instance.completed_time,
            saved.instance.version,
        )
        again = await world.save(instance, {NPS: 7, SINGLE: None}, now=NOW + 2 * DAY)  # nothing new
        assert saved.instance == again.instance
        assert ["created", "viewed", "submitted"] == await world.news(instance.instance_id)

    async def test_every_kind(self, world: World) -> None:
        instance = await world.issue()

        await world.save(instance, {NPS: 0, SINGLE: Given(2, " Φίλος "), MULTI: [2, 1], TEXT: " fine\r\nyes "})

        assert {NPS: 0, SINGLE: 2, MULTI: [1, 2], TEXT: "fine\nyes"} == await stored(world, instance)
        async with db.connection(world.pool) as database:
            answers = await answers_service.list_answers(
                database, organization_id=instance.organization_id, instance_id=instance.instance_id
            )
        assert ["Φίλος"] == [answer.other_text for answer in answers if answer.question_id == SINGLE]

    async def test_change_and_take_back(self, world: World) -> None:
        instance = await world.issue()
        await world.save(instance, {NPS: 7, MULTI: [1]})

        await world.save(instance, {NPS: 8, MULTI: None})

        assert {NPS: 8} == await stored(world, instance)
        saved = await world.save(instance, {NPS: None}, now=NOW + DAY)
        assert NOW == saved.instance.submitted_time  # it stays


class TestComplete:
    async def test_required(self, world: World) -> None:
        wanted: list[tuple[dict[str, object], list[str]]] = [
            ({}, [NPS, SINGLE]),
            ({NPS: 9}, [SINGLE]),
            ({SINGLE: 1}, [NPS]),
            ({NPS: 9, SINGLE: 1}, []),
            ({NPS: 10}, []),  # jumps over the second page
        ]
        for answers, missing in wanted:
            instance = await world.issue()
            saved = await world.save(instance, answers, complete=True)
            assert [(f"/answers/{one}", "required") for one in missing] == [(w.pointer, w.code) for w in saved.wrong]
            assert (not missing) is saved.instance.finalized
            assert answers == await stored(world, instance)

    async def test_in_two_steps(self, world: World) -> None:
        instance = await world.issue(IssueInput(metadata=Changes({"store_id": "7"}, {"first_name": "Ann"})))
        await world.save(instance, {NPS: 7})

        saved = await world.save(instance, {SINGLE: 1}, complete=True, now=NOW + DAY)

        assert (True, NOW + DAY, NOW) == (
            saved.instance.finalized,
            saved.instance.completed_time,
            saved.instance.submitted_time,
        )
        *_, event = await world.events(instance.instance_id)
        assert ("questionnaire_instance.completed", "responder", False) == (
            event.type,
            event.actor_kind,
            event.is_terminal,
        )
        assert {(NPS, 7), (SINGLE, 1)} == {(one["question_id"], one["value"]) for one in event.data["answers"]}
        assert {"questionnaire": {"store_id": "7"}, "responder": {"first_name": "Ann"}} == event.data["metadata"]

    async def test_changed_while_editable(self, world: World) -> None:
        """The end stays; each change is told as updated, and one that changes nothing is not."""
        instance = await world.issue(IssueInput(editable=True))
        await world.save(instance, {NPS: 10}, complete=True)

        changed = await world.save(instance, {NPS: 7, SINGLE: 1}, complete=True, now=NOW + DAY)
        await world.save(instance, {NPS: 7}, complete=True, now=NOW + DAY)

        assert (NOW, True) == (changed.instance.completed_time, changed.instance.finalized)
        assert ["created", "viewed", "submitted", "completed", "updated"] == await world.news(instance.instance_id)
        with pytest.raises(Expired):
            await world.save(instance, {NPS: 8, SINGLE: 1}, now=NOW + 30 * DAY)

    async def test_twenty_at_once(self, world: World) -> None:
        """One of them completes, all others find it done."""
        instance = await world.issue()

        results = await asyncio.gather(
            *(world.save(instance, {NPS: 10}, complete=True) for _ in range(20)), return_exceptions=True
        )

        assert 1 == sum(not isinstance(result, BaseException) for result in results)
        assert 19 == sum(isinstance(result, Finalized) for result in results)
        assert {"created": 1, "viewed": 1, "submitted": 1, "completed": 1} == Counter(
            await world.news(instance.instance_id)
        )

    async def test_twenty_at_once_while_editable(self, world: World) -> None:
        instance = await world.issue(IssueInput(editable=True))

        await asyncio.gather(
            *(world.save(instance, {NPS: number % 11, SINGLE: 1}, complete=True) for number in range(20))
        )

        told = Counter(await world.news(instance.instance_id))
        assert (1, 1, 1) == (told["viewed"], told["submitted"], told["completed"])
        assert 2 + told["completed"] + told["updated"] - 1 == (await world.stored(instance)).version

    async def test_pages_at_once(self, world: World) -> None:
        """Answers of different pages, posted at the same moment, are all kept."""
        instance = await world.issue()
        pages = [{NPS: 3}, {SINGLE: 1}, {MULTI: [1]}, {TEXT: "yes"}]

        await asyncio.gather(*(world.save(instance, page) for page in pages))

        assert {NPS: 3, SINGLE: 1, MULTI: [1], TEXT: "yes"} == await stored(world, instance)


class TestView:
    async def view(self, world: World, instance_id: str, *, days: int = 0) -> None:
        async with db.transaction(world.pool) as database:
            await answers_service.record_view(database, instance_id=instance_id, now=NOW + days * DAY)

    async def test_once(self, world: World) -> None:
        """A view after the end is not recorded."""
        instance = await world.issue()

        await self.view(world, instance.instance_id, days=30)
        assert (await world.stored(instance)).viewed_time is None
        await asyncio.gather(*(self.view(world, instance.instance_id, days=day) for day in range(10)))
        assert 2 == (await world.stored(instance)).version
        assert ["created", "viewed"] == await world.news(instance.instance_id)


async def test_takes_answers(world: World) -> None:
    first, second = await world.issue(), await world.issue()
    await world.save(first, {NPS: 10}, complete=True)
    await world.set_questionnaire(responses_max=1)

    async with db.connection(world.pool) as database:
        for instance in (first, second):
            context = await answers_service.read_context(database, instance_id=instance.instance_id)
            assert not await answers_service.takes_answers(
                database, instance=context.instance, issuable=context.questionnaire, now=NOW
            )
