"""The HTTP interface of tags."""

from typing import Annotated, Final
from urllib.parse import quote

from msgspec import Meta

from afterword.asking.instances import service as instances
from afterword.asking.instances.tags import service, store
from afterword.core.answers.tags import TAG_CHARACTERS_MAX
from afterword.core.wire.lists import Rows
from afterword.kit.db import Database
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call, Routes

PATH: Final = "/q/instance/{instance_id}/tag"
Word = Annotated[str, Meta(min_length=1, max_length=TAG_CHARACTERS_MAX, examples=["call back"])]

routes = Routes(tag="Tags")


class TagRequest(fields.Request):
    """A tag to add."""

    tag: Word


class Tag(fields.Resource):
    """A tag of an instance, in lower case."""

    instance_id: fields.Id
    tag: str
    created_time: fields.DateTime
    created_by: fields.Id | None


@routes.list(
    PATH,
    scope="Tag.Read",
    answer=Tag,
    shape="array",
    listing=fields.listing_of(Tag, id="tag_key"),
    summary="Get all tags",
)
async def list_tags(call: Call[None], db: Database) -> Rows[service.Tag]:
    instance = await instances.get(db, caller=call.caller, **call.ids)
    return await store.list_tags(
        db, organization_id=instance.organization_id, instance_id=instance.instance_id, page=call.page
    )


@routes.post(
    PATH,
    scope="Tag.Create",
    body=TagRequest,
    answer=Tag,
    summary="Add tag",
    description="Trimmed and in lower case; one that is there already stays as it is. At most 50 an instance.",
)
async def add_tag(call: Call[TagRequest], db: Database) -> Answer:
    tag = await service.add(db, caller=call.caller, **call.ids, text=call.body.tag, now=call.now)
    location = f"/q/instance/{tag.instance_id}/tag/{quote(tag.tag, safe='')}"
    return Answer(Tag.of(tag, call.zone), version=service.VERSION, location=location)


@routes.delete(f"{PATH}/{{tag}}", scope="Tag.Delete", texts=("tag",), summary="Remove tag")
async def remove_tag(call: Call[None], db: Database) -> None:
    await service.remove(
        db,
        caller=call.caller,
        instance_id=call.ids["instance_id"],
        text=call.ids["tag"],
        now=call.now,
        expect=call.expect,
    )
