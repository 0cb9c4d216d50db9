"""Clients' actions on items: schedule, change, cancel, delete, in every state."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from zoneinfo import ZoneInfo

import pytest
from msgspec import structs

from afterword import errors
from afterword.core.wire.times import Moment
from afterword.kit.transport.base import Refused, Retry, Unknown
from afterword.kit.web.fields import MetadataGroups
from afterword.sending.queue import service
from afterword.sending.queue.records import QueueItemRecord, QueueItemRequest, QueueItemUpdate
from afterword.sending.queue.service import NewItem
from tests.sending.queue.conftest import LEASE_SECONDS, OK, SMS, Queue

SCHEDULED, CLAIMED, SENDING, SENT, FAILED, UNCERTAIN, ABORTED, IGNORED = range(1, 9)
MINUTE = timedelta(minutes=1)
LOST = timedelta(seconds=LEASE_SECONDS + 1)
NOTE = "(an earlier attempt may have delivered a copy)"


class TestSchedule:
    async def test_pipeline_of_another_questionnaire(self, queue: Queue) -> None:
        wrong = replace(queue, house=replace(queue.house, questionnaire_id="0" * 22))

        with pytest.raises(errors.NotFound):
            await wrong.schedule()

    async def test_never_published(self, queue: Queue) -> None:
        await queue.execute("update questionnaire set published_version_id = null")

        with pytest.raises(service.NotPublished) as refusal:
            await queue.schedule()
        assert (409, "questionnaire_not_published") == (refusal.value.status, refusal.value.code)

    @pytest.mark.parametrize("address", ["zoe", "zoe@", "zoe@example.com, bob@example.com", "zoe\n@example.com"])
    async def test_invalid_address(self, queue: Queue, address: str) -> None:
        with pytest.raises(errors.Invalid) as refusal:
            await queue.schedule(address)
        [error] = refusal.value.errors
        assert ("/responder_channel_identifier", "invalid_address") == (error.pointer, error.code)
        assert address not in refusal.value.detail + error.message

    async def test_reference_of_an_aborted_or_deleted_item_is_free(self, queue: Queue) -> None:
        for end in (queue.cancel, queue.delete):
            item = await queue.schedule(external_reference="order 7")
            await end(item)
        assert "order 7" == (await queue.schedule(external_reference="order 7")).external_reference

    async def test_ok(self, queue: Queue) -> None:
        item = await queue.schedule("Ann@Example.com", locale="en_US")

        row = await queue.row(item)
        assert ("Ann@Example.com", "en_US", 1) == (item.responder_channel_identifier, item.locale, item.status_id)
        assert (9, 600, 0, "api") == (
            row["attempts_max"], row["resend_after_seconds"], row["epoch"], row["source"],
        )  # fmt: skip
        assert row["created_time"] == row["due_time"]  # due at once, by the database's clock
        assert row["not_after"] == item.send_time + timedelta(days=3) or row["not_after"] == row[
            "created_time"
        ] + timedelta(days=3)
        assert ["created"] == await queue.told(item)

    async def test_without_send_time(self, queue: Queue) -> None:
        await queue.change_pipeline("delay_cap_days = 1, delay_cap_hours = 2, delay_cap_minutes = 3")

        item = await queue.schedule()

        expected = item.created_time.replace(microsecond=0) + timedelta(days=1, hours=2, minutes=3)
        assert expected == item.send_time == item.due_time
        assert {120, 180} >= {item.send_offset_minutes}  # Athens

    async def test_with_send_time_in_the_past(self, queue: Queue) -> None:
        send_time = (await queue.now()).replace(microsecond=0) - timedelta(days=3000)

        item = await queue.schedule(send_time=send_time)

        assert send_time == item.send_time
        assert item.created_time == item.due_time
        assert item.created_time + timedelta(days=3) == item.not_after

    async def test_into_the_window(self, queue: Queue) -> None:
        local = (await queue.now()).astimezone(ZoneInfo("Europe/Athens"))
        start = local + timedelta(hours=2)
        end = local + timedelta(hours=4)
        await queue.change_pipeline(f"dispatch_start_time = '{start:%H:%M}', dispatch_end_time = '{end:%H:%M}'")

        item = await queue.schedule()

        assert timedelta(minutes=119) <= item.due_time - item.created_time <= timedelta(minutes=130)
        assert item.send_time <= item.created_time

    async def test_validity_ends_it_sooner(self, queue: Queue) -> None:
        await queue.execute("update questionnaire set valid_days = 1")

        item = await queue.schedule()

        assert item.created_time + timedelta(days=1) == item.not_after

    async def test_sms(self, queue: Queue) -> None:
        sms = await queue.pipeline(channel_id=SMS, locale="el")

        item = await sms.schedule("691 234 5678")

        assert (None, "691 234 5678") == (
            (await sms.row(item))["resend_after_seconds"], item.responder_channel_identifier,
        )  # fmt: skip

    async def test_many_each_with_its_own_outcome(self, queue: Queue) -> None:
        await queue.schedule(external_reference="taken")
        good = new_item(queue)
        wanted = [
            good,
            structs.replace(good, request=requested("nobody")),
            structs.replace(good, request=requested(external_reference="taken")),
            structs.replace(good, pipeline_id="0" * 22),
            structs.replace(good, request=requested(external_reference="twice")),
            structs.replace(good, request=requested(external_reference="twice")),
        ]

        outcomes = await queue.run(service.schedule_all, wanted=wanted, secret=queue.secret)

        assert isinstance(outcomes[0], QueueItemRecord)
        codes = [outcome.code if isinstance(outcome, errors.Refusal) else "" for outcome in outcomes]
        assert ["", "invalid", "already_exists", "not_found", "", "already_exists"] == codes
        assert 3 == await queue.value("select count(*) from queue_item")
        assert 3 == await queue.value("select count(*) from event where type = 'queue_item.created'")


Prepare = Callable[[Queue, QueueItemRecord], Awaitable[object]]


async def scheduled(queue: Queue, item: QueueItemRecord) -> None:
    pass


async def claimed(queue: Queue, item: QueueItemRecord) -> None:
    await queue.worker().claim()


async def sending(queue: Queue, item: QueueItemRecord) -> None:
    worker = queue.worker()
    await worker.begin(*await worker.claim())


async def sent(queue: Queue, item: QueueItemRecord) -> None:
    await queue.worker().send(OK)


async def failed(queue: Queue, item: QueueItemRecord) -> None:
    await queue.worker().send(Refused("550 no"))


async def failed_in_doubt(queue: Queue, item: QueueItemRecord) -> None:
    await queue.execute("update queue_item set attempts_max = 1")
    await queue.worker().send(Unknown("?"))


async def uncertain(queue: Queue, item: QueueItemRecord) -> None:
    await queue.execute("update queue_item set resend_after_seconds = null")
    await queue.worker().send(Unknown("?"))


async def scheduled_in_doubt(queue: Queue, item: QueueItemRecord) -> None:
    await queue.worker().send(Unknown("?"))


async def aborted(queue: Queue, item: QueueItemRecord) -> None:
    await queue.cancel(item)


async def ignored(queue: Queue, item: QueueItemRecord) -> None:
    await queue.execute("update queue_item set not_after = now()")
    await queue.worker().claim()


ABORT = QueueItemUpdate(status_id=5, result="Order was canceled")
EDIT = QueueItemUpdate(locale="de")


class TestChange:
    """The table of wire.md 6.1, row by row."""

    @pytest.mark.parametrize(
        "prepare",
        [scheduled, claimed, sending, sent, failed, failed_in_doubt, uncertain, scheduled_in_doubt, aborted, ignored],
    )
    async def test_without_a_change(self, queue: Queue, prepare: Prepare) -> None:
        item = await queue.schedule(locale="el", metadata={"questionnaire": {"transaction_id": "1"}})
        await prepare(queue, item)
        before = await queue.row(item)
        whole = QueueItemUpdate(
            responder_channel_identifier=item.responder_channel_identifier,
            locale=item.locale,
            send_time=Moment(item.send_time, item.send_offset_minutes),
            metadata=MetadataGroups(questionnaire={"transaction_id": "1"}),
        )

        changed = await queue.change(item, whole)

        assert before == await queue.row(item)
        assert before["status"] == changed.status

    @pytest.mark.parametrize(
        ("prepare", "code"),
        [
            (sending, "item_in_dispatch"),
            (sent, "item_closed"),
            (failed, "item_closed"),
            (failed_in_doubt, "item_closed"),
            (uncertain, "item_closed"),
            (ignored, "item_closed"),
        ],
    )
    async def test_abort_too_late(self, queue: Queue, prepare: Prepare, code: str) -> None:
        item = await queue.schedule()
        await prepare(queue, item)
        before = await queue.row(item)

        with pytest.raises(errors.Conflict) as refusal:
            await queue.change(item, ABORT)

        assert code == refusal.value.code
        assert ({"Retry-After": "5"} if code == "item_in_dispatch" else {}) == refusal.value.headers
        assert before == await queue.row(item)

    @pytest.mark.parametrize("prepare", [scheduled, claimed])
    async def test_abort(self, queue: Queue, prepare: Prepare) -> None:
        item = await queue.schedule()
        await prepare(queue, item)

        cancelled = await queue.change(item, ABORT)

        assert (5, "Order was canceled") == (cancelled.status_id, cancelled.result)
        assert ["created", "aborted!"] == await queue.told(item)
        assert [] == await queue.worker().claim()

    async def test_abort_fences_who_holds_it(self, queue: Queue) -> None:
        item = await queue.schedule()
        worker = queue.worker()
        [dispatch] = await worker.claim()

        await queue.change(item, ABORT)

        assert [] == await worker.begin(dispatch)
        await worker.hand_back(dispatch)
        assert ABORTED == await queue.status(item)

    async def test_abort_without_result(self, queue: Queue) -> None:
        item = await queue.schedule()

        assert "aborted" == (await queue.cancel(item)).result

    async def test_abort_twice(self, queue: Queue) -> None:
        item = await queue.schedule()
        first = await queue.cancel(item, "first")

        assert first == await queue.cancel(item, "second")
        assert ["created", "aborted!"] == await queue.told(item)

    async def test_abort_after_an_unknown_outcome(self, queue: Queue) -> None:
        item = await queue.schedule()
        await scheduled_in_doubt(queue, item)

        assert f"aborted {NOTE}" == (await queue.cancel(item)).result
        assert ABORTED == await queue.status(item)

    async def test_abort_after_an_unknown_outcome_with_a_long_result(self, queue: Queue) -> None:
        item = await queue.schedule()
        await scheduled_in_doubt(queue, item)

        result = (await queue.cancel(item, "x" * 500)).result

        assert result is not None
        assert 500 == len(result)
        assert result.endswith(NOTE)

    @pytest.mark.parametrize(
        ("prepare", "code"),
        [
            (claimed, "item_in_dispatch"),
            (sending, "item_in_dispatch"),
            (sent, "item_closed"),
            (failed, "item_closed"),
            (uncertain, "item_closed"),
            (aborted, "item_closed"),
            (ignored, "item_closed"),
        ],
    )
    async def test_edit_too_late(self, queue: Queue, prepare: Prepare, code: str) -> None:
        item = await queue.schedule()
        await prepare(queue, item)
        before = await queue.row(item)

        with pytest.raises(errors.Conflict) as refusal:
            await queue.change(item, EDIT)

        assert code == refusal.value.code
        assert before == await queue.row(item)

    async def test_edit(self, queue: Queue) -> None:
        item = await queue.schedule(metadata={"questionnaire": {"a": "1", "b": "2"}, "responder": {"c": "3"}})
        send_time = (item.send_time + timedelta(days=9)).replace(microsecond=0)

        edited = await queue.change(
            item,
            QueueItemUpdate(
                responder_channel_identifier="Bob@example.com",
                locale=None,
                send_time=Moment(send_time, 330),
                metadata=MetadataGroups(questionnaire={"a": None, "b": "4", "d": "5"}),
            ),
        )

        assert ("Bob@example.com", None, send_time, 330) == (
            edited.responder_channel_identifier, edited.locale, edited.send_time, edited.send_offset_minutes,
        )  # fmt: skip
        assert {"questionnaire": {"b": "4", "d": "5"}, "responder": {"c": "3"}} == edited.metadata
        assert (send_time, send_time + timedelta(days=3), 2) == (edited.due_time, edited.not_after, edited.version)
        assert item.address_key != edited.address_key
        assert ["created", "updated"] == await queue.told(item)

    async def test_edit_of_a_held_item_looks_at_it_again(self, queue: Queue) -> None:
        item = await queue.schedule()
        await queue.execute("update pipeline set start_time = now() + interval '1 hour', version = version + 1")
        await queue.worker().claim()
        await queue.execute("update pipeline set start_time = null, version = version + 1")

        edited = await queue.change(item, EDIT)

        assert (None, None) == (edited.reason, edited.result)
        assert edited.due_time <= await queue.now() + timedelta(seconds=1)

    async def test_edit_between_attempts_keeps_the_wait(self, queue: Queue) -> None:
        item = await queue.sent(outcome=Retry("recipient", "busy", after_seconds=600))
        before = await queue.row(item)

        edited = await queue.change(item, QueueItemUpdate(send_time=Moment(item.send_time - MINUTE, 0)))

        assert (before["due_time"], "retry", 1) == (edited.due_time, edited.reason, edited.attempts)

    async def test_edits_at_once_lose_nothing(self, queue: Queue) -> None:
        item = await queue.schedule()
        changes = [QueueItemUpdate(metadata=MetadataGroups(questionnaire={str(number): "x"})) for number in range(8)]

        await asyncio.gather(*(queue.change(item, change) for change in changes))

        assert 8 == len((await queue.row(item))["metadata"]["questionnaire"])


class TestDelete:
    @pytest.mark.parametrize(
        ("prepare", "code"),
        [
            (sending, "item_in_dispatch"),
            (sent, "item_closed"),
            (uncertain, "outcome_unknown"),
            (failed_in_doubt, "outcome_unknown"),
            (scheduled_in_doubt, "outcome_unknown"),
        ],
    )
    async def test_refused(self, queue: Queue, prepare: Prepare, code: str) -> None:
        item = await queue.schedule()
        await prepare(queue, item)
        before = await queue.row(item)

        with pytest.raises(errors.Conflict) as refusal:
            await queue.delete(item)

        assert code == refusal.value.code
        assert before == await queue.row(item)

    @pytest.mark.parametrize(
        ("prepare", "status", "told"),
        [
            (scheduled, ABORTED, ["created", "aborted!", "deleted"]),
            (claimed, ABORTED, ["created", "aborted!", "deleted"]),
            (failed, FAILED, ["created", "failed!", "deleted"]),
            (aborted, ABORTED, ["created", "aborted!", "deleted"]),
            (ignored, IGNORED, ["created", "ignored!", "deleted"]),
        ],
    )
    async def test_ok(self, queue: Queue, prepare: Prepare, status: int, told: list[str]) -> None:
        item = await queue.schedule()
        await prepare(queue, item)

        await queue.delete(item)

        row = await queue.row(item)
        assert status == row["status"]
        assert row["deleted_time"] is not None
        assert told == await queue.told(item)
        with pytest.raises(errors.NotFound):
            await queue.delete(item)
        assert [] == await queue.worker().claim()


class TestResolve:
    @pytest.mark.parametrize("prepare", [scheduled, sending, sent, failed, failed_in_doubt, aborted])
    async def test_not_uncertain(self, queue: Queue, prepare: Prepare) -> None:
        item = await queue.schedule()
        await prepare(queue, item)

        with pytest.raises(service.ItemClosed):
            await queue.resolve(item, is_sent=True)

    async def test_sent(self, queue: Queue) -> None:
        item = await queue.schedule()
        await uncertain(queue, item)

        resolved = await queue.resolve(item, is_sent=True)

        assert (3, "Resolved by a person: it was sent") == (resolved.status_id, resolved.result)
        assert ["created", "failed!", "sent"] == await queue.told(item)
        assert await queue.value("select sent_time is not null from questionnaire_instance")

    async def test_not_sent(self, queue: Queue) -> None:
        item = await queue.schedule()
        await uncertain(queue, item)

        resolved = await queue.resolve(item, is_sent=False)

        assert (FAILED, 4) == (resolved.status, resolved.status_id)
        assert ["created", "failed!", "updated"] == await queue.told(item)


def requested(address: str = "ann@example.com", *, external_reference: str | None = None) -> QueueItemRequest:
    return QueueItemRequest(responder_channel_identifier=address, external_reference=external_reference)


def new_item(queue: Queue, **values: object) -> NewItem:
    known: dict[str, object] = {
        "caller": queue.house.caller,
        "questionnaire_id": queue.house.questionnaire_id,
        "pipeline_id": queue.pipeline_id,
        "request": requested(),
    }
    return NewItem(**{**known, **values})  # pyrefly: ignore[bad-argument-type]
