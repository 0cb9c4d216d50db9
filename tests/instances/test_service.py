"""Issuing, viewing, changing and deleting instances, by the API, the public link and the queue."""

import asyncio
from collections import Counter
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from afterword import db, errors, ids
from afterword.core.questionnaires.metadata import Changes
from afterword.instances import issuing, service, store
from afterword.instances.issuing import Closed, Inactive, IssueInput, ItemIssueInput, NotPublished
from afterword.instances.service import Change
from afterword.instances.store import Instance
from afterword.responders import service as responders
from afterword.responders import store as responders_store
from tests.event_log import list_events
from tests.instances.conftest import NOW, NPS, SECRET, SINGLE, World

LATER = NOW + timedelta(hours=1)


async def change(world: World, instance: Instance, wanted: Change, *, now: datetime = LATER) -> Instance:
    async with db.transaction(world.pool) as database:
        return await service.update(
            database, caller=world.caller, instance_id=instance.instance_id, change=wanted, now=now
        )


async def responder_of(world: World, instance: Instance) -> responders_store.Responder:
    async with db.connection(world.pool) as database:
        found = await responders_store.get_responder(
            database, organization_id=instance.organization_id, responder_id=instance.responder_id
        )
    assert found is not None
    return found


class TestIssue:
    async def test_other_organization(self, world: World) -> None:
        with pytest.raises(errors.NotFound):
            await world.issue(caller=world.stranger())

    async def test_other_application(self, world: World) -> None:
        closed = replace(world.caller, application_ids=(ids.ordered(NOW),))

        with pytest.raises(errors.NotFound):
            await world.issue(caller=closed)

    async def test_not_published(self, world: World) -> None:
        await world.set_questionnaire(published_version_id=None)

        with pytest.raises(NotPublished) as refusal:
            await world.issue()
        assert (409, "questionnaire_not_published") == (refusal.value.status, refusal.value.code)

    @pytest.mark.parametrize("columns", [{"active": False}, {"archived_time": NOW}])
    async def test_inactive(self, world: World, columns: dict[str, object]) -> None:
        await world.set_questionnaire(**columns)

        with pytest.raises(Inactive):
            await world.issue()

    async def test_closed(self, world: World) -> None:
        await world.save(await world.issue(), {NPS: 1})
        await world.set_questionnaire(responses_max=1)

        with pytest.raises(Closed):
            await world.issue()

    async def test_unknown_responder(self, world: World) -> None:
        with pytest.raises(errors.Invalid) as refusal:
            await world.issue(IssueInput(responder_id=ids.ordered(NOW)))
        assert ["unknown_id"] == [error.code for error in refusal.value.errors]

    async def test_ok(self, world: World) -> None:
        """Without a wish everything is the questionnaire's own."""
        instance = await world.issue()

        assert ("el", 30, False, False) == (
            instance.locale,
            instance.valid_days,
            instance.editable,
            instance.finalized,
        )
        assert (world.version_id, 5) == (instance.version_id, len(instance.question_ids))
        assert (None, None, None) == (instance.sent_time, instance.viewed_time, instance.item_id)
        assert (NOW, NOW) == (instance.created_time, instance.updated_time)
        [event] = await world.events(instance.instance_id)
        assert ("questionnaire_instance.created", "token", world.caller.token_id, 1) == (
            event.type,
            event.actor_kind,
            event.actor_id,
            event.subject_version,
        )

    @pytest.mark.parametrize(
        ("sent", "stored"),
        [("en", "en"), ("en_US", "en"), ("EL-gr", "el"), ("pt", "pt-br"), ("pt-PT", "pt-br"), ("de", "el")],
    )
    async def test_locale(self, world: World, sent: str, stored: str) -> None:
        assert stored == (await world.issue(IssueInput(locale=sent))).locale

    async def test_zero_and_false_are_wishes(self, world: World) -> None:
        instance = await world.issue(IssueInput(valid_days=0, editable=True))

        assert (0, True) == (instance.valid_days, instance.editable)

    async def test_responder_by_address(self, world: World) -> None:
        request = IssueInput(metadata=Changes(responder={"email": "Ann@Example.com", "name": "Ann"}))

        first, second = await world.issue(request), await world.issue(request)
        nobody, again = await world.issue(), await world.issue()

        assert first.responder_id == second.responder_id
        assert 3 == len({first.responder_id, nobody.responder_id, again.responder_id})
        assert "Ann" == (await responder_of(world, first)).metadata["name"]

    async def test_given_responder(self, world: World) -> None:
        first = await world.issue()
        request = IssueInput(responder_id=first.responder_id, metadata=Changes(responder={"name": "Ann"}))

        second = await world.issue(request)

        assert first.responder_id == second.responder_id
        assert {"name": "Ann"} == (await responder_of(world, second)).metadata

    async def test_reference_is_issued_once(self, world: World) -> None:
        """Ten at once: one instance, and no responder is left over from the others."""
        request = IssueInput(reference_id="order-1042")

        issued = await asyncio.gather(*(world.issue(request) for _ in range(10)))

        assert 1 == len({instance.instance_id for instance in issued})
        assert ["created"] == await world.news(issued[0].instance_id)
        async with db.connection(world.pool) as database:
            assert 1 == await database.fetch_value("select count(*) from responder")

    async def test_reference_is_free_after_deletion(self, world: World) -> None:
        first = await world.issue(IssueInput(reference_id="order-1042"))
        async with db.transaction(world.pool) as database:
            await service.delete(database, caller=world.caller, instance_id=first.instance_id, now=LATER)

        second = await world.issue(IssueInput(reference_id="order-1042"))

        assert first.instance_id != second.instance_id

    async def test_test_token(self, world: World) -> None:
        """A test token makes test data and sees nothing else."""
        tester = replace(world.caller, test=True)
        real, test = await world.issue(), await world.issue(caller=tester)

        assert (False, True) == (real.test, test.test)
        async with db.connection(world.pool) as database:
            await service.get(database, caller=tester, instance_id=test.instance_id)
            with pytest.raises(errors.NotFound):
                await service.get(database, caller=tester, instance_id=real.instance_id)


class TestIssueByLink:
    async def by_link(self, world: World, request: IssueInput) -> tuple[Instance, bool]:
        async with db.transaction(world.pool) as database:
            issuable = await issuing.get_issuable(
                database, organization_id=world.caller.organization_id, questionnaire_id=world.questionnaire_id
            )
            version = await issuing.version_to_start(database, issuable=issuable)
            return await service.issue_by_link(
                database,
                issuable=issuable,
                version=version,
                request=request,
                now=NOW,
                secret=SECRET,
                draw=lambda: 0.0,
            )

    async def test_no_public_link(self, world: World) -> None:
        await world.set_questionnaire(public_link=False)

        with pytest.raises(errors.NotFound):
            await self.by_link(world, IssueInput())

    async def test_the_public_link_knows_no_tenant(self, world: World) -> None:
        async with db.connection(world.pool) as database:
            known = await store.get_public_questionnaire(database, questionnaire_id=world.questionnaire_id)
            unknown = await store.get_public_questionnaire(database, questionnaire_id="0" * 22)
        assert known is not None
        assert (world.questionnaire_id, "Demo", None) == (known.questionnaire_id, known.brand, known.configuration)
        assert unknown is None

    async def test_never_another_persons_record(self, world: World) -> None:
        """The address of a known person gives a new responder; undeclared names are dropped."""
        known = await world.issue(IssueInput(metadata=Changes(responder={"email": "ann@example.com"})))
        forged = Changes({"store_id": "7", "nonsense": "x"}, {"email": "ann@example.com", "role": "admin"})

        instance, is_new = await self.by_link(world, IssueInput(metadata=forged))

        assert is_new
        assert known.responder_id != instance.responder_id
        assert {"store_id": "7"} == instance.metadata
        assert {"email": "ann@example.com"} == (await responder_of(world, instance)).metadata
        assert {"email": "ann@example.com"} == (await responder_of(world, known)).metadata
        [event] = await world.events(instance.instance_id)
        assert ("responder", instance.responder_id) == (event.actor_kind, event.actor_id)

    async def test_reference(self, world: World) -> None:
        first, second = [await self.by_link(world, IssueInput(reference_id="a~1")) for _ in range(2)]

        assert (True, False) == (first[1], second[1])
        assert first[0].instance_id == second[0].instance_id

    async def test_one_form_sent_ten_times(self, world: World) -> None:
        request = IssueInput(instance_id=ids.secret())

        issued = await asyncio.gather(*(self.by_link(world, request) for _ in range(10)))

        assert {request.instance_id} == {instance.instance_id for instance, _ in issued}
        assert 1 == sum(is_new for _, is_new in issued)

    async def test_form_of_a_deleted_instance(self, world: World) -> None:
        request = IssueInput(instance_id=ids.secret())
        instance, _ = await self.by_link(world, request)
        async with db.transaction(world.pool) as database:
            await service.delete(database, caller=world.caller, instance_id=instance.instance_id, now=LATER)

        with pytest.raises(errors.NotFound):
            await self.by_link(world, request)


class TestIssueForItems:
    async def wanted(self, world: World, count: int) -> list[ItemIssueInput]:
        async with db.transaction(world.pool) as database:
            found = await responders.find_or_create(
                database,
                inputs=[responders.ResponderInput(world.caller.organization_id) for _ in range(count)],
                now=NOW,
                secret=SECRET,
            )
        return [
            ItemIssueInput(
                organization_id=world.caller.organization_id,
                item_id=ids.ordered(NOW),
                channel_id=1,
                pipeline_id=ids.ordered(NOW),
                questionnaire_id=world.questionnaire_id,
                responder_id=one.responder_id,
                locale="en-GB",
                metadata={"transaction_id": str(number)},
            )
            for number, one in enumerate(found)
        ]

    async def issue(self, world: World, wanted: list[ItemIssueInput]) -> dict[tuple[str, str], Instance]:
        async with db.transaction(world.pool) as database:
            return await service.issue_for_items(database, items=wanted, now=NOW, draw=lambda: 0.0)

    async def test_nothing(self, world: World) -> None:
        assert {} == await self.issue(world, [])

    async def test_not_published(self, world: World) -> None:
        wanted = await self.wanted(world, 1)
        await world.set_questionnaire(published_version_id=None)

        assert {} == await self.issue(world, wanted)

    async def test_a_batch_twice(self, world: World) -> None:
        """A later claim finds the same instances, and tells nothing again."""
        wanted = await self.wanted(world, 200)

        first = await self.issue(world, wanted[:150])
        second = await self.issue(world, wanted)

        assert {(one.organization_id, one.item_id) for one in wanted} == set(second)
        assert first == {key: second[key] for key in first}
        one = second[wanted[7].organization_id, wanted[7].item_id]
        assert ("en", {"transaction_id": "7"}, wanted[7].responder_id) == (one.locale, one.metadata, one.responder_id)
        async with db.connection(world.pool) as database:
            told = await list_events(database, organization_id=one.organization_id)
        assert 200 == Counter(event.type for event in told)["questionnaire_instance.created"]
        assert "worker" == (await world.events(one.instance_id))[0].actor_kind

    async def test_at_once(self, world: World) -> None:
        wanted = await self.wanted(world, 20)

        batches = await asyncio.gather(*(self.issue(world, wanted) for _ in range(4)))

        assert 1 == len({tuple(sorted(i.instance_id for i in batch.values())) for batch in batches})

    async def test_mark_sent(self, world: World) -> None:
        """The first message counts for expiry; a reminder moves nothing."""
        [wanted] = await self.wanted(world, 1)
        [instance] = (await self.issue(world, [wanted])).values()
        for moment in (LATER, LATER + timedelta(days=3)):
            async with db.transaction(world.pool) as database:
                await service.mark(
                    database, "sent", times={(instance.organization_id, instance.instance_id): moment}, now=moment
                )

        async with db.connection(world.pool) as database:
            sent = await store.get_public_instance(database, instance_id=instance.instance_id)
        assert sent is not None
        assert (LATER, instance.version + 1) == (sent.sent_time, sent.version)


class TestUpdate:
    async def test_other_organization(self, world: World) -> None:
        instance = await world.issue()

        async with db.transaction(world.pool) as database:
            with pytest.raises(errors.NotFound):
                await service.update(
                    database,
                    caller=world.stranger(),
                    instance_id=instance.instance_id,
                    change=Change(valid_days=7),
                    now=LATER,
                )

    async def test_foreign_responder(self, world: World) -> None:
        with pytest.raises(errors.Invalid) as refusal:
            await change(world, await world.issue(), Change(responder_id=ids.ordered(NOW)))
        assert ["/responder_id"] == [error.pointer for error in refusal.value.errors]

    async def test_stale(self, world: World) -> None:
        instance = await world.issue()
        seen: list[int] = []

        def refuse(version: int) -> None:
            seen.append(version)
            raise errors.Stale("It was changed.")

        with pytest.raises(errors.Stale):
            async with db.transaction(world.pool) as database:
                await service.update(
                    database,
                    caller=world.caller,
                    instance_id=instance.instance_id,
                    change=Change(valid_days=7),
                    now=LATER,
                    expect=refuse,
                )
        assert [1] == seen

    async def test_too_many_names(self, world: World) -> None:
        full = {f"name{number}": "x" for number in range(200)}
        instance = await world.issue(IssueInput(metadata=Changes(questionnaire=dict(full))))

        with pytest.raises(errors.Invalid):
            await change(world, instance, Change(metadata=Changes(questionnaire={"one_more": "x"})))
        swapped = await change(
            world, instance, Change(metadata=Changes(questionnaire={"one_more": "x", "name0": None}))
        )
        assert 200 == len(swapped.metadata)

    async def test_too_many_names_of_the_responder(self, world: World) -> None:
        instance = await world.issue()
        await change(world, instance, Change(metadata=Changes(responder={f"name{n}": "x" for n in range(200)})))
        with pytest.raises(errors.Invalid):
            await change(world, instance, Change(metadata=Changes(responder={"one_more": "x"})))

    async def test_ok(self, world: World) -> None:
        instance, other = await world.issue(), await world.issue()
        wanted = Change(responder_id=other.responder_id, locale="EN_us", valid_days=0, editable=True)

        changed = await change(world, instance, wanted)

        assert (other.responder_id, "en", 0, True) == (
            changed.responder_id,
            changed.locale,
            changed.valid_days,
            changed.editable,
        )
        assert (LATER, 2, world.caller.token_id) == (changed.updated_time, changed.version, changed.updated_by)
        assert ["created", "updated"] == await world.news(instance.instance_id)

    @pytest.mark.parametrize(
        "wanted",
        [
            Change(),
            Change(valid_days=30, editable=False, locale="el-GR"),
            Change(metadata=Changes(questionnaire={"transaction_id": "1042", "absent": None})),
        ],
    )
    async def test_no_change(self, world: World, wanted: Change) -> None:
        instance = await world.issue(IssueInput(metadata=Changes(questionnaire={"transaction_id": "1042"})))

        assert instance == await change(world, instance, wanted)
        assert ["created"] == await world.news(instance.instance_id)

    async def test_metadata(self, world: World) -> None:
        """Merged by name on both sides; null and empty text remove."""
        given = Changes({"transaction_id": "1042", "store_id": "7"}, {"email": "ann@example.com", "name": "Ann"})
        instance = await world.issue(IssueInput(metadata=given))

        changed = await change(
            world, instance, Change(metadata=Changes({"transaction_id": "1043", "store_id": None}, {"name": None}))
        )

        assert {"transaction_id": "1043"} == changed.metadata
        assert {"email": "ann@example.com"} == (await responder_of(world, changed)).metadata

    async def test_reopened(self, world: World) -> None:
        instance = await world.issue(IssueInput(valid_days=1))

        await change(world, instance, Change(valid_days=10), now=NOW + timedelta(days=2))

        assert ["created", "updated", "reopened"] == await world.news(instance.instance_id)

    async def test_time_never_goes_back(self, world: World) -> None:
        instance = await world.issue()

        changed = await change(world, instance, Change(valid_days=7), now=NOW - timedelta(hours=1))

        assert NOW == changed.updated_time

    async def test_nothing_is_lost(self, world: World) -> None:
        """Writers of different fields and names never undo each other."""
        instance = await world.issue()
        rounds = 20
        writers = [
            *(
                [Change(metadata=Changes(questionnaire={f"name{writer}": str(turn)})) for turn in range(rounds)]
                for writer in range(16)
            ),
            [Change(valid_days=turn) for turn in range(rounds)],
            [Change(editable=turn % 2 == 0) for turn in range(rounds)],
            [Change(locale=("en", "el")[turn % 2]) for turn in range(rounds)],
            [Change(metadata=Changes(responder={"turn": str(turn)})) for turn in range(rounds)],
        ]

        async def write(wanted: list[Change]) -> None:
            for one in wanted:
                await change(world, instance, one)

        await asyncio.gather(*(write(wanted) for wanted in writers))

        final = await change(world, instance, Change())
        assert {f"name{writer}": "19" for writer in range(16)} == final.metadata
        assert (19, False, "el") == (final.valid_days, final.editable, final.locale)
        assert {"turn": "19"} == (await responder_of(world, final)).metadata


class TestDelete:
    async def delete(self, world: World, instance: Instance) -> None:
        async with db.transaction(world.pool) as database:
            await service.delete(database, caller=world.caller, instance_id=instance.instance_id, now=LATER)

    async def test_twice(self, world: World) -> None:
        instance = await world.issue()
        await self.delete(world, instance)

        with pytest.raises(errors.NotFound):
            await self.delete(world, instance)
        assert ["created", "deleted"] == await world.news(instance.instance_id)

    async def test_gone_everywhere(self, world: World) -> None:
        instance = await world.issue()
        await world.save(instance, {NPS: 1, SINGLE: 1})
        await self.delete(world, instance)

        async with db.connection(world.pool) as database:
            assert await store.get_public_instance(database, instance_id=instance.instance_id) is None
            assert await store.get_instance_by_short_code(database, short_code=instance.short_code) is None
            assert 0 == await store.count_responses(
                database,
                organization_id=instance.organization_id,
                questionnaire_id=instance.questionnaire_id,
                limit=10,
            )
        with pytest.raises(errors.NotFound):
            await world.save(instance, {NPS: 2})
        with pytest.raises(errors.NotFound):
            await change(world, instance, Change(valid_days=7))
