"""Names and values of metadata that arrived lately, beside the names that are declared."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Annotated, Final, NamedTuple

from msgspec import Meta

from afterword.asking.questionnaires import metadata
from afterword.core.organizations.access import Caller
from afterword.core.questionnaires.metadata import Kind
from afterword.core.wire.lists import Page
from afterword.kit.db import Database
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call, Routes


class SeenValue(NamedTuple):
    """A value of a name. `count`: of it; `name_count`, `values_count`: of all values of the name."""

    name: str
    value: str
    count: int
    name_count: int
    values_count: int


async def _list_instance_values(
    db: Database,
    *,
    organization_id: str,
    application_ids: Sequence[str],
    test: bool,
    newest: int,
    values_max: int,
    limit: int,
) -> list[SeenValue]:
    """The values of the newest instances of these applications (none: all), of tests or of all others."""
    rows = await db.fetch(
        """with newest as (
             select i.metadata from questionnaire_instance i
             join questionnaire q on q.organization_id = i.organization_id and q.questionnaire_id = i.questionnaire_id
             where i.organization_id = $1 and i.deleted_time is null and i.test = $6
               and (cardinality($2::text[]) = 0 or q.owner_application_id = any($2))
             order by i.created_time desc, i.instance_id limit $3),
           found as (
             select e.key as name, e.value, count(*) as count,
               sum(count(*)) over (partition by e.key)::bigint as name_count,
               count(*) over (partition by e.key) as values_count,
               row_number() over (partition by e.key order by count(*) desc, e.value) as place
             from newest, jsonb_each_text(metadata) e group by 1, 2)
           select name, value, count, name_count, values_count from found where place <= $4
           order by name, count desc, value limit $5""",
        *(organization_id, list(application_ids), newest, values_max, limit, test),
    )
    return [SeenValue(*row) for row in rows]


async def _list_responder_values(
    db: Database, *, organization_id: str, newest: int, values_max: int, limit: int
) -> list[SeenValue]:
    rows = await db.fetch(
        """with newest as (
             select metadata from responder where organization_id = $1
             order by created_time desc, responder_id limit $2),
           found as (
             select e.key as name, e.value, count(*) as count,
               sum(count(*)) over (partition by e.key)::bigint as name_count,
               count(*) over (partition by e.key) as values_count,
               row_number() over (partition by e.key order by count(*) desc, e.value) as place
             from newest, jsonb_each_text(metadata) e group by 1, 2)
           select name, value, count, name_count, values_count from found where place <= $3
           order by name, count desc, value limit $4""",
        *(organization_id, newest, values_max, limit),
    )
    return [SeenValue(*row) for row in rows]


NEWEST: Final = 1_000  # instances or responders that are looked at
VALUES_MAX: Final = 20  # of a name
ROWS_MAX: Final = 4_000
DECLARED_MAX: Final = 1_000


@dataclass(frozen=True, slots=True)
class SeenName:
    """A name, and its most frequent values. `count`: those that have it; `values_count`: of its different values."""

    name: str
    declared: bool
    count: int
    values_count: int
    values: Sequence[SeenValue]


async def find(db: Database, *, caller: Caller, kind: Kind) -> list[SeenName]:
    """The names that the newest instances or responders have, by name. People are the whole organization's."""
    organization_id = caller.organization_id
    if kind == "responder":
        caller.require_whole()
        caller.require_real()
        rows = await _list_responder_values(
            db, organization_id=organization_id, newest=NEWEST, values_max=VALUES_MAX, limit=ROWS_MAX
        )
    else:
        rows = await _list_instance_values(
            db,
            organization_id=organization_id,
            application_ids=caller.application_ids,
            test=caller.test,
            newest=NEWEST,
            values_max=VALUES_MAX,
            limit=ROWS_MAX,
        )
    definitions = await metadata.list_definitions(
        db,
        organization_id=organization_id,
        kind=kind,
        application_ids=caller.application_ids,
        page=Page.first(metadata.LISTING, limit=DECLARED_MAX),
    )
    declared = {one.name for one in definitions.items}
    return [
        SeenName(name, name in declared, values[0].name_count, values[0].values_count, values)
        for name, values in ((name, list(group)) for name, group in groupby(rows, key=lambda row: row.name))
    ]


routes = Routes(tag="Metadata")
DESCRIPTION: Final = (
    f"The names that the newest {NEWEST:,} {{of}} have, by name, with the {VALUES_MAX} most frequent "
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
    found = await find(db, caller=call.caller, kind=kind)
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
