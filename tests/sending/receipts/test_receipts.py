"""Receipts about a message: told once, suppressed where a host says so, and never a move back."""

import asyncio
from datetime import timedelta
from typing import Any, Final

import pytest
from msgspec.structs import replace

from afterword.asking.instances import service as instances
from afterword.kit import db
from afterword.kit.transport.base import Outcome, Refused, Retry, Sent, Unknown
from afterword.kit.transport.mime import Kind, Report
from afterword.run import renderings
from afterword.sending.queue.records import QueueItemRecord
from afterword.sending.queue.sending import service as sending
from afterword.sending.queue.sending.outcomes import Waits
from afterword.sending.queue.sending.service import Result
from afterword.sending.receipts import service
from tests.conftest import House
from tests.event_log import list_events
from tests.journeys.processes import until
from tests.sending.queue.conftest import SMS, Queue

SENT: Final = Sent("reference-1", 250, "2.0.0 Ok")
GONE: Final = Report(kind="bounced", is_hard=True, code="5.1.1", text="550 5.1.1 <ann@example.com>: User unknown")


async def take_mail(queue: Queue, *said: Report) -> int:
    return await queue.run(service.take_mail, reports=said, now=await queue.now(), secret=queue.secret)


async def sent(queue: Queue, address: str = "ann@example.com") -> QueueItemRecord:
    item = await queue.sent(address, outcome=SENT)
    assert 4 == await queue.status(item)
    return item


async def unknown(queue: Queue, *, resend_after_seconds: int | None = 600) -> QueueItemRecord:
    item = await queue.schedule("ann@example.com")
    await queue.execute("update queue_item set resend_after_seconds = $1", resend_after_seconds)
    await queue.worker().send(Unknown("silence"))
    return item


async def suppressions(queue: Queue) -> list[tuple[str, str]]:
    rows = await queue.fetch("select identifier, reason from suppression order by identifier")
    return [(row["identifier"], row["reason"]) for row in rows]


async def state(queue: Queue) -> list[Any]:
    """Everything that a report could change."""
    tables = ("queue_item", "attempt", "event", "suppression", "questionnaire_instance", "delivery_report")
    return [await queue.fetch(f"select * from {table} order by 1, 2, 3") for table in tables]


class TestRefusals:
    async def test_nothing_here_has_that_name(self, queue: Queue) -> None:
        await sent(queue)
        before = await state(queue)
        strange = [
            replace(GONE, item_id="0" * 22),
            replace(GONE, item_id="../../etc"),
            replace(GONE, provider_reference="another"),
            replace(GONE, provider_reference="nul\x00"),
            replace(GONE, recipient="bob@example.com"),
            replace(GONE, recipient="no address\r\n"),
            GONE,
        ]
        assert 0 == await queue.take(*strange)
        assert before == await state(queue)

    async def test_another_accounts_and_another_organizations(self, queue: Queue, neighbour: House) -> None:
        item = await sent(queue)
        before = await state(queue)
        theirs = await Queue(queue.pool, neighbour, neighbour.pipeline_id).account_id()
        report = replace(GONE, item_id=item.item_id, recipient="ann@example.com")
        assert 0 == await queue.take(report, account_id="0" * 22)
        assert 0 == await queue.take(report, account_id=theirs, house=neighbour)
        assert before == await state(queue)

    async def test_what_never_left(self, queue: Queue) -> None:
        waiting = await queue.schedule("ann@example.com")
        refused = await queue.schedule("bob@example.com")
        worker = queue.worker()
        _, bob = await worker.claim()
        await worker.begin(bob)
        await worker.settle(Refused("550 no"), bob)
        before = await state(queue)
        assert 0 == await queue.take(replace(GONE, item_id=waiting.item_id), replace(GONE, item_id=refused.item_id))
        assert before == await state(queue)

    async def test_what_left_long_ago(self, queue: Queue) -> None:
        item = await sent(queue)
        await queue.execute("update attempt set begin_time = begin_time - interval '31 days'")
        await queue.execute("update queue_item set dispatched_time = dispatched_time - interval '31 days'")
        before = await state(queue)
        assert 0 == await queue.take(replace(GONE, item_id=item.item_id), replace(GONE, recipient="ann@example.com"))
        assert before == await state(queue)


class TestProviders:
    @pytest.mark.parametrize(
        ("kind", "event"),
        [("delivered", "delivered"), ("bounced", "bounced"), ("failed", "bounced"), ("complained", "complained")],
    )
    async def test_is_told_once(self, queue: Queue, kind: Kind, event: str) -> None:
        item = await sent(queue)
        report = Report(kind=kind, item_id=item.item_id, code="x", text="to ann@example.com")
        assert 1 == await queue.take(report, report)
        after = await state(queue)
        assert 0 == await queue.take(replace(report, text="again"))
        assert after == await state(queue)
        assert ["created", "sent!", event] == await queue.told(item)
        assert 4 == await queue.status(item)

    async def test_the_event_tells_item_and_report(self, queue: Queue) -> None:
        item = await sent(queue)
        await queue.take(replace(GONE, item_id=item.item_id))
        [row] = await queue.fetch("select * from event where type = 'queue_item.bounced'")
        assert await queue.value("select bounced_time from questionnaire_instance") is not None
        assert (item.item_id, "gateway", 4) == (row["subject_id"], row["actor_kind"], row["data"]["status"])
        report = row["data"]["report"]
        assert ("bounced", True, True, "5.1.1") == (
            report["kind"], report["is_hard"], report["is_proven"], report["code"],
        )  # fmt: skip
        assert "ann@example.com" not in report["text"]
        shown = await shown_events(queue, "queue_item.bounced")
        assert [(item.item_id, 3, "5.1.1")] == [
            (data["item_id"], data["status_id"], data["report"]["code"]) for data in shown
        ]

    async def test_only_an_address_that_does_not_exist_is_left_alone(self, queue: Queue) -> None:
        item = await sent(queue)
        assert 1 == await queue.take(replace(GONE, item_id=item.item_id, is_hard=False, code="5.2.2"))
        assert [] == await suppressions(queue)
        assert 1 == await queue.take(replace(GONE, item_id=item.item_id))  # and now for good: that is news
        assert [("ann@example.com", "hard_bounce")] == await suppressions(queue)
        assert ["created", "sent!", "bounced", "bounced"] == await queue.told(item)
        again = await queue.schedule("Ann@EXAMPLE.com")
        await queue.worker().claim()
        assert (8, "hard_bounce") == (await queue.status(again), (await queue.row(again))["reason"])

    async def test_a_complaint_is_left_alone_and_outlasts_a_bounce(self, queue: Queue) -> None:
        item = await sent(queue)
        complaint = Report(kind="complained", item_id=item.item_id, code="abuse")
        assert 2 == await queue.take(complaint, replace(GONE, item_id=item.item_id))
        assert [("ann@example.com", "complaint")] == await suppressions(queue)

    async def test_the_mailbox_behind_the_address_is_another_matter(self, queue: Queue) -> None:
        item = await sent(queue)
        assert 1 == await queue.take(replace(GONE, item_id=item.item_id, recipient="ann.other@example.net"))
        assert [] == await suppressions(queue)
        assert 1 == await queue.take(replace(GONE, item_id=item.item_id, recipient="ANN@example.com."))
        assert [("ann@example.com", "hard_bounce")] == await suppressions(queue)

    async def test_by_recipient_it_is_the_last_one(self, queue: Queue) -> None:
        first = await sent(queue)
        await queue.execute("update queue_item set dispatched_time = dispatched_time - interval '1 hour'")
        last = await sent(queue)
        assert 1 == await queue.take(replace(GONE, recipient="ann@example.com"))
        assert (["created", "sent!"], ["created", "sent!", "bounced"]) == (
            await queue.told(first), await queue.told(last),
        )  # fmt: skip

    async def test_by_the_providers_own_name(self, queue: Queue) -> None:
        texts = await queue.pipeline(channel_id=SMS)
        item = await texts.sent("+306900000000", outcome=Sent("SM123", 201, "queued"))
        receipt = Report(kind="delivered", provider_reference="SM123")
        assert 1 == await texts.take(receipt)
        assert 0 == await texts.take(receipt)
        assert 0 == await queue.take(receipt)  # another account may use the same names
        assert ["created", "sent!", "delivered"] == await queue.told(item)

    @pytest.mark.parametrize(
        ("told", "spelt"),
        [("3FB", "3fb"), ("3fb", "3FB"), ("1020", "0000001020"), ("0000001020", "1020"), ("00A0", "a0"), ("0", "00")],
    )
    async def test_by_another_spelling_of_that_name(self, queue: Queue, told: str, spelt: str) -> None:
        texts = await queue.pipeline(channel_id=SMS)
        await texts.sent("+306900000000", outcome=Sent(told, 0, "submit_sm_resp"))
        assert 0 == await texts.take(Report(kind="delivered", provider_reference="1" + spelt))
        assert 1 == await texts.take(Report(kind="delivered", provider_reference=spelt))

    async def test_names_that_differ_in_case_alone(self, queue: Queue) -> None:
        texts = await queue.pipeline(channel_id=SMS)
        names = ("aB1", "Ab1", "ab1")
        items: list[QueueItemRecord] = []
        for number, name in enumerate(names):
            items.append(await texts.schedule(f"+30690000000{number}"))
            await texts.worker().send(Sent(name, 0, "submit_sm_resp"))
        for name in names:
            assert 1 == await texts.take(Report(kind="delivered", provider_reference=name))
        assert [["created", "sent!", "delivered"]] * 3 == [await queue.told(item) for item in items]

    async def test_receipts_outlive_a_change_of_account(self, queue: Queue) -> None:
        """The pipeline sends through another account by now; the old one's provider still reports."""
        item, old = await sent(queue), await queue.account_id()
        await queue.execute(
            """insert into channel_account (organization_id, account_id, channel_id)
               values ($1, $2, 1)""",
            *(queue.house.organization_id, "n" * 22),
        )
        await queue.change_pipeline(f"account_id = '{'n' * 22}'")
        assert 1 == await queue.take(replace(GONE, item_id=item.item_id), account_id=old)

    async def test_the_first_delivery_counts(self, queue: Queue) -> None:
        item = await sent(queue)
        row = await queue.row(item)
        later = Report(kind="delivered", item_id=item.item_id, time=row["dispatched_time"] + timedelta(days=400))
        assert 1 == await queue.take(later)
        instance = "select delivered_time from questionnaire_instance where instance_id = $1"
        delivered = await queue.value(instance, row["questionnaire_instance_id"])
        assert (
            row["dispatched_time"] <= delivered <= await queue.now() + timedelta(seconds=1)
        )  # clocks of others are not believed
        assert 0 == await queue.take(replace(later, time=row["dispatched_time"]))
        assert delivered == await queue.value(instance, row["questionnaire_instance_id"])

    async def test_no_delivery_is_before_its_message(self, queue: Queue) -> None:
        """A process knows the database's clock but for a round trip."""
        item = await sent(queue)
        await queue.execute("update queue_item set dispatched_time = now() + interval '1 second'")
        row = await queue.row(item)
        assert 1 == await queue.take(Report(kind="delivered", item_id=item.item_id, time=row["dispatched_time"]))
        assert row["dispatched_time"] == await queue.value("select delivered_time from questionnaire_instance")

    async def test_a_reminders_delivery_is_not_the_invitations(self, queue: Queue) -> None:
        item = await sent(queue)
        instance_id, now = (await queue.row(item))["questionnaire_instance_id"], await queue.now()
        counts: list[int] = []
        for later in (0, 60):
            async with db.transaction(queue.pool) as database:
                delivered = {(queue.house.organization_id, instance_id): now + timedelta(seconds=later)}
                counts.append(await instances.settle_times(database, "delivered", times=delivered, now=now))
        assert [1, 0] == counts
        assert now == await queue.value("select delivered_time from questionnaire_instance")

    @pytest.mark.parametrize("kind", ["accepted", "delivered", "bounced", "failed", "complained"])
    @pytest.mark.parametrize("resend_after_seconds", [600, None])
    async def test_whatever_is_said_of_an_unknown_one_it_has_left(
        self, queue: Queue, kind: Kind, resend_after_seconds: int | None
    ) -> None:
        item = await unknown(queue, resend_after_seconds=resend_after_seconds)
        assert await queue.status(item) in {1, 6}
        assert 1 == await queue.take(Report(kind=kind, item_id=item.item_id))
        assert 4 == await queue.status(item)
        assert ["accepted_late"] == await queue.attempts(item)
        assert 1 == len([told for told in await queue.told(item) if told.endswith("!")])
        assert "sent" in [told.removesuffix("!") for told in await queue.told(item)]

    async def test_what_is_said_before_the_worker_settles(self, queue: Queue) -> None:
        item = await queue.schedule("ann@example.com")
        worker = queue.worker()
        begun = await worker.begin(*await worker.claim())
        assert 1 == await queue.take(Report(kind="delivered", item_id=item.item_id))
        await worker.settle(SENT, *begun)
        assert (4, ["created", "delivered", "sent!"]) == (await queue.status(item), await queue.told(item))

    @pytest.mark.parametrize("resend_after_seconds", [600, None])
    @pytest.mark.parametrize(
        ("outcome", "attempt"),
        [
            (None, "accepted_late"),
            (Unknown("silence"), "accepted_late"),
            (Retry("recipient", "450 later", 450), "retry"),
            (Refused("550 no", 550), "refused"),
        ],
    )
    async def test_what_is_said_before_the_worker_is_lost_is_remembered(
        self, queue: Queue, outcome: Outcome | None, attempt: str, resend_after_seconds: int | None
    ) -> None:
        """Nothing goes out twice, whatever the worker says, or the reaper in its place."""
        item = await queue.schedule("ann@example.com")
        await queue.execute("update queue_item set resend_after_seconds = $1", resend_after_seconds)
        worker = queue.worker()
        begun = await worker.begin(*await worker.claim())
        assert 1 == await queue.take(Report(kind="delivered", item_id=item.item_id))
        assert 3 == await queue.status(item)
        if outcome is None:
            await queue.shift(timedelta(seconds=61))
            assert 1 == await queue.reap()
        else:
            await worker.settle(outcome, *begun)
        assert (4, [attempt]) == (await queue.status(item), await queue.attempts(item))
        assert ["created", "delivered", "sent!"] == await queue.told(item)

    async def test_a_forged_report_of_one_under_way_proves_nothing(self, queue: Queue) -> None:
        item = await queue.schedule("ann@example.com")
        worker = queue.worker()
        begun = await worker.begin(*await worker.claim())
        forged = replace(GONE, item_id=item.item_id, recipient="ann@example.com", is_proven=False)
        assert 1 == await take_mail(queue, forged)
        await worker.settle(Unknown("silence"), *begun)
        assert (1, ["unknown"]) == (await queue.status(item), await queue.attempts(item))

    async def test_a_report_that_comes_while_the_outcome_is_written(self, queue: Queue) -> None:
        """It waits for the settlement, and finds that the outcome is unknown."""
        item = await queue.schedule("ann@example.com")
        worker = queue.worker()
        begun = await worker.begin(*await worker.claim())
        async with db.transaction(queue.pool) as database:
            result = Result(begun[0], Unknown("silence"), Waits())
            await sending.settle(database, results=[result], now=database.clock.now())
            said = asyncio.create_task(queue.take(Report(kind="delivered", item_id=item.item_id)))
            await until(lambda: _waits_for_a_lock(queue), seconds=10, what="the report waits")
        assert 1 == await said
        assert (4, ["accepted_late"]) == (await queue.status(item), await queue.attempts(item))

    async def test_an_aborted_one_stays_aborted(self, queue: Queue) -> None:
        item = await unknown(queue)
        await queue.cancel(item)
        assert 1 == await queue.take(Report(kind="delivered", item_id=item.item_id))
        assert 7 == await queue.status(item)

    async def test_many_at_once(self, queue: Queue) -> None:
        items = [await queue.schedule(f"person{number}@example.com") for number in range(30)]
        await queue.worker().send(SENT, count=30)
        said = [replace(GONE, item_id=item.item_id) for item in items]
        assert 30 == await queue.take(*said, *said)
        assert 30 == len(await suppressions(queue))


class TestMails:
    async def test_a_proven_one_counts(self, queue: Queue) -> None:
        item = await sent(queue)
        report = replace(GONE, item_id=item.item_id, recipient="ann@example.com")
        assert (1, 0) == (await take_mail(queue, report), await take_mail(queue, report))
        assert [("ann@example.com", "hard_bounce")] == await suppressions(queue)

    async def test_an_unproven_one_is_told_and_does_nothing(self, queue: Queue) -> None:
        item = await sent(queue)
        forged = replace(GONE, item_id=item.item_id, recipient="ann@example.com", is_proven=False)
        assert (1, 0) == (await take_mail(queue, forged), await take_mail(queue, forged))
        assert [] == await suppressions(queue)
        assert ["created", "sent!", "bounced"] == await queue.told(item)
        assert 1 == await take_mail(queue, replace(forged, is_proven=True))  # the forgery is not in the way
        assert [("ann@example.com", "hard_bounce")] == await suppressions(queue)

    async def test_an_unproven_one_of_another_address_or_kind_is_not_even_told(self, queue: Queue) -> None:
        item = await unknown(queue)
        before = await state(queue)
        forged = Report(kind="bounced", item_id=item.item_id, is_proven=False)
        assert 0 == await take_mail(
            queue,
            forged,
            replace(forged, recipient="bob@example.com"),
            replace(forged, kind="complained", recipient="ann@example.com"),
            replace(forged, kind="delivered", recipient="ann@example.com"),
        )
        assert before == await state(queue)

    async def test_an_unproven_one_proves_nothing_of_an_unknown_attempt(self, queue: Queue) -> None:
        item = await unknown(queue)
        assert 1 == await take_mail(
            queue, replace(GONE, item_id=item.item_id, recipient="ann@example.com", is_proven=False)
        )
        assert (1, ["unknown"]) == (await queue.status(item), await queue.attempts(item))

    async def test_an_address_alone_tells_of_the_last_one(self, queue: Queue) -> None:
        item = await sent(queue)
        assert 1 == await take_mail(queue, replace(GONE, recipient="ann@example.com", is_proven=False))
        assert ["created", "sent!", "bounced"] == await queue.told(item)
        assert [] == await suppressions(queue)

    async def test_a_mail_says_nothing_of_texts(self, queue: Queue) -> None:
        texts = await queue.pipeline(channel_id=SMS)
        item = await texts.sent("+306900000000", outcome=Sent("SM123", 201, "queued"))
        assert 0 == await take_mail(queue, replace(GONE, item_id=item.item_id))

    async def test_two_houses_are_told_apart(self, queue: Queue, pool: db.Pool, neighbour: House) -> None:
        theirs = Queue(pool, neighbour, neighbour.pipeline_id)
        mine, other = await sent(queue), await sent(theirs)
        assert 1 == await take_mail(queue, replace(GONE, item_id=other.item_id))
        assert (["created", "sent!"], ["created", "sent!", "bounced"]) == (
            await queue.told(mine), await queue.told(other),
        )  # fmt: skip
        [row] = await queue.fetch("select organization_id from suppression")
        assert neighbour.organization_id == row["organization_id"]


async def test_a_lifted_one_is_written_to_again(queue: Queue) -> None:
    item = await sent(queue)
    await queue.take(replace(GONE, item_id=item.item_id))
    await queue.execute("delete from suppression")
    again = await sent(queue)
    assert 1 == await queue.take(replace(GONE, item_id=again.item_id))
    assert [("ann@example.com", "hard_bounce")] == await suppressions(queue)


async def shown_events(queue: Queue, kind: str) -> list[dict[str, Any]]:
    """As webhooks and the event log show them."""
    async with db.connection(queue.pool) as database:
        rows = await list_events(database, organization_id=queue.house.organization_id)
        told = [row for row in rows if row.type == kind]
        return await renderings.render(database, events=told, site=queue.house.site, zones={})


async def _waits_for_a_lock(queue: Queue) -> bool:
    return await queue.value(
        "select exists (select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock')"
    )
