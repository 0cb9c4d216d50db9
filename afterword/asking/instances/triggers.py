"""Responses that events of the log tell of, for rules that act on them: alerts and sequences."""

from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, Generic, TypeVar

import msgspec

from afterword import errors
from afterword.asking.instances import answers as answers_store, store, tags as tags_store
from afterword.asking.instances.store import Instance
from afterword.asking.questionnaires import metadata as metadata_service, store as questionnaires_store
from afterword.asking.questionnaires.store import Questionnaire
from afterword.core.answers import instances as core_instances, values
from afterword.core.messaging import alerts
from afterword.core.messaging.alerts import TRIGGERS, Match
from afterword.core.organizations.access import Caller
from afterword.core.questionnaires import conditions
from afterword.core.questionnaires.conditions import Facts, Kind, Node, Scope, leaves_of
from afterword.core.questionnaires.metadata import Declared
from afterword.core.reading.findings import Findings
from afterword.events.service import Event
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
    own = {"organization_id": organization_id}
    return {
        questionnaire_id: await metadata_service.declared_of(db, **own, questionnaire_id=questionnaire_id)
        for questionnaire_id in {instance.questionnaire_id for instance in instances}
    }


async def _answers(
    db: Database, *, organization_id: str, instance_ids: Sequence[str]
) -> defaultdict[str, dict[str, object]]:
    found: defaultdict[str, dict[str, object]] = defaultdict(dict)
    own = {"organization_id": organization_id}
    for answer in await answers_store.list_answers_of_instances(db, **own, instance_ids=instance_ids):
        if answer.provisional:
            continue
        version = await questionnaires_store.get_version(db, **own, version_id=answer.version_id)
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
    instance = await store.get_instance(db, **caller.sight, instance_id=instance_id)
    if instance is None or instance.questionnaire_id != questionnaire.questionnaire_id:
        raise errors.Invalid.at("/instance_id", "unknown_id", "There is no such instance of this questionnaire.")
    own = {"organization_id": caller.organization_id}
    declared = await metadata_service.declared_of(db, **questionnaire.key)
    kinds: dict[str, Kind] = {}
    for version_id in {instance.version_id, questionnaire.published_version_id or instance.version_id}:
        version = await questionnaires_store.get_version(db, **own, version_id=version_id)
        for question in version.definition.questions():
            kinds |= question.kinds
    scope = Scope(questions=kinds, metadata=declared.types, undeclared="text", tags=True)
    findings = Findings()
    node = conditions.read(document, "/conditions", findings, scope)
    findings.check()
    caller.require_values(leaf.subject for leaf in conditions.leaves_of(node))
    found = await list_facts(db, **own, instance_ids=[instance_id])
    return node, found.get(instance_id, {})


UPDATED: Final = "questionnaire_instance.updated"

ResponseKey = tuple[str, str]  # organization_id, instance_id
RuleKey = tuple[str, str, str]
T = TypeVar("T")


class Response(msgspec.Struct):
    organization_id: str
    instance_id: str
    questionnaire_id: str
    responder_id: str | None
    test: bool
    triggers: set[str] = msgspec.field(default_factory=set[str])
    last_time: datetime | None = None

    @property
    def key(self) -> ResponseKey:
        return self.organization_id, self.instance_id


def responses_of(batch: Sequence[Event]) -> list[Response]:
    """The responses to look at, each once, in the order of their first event."""
    found: dict[ResponseKey, Response] = {}
    for event in batch:
        triggers = TRIGGERS.get(event.type)
        is_edit_before_the_end = event.type == UPDATED and not event.data.get("finalized")
        if triggers is None or is_edit_before_the_end or event.subject_id is None or event.questionnaire_id is None:
            continue
        key = event.organization_id, event.subject_id
        response = found.setdefault(
            key, Response(*key, event.questionnaire_id, event.data.get("responder_id"), event.test)
        )
        response.triggers |= triggers
        response.last_time = _time_of(event)
    return list(found.values())


class Matched(msgspec.Struct, Generic[T], frozen=True):
    response: Response
    rule: T
    match: Match
    facts: Facts


async def matched(
    db: Database,
    *,
    responses: Sequence[Response],
    rules: Mapping[RuleKey, T],
    rule_of: Callable[[T], Any],
    list_made: Callable[[Sequence[RuleKey]], Awaitable[Collection[RuleKey]]],
) -> list[Matched[T]]:
    """The pairs of response and rule whose conditions hold, of rules that were in force when it was given.

    `rules`: by organization, rule and the questionnaire that each is about. `rule_of`: its trigger, time, conditions.
    `list_made`: of keys (organization, rule, instance) those that an earlier event matched; they are left out.
    """
    by_questionnaire: defaultdict[tuple[str, str], list[tuple[str, T]]] = defaultdict(list)
    for (organization_id, rule_id, questionnaire_id), each in rules.items():
        by_questionnaire[organization_id, questionnaire_id].append((rule_id, each))
    wanted = [
        (response, rule_id, each)
        for response in responses
        for rule_id, each in by_questionnaire[response.organization_id, response.questionnaire_id]
        if applies(response, trigger=rule_of(each).trigger, since_time=rule_of(each).since_time)
    ]
    keys = [(response.organization_id, rule_id, response.instance_id) for response, rule_id, _ in wanted]
    made = await list_made(keys) if keys else ()
    wanted = [one for one, key in zip(wanted, keys, strict=True) if key not in made]
    facts = await facts_of(db, responses=[response for response, _, _ in wanted])
    nodes = {rule_id: conditions.read_saved(rule_of(each).conditions) for _, rule_id, each in wanted}
    found: list[Matched[T]] = []
    for response, rule_id, each in wanted:
        known = facts.get(response.key)
        if known is not None:  # else it was deleted since
            found.append(Matched(response, each, alerts.judge(nodes[rule_id], known), known))
    return [one for one in found if one.match.holds]


def applies(response: Response, *, trigger: str, since_time: datetime) -> bool:
    """True if a rule with this trigger, in force since that time, is about what happened to the response."""
    return trigger in response.triggers and (response.last_time is None or since_time <= response.last_time)


async def facts_of(db: Database, *, responses: Iterable[Response]) -> Mapping[ResponseKey, Facts]:
    """The facts of responses of any organization; deleted ones are left out."""
    by_organization: defaultdict[str, set[str]] = defaultdict(set)
    for response in responses:
        by_organization[response.organization_id].add(response.instance_id)
    return {
        (organization_id, instance_id): known
        for organization_id, instance_ids in sorted(by_organization.items())
        for instance_id, known in (
            await list_facts(db, organization_id=organization_id, instance_ids=sorted(instance_ids))
        ).items()
    }


def _time_of(event: Event) -> datetime:
    """The time of an event; of an edit the completion of its response, since new rules do not reach back."""
    completed = event.data.get("completed_time") if event.type == UPDATED else None
    return datetime.fromisoformat(completed) if isinstance(completed, str) else event.created_time
