"""The HTTP routes of tags for many responses."""

from typing import Annotated, Final, Literal

from msgspec import UNSET, Meta, UnsetType, field

from afterword.asking.instances.tags import service as tags
from afterword.asking.instances.tags import store as tags_store
from afterword.core.answers.tags import TAG_CHARACTERS_MAX
from afterword.kit.db import Database
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call, Routes
from afterword.listening.responses import service as responses
from afterword.listening.responses.api import ResponseFilter, check_filter, filter_of
from afterword.listening.responses.taggings import service

PATH: Final = "/q/response/tag"
TAGS: Final = "/tag"
ONE_TAG: Final = "/tag/{tag}"
IDS_MAX: Final = 500
routes = Routes(tag="Responses")


class TaggingRequest(fields.Request):
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


class Tagging(fields.Resource):
    """A tag for many responses, and how far it has come; a worker goes on with what the request left."""

    tagging_id: fields.Id
    tag: str
    action: Annotated[Literal["add", "remove"], Meta(description="Whether the tag is added or removed.")]
    state: Annotated[
        Literal["running", "done", "undoing", "undone"], Meta(description="Running and undoing ones go on.")
    ]
    found: Annotated[int, Meta(description="The responses that matched.")]
    passed: Annotated[int, Meta(description="Those of them that were gone through.")]
    changed: Annotated[int, Meta(description="Those that got or lost the tag.")]
    undone: Annotated[int, Meta(description="Those that were changed back.")]
    created_time: fields.DateTime


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


@routes.list(TAGS, scope="Tag.Read", answer=CountedTag, listing=TAG_LISTING, summary="Get the tags of the organization")
async def list_organization_tags(call: Call[None], db: Database) -> Answer:
    return Answer(record=await tags_store.list_words(db, **call.caller.reach, page=call.page))


@routes.patch(
    ONE_TAG,
    scope="Tag.Update",
    texts=("tag",),
    body=TagUpdate,
    answer=CountedTag,
    summary="Rename a tag",
    description="On all responses, of which at most ten thousand have it. 409 where there is a tag of the new name.",
    refusals=("already_exists",),
)
async def rename_tag(call: Call[TagUpdate], db: Database) -> Answer:
    text = call.ids["tag"]
    to = text if call.body.tag is UNSET else call.body.tag
    tag = await tags.rename(db, caller=call.caller, text=text, to=to, expect=call.expect, now=call.now)
    ids = await tags_store.list_instance_ids(
        db, organization_id=call.caller.organization_id, tag=tag, limit=tags.RENAMED_MAX
    )
    return Answer(CountedTag(tag=tag, count=len(ids), is_part=False))


@routes.delete(
    ONE_TAG,
    scope="Tag.Delete",
    texts=("tag",),
    summary="Remove a tag from all responses",
    description="At most ten thousand. Workers go on with what the request left.",
)
async def delete_tag(call: Call[None], db: Database) -> None:
    await service.remove_everywhere(db, caller=call.caller, **call.ids, expect=call.expect, now=call.now)


@routes.post(
    PATH,
    scope="Tag.Create",
    body=TaggingRequest,
    answer=Tagging,
    summary="Tag responses",
    description="At most ten thousand, and no response gets more than fifty tags.",
)
async def tag_responses(call: Call[TaggingRequest], db: Database) -> Answer:
    await check_filter(call.caller, call.body.filter, db, instance_ids=call.body.instance_ids or (), at="/filter")
    made = await service.begin(
        db,
        caller=call.caller,
        tag=call.body.tag,
        action=call.body.action,
        chosen=filter_of(call.caller, call.body.filter),
        application_id=call.body.filter.application_id,
        condition=responses.read_condition(call.caller, call.body.filter.condition, path="/filter/condition"),
        instance_ids=call.body.instance_ids,
        now=call.now,
    )
    return Answer(record=made, location=f"{PATH}/{made.tagging_id}")


@routes.get(f"{PATH}/{{tagging_id}}", scope="Tag.Read", answer=Tagging, summary="Get the progress of tagging")
async def get_tagging(call: Call[None], db: Database) -> Answer:
    return Answer(record=await service.get(db, caller=call.caller, **call.ids))


@routes.delete(
    f"{PATH}/{{tagging_id}}",
    scope="Tag.Create",
    summary="Undo tagging",
    description="Changes back what it changed, within thirty days; GET tells how far that has come.",
)
async def undo_tagging(call: Call[None], db: Database) -> None:
    await service.undo(db, caller=call.caller, **call.ids, expect=call.expect, now=call.now)
