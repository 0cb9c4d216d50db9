"""The SQL of metadata definitions: the organization's, joined with the product's."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Final, LiteralString

from afterword import errors
from afterword.core.questionnaires import metadata
from afterword.core.questionnaires.metadata import Kind, Level, MetadataDefinition, Type
from afterword.core.wire.lists import Page, Rows
from afterword.db import Database
from afterword.db.columns import columns_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    metadata_id: str
    kind: Kind
    name: str
    title: str
    type: Type
    anonymize: bool
    level: Level
    application_id: str | None
    application_type_id: str | None
    read_only: bool
    version: int
    created_time: datetime
    updated_time: datetime
    created_by: str | None
    updated_by: str | None

    @classmethod
    def of_product(cls, one: MetadataDefinition) -> "Definition":
        return cls(
            **asdict(one),
            application_id=None,
            read_only=True,
            version=1,
            created_time=_BEGINNING,
            updated_time=_BEGINNING,
            created_by=None,
            updated_by=None,
        )


_BEGINNING: Final = datetime(2026, 1, 1, tzinfo=UTC)  # `created_time` of the product's names
_STORED: Final = columns_of(Definition, without=("read_only",))
_COLUMNS: Final[LiteralString] = f"{_STORED}, false as read_only"


async def list_definitions(
    db: Database, *, organization_id: str, kind: Kind, application_ids: Sequence[str] = (), page: Page
) -> Rows[Definition]:
    rows = await db.fetch_list(
        f"""select {_COLUMNS} from metadata_definition where organization_id = $1 and kind = $2
             and (cardinality($3::text[]) = 0 or application_id is null or application_id = any($3))
           union all
           select {_STORED}, read_only
           from jsonb_to_recordset($4::jsonb) as product (metadata_id text, kind text, name text,
             title text, type text, anonymize boolean, level text, application_id text, application_type_id text,
             read_only boolean, version bigint, created_time timestamptz, updated_time timestamptz, created_by text,
             updated_by text)""",
        organization_id,
        kind,
        list(application_ids),
        [Definition.of_product(one) for one in metadata.PRODUCT if one.kind == kind],
        page=page,
    )
    return rows.map(lambda row: Definition(**row))


async def get_definition(
    db: Database, *, organization_id: str, kind: Kind, metadata_id: str, application_ids: Sequence[str] = ()
) -> Definition:
    row = await db.fetch_row(
        f"""select {_COLUMNS} from metadata_definition
           where organization_id = $1 and kind = $2 and metadata_id = $3
             and (cardinality($4::text[]) = 0 or application_id is null or application_id = any($4))""",
        *(organization_id, kind, metadata_id, list(application_ids)),
    )
    if row is None:
        raise errors.NotFound("There is no such definition.")
    return Definition(**row)


async def get_declared(
    db: Database, *, organization_id: str, application_id: str
) -> tuple[str, list[MetadataDefinition]] | None:
    """The type of an application and its organization's declarations; None if it is unknown."""
    rows = await db.fetch(
        """select a.application_type_id as type_id, d.metadata_id, d.kind, d.name, d.title, d.type, d.anonymize,
             d.level, d.application_type_id
           from application a left join metadata_definition d on d.organization_id = a.organization_id
             and (d.level = 'organization' or d.application_id = a.application_id
                  or d.application_type_id = a.application_type_id)
           where a.organization_id = $1 and a.application_id = $2""",
        *(organization_id, application_id),
    )
    if not rows:
        return None
    names = ("name", "kind", "title", "type", "anonymize", "level", "metadata_id", "application_type_id")
    found = [MetadataDefinition(*(row[name] for name in names)) for row in rows if row["metadata_id"] is not None]
    return str(rows[0]["type_id"]), found


async def claim_names(db: Database, *, organization_id: str) -> None:
    """Let one transaction at a time declare names in an organization, so that their limit holds."""
    await db.execute("select pg_advisory_xact_lock(hashtextextended('metadata:' || $1, 0))", organization_id)


async def count_definitions(db: Database, *, organization_id: str, kind: Kind) -> int:
    return await db.fetch_value(
        "select count(*) from metadata_definition where organization_id = $1 and kind = $2", organization_id, kind
    )


async def insert_definition(
    db: Database,
    *,
    organization_id: str,
    metadata_id: str,
    document: Mapping[str, object],
    now: datetime,
    by: str | None,
) -> Definition | None:
    """Returns None if the name is taken at its level."""
    row = await db.fetch_row(
        f"""insert into metadata_definition (organization_id, metadata_id, kind, name, title, type, anonymize, level,
             application_id, application_type_id, created_time, updated_time, created_by, updated_by)
           select $1, $2, d.kind, d.name, d.title, d.type, d.anonymize, d.level, d.application_id,
             d.application_type_id, $4, $4, $5, $5
           from jsonb_populate_record(null::metadata_definition, $3) d
           on conflict (organization_id, (kind || ':' || level || ':'
             || coalesce(application_id, application_type_id, '') || ':' || name)) do nothing
           returning {_COLUMNS}""",
        *(organization_id, metadata_id, document, now, by),
    )
    return Definition(**row) if row else None


async def update_definition(
    db: Database,
    *,
    organization_id: str,
    metadata_id: str,
    title: str | None = None,
    anonymize: bool | None = None,
    now: datetime,
    by: str | None,
) -> Definition | None:
    """Set the values that are not None; returns None without a change or a definition."""
    row = await db.fetch_row(
        f"""update metadata_definition set title = coalesce($3, title), anonymize = coalesce($4, anonymize),
             version = version + 1, updated_time = greatest($5, updated_time), updated_by = $6
           where organization_id = $1 and metadata_id = $2
             and (title <> coalesce($3, title) or anonymize <> coalesce($4, anonymize))
           returning {_COLUMNS}""",
        *(organization_id, metadata_id, title, anonymize, now, by),
    )
    return Definition(**row) if row else None


async def delete_definition(db: Database, *, organization_id: str, metadata_id: str) -> None:
    await db.execute(
        "delete from metadata_definition where organization_id = $1 and metadata_id = $2", organization_id, metadata_id
    )
