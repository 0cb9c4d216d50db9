"""Tags for many responses: the responses are noted first, then changed in parts, by the request and by a job.

A part and its position commit together, so what is interrupted goes on behind it. What was changed is noted, so it can
be changed back.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Final, Literal, LiteralString

import msgspec
from msgspec import UNSET, Meta, UnsetType, field

from afterword import errors, ids
from afterword.asking.instances import tags
from afterword.core.answers import instances
from afterword.core.answers.instances import TAG_CHARACTERS_MAX
from afterword.core.organizations.access import Caller
from afterword.events.service import Actor
from afterword.kit.db import Database
from afterword.kit.db.columns import columns_of, qualified
from afterword.kit.nouns.declaration import Hidden
from afterword.kit.nouns.structs import shown_as
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call, Routes
from afterword.listening.responses import service
from afterword.listening.responses.api import ResponseFilter, requested_of
from afterword.listening.responses.service import FOUND_MAX, RequestedResponses

Action = Literal["add", "remove"]
State = Literal["running", "done", "undoing", "undone"]


class TaggingRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A tag for many responses, and how far it has come; a worker goes on with what the request left."""

    organization_id: Annotated[str, Hidden()]
    tagging_id: fields.Id
    tag: str
    action: Annotated[Action, Meta(description="Whether the tag is added or removed.")]
    state: Annotated[State, Meta(description="Running and undoing ones go on.")]
    found: Annotated[int, Meta(description="The responses that matched.")]
    passed: Annotated[int, Meta(description="Those of them that were gone through.")]
    changed: Annotated[int, Meta(description="Those that got or lost the tag.")]
    undone: Annotated[int, Meta(description="Those that were changed back.")]
    created_by: Annotated[str, Hidden()]
    actor_kind: Annotated[str, Hidden()]
    version: Annotated[int, Hidden()]
    created_time: datetime


_COLUMNS: Final = columns_of(TaggingRecord)
_OPEN: Final[LiteralString] = "r.changed is null"


async def _claim_tagging(db: Database) -> TaggingRecord | None:  # any tenant: workers serve all
    return await db.records(TaggingRecord).fetch_row(
        f"""select {_COLUMNS} from tagging where state in ('running', 'undoing')
            order by updated_time limit 1 for update skip locked"""
    )


async def _list_next(db: Database, *, organization_id: str, tagging_id: str, is_back: bool, limit: int) -> list[str]:
    """The next responses to go through, or to change back."""
    waiting: LiteralString = "r.changed" if is_back else _OPEN
    return await db.fetch_column(
        f"""select r.instance_id from tagging_response r where r.organization_id = $1 and r.tagging_id = $2
              and {waiting} order by r.instance_id limit $3""",
        *(organization_id, tagging_id, limit),
    )


async def _settle_part(
    db: Database, *, tagging: TaggingRecord, instance_ids: Sequence[str], changed_ids: Sequence[str], now: datetime
) -> TaggingRecord:
    """These responses are gone through, and so many of them were changed, or changed back."""
    is_back, is_over = tagging.state == "undoing", len(instance_ids) < PART
    state = ("undone" if is_over else "undoing") if is_back else ("done" if is_over else "running")
    return await db.records(TaggingRecord).fetch_one(
        f"""with gone as (
              update tagging_response set changed = (instance_id = any($4::text[]) and not $5)
              where organization_id = $1 and tagging_id = $2 and instance_id = any($3::text[]))
            update tagging t set state = $6, updated_time = $7, version = t.version + 1,
              passed = t.passed + case when $5 then 0 else cardinality($3) end,
              changed = t.changed + case when $5 then 0 else cardinality($4) end,
              undone = t.undone + case when $5 then cardinality($4) else 0 end
            where t.organization_id = $1 and t.tagging_id = $2 returning {qualified(_COLUMNS, "t")}""",
        *(tagging.organization_id, tagging.tagging_id, list(instance_ids), list(changed_ids), is_back, state, now),
    )


async def _update_to_undoing(db: Database, *, organization_id: str, tagging_id: str, now: datetime) -> None:
    await db.execute(
        """update tagging set state = 'undoing', updated_time = $3, version = version + 1
           where organization_id = $1 and tagging_id = $2""",
        *(organization_id, tagging_id, now),
    )


PART: Final = 200  # responses that are changed in one transaction
KEEP_DAYS: Final = 30
PRUNED_MAX: Final = 5  # taggings, each of up to FOUND_MAX responses


async def begin(
    db: Database,
    wanted: RequestedResponses,
    *,
    tag: str,
    action: Action,
    instance_ids: Sequence[str] | None = None,
    now: datetime,
) -> TaggingRecord:
    """Note the responses that match, or of these ids those that do, and change the first of them.

    Raises Invalid for what is no tag, and for more than FOUND_MAX responses.
    """
    caller = wanted.caller
    caller.require("Tag.Create" if action == "add" else "Tag.Delete")
    word = _word(tag)
    found = await service.select(db, wanted, among=instance_ids, limit=FOUND_MAX)
    instance_ids = [instance_id for instance_id, _ in found]
    return await _insert_tagging(db, caller=caller, tag=word, action=action, instance_ids=instance_ids, now=now)


async def remove_everywhere(
    db: Database, *, caller: Caller, tag: str, expect: errors.Expect = errors.ANY, now: datetime
) -> TaggingRecord:
    """Remove a tag from all that have it. Raises NotFound, Forbidden, Invalid for more than FOUND_MAX."""
    caller.require_whole()
    caller.require_real()
    word = tags.named(tag)
    found = await tags.list_instance_ids(db, organization_id=caller.organization_id, tag=word, limit=FOUND_MAX + 1)
    if not found:
        raise errors.NotFound("There is no such tag.")
    expect(tags.VERSION)
    if len(found) > FOUND_MAX:
        message = f"More than {FOUND_MAX:,} responses have this tag: remove it by period, from the list of responses."
        raise errors.Invalid.at("/tag", "too_many", message)
    return await _insert_tagging(db, caller=caller, tag=word, action="remove", instance_ids=found, now=now)


async def _insert_tagging(
    db: Database, *, caller: Caller, tag: str, action: Action, instance_ids: Sequence[str], now: datetime
) -> TaggingRecord:
    """Note these responses, and change the first of them."""
    row = await db.fetch_one(
        f"""with made as (
              insert into tagging (organization_id, tagging_id, tag, action, found, created_by, actor_kind,
                created_time, updated_time)
              values ($1, $2, $3, $4, cardinality($5::text[]), $6, $7, $8, $8) returning {_COLUMNS}),
            noted as (
              insert into tagging_response (organization_id, tagging_id, instance_id)
              select $1, $2, unnest($5))
            select {_COLUMNS} from made""",
        *(caller.organization_id, ids.ordered(now), tag, action, list(instance_ids)),
        *(caller.actor_id, caller.actor_kind, now),
    )
    return await _do_part(db, tagging=TaggingRecord(**row), now=now)


def _word(text: str) -> str:
    try:
        return instances.normalise(text)
    except instances.InvalidTag as error:
        raise errors.Invalid.at("/tag", error.code, str(error)) from None


async def get_record(db: Database, *, caller: Caller, tagging_id: str, is_locked: bool = False) -> TaggingRecord:
    """A tagging of the caller's own.

    Raises NotFound, also where one of its responses is of another application, or no test for a token for tests.
    """
    lock: LiteralString = "for update" if is_locked else ""
    row = await db.fetch_row(
        f"""select {_COLUMNS} from tagging t
            where t.organization_id = $1 and t.tagging_id = $2 and t.created_by = $3
              and (cardinality($4::text[]) = 0 and not $5 or not exists (
                select from tagging_response r
                join questionnaire_instance i on i.organization_id = $1 and i.instance_id = r.instance_id
                join questionnaire q on q.organization_id = $1 and q.questionnaire_id = i.questionnaire_id
                where r.organization_id = $1 and r.tagging_id = $2 and ($5 and not i.test
                  or cardinality($4) > 0 and q.owner_application_id <> all($4)))) {lock}""",
        *(caller.organization_id, tagging_id, caller.actor_id, list(caller.application_ids), caller.test),
    )
    return TaggingRecord(**errors.found(row, "There is no such tagging."))


async def undo(
    db: Database, *, caller: Caller, tagging_id: str, expect: errors.Expect = errors.ANY, now: datetime
) -> TaggingRecord:
    """Change back what was changed, also while it is under way; again it does nothing.

    `expect` is told the version. Raises NotFound, and what it raises.
    """
    found = await get_record(db, caller=caller, tagging_id=tagging_id, is_locked=True)
    expect(found.version)
    if found.state not in {"running", "done"}:
        return found
    await _update_to_undoing(db, organization_id=caller.organization_id, tagging_id=tagging_id, now=now)
    return await _do_part(db, tagging=await get_record(db, caller=caller, tagging_id=tagging_id), now=now)


async def work_next(db: Database, *, now: datetime) -> int:
    """Do a part of the tagging that has waited longest; 0 where none is open."""
    tagging = await _claim_tagging(db)
    if tagging is None:
        return 0
    await _do_part(db, tagging=tagging, now=now)
    return 1


async def _do_part(db: Database, *, tagging: TaggingRecord, now: datetime) -> TaggingRecord:
    key = {"organization_id": tagging.organization_id}
    is_back = tagging.state == "undoing"
    instance_ids = await _list_next(db, **key, tagging_id=tagging.tagging_id, is_back=is_back, limit=PART)
    changed = await tags.change_many(
        db,
        **key,
        instance_ids=instance_ids,
        tag=tagging.tag,
        adds=(tagging.action == "add") is not is_back,
        actor=Actor(tagging.actor_kind, tagging.created_by),
        now=now,
    )
    return await _settle_part(db, tagging=tagging, instance_ids=instance_ids, changed_ids=changed, now=now)


PATH: Final = "/q/response/tag"
TAGS: Final = "/tag"
ONE_TAG: Final = "/tag/{tag}"
IDS_MAX: Final = 500
routes = Routes(tag="Responses", scope="Tag")


class TaggingRequest(fields.Request, forbid_unknown_fields=True):
    """A tag, and the responses that get or lose it: all that match the filter, or those of these ids."""

    tag: Annotated[str, Meta(min_length=1, max_length=TAG_CHARACTERS_MAX, examples=["call back"])]
    action: Annotated[Literal["add", "remove"], Meta(description="Removing also needs the scope Tag.Delete.")] = "add"
    filter: Annotated[ResponseFilter, Meta(description="As of the search of responses.")] = field(
        default_factory=ResponseFilter
    )
    instance_ids: Annotated[
        Annotated[list[fields.Id], Meta(max_length=IDS_MAX)] | None,
        Meta(description="Those of them that match; null: all that match, at most ten thousand."),
    ] = None


Tagging: Final = shown_as("Tagging", TaggingRecord)


class TagUpdate(fields.Request):
    """Another name for a tag."""

    tag: Annotated[str, Meta(min_length=1, max_length=TAG_CHARACTERS_MAX, examples=["late delivery"])] | UnsetType = (
        UNSET
    )


class CountedTag(fields.Resource):
    """A tag of the organization, and the number of its responses."""

    tag: str
    count: Annotated[int, Meta(description="Up to ten thousand.")]
    is_part: Annotated[bool, Meta(description="There are more than that.")]


TAG_LISTING: Final = fields.listing_of(CountedTag, order=(("tag", "asc"),), id="tag_key")


@routes.list(TAGS, answer=CountedTag, listing=TAG_LISTING, summary="Get the tags of the organization")
async def list_organization_tags(call: Call[None], db: Database) -> Answer:
    return Answer(record=await tags.list_words(db, **call.caller.reach, page=call.page))


@routes.patch(
    ONE_TAG,
    texts=("tag",),
    answer=CountedTag,
    summary="Rename a tag",
    description="On all responses, of which at most ten thousand have it. 409 where there is a tag of the new name.",
    refusals=("already_exists",),
)
async def rename_tag(call: Call[TagUpdate], db: Database) -> Answer:
    text = call.ids["tag"]
    to = text if call.body.tag is UNSET else call.body.tag
    tag = await tags.rename(db, caller=call.caller, text=text, to=to, expect=call.expect, now=call.now)
    ids = await tags.list_instance_ids(db, organization_id=call.caller.organization_id, tag=tag, limit=tags.RENAMED_MAX)
    return Answer(CountedTag(tag=tag, count=len(ids), is_part=False))


@routes.delete(
    ONE_TAG,
    texts=("tag",),
    summary="Remove a tag from all responses",
    description="At most ten thousand. Workers go on with what the request left.",
)
async def delete_tag(call: Call[None], db: Database) -> None:
    await remove_everywhere(db, caller=call.caller, **call.ids, expect=call.expect, now=call.now)


@routes.post(
    PATH,
    answer=Tagging,
    summary="Tag responses",
    description="At most ten thousand, and no response gets more than fifty tags.",
)
async def tag_responses(call: Call[TaggingRequest], db: Database) -> Answer:
    body = call.body
    wanted = await requested_of(db, call.caller, body.filter, instance_ids=body.instance_ids or (), at="/filter")
    made = await begin(db, wanted, tag=body.tag, action=body.action, instance_ids=body.instance_ids, now=call.now)
    return Answer(record=made, location=f"{PATH}/{made.tagging_id}")


@routes.get(f"{PATH}/{{tagging_id}}", answer=Tagging, summary="Get the progress of tagging")
async def get_tagging(call: Call[None], db: Database) -> Answer:
    return Answer(record=await get_record(db, caller=call.caller, **call.ids))


@routes.delete(
    f"{PATH}/{{tagging_id}}",
    scope="Tag.Create",
    summary="Undo tagging",
    description="Changes back what it changed, within thirty days; GET tells how far that has come.",
)
async def undo_tagging(call: Call[None], db: Database) -> None:
    await undo(db, caller=call.caller, **call.ids, expect=call.expect, now=call.now)
