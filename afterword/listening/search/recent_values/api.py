"""The HTTP routes of the metadata that arrived lately."""

from typing import Annotated, Final

from msgspec import Meta

from afterword.core.questionnaires.metadata import Kind
from afterword.kit.db import Database
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call, Routes
from afterword.listening.search.recent_values import service

routes = Routes(tag="Metadata")
DESCRIPTION: Final = (
    f"The names that the newest {service.NEWEST:,} {{of}} have, by name, with the {service.VALUES_MAX} most frequent "
    "values of each: to see what a system sends, and which names nobody declared."
)


class SeenMetadataValue(fields.Answer):
    value: str
    count: Annotated[int, Meta(description="How many have it.")]


class SeenMetadata(fields.Answer):
    """A name of metadata that arrived lately."""

    name: str
    declared: Annotated[bool, Meta(description="Whether a definition of this name exists.")]
    count: Annotated[int, Meta(description="How many have the name.")]
    values_count: Annotated[int, Meta(description="How many different values it has.")]
    values: Annotated[list[SeenMetadataValue], Meta(description="Its most frequent values.")]


@routes.get(
    "/q/metadata/seen/questionnaire",
    scope="Metadata.Read",
    more_scopes=("Questionnaire Value.Read",),
    answer=SeenMetadata,
    shape="array",
    summary="Get questionnaire metadata seen lately",
    description=DESCRIPTION.format(of="instances"),
)
async def list_seen_of_questionnaires(call: Call[None], db: Database) -> Answer:
    return await _seen(call, db, "questionnaire")


@routes.get(
    "/q/metadata/seen/responder",
    scope="Metadata.Read",
    more_scopes=("Responder Value.Read",),
    answer=SeenMetadata,
    shape="array",
    summary="Get responder metadata seen lately",
    description=DESCRIPTION.format(of="responders"),
)
async def list_seen_of_responders(call: Call[None], db: Database) -> Answer:
    return await _seen(call, db, "responder")


async def _seen(call: Call[None], db: Database, kind: Kind) -> Answer:
    found = await service.find(db, caller=call.caller, kind=kind)
    return Answer(
        [
            SeenMetadata(
                name=one.name,
                declared=one.declared,
                count=one.count,
                values_count=one.values_count,
                values=[SeenMetadataValue(value=each.value, count=each.count) for each in one.values],
            )
            for one in found
        ]
    )
