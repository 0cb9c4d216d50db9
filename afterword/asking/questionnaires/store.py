"""The SQL of questionnaires and their immutable versions; groups and questions are parts of a definition."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Final, LiteralString, Unpack

import msgspec
from msgspec.structs import asdict

from afterword import errors
from afterword.core.organizations.access import Part, values_of
from afterword.core.questionnaires import definition as core_definition
from afterword.core.questionnaires.definition import Definition, Texts
from afterword.core.wire.lists import Column, Listing, Page, Rows
from afterword.kit.db import Database, Row
from afterword.kit.db.columns import columns_of, qualified
from afterword.kit.nouns.declaration import Hidden
from afterword.kit.web import fields

VERSIONS_KEPT_MAX = 500
VERSIONS_KEPT_BYTES_MAX = 16 << 20  # of JSON; the objects take about ten times as much


class Questionnaire(msgspec.Struct, frozen=True, kw_only=True):
    """A questionnaire; its content is in its groups and questions."""

    organization_id: Annotated[str, Hidden()]
    questionnaire_id: fields.Id
    owner_application_id: fields.Id
    slug: Annotated[str | None, Hidden()]
    display_name: str
    title: str | None
    description: str | None
    valid_days: int
    editable: bool
    template_questionnaire_id: fields.Id | None
    desktop_collapsed: bool
    non_collapsed_questions_count: int
    key_question_id: fields.Id | None
    credits_accountable: bool
    questionnaire_icon_url: str | None
    default_locale: str
    locales: Sequence[str]
    active: bool
    public_link: bool
    responses_max: int | None
    published_version_id: fields.Id | None  # null: nothing can be issued
    archived_time: datetime | None
    version: Annotated[int, Hidden()]
    created_time: datetime
    updated_time: datetime
    created_by: fields.Id | None
    updated_by: fields.Id | None

    @property
    def key(self) -> dict[str, str]:
        return {"organization_id": self.organization_id, "questionnaire_id": self.questionnaire_id}

    @property
    def own_texts(self) -> Texts:
        """Its title and description as customers see them; without a title they see the name."""
        return Texts(self.title or self.display_name, self.description)


class Version(msgspec.Struct, frozen=True, kw_only=True):
    organization_id: str
    version_id: str
    questionnaire_id: str
    number: int
    note: str | None
    definition: Definition
    checksum: str
    published_time: datetime
    published_by: str | None


QUESTIONNAIRE_COLUMNS: Final = columns_of(Questionnaire)
_SETTINGS: Final[LiteralString] = """display_name, title, description, valid_days, editable, desktop_collapsed,
  non_collapsed_questions_count, key_question_id, credits_accountable, questionnaire_icon_url, default_locale,
  locales, public_link, responses_max"""
_CHANGED: Final[LiteralString] = f"{_SETTINGS}, active, published_version_id, archived_time"
VERSION_COLUMNS: Final = columns_of(Version)

# Versions never change, so each process parses one once; with sizes, the least recently used first.
_versions: OrderedDict[tuple[str, str], tuple[Version, int]] = OrderedDict()


async def get_questionnaire(
    db: Database,
    *,
    organization_id: str,
    questionnaire_id: str,
    application_ids: Sequence[str] = (),
    is_locked: bool = False,
) -> Questionnaire:
    # "no key": instances and items that refer to the questionnaire do not wait for authors, nor authors for them.
    lock: LiteralString = "for no key update" if is_locked else ""
    found = await db.records(Questionnaire).fetch_row(
        f"""select {QUESTIONNAIRE_COLUMNS} from questionnaire
           where organization_id = $1 and questionnaire_id = $2
             and (cardinality($3::text[]) = 0 or owner_application_id = any($3)) {lock}""",
        *(organization_id, questionnaire_id, list(application_ids)),
    )
    return errors.found(found, "There is no such questionnaire.")


async def get_questionnaire_by_slug(
    db: Database, *, organization_id: str, application_id: str, slug: str
) -> Questionnaire | None:
    """The questionnaire of a file, locked until the transaction ends: imports of a file wait for each other."""
    return await db.records(Questionnaire).fetch_row(
        f"""select {QUESTIONNAIRE_COLUMNS} from questionnaire
           where organization_id = $1 and owner_application_id = $2 and slug = $3 for no key update""",
        *(organization_id, application_id, slug),
    )


_CREATED: Final = Column("created_time", "time")
LISTING: Final = Listing({}, (("created_time", "desc"),), "questionnaire_id", hidden={"created_time": _CREATED})
NEWEST: Final = Page.first(LISTING, limit=200)  # to choose from


async def list_questionnaires(db: Database, *, page: Page = NEWEST, **part: Unpack[Part]) -> Rows[Questionnaire]:
    return await db.records(Questionnaire).fetch_list(
        f"""select {QUESTIONNAIRE_COLUMNS} from questionnaire
           where organization_id = $1 and (cardinality($2::text[]) = 0 or owner_application_id = any($2))""",
        *values_of(part),
        page=page,
    )


async def get_version(db: Database, *, organization_id: str, version_id: str) -> Version:
    key = organization_id, version_id
    if key in _versions:
        _versions.move_to_end(key)
        return _versions[key][0]
    row = await db.fetch_row(
        f"select {VERSION_COLUMNS} from questionnaire_version where organization_id = $1 and version_id = $2",
        *(organization_id, version_id),
    )
    if row is None:
        raise errors.NotFound("There is no such version.")
    version = _version(row)
    _keep(key, version, size=len(msgspec.json.encode(row["definition"])))
    return version


async def list_group_ids(
    db: Database,
    *,
    organization_id: str,
    questionnaire_id: str,
    version_id: str | None,
    draft: Mapping[str, object] | None = None,
    page: Page,
) -> Rows[str]:
    rows = await db.fetch_list(
        """select g.*, $4::text as questionnaire_id, $2::text as version_id, g.ordinality::integer - 1 as position
           from (select definition from questionnaire_version where organization_id = $1 and version_id = $2
                 union all select $3::jsonb where $3 is not null) v,
             rows from (jsonb_to_recordset(v.definition->'groups')
               as (group_id text, title text, description text, display_name text, enabled boolean))
             with ordinality g""",
        *(organization_id, version_id, draft, questionnaire_id),
        page=page,
    )
    return rows.map(lambda row: str(row["group_id"]))


async def list_question_ids(
    db: Database,
    *,
    organization_id: str,
    questionnaire_id: str,
    version_id: str | None,
    group_id: str,
    draft: Mapping[str, object] | None = None,
    page: Page,
) -> Rows[str]:
    rows = await db.fetch_list(
        """select q.*, $3::text as group_id, $5::text as questionnaire_id, $2::text as version_id,
             q.ordinality::integer - 1 as position
           from (select definition from questionnaire_version where organization_id = $1 and version_id = $2
                 union all select $4::jsonb where $4 is not null) v,
             jsonb_array_elements(v.definition->'groups') g,
             rows from (jsonb_to_recordset(g->'questions') as (
               question_id text, type text, title text, description text, display_name text, required boolean,
               enabled boolean, display_probability integer, randomize boolean, low_label text, high_label text,
               scored boolean, scale_min integer, scale_max integer, style text, choices_min integer,
               choices_max integer, rank_max integer, length_max integer, multiline boolean, number_min numeric,
               number_max numeric, decimals integer, date_min date, date_max date, files_max integer,
               bytes_max integer)) with ordinality q
           where g->>'group_id' = $3""",
        *(organization_id, version_id, group_id, draft, questionnaire_id),
        page=page,
    )
    return rows.map(lambda row: str(row["question_id"]))


async def insert_questionnaire(
    db: Database,
    *,
    organization_id: str,
    questionnaire_id: str,
    application_id: str,
    slug: str | None = None,
    settings: Mapping[str, object],
    now: datetime,
    by: str | None,
) -> Questionnaire | None:
    """Insert a questionnaire without a version, active unless `settings` say otherwise; None if the slug is taken."""
    return await db.records(Questionnaire).fetch_row(
        f"""insert into questionnaire (
             organization_id, questionnaire_id, owner_application_id, slug, {_SETTINGS},
             created_time, updated_time, created_by, updated_by, template_questionnaire_id, active)
           select $1, $2, $3, $4, {qualified(_SETTINGS, "s")}, $6, $6, $7, $7, s.template_questionnaire_id,
             coalesce(s.active, true)
           from jsonb_populate_record(null::questionnaire, $5) s
           on conflict (organization_id, owner_application_id, slug) where slug is not null do nothing
           returning {QUESTIONNAIRE_COLUMNS}""",
        *(organization_id, questionnaire_id, application_id, slug, settings, now, by),
    )


async def update_questionnaire(
    db: Database,
    *,
    organization_id: str,
    questionnaire_id: str,
    settings: Mapping[str, object],
    now: datetime,
    by: str | None,
) -> Questionnaire:
    return await db.records(Questionnaire).fetch_one(
        f"""update questionnaire q set
             ({_CHANGED}) = (select {qualified(_CHANGED, "s")}
                from jsonb_populate_record(q, $3) s), -- what the document lacks stays as it is in the row
             version = version + 1, updated_time = greatest($4, updated_time),
             updated_by = $5
           where organization_id = $1 and questionnaire_id = $2
           returning {QUESTIONNAIRE_COLUMNS}""",
        *(organization_id, questionnaire_id, settings, now, by),
    )


async def insert_version(db: Database, *, version: Version) -> None:  # any tenant: the version names it
    await db.execute(
        f"""insert into questionnaire_version ({VERSION_COLUMNS})
           select {VERSION_COLUMNS} from jsonb_populate_record(null::questionnaire_version, $1::jsonb)""",
        {**asdict(version), "definition": core_definition.document_of(version.definition)},
    )


async def list_owners(
    db: Database, *, questionnaire_ids: Sequence[str] | None, limit: int, **part: Unpack[Part]
) -> dict[str, str]:
    """These questionnaires (None: any, the newest) of these applications (none: any), each with its application."""
    return await db.fetch_pairs(
        """select questionnaire_id, owner_application_id from questionnaire
           where organization_id = $1 and ($2::text[] is null or questionnaire_id = any($2))
             and (cardinality($3::text[]) = 0 or owner_application_id = any($3))
           order by created_time desc, questionnaire_id limit $4""",
        *(part["organization_id"], questionnaire_ids, list(part["application_ids"]), limit),
    )


async def list_version_ids(
    db: Database, *, organization_id: str, questionnaire_ids: Sequence[str], limit: int | None = None
) -> list[str]:
    """The versions of these questionnaires: the newest of each, then the second newest of each, and so on."""
    return await db.fetch_column(
        """select version_id from questionnaire_version
           where organization_id = $1 and questionnaire_id = any($2::text[])
           order by row_number() over (partition by questionnaire_id order by number desc),
             array_position($2::text[], questionnaire_id) limit $3""",
        *(organization_id, questionnaire_ids, limit),
    )


async def list_version_definitions(
    db: Database, *, organization_id: str, questionnaire_ids: Sequence[str]
) -> list[Definition]:
    key: dict[str, Any] = {"organization_id": organization_id}
    version_ids = await list_version_ids(db, **key, questionnaire_ids=questionnaire_ids)
    return [(await get_version(db, **key, version_id=each)).definition for each in version_ids]


async def get_question_version_id(
    db: Database, *, organization_id: str, questionnaire_id: str, question_id: str
) -> str | None:
    return await db.fetch_value(
        """select version_id from questionnaire_version
           where organization_id = $1 and questionnaire_id = $2 and jsonb_path_exists(
             definition, '$.groups[*].questions[*].question_id ? (@ == $id)', jsonb_build_object('id', $3::text))
           order by number desc limit 1""",
        *(organization_id, questionnaire_id, question_id),
    )


async def count_versions(db: Database, *, organization_id: str, questionnaire_id: str) -> int:
    """The number of versions, which is the highest version number."""
    return await db.fetch_value(
        "select count(*) from questionnaire_version where organization_id = $1 and questionnaire_id = $2",
        *(organization_id, questionnaire_id),
    )


async def list_question_types(
    db: Database, *, organization_id: str, questionnaire_ids: Sequence[str]
) -> set[tuple[str, str, int | None, int | None]]:
    rows = await db.fetch(
        """select distinct q ->> 'question_id', q ->> 'type', (q ->> 'scale_min')::integer,
             (q ->> 'scale_max')::integer
           from questionnaire_version v, jsonb_path_query(v.definition, '$.groups[*].questions[*]') q
           where v.organization_id = $1 and v.questionnaire_id = any($2::text[])""",
        *(organization_id, list(questionnaire_ids)),
    )
    return {(row[0], row[1], row[2], row[3]) for row in rows}


def _keep(key: tuple[str, str], version: Version, *, size: int) -> None:
    _versions[key] = version, size
    while len(_versions) > VERSIONS_KEPT_MAX or sum(size for _, size in _versions.values()) > VERSIONS_KEPT_BYTES_MAX:
        _versions.popitem(last=False)


def _version(row: Row) -> Version:
    columns: dict[str, Any] = dict(row)
    columns["definition"] = core_definition.parse(columns["definition"])
    return Version(**columns)


class PublishedVersion(msgspec.Struct, frozen=True, kw_only=True):
    """A published version; it never changes."""

    organization_id: Annotated[str, Hidden()]
    version_id: fields.Id
    questionnaire_id: fields.Id
    number: int
    note: str | None
    definition: dict[str, Any]
    checksum: str
    published_time: datetime
    published_by: fields.Id | None


async def get_published_version(
    db: Database, *, organization_id: str, questionnaire_id: str, version_id: str
) -> PublishedVersion:
    found = await db.records(PublishedVersion).fetch_row(
        f"""select {VERSION_COLUMNS} from questionnaire_version
           where organization_id = $1 and questionnaire_id = $2 and version_id = $3""",
        *(organization_id, questionnaire_id, version_id),
    )
    return errors.found(found, "There is no such version.")


async def list_versions(
    db: Database, *, organization_id: str, questionnaire_id: str, page: Page
) -> Rows[PublishedVersion]:
    return await db.records(PublishedVersion).fetch_list(
        f"""select {VERSION_COLUMNS} from questionnaire_version
           where organization_id = $1 and questionnaire_id = $2""",
        *(organization_id, questionnaire_id),
        page=page,
    )


async def list_version_numbers(
    db: Database, *, organization_id: str, questionnaire_id: str, limit: int
) -> list[tuple[str, int, datetime]]:
    """The ids, numbers and times of the newest versions, the newest first."""
    return await db.fetch_tuples(
        """select version_id, number, published_time from questionnaire_version
           where organization_id = $1 and questionnaire_id = $2 order by number desc limit $3""",
        *(organization_id, questionnaire_id, limit),
    )
