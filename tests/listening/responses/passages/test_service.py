"""Responses are counted by the way that they would take through a definition that asks for answers and metadata."""

import dataclasses
from datetime import timedelta

import pytest
from msgspec.structs import replace

from afterword.asking.questionnaires import store as questionnaires
from afterword.core.organizations.access import Caller
from afterword.core.questionnaires.conditions import Leaf
from afterword.core.questionnaires.definition import Definition
from afterword.core.questionnaires.question_types import Jump
from afterword.kit import db
from afterword.listening.responses import passages
from tests.listening.reports.conftest import CSAT, NPS, TEXT, House


async def test_count(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passages, "BATCH", 2)
    north = Jump(TEXT, Leaf("questionnaire_metadata:store_id", "equal", "north"))
    low = Jump(None, Leaf(f"question:{NPS}", "less", 7))
    definition = changed(house.definition, {NPS: (north, low)})
    async with db.connection(house.pool) as database:
        now = database.clock.now()
    for number, (store, score) in enumerate((("north", 3), ("south", 3), ("south", 10), ("north", 10), ("east", 0))):
        await house.respond({NPS: score}, now=now - timedelta(minutes=number), metadata={"store_id": store})
    await house.follow()
    found = await count(house, definition)
    assert (5, 5, 1, 3) == (found.responses, found.asked[NPS], found.asked[CSAT], found.asked[TEXT])
    assert {(NPS, 0): 2, (NPS, 1): 2} == found.jumps
    other = dataclasses.replace(house.caller, organization_id="0" * 22)
    assert 0 == (await count(house, definition, caller=other)).responses
    monkeypatch.setattr(passages, "RESPONSES_MAX", 2)
    assert 2 == (await count(house, definition)).responses


async def count(house: House, definition: Definition, *, caller: Caller | None = None) -> passages.Passages:
    async with db.connection(house.pool) as database:
        one = await questionnaires.get_questionnaire(
            database, organization_id=house.caller.organization_id, questionnaire_id=house.questionnaire_id
        )
        assert one is not None
        return await passages.count(database, caller=caller or house.caller, questionnaire=one, definition=definition)


def changed(definition: Definition, jumps: dict[str, tuple[Jump, ...]]) -> Definition:
    groups = tuple(
        replace(
            group,
            questions=tuple(replace(one, jumps=jumps.get(one.question_id, ())) for one in group.questions),
        )
        for group in definition.groups
    )
    return replace(definition, groups=groups)
