"""Reads all that an answer page needs, once per request, and saves views and answers."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, final

import msgspec
from msgspec import structs
from msgspec.structs import replace

from afterword import errors
from afterword.asking import coupons as coupon_pools
from afterword.asking.instances import files as files_service, quotas, store as instances_store
from afterword.asking.instances.store import INSTANCE_COLUMNS, Instance, Issuable, PublicQuestionnaire
from afterword.asking.questionnaires import metadata as metadata_service, store as questionnaires_store
from afterword.core.answers import instances, suspicion
from afterword.core.answers.files import NewFile
from afterword.core.answers.instances import Edit
from afterword.core.answers.progress import PageSequence
from afterword.core.answers.suspicion import Judgement
from afterword.core.answers.values import Given
from afterword.core.questionnaires.conditions import Facts
from afterword.core.questionnaires.definition import Definition
from afterword.core.questionnaires.metadata import SCORE
from afterword.core.wire.lists import Page, Rows
from afterword.events import service as events_service
from afterword.events.service import NewEvent
from afterword.kit.db import Database
from afterword.kit.db.columns import columns_of, qualified
from afterword.tenants.organizations import plans

JsonValue = Any  # an answer's value as its question type defines it: number, text, boolean, array or object


class Answer(msgspec.Struct, frozen=True):
    organization_id: str
    instance_id: str
    question_id: str
    questionnaire_id: str
    version_id: str
    value: JsonValue
    other_text: str | None
    provisional: bool
    answered_time: datetime


_COLUMNS: Final = columns_of(Answer)
_COLUMNS_A: Final = qualified(_COLUMNS, "a")


async def list_answers(db: Database, *, organization_id: str, instance_id: str) -> list[Answer]:
    return await db.records(Answer).fetch(
        f"select {_COLUMNS} from answer where organization_id = $1 and instance_id = $2 order by question_id",
        *(organization_id, instance_id),
    )


async def list_answers_of_instances(db: Database, *, organization_id: str, instance_ids: Sequence[str]) -> list[Answer]:
    return await db.records(Answer).fetch(
        f"select {_COLUMNS} from answer where organization_id = $1 and instance_id = any($2::text[])",
        *(organization_id, list(instance_ids)),
    )


async def list_answers_of_question(
    db: Database, *, organization_id: str, questionnaire_id: str, question_id: str, test_only: bool, page: Page
) -> Rows[tuple[Answer, str]]:
    """A page of the answers to one question in any version, each with the locale of its instance."""
    rows = await db.fetch_list(
        f"""select {_COLUMNS_A}, i.locale from answer a
           join questionnaire_instance i on i.organization_id = a.organization_id and i.instance_id = a.instance_id
           where a.organization_id = $1 and a.questionnaire_id = $2 and a.question_id = $3
             and i.deleted_time is null and (i.test or not $4)""",
        *(organization_id, questionnaire_id, question_id, test_only),
        page=page,
    )
    return rows.map(lambda row: (Answer(**{name: row[name] for name in Answer.__struct_fields__}), row["locale"]))


async def count_responses(db: Database, *, organization_id: str, questionnaire_id: str, limit: int) -> int:
    """The number of responses that people gave here, with those of the pool, without tests, at most about `limit`."""
    return await db.fetch_value(
        """select count(*) + coalesce((select sum(p.responses) from anonymous_pool p
             where p.organization_id = $1 and p.questionnaire_id = $2), 0)::bigint
           from (
             select 1 from questionnaire_instance
             where organization_id = $1 and questionnaire_id = $2 and submitted_time is not null
               and deleted_time is null and not test and response_import_id is null
             limit $3) response""",
        *(organization_id, questionnaire_id, limit),
    )


async def _claim_responses(db: Database, *, organization_id: str, questionnaire_id: str) -> None:
    """Let one transaction at a time add a response to this questionnaire, so that none exceeds `responses_max`."""
    await db.execute(
        "select 1 from questionnaire where organization_id = $1 and questionnaire_id = $2 for no key update",
        *(organization_id, questionnaire_id),
    )


async def _update_answers(  # any tenant: the instance names its own
    db: Database, *, instance: Instance, answers: Sequence[Mapping[str, object]], is_provisional: bool, now: datetime
) -> None:
    """Write answers, documents of `question_id`, `value` and `other_text`, over those stored before."""
    await db.execute(
        """insert into answer (organization_id, instance_id, question_id, questionnaire_id, version_id, value,
             other_text, answered_time, provisional)
           select $1, $2, b.question_id, $3, $4, b.value, b.other_text, $6, $7
           from jsonb_to_recordset($5::jsonb) as b (question_id text, value jsonb, other_text text)
           on conflict (organization_id, instance_id, question_id) do update
           set value = excluded.value, other_text = excluded.other_text, answered_time = excluded.answered_time,
             provisional = excluded.provisional""",
        *(instance.organization_id, instance.instance_id, instance.questionnaire_id, instance.version_id),
        *(list(answers), now, is_provisional),
    )


async def _delete_answers(db: Database, *, organization_id: str, instance_id: str, question_ids: Sequence[str]) -> None:
    await db.execute(
        "delete from answer where organization_id = $1 and instance_id = $2 and question_id = any($3::text[])",
        *(organization_id, instance_id, list(question_ids)),
    )


async def _delete_provisional(db: Database, *, organization_id: str, instance_id: str) -> Instance:
    """Remove the answer of a page that was only looked at, before a person answers."""
    return await db.records(Instance.of).fetch_one(
        f"""with answers as (delete from answer where organization_id = $1 and instance_id = $2 and provisional)
           update questionnaire_instance set judgement = null, flags = null, held_submitted_time = null
           where organization_id = $1 and instance_id = $2 returning {INSTANCE_COLUMNS}""",
        *(organization_id, instance_id),
    )


async def _update_viewed(db: Database, *, organization_id: str, instance_id: str, now: datetime) -> Instance | None:
    return await db.records(Instance.of).fetch_row(
        f"""update questionnaire_instance
           set viewed_time = $3, version = version + 1, updated_time = greatest(updated_time, $3)
           where organization_id = $1 and instance_id = $2 and deleted_time is null and viewed_time is null
             and coalesce(judgement, 'accepted') = 'accepted'
           returning {INSTANCE_COLUMNS}""",
        *(organization_id, instance_id, now),
    )


async def _update_progress(
    db: Database,
    *,
    organization_id: str,
    instance_id: str,
    is_submitted: bool,
    is_complete: bool,
    score: int | None,
    quota_ids: Sequence[str],
    viewed_time: datetime,
    flags: Sequence[str],
    judgement: Judgement | None,
    now: datetime,
) -> Instance:
    """Record the responder's progress: viewed, and submitted and completed if given; each time is set once.

    `score`: kept as metadata of this name; None where nothing gives points. `quota_ids`: those that a complete response
    counts toward. `flags` are added. A response that is kept apart gets its times when a person accepts it.
    """
    is_apart = judgement in {"held", "rejected"}
    return await db.records(Instance.of).fetch_one(
        f"""update questionnaire_instance
           set viewed_time = coalesce(viewed_time, case when not $11::boolean then $8::timestamptz end),
             submitted_time = coalesce(submitted_time, case when $3 and not $11 then $5::timestamptz end),
             completed_time = coalesce(completed_time, case when $4 and not $11 then $5::timestamptz end),
             held_submitted_time = coalesce(held_submitted_time, case when $3 and $11 then $5::timestamptz end),
             held_completed_time = coalesce(held_completed_time, case when $4 and $11 then $5::timestamptz end),
             quota_ids = case when finalized or $4 then nullif($7::text[], '{{}}') end,
             flags = case when cardinality($9::text[]) = 0 then flags else
               array(select distinct f from unnest(coalesce(flags, '{{}}') || $9::text[]) f order by f) end,
             judgement = $10, metadata = metadata || $6::jsonb,
             finalized = finalized or $4, version = version + 1, updated_time = greatest(updated_time, $5)
           where organization_id = $1 and instance_id = $2
           returning {INSTANCE_COLUMNS}""",
        *(organization_id, instance_id, is_submitted, is_complete, now),
        {} if score is None else {SCORE: str(score)},
        *(list(quota_ids), viewed_time, list(flags), judgement, is_apart),
    )


async def _update_to_screened_out(
    db: Database, *, organization_id: str, instance_id: str, quota_id: str, now: datetime
) -> Instance:
    """Record the quota that was full; without `submitted_time` the instance is no response."""
    return await db.records(Instance.of).fetch_one(
        f"""update questionnaire_instance
           set viewed_time = coalesce(viewed_time, $4), submitted_time = null, full_quota_id = $3,
             metadata = metadata - $5::text, version = version + 1, updated_time = greatest(updated_time, $4)
           where organization_id = $1 and instance_id = $2
           returning {INSTANCE_COLUMNS}""",
        *(organization_id, instance_id, quota_id, now, SCORE),
    )


class Expired(errors.Gone):
    """`valid_days` have passed; a larger value reopens the instance."""

    code_default = "expired"


class Finalized(errors.Conflict):
    """The response was completed and the instance is not editable."""

    code_default = "finalized"


class Inactive(errors.Conflict):
    """An inactive or archived questionnaire takes no instances, messages or answers."""

    code_default = "questionnaire_inactive"


class Closed(errors.Conflict):
    """`responses_max` is reached."""

    code_default = "questionnaire_closed"


@final
class AnswerContext(msgspec.Struct, frozen=True, kw_only=True):
    """An instance with all that its page and its answers need. `facts` are those of the metadata."""

    instance: Instance
    questionnaire: PublicQuestionnaire
    definition: Definition
    responder_metadata: Mapping[str, str]
    facts: Facts
    answers: Mapping[str, Given]
    coupons: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])  # its codes, by the key of the pool


class Start(msgspec.Struct, frozen=True):
    """Observations of the request that starts a response. `shown_time`: when the first page of a link was shown.

    `signs`: those of a provisional answer.
    """

    shown_time: datetime | None = None
    judges_pace: bool = False
    is_burst: bool = False
    has_hidden_field: bool = False
    signs: Sequence[suspicion.Flag] = ()


class Saved(msgspec.Struct, frozen=True):
    """The context after saving, with wrong answers (not stored) and missing required ones.

    The pointers of `wrong` are `/answers/{question_id}`. Errors prevent completion.
    """

    context: AnswerContext
    wrong: tuple[errors.FieldError, ...] = ()

    @property
    def instance(self) -> Instance:
        return self.context.instance


async def read_context(db: Database, *, instance_id: str, is_locked: bool = False) -> AnswerContext:
    instance = await instances_store.get_public_instance(db, instance_id=instance_id, is_locked=is_locked)
    return await context_of(db, instance=errors.found(instance, "There is no such page."))


async def lock_context(db: Database, *, instance_id: str) -> AnswerContext:
    """As `read_context`, locked until the transaction ends, so that pages posted at the same moment are all kept."""
    return await read_context(db, instance_id=instance_id, is_locked=True)


async def context_of(db: Database, *, instance: Instance) -> AnswerContext:
    questionnaire, metadata = await instances_store.get_questionnaire_and_metadata(
        db, **instance.questionnaire_key, responder_id=instance.responder_id
    )
    version = await questionnaires_store.get_version(db, **instance.version_key)
    declared = await metadata_service.declared(
        db, organization_id=instance.organization_id, application_id=questionnaire.owner_application_id
    )
    # Whoever answers begins anew: a machine may have given the provisional answer.
    stored = [] if instance.is_provisional else await list_answers(db, **instance.key)
    has_coupons = instance.finalized and _gives_coupons(version.definition)
    return AnswerContext(
        instance=instance,
        questionnaire=questionnaire,
        definition=version.definition,
        responder_metadata=metadata,
        facts=instances.facts_of(instance.metadata, metadata, declared),
        answers={answer.question_id: Given(answer.value, answer.other_text) for answer in stored},
        coupons=await coupon_pools.list_codes_of(db, **instance.key) if has_coupons else {},
    )


async def takes_answers(db: Database, *, instance: Instance, issuable: Issuable, now: datetime) -> bool:
    try:
        await require_open(db, instance=instance, issuable=issuable, now=now)
    except errors.Refusal:
        return False
    return True


async def require_open(db: Database, *, instance: Instance, issuable: Issuable, now: datetime) -> None:
    """Raise Expired, Finalized, Inactive, or Closed (`responses_max` reached) if no answer can be saved."""
    if instance.full_quota_id is not None:
        raise Finalized("These answers are not needed any more.")
    if instances.is_expired(instance, now):
        raise Expired("The time to answer is over.")
    if instance.finalized and not instance.editable:
        raise Finalized("The answers were sent and cannot be changed.")
    if not issuable.is_active:
        raise Inactive("This questionnaire is not active.")
    if instance.answered_time is None and not instance.test:
        await require_capacity(db, issuable=issuable)


async def require_capacity(db: Database, *, issuable: Issuable) -> None:
    """Raise Closed when `responses_max` is reached."""
    if issuable.responses_max is None:
        return
    count = await count_responses(db, **issuable.key, limit=issuable.responses_max)
    if count >= issuable.responses_max:
        raise Closed("This questionnaire takes no more responses.")


async def record_view(db: Database, *, instance_id: str, now: datetime) -> None:
    found = await instances_store.get_public_instance(db, instance_id=instance_id)
    instance = errors.found(found, "There is no such questionnaire instance.")
    if instance.anonymity == "invitation":
        return  # the time of a view would narrow down whose answers came
    if instance.viewed_time is not None or instance.is_kept_apart or instances.is_expired(instance, now):
        return
    viewed = await _update_viewed(db, **instance.key, now=now)
    if viewed is not None:
        await events_service.record(db, events=[viewed.event("viewed", now=now)])


async def save_answers(
    db: Database,
    *,
    context: AnswerContext,
    answers: Mapping[str, Given | None],
    complete: bool,
    now: datetime,
    start: Start | None = None,
    files: Sequence[NewFile] = (),
) -> Saved:
    """Save the answers of a posted page (None removes one) and, with `complete` and without errors, complete.

    `context` is locked; `files`: the new ones that answers list. A `start` with signs of a machine holds the response
    back until a person accepts it. Raises Expired, Finalized, Inactive, Closed, Invalid (another instance's question).
    Wrong and missing answers are returned in Saved and the others saved; a finalized instance is not changed then.
    """
    _require_asked(context.instance, answers)
    await require_open(db, instance=context.instance, issuable=context.questionnaire, now=now)
    if context.instance.is_provisional:
        context = replace(context, instance=await _delete_provisional(db, **context.instance.key))
    before, questionnaire = context.instance, context.questionnaire
    edit = instances.edit(context.definition, before.question_ids, context.answers, answers, context.facts)
    wrong = edit.wrong
    if (complete or before.finalized) and not wrong:
        wrong = instances.missing(context.definition, before.question_ids, edit.after, context.facts)
    completes = complete and not wrong and not before.finalized
    # A completed response stays complete: a page is saved as a whole or not at all.
    if not (edit.changed or edit.removed or completes) or (before.finalized and wrong):
        return Saved(context, wrong)
    flags = _flags(context, edit, answers, start, now=now, is_complete=completes)
    judgement = before.judgement or ("held" if suspicion.HOLDING.intersection(flags) and not before.test else None)
    is_apart = judgement in {"held", "rejected"}
    is_first = before.submitted_time is None and bool(edit.changed) and not before.test and not is_apart
    if is_first and questionnaire.responses_max is not None:
        # The count stays locked until commit.
        await _claim_responses(db, **before.questionnaire_key)
        await require_capacity(db, issuable=questionnaire)
    if edit.quotas and not before.finalized and not is_apart:  # a complete response keeps its places
        full = await quotas.first_full(
            db, organization_id=before.organization_id, quotas=edit.quotas, takes=completes and not before.test
        )
        if full is not None:
            return Saved(await _screen_out(db, context=context, quota_id=full.ending_id, now=now))
    await _write(db, context, edit, files, is_provisional=is_apart, now=now)
    after = await _update_progress(
        db,
        **before.key,
        is_submitted=bool(edit.changed),
        is_complete=completes,
        score=edit.score,
        quota_ids=[one.ending_id for one in edit.quotas],
        viewed_time=(start.shown_time if start else None) or now,
        flags=flags,
        judgement=judgement,
        now=now,
    )
    saved = replace(context, instance=after, answers=edit.after)
    if not is_apart:
        await events_service.record(db, events=_events(before, saved, now=now))
        if after.finalized and not after.test and _gives_coupons(context.definition):
            await _give_coupon(db, context=context, answers=edit.after, now=now)
    if is_first and questionnaire.credits_accountable:
        # Last in the transaction, because all answers of a plan lock one row.
        key = {"organization_id": before.organization_id, "application_id": questionnaire.owner_application_id}
        await plans.use_credit(db, **key, now=now)
    return Saved(saved, wrong)


async def _write(
    db: Database, context: AnswerContext, edit: Edit, files: Sequence[NewFile], *, is_provisional: bool, now: datetime
) -> None:
    instance = context.instance
    if edit.changed:
        changed = instances.documents(edit.changed)
        await _update_answers(db, instance=instance, answers=changed, is_provisional=is_provisional, now=now)
        listing = {one.question_id for one in context.definition.questions() if one.shape == "files"}
        if listing & edit.changed.keys():
            await files_service.keep(db, instance=instance, answers=edit.changed, files=files, now=now)
    if edit.removed:
        await _delete_answers(db, **instance.key, question_ids=edit.removed)


def _gives_coupons(definition: Definition) -> bool:
    return any(ending.coupon_pool is not None for ending in definition.endings)


async def _give_coupon(db: Database, *, context: AnswerContext, answers: Mapping[str, Given], now: datetime) -> None:
    """Give the response a code of the first pool that has one, as far down as its endings ask for codes."""
    instance = context.instance
    sequence = PageSequence(context.definition, instance.question_ids, answers, context.facts)
    for ending in sequence.possible_endings:
        if ending.coupon_pool is None:
            return
        if await coupon_pools.claim_code(db, **instance.key, key=ending.coupon_pool, now=now) is not None:
            return


async def _screen_out(db: Database, *, context: AnswerContext, quota_id: str, now: datetime) -> AnswerContext:
    """End a response that came too late for a quota. Its answers, which would count nowhere, are removed."""
    before = context.instance
    await _delete_answers(db, **before.key, question_ids=list(context.answers))
    after = await _update_to_screened_out(db, **before.key, quota_id=quota_id, now=now)
    recorded = [] if before.viewed_time else [after.event("viewed", now=now)]
    # With the time by which it counted until now, so that figures of that day are counted again.
    counted = structs.replace(after, submitted_time=before.submitted_time)
    await events_service.record(db, events=[*recorded, counted.event("updated", now=now)])
    return replace(context, instance=after, answers={})


def _flags(
    context: AnswerContext,
    edit: Edit,
    answers: Mapping[str, Given | None],
    start: Start | None,
    *,
    now: datetime,
    is_complete: bool,
) -> list[suspicion.Flag]:
    """The signs of the first page of a public link, and at the end those of the whole response."""
    definition = context.definition
    found: dict[suspicion.Flag, bool] = {}
    if start is not None:
        found = {"burst": start.is_burst, "hidden_field": start.has_hidden_field, **dict.fromkeys(start.signs, True)}
        if start.judges_pace and start.shown_time is not None:
            seconds = (now - start.shown_time).total_seconds()
            found["too_fast"] = suspicion.is_too_fast(definition, answers, seconds=seconds)
    if is_complete:
        viewed = context.instance.viewed_time
        if viewed is not None and viewed != context.instance.submitted_time:  # else the view came with the first page
            seconds = (now - viewed).total_seconds()
            found["speeding"] = suspicion.is_speeding(definition, edit.after, seconds=seconds)
        found["straight_lining"] = suspicion.is_straight(definition, edit.after)
    return [flag for flag, is_there in found.items() if is_there]


def _require_asked(instance: Instance, answers: Mapping[str, Given | None]) -> None:
    assert instance.anonymity != "invitation", "answers to it go to the pool"  # noqa: S101
    errors.check(
        [
            errors.FieldError("unknown_id", "This question is not asked here.", pointer=f"/answers/{question_id}")
            for question_id in answers
            if question_id not in instance.question_ids
        ]
    )


def _events(before: Instance, saved: AnswerContext, *, now: datetime) -> list[NewEvent]:
    """The events of saved answers, in order; only `completed` contains the response."""
    events, after = list[NewEvent](), saved.instance
    if before.viewed_time is None:
        events.append(after.event("viewed", now=now))
    if before.submitted_time is None and after.submitted_time is not None:
        events.append(after.event("submitted", now=now))
    elif not after.finalized:  # a later page or a corrected answer; receivers that count need every change
        events.append(replace(after.event("updated", now=now), type="answer.changed"))
    if before.finalized:
        events.append(after.event("updated", now=now))
    elif after.finalized:
        events.append(completed_event(saved, now=now))
    return events


def completed_event(context: AnswerContext, *, now: datetime) -> NewEvent:
    instance = context.instance
    metadata = {"questionnaire": instance.metadata, "responder": context.responder_metadata}
    response = {"answers": instances.documents(context.answers), "metadata": metadata}
    return instance.event("completed", now=now, response=response)
