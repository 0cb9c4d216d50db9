"""Adds tags to instances and removes them; only changes record events."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

import msgspec

from afterword import errors, ids
from afterword.asking.instances import service as instances
from afterword.asking.instances import store as instances_store
from afterword.asking.instances.store import Instance
from afterword.asking.instances.tags import store
from afterword.asking.instances.tags.store import Tag
from afterword.core.answers import tags as rules
from afterword.core.answers.tags import INSTANCE_TAGS_MAX, InvalidTag
from afterword.core.organizations.access import Caller
from afterword.errors import FieldError, Sentence
from afterword.events import service as events
from afterword.events.service import Actor, NewEvent
from afterword.kit.db import Database

NO_TAG: Final = "There is no such tag."
RENAMED_MAX: Final = 10_000  # responses of a tag that gets another name, in one transaction
VERSION: Final = 1  # a tag never changes, so it has one version only


class TagExists(errors.Conflict):
    """Two tags do not become one: nothing could part them again."""

    code_default = "already_exists"


async def add(db: Database, *, caller: Caller, instance_id: str, text: str, now: datetime) -> Tag:
    """Returns the tag, new or existing. Raises NotFound, Invalid."""
    try:
        tag = rules.normalise(text)
    except InvalidTag as error:
        raise errors.Invalid.of(FieldError(error.code, str(error), pointer="/tag")) from None
    instance = await instances.get(db, caller=caller, instance_id=instance_id)
    actor = Actor.of(caller)
    return await tag_instance(db, instance=instance, tag=tag, now=now, actor=actor)


async def tag_instance(db: Database, *, instance: Instance, tag: str, now: datetime, actor: Actor) -> Tag:
    """As `add`, for rules: a normalized tag, on an instance that was read before. Raises Invalid."""
    key = {"organization_id": instance.organization_id, "instance_id": instance.instance_id}
    tagged = await store.get_tag(db, **key, tag=tag)
    if tagged is None:
        await _change(db, instance, tag, adds=True, actor=actor, now=now)
        tagged = await store.get_tag(db, **key, tag=tag)
    if tagged is None:
        errors.found(await instances_store.get_instance(db, **key), "There is no such questionnaire instance.")
        raise errors.Invalid.at("/tag", "too_many", Sentence("An instance has at most {n} tags.", n=INSTANCE_TAGS_MAX))
    return tagged


async def _change(db: Database, instance: Instance, tag: str, *, adds: bool, actor: Actor, now: datetime) -> bool:
    key, instance_ids = {"organization_id": instance.organization_id}, [instance.instance_id]
    return bool(await change_many(db, **key, instance_ids=instance_ids, tag=tag, adds=adds, actor=actor, now=now))


async def change_many(
    db: Database,
    *,
    organization_id: str,
    instance_ids: Sequence[str],
    tag: str,
    adds: bool,
    actor: Actor,
    now: datetime,
) -> list[str]:
    """Add the normalized tag to these instances, or remove it; return the ids of those that changed.

    Instances that are gone, or have as many tags as they may, are left out.
    """
    known = await instances_store.list_instances_by_ids(db, organization_id=organization_id, instance_ids=instance_ids)
    instances = {one.instance_id: one for one in known}
    among: dict[str, Any] = {"organization_id": organization_id, "instance_ids": sorted(instances), "tag": tag}
    if adds:
        made_by = actor.id if actor.kind in {"user", "token"} else None
        found = await store.insert_tags(db, **among, now=now, created_by=made_by, tags_max=INSTANCE_TAGS_MAX)
    else:
        found = await store.delete_tags(db, **among)
    kind = "tag.added" if adds else "tag.removed"
    recorded = [_event(kind, one, instances[one.instance_id], now=now, actor=actor) for one in found]
    await events.record(db, events=recorded)
    return [one.instance_id for one in found]


async def rename(
    db: Database, *, caller: Caller, text: str, to: str, expect: errors.Expect = errors.ANY, now: datetime
) -> str:
    """Wherever it is; return the new name. Raises NotFound, Invalid, TagExists, Forbidden."""
    caller.require_whole()
    caller.require_real()
    tag = named(text)
    try:
        wanted = rules.normalise(to)
    except InvalidTag as error:
        raise errors.Invalid.at("/tag", error.code, str(error)) from None
    key = {"organization_id": caller.organization_id}
    found = await store.list_instance_ids(db, **key, tag=tag, limit=RENAMED_MAX + 1)
    if not found:
        raise errors.NotFound(NO_TAG)
    expect(VERSION)
    if wanted == tag:
        return tag
    if await store.list_instance_ids(db, **key, tag=wanted, limit=1):
        raise TagExists(
            Sentence("There is a tag “{tag}” already. Tag the responses with it, then remove this one.", tag=wanted)
        )
    if len(found) > RENAMED_MAX:
        raise errors.Invalid.at(
            "/tag", "too_many", Sentence("A tag of more than {n} responses keeps its name.", n=RENAMED_MAX)
        )
    renamed = await store.update_tags(db, **key, tag=tag, to=wanted)
    known = await instances_store.list_instances_by_ids(db, **key, instance_ids=found)
    instances = {one.instance_id: one for one in known}
    recorded = [
        _event(kind, each, instances[one.instance_id], now=now, actor=Actor.of(caller))
        for one in renamed
        if one.instance_id in instances
        for kind, each in (("tag.removed", msgspec.structs.replace(one, tag=tag)), ("tag.added", one))
    ]
    await events.record(db, events=recorded)
    return wanted


async def remove(
    db: Database, *, caller: Caller, instance_id: str, text: str, now: datetime, expect: errors.Expect = errors.ANY
) -> None:
    instance = await instances.get(db, caller=caller, instance_id=instance_id)
    if not await _change(db, instance, named(text), adds=False, actor=Actor.of(caller), now=now):
        raise errors.NotFound(NO_TAG)
    expect(VERSION)


def named(text: str) -> str:
    """The tag that a path names. Raises NotFound when there is no such tag."""
    try:
        return rules.normalise(text)
    except InvalidTag:
        raise errors.NotFound(NO_TAG) from None


def _event(type_name: str, tag: Tag, instance: Instance, *, now: datetime, actor: Actor) -> NewEvent:
    return NewEvent(
        organization_id=tag.organization_id,
        event_id=ids.ordered(now),
        type=type_name,
        subject_id=tag.instance_id,
        subject_version=None,
        questionnaire_id=instance.questionnaire_id,
        actor_kind=actor.kind,
        actor_id=actor.id,
        data=msgspec.structs.asdict(tag),
        test=instance.test,
    )
