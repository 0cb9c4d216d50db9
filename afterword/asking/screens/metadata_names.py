"""Settings: the names of metadata that the organization declares for its orders and people."""

from types import SimpleNamespace
from typing import Final
from urllib.parse import urlencode

from starlette.responses import Response

from afterword import errors
from afterword.asking.questionnaires import metadata
from afterword.asking.questionnaires.metadata import LISTING, NAMES, QUESTIONNAIRE_NAME, MetadataDefinition
from afterword.console.inputs import Input, document_of, form_page, read_as, same_version
from afterword.console.nouns import inputs_of
from afterword.console.removals import removal
from afterword.console.screens import Screens, Visit
from afterword.core.questionnaires.metadata import Kind
from afterword.kit.db import Database
from afterword.kit.nouns import service as nouns, structs
from afterword.kit.texts import Marked, Texts
from afterword.kit.ui.lists import Listing, Tab, address, page_links, page_of
from afterword.kit.web import html
from afterword.listening.search import recent_values
from afterword.listening.search.recent_values import NEWEST, SeenMetadata
from afterword.sending.queue.records import VALUE_SCOPES
from afterword.tenants.screens.members import applications_of

METADATA: Final = "/console/settings/metadata"
ONE: Final = f"{METADATA}/{{kind}}/{{metadata_id}}"
KINDS: Final[tuple[tuple[Kind, Marked], ...]] = (("questionnaire", "Of the order"), ("responder", "Of the person"))
VALUES_SHOWN: Final = 4
VALUE_CHARACTERS_MAX: Final = 40
TITLE_INPUTS: Final = inputs_of(QUESTIONNAIRE_NAME, later=True)
# As they are asked for: what it is, then what it is called.
NAME_INPUTS: Final = (
    Input("kind", "choice", "Field", options=KINDS, required=True),
    *(one for one in inputs_of(QUESTIONNAIRE_NAME) if one not in TITLE_INPUTS),
    *TITLE_INPUTS,
)
TYPES: Final = dict({one.name: one.options for one in NAME_INPUTS}["type"])

routes = Screens()


@routes.get(METADATA, scope="Metadata.Update")
async def list_names(visit: Visit, db: Database) -> Response:
    words = visit.words
    kind = _kind(visit.query.get("kind", ""))
    found = await metadata.list_definitions(db, **visit.caller.part, kind=kind, page=page_of(LISTING, visit.query))
    names = {one.application_id: one.display_name for one in await applications_of(visit, db)}
    caller = visit.caller
    may_see = VALUE_SCOPES[kind] in caller.scopes and (kind == "questionnaire" or not caller.application_ids)
    seen = await recent_values.list_values(db, caller=caller, kind=kind) if may_see else []
    of_name = {one.name: one for one in seen}
    undeclared = [_undeclared(visit, kind, one) for one in seen if not one.declared and "after" not in visit.query]
    rows = [
        {
            "url": "" if one.read_only else f"{METADATA}/{kind}/{one.metadata_id}",
            "title": one.name,
            "state": words(TYPES[one.type]),
            "when": names.get(one.application_id or "", ""),
            "more": words(one.title) if one.read_only else one.title,
            "seen": _seen(words, of_name.get(one.name)),
        }
        for one in found.items
    ]
    return visit.page(
        "things.html",
        title=words("Metadata"),
        lead=words("What your system sends about an order or a person. Conditions, reports and texts use these names."),
        new=(words("New field"), f"{METADATA}/new?kind={kind}"),
        list=Listing(
            tabs=[
                Tab(url=address(METADATA, kind=each), text=words(text), is_current=each == kind) for each, text in KINDS
            ],
            rows=[*undeclared, *rows],
            empty=words("No field yet."),
            **page_links(found, visit.query, METADATA, kind=kind),
        ),
    )


@routes.post(f"{METADATA}/new", scope="Metadata.Create", again=(errors.Invalid,))
async def declare(visit: Visit) -> Response:
    kind = _kind(visit.form.text("kind"))
    document = document_of(visit.form, [one for one in NAME_INPUTS if one.name != "kind"])
    if document["level"] == "organization":
        document["application_id"] = None
    try:
        request = read_as(structs.creation_of(NAMES[kind]), document, visit)
        async with visit.write() as db:
            await nouns.create(NAMES[kind], db, columns=request.named(), **visit.acting)
    except errors.Conflict as taken:
        raise errors.Invalid.at("/name", "already_exists", taken.detail) from taken
    return html.redirect(address(METADATA, kind=kind, done="saved"))


@routes.post(ONE, scope="Metadata.Update", again=(errors.Invalid, errors.Stale))
async def save_name(visit: Visit, db: Database) -> Response:
    kind = _kind(visit.id("kind"))
    request = read_as(structs.update_of(NAMES[kind]), document_of(visit.form, TITLE_INPUTS), visit)
    key, expect = visit.id("metadata_id"), same_version(visit)
    await nouns.update(NAMES[kind], db, key=key, changes=request.named(), expect=expect, **visit.acting)
    return html.redirect(address(METADATA, kind=kind, done="saved"))


def _undeclared(visit: Visit, kind: Kind, one: SeenMetadata) -> dict[str, str]:
    return {
        "url": f"{METADATA}/new?{urlencode({'kind': kind, 'name': one.name})}",
        "title": one.name,
        "state": visit.words("not declared"),
        "when": "",
        "more": visit.words("Your system sends this. Declare it to use it in conditions, reports and texts."),
        "seen": _seen(visit.words, one),
    }


def _seen(words: Texts, one: SeenMetadata | None) -> str:
    """The most frequent values, each with its count."""
    if one is None:
        return ""
    shown = [
        words("{value}: {count}", value=each.value[:VALUE_CHARACTERS_MAX], count=each.count)
        for each in one.values[:VALUES_SHOWN]
    ]
    return words(
        "In {count} of the last {newest}. {values}",
        count=one.count,
        newest=NEWEST,
        values="; ".join([*shown, *(["…"] if one.values_count > VALUES_SHOWN else [])]),
    )


def _kind(text: str) -> Kind:
    return text if text in dict(KINDS) else "questionnaire"


async def _definition(visit: Visit) -> MetadataDefinition:
    """The definition of the address, unless it is the product's. Raises NotFound."""
    found = await visit.load(
        metadata.get, caller=visit.caller, kind=_kind(visit.id("kind")), metadata_id=visit.id("metadata_id")
    )
    if found.read_only:
        raise errors.NotFound("This name belongs to the product.")
    return found


async def _remove(visit: Visit, db: Database) -> Response:
    kind = _kind(visit.id("kind"))
    await nouns.delete(NAMES[kind], db, key=visit.id("metadata_id"), **visit.acting)
    return html.redirect(address(METADATA, kind=kind, done="removed"))


removal(
    routes,
    f"{ONE}/removal",
    scope="Metadata.Delete",
    title="Remove the field “{name}”?",
    sentences=["Stored values stay. Existing conditions keep working, but new ones cannot use it."],
    button="Remove the field",
    get=_definition,
    remove=_remove,
    to=METADATA,
)


@routes.get(f"{METADATA}/new", scope="Metadata.Create")
async def _new(visit: Visit, refusal: errors.Refusal | None = None) -> Response:
    words = visit.words
    applications = await visit.reading(applications_of)
    kind = _kind(visit.query.get("kind", ""))
    return form_page(
        visit,
        title=words("New field"),
        back=(words("Metadata"), address(METADATA, kind=kind)),
        inputs=NAME_INPUTS,
        stored=SimpleNamespace(kind=kind, name=visit.query.get("name", ""), anonymize=kind == "responder"),
        refusal=refusal,
        options={"application_id": [("", "–"), *((one.application_id, one.display_name) for one in applications)]},  # noqa: RUF001
    )


@routes.get(ONE, scope="Metadata.Update")
async def _show(visit: Visit, refusal: errors.Refusal | None = None) -> Response:
    words, definition = visit.words, await _definition(visit)
    here = f"{METADATA}/{definition.kind}/{definition.metadata_id}"
    may_remove = "Metadata.Delete" in visit.caller.scopes
    return form_page(
        visit,
        title=definition.name,
        back=(words("Metadata"), address(METADATA, kind=definition.kind)),
        inputs=TITLE_INPUTS,
        stored=definition,
        version=definition.version,
        refusal=refusal,
        links=[(words("Remove the field"), f"{here}/removal")] if may_remove else (),
        thing=("metadata", definition.metadata_id),
    )
