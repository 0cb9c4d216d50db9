"""Sequences: made and changed by people; followed by a reader of the event log, which makes their items.

A response makes at most one item by a sequence, whatever is read twice (the database holds it). Chains of responses end
after as many generations as `/instance/children` shows, so that sequences may form a circle and yet come to an end.
"""

from collections.abc import Sequence as Many
from datetime import datetime
from typing import Annotated, Any, Final, Literal, LiteralString

import msgspec

from afterword import errors
from afterword.asking.instances import service as instances
from afterword.asking.instances.resources import DEPTH_MAX
from afterword.asking.instances.triggers import Response, matched, responses_of
from afterword.asking.questionnaires import (
    access as questionnaires_access,
    metadata as metadata_service,
    store as questionnaires_store,
)
from afterword.core.messaging.alerts import TRIGGERS
from afterword.core.organizations.access import installation
from afterword.core.questionnaires import conditions, flow
from afterword.core.questionnaires.conditions import Kind as QuestionKind, Scope
from afterword.core.reading.findings import Findings
from afterword.errors import FieldError
from afterword.events import service as events
from afterword.events.service import Event, NewEvent
from afterword.kit.db import Database
from afterword.kit.db.columns import arrays, columns_of, qualified
from afterword.kit.nouns.api import routes_of
from afterword.kit.nouns.declaration import Change, Editable, Hidden, Noun, Record
from afterword.kit.texts import Marked
from afterword.kit.web import fields
from afterword.kit.web.fields import MetadataGroups
from afterword.sending.intake.sources import notes
from afterword.sending.pipelines import store as pipelines_store
from afterword.sending.queue import service as queue
from afterword.sending.queue.records import QueueItemRecord, QueueItemRequest
from afterword.sending.queue.service import NewItem, ReferenceTaken

READER: Final = "sequences"
ABOUT: Final = (
    "The conditions are checked against the published questions of `from_questionnaire_id`, the declared metadata and "
    "tags. An item is made once for a response, for the address that its responder has on the pipeline's channel."
)
NO_ADDRESS: Final = ("no_address", "The responder has no address on the pipeline's channel.")
TOO_DEEP: Final = (
    "too_deep",
    f"The response is the last of a chain of {DEPTH_MAX + 1}, which sequences do not lengthen.",
)
FOR_EVERYBODY: Final = (
    "A sequence of the kind review asks everybody or nobody for a public review: its condition is about metadata, not "
    "about answers or tags. Several countries and most review sites forbid to ask happy customers alone."
)
NO_PIPELINE: Final = ("inactive", "The pipeline was deleted.")

TIMES: Final[Many[tuple[str, Marked]]] = (
    ("completed", "when a response is completed"), ("submitted", "at the first answer, and when it is completed"),
)  # fmt: skip

Kind = Literal["manual", "recovery", "review"]
Trigger = Literal["submitted", "completed"]
Reason = tuple[str, str]  # a code and a sentence


class Sequence(Record, kw_only=True):
    """A rule by which a response to one questionnaire puts an item into the queue of another."""

    sequence_id: fields.Id
    title: Annotated[fields.Text200, Editable("Title")]
    kind: Annotated[Kind, Editable(once=True, holds="fixed")] = "manual"
    from_questionnaire_id: Annotated[fields.Id, Editable(once=True)]
    pipeline_id: Annotated[fields.Id, Editable("Pipeline", "", "choice")]
    trigger: Annotated[Trigger, Editable("Checked", "", "choice", TIMES, holds="fixed")] = "submitted"
    conditions: Annotated[dict[str, Any] | None, Editable()] = None
    active: Annotated[bool, Editable("The sequence is on", "", "switch")] = True
    since_time: Annotated[datetime, Hidden()]


async def _check(change: Change[Sequence]) -> None:
    """Look up what is named by an id, and the conditions, as far as they are new. Raises Invalid."""
    db, part, columns = change.db, change.caller.part, change.columns
    wrong: list[FieldError] = []
    if "from_questionnaire_id" in columns:
        try:
            await questionnaires_store.get_questionnaire(db, **part, questionnaire_id=columns["from_questionnaire_id"])
        except errors.NotFound:
            message = "There is no such questionnaire."
            wrong.append(FieldError("unknown_id", message, pointer="/from_questionnaire_id"))
    if "pipeline_id" in columns:
        pipeline = await pipelines_store.get_pipeline(db, **part, pipeline_id=columns["pipeline_id"])
        if pipeline is None:
            wrong.append(FieldError("unknown_id", "There is no such pipeline.", pointer="/pipeline_id"))
    if columns.get("conditions") is not None and not wrong:
        wrong += await _condition_errors(change)
    errors.check(wrong)


async def _condition_errors(change: Change[Sequence]) -> list[FieldError]:
    """The subjects in conditions that no published question or declared name gives."""
    db, organization_id = change.db, change.caller.organization_id
    questionnaire_id = change.after("from_questionnaire_id")
    questionnaire = await questionnaires_store.get_questionnaire(
        db, organization_id=organization_id, questionnaire_id=questionnaire_id
    )
    kinds: dict[str, QuestionKind] = {"\0": "any"}  # no id: with no question at all every id would pass
    version = await questionnaires_access.published(db, questionnaire)
    for question in version.definition.questions() if version else ():
        kinds |= question.kinds
    declared = await metadata_service.declared_of(
        db, organization_id=organization_id, questionnaire_id=questionnaire_id
    )
    findings = Findings(strict=True)
    scope = Scope(questions=kinds, metadata=declared.types, undeclared="text", tags=True)
    node = conditions.read(change.columns["conditions"], "/conditions", findings, scope)
    about_facts = all(one.subject.startswith(flow.FACTS) for one in conditions.leaves_of(node))
    if change.after("kind") == "review" and not about_facts:
        findings.error("/conditions", "exclusive", FOR_EVERYBODY)
    return findings.errors


SEQUENCE = Noun(
    record=Sequence,
    table="sequence",
    one="sequence",
    many="sequences",
    tag="Sequences",
    path="/q/sequence",
    scope="Sequence",
    about_create="Which responses put an item into which pipeline; no `conditions`: every response.",
    about_update="The members that may change; existing items stay as they are.",
    summaries={"create": "Create Sequence"},
    about={"create": ABOUT, "update": ABOUT, "delete": "It makes no more items; those that it made stay."},
    shows_organization=True,
    visible="""(cardinality($2::text[]) = 0 or 2 = (
    select count(*) filter (where f.owner_application_id = any($2))
      + count(*) filter (where q.owner_application_id = any($2))
    from questionnaire f
    join pipeline p on p.organization_id = t.organization_id and p.pipeline_id = t.pipeline_id
    join questionnaire q on q.organization_id = t.organization_id and q.questionnaire_id = p.questionnaire_id
    where f.organization_id = t.organization_id and f.questionnaire_id = t.from_questionnaire_id))""",
    most=100,
    check=_check,
)
routes = routes_of(SEQUENCE)


class Target(msgspec.Struct, frozen=True):
    """A sequence and where its items go; `questionnaire_id` is that of its pipeline, None where that was deleted."""

    rule: Sequence
    questionnaire_id: str | None
    channel_id: int


class Source(msgspec.Struct, frozen=True):
    organization_id: str
    instance_id: str
    pipeline_id: str
    locale: str
    metadata: dict[str, str]
    test: bool
    ancestors: int  # as far as was counted
    identifier: str | None


class _Step(msgspec.Struct, frozen=True):
    """A response that met a sequence's conditions, and what it says for the item; None: it is gone."""

    response: Response
    target: Target
    source: Source | None


async def follow(db: Database, *, secret: bytes, now: datetime, limit: int) -> int:
    """Read the next `limit` events of the log and make the items and notes that they call for.

    How many events were passed; fewer than `limit` means that there are no more. A response whose address, pipeline or
    chain lets no item be made is told as an event `sequence.skipped`, with the reason.
    """

    async def handle(told: Many[Event]) -> None:
        await notes.insert_notes(db, read=told, now=now)
        responses = responses_of(told)
        if responses:
            await _schedule(db, responses=responses, secret=secret, now=now)

    return await events.handle_next(db, reader=READER, types=frozenset(TRIGGERS), limit=limit, handle=handle)


async def _schedule(db: Database, *, responses: Many[Response], secret: bytes, now: datetime) -> None:
    steps = [(step, _item(step)) for step in await _steps(db, responses=responses)]
    items = [(step, item) for step, item in steps if isinstance(item, NewItem)]
    outcomes = await queue.schedule_all(db, wanted=[item for _, item in items], secret=secret) if items else []
    told = [_event(step, "skipped", now=now, reason=item) for step, item in steps if not isinstance(item, NewItem)]
    flowing: set[tuple[str, str]] = set()
    for (step, _), outcome in zip(items, outcomes, strict=True):
        if isinstance(outcome, QueueItemRecord):
            flowing.add(step.response.key)
            told.append(_event(step, "queued", now=now, item_id=outcome.item_id))
        elif not isinstance(outcome, ReferenceTaken):  # else its item was made before
            told.append(_event(step, "skipped", now=now, reason=(outcome.code, outcome.detail)))
    await events.record(db, events=told)
    if flowing:
        await instances.settle_times(db, "flow", times=dict.fromkeys(sorted(flowing), now), now=now)


async def _steps(db: Database, *, responses: Many[Response]) -> list[_Step]:
    """The sequences whose conditions these responses meet, in force when they were given, that made nothing yet."""
    questionnaires = {(one.organization_id, one.questionnaire_id) for one in responses}
    targets = await _list_active_sequences(db, questionnaires=sorted(questionnaires))
    found = await matched(
        db,
        responses=responses,
        rules={
            (one.rule.organization_id, one.rule.sequence_id, one.rule.from_questionnaire_id): one for one in targets
        },
        rule_of=lambda one: one.rule,
        list_made=lambda keys: _list_made(db, wanted=keys),
    )
    wanted = {(*one.response.key, one.rule.rule.pipeline_id, one.rule.channel_id) for one in found}
    sources = {
        (one.organization_id, one.instance_id, one.pipeline_id): one
        for one in (await list_sources(db, wanted=sorted(wanted)) if wanted else ())
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
    data = {
        "sequence_id": rule.sequence_id,
        "kind": rule.kind,
        "pipeline_id": rule.pipeline_id,
        "questionnaire_id": response.questionnaire_id,
        "instance_id": response.instance_id,
        "item_id": item_id,
        "reason": reason and reason[0],
        "result": reason and reason[1],
    }
    of_response = {"questionnaire_id": response.questionnaire_id, "test": response.test}
    return NewEvent.of(rule, f"sequence.{kind}", rule.sequence_id, data, now=now, **of_response)


class Done(msgspec.Struct, frozen=True):
    """The outcome of a sequence for a response: the item that it made, or `reason` and `result`, why none.

    `item_id`, `recipient` and `status` are None where the item is gone too.
    """

    seq: int
    created_time: datetime
    instance_id: str
    reason: str | None
    result: str | None
    item_id: str | None
    recipient: str | None
    status: int | None


async def list_done(
    db: Database, *, organization_id: str, sequence_id: str, before: int | None, limit: int
) -> list[Done]:
    """Its outcomes for responses, the newest first, as long as the event log keeps them."""
    return await db.records(Done).fetch(
        """select e.seq, e.created_time, e.data ->> 'instance_id' as instance_id, e.data ->> 'reason' as reason,
             e.data ->> 'result' as result, i.item_id, i.responder_channel_identifier as recipient, i.status
           from event e
           left join queue_item i on i.organization_id = e.organization_id and i.item_id = e.data ->> 'item_id'
             and i.deleted_time is null
           where e.organization_id = $1 and e.subject_id = $2 and e.type in ('sequence.queued', 'sequence.skipped')
             and e.seq < coalesce($3, 9223372036854775807)
           order by e.seq desc limit $4""",
        *(organization_id, sequence_id, before, limit),
    )


_COLUMNS_S: Final[LiteralString] = qualified(columns_of(Sequence), "s")


async def _list_active_sequences(  # any tenant: a batch of events serves many organizations
    db: Database, *, questionnaires: Many[tuple[str, str]]
) -> list[Target]:
    rows = await db.fetch(
        f"""select {_COLUMNS_S}, case when p.deleted_time is null then p.questionnaire_id end as target_id, p.channel_id
           from unnest($1::text[], $2::text[]) as b (organization_id, questionnaire_id)
           join sequence s on s.organization_id = b.organization_id and s.from_questionnaire_id = b.questionnaire_id
           join pipeline p on p.organization_id = s.organization_id and p.pipeline_id = s.pipeline_id
           where s.active order by s.organization_id, s.sequence_id""",
        *arrays(questionnaires, 2),
    )
    names = Sequence.__struct_fields__
    return [
        Target(Sequence(**{name: row[name] for name in names}), row["target_id"], row["channel_id"]) for row in rows
    ]


async def _list_made(  # any tenant: a batch of events serves many organizations
    db: Database, *, wanted: Many[tuple[str, str, str]]
) -> set[tuple[str, str, str]]:
    """Those of the (organization, sequence, instance) that have their item already."""
    rows = await db.fetch(
        """select w.organization_id, w.sequence_id, w.instance_id
           from unnest($1::text[], $2::text[], $3::text[]) as w (organization_id, sequence_id, instance_id)
           where exists (select from queue_item i where i.organization_id = w.organization_id
             and i.sequence_id = w.sequence_id and i.previous_questionnaire_instance_id = w.instance_id
             and i.sequence_id is not null)""",
        *arrays(wanted, 3),
    )
    return {(row["organization_id"], row["sequence_id"], row["instance_id"]) for row in rows}


async def list_sources(  # any tenant: a batch of events serves many organizations
    db: Database, *, wanted: Many[tuple[str, str, str, int]]
) -> list[Source]:
    """Read responses (organization, instance, pipeline, channel) for an item in that pipeline.

    The address is the one that the response itself was asked at, else the responder's latest on the channel.
    """
    return await db.records(Source).fetch(
        """with recursive w as materialized (
             select * from unnest($1::text[], $2::text[], $3::text[], $4::smallint[])
               as w (organization_id, instance_id, pipeline_id, channel_id)),
           chain as (
             select distinct i.organization_id, i.instance_id, i.previous_questionnaire_instance_id as previous,
               0 as length
             from w join questionnaire_instance i
               on i.organization_id = w.organization_id and i.instance_id = w.instance_id
             union all
             select c.organization_id, c.instance_id, i.previous_questionnaire_instance_id, c.length + 1
             from chain c
             join questionnaire_instance i on i.organization_id = c.organization_id and i.instance_id = c.previous
             where c.length < $5)
           select w.organization_id, w.instance_id, w.pipeline_id, i.locale, i.metadata, i.test,
             (select max(c.length) from chain c
              where c.organization_id = w.organization_id and c.instance_id = w.instance_id) as ancestors,
             (select a.identifier from responder_address a
              left join queue_item q on q.organization_id = i.organization_id and q.item_id = i.item_id
              where a.organization_id = i.organization_id and a.responder_id = i.responder_id
                and a.channel_id = w.channel_id
              order by (a.address_key = q.address_key) desc nulls last, a.created_time desc, a.address_key limit 1)
             as identifier
           from w join questionnaire_instance i
             on i.organization_id = w.organization_id and i.instance_id = w.instance_id and i.deleted_time is null""",
        *arrays(wanted, 4),
        DEPTH_MAX,
    )
