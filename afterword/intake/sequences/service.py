"""Sequences: made and changed by people; followed by a reader of the event log, which makes their items.

A response makes at most one item by a sequence, whatever is read twice (the database holds it). Chains of responses end
after as many generations as `/instance/children` shows, so that sequences may form a circle and yet come to an end.
"""

from collections.abc import Mapping
from collections.abc import Sequence as Many
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Final

from afterword import errors, ids
from afterword.core.messaging.alerts import TRIGGERS
from afterword.core.organizations.access import Caller, installation
from afterword.core.questionnaires import condition_reader
from afterword.core.questionnaires.condition_reader import Kind, Scope
from afterword.core.reading.findings import Findings
from afterword.db import Database
from afterword.errors import FieldError
from afterword.events import service as events
from afterword.events.service import Event, NewEvent
from afterword.instances import service as instances
from afterword.instances.children.trees import DEPTH_MAX
from afterword.instances.triggers import Response, matched, responses_of
from afterword.intake.sequences import store
from afterword.intake.sequences.store import Rule, Source, Target
from afterword.pipelines import store as pipelines_store
from afterword.questionnaires import store as questionnaires_store
from afterword.questionnaires.metadata import service as metadata_service
from afterword.queue import service as queue
from afterword.queue.resources import QueueItemRequest
from afterword.queue.service import NewItem, ReferenceTaken
from afterword.queue.store import QueueItem
from afterword.web.fields import MetadataGroups

SEQUENCES_MAX: Final = 100  # of an organization
READER: Final = "sequences"
NO_ADDRESS: Final = ("no_address", "The responder has no address on the pipeline's channel.")
TOO_DEEP: Final = (
    "too_deep",
    f"The response is the last of a chain of {DEPTH_MAX + 1}, which sequences do not lengthen.",
)
NO_PIPELINE: Final = ("inactive", "The pipeline was deleted.")


Reason = tuple[str, str]  # a code and a sentence


@dataclass(frozen=True, slots=True)
class _Step:
    """A response that met a sequence's conditions, and what it says for the item; None: it is gone."""

    response: Response
    target: Target
    source: Source | None


async def get(db: Database, *, caller: Caller, sequence_id: str, expect: errors.Expect | None = None) -> Rule:
    """The sequence as the caller may see it, locked where a version is expected; raises NotFound."""
    get_sequence = store.get_sequence_locked if expect else store.get_sequence
    rule = errors.found(await get_sequence(db, **caller.part, sequence_id=sequence_id), "There is no such sequence.")
    if expect:
        expect(rule.version)
    return rule


async def create(db: Database, *, caller: Caller, columns: Mapping[str, Any], now: datetime) -> Rule:
    """Make a sequence. Raises Invalid: unknown ids, conditions that cannot be asked there, one too many."""
    await _check(db, caller=caller, columns=columns, changed=frozenset(columns))
    if await store.count_sequences_locked(db, organization_id=caller.organization_id) >= SEQUENCES_MAX:
        raise errors.Invalid.at("", "too_many", f"An organization has at most {SEQUENCES_MAX} sequences.")
    return await store.insert_sequence(
        db,
        organization_id=caller.organization_id,
        sequence_id=ids.ordered(now),
        columns=columns,
        now=now,
        by=caller.actor_id,
    )


async def update(
    db: Database, *, caller: Caller, sequence_id: str, changes: Mapping[str, Any], now: datetime, expect: errors.Expect
) -> Rule:
    """Change what is named and nothing else. Raises NotFound, Invalid, and what `expect` raises."""
    before = await get(db, caller=caller, sequence_id=sequence_id, expect=expect)
    columns = {**asdict(before), **changes}
    changed = frozenset(name for name in changes if changes[name] != getattr(before, name))
    await _check(db, caller=caller, columns=columns, changed=changed)
    after = await store.update_sequence(
        db,
        organization_id=caller.organization_id,
        sequence_id=sequence_id,
        changes=changes,
        now=now,
        by=caller.actor_id,
    )
    return after or before


async def delete(db: Database, *, caller: Caller, sequence_id: str, expect: errors.Expect) -> None:
    """Remove the sequence; the items that it made stay. Raises NotFound, and what `expect` raises."""
    await get(db, caller=caller, sequence_id=sequence_id, expect=expect)
    await store.delete_sequence(db, organization_id=caller.organization_id, sequence_id=sequence_id)


async def follow(db: Database, *, secret: bytes, now: datetime, limit: int) -> int:
    """Read the next `limit` events of the log and make the items that they call for, in the cursor's transaction.

    How many events were passed; fewer than `limit` means that there are no more. A response whose address, pipeline or
    chain lets no item be made is told as an event `sequence.skipped`, with the reason.
    """

    async def handle(told: Many[Event]) -> None:
        responses = responses_of(told)
        if responses:
            await _schedule(db, responses=responses, secret=secret, now=now)

    return await events.handle_next(db, reader=READER, types=frozenset(TRIGGERS), limit=limit, handle=handle)


# Following ------------------------------------------------------------------------------------------------------------


async def _schedule(db: Database, *, responses: Many[Response], secret: bytes, now: datetime) -> None:
    steps = [(step, _item(step)) for step in await _steps(db, responses=responses)]
    items = [(step, item) for step, item in steps if isinstance(item, NewItem)]
    outcomes = await queue.schedule_all(db, wanted=[item for _, item in items], secret=secret) if items else []
    told = [_event(step, "skipped", now=now, reason=item) for step, item in steps if not isinstance(item, NewItem)]
    flowing: set[tuple[str, str]] = set()
    for (step, _), outcome in zip(items, outcomes, strict=True):
        if isinstance(outcome, QueueItem):
            flowing.add(step.response.key)
            told.append(_event(step, "queued", now=now, item_id=outcome.item_id))
        elif not isinstance(outcome, ReferenceTaken):  # else its item was made before
            told.append(_event(step, "skipped", now=now, reason=(outcome.code, outcome.detail)))
    await events.record(db, events=told)
    if flowing:
        await instances.mark(db, "flow", times=dict.fromkeys(sorted(flowing), now), now=now)


async def _steps(db: Database, *, responses: Many[Response]) -> list[_Step]:
    """The sequences whose conditions these responses meet, in force when they were given, that made nothing yet."""
    questionnaires = {(one.organization_id, one.questionnaire_id) for one in responses}
    targets = await store.list_active_sequences(db, questionnaires=sorted(questionnaires))
    found = await matched(
        db,
        responses=responses,
        rules={
            (one.rule.organization_id, one.rule.sequence_id, one.rule.from_questionnaire_id): one for one in targets
        },
        rule_of=lambda one: one.rule,
        list_made=lambda keys: store.list_made(db, wanted=keys),
    )
    wanted = {(*one.response.key, one.rule.rule.pipeline_id, one.rule.channel_id) for one in found}
    sources = {
        (one.organization_id, one.instance_id, one.pipeline_id): one
        for one in (await store.list_sources(db, wanted=sorted(wanted), ancestors_max=DEPTH_MAX) if wanted else ())
    }
    return [_Step(one.response, one.rule, sources.get((*one.response.key, one.rule.rule.pipeline_id))) for one in found]


def _item(step: _Step) -> NewItem | Reason:
    """The item, or why none can be made. What is known of the responder stays with the responder."""
    source, target, rule = step.source, step.target, step.target.rule
    if target.questionnaire_id is None:
        return NO_PIPELINE
    if source is None or source.identifier is None:
        return NO_ADDRESS
    if source.ancestors >= DEPTH_MAX:
        return TOO_DEEP
    return NewItem(
        caller=installation(rule.organization_id),
        questionnaire_id=target.questionnaire_id,
        pipeline_id=rule.pipeline_id,
        request=QueueItemRequest(
            responder_channel_identifier=source.identifier,
            locale=source.locale,
            metadata=MetadataGroups(questionnaire=dict(source.metadata)),
        ),
        previous_questionnaire_instance_id=source.instance_id,
        sequence_id=rule.sequence_id,
        source="sequence",
        test=source.test,
    )


def _event(
    step: _Step, kind: str, *, now: datetime, item_id: str | None = None, reason: Reason | None = None
) -> NewEvent:
    response, rule = step.response, step.target.rule
    return NewEvent(
        organization_id=rule.organization_id,
        event_id=ids.ordered(now),
        type=f"sequence.{kind}",
        subject_id=rule.sequence_id,
        subject_version=rule.version,
        questionnaire_id=response.questionnaire_id,
        actor_kind="worker",
        actor_id=None,
        data={
            "sequence_id": rule.sequence_id,
            "kind": rule.kind,
            "pipeline_id": rule.pipeline_id,
            "questionnaire_id": response.questionnaire_id,
            "instance_id": response.instance_id,
            "item_id": item_id,
            "reason": reason and reason[0],
            "result": reason and reason[1],
        },
        test=response.test,
    )


# Checks ---------------------------------------------------------------------------------------------------------------


async def _check(db: Database, *, caller: Caller, columns: Mapping[str, Any], changed: frozenset[str]) -> None:
    """Look up what is named by an id, and the conditions, as far as they are new. Raises Invalid."""
    wrong: list[FieldError] = []
    if "from_questionnaire_id" in changed:
        try:
            await questionnaires_store.get_questionnaire(
                db, **caller.part, questionnaire_id=columns["from_questionnaire_id"]
            )
        except errors.NotFound:
            message = "There is no such questionnaire."
            wrong.append(FieldError("unknown_id", message, pointer="/from_questionnaire_id"))
    if "pipeline_id" in changed:
        pipeline = await pipelines_store.get_template(db, **caller.part, pipeline_id=columns["pipeline_id"])
        if pipeline is None:
            wrong.append(FieldError("unknown_id", "There is no such pipeline.", pointer="/pipeline_id"))
    if "conditions" in changed and columns["conditions"] is not None and not wrong:
        wrong += await _condition_errors(db, organization_id=caller.organization_id, columns=columns)
    errors.check(wrong)


async def _condition_errors(db: Database, *, organization_id: str, columns: Mapping[str, Any]) -> list[FieldError]:
    """The subjects in conditions that no published question or declared name gives."""
    questionnaire_id = columns["from_questionnaire_id"]
    questionnaire = await questionnaires_store.get_questionnaire(
        db, organization_id=organization_id, questionnaire_id=questionnaire_id
    )
    kinds: dict[str, Kind] = {"\0": "any"}  # no id: with no question at all every id would pass
    if questionnaire.published_version_id is not None:
        version = await questionnaires_store.get_version(
            db, organization_id=organization_id, version_id=questionnaire.published_version_id
        )
        for question in version.definition.questions():
            kinds |= question.kinds
    declared = await metadata_service.declared_of(
        db, organization_id=organization_id, questionnaire_id=questionnaire_id
    )
    findings = Findings(strict=True)
    scope = Scope(questions=kinds, metadata=declared.types, undeclared="text", tags=True)
    condition_reader.read(columns["conditions"], "/conditions", findings, scope)
    return findings.errors
