"""Viewing, changing and deleting instances, and their events; test_issuing.py issues them."""

import asyncio
from datetime import datetime, timedelta
from typing import Any

import msgspec
import pytest

from afterword import errors
from afterword.asking.instances import answers, service, store
from afterword.asking.instances.issuing import IssueInput
from afterword.asking.instances.service import Change
from afterword.asking.instances.store import Instance
from afterword.core.questionnaires.metadata import Changes
from afterword.kit import db
from afterword.people.responders import store as responders_store
from tests.asking.instances.conftest import NOW, NPS, SINGLE, World

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


class TestUpdate:
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
        await change(world, instance, Change(metadata=Changes(responder=dict(full))))
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

    async def test_no_change(self, world: World) -> None:
        instance = await world.issue(IssueInput(metadata=Changes(questionnaire={"transaction_id": "1042"})))

        for wanted in (
            Change(),
            Change(valid_days=30, editable=False, locale="el-GR"),
            Change(metadata=Changes(questionnaire={"transaction_id": "1042", "absent": None})),
        ):
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
        """The time of a change never goes back."""
        instance = await world.issue(IssueInput(valid_days=1))

        changed = await change(world, instance, Change(valid_days=2), now=NOW - timedelta(hours=1))
        assert NOW == changed.updated_time
        await change(world, instance, Change(valid_days=10), now=NOW + timedelta(days=3))
        assert ["created", "updated", "updated", "reopened"] == await world.news(instance.instance_id)

    async def test_nothing_is_lost(self, world: World) -> None:
        """Writers of different fields and names never undo each other."""
        instance = await world.issue()
        rounds = 10
        writers = [
            *(
                [Change(metadata=Changes(questionnaire={f"name{writer}": str(turn)})) for turn in range(rounds)]
                for writer in range(8)
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
        assert {f"name{writer}": "9" for writer in range(8)} == final.metadata
        assert (9, False, "el") == (final.valid_days, final.editable, final.locale)
        assert {"turn": "9"} == (await responder_of(world, final)).metadata


class TestDelete:
    async def test_gone_everywhere(self, world: World) -> None:
        instance = await world.issue()
        await world.save(instance, {NPS: 1, SINGLE: 1})
        await world.delete(instance, now=LATER)

        with pytest.raises(errors.NotFound):
            await world.delete(instance, now=LATER)
        assert ["created", "viewed", "submitted", "deleted"] == await world.news(instance.instance_id)
        async with db.connection(world.pool) as database:
            assert await store.get_public_instance(database, instance_id=instance.instance_id) is None
            assert await store.get_instance_by_short_code(database, short_code=instance.short_code) is None
            assert 0 == await answers.count_responses(
                database,
                organization_id=instance.organization_id,
                questionnaire_id=instance.questionnaire_id,
                limit=10,
            )
        with pytest.raises(errors.NotFound):
            await world.save(instance, {NPS: 2})
        with pytest.raises(errors.NotFound):
            await change(world, instance, Change(valid_days=7))


OVER = NOW + timedelta(days=400)


async def test_of_update(world: World) -> None:
    instance = await world.issue()
    base = msgspec.structs.replace(instance, sent_time=NOW)
    changes: list[tuple[dict[str, Any], dict[str, Any], list[str]]] = [
        ({}, {}, ["updated"]),
        ({"valid_days": 1}, {"valid_days": 0}, ["updated", "reopened"]),
        ({"valid_days": 0}, {"valid_days": 1}, ["updated", "expired"]),
        ({"valid_days": 1}, {"valid_days": 2}, ["updated"]),
        ({"valid_days": 0, "finalized": True}, {"valid_days": 1, "finalized": True}, ["updated"]),
    ]
    for before, after, kinds in changes:
        old, new = msgspec.structs.replace(base, **before), msgspec.structs.replace(base, **after)
        told = service._events(old, new, caller=world.caller, now=OVER)
        assert [f"questionnaire_instance.{kind}" for kind in kinds] == [event.type for event in told]
    assert "responder" == instance.event("viewed", now=NOW).actor_kind
    ours = instance.event("updated", now=NOW, caller=world.caller)
    assert (world.caller.actor_id, instance.version) == (ours.actor_id, ours.subject_version)
    assert "metadata" not in ours.data
