"""Counts the ways that the newest responses would take through a definition, such as a draft that is not published."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import msgspec

from afterword.asking.instances import answers, store as instances, triggers
from afterword.asking.questionnaires.store import Questionnaire
from afterword.core.answers.progress import PageSequence, asked_of
from afterword.core.answers.values import Given
from afterword.core.organizations.access import Caller
from afterword.core.questionnaires import conditions
from afterword.core.questionnaires.conditions import All, Facts
from afterword.core.questionnaires.definition import Definition
from afterword.kit.db import Database
from afterword.listening.responses import service
from afterword.listening.responses.service import Filter

RESPONSES_MAX: Final = 1_000
BATCH: Final = 250


class Passages(msgspec.Struct, frozen=True):
    """`asked`: responses that come to a question, by id. `jumps`: those that take its jump of this number from 0."""

    responses: int
    asked: Mapping[str, int]
    jumps: Mapping[tuple[str, int], int]


async def count(db: Database, *, caller: Caller, questionnaire: Questionnaire, definition: Definition) -> Passages:
    """Of the newest RESPONSES_MAX; those that are held back or rejected do not count."""
    found = await service.list_ids(
        db,
        organization_id=caller.organization_id,
        application_ids=[questionnaire.owner_application_id],
        chosen=Filter(only=caller.only, questionnaire_id=questionnaire.questionnaire_id, test=caller.test),
        among=None,
        limit=RESPONSES_MAX,
    )
    ids = [instance_id for instance_id, _ in found]
    responses, asked, jumps = 0, Counter[str](), Counter[tuple[str, int]]()
    for begin in range(0, len(ids), BATCH):
        for sequence in await _sequences(
            db, organization_id=caller.organization_id, instance_ids=ids[begin : begin + BATCH], definition=definition
        ):
            responses += 1
            for question_id, jump in sequence.steps:
                asked[question_id] += 1
                if jump is not None:
                    jumps[question_id, jump] += 1
    return Passages(responses, asked, jumps)


async def _sequences(
    db: Database, *, organization_id: str, instance_ids: Sequence[str], definition: Definition
) -> Iterator[PageSequence]:
    found = await instances.list_instances_by_ids(db, organization_id=organization_id, instance_ids=instance_ids)
    given: defaultdict[str, dict[str, Given]] = defaultdict(dict)
    for one in await answers.list_answers_of_instances(db, organization_id=organization_id, instance_ids=instance_ids):
        if not one.provisional:
            given[one.instance_id][one.question_id] = Given(one.value)
    known = await _metadata(db, organization_id=organization_id, instance_ids=instance_ids, definition=definition)
    return (
        PageSequence(
            definition,
            asked_of(definition, drawn=one.question_ids),
            given[one.instance_id],
            facts=known.get(one.instance_id, {}),
        )
        for one in found
        if not one.is_kept_apart
    )


async def _metadata(
    db: Database, *, organization_id: str, instance_ids: Sequence[str], definition: Definition
) -> Mapping[str, Facts]:
    nodes = [
        node
        for question in definition.questions()
        for node in (question.show_if, *(jump.conditions for jump in question.jumps))
    ]
    leaves = tuple(
        leaf for node in nodes for leaf in conditions.leaves_of(node) if not leaf.subject.startswith("question:")
    )
    if not leaves:
        return {}
    return await triggers.list_facts(
        db, organization_id=organization_id, instance_ids=instance_ids, condition=All(leaves)
    )
