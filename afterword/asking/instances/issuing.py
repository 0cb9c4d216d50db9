"""Issues questionnaire instances: through the API, by public links, and for claimed queue items."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Final, final

import msgspec
from msgspec.structs import replace

from afterword import errors, ids
from afterword.asking.instances import responders as instance_responders, store
from afterword.asking.instances.answers import Closed, Inactive, require_capacity
from afterword.asking.instances.store import (
    INSTANCE_COLUMNS,
    INSTANCE_COLUMNS_I,
    ISSUABLE_COLUMNS,
    Instance,
    Issuable,
    ShownInstance,
)
from afterword.asking.questionnaires import access, metadata as metadata_service
from afterword.asking.questionnaires.store import Version
from afterword.core.answers import progress as core_answers
from afterword.core.messaging.addresses import CHANNEL_EMAIL
from afterword.core.organizations.access import Caller, installation
from afterword.core.questionnaires.metadata import Changes, merge
from afterword.core.text import locales
from afterword.events.service import Actor
from afterword.kit.db import Database
from afterword.kit.db.columns import arrays, columns_of, qualified
from afterword.people.responders import service as responders
from afterword.tenants.organizations import plans

_LOGGED_COLUMNS: Final = columns_of(ShownInstance, without=("instance_id", "questionnaire_id"))


async def _list_instances_of_items(  # any tenant: a claimed batch serves many organizations
    db: Database, *, items: Sequence[tuple[str, str]]
) -> list[Instance]:
    """The instances of these pairs of organization and item, including deleted ones."""
    return await db.records(Instance.of).fetch(
        f"""select {INSTANCE_COLUMNS_I} from unnest($1::text[], $2::text[]) as b (organization_id, item_id)
           join questionnaire_instance i on i.organization_id = b.organization_id and i.item_id = b.item_id""",
        *arrays(items, 2),
    )


async def _list_issuables(  # any tenant: a claimed batch serves many organizations
    db: Database, *, questionnaires: Sequence[tuple[str, str]]
) -> list[Issuable]:
    """The settings of these pairs of organization and questionnaire; unknown ones are left out."""
    return await db.records(Issuable).fetch(
        f"""select {ISSUABLE_COLUMNS}
           from unnest($1::text[], $2::text[]) as b (organization_id, questionnaire_id)
           join questionnaire q on q.organization_id = b.organization_id and q.questionnaire_id = b.questionnaire_id
           join application a on a.organization_id = q.organization_id and a.application_id = q.owner_application_id""",
        *arrays(questionnaires, 2),
    )


async def insert_instances(  # any tenant: a claimed batch serves many organizations
    db: Database, *, instances: Sequence[Instance], event_ids: Sequence[str], actor: Actor
) -> set[tuple[str, str]]:
    """Insert instances and their events unless item or reference has one; returns the keys of those inserted."""
    rows = await db.fetch(
        f"""with issued as (
             insert into questionnaire_instance ({INSTANCE_COLUMNS})
             select {INSTANCE_COLUMNS} from jsonb_populate_recordset(null::questionnaire_instance, $1)
             on conflict do nothing returning {INSTANCE_COLUMNS}),
           recorded as (
             insert into event (organization_id, event_id, type, questionnaire_id, subject_id, subject_version,
               actor_kind, actor_id, test, {qualified(_LOGGED_COLUMNS, "instance")})
             -- Any id fits any row; a join by key would compare each row with each.
             select i.organization_id, ($2::text[])[row_number() over ()], 'questionnaire_instance.created',
               i.questionnaire_id, i.instance_id, i.version, $3, $4, i.test,
               {qualified(_LOGGED_COLUMNS, "i")}
             from issued i)
           select organization_id, instance_id from issued""",
        *(list(instances), event_ids, actor.kind, actor.id),
    )
    return {(row["organization_id"], row["instance_id"]) for row in rows}


Draw = Callable[[], float]  # uniform in [0, 1); decides which questions are drawn


class NotPublished(errors.Conflict):
    code_default = "questionnaire_not_published"


class ApplicationInactive(Inactive):
    """Of an inactive application nothing is issued; what was issued is answered."""

    code_default = "application_inactive"


class IssueInput(msgspec.Struct, frozen=True, kw_only=True):
    """A request for an instance; None takes the questionnaire's setting."""

    instance_id: str | None = None  # of a public link, so that a form sent twice makes one instance
    responder_id: str | None = None
    locale: str | None = None
    valid_days: int | None = None
    editable: bool | None = None
    sent_time: datetime | None = None
    delivered_time: datetime | None = None
    reference_id: str | None = None
    metadata: Changes = msgspec.field(default_factory=Changes)
    link_id: str | None = None
    address: str | None = None  # confirmed by the visitor of a public link
    fixed: Mapping[str, str] = {}  # metadata that the link's author gave
    test: bool = False  # only of answers to an anonymous test
    takes_files: bool = True  # a kiosk does not


@final
class ItemIssueInput(msgspec.Struct, frozen=True, kw_only=True):
    """A request for the instance of a queue item; `metadata` are the questionnaire's, `locale` may be any tag."""

    organization_id: str
    item_id: str
    channel_id: int
    pipeline_id: str
    questionnaire_id: str
    responder_id: str
    locale: str | None
    metadata: Mapping[str, str]
    test: bool = False
    previous_questionnaire_instance_id: str | None = None


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
    """Issue an instance through the API; also returns False if the `reference_id` had one already.

    Raises NotFound (questionnaire), NotPublished, Inactive, Closed, Invalid `unknown_id` (responder), Conflict (a test
    token with the reference of a real instance).
    """
    issuable = await get_issuable(db, **caller.part, questionnaire_id=questionnaire_id)
    existing = await _existing(db, issuable=issuable, request=request)
    if existing is not None:
        if caller.test and not existing.test:
            raise errors.Conflict("This reference_id belongs to an instance that is no test.")
        return existing, False
    version = await version_to_issue(db, issuable=issuable)
    wanted = responders.ResponderInput(
        caller.organization_id,
        metadata=request.metadata.responder,
        locale=request.locale,
        responder_id=request.responder_id,
    )
    responder_id = await instance_responders.find_or_create(db, caller=caller, wanted=wanted, now=now, secret=secret)
    actor = Actor.of(caller)
    instance = _new_instance(
        issuable, version, request, responder_id=responder_id, now=now, draw=draw, actor=actor, test=caller.test
    )
    # Its message may have been sent before the job finds these days.
    if request.sent_time is not None and request.valid_days:
        await store.insert_expiry_cursor(db, valid_days=request.valid_days, since=now)
    return await _insert(db, instance=instance, now=now, actor=actor), True


async def issue_by_link(
    db: Database, *, issuable: Issuable, version: Version, request: IssueInput, now: datetime, secret: bytes, draw: Draw
) -> tuple[Instance, bool]:
    """Issue an instance through a public link: as `issue`, but to a new responder unless the address is confirmed.

    Anybody can write metadata there, so undeclared names are dropped. `version` is that of `version_to_start`.
    """
    existing = await _existing(db, issuable=issuable, request=request)
    if existing is not None:
        return existing, False
    organization_id = issuable.organization_id
    actor = responders.Actor("responder")
    # Not by an address in metadata: a visitor may write any, and must not reach another person's record.
    channel_id = CHANNEL_EMAIL if request.address else None
    visitor = responders.ResponderInput(organization_id, channel_id, request.address, locale=request.locale)
    found = await responders.find_or_create(db, inputs=[visitor], now=now, secret=secret, actor=actor)
    responder_id = found[0].responder_id
    known = await _declared(db, issuable=issuable, metadata=request.metadata)
    if known.responder:
        key = {"organization_id": organization_id, "responder_id": responder_id}
        change = responders.Change(metadata=known.responder)
        await responders.update(db, **key, change=change, now=now, actor=actor)
    actor = Actor("responder", responder_id)
    instance = _new_instance(
        issuable,
        version,
        replace(request, metadata=Changes({**known.questionnaire, **request.fixed}, known.responder)),
        responder_id=responder_id,
        now=now,
        draw=draw,
        actor=actor,
        test=request.test,
    )
    return await _insert(db, instance=instance, now=now, actor=actor), True


async def issue_for_items(
    db: Database, *, items: Sequence[ItemIssueInput], now: datetime, draw: Draw
) -> dict[tuple[str, str], Instance]:
    """The instances of a claimed batch, by organization and item: those of earlier attempts, else new ones.

    Items whose questionnaire has no published version are left out. A deleted instance is returned, not replaced:
    check `deleted_time`.
    """
    versions = await _versions_to_issue(db, items=items)
    actor = Actor("worker")
    new = [
        _new_instance(
            *versions[item.organization_id, item.questionnaire_id],
            IssueInput(locale=item.locale, metadata=Changes(questionnaire=dict(item.metadata))),
            responder_id=item.responder_id,
            now=now,
            draw=draw,
            actor=actor,
            item=item,
            test=item.test,
        )
        for item in items
        if (item.organization_id, item.questionnaire_id) in versions
    ]
    # Most items are claimed once, so insert first and read only those that conflict.
    event_ids = ids.ordered_many(now, len(new))
    made = await insert_instances(db, instances=new, event_ids=event_ids, actor=actor)
    instances = [instance for instance in new if (instance.organization_id, instance.instance_id) in made]
    found = {_item_key(instance): instance for instance in instances}
    others = [key for item in items if (key := (item.organization_id, item.item_id)) not in found]
    if others:
        found |= {_item_key(instance): instance for instance in await _list_instances_of_items(db, items=others)}
    return found


async def get_issuable(
    db: Database, *, organization_id: str, questionnaire_id: str, application_ids: Sequence[str] = ()
) -> Issuable:
    found = await _list_issuables(db, questionnaires=[(organization_id, questionnaire_id)])
    if not found or (application_ids and found[0].owner_application_id not in application_ids):
        raise errors.NotFound("There is no such questionnaire.")
    return found[0]


async def version_to_issue(db: Database, *, issuable: Issuable) -> Version:
    """The published version; raises Inactive, NotPublished, Closed."""
    if not issuable.is_active:
        raise Inactive("This questionnaire is not active.")
    if not issuable.application_active:
        raise ApplicationInactive("The application of this questionnaire is not active.")
    version = await access.published(db, issuable)
    if version is None:
        raise NotPublished("This questionnaire has no published version.")
    await require_capacity(db, issuable=issuable)
    return version


async def version_to_start(db: Database, *, issuable: Issuable, is_by_key: bool = False) -> Version:
    """As version_to_issue, for a public link; also raises NotFound without one, and Closed without credits.

    `is_by_key`: by a link with a key of its own, which the questionnaire's switch does not close.
    """
    if not (issuable.public_link or is_by_key):
        raise errors.NotFound("There is no such questionnaire.")
    version = await version_to_issue(db, issuable=issuable)
    if issuable.credits_accountable and not await plans.get_has_credits(
        db, organization_id=issuable.organization_id, application_id=issuable.owner_application_id
    ):
        raise Closed("There are no credits for this questionnaire at the moment.")
    return version


async def _versions_to_issue(
    db: Database, *, items: Sequence[ItemIssueInput]
) -> dict[tuple[str, str], tuple[Issuable, Version]]:
    """Settings and published version by organization and questionnaire; those without a version are left out."""
    keys = list(dict.fromkeys((item.organization_id, item.questionnaire_id) for item in items))
    return {
        (issuable.organization_id, issuable.questionnaire_id): (issuable, version)
        for issuable in await _list_issuables(db, questionnaires=keys)
        if (version := await access.published(db, issuable)) is not None
    }


def _new_instance(
    issuable: Issuable,
    version: Version,
    request: IssueInput,
    *,
    responder_id: str,
    now: datetime,
    draw: Draw,
    actor: Actor,
    item: ItemIssueInput | None = None,
    test: bool = False,
) -> Instance:
    definition, by = version.definition, actor.id if actor.kind in {"user", "token"} else None
    asked = "response" if actor.kind == "responder" else "invitation"
    return Instance(
        organization_id=issuable.organization_id,
        instance_id=request.instance_id or ids.secret(),
        questionnaire_id=issuable.questionnaire_id,
        version_id=version.version_id,
        responder_id=responder_id,
        item_id=item and item.item_id,
        channel_id=item and item.channel_id,
        pipeline_id=item and item.pipeline_id,
        reference_id=request.reference_id,
        previous_questionnaire_instance_id=item and item.previous_questionnaire_instance_id,
        short_code=ids.short_code(),
        test=test,
        locale=locales.match(request.locale, definition.locales, definition.default_locale),
        valid_days=issuable.valid_days if request.valid_days is None else request.valid_days,
        editable=not definition.anonymous and (issuable.editable if request.editable is None else request.editable),
        finalized=False,
        question_ids=core_answers.draw_questions(definition, draw=draw, takes_files=request.takes_files),
        metadata=merge({}, request.metadata.questionnaire),
        sent_time=request.sent_time,
        delivered_time=request.delivered_time,
        viewed_time=None,
        submitted_time=None,
        completed_time=None,
        processed_time=None,
        flow_time=None,
        deleted_time=None,
        version=1,
        created_time=now,
        updated_time=now,
        created_by=by,
        updated_by=by,
        full_quota_id=None,
        anonymity=asked if definition.anonymous else None,
        link_id=request.link_id,
    )


async def _existing(db: Database, *, issuable: Issuable, request: IssueInput) -> Instance | None:
    """The instance issued before for the same reference, or for the same form of a public link."""
    key = request.reference_id or request.instance_id
    if key is None:
        return None
    # A second request with the same key waits here, so that it makes no unused responder.
    await db.claim_key(f"{issuable.organization_id}:{issuable.questionnaire_id}:{key}")
    if request.reference_id is None:
        return await store.get_instance(db, **installation(issuable.organization_id).sight, instance_id=key)
    return await store.get_instance_by_reference(db, **issuable.key, reference_id=request.reference_id)


async def _insert(db: Database, *, instance: Instance, now: datetime, actor: Actor) -> Instance:
    if not await insert_instances(db, instances=[instance], event_ids=[ids.ordered(now)], actor=actor):
        raise errors.NotFound("There is no such questionnaire instance.")  # that of this form was deleted
    return instance


async def _declared(db: Database, *, issuable: Issuable, metadata: Changes) -> Changes:
    known = await metadata_service.declared(
        db, organization_id=issuable.organization_id, application_id=issuable.owner_application_id
    )
    return Changes(
        {name: value for name, value in metadata.questionnaire.items() if name in known.questionnaire},
        {name: value for name, value in metadata.responder.items() if name in known.responder},
    )


def _item_key(instance: Instance) -> tuple[str, str]:
    return instance.organization_id, instance.item_id or ""
