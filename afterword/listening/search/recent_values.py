"""Names and values of metadata that arrived lately, beside the names that are declared."""

from itertools import groupby
from operator import itemgetter
from typing import Annotated, Final, LiteralString

from msgspec import Meta

from afterword.asking.questionnaires import metadata
from afterword.core.organizations.access import Caller
from afterword.core.questionnaires.metadata import Kind
from afterword.core.wire.lists import Page
from afterword.kit.db import Database
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call, Routes


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


# The newest $3 instances of applications $2 (none: all), of tests or of all others, or responders.
_INSTANCES: Final[LiteralString] = """select i.metadata from questionnaire_instance i
    join questionnaire q on q.organization_id = i.organization_id and q.questionnaire_id = i.questionnaire_id
    where i.organization_id = $1 and i.deleted_time is null and i.test = $6
      and (cardinality($2::text[]) = 0 or q.owner_application_id = any($2))
    order by i.created_time desc, i.instance_id limit $3"""
_RESPONDERS: Final[LiteralString] = """select metadata from responder
    where organization_id = $1 and $2::text[] is not null and $6::boolean is not null
    order by created_time desc, responder_id limit $3"""
NEWEST: Final = 1_000  # instances or responders that are looked at
VALUES_MAX: Final = 20  # of a name
ROWS_MAX: Final = 4_000
DECLARED_MAX: Final = 1_000


async def list_values(db: Database, *, caller: Caller, kind: Kind) -> list[SeenMetadata]:
    """The names that the newest instances or responders have, by name. People are the whole organization's."""
    if kind == "responder":
        caller.require_whole()
        caller.require_real()
    newest: LiteralString = _RESPONDERS if kind == "responder" else _INSTANCES
    rows = await db.fetch(
        f"""with newest as ({newest}),
           found as (
             select e.key as name, e.value, count(*) as count,
               sum(count(*)) over (partition by e.key)::bigint as name_count,
               count(*) over (partition by e.key) as values_count,
               row_number() over (partition by e.key order by count(*) desc, e.value) as place
             from newest, jsonb_each_text(metadata) e group by 1, 2)
           select name, value, count, name_count, values_count from found where place <= $4
           order by name, count desc, value limit $5""",
        *(caller.organization_id, list(caller.application_ids), NEWEST, VALUES_MAX, ROWS_MAX, caller.test),
    )
    page = Page.first(metadata.LISTING, limit=DECLARED_MAX)
    definitions = await metadata.list_definitions(db, **caller.part, kind=kind, page=page)
    declared = {one.name for one in definitions.items}
    return [
        SeenMetadata(
            name=name,
            declared=name in declared,
            count=values[0]["name_count"],
            values_count=values[0]["values_count"],
            values=[SeenMetadataValue(value=each["value"], count=each["count"]) for each in values],
        )
        for name, values in ((name, list(group)) for name, group in groupby(rows, key=itemgetter("name")))
    ]


routes = Routes(tag="Metadata", scope="Metadata")


def _serve(kind: Kind, *, of: str) -> None:
    @routes.get(
        f"/q/metadata/seen/{kind}",
        name=f"list_seen_of_{kind}s",
        more_scopes=(f"{kind.capitalize()} Value.Read",),
        answer=SeenMetadata,
        shape="array",
        summary=f"Get {kind} metadata seen lately",
        description=f"The names that the newest {NEWEST:,} {of} have, by name, with the {VALUES_MAX} most frequent "
        "values of each: to see what a system sends, and which names nobody declared.",
    )
    async def list_seen(call: Call[None], db: Database) -> Answer:
        return Answer(await list_values(db, caller=call.caller, kind=kind))


_serve("questionnaire", of="instances")
_serve("responder", of="responders")
