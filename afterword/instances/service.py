"""What happens to questionnaire instances: issue, view, answer, complete, change, delete."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import NoReturn

from afterword import errors, ids
from afterword.core.answers import instances as core_instances
from afterword.core.answers.progress import Given
from afterword.core.organizations.access import Caller
from afterword.core.questionnaires.conditions import Facts
from afterword.core.questionnaires.definition import Definition
from afterword.core.questionnaires.metadata import NAMES_MAX, Changes, merge
from afterword.core.text import locales
from afterword.db import Database
from afterword.events import service as events
from afterword.events.service import Actor
from afterword.instances import events as news
from afterword.instances import issuing, store
from afterword.instances.answers import service as answers_service
from afterword.instances.answers import store as answers_store
from afterword.instances.expiry import service as expiry
from afterword.instances.issuing import Draw, Inactive, IssueInput, WantedInstance
from afterword.instances.responders import service as people
from afterword.instances.store import Instance, Issuable
from afterword.organizations.plans import service as plans
from afterword.questionnaires import store as questionnaires_store
from afterword.questionnaires.metadata import service as metadata_service
from afterword.responders import service as responders
from afterword.responders import store as responders_store

Expect = Callable[[int], None]  # is given the version of a locked row, raises Stale


class Expired(errors.Gone):
    """`valid_days` are over; a larger value opens it again."""

    code_default = "expired"


class Finalized(errors.Conflict):
    """Complete was pressed and the instance is not editable."""

    code_default = "finalized"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What a PATCH names; None: untouched. Of the metadata null and empty text remove."""

    responder_id: str | None = None
    locale: str | None = None
    valid_days: int | None = None
    editable: bool | None = None
    metadata: Changes = field(default_factory=Changes)
    is_strict: bool = False  # refuses a language that the questionnaire lacks


@dataclass(frozen=True, slots=True)
class Saved:
    """The instance after saving, and what stood in the way: wrong answers (not stored) and required ones missing.

    The pointers of `wrong` are `/answers/{question_id}`. Completion happened only if nothing was wrong.
    """

    instance: Instance
    wrong: tuple[errors.FieldError, ...] = ()


async def get(db: Database, *, caller: Caller, instance_id: str) -> Instance:
    """The instance as the caller may see it; raises NotFound."""
    instance = await store.get_instance(
        db,
        organization_id=caller.organization_id,
        instance_id=instance_id,
        application_ids=caller.application_ids,
        test_only=caller.test,
    )
    return instance or _refuse_unknown()


async def issue(
    db: Database,
    *,
    caller: Caller,
    questionnaire_id: str,
    request: IssueInput,
    now: datetime,
    secret: bytes,
    draw: Draw,
) -> tuple[Instance, bool]:
    """Issue an instance through the API; False beside it where the `reference_id` had one already.

    Raises NotFound (questionnaire), NotPublished, Inactive, Closed, Invalid `unknown_id` (responder), Conflict (a test
    token, and the reference of an instance that is no test).
    """
    issuable = await issuing.get_issuable(
        db,
        organization_id=caller.organization_id,
        questionnaire_id=questionnaire_id,
        application_ids=caller.application_ids,
    )
    existing = await _existing(db, issuable=issuable, request=request)
    if existing is not None:
        if caller.test and not existing.test:
            raise errors.Conflict("This reference_id belongs to an instance that is no test.")
        return existing, False
    version = await issuing.version_to_issue(db, issuable=issuable)
    responder_id = await people.find_or_create(
        db,
        caller=caller,
        responder_id=request.responder_id,
        metadata=request.metadata.responder,
        locale=request.locale,
        now=now,
        secret=secret,
    )
    actor = Actor.of(caller)
    row = issuing.row(
        issuable, version, request, responder_id=responder_id, now=now, draw=draw, actor=actor, test=caller.test
    )
    # It may have gone out before its days are noticed.
    if request.sent_time is not None and request.valid_days is not None:
        await expiry.notice(db, valid_days=request.valid_days, now=now)
    return await _insert(db, row=row, now=now, actor=actor), True


async def issue_by_link(
    db: Database,
    *,
    organization_id: str,
    questionnaire_id: str,
    request: IssueInput,
    now: datetime,
    secret: bytes,
    draw: Draw,
) -> tuple[Instance, bool]:
    """Issue an instance to whoever starts on the public link: as `issue`, but always to a new responder.

    Anybody can write there, so undeclared metadata are dropped.
    """
    issuable = await issuing.get_issuable(
        db, organization_id=organization_id, questionnaire_id=questionnaire_id, by_link=True
    )
    existing = await _existing(db, issuable=issuable, request=request)
    if existing is not None:
        return existing, False
    version = await issuing.version_to_start(db, issuable=issuable)
    actor = responders.Actor("responder")
    # Not by address: whoever opens a public link may write any, and must not reach another person's record.
    found = await responders.find_or_create(
        db,
        wanted=[responders.ResponderInput(organization_id, locale=request.locale)],
        now=now,
        secret=secret,
        actor=actor,
    )
    responder_id = found[0].responder_id
    known = await _declared(db, issuable=issuable, metadata=request.metadata)
    if known.responder:
        await responders.update_metadata(
            db,
            organization_id=organization_id,
            responder_id=responder_id,
            changes=known.responder,
            now=now,
            actor=actor,
        )
    actor = Actor("responder", responder_id)
    row = issuing.row(
        issuable,
        version,
        replace(request, metadata=known),
        responder_id=responder_id,
        now=now,
        draw=draw,
        actor=actor,
    )
    return await _insert(db, row=row, now=now, actor=actor), True


async def issue_for_items(
    db: Database, *, wanted: Sequence[WantedInstance], now: datetime, draw: Draw
) -> dict[tuple[str, str], Instance]:
    """The instances of a claimed batch, by organization and item: those of an earlier claim, else new ones.

    An item whose questionnaire has no published version is left out. A deleted instance keeps its item's place:
    look at `deleted_time`.
    """
    versions = await issuing.versions_to_issue(db, wanted=wanted)
    actor = Actor("worker")
    rows = [
        issuing.row(
            *versions[want.organization_id, want.questionnaire_id],
            IssueInput(locale=want.locale, metadata=Changes(questionnaire=dict(want.metadata))),
            responder_id=want.responder_id,
            now=now,
            draw=draw,
            actor=actor,
            item=want,
            test=want.test,
        )
        for want in wanted
        if (want.organization_id, want.questionnaire_id) in versions
    ]
    # Most items are claimed once, so they are issued first and looked up only where the unique key knew better.
    event_ids = ids.ordered_many(now, len(rows))
    made = await store.insert_instances(db, instances=rows, event_ids=event_ids, actor=actor)
    instances = [issuing.issued(row) for row in rows if (row["organization_id"], row["instance_id"]) in made]
    found = {_item_key(instance): instance for instance in instances}
    others = [key for want in wanted if (key := (want.organization_id, want.item_id)) not in found]
    if others:
        found |= {_item_key(instance): instance for instance in await store.list_instances_of_items(db, items=others)}
    return found


async def mark_sent(db: Database, *, sent: Sequence[tuple[str, str]], now: datetime) -> None:
    """A channel took the messages of these pairs of organization and instance; a reminder changes nothing."""
    await store.settle_sent(db, sent=sent, now=now)


async def mark_processed(db: Database, *, organization_id: str, instance_ids: Sequence[str], now: datetime) -> None:
    """Alerts, sequences and rollups have handled the completion of these instances; only the first time counts."""
    await store.settle_processed(db, organization_id=organization_id, instance_ids=instance_ids, now=now)


async def mark_flow(db: Database, *, organization_id: str, instance_ids: Sequence[str], now: datetime) -> None:
    """A sequence has queued something because of these instances; only the first time counts."""
    await store.settle_flow(db, organization_id=organization_id, instance_ids=instance_ids, now=now)


async def facts(db: Database, *, instance: Instance) -> Facts:
    """What jumps may ask about the instance besides its answers: the metadata of both sides."""
    return await _facts(db, instance=instance, responder=await _responder_metadata(db, instance=instance))


async def takes_answers(db: Database, *, instance: Instance, now: datetime) -> bool:
    """Whether saving an answer would be taken now."""
    try:
        await require_open(db, instance=instance, now=now)
    except errors.Refusal:
        return False
    return True


async def require_open(db: Database, *, instance: Instance, now: datetime) -> Issuable:
    """Raise why no answer is taken: Expired, Finalized, Inactive, or Closed for one response too many."""
    if core_instances.is_expired(instance, now):
        raise Expired("The time to answer is over.")
    if core_instances.is_closed(instance):
        raise Finalized("The answers were sent and cannot be changed.")
    issuable = await issuing.get_issuable(
        db, organization_id=instance.organization_id, questionnaire_id=instance.questionnaire_id
    )
    if not issuable.is_active:
        raise Inactive("This questionnaire is not active.")
    if instance.submitted_time is None and not instance.test:
        await issuing.require_seat(db, issuable=issuable)
    return issuable


async def record_view(db: Database, *, instance_id: str, now: datetime) -> None:
    """The answer page was shown to a person; only the first time counts, and only while it can be answered."""
    instance = await store.get_public_instance(db, instance_id=instance_id)
    if instance is None:
        _refuse_unknown()
    if instance.viewed_time is not None or core_instances.is_expired(instance, now):
        return
    viewed = await store.update_viewed(db, organization_id=instance.organization_id, instance_id=instance_id, now=now)
    if viewed is not None:
        await events.record(db, events=[news.event(viewed, "viewed", now=now)])


async def save_answers(
    db: Database,
    *,
    instance: Instance,
    definition: Definition,
    answers: Mapping[str, Given | None],
    complete: bool,
    now: datetime,
) -> Saved:
    """Keep the answers of a posted page (None takes one back) and, if asked and nothing is wrong, complete.

    Raises NotFound (deleted meanwhile), Expired, Finalized, Inactive, Closed, Invalid (a question that is not this
    instance's). Wrong and missing answers are no refusal: what is right is kept, see Saved; but of a finalized
    instance nothing is changed then.
    """
    key = {"organization_id": instance.organization_id, "instance_id": instance.instance_id}
    before = await store.get_instance_locked(db, **key) or _refuse_unknown()
    _require_dealt(before, answers)
    issuable = await require_open(db, instance=before, now=now)
    stored = {a.question_id: Given(a.value, a.other_text) for a in await answers_store.list_answers(db, **key)}
    edit = core_instances.edit(definition, stored, answers)
    wrong, metadata = edit.wrong, dict[str, str]()
    if (complete or before.finalized) and not wrong:
        metadata = await _responder_metadata(db, instance=before)
        facts_now = await _facts(db, instance=before, responder=metadata)
        wrong = core_instances.missing(definition, before.question_ids, edit.after, facts_now)
    completes = complete and not wrong and not before.finalized
    # A response that was complete stays complete: it takes a page as a whole, or not.
    if not (edit.changed or edit.removed or completes) or (before.finalized and wrong):
        return Saved(before, wrong)
    if edit.changed:
        await _take_seat(db, instance=before, issuable=issuable)
    await answers_service.write(
        db, **key, questionnaire_id=before.questionnaire_id, version_id=before.version_id, edit=edit, now=now
    )
    after = await store.update_progress(db, **key, is_submitted=bool(edit.changed), is_complete=completes, now=now)
    await events.record(db, events=news.of_answers(before, after, edit, now=now, responder_metadata=metadata))
    if before.submitted_time is None and edit.changed:
        await _pay(db, instance=after, issuable=issuable, now=now)
    return Saved(after, wrong)


async def update(
    db: Database, *, caller: Caller, instance_id: str, change: Change, now: datetime, expect: Expect | None = None
) -> Instance:
    """Change what a PATCH names and nothing else; what changes nothing moves neither `updated_time` nor the version.

    `expect` (of `If-Match`) is called with the version of the locked row and may raise Stale. Raises NotFound, Invalid
    (`unknown_id`, `too_many`, of a strict change also `unknown_value`).
    """
    before = await _expected(db, caller=caller, instance_id=instance_id, expect=expect)
    if change.responder_id is not None and change.responder_id != before.responder_id:
        await people.require_seen(db, caller=caller, responder_id=change.responder_id)
    after = await store.update_instance(
        db,
        organization_id=before.organization_id,
        instance_id=instance_id,
        responder_id=change.responder_id,
        locale=await _matched(db, instance=before, change=change),
        valid_days=change.valid_days,
        editable=change.editable,
        metadata_set=merge({}, change.metadata.questionnaire),
        metadata_removed=[name for name, value in change.metadata.questionnaire.items() if not value],
        now=now,
        updated_by=caller.actor_id,
    )
    if after is None:
        after = await get(db, caller=caller, instance_id=instance_id)
    else:
        _require_few(after.metadata)
        if after.valid_days != before.valid_days:
            await expiry.notice(db, valid_days=after.valid_days, now=now)
        await events.record(db, events=news.of_update(before, after, caller=caller, now=now))
    if change.metadata.responder:
        await people.require_whole(db, caller=caller, responder_id=after.responder_id)
        await responders.update_metadata(
            db,
            organization_id=after.organization_id,
            responder_id=after.responder_id,
            changes=change.metadata.responder,
            now=now,
            actor=responders.Actor.of(caller),
        )
    return after


async def delete(
    db: Database, *, caller: Caller, instance_id: str, now: datetime, expect: Expect | None = None
) -> None:
    """Take the instance and its answers out of everything; raises NotFound, and what `expect` raises."""
    before = await _expected(db, caller=caller, instance_id=instance_id, expect=expect)
    deleted = await store.delete_instance(
        db,
        organization_id=before.organization_id,
        instance_id=instance_id,
        now=now,
        updated_by=caller.actor_id,
    )
    if deleted is None:
        _refuse_unknown()
    await events.record(db, events=[news.event(deleted, "deleted", now=now, caller=caller)])


async def _existing(db: Database, *, issuable: Issuable, request: IssueInput) -> Instance | None:
    """The instance that was issued before for the same reference, or for the same form of a public link."""
    key = request.reference_id or request.instance_id
    if key is None:
        return None
    # A second issue for the same key waits here, so that it makes no responder for nothing.
    await store.claim_issue(
        db, organization_id=issuable.organization_id, questionnaire_id=issuable.questionnaire_id, key=key
    )
    if request.reference_id is None:
        return await store.get_instance(db, organization_id=issuable.organization_id, instance_id=key)
    return await store.get_instance_by_reference(
        db,
        organization_id=issuable.organization_id,
        questionnaire_id=issuable.questionnaire_id,
        reference_id=request.reference_id,
    )


async def _responder_metadata(db: Database, *, instance: Instance) -> dict[str, str]:
    responder = await responders_store.get_responder(
        db, organization_id=instance.organization_id, responder_id=instance.responder_id
    )
    return responder.metadata if responder else {}


async def _insert(db: Database, *, row: Mapping[str, object], now: datetime, actor: Actor) -> Instance:
    if not await store.insert_instances(db, instances=[row], event_ids=[ids.ordered(now)], actor=actor):
        _refuse_unknown()  # the form of an instance that was deleted since
    return issuing.issued(row)


async def _expected(db: Database, *, caller: Caller, instance_id: str, expect: Expect | None) -> Instance:
    instance = await get(db, caller=caller, instance_id=instance_id)
    if expect is None:
        return instance
    # Locked, or another PATCH could come between this look and our write.
    locked = await store.get_instance_locked(db, organization_id=instance.organization_id, instance_id=instance_id)
    if locked is None:
        _refuse_unknown()
    expect(locked.version)
    return locked


async def _matched(db: Database, *, instance: Instance, change: Change) -> str | None:
    """The language of the instance's version that fits best; None stays None. Raises Invalid if strict."""
    if change.locale is None:
        return None
    version = await questionnaires_store.get_version(
        db, organization_id=instance.organization_id, version_id=instance.version_id
    )
    found = locales.match(change.locale, version.definition.locales, version.definition.default_locale)
    if change.is_strict and not locales.is_same_language(change.locale, found):
        there_are = ", ".join(version.definition.locales)
        message = f"The questionnaire is not written in this language. There are: {there_are}."
        raise errors.Invalid.of(errors.FieldError("unknown_value", message, pointer="/locale"))
    return found


async def _take_seat(db: Database, *, instance: Instance, issuable: Issuable) -> None:
    """Before a first answer: raise Closed unless there is room for one response more, held until we commit."""
    if instance.submitted_time is None and issuable.responses_max is not None and not instance.test:
        await store.claim_seats(
            db, organization_id=instance.organization_id, questionnaire_id=instance.questionnaire_id
        )
        await issuing.require_seat(db, issuable=issuable)


async def _pay(db: Database, *, instance: Instance, issuable: Issuable, now: datetime) -> None:
    """A first answer was stored: the last thing that its transaction does, for all of a plan's answers meet there."""
    if issuable.credits_accountable and not instance.test:
        await plans.use_credit(
            db, organization_id=instance.organization_id, application_id=issuable.owner_application_id, now=now
        )


def _require_dealt(instance: Instance, answers: Mapping[str, Given | None]) -> None:
    dealt = set(instance.question_ids)
    strangers = [
        errors.FieldError("unknown_id", "This question is not asked here.", pointer=f"/answers/{question_id}")
        for question_id in answers
        if question_id not in dealt
    ]
    if strangers:
        raise errors.Invalid.of(*strangers)


async def _facts(db: Database, *, instance: Instance, responder: Mapping[str, str]) -> Facts:
    declared = await metadata_service.declared_of(
        db, organization_id=instance.organization_id, questionnaire_id=instance.questionnaire_id
    )
    return core_instances.facts_of(instance.metadata, responder, declared)


async def _declared(db: Database, *, issuable: Issuable, metadata: Changes) -> Changes:
    known = await metadata_service.declared(
        db, organization_id=issuable.organization_id, application_id=issuable.owner_application_id
    )
    return Changes(
        {name: value for name, value in metadata.questionnaire.items() if name in known.questionnaire},
        {name: value for name, value in metadata.responder.items() if name in known.responder},
    )


def _require_few(metadata: Mapping[str, str]) -> None:
    if len(metadata) > NAMES_MAX:
        raise errors.Invalid.of(
            errors.FieldError("too_many", f"An instance keeps at most {NAMES_MAX} names.", pointer="/metadata")
        )


def _item_key(instance: Instance) -> tuple[str, str]:
    return instance.organization_id, instance.item_id or ""


def _refuse_unknown() -> NoReturn:
    raise errors.NotFound("There is no such questionnaire instance.")
