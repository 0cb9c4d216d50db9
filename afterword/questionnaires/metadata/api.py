"""The HTTP interface of metadata definitions: five operations each for questionnaires and responders."""

from typing import Annotated, Any, Final, Literal

from msgspec import Meta

from afterword.core.questionnaires.metadata import Kind
from afterword.db import Database
from afterword.questionnaires.metadata import service, store
from afterword.web import fields
from afterword.web.fields import UNSET, UnsetType
from afterword.web.members import listing_of
from afterword.web.operations import Answer, Call, Routes

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
QUESTIONNAIRE: Final = "/q/metadata/questionnaire"
RESPONDER: Final = "/q/metadata/responder"
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


@routes.get(
    QUESTIONNAIRE,
    scope="Metadata.Read",
    answer=MetadataDefinition,
    shape="array",
    listing=listing_of(MetadataDefinition),
    summary="Get all questionnaire metadata definitions",
)
async def list_questionnaire_metadata(call: Call[None], db: Database) -> Answer:
    return await _list(call, db, "questionnaire")


@routes.post(
    QUESTIONNAIRE,
    scope="Metadata.Create",
    body=MetadataDefinitionRequest,
    answer=MetadataDefinition,
    summary="Declare questionnaire metadata",
    description=CREATE,
    refusals=("already_exists",),
)
async def declare_questionnaire_metadata(call: Call[MetadataDefinitionRequest], db: Database) -> Answer:
    return await _declare(call, db, "questionnaire")


@routes.get(
    f"{QUESTIONNAIRE}/{{metadata_id}}",
    scope="Metadata.Read",
    answer=MetadataDefinition,
    summary="Get questionnaire metadata definition",
)
async def get_questionnaire_metadata(call: Call[None], db: Database) -> Answer:
    return await _get(call, db, "questionnaire")


@routes.patch(
    f"{QUESTIONNAIRE}/{{metadata_id}}",
    scope="Metadata.Update",
    body=MetadataDefinitionUpdate,
    answer=MetadataDefinition,
    summary="Update questionnaire metadata definition",
)
async def change_questionnaire_metadata(call: Call[MetadataDefinitionUpdate], db: Database) -> Answer:
    return await _change(call, db, "questionnaire")


@routes.delete(
    f"{QUESTIONNAIRE}/{{metadata_id}}",
    scope="Metadata.Delete",
    summary="Delete questionnaire metadata definition",
    description="Values of the name stay; they are undeclared from now on.",
)
async def delete_questionnaire_metadata(call: Call[None], db: Database) -> Answer:
    return await _delete(call, db, "questionnaire")


@routes.get(
    RESPONDER,
    scope="Metadata.Read",
    answer=MetadataDefinition,
    shape="array",
    listing=listing_of(MetadataDefinition),
    summary="Get all responder metadata definitions",
)
async def list_responder_metadata(call: Call[None], db: Database) -> Answer:
    return await _list(call, db, "responder")


@routes.post(
    RESPONDER,
    scope="Metadata.Create",
    body=MetadataDefinitionRequest,
    answer=MetadataDefinition,
    summary="Declare responder metadata",
    description=CREATE,
    refusals=("already_exists",),
)
async def declare_responder_metadata(call: Call[MetadataDefinitionRequest], db: Database) -> Answer:
    return await _declare(call, db, "responder")


@routes.get(
    f"{RESPONDER}/{{metadata_id}}",
    scope="Metadata.Read",
    answer=MetadataDefinition,
    summary="Get responder metadata definition",
)
async def get_responder_metadata(call: Call[None], db: Database) -> Answer:
    return await _get(call, db, "responder")


@routes.patch(
    f"{RESPONDER}/{{metadata_id}}",
    scope="Metadata.Update",
    body=MetadataDefinitionUpdate,
    answer=MetadataDefinition,
    summary="Update responder metadata definition",
)
async def change_responder_metadata(call: Call[MetadataDefinitionUpdate], db: Database) -> Answer:
    return await _change(call, db, "responder")


@routes.delete(
    f"{RESPONDER}/{{metadata_id}}",
    scope="Metadata.Delete",
    summary="Delete responder metadata definition",
    description="Values of the name stay; they are undeclared from now on.",
)
async def delete_responder_metadata(call: Call[None], db: Database) -> Answer:
    return await _delete(call, db, "responder")


async def _list(call: Call[None], db: Database, kind: Kind) -> Answer:
    rows = await store.list_definitions(
        db,
        organization_id=call.caller.organization_id,
        kind=kind,
        application_ids=call.caller.application_ids,
        page=call.page,
    )
    return Answer(MetadataDefinition.of_rows(rows, call.zone))


async def _declare(call: Call[MetadataDefinitionRequest], db: Database, kind: Kind) -> Answer:
    body = call.body
    new = service.NewDefinition(
        kind=kind,
        name=body.name,
        title=body.title,
        type=body.type,
        anonymize=body.anonymize,
        level=body.level,
        application_id=body.application_id,
        application_type_id=body.application_type_id,
    )
    definition = await service.declare(db, caller=call.caller, new=new, now=call.now)
    return _answer(call, definition, location=f"/q/metadata/{kind}/{definition.metadata_id}")


async def _get(call: Call[None], db: Database, kind: Kind) -> Answer:
    return _answer(call, await service.get(db, caller=call.caller, kind=kind, metadata_id=call.ids["metadata_id"]))


async def _change(call: Call[MetadataDefinitionUpdate], db: Database, kind: Kind) -> Answer:
    named = call.body.named()
    definition = await service.change(
        db,
        caller=call.caller,
        kind=kind,
        metadata_id=call.ids["metadata_id"],
        title=named.get("title"),
        anonymize=named.get("anonymize"),
        check_version=call.check_version,
        now=call.now,
    )
    return _answer(call, definition)


async def _delete(call: Call[None], db: Database, kind: Kind) -> Answer:
    await service.delete(
        db, caller=call.caller, kind=kind, metadata_id=call.ids["metadata_id"], check_version=call.check_version
    )
    return Answer()


def _answer(call: Call[Any], definition: store.Definition, *, location: str | None = None) -> Answer:
    return Answer(MetadataDefinition.of(definition, call.zone), version=definition.version, location=location)
