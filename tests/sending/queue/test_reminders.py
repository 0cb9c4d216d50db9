"""Reminders on a real PostgreSQL: made when a message was sent, about the same instance, ended by the first answer."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final, LiteralString

import pytest

from afterword.core.text.locales import normalise
from afterword.kit import db
from afterword.kit.transport.base import Refused, Retry, Unknown
from afterword.sending.messages import composing
from afterword.sending.messages.composing import MessageContext
from afterword.sending.queue import reminders
from afterword.sending.queue.records import QueueItemRecord
from afterword.sending.queue.sending.dispatches import Dispatch
from tests.conftest import settled
from tests.sending.queue.conftest import OK, Queue

SCHEDULED, SENT, ABORTED, IGNORED = 1, 4, 7, 8
DAY = timedelta(days=1)


def reminder(days: int, **texts: str) -> dict[str, Any]:
    messages = {tag: {"subject": f"{text}?", "body": text} for tag, text in texts.items()}
    return {"delay_days": days, "delay_hours": 1, "delay_minutes": 0, "messages": messages}


@pytest.fixture
async def reminding(queue: Queue) -> Queue:
    """Two reminders: after 2 days and an hour, and 5 days and an hour after that."""
    wanted = [reminder(2, en="Still there", el="Ακόμη εδώ"), reminder(5)]
    await queue.execute("update pipeline set reminders = $1, version = version + 1", wanted)
    return queue


async def reminders_of(queue: Queue, item: QueueItemRecord | Dispatch) -> list[Mapping[str, Any]]:
    item_id = item.item_id if isinstance(item, QueueItemRecord) else item.item.item_id
    return list(await queue.fetch("select * from queue_item where previous_item_id = $1", item_id))


async def let_it_be_due(queue: Queue) -> None:
    await queue.execute("update queue_item set due_time = now() where status = 1")


ANSWERED: Final[list[LiteralString]] = [
    "update questionnaire_instance set submitted_time = now()",
    "update questionnaire_instance set finalized = true, anonymity = 'invitation'",
]


class TestMade:
    @pytest.mark.parametrize(
        "outcome", [Refused("no"), Retry("recipient", "busy"), Retry("throttle", "slow"), Unknown("?")]
    )
    async def test_not_before_it_is_sent(self, reminding: Queue, outcome: Any) -> None:
        item = await reminding.sent(outcome=outcome)

        assert [] == await reminders_of(reminding, item)

    async def test_not_where_there_is_none(self, queue: Queue) -> None:
        item = await queue.sent()

        assert [] == await reminders_of(queue, item)

    @pytest.mark.parametrize("answered", ANSWERED)
    async def test_not_after_an_answer(self, reminding: Queue, answered: LiteralString) -> None:
        item = await reminding.schedule()
        worker = reminding.worker()
        begun = await worker.begin(*await worker.claim())
        await reminding.execute(answered)  # a page opened by a machine
        await worker.settle(OK, *begun)

        assert [] == await reminders_of(reminding, item)

    async def test_not_when_it_can_no_longer_be_answered(self, reminding: Queue) -> None:
        await reminding.execute("update questionnaire set valid_days = 2, version = version + 1")
        item = await reminding.sent()

        assert [] == await reminders_of(reminding, item)

    async def test_ok(self, reminding: Queue) -> None:
        item = await reminding.schedule(
            locale="el", metadata={"questionnaire": {"store_id": "7"}, "responder": {"name": "Ann"}}
        )
        [dispatch] = await reminding.worker().send(OK)

        [found] = await reminders_of(reminding, item)
        sent = await reminding.row(item)
        assert ("reminder", 1, SCHEDULED) == (found["source"], found["reminder_number"], found["status"])
        for name in (
            "questionnaire_id", "pipeline_id", "responder_channel_identifier", "address_key", "responder_id", "locale",
            "metadata", "attempts_max", "resend_after_seconds", "questionnaire_instance_id",
        ):  # fmt: skip
            assert sent[name] == found[name], name
        assert dispatch.instance.instance_id == found["questionnaire_instance_id"]
        assert sent["dispatched_time"].replace(microsecond=0) + 2 * DAY + timedelta(hours=1) == found["send_time"]
        assert found["send_time"] == found["due_time"]
        assert found["send_time"] + 3 * DAY == found["not_after"]
        told = await reminding.fetch("select type, actor_kind from event where subject_id = $1", found["item_id"])
        assert [("queue_item.created", "worker")] == [tuple(row) for row in told]

    async def test_expires_with_the_instance(self, reminding: Queue) -> None:
        await reminding.execute("update questionnaire set valid_days = 3, version = version + 1")
        item = await reminding.sent()

        [found] = await reminders_of(reminding, item)
        sent_time = await reminding.value("select sent_time from questionnaire_instance")
        assert sent_time + 3 * DAY == found["not_after"]

    async def test_one_after_the_other(self, reminding: Queue) -> None:
        item = await reminding.schedule()
        numbers: list[int | None] = []
        while found := await reminding.worker().send(OK):
            numbers += [dispatch.item.reminder_number for dispatch in found]
            await let_it_be_due(reminding)

        assert [None, 1, 2] == numbers
        assert 1 == await reminding.value("select count(*) from questionnaire_instance")
        assert 1 == await reminding.value("select count(*) from responder")
        chain = await reminding.fetch("select previous_item_id from queue_item order by item_id")
        assert chain[0]["previous_item_id"] is None
        assert item.item_id == chain[1]["previous_item_id"]

    async def test_twice_makes_one(self, reminding: Queue) -> None:
        item = await reminding.sent()
        async with db.transaction(reminding.pool) as database:
            key = item.organization_id, item.item_id
            await reminders.schedule_next(database, sent=[key, key], now=database.clock.now())

        assert 1 == len(await reminders_of(reminding, item))

    async def test_of_a_late_truth(self, reminding: Queue) -> None:
        """A 250 of a worker that was fenced meanwhile."""
        item = await reminding.schedule()
        worker = reminding.worker()
        begun = await worker.begin(*await worker.claim())
        await reminding.shift(timedelta(minutes=2))
        await reminding.reap()
        assert [] == await reminders_of(reminding, item)
        await worker.settle(OK, *begun)

        assert SENT == await reminding.status(item)
        assert 1 == len(await reminders_of(reminding, item))

    async def test_of_what_a_person_knows(self, reminding: Queue) -> None:
        item = await reminding.schedule()
        await reminding.execute("update queue_item set resend_after_seconds = null")
        await reminding.worker().send(Unknown("?"))
        await reminding.resolve(item, is_sent=True)

        assert 1 == len(await reminders_of(reminding, item))


class TestEnded:
    async def test_by_an_answer_at_once(self, reminding: Queue) -> None:
        item = await reminding.schedule()
        [dispatch] = await reminding.worker().send(OK)
        await reminding.execute("update questionnaire_instance set submitted_time = now()")
        await reminding.execute(
            """insert into event (organization_id, event_id, type, questionnaire_id, subject_id, actor_kind, data)
               values ($1, $2, 'questionnaire_instance.submitted', $3, $2, 'responder', '{}')""",
            item.organization_id,
            dispatch.instance.instance_id,
            item.questionnaire_id,
        )
        await settled(reminding.pool)
        async with db.transaction(reminding.pool) as database:
            while await reminders.end_answered(database, limit=100) == 100:
                pass

        assert [] == await reminding.worker().claim()
        [found] = await reminders_of(reminding, item)
        assert (IGNORED, "already_answered", "Ignored: already answered") == (
            found["status"], found["reason"], found["result"],
        )  # fmt: skip

    @pytest.mark.parametrize("answered", ANSWERED)
    async def test_by_an_answer_even_if_nobody_heard_of_it(self, reminding: Queue, answered: LiteralString) -> None:
        item = await reminding.sent()
        await reminding.execute(answered)
        await let_it_be_due(reminding)

        assert [] == await reminding.worker().claim()
        [found] = await reminders_of(reminding, item)
        assert (IGNORED, "already_answered") == (found["status"], found["reason"])

    @pytest.mark.parametrize(
        ("statement", "reason"),
        [
            ("update questionnaire_instance set deleted_time = now()", "instance_expired"),
            ("update questionnaire_instance set sent_time = now() - interval '31 days'", "instance_expired"),
            ("update pipeline set end_time = now(), version = version + 1", "ended"),
            (
                """insert into suppression (organization_id, suppression_id, channel_id, address_key, identifier,
                     reason)
                   select organization_id, item_id, 1, address_key, 'a', 'unsubscribed' from queue_item
                   where status = 4""",
                "unsubscribed",
            ),
        ],
    )
    async def test_by_a_rule(self, reminding: Queue, statement: str, reason: str) -> None:
        item = await reminding.sent()
        await reminding.execute(statement)
        await let_it_be_due(reminding)

        assert [] == await reminding.worker().claim()
        [found] = await reminders_of(reminding, item)
        assert (IGNORED, reason) == (found["status"], found["reason"])
        assert 2 == await reminding.value("select count(*) from queue_item")  # and no further one

    async def test_by_a_cancel(self, reminding: Queue) -> None:
        await reminding.sent()
        await reminding.execute("update queue_item set status = 7 where status = 1")
        await let_it_be_due(reminding)

        assert [] == await reminding.worker().claim()

    async def test_not_by_the_frequency_cap(self, reminding: Queue) -> None:
        await reminding.change_pipeline("frequency_cap_days = 30")
        await reminding.sent()
        await let_it_be_due(reminding)

        assert 1 == len(await reminding.worker().send(OK))
        [recent] = await reminding.fetch("select recent from contact")
        assert ["invitation", "reminder"] == [entry["kind"] for entry in recent["recent"]]


class TestTexts:
    async def compose(self, queue: Queue, dispatch: Dispatch) -> Any:
        context = MessageContext(
            item_id=dispatch.item.item_id,
            recipient="ann@example.com",
            pipeline=dispatch.settings.pipeline,
            version=dispatch.version,
            instance=dispatch.instance,
            responder_metadata={},
            unsubscribe_id=dispatch.responder.unsubscribe_id,
            organization_name="Shop",
            postal_address=None,
            questionnaire_name="After",
            sender="shop@example.com",
            site=queue.house.site,
            now=dispatch.item.database_now,
            reminder_number=dispatch.item.reminder_number,
        )
        return composing.compose_mail(context)

    async def test_its_own(self, reminding: Queue) -> None:
        await reminding.schedule(locale="el")
        [first] = await reminding.worker().send(OK)
        await let_it_be_due(reminding)
        [second] = await reminding.worker().send(OK)
        await let_it_be_due(reminding)
        [third] = await reminding.worker().send(OK)

        assert "el" == normalise(first.instance.locale)
        texts = [await self.compose(reminding, dispatch) for dispatch in (first, second, third)]
        assert "Ακόμη εδώ?" == texts[1].subject
        assert "Ακόμη εδώ" in texts[1].text
        assert texts[0].subject == texts[2].subject != texts[1].subject  # the second one has no texts of its own
        for text in texts:
            assert reminding.house.site.pages("").collection_url(first.instance.instance_id) in text.text
            assert text.headers["List-Unsubscribe"] == texts[0].headers["List-Unsubscribe"]
