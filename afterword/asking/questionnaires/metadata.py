"""The metadata names that an organization declares, beside those of the product, and a cache of them by application."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Annotated, Any, Final, Literal, LiteralString, Unpack

from msgspec import Meta
from msgspec.structs import asdict, replace

from afterword import errors
from afterword.asking.questionnaires import store as questionnaires_store
from afterword.core.organizations.access import Caller, Part
from afterword.core.questionnaires import metadata as core
from afterword.core.questionnaires.metadata import Declared, Kind
from afterword.core.wire.lists import Page, Rows
from afterword.errors import FieldError
from afterword.kit.db import Database
from afterword.kit.db.columns import arrays, columns_of
from afterword.kit.nouns import service as nouns
from afterword.kit.nouns.api import routes_of
from afterword.kit.nouns.declaration import OF_APPLICATION, Change, Computed, Editable, Noun, Record
from afterword.kit.nouns.service import is_of_all
from afterword.kit.nouns.structs import listing_of
from afterword.kit.web import fields
from afterword.kit.web.operations import Call, Route, Routes
from afterword.tenants.organizations import checks
from afterword.tenants.organizations.applications import get_has_type

DEFINITIONS_MAX: Final = 200  # of a kind, in an organization
KEPT_SECONDS: Final = 2
KEPT_MAX: Final = 2_000
OWNERS_KEPT_MAX: Final = 10_000
_BEGINNING: Final = datetime(2026, 1, 1, tzinfo=UTC)  # `created_time` of the product's names
_WANTED: Final = {
    "application": "Name the application, or declare the name for all of them with the level organization.",
    "application_type": "Name the type of application.",
}
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

# Recently read declarations by organization and application: every POST needs them.
_kept: OrderedDict[tuple[str, str], tuple[datetime, Declared]] = OrderedDict()
# The owner of a questionnaire never changes, so it is read once.
_owners: OrderedDict[tuple[str, str], str] = OrderedDict()


class MetadataDefinition(Record, kw_only=True):
    """A declared name; those of level `global` belong to the product and are read-only."""

    metadata_id: fields.Id
    kind: Kind
    name: Annotated[
        Name, Editable("Name", "As your system sends it: letters, digits and underscores.", holds="fixed", once=True)
    ]
    title: Annotated[fields.Text200, Editable("Title")]
    type: Annotated[
        core.Type,
        Editable(
            "Type",
            "",
            "choice",
            (("text", "text"), ("number", "number"), ("date", "date"), ("boolean", "yes or no")),
            holds="fixed",
            once=True,
        ),
    ]
    anonymize: Annotated[bool, Editable("Removed when a person is made anonymous", "", "switch")] = False
    level: Annotated[
        Literal["application_type", "application", "organization"],
        Editable(
            "For",
            "",
            "choice",
            (("organization", "all applications"), ("application", "one application")),
            holds="fixed",
            once=True,
            shown=Literal["global", "application_type", "application", "organization"],
        ),
    ] = "application"
    application_id: Annotated[fields.Id | None, Editable("Application", "If it is for one.", "choice", once=True)] = (
        None
    )
    application_type_id: Annotated[fields.Id | None, Editable(once=True)] = None
    read_only: Annotated[bool, Computed(sql="false")]


async def _check(change: Change[MetadataDefinition], *, kind: Kind) -> None:
    """Raise Invalid (`unknown_id`, `required`, `exclusive`), and Forbidden for a caller of some applications."""
    _forget(change.caller.organization_id)
    if change.before is None:
        change.columns["kind"] = kind
        await _require_known(change.db, caller=change.caller, columns=change.columns)
        _require_level(change.columns)
        if change.columns["level"] != "application":
            change.caller.require_whole()


async def _delete(change: Change[MetadataDefinition], _options: Mapping[str, Any]) -> None:
    _forget(change.caller.organization_id)
    await nouns.delete_row(NAMES[change.row.kind], change)


def _noun(kind: Literal["questionnaire", "responder"]) -> Noun[MetadataDefinition]:
    is_kind: LiteralString = "t.kind = 'questionnaire'" if kind == "questionnaire" else "t.kind = 'responder'"
    return Noun(
        record=MetadataDefinition,
        table="metadata_definition",
        one=f"{kind} metadata definition",
        many=f"{kind} metadata definitions",
        tag="Metadata",
        path=f"/q/metadata/{kind}",
        scope="Metadata",
        about_create="A name to declare.",
        about_update=(
            "The members of a definition that may change; its type may not, because values are compared by it."
        ),
        about={
            "create": "The level `application` wants an `application_id`, `application_type` an `application_type_id`, "
            "`organization` neither. Of one name the narrowest definition decides.",
            "delete": "Values of the name stay; they are undeclared from now on.",
        },
        names={
            "list": f"list_{kind}_metadata",
            "create": f"declare_{kind}_metadata",
            "get": f"get_{kind}_metadata",
            "update": f"change_{kind}_metadata",
            "delete": f"delete_{kind}_metadata",
        },
        summaries={
            "create": f"Declare {kind} metadata",
            "get": f"Get {kind} metadata definition",
            "update": f"Update {kind} metadata definition",
            "delete": f"Delete {kind} metadata definition",
        },
        refusals={"create": ("already_exists",)},
        visible=f"{is_kind} and {OF_APPLICATION}",
        most=DEFINITIONS_MAX,
        counted=is_kind,
        filled=("kind",),
        check=partial(_check, kind=kind),
        fixed=lambda caller, one: is_of_all(caller, one.application_id),
        conflict=lambda _: errors.Conflict("This name is declared at this level already."),
        delete=_delete,
    )


_STORED: Final = columns_of(MetadataDefinition, without={"read_only"})
QUESTIONNAIRE_NAME: Final = _noun("questionnaire")
RESPONDER_NAME: Final = _noun("responder")
NAMES: Final[Mapping[Kind, Noun[MetadataDefinition]]] = {
    "questionnaire": QUESTIONNAIRE_NAME,
    "responder": RESPONDER_NAME,
}
LISTING: Final = listing_of(QUESTIONNAIRE_NAME)


def _with_product(route: Route, kind: Kind) -> Route:
    """The route as it is for the product's names too, which stand in no table."""

    async def handler(call: Call[Any], db: Database) -> object:
        if route.method == "GET" and not route.ids:
            return await list_definitions(db, **call.caller.part, kind=kind, page=call.page)
        own = _of_product(kind, call.ids.get("metadata_id"))
        if own is None:
            return await route.handler(call, db)
        if route.method != "GET":
            raise errors.Forbidden("This name belongs to the product and cannot be changed.")
        return own

    return replace(route, handler=handler)


routes = Routes(tag="Metadata")
routes.all = [_with_product(route, kind) for kind, noun in NAMES.items() for route in routes_of(noun).all]


async def declared(db: Database, *, organization_id: str, application_id: str) -> Declared:
    """Changes by other processes show after `KEPT_SECONDS`. An unknown application has the names of the product."""
    key, now = (organization_id, application_id), db.clock.now()
    kept = _kept.get(key)
    # A negative age means that the database was restored: nothing cached holds.
    if kept is not None and timedelta(0) <= now - kept[0] < timedelta(seconds=KEPT_SECONDS):
        return kept[1]
    known = (await list_declared(db, applications=[key])).get(key)
    if known is None:
        return core.GLOBAL
    _kept[key] = now, known
    _kept.move_to_end(key)
    while len(_kept) > KEPT_MAX:
        _kept.popitem(last=False)
    return known


async def declared_of(
    db: Database, *, organization_id: str, questionnaire_id: str, application_ids: Sequence[str] = ()
) -> Declared:
    """The names declared for the application of a questionnaire, from the cache if it has them."""
    key = organization_id, questionnaire_id
    application_id = _owners.get(key)
    if application_id is None:
        questionnaire = await questionnaires_store.get_questionnaire(
            db, organization_id=organization_id, questionnaire_id=questionnaire_id
        )
        application_id = _owners[key] = questionnaire.owner_application_id
        while len(_owners) > OWNERS_KEPT_MAX:
            _owners.popitem(last=False)
    if application_ids and application_id not in application_ids:
        raise errors.NotFound("There is no such questionnaire.")
    return await declared(db, organization_id=organization_id, application_id=application_id)


async def get(db: Database, *, caller: Caller, kind: Kind, metadata_id: str) -> MetadataDefinition:
    """A definition that the caller may see, the product's included. Raises NotFound."""
    return _of_product(kind, metadata_id) or await nouns.get(NAMES[kind], db, caller=caller, key=metadata_id)


async def list_definitions(db: Database, *, kind: Kind, page: Page, **part: Unpack[Part]) -> Rows[MetadataDefinition]:
    """Those of the organization and of the product."""
    products = [_product(one, part["organization_id"]) for one in core.PRODUCT if one.kind == kind]
    return await db.records(MetadataDefinition).fetch_list(
        f"""select {_STORED}, false as read_only from metadata_definition where organization_id = $1 and kind = $2
             and (cardinality($3::text[]) = 0 or application_id is null or application_id = any($3))
           union all
           select {_STORED}, true as read_only
           from jsonb_populate_recordset(null::metadata_definition, $4::jsonb)""",
        *(part["organization_id"], kind, list(part["application_ids"]), products),
        page=page,
    )


def _of_product(kind: Kind, metadata_id: str | None) -> MetadataDefinition | None:
    found = (one for one in core.PRODUCT if (one.kind, one.metadata_id) == (kind, metadata_id))
    return next((_product(one, "") for one in found), None)


def _product(one: core.MetadataDefinition, organization_id: str) -> MetadataDefinition:
    columns: dict[str, Any] = asdict(one)
    return MetadataDefinition(
        **columns,
        organization_id=organization_id,
        read_only=True,
        version=1,
        created_time=_BEGINNING,
        updated_time=_BEGINNING,
        created_by=None,
        updated_by=None,
    )


async def list_declared(  # any tenant: a job that keeps counts serves all
    db: Database, *, applications: Sequence[tuple[str, str]]
) -> dict[tuple[str, str], Declared]:
    """The names declared for each of these pairs of organization and application, as they stand now."""
    rows = await db.fetch(
        """select a.organization_id, a.application_id, a.application_type_id as type_id, d.metadata_id, d.kind, d.name,
             d.title, d.type, d.anonymize, d.level, d.application_type_id
           from unnest($1::text[], $2::text[]) k (organization_id, application_id)
           join application a using (organization_id, application_id)
           left join metadata_definition d on d.organization_id = a.organization_id
             and (d.level = 'organization' or d.application_id = a.application_id
                  or d.application_type_id = a.application_type_id)""",
        *arrays(applications, 2),
    )
    names = ("name", "kind", "title", "type", "anonymize", "level", "metadata_id", "application_type_id")
    types = {(row["organization_id"], row["application_id"]): row["type_id"] for row in rows}
    found: dict[tuple[str, str], list[core.MetadataDefinition]] = {key: [] for key in types}
    for row in rows:
        if row["metadata_id"] is not None:
            definition = core.MetadataDefinition(*(row[name] for name in names))
            found[row["organization_id"], row["application_id"]].append(definition)
    return {key: core.declared_for(type_id, found[key]) for key, type_id in types.items()}


async def _require_known(db: Database, *, caller: Caller, columns: Mapping[str, Any]) -> None:
    wrong: list[FieldError] = []
    application_id, type_id = columns["application_id"], columns["application_type_id"]
    if application_id is not None:
        wrong += await checks.reach_errors(db, caller=caller, application_id=application_id)
    if type_id is not None and not await get_has_type(db, application_type_id=type_id):
        wrong.append(FieldError("unknown_id", "There is no such application type.", pointer="/application_type_id"))
    errors.check(wrong)


def _require_level(columns: Mapping[str, Any]) -> None:
    """Raise Invalid unless exactly the id of the level is given."""
    wrong: list[FieldError] = []
    wanted = columns["level"]
    for level, sentence in _WANTED.items():
        name = f"{level}_id"
        if wanted == level and columns[name] is None:
            wrong.append(FieldError("required", sentence, pointer=f"/{name}"))
        elif wanted != level and columns[name] is not None:
            wrong.append(FieldError("exclusive", f"A name of the level {wanted} has none.", pointer=f"/{name}"))
    errors.check(wrong)


def _forget(organization_id: str) -> None:
    for key in [key for key in _kept if key[0] == organization_id]:
        del _kept[key]
