"""Tests conditions of alerts on a past response."""

from afterword import errors
from afterword.core.organizations.access import Caller
from afterword.core.questionnaires import condition_reader, conditions
from afterword.core.questionnaires.condition_reader import Kind, Scope
from afterword.core.questionnaires.conditions import Facts, Node
from afterword.core.reading.findings import Findings
from afterword.db import Database
from afterword.instances import facts, store
from afterword.questionnaires import store as questionnaires_store
from afterword.questionnaires.metadata import service as metadata_service
from afterword.questionnaires.store import Questionnaire


async def read(
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
    node = condition_reader.read(document, "/conditions", findings, scope)
    findings.check()
    caller.require_values(leaf.subject for leaf in conditions.leaves_of(node))
    found = await facts.list_facts(db, organization_id=caller.organization_id, instance_ids=[instance_id])
    return node, found.get(instance_id, {})
