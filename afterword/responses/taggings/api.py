"""The HTTP routes of tags for many responses."""

from typing import Annotated, Final, Literal

from msgspec import Meta, field

from afterword.core.answers.tags import TAG_CHARACTERS_MAX
from afterword.db import Database
from afterword.responses.api import ResponseQuery, check_filter, filter_of
from afterword.responses.taggings import service
from afterword.web import fields
from afterword.web.operations import Answer, Call, Routes

PATH: Final = "/q/response/tag"
IDS_MAX: Final = 500
routes = Routes(tag="Responses")


class TaggingRequest(fields.Request):
    """A tag, and the responses that get or lose it: all that match the filter, or those of these ids."""

    tag: Annotated[str, Meta(min_length=1, max_length=TAG_CHARACTERS_MAX, examples=["call back"])]
    action: Annotated[Literal["add", "remove"], Meta(description="Removing also needs the scope Tag.Delete.")] = "add"
    filter: Annotated[ResponseQuery, Meta(description="As of the list of responses.")] = field(
        default_factory=ResponseQuery
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
        instance_ids=call.body.instance_ids,
        now=call.now,
    )
    return Answer(record=made, location=f"{PATH}/{made.tagging_id}")


@routes.get(f"{PATH}/{{tagging_id}}", scope="Tag.Read", answer=Tagging, summary="Get the progress of tagging")
async def get_tagging(call: Call[None], db: Database) -> Answer:
    return Answer(record=await service.get(db, caller=call.caller, tagging_id=call.ids["tagging_id"]))


@routes.delete(
    f"{PATH}/{{tagging_id}}",
    scope="Tag.Create",
    summary="Undo tagging",
    description="Changes back what it changed, within thirty days; GET tells how far that has come.",
)
async def undo_tagging(call: Call[None], db: Database) -> None:
    await service.undo(
        db, caller=call.caller, tagging_id=call.ids["tagging_id"], expect=call.check_version, now=call.now
    )
