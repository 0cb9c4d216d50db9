"""The facts of stored responses that conditions compare: answers, metadata, tags."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Final

from afterword import errors
from afterword.asking.instances import answers as answers_store
from afterword.asking.instances import store
from afterword.asking.instances import tags as tags_store
from afterword.asking.instances.store import Instance
from afterword.asking.questionnaires import store as questionnaires_store
from afterword.asking.questionnaires.metadata import service as metadata_service
from afterword.asking.questionnaires.store import Questionnaire
from afterword.core.answers import instances as core_instances
from afterword.core.answers import values
from afterword.core.organizations.access import Caller
from afterword.core.questionnaires import conditions
from afterword.core.questionnaires.conditions import Facts, Kind, Node, Scope, leaves_of
from afterword.core.questionnaires.metadata import Declared
from afterword.core.reading.findings import Findings
from afterword.kit.db import Database
from afterword.people.responders import store as responders_store

KINDS: Final = frozenset({"question", "questionnaire_metadata", "responder_metadata", "tag"})


async def list_facts(
    db: Database, *, organization_id: str, instance_ids: Sequence[str], condition: Node | None = None
) -> dict[str, Facts]:
    """The facts of these instances by id; deleted ones and those of other organizations are left out.

    Subjects: `question:{id}` and, of a matrix, `question:{id}:{row_id}`; `questionnaire_metadata:{name}`,
    `responder_metadata:{name}`, `tag:{tag}`. Responses that are kept apart are left out, as deleted ones. The number of
    statements is constant. `condition`: those of the kinds that it compares are enough.
    """
    kinds = {leaf.fact.partition(":")[0] for leaf in leaves_of(condition)} or KINDS
    instances = await store.list_instances_by_ids(db, organization_id=organization_id, instance_ids=instance_ids)
    instances = [instance for instance in instances if not instance.is_kept_apart]
    if not instances:
        return {}
    found_ids = [instance.instance_id for instance in instances]
    keys = [(organization_id, one) for one in {instance.responder_id for instance in instances}]
    responders = await responders_store.list_responders(db, keys=keys) if "responder_metadata" in kinds else []
    metadata = {responder.responder_id: responder.metadata for responder in responders}
    declared = await _declared(db, organization_id=organization_id, instances=instances)
    given: dict[str, Any] = {"organization_id": organization_id, "instance_ids": found_ids}
    answers = await _answers(db, **given) if "question" in kinds else defaultdict[str, dict[str, object]](dict)
    tags = await tags_store.list_tags_of_instances(db, **given) if "tag" in kinds else []
    found: dict[str, dict[str, object]] = {
        instance.instance_id: {
            **core_instances.facts_of(
                instance.metadata, metadata.get(instance.responder_id, {}), declared[instance.questionnaire_id]
            ),
            **answers[instance.instance_id],
        }
        for instance in instances
    }
    for tag in tags:
        found[tag.instance_id][f"tag:{tag.tag}"] = True
    return dict(found)


async def _declared(db: Database, *, organization_id: str, instances: Sequence[Instance]) -> Mapping[str, Declared]:
    return {
        questionnaire_id: await metadata_service.declared_of(
            db, organization_id=organization_id, questionnaire_id=questionnaire_id
        )
        for questionnaire_id in {instance.questionnaire_id for instance in instances}
    }


async def _answers(
    db: Database, *, organization_id: str, instance_ids: Sequence[str]
) -> defaultdict[str, dict[str, object]]:
    found: defaultdict[str, dict[str, object]] = defaultdict(dict)
    stored = await answers_store.list_answers_of_instances(
        db, organization_id=organization_id, instance_ids=instance_ids
    )
    for answer in stored:
        if answer.provisional:
            continue
        version = await questionnaires_store.get_version(
            db, organization_id=organization_id, version_id=answer.version_id
        )
        question = version.definition.question(answer.question_id)
        if question is not None:
            found[answer.instance_id].update(values.facts_of(question, answer.value))
    return found


async def read_conditions(
    db: Database, *, caller: Caller, questionnaire: Questionnaire, instance_id: str, document: object
) -> tuple[Node | None, Facts]:
    """The conditions of a JSON document, and the facts of an instance of the questionnaire.

    Raises Invalid, and InsufficientScope for metadata out of reach. The conditions may use questions of the
    instance's version and of the published one.
    """
    instance = await store.get_instance(db, **caller.reach, instance_id=instance_id)
    if instance is None or instance.questionnaire_id != questionnaire.questionnaire_id:
        raise errors.Invalid.at("/instance_id", "unknown_id", "There is no such instance of this questionnaire.")
    declared = await metadata_service.declared_of(
        db, organization_id=caller.organization_id, questionnaire_id=questionnaire.questionnaire_id
    )
    kinds: dict[str, Kind] = {}
    for version_id in {instance.version_id, questionnaire.published_version_id or instance.version_id}:
        version = await questionnaires_store.get_version(
            db, organization_id=caller.organization_id, version_id=version_id
        )
        for question in version.definition.questions():
            kinds |= question.kinds
    scope = Scope(questions=kinds, metadata=declared.types, undeclared="text", tags=True)
    findings = Findings()
    node = conditions.read(document, "/conditions", findings, scope)
    findings.check()
    caller.require_values(leaf.subject for leaf in conditions.leaves_of(node))
    found = await list_facts(db, organization_id=caller.organization_id, instance_ids=[instance_id])
    return node, found.get(instance_id, {})
