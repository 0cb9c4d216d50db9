"""Sequences: who may set them, what they ask, and the items that responses make by them."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from zoneinfo import ZoneInfo

import httpx2
import pytest

from afterword.asking.instances.answers import lock_context, save_answers
from afterword.asking.questionnaires import store as questionnaires_store
from afterword.cases import service
from afterword.core.answers.values import Given
from afterword.kit import db
from afterword.sending.intake import sequences
from tests.conftest import House, settled
from tests.dates import YEAR
from tests.sending.queue.conftest import OK, SMS, Client, Queue, codes

CSAT = 0


@dataclass
class Chain:
    """The house with its questionnaire, whose responses lead on to a second pipeline of the same one."""

    client: Client
    queue: Queue
    follow_up: Queue  # the second pipeline

    @property
    def house(self) -> House:
        return self.queue.house

    async def questions(self) -> list[str]:
        version = await self.queue.run(
            questionnaires_store.get_version,
            organization_id=self.house.organization_id,
            version_id=self.house.version_id,
        )
        return [question.question_id for question in version.definition.questions()]

    async def post(self, **body: object) -> httpx2.Response:
        return await self.client.send(
            "POST",
            "/q/sequence",
            {
                "title": "After the first",
                "from_questionnaire_id": self.house.questionnaire_id,
                "pipeline_id": self.follow_up.pipeline_id,
                **body,
            },
        )

    async def sequence(self, **body: object) -> dict[str, Any]:
        response = await self.post(**body)
        assert 201 == response.status_code, response.text
        return response.json()

    async def ask(self, queue: Queue | None = None, **metadata: str) -> str:
        """Send to Ann, and the instance that she got."""
        queue = queue or self.queue
        item = await queue.schedule(locale="en", metadata={"questionnaire": metadata})
        return await self.sent(queue, item.item_id)

    async def sent(self, queue: Queue, item_id: str) -> str:
        await self.queue.execute("update queue_item set due_time = now() where item_id = $1", item_id)
        await queue.worker().send(OK)
        return await self.queue.value("select questionnaire_instance_id from queue_item where item_id = $1", item_id)

    async def answer(
        self, instance_id: str, answers: Mapping[int, Given] | None = None, *, complete: bool = True
    ) -> None:
        async with db.transaction(self.queue.pool) as database:
            context = await lock_context(database, instance_id=instance_id)
            questions = context.definition.questions()
            saved = await save_answers(
                database,
                context=context,
                answers={questions[place].question_id: given for place, given in (answers or {CSAT: Given(2)}).items()},
                complete=complete,
                now=database.clock.now(),
            )
            assert not saved.wrong

    async def follow(self) -> None:
        await settled(self.queue.pool)
        await self.queue.run(sequences.follow, secret=self.queue.secret, now=await self.queue.now(), limit=500)

    async def made(self) -> list[Mapping[str, Any]]:
        """The items of sequences, the oldest first."""
        return list(await self.queue.fetch("select * from queue_item where source = 'sequence' order by item_id"))

    async def told(self, kind: str = "skipped") -> list[Mapping[str, Any]]:
        rows = await self.queue.fetch("select data from event where type = $1 order by seq", f"sequence.{kind}")
        return [row["data"] for row in rows]

    async def flow_time(self, instance_id: str) -> Any:
        return await self.queue.value(
            "select flow_time from questionnaire_instance where instance_id = $1", instance_id
        )


@pytest.fixture
async def chain(http: httpx2.AsyncClient, queue: Queue) -> Chain:
    follow_up = await queue.pipeline(title="Follow-up", delay_cap_days=1)
    return Chain(Client(http, queue), queue, follow_up)


class TestRules:
    async def test_wrong(self, chain: Chain) -> None:
        for body, expected in (
            (
                {"from_questionnaire_id": "0" * 22, "pipeline_id": "0" * 22},
                [("/from_questionnaire_id", "unknown_id"), ("/pipeline_id", "unknown_id")],
            ),
            (
                {"conditions": {"subject": "question:" + "0" * 22, "operator": "equal", "value": 1}},
                [("/conditions/subject", "unknown_id")],
            ),
            (
                {"conditions": {"subject": "questionnaire_metadata:store_pickup", "operator": "equal", "value": "x"}},
                [("/conditions/value", "wrong_type")],
            ),
            ({"conditions": {"any": 1}}, [("/conditions/any", "wrong_type")]),
        ):
            response = await chain.post(**body)
            assert (422, expected) == (response.status_code, codes(response)), body

    @pytest.mark.parametrize("leaf", [{"subject": "question", "operator": "greater", "value": 3},
                                      {"subject": "tag:vip", "operator": "is_not_empty"}])  # fmt: skip
    async def test_a_review_asks_everybody_or_nobody(self, chain: Chain, leaf: dict[str, Any]) -> None:
        """A public review is never asked for by score: the condition is about metadata alone."""
        if leaf["subject"] == "question":
            leaf = {**leaf, "subject": f"question:{(await chain.questions())[CSAT]}"}
        of_store = {"subject": "questionnaire_metadata:store_id", "operator": "equal", "value": "7"}
        refused = await chain.post(kind="review", conditions={"all": [of_store, leaf]})
        assert (422, [("/conditions", "exclusive")]) == (refused.status_code, codes(refused))
        made = await chain.sequence(kind="review", conditions=of_store)
        path = f"/q/sequence/{made['sequence_id']}"
        refused = await chain.client.send("PATCH", path, {"conditions": {"not": leaf}})
        assert (422, [("/conditions", "exclusive")]) == (refused.status_code, codes(refused))
        assert of_store == (await chain.client.ok("GET", path))["conditions"]

    async def test_ok(self, chain: Chain) -> None:
        question_id = (await chain.questions())[CSAT]
        conditions = {
            "all": [
                {"subject": f"question:{question_id}", "operator": "less", "value": 3},
                {"subject": "tag:vip", "operator": "is_not_empty"},
                {"subject": "questionnaire_metadata:store_id", "operator": "equal", "value": "7"},
            ]
        }
        made = await chain.sequence(conditions=conditions, kind="recovery", trigger="completed")
        assert ("recovery", "completed", True, conditions) == tuple(
            made[name] for name in ("kind", "trigger", "active", "conditions")
        )
        path = f"/q/sequence/{made['sequence_id']}"
        assert made == await chain.client.ok("GET", path)
        assert [made] == await chain.client.ok("GET", "/q/sequence")
        changed = await chain.client.send("PATCH", path, {"title": "Else", "conditions": None, "kind": "review"})
        assert ("Else", None, "recovery") == tuple(changed.json()[name] for name in ("title", "conditions", "kind"))
        assert 204 == (await chain.client.send("DELETE", path)).status_code
        assert 404 == (await chain.client.send("GET", path)).status_code


class TestFollow:
    async def test_makes_an_item(self, chain: Chain) -> None:
        """To the same person, after the target's delay, with what the response knew, in the chain of the response."""
        sequence = await chain.sequence()
        instance_id = await chain.ask(transaction_id="1042")
        await chain.follow()
        assert [] == await chain.made()
        await chain.answer(instance_id)
        await chain.follow()
        [item] = await chain.made()
        assert (
            sequence["sequence_id"], instance_id, "ann@example.com", "en", None, False, chain.follow_up.pipeline_id
        ) == tuple(item[name] for name in (
            "sequence_id", "previous_questionnaire_instance_id", "responder_channel_identifier", "locale",
            "created_by", "test", "pipeline_id",
        ))  # fmt: skip
        assert {"questionnaire": {"transaction_id": "1042"}, "responder": {}} == item["metadata"]
        hours = await chain.queue.value(
            "select round(extract(epoch from send_time - created_time) / 3600) from queue_item where item_id = $1",
            item["item_id"],
        )
        assert 24 == hours
        assert await chain.flow_time(instance_id)
        [queued] = await chain.told("queued")
        assert (instance_id, item["item_id"], None) == tuple(queued[n] for n in ("instance_id", "item_id", "reason"))
        actor = await chain.queue.value(
            "select actor_kind from event where type = 'queue_item.created' and subject_id = $1", item["item_id"]
        )
        assert "worker" == actor

        child_id = await chain.sent(chain.follow_up, item["item_id"])
        found = await chain.client.send("GET", f"/q/questionnaire/{chain.house.questionnaire_id}/instance/children")
        [tree] = [each for each in found.json()["results"] if each["instance_id"] == instance_id]
        assert [child_id] == [each["instance_id"] for each in tree["children"]]

    async def test_once(self, chain: Chain) -> None:
        """Submitted, completed, edited, read again: one item."""
        await chain.sequence()
        instance_id = await chain.ask()
        await chain.answer(instance_id, complete=False)
        await chain.follow()
        await chain.answer(instance_id)
        await chain.follow()
        await chain.queue.execute("update event_cursor set xid = '0', seq = 0 where reader = 'sequences'")
        await chain.follow()
        assert 1 == len(await chain.made())
        assert 1 == len(await chain.told("queued"))
        assert [] == await chain.told()

    async def test_two_readers_at_once(self, chain: Chain) -> None:
        await chain.sequence()
        await chain.answer(await chain.ask())
        await asyncio.gather(*(chain.follow() for _ in range(3)))
        assert 1 == len(await chain.made())

    @pytest.mark.parametrize(("trigger", "early", "late"), [("submitted", 1, 1), ("completed", 0, 1)])
    async def test_trigger(self, chain: Chain, trigger: str, early: int, late: int) -> None:
        await chain.sequence(trigger=trigger)
        instance_id = await chain.ask()
        await chain.answer(instance_id, complete=False)
        await chain.follow()
        assert early == len(await chain.made())
        await chain.answer(instance_id)
        await chain.follow()
        assert late == len(await chain.made())

    async def test_conditions(self, chain: Chain) -> None:
        question_id = (await chain.questions())[CSAT]
        await chain.sequence(conditions={"subject": f"question:{question_id}", "operator": "less", "value": 3})
        content, unhappy = await chain.ask(), await chain.ask()
        await chain.answer(content, {CSAT: Given(5)})
        await chain.answer(unhappy, {CSAT: Given(1)})
        await chain.follow()
        assert [unhappy] == [item["previous_questionnaire_instance_id"] for item in await chain.made()]
        assert await chain.flow_time(content) is None

    @pytest.mark.parametrize("change", [{"active": False}, {}])
    async def test_not_in_force(self, chain: Chain, change: dict[str, Any]) -> None:
        """An inactive one, and one that was made after the response."""
        instance_id = await chain.ask()
        if change:
            await chain.sequence(**change)
            await chain.answer(instance_id)
        else:
            await chain.answer(instance_id)
            await settled(chain.queue.pool)
            await chain.sequence()
        await chain.follow()
        assert [] == await chain.made()

    async def test_test_responses_make_test_items(self, chain: Chain) -> None:
        await chain.sequence()
        instance_id = await chain.ask()
        await chain.queue.execute("update questionnaire_instance set test = true")
        await chain.answer(instance_id)
        await chain.follow()
        assert [True] == [item["test"] for item in await chain.made()]

    async def test_no_date_to_count_from(self, chain: Chain) -> None:
        """No item is made, and none leaves at once; a response with the date makes one."""
        await chain.follow_up.change_pipeline("delay_from = 'questionnaire_metadata:transaction_date'")
        await chain.sequence()
        await chain.answer(await chain.ask())
        await chain.answer(await chain.ask(transaction_date=f"{YEAR}-06-01"))
        await chain.follow()
        [item] = await chain.made()
        assert f"{YEAR}-06-02T00:00:00+03:00" == item["send_time"].astimezone(ZoneInfo("Europe/Athens")).isoformat()
        [told] = await chain.told()
        assert ("invalid", True) == (told["reason"], "counts from this date" in told["result"])

    async def test_no_address(self, chain: Chain) -> None:
        texting = await chain.queue.pipeline(channel_id=SMS, title="By SMS", message_subject=None)
        sequence = await chain.sequence(pipeline_id=texting.pipeline_id)
        instance_id = await chain.ask()
        await chain.answer(instance_id)
        await chain.follow()
        assert [] == await chain.made()
        [told] = await chain.told()
        assert (sequence["sequence_id"], instance_id, None, "no_address") == tuple(
            told[name] for name in ("sequence_id", "instance_id", "item_id", "reason")
        )
        assert "channel" in told["result"]
        assert await chain.flow_time(instance_id) is None

    async def test_the_address_that_was_asked(self, chain: Chain) -> None:
        """Not a later one of the same person."""
        await chain.sequence()
        instance_id = await chain.ask()
        await chain.queue.execute(
            """insert into responder_address (organization_id, channel_id, address_key, responder_id, identifier,
                 unsubscribe_id)
               select organization_id, channel_id, decode('00', 'hex'), responder_id, 'other@example.com', 'x'
               from responder_address"""
        )
        await chain.answer(instance_id)
        await chain.follow()
        assert ["ann@example.com"] == [item["responder_channel_identifier"] for item in await chain.made()]

    @pytest.mark.parametrize(
        ("statement", "reason"),
        [
            ("update pipeline set deleted_time = now(), slug = null where title = 'Follow-up'", "inactive"),
            ("update questionnaire set published_version_id = null", "questionnaire_not_published"),
            ("update application set active = false", "application_inactive"),
        ],
    )
    async def test_its_target_is_gone(self, chain: Chain, statement: str, reason: str) -> None:
        await chain.sequence()
        instance_id = await chain.ask()
        await chain.answer(instance_id)
        await chain.queue.execute(statement)
        await chain.follow()
        assert [] == await chain.made()
        assert [reason] == [told["reason"] for told in await chain.told()]

    async def test_a_circle_ends(self, chain: Chain) -> None:
        """A questionnaire that leads to itself asks as often as a chain may be long, and says why it stops."""
        await chain.sequence()
        instance_id = await chain.ask()
        for generation in range(sequences.DEPTH_MAX):
            await chain.answer(instance_id)
            await chain.follow()
            made = await chain.made()
            assert generation + 1 == len(made)
            instance_id = await chain.sent(chain.follow_up, made[-1]["item_id"])
        await chain.answer(instance_id)
        await chain.follow()
        assert sequences.DEPTH_MAX == len(await chain.made())
        assert ["too_deep"] == [told["reason"] for told in await chain.told()]

    @pytest.mark.parametrize(("kind", "is_noted"), [("recovery", True), ("manual", False)])
    async def test_an_open_case_knows_what_follows_it_up(self, chain: Chain, kind: str, *, is_noted: bool) -> None:
        alert = await chain.client.send(
            "POST", "/alert", {"application_id": chain.house.application_id, "title": "All", "trigger": "submitted"}
        )
        assert 201 == alert.status_code, alert.text
        await chain.sequence(kind=kind)
        await chain.answer(await chain.ask())
        await chain.follow()
        await settled(chain.queue.pool)
        await chain.queue.run(service.raise_next, now=await chain.queue.now(), limit=500)
        [case] = (await chain.client.ok("GET", "/alert/instance"))["results"]
        [item] = await chain.made()
        assert (item["item_id"] if is_noted else None) == case["recovery_item_id"]

    async def test_a_deleted_response(self, chain: Chain) -> None:
        await chain.sequence()
        instance_id = await chain.ask()
        await chain.answer(instance_id)
        await chain.queue.execute("update questionnaire_instance set deleted_time = now()")
        await chain.follow()
        assert ([], []) == (await chain.made(), await chain.told())

    async def test_organizations_apart(self, chain: Chain, neighbour: House) -> None:
        await chain.sequence()
        other = Queue(chain.queue.pool, neighbour, neighbour.pipeline_id)
        theirs = Chain(Client(chain.client.http, other), other, other)
        instance_id = await theirs.ask()
        await theirs.answer(instance_id)
        await chain.follow()
        assert [] == await chain.made()
