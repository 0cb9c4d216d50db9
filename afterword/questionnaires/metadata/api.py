"""The HTTP interface of metadata definitions: five operations each for questionnaires and responders."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from afterword.core.questionnaires.metadata import Kind
from afterword.core.wire.lists import Rows
from afterword.db import Database
from afterword.questionnaires.metadata import service, store
from afterword.web import fields
from afterword.web.fields import UNSET, UnsetType
from afterword.web.operations import Answer, Call, Handler, Routes

routes = Routes(tag="Metadata")

Name = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=64,
        pattern=r"^[A-Za-z][A-Za-z0-9_]*(?![\s\S])",
        examples=["transaction_id"],
        extra={"expected": "A letter first, then letters, digits and underscores."},
    ),
]
CREATE: Final = (
    "The level `application` wants an `application_id`, `application_type` an `application_type_id`, `organization` "
    "neither. Of one name the narrowest definition decides."
)


class MetadataDefinitionRequest(fields.Request):
    """A name to declare."""

    name: Name
    title: fields.Text200
    type: Literal["text", "number", "date", "boolean"]
    anonymize: bool = False
    level: Literal["application_type", "application", "organization"] = "application"
    application_id: fields.Id | None = None
    application_type_id: fields.Id | None = None


class MetadataDefinitionUpdate(fields.Request):
    """The members of a definition that may change; its type may not, because values are compared by it."""

    title: fields.Text200 | UnsetType = UNSET
    anonymize: bool | UnsetType = UNSET


class MetadataDefinition(fields.Resource):
    """A declared name; those of level `global` belong to the product and are read-only."""

    metadata_id: fields.Id
    kind: Literal["questionnaire", "responder"]
    name: str
    title: str
    type: Literal["text", "number", "date", "boolean"]
    anonymize: bool
    level: Literal["global", "application_type", "application", "organization"]
    application_id: fields.Id | None
    application_type_id: fields.Id | None
    read_only: bool
    created_time: fields.DateTime
    updated_time: fields.DateTime
    created_by: fields.Id | None
    updated_by: fields.Id | None


async def _list(call: Call[None], db: Database, kind: Kind) -> Rows[store.Definition]:
    return await store.list_definitions(db, **call.caller.part, kind=kind, page=call.page)


async def _declare(call: Call[MetadataDefinitionRequest], db: Database, kind: Kind) -> Answer:
    columns = msgspec.structs.asdict(call.body)
    definition = await service.declare(db, caller=call.caller, kind=kind, columns=columns, now=call.now)
    return Answer(record=definition, location=f"/q/metadata/{kind}/{definition.metadata_id}")


async def _get(call: Call[None], db: Database, kind: Kind) -> store.Definition:
    return await service.get(db, caller=call.caller, kind=kind, **call.ids)


async def _change(call: Call[MetadataDefinitionUpdate], db: Database, kind: Kind) -> store.Definition:
    return await service.change(
        db, caller=call.caller, kind=kind, **call.ids, columns=call.body.named(), expect=call.expect, now=call.now
    )


async def _delete(call: Call[None], db: Database, kind: Kind) -> None:
    await service.delete(db, caller=call.caller, kind=kind, **call.ids, expect=call.expect)


def _handler(function: Callable[[Call[Any], Database, Kind], Awaitable[object]], kind: Kind, name: str) -> Handler:
    async def handler(call: Call[Any], db: Database) -> object:
        return await function(call, db, kind)

    handler.__name__ = name
    return handler


KINDS: Final[tuple[Kind, ...]] = ("questionnaire", "responder")
for _kind in KINDS:
    _all, _one = f"/q/metadata/{_kind}", f"/q/metadata/{_kind}/{{metadata_id}}"
    routes.get(
        _all,
        scope="Metadata.Read",
        answer=MetadataDefinition,
        shape="array",
        listing=fields.listing_of(MetadataDefinition),
        summary=f"Get all {_kind} metadata definitions",
    )(_handler(_list, _kind, f"list_{_kind}_metadata"))
    routes.post(
        _all,
        scope="Metadata.Create",
        body=MetadataDefinitionRequest,
        answer=MetadataDefinition,
        summary=f"Declare {_kind} metadata",
        description=CREATE,
        refusals=("already_exists",),
    )(_handler(_declare, _kind, f"declare_{_kind}_metadata"))
    routes.get(_one, scope="Metadata.Read", answer=MetadataDefinition, summary=f"Get {_kind} metadata definition")(
        _handler(_get, _kind, f"get_{_kind}_metadata")
    )
    routes.patch(
        _one,
        scope="Metadata.Update",
        body=MetadataDefinitionUpdate,
        answer=MetadataDefinition,
        summary=f"Update {_kind} metadata definition",
    )(_handler(_change, _kind, f"change_{_kind}_metadata"))
    routes.delete(
        _one,
        scope="Metadata.Delete",
        summary=f"Delete {_kind} metadata definition",
        description="Values of the name stay; they are undeclared from now on.",
    )(_handler(_delete, _kind, f"delete_{_kind}_metadata"))
