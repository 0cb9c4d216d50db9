"""Issuing instances: by the API, by the public link, and for items of the queue."""

import asyncio
from collections import Counter
from datetime import timedelta
from typing import Any

import pytest

from afterword import errors, ids
from afterword.asking.instances import issuing, service, store
from afterword.asking.instances.answers import Closed, Inactive
from afterword.asking.instances.issuing import IssueInput, ItemIssueInput, NotPublished
from afterword.asking.instances.store import Instance
from afterword.core.questionnaires.metadata import Changes
from afterword.kit import db
from afterword.people.responders import service as responders
from tests.asking.instances.conftest import NOW, NPS, SECRET, World
from tests.asking.instances.test_service import LATER, responder_of
from tests.event_log import list_events


class TestIssue:
    async def test_refused(self, world: World) -> None:
        changes: list[tuple[dict[str, Any], type[errors.Conflict]]] = [
            ({"active": False}, Inactive),
            ({"active": True, "archived_time": NOW}, Inactive),
            ({"archived_time": None, "published_version_id": None}, NotPublished),
        ]
        for columns, kind in changes:
            await world.set_questionnaire(**columns)
            with pytest.raises(kind) as refusal:
                await world.issue()
        assert (409, "questionnaire_not_published") == (refusal.value.status, refusal.value.code)

    async def test_closed(self, world: World) -> None:
        await world.save(await world.issue(), {NPS: 1})
        await world.set_questionnaire(responses_max=1)

        with pytest.raises(Closed):
            await world.issue()

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

    async def test_locale(self, world: World) -> None:
        sent = {"en": "en", "en_US": "en", "EL-gr": "el", "pt": "pt-br", "pt-PT": "pt-br", "de": "el"}
        assert sent == {one: (await world.issue(IssueInput(locale=one))).locale for one in sent}

    async def test_zero_and_false_are_wishes(self, world: World) -> None:
        instance = await world.issue(IssueInput(valid_days=0, editable=True))

        assert (0, True) == (instance.valid_days, instance.editable)

    async def test_responder(self, world: World) -> None:
        """Responders are found by the address, or given."""
        request = IssueInput(metadata=Changes(responder={"email": "Ann@Example.com", "name": "Ann"}))

        first, second = await world.issue(request), await world.issue(request)
        nobody, again = await world.issue(), await world.issue()

        assert first.responder_id == second.responder_id
        assert 3 == len({first.responder_id, nobody.responder_id, again.responder_id})
        assert "Ann" == (await responder_of(world, first)).metadata["name"]
        request = IssueInput(responder_id=nobody.responder_id, metadata=Changes(responder={"name": "Bob"}))
        given = await world.issue(request)
        assert nobody.responder_id == given.responder_id
        assert {"name": "Bob"} == (await responder_of(world, given)).metadata

    async def test_reference_is_issued_once(self, world: World) -> None:
        """Ten at once: one instance, and no responder is left over from the others. It is free after deletion."""
        request = IssueInput(reference_id="order-1042")

        issued = await asyncio.gather(*(world.issue(request) for _ in range(10)))

        assert 1 == len({instance.instance_id for instance in issued})
        assert ["created"] == await world.news(issued[0].instance_id)
        async with db.connection(world.pool) as database:
            assert 1 == await database.fetch_value("select count(*) from responder")
        await world.delete(issued[0])
        assert issued[0].instance_id != (await world.issue(request)).instance_id


class TestIssueByLink:
    async def by_link(self, world: World, request: IssueInput) -> tuple[Instance, bool]:
        async with db.transaction(world.pool) as database:
            issuable = await issuing.get_issuable(
                database, organization_id=world.caller.organization_id, questionnaire_id=world.questionnaire_id
            )
            version = await issuing.version_to_start(database, issuable=issuable)
            return await issuing.issue_by_link(
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
        await world.delete(instance)

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
            return await issuing.issue_for_items(database, items=wanted, now=NOW, draw=lambda: 0.0)

    async def test_not_published(self, world: World) -> None:
        wanted = await self.wanted(world, 1)
        await world.set_questionnaire(published_version_id=None)

        assert [{}, {}] == [await self.issue(world, one) for one in (wanted, [])]

    async def test_a_batch_twice(self, world: World) -> None:
        """A later claim finds the same instances, and tells nothing again."""
        wanted = await self.wanted(world, 40)

        first = await self.issue(world, wanted[:30])
        second = await self.issue(world, wanted)

        assert {(one.organization_id, one.item_id) for one in wanted} == set(second)
        assert first == {key: second[key] for key in first}
        one = second[wanted[7].organization_id, wanted[7].item_id]
        assert ("en", {"transaction_id": "7"}, wanted[7].responder_id) == (one.locale, one.metadata, one.responder_id)
        async with db.connection(world.pool) as database:
            told = await list_events(database, organization_id=one.organization_id)
        assert 40 == Counter(event.type for event in told)["questionnaire_instance.created"]
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
                await service.settle_times(
                    database, "sent", times={(instance.organization_id, instance.instance_id): moment}, now=moment
                )

        sent = await world.stored(instance)
        assert (LATER, instance.version + 1) == (sent.sent_time, sent.version)
