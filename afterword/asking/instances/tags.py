"""Adds tags to instances and removes them; only changes record events."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Final, Unpack
from urllib.parse import quote

import msgspec
from msgspec import Meta

from afterword import errors
from afterword.asking.instances import service as instances, store as instances_store
from afterword.asking.instances.store import Instance
from afterword.core.answers import instances as rules
from afterword.core.answers.instances import INSTANCE_TAGS_MAX, TAG_CHARACTERS_MAX, InvalidTag
from afterword.core.organizations.access import Caller, Reach, values_of
from afterword.core.wire.lists import Page, Rows
from afterword.errors import Sentence
from afterword.events import service as events
from afterword.events.service import Actor, NewEvent
from afterword.kit.db import Database
from afterword.kit.db.columns import columns_of, maker_of
from afterword.kit.nouns.declaration import Hidden
from afterword.kit.nouns.structs import shown_as
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call, Routes


class TagRecord(msgspec.Struct, frozen=True):
    """A tag of an instance, in lower case."""

    organization_id: Annotated[str, Hidden()]
    instance_id: fields.Id
    tag: str
    created_time: datetime
    created_by: fields.Id | None


COUNTED_MAX: Final = 10_000
_COLUMNS: Final = columns_of(TagRecord)
_tag: Final = maker_of(TagRecord)


async def _list_tags(db: Database, *, organization_id: str, instance_id: str, page: Page) -> Rows[TagRecord]:
    return await db.records(_tag).fetch_list(
        f"""select {_COLUMNS}, tag collate "C" as tag_key
           from instance_tag where organization_id = $1 and instance_id = $2""",
        *(organization_id, instance_id),
        page=page,
    )


async def list_tags_of_instances(db: Database, *, organization_id: str, instance_ids: Sequence[str]) -> list[TagRecord]:
    return await db.records(_tag).fetch(
        f"""select {_COLUMNS} from instance_tag
           where organization_id = $1 and instance_id = any($2::text[]) order by instance_id, tag collate "C" """,
        *(organization_id, list(instance_ids)),
    )


class TagCount(msgspec.Struct, frozen=True):
    """`count`: of responses and other instances, up to COUNTED_MAX; `is_part`: there are more."""

    tag: str
    count: int
    is_part: bool


async def list_words(db: Database, *, page: Page, **reach: Unpack[Reach]) -> Rows[TagCount]:
    """The tags of the instances within reach. Each is found by one look at the index, and counted from there."""
    rows = await db.fetch_list(
        """with recursive word (tag) as (
             (select t.tag from instance_tag t where t.organization_id = $1 order by t.tag limit 1)
             union all
             select (select t.tag from instance_tag t where t.organization_id = $1 and t.tag > w.tag
                     order by t.tag limit 1)
             from word w where w.tag is not null)
           select tag, tag_key, count, is_part from (
             select w.tag, w.tag collate "C" as tag_key, least(c.count, $4) as count, c.count > $4 as is_part
             from word w cross join lateral (select count(*) as count from (
               select from instance_tag t where t.organization_id = $1 and t.tag = w.tag
                 and ((cardinality($2::text[]) = 0 and not $3) or exists (
                   select from questionnaire_instance i
                   join questionnaire q on q.organization_id = $1 and q.questionnaire_id = i.questionnaire_id
                   where i.organization_id = $1 and i.instance_id = t.instance_id and (i.test or not $3)
                     and (cardinality($2) = 0 or q.owner_application_id = any($2))))
               limit $4 + 1) n) c
             where w.tag is not null) w where count > 0""",
        *(*values_of(reach), reach["test_only"], COUNTED_MAX),
        page=page,
    )
    return rows.map(lambda row: TagCount(row["tag"], row["count"], row["is_part"]))


async def list_instance_ids(db: Database, *, organization_id: str, tag: str, limit: int) -> list[str]:
    return await db.fetch_column(
        "select instance_id from instance_tag where organization_id = $1 and tag = $2 order by instance_id limit $3",
        *(organization_id, tag, limit),
    )


async def _update_tags(db: Database, *, organization_id: str, tag: str, to: str) -> list[TagRecord]:
    return await db.records(_tag).fetch(
        f"update instance_tag set tag = $3 where organization_id = $1 and tag = $2 returning {_COLUMNS}",
        *(organization_id, tag, to),
    )


async def _get_tag(db: Database, *, organization_id: str, instance_id: str, tag: str) -> TagRecord | None:
    return await db.records(_tag).fetch_row(
        f"select {_COLUMNS} from instance_tag where organization_id = $1 and instance_id = $2 and tag = $3",
        *(organization_id, instance_id, tag),
    )


async def _insert_tags(
    db: Database, *, organization_id: str, instance_ids: Sequence[str], tag: str, now: datetime, created_by: str | None
) -> list[TagRecord]:
    """Add the tag to those of these instances that lack it and may have one more; return the new ones.

    The instances are locked, so that no other transaction adds their last allowed tag meanwhile.
    """
    return await db.records(_tag).fetch(
        f"""with locked as materialized (
              select i.organization_id, i.instance_id from questionnaire_instance i
              where i.organization_id = $1 and i.instance_id = any($2::text[]) order by i.instance_id for update)
            insert into instance_tag (organization_id, instance_id, tag, created_time, created_by)
            select i.organization_id, i.instance_id, $3, $4, $5 from locked i
            where (select count(*) from instance_tag t where t.organization_id = i.organization_id
                     and t.instance_id = i.instance_id) < $6
            on conflict do nothing returning {_COLUMNS}""",
        *(organization_id, list(instance_ids), tag, now, created_by, INSTANCE_TAGS_MAX),
    )


async def _delete_tags(db: Database, *, organization_id: str, instance_ids: Sequence[str], tag: str) -> list[TagRecord]:
    return await db.records(_tag).fetch(
        f"""delete from instance_tag where organization_id = $1 and instance_id = any($2::text[]) and tag = $3
            returning {_COLUMNS}""",
        *(organization_id, list(instance_ids), tag),
    )


NO_TAG: Final = "There is no such tag."
RENAMED_MAX: Final = 10_000  # responses of a tag that gets another name, in one transaction
VERSION: Final = 1  # a tag never changes, so it has one version only


class TagExists(errors.Conflict):
    """Two tags do not become one: nothing could part them again."""

    code_default = "already_exists"


async def add(db: Database, *, caller: Caller, instance_id: str, text: str, now: datetime) -> TagRecord:
    """Returns the tag, new or existing. Raises NotFound, Invalid."""
    tag = _normalised(text)
    instance = await instances.get(db, caller=caller, instance_id=instance_id)
    tagged = await _get_tag(db, **instance.key, tag=tag)
    if tagged is None:
        await _change(db, instance, tag, adds=True, actor=Actor.of(caller), now=now)
        tagged = await _get_tag(db, **instance.key, tag=tag)
    if tagged is None:
        await instances.get(db, caller=caller, instance_id=instance_id)
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
        found = await _insert_tags(db, **among, now=now, created_by=made_by)
    else:
        found = await _delete_tags(db, **among)
    kind = "tag.added" if adds else "tag.removed"
    recorded = [_event(kind, one, instances[one.instance_id], now=now, actor=actor) for one in found]
    await events.record(db, events=recorded)
    return [one.instance_id for one in found]


async def rename(
    db: Database, *, caller: Caller, text: str, to: str, expect: errors.Expect = errors.ANY, now: datetime
) -> str:
    """Wherever it is; return the new name. Raises NotFound, Invalid, TagExists, Forbidden."""
    caller.require_all()
    tag = named(text)
    wanted = _normalised(to)
    key = {"organization_id": caller.organization_id}
    found = errors.found(await list_instance_ids(db, **key, tag=tag, limit=RENAMED_MAX + 1) or None, NO_TAG)
    expect(VERSION)
    if wanted == tag:
        return tag
    if await list_instance_ids(db, **key, tag=wanted, limit=1):
        raise TagExists(
            Sentence("There is a tag “{tag}” already. Tag the responses with it, then remove this one.", tag=wanted)
        )
    if len(found) > RENAMED_MAX:
        message = Sentence("A tag of more than {n} responses keeps its name.", n=RENAMED_MAX)
        raise errors.Invalid.at("/tag", "too_many", message)
    renamed = await _update_tags(db, **key, tag=tag, to=wanted)
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
    db: Database, *, caller: Caller, instance_id: str, tag: str, now: datetime, expect: errors.Expect = errors.ANY
) -> None:
    instance = await instances.get(db, caller=caller, instance_id=instance_id)
    if not await _change(db, instance, named(tag), adds=False, actor=Actor.of(caller), now=now):
        raise errors.NotFound(NO_TAG)
    expect(VERSION)


def _normalised(text: str) -> str:
    """Raises Invalid for what is no tag."""
    try:
        return rules.normalise(text)
    except InvalidTag as error:
        raise errors.Invalid.at("/tag", error.code, str(error)) from None


def named(text: str) -> str:
    """The tag that a path names. Raises NotFound when there is no such tag."""
    try:
        return rules.normalise(text)
    except InvalidTag:
        raise errors.NotFound(NO_TAG) from None


def _event(type_name: str, tag: TagRecord, instance: Instance, *, now: datetime, actor: Actor) -> NewEvent:
    data = msgspec.structs.asdict(tag)
    return NewEvent.of(instance, type_name, tag.instance_id, data, now=now, actor=actor, subject_version=None)


PATH: Final = "/q/instance/{instance_id}/tag"
Word = Annotated[str, Meta(min_length=1, max_length=TAG_CHARACTERS_MAX, examples=["call back"])]

routes = Routes(tag="Tags", scope="Tag")


class TagRequest(fields.Request):
    """A tag to add."""

    tag: Word


Tag: Final = shown_as("Tag", TagRecord)


@routes.list(
    PATH,
    for_limited="part",
    answer=Tag,
    shape="array",
    listing=fields.listing_of(Tag, id="tag_key"),
    summary="Get all tags",
)
async def list_tags(call: Call[None], db: Database) -> Rows[TagRecord]:
    instance = await instances.get(db, caller=call.caller, **call.ids)
    return await _list_tags(db, **instance.key, page=call.page)


@routes.post(
    PATH,
    for_limited="part",
    answer=Tag,
    summary="Add tag",
    description="Trimmed and in lower case; one that is there already stays as it is. At most 50 an instance.",
)
async def add_tag(call: Call[TagRequest], db: Database) -> Answer:
    tag = await add(db, caller=call.caller, **call.ids, text=call.body.tag, now=call.now)
    location = f"/q/instance/{tag.instance_id}/tag/{quote(tag.tag, safe='')}"
    return Answer(Tag.of(tag, call.zone), version=VERSION, location=location)


@routes.delete(f"{PATH}/{{tag}}", for_limited="part", texts=("tag",), summary="Remove tag")
async def remove_tag(call: Call[None], db: Database) -> None:
    await remove(db, caller=call.caller, **call.ids, now=call.now, expect=call.expect)
