"""Saves, checks and discards drafts; `asking/questionnaires/service.py` publishes them."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Annotated, Any, Final, Literal, LiteralString, Unpack

import msgspec
from msgspec import Meta, field
from msgspec.structs import replace

from afterword import errors, ids
from afterword.asking import coupons
from afterword.asking.questionnaires import access, metadata, store as questionnaires_store
from afterword.asking.questionnaires.store import Questionnaire, Version
from afterword.core.organizations.access import Caller, Part, values_of
from afterword.core.questionnaires import definition as core_definition, drafts, flow, translations, variables
from afterword.core.questionnaires.definition import GROUPS_MAX, Definition as DefinitionRecord, texts_of
from afterword.core.questionnaires.differences import Difference as DifferenceRecord, differences
from afterword.core.questionnaires.endings import ENDINGS_MAX
from afterword.core.questionnaires.flow import length
from afterword.core.questionnaires.metadata import Declared
from afterword.core.questionnaires.translations import Sources
from afterword.core.reading.documents import LOCALES_MAX
from afterword.core.reading.findings import FINDINGS_MAX, Finding, Findings
from afterword.core.wire.lists import Page, Rows
from afterword.kit.db import Database
from afterword.kit.db.columns import columns_of
from afterword.kit.nouns.declaration import Hidden
from afterword.kit.nouns.structs import shown_as
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call, Routes
from afterword.tenants.organizations import assets


class DraftRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A definition that is edited until it is published."""

    organization_id: Annotated[str, Hidden()]
    questionnaire_id: fields.Id
    base_version_id: fields.Id | None  # the version published when it was saved
    revision: int
    definition: dict[str, Any]  # may be invalid
    updated_time: datetime
    updated_by: fields.Id | None
    translated_sources: Annotated[dict[str, dict[str, str]] | None, Hidden()]  # `core.questionnaires.translations`


class State(msgspec.Struct, frozen=True, kw_only=True):
    """The published version of a questionnaire, None where there is none, and whether its draft differs from it."""

    number: int | None
    published_time: datetime | None
    draft_time: datetime | None
    is_changed: bool


class Overview(State, frozen=True, kw_only=True):
    """A questionnaire in the list of them."""

    questionnaire_id: str
    display_name: str
    active: bool
    archived_time: datetime | None
    created_time: datetime
    response_count: int  # since `from_time`, up to a limit


_COLUMNS: Final = columns_of(DraftRecord)
_STATE: Final[LiteralString] = """v.number, v.published_time, d.updated_time as draft_time,
  d.definition is not null and d.definition is distinct from v.definition as is_changed"""
_OF_QUESTIONNAIRES: Final[LiteralString] = """questionnaire q
  left join questionnaire_version v on v.organization_id = q.organization_id
    and v.version_id = q.published_version_id
  left join questionnaire_draft d on d.organization_id = q.organization_id
    and d.questionnaire_id = q.questionnaire_id"""


async def get_draft_record(db: Database, *, organization_id: str, questionnaire_id: str) -> DraftRecord | None:
    return await db.records(DraftRecord).fetch_row(
        f"select {_COLUMNS} from questionnaire_draft where organization_id = $1 and questionnaire_id = $2",
        *(organization_id, questionnaire_id),
    )


async def get_state(db: Database, *, organization_id: str, questionnaire_id: str) -> State:
    return await db.records(State).fetch_one(
        f"select {_STATE} from {_OF_QUESTIONNAIRES} where q.organization_id = $1 and q.questionnaire_id = $2",
        *(organization_id, questionnaire_id),
    )


async def list_overviews(
    db: Database, *, from_time: datetime, limit: int, page: Page, **part: Unpack[Part]
) -> Rows[Overview]:
    """Questionnaires, with the number of their responses since `from_time`, counted up to `limit`."""
    return await db.records(Overview).fetch_list(
        f"""select q.questionnaire_id, q.display_name, q.active, q.archived_time, q.created_time, {_STATE},
             (select count(*) from (
                select from response r where r.organization_id = $1 and r.questionnaire_id = q.questionnaire_id
                  and not r.test and r.submitted_time >= $3 limit $4) r) as response_count
           from {_OF_QUESTIONNAIRES}
           where q.organization_id = $1 and (cardinality($2::text[]) = 0 or q.owner_application_id = any($2))""",
        *(*values_of(part), from_time, limit),
        page=page,
    )


async def _insert_draft(db: Database, *, draft: DraftRecord) -> DraftRecord:  # any tenant: the draft names it
    """Insert the draft, or replace the existing one as its next revision; without `translated_sources` these stay."""
    return await db.records(DraftRecord).fetch_one(
        f"""insert into questionnaire_draft as d (organization_id, questionnaire_id, base_version_id, definition,
             updated_time, updated_by, translated_sources)
           values ($1, $2, $3, $4, $5, $6, $7)
           on conflict (organization_id, questionnaire_id) do update
             set base_version_id = excluded.base_version_id, definition = excluded.definition,
               revision = d.revision + 1, updated_time = greatest(excluded.updated_time, d.updated_time),
               updated_by = excluded.updated_by,
               before = jsonb_build_object('definition', d.definition, 'sources', d.translated_sources),
               translated_sources = coalesce(excluded.translated_sources, d.translated_sources)
           returning {_COLUMNS}""",
        *(draft.organization_id, draft.questionnaire_id, draft.base_version_id, draft.definition, draft.updated_time),
        *(draft.updated_by, draft.translated_sources),
    )


async def update_base(
    db: Database, *, organization_id: str, questionnaire_id: str, version_id: str, now: datetime
) -> None:
    """Move an unchanged draft to the version that a file published."""
    await db.execute(
        """update questionnaire_draft d
           set base_version_id = v.version_id, definition = v.definition, revision = d.revision + 1,
             updated_time = greatest($4, d.updated_time), updated_by = null
           from questionnaire_version v, questionnaire_version b
           where d.organization_id = $1 and d.questionnaire_id = $2
             and b.organization_id = $1 and b.version_id = d.base_version_id and b.definition = d.definition
             and v.organization_id = $1 and v.questionnaire_id = $2 and v.version_id = $3""",
        *(organization_id, questionnaire_id, version_id, now),
    )


async def _update_to_before(
    db: Database, *, organization_id: str, questionnaire_id: str, now: datetime, by: str | None
) -> int:
    return await db.execute(
        """update questionnaire_draft
           set definition = before -> 'definition', translated_sources = nullif(before -> 'sources', 'null'),
             before = jsonb_build_object('definition', definition, 'sources', translated_sources),
             revision = revision + 1, updated_time = greatest($3, updated_time), updated_by = $4
           where organization_id = $1 and questionnaire_id = $2 and before is not null""",
        *(organization_id, questionnaire_id, now, by),
    )


async def _delete_draft(db: Database, *, organization_id: str, questionnaire_id: str) -> None:
    await db.execute(
        "delete from questionnaire_draft where organization_id = $1 and questionnaire_id = $2",
        *(organization_id, questionnaire_id),
    )


DRAFT_ID: Final = "draft"  # in place of a version's id
Change = Callable[[dict[str, Any]], dict[str, Any]]
NO_SOURCES: Final[Sources] = {}
_encode: Final = msgspec.json.Encoder(order="deterministic").encode


async def get(db: Database, *, organization_id: str, questionnaire_id: str) -> DraftRecord:
    draft = await get_draft_record(db, organization_id=organization_id, questionnaire_id=questionnaire_id)
    return errors.found(draft, "This questionnaire has no draft.")


async def save(
    db: Database,
    *,
    questionnaire: Questionnaire,
    document: Mapping[str, object],
    caller: Caller,
    expect: errors.Expect = errors.ANY,
    is_strict: bool,
    now: datetime,
    made_for: Sources = NO_SOURCES,
) -> tuple[DraftRecord, bool]:
    """Save a document as the draft and add missing ids; also returns whether it is the first draft.

    Problems do not prevent saving, except unknown members if `is_strict`. A valid document is stored in
    its full form; one that changes nothing keeps its revision. `questionnaire` is locked. Raises Stale, Invalid.
    `made_for`: see `core.questionnaires.translations.outdated_after`.
    """
    before = await get_draft_record(db, **questionnaire.key)
    expect(errors.ABSENT if before is None else before.revision)
    known = before.definition if before else await first_definition(db, questionnaire)  # has the keys of given ids
    kept = drafts.prepared(document, known=known, new_id=lambda: ids.ordered(now))
    findings = Findings(strict=is_strict)
    definition = core_definition.read(kept, findings)
    _require_members(findings)
    if not findings.errors:
        kept = core_definition.document_of(definition)
    marked: Sources = (before.translated_sources if before else None) or {}
    sources = _outdated(known, definition, questionnaire, marked, made_for)
    return await _keep(db, questionnaire, before, kept, sources=sources, now=now, by=caller.actor_id)


async def restore(
    db: Database,
    *,
    questionnaire: Questionnaire,
    version_id: str,
    caller: Caller,
    expect: errors.Expect = errors.ANY,
    now: datetime,
) -> tuple[DraftRecord, bool]:
    """`questionnaire` is locked; also returns whether it is the first draft."""
    before = await get_draft_record(db, **questionnaire.key)
    expect(errors.ABSENT if before is None else before.revision)
    version = await version_of(db, questionnaire, version_id)
    document = core_definition.document_of(version.definition)
    return await _keep(db, questionnaire, before, document, sources={}, now=now, by=caller.actor_id)


async def version_of(db: Database, questionnaire: Questionnaire, version_id: str) -> Version:
    if not ids.is_id(version_id):
        raise errors.NotFound("There is no such version.")
    version = await questionnaires_store.get_version(
        db, organization_id=questionnaire.organization_id, version_id=version_id
    )
    if version.questionnaire_id != questionnaire.questionnaire_id:
        raise errors.NotFound("There is no such version.")
    return version


async def compare(
    db: Database, *, questionnaire: Questionnaire, version_id: str, compared_id: str
) -> list[DifferenceRecord]:
    earlier = (await version_of(db, questionnaire, version_id)).definition
    if compared_id == DRAFT_ID:
        draft = await get(db, **questionnaire.key)
        return differences(earlier, core_definition.read(draft.definition, Findings()))
    return differences(earlier, (await version_of(db, questionnaire, compared_id)).definition)


async def begin(
    db: Database,
    *,
    questionnaire: Questionnaire,
    definition: Mapping[str, object] | None,
    now: datetime,
    by: str | None,
) -> DraftRecord:
    """Create the first draft of a questionnaire: `definition` with the keys of its file, else an empty one."""
    locale = questionnaire.default_locale
    empty = {"default_locale": locale, "locales": [locale], "translations": {}, "groups": [], "pages": {}}
    draft, _ = await _keep(db, questionnaire, None, definition or empty, sources={}, now=now, by=by)
    return draft


async def settle(
    db: Database, *, draft: DraftRecord, definition: DefinitionRecord, version_id: str, now: datetime
) -> None:
    document = core_definition.document_of(definition)
    if (draft.base_version_id, _encode(draft.definition)) != (version_id, _encode(document)):
        changed = {"base_version_id": version_id, "definition": document, "updated_time": now}
        await _insert_draft(db, draft=replace(draft, **changed, translated_sources=None))


async def discard(db: Database, *, questionnaire: Questionnaire, expect: errors.Expect = errors.ANY) -> None:
    """Delete the draft; `questionnaire` is locked. Raises NotFound, Stale."""
    expect((await get(db, **questionnaire.key)).revision)
    await _delete_draft(db, **questionnaire.key)


def check(document: Mapping[str, object], *, is_strict: bool, now: datetime) -> list[Finding]:
    findings = Findings(strict=is_strict)
    prepared = drafts.prepared(document, known={}, new_id=lambda: ids.ordered(now))
    definition = core_definition.read(prepared, findings)
    _require_members(findings)
    check_size(prepared, findings)
    flow.check_anonymity(definition, findings)
    flow.check_reviews(definition, findings)
    flow.warn(definition, findings)
    return findings.found


class Examined(msgspec.Struct, frozen=True):
    """The readable part of a draft, the metadata that it may use, and its problems; errors prevent publication."""

    definition: DefinitionRecord
    declared: Declared
    findings: Findings


async def examine(db: Database, *, questionnaire: Questionnaire, draft: DraftRecord) -> Examined:
    declared = await metadata.declared(
        db, organization_id=questionnaire.organization_id, application_id=questionnaire.owner_application_id
    )
    definition, found, warned = _read(questionnaire.organization_id, _encode(draft.definition), declared)
    findings = Findings(found=[*found])
    check_size(draft.definition, findings)
    if definition.default_locale != questionnaire.default_locale:
        message = f"The default locale stays what it was at first: {questionnaire.default_locale}."
        findings.error("/default_locale", "read_only", message)
    key_question_id = questionnaire.key_question_id
    if key_question_id is not None and definition.question(key_question_id) is None:
        message = "The questionnaire's key_question_id is no question of these; set another one first."
        findings.error("/groups", "unknown_id", message)
    if draft.base_version_id != questionnaire.published_version_id:
        findings.warning(
            "", "outdated", "Another version has been published since this was saved; it would be replaced."
        )
    core_definition.warn_untranslated(definition, questionnaire.own_texts, findings)
    findings.found += warned[: FINDINGS_MAX - len(findings.found)]
    await _check_dependencies(db, questionnaire.organization_id, definition, findings)
    return Examined(definition, declared, findings)


@lru_cache(maxsize=32)
def _read(
    _organization_id: str, content: bytes, declared: Declared
) -> tuple[DefinitionRecord, Sequence[Finding], Sequence[Finding]]:
    """The definition, the problems of reading it, and those of the whole, which each page of the editor asks for."""
    found, warned = Findings(), Findings()
    definition = core_definition.read(msgspec.json.decode(content), found, declared=declared)
    flow.check_anonymity(definition, warned)
    flow.check_reviews(definition, warned)
    flow.warn(definition, warned)
    variables.check(definition, declared, warned)
    return definition, found.found, warned.found


async def _check_dependencies(
    db: Database, organization_id: str, definition: DefinitionRecord, findings: Findings
) -> None:
    keys, asset_ids = list(flow.pools_of(definition)), list(flow.pictures_of(definition))
    pools = await coupons.list_keys(db, organization_id=organization_id, keys=keys) if keys else set[str]()
    pictures = set[str]()
    if asset_ids:
        pictures = await assets.list_asset_ids(db, organization_id=organization_id, asset_ids=asset_ids)
    flow.check(definition, pools=pools, pictures=pictures, findings=findings)


def check_size(document: Mapping[str, Any], findings: Findings) -> None:
    if len(_encode(document)) > core_definition.DEFINITION_BYTES_MAX:
        message = f"A definition has at most {core_definition.DEFINITION_BYTES_MAX:,} bytes."
        findings.error("", "too_long", message)


async def _keep(
    db: Database,
    questionnaire: Questionnaire,
    before: DraftRecord | None,
    definition: Mapping[str, object],
    *,
    sources: Sources,
    now: datetime,
    by: str | None,
) -> tuple[DraftRecord, bool]:
    base = questionnaire.published_version_id
    if before is not None:
        stored = before.base_version_id, _encode(before.definition), before.translated_sources or {}
        if stored == (base, _encode(definition), sources):
            return before, False
    made = DraftRecord(
        **questionnaire.key,
        base_version_id=base,
        revision=1,
        definition=dict(definition),
        updated_time=now,
        updated_by=by,
        translated_sources={locale: dict(texts) for locale, texts in sources.items()},
    )
    return await _insert_draft(db, draft=made), before is None


def _outdated(
    before: Mapping[str, object],
    after: DefinitionRecord,
    questionnaire: Questionnaire,
    known: Sources,
    made_for: Sources,
) -> dict[str, dict[str, str]]:
    earlier = core_definition.read(before, Findings())
    own = questionnaire.own_texts
    found = {
        locale: translations.outdated_after(
            texts_of(earlier, locale, own),
            texts_of(after, locale, own),
            known=known.get(locale, {}),
            made_for=made_for.get(locale, {}),
        )
        for locale in after.locales
        if locale != after.default_locale
    }
    return {locale: texts for locale, texts in found.items() if texts}


def _require_members(findings: Findings) -> None:
    """Of strict findings, raise those about unknown members."""
    unknown = [one for one in findings.errors if one.code == "unknown_member"] if findings.strict else []
    if unknown:
        raise errors.Invalid.of(*unknown)


async def begun(db: Database, *, questionnaire: Questionnaire) -> dict[str, Any]:
    """The definition to edit: the draft's, or the one from which a draft begins."""
    draft = await get_draft_record(db, **questionnaire.key)
    return draft.definition if draft is not None else await first_definition(db, questionnaire)


async def first_definition(db: Database, questionnaire: Questionnaire) -> dict[str, Any]:
    """The published version's, from which a draft begins."""
    version = await access.published(db, questionnaire)
    if version is None:
        return {"default_locale": questionnaire.default_locale, "groups": []}
    return core_definition.document_of(version.definition)


async def edit(db: Database, *, caller: Caller, questionnaire_id: str, change: Change, now: datetime) -> DraftRecord:
    """Save the draft as `change` makes it of the definition that is stored now. Raises NotFound, and what it raises."""
    questionnaire = await access.lock(db, caller=caller, questionnaire_id=questionnaire_id)
    document = change(await begun(db, questionnaire=questionnaire))
    draft, _ = await save(db, questionnaire=questionnaire, document=document, caller=caller, is_strict=False, now=now)
    return draft


async def undo(db: Database, *, caller: Caller, questionnaire_id: str, revision: str, now: datetime) -> bool:
    """Take back the change that made this revision; the first one began the draft, which goes.

    False where the draft was changed since. Raises NotFound.
    """
    questionnaire = await access.lock(db, caller=caller, questionnaire_id=questionnaire_id)
    if str((await get(db, **questionnaire.key)).revision) != revision:
        return False
    if not await _update_to_before(db, **questionnaire.key, now=now, by=caller.actor_id):
        await _delete_draft(db, **questionnaire.key)
    return True


routes = Routes(tag="Questionnaires", scope="Questionnaire")

PATH: Final = "/q/questionnaire/{questionnaire_id}/draft"
DEPTH_MAX: Final = 24  # of a definition, whose jumps contain condition trees

ByLocale = Annotated[dict[str, dict[str, Any]], Meta(examples=[{"el": {"thank_you": "Ευχαριστούμε!"}}])]
Groups = Annotated[
    list[dict[str, Any]],
    Meta(
        max_length=GROUPS_MAX,
        examples=[[{"questions": [{"type": "nps", "title": "Would you recommend us?", "required": True}]}]],
    ),
]

Endings = Annotated[
    list[dict[str, Any]],
    Meta(
        max_length=ENDINGS_MAX,
        examples=[[{"title": "Thank you", "button_label": "Back to the shop", "button_url": "https://shop.example/"}]],
    ),
]


class Definition(fields.Request):
    """The content of a questionnaire: groups with their questions, and texts by language.

    A group, question, row or ending without its id is given one; `translations` has the questionnaire's own `title` and
    `description` in other languages. `docs/questionnaires.md` describes all of it.
    """

    default_locale: fields.LocaleNormal
    groups: Groups
    locales: Annotated[list[fields.LocaleNormal], Meta(max_length=LOCALES_MAX)] = field(default_factory=list[str])
    pages: ByLocale = field(default_factory=dict[str, dict[str, Any]])
    translations: ByLocale = field(default_factory=dict[str, dict[str, Any]])
    endings: Endings = field(default_factory=list[dict[str, Any]])
    anonymous: bool = False


class Problem(fields.Resource):
    """A problem of a definition at a JSON pointer; an `error` prevents publication."""

    path: str
    severity: Literal["error", "warning"]
    code: str
    message: str


class Validation(fields.Answer):
    """All problems of a definition."""

    problems: list[Problem]


Draft: Final = shown_as(
    "Draft",
    DraftRecord,
    before={"updated_time": {"problems": list[Problem], "length_seconds": int, "screens": int}},
)


class Difference(fields.Resource):
    """One change; `path` points into the later definition, and into the earlier one where something is gone."""

    kind: str
    sentence: str
    path: str
    group_id: fields.Id | None
    question_id: fields.Id | None
    locale: str | None
    member: str | None
    before: Any
    after: Any


class VersionDifference(fields.Answer):
    """All changes from a version to another one, or to the draft."""

    questionnaire_id: fields.Id
    version_id: fields.Id
    compared_id: str
    differences: list[Difference]


@routes.get(PATH, answer=Draft, summary="Get draft")
async def get_draft(call: Call[None], db: Database) -> Answer:
    questionnaire = await access.get(db, caller=call.caller, **call.ids)
    draft = await get(db, **questionnaire.key)
    return await _answer(call, db, questionnaire, draft)


@routes.put(
    PATH,
    answer=Draft,
    summary="Save draft",
    description=(
        "The whole definition. Groups, questions and rows without an id are given one; those that come back keep "
        "theirs. What is wrong stands in `problems` and does not keep the draft from being saved. 201 where there was "
        "none."
    ),
    depth_max=DEPTH_MAX,
)
async def save_draft(call: Call[Definition], db: Database) -> Answer:
    questionnaire = await access.lock(db, caller=call.caller, **call.ids)
    draft, is_new = await save(
        db,
        questionnaire=questionnaire,
        document=msgspec.structs.asdict(call.body),
        caller=call.caller,
        expect=call.expect,
        is_strict=call.strict,
        now=call.now,
    )
    return await _saved(call, db, questionnaire, draft, is_new=is_new)


@routes.post(
    f"{PATH}/from/{{version_id}}",
    scope="Questionnaire.Update",
    answer=Draft,
    summary="Begin draft anew from a version",
    description=(
        "The draft gets the definition of this version, whatever it had; `If-Match` refuses it where somebody else "
        "saved meanwhile. Nothing is published. 201 where there was no draft."
    ),
    status=200,
    other_statuses=(201,),
)
async def begin_draft_anew(call: Call[None], db: Database) -> Answer:
    questionnaire = await access.lock(db, caller=call.caller, questionnaire_id=call.ids["questionnaire_id"])
    draft, is_new = await restore(
        db,
        questionnaire=questionnaire,
        version_id=call.ids["version_id"],
        caller=call.caller,
        expect=call.expect,
        now=call.now,
    )
    return await _saved(call, db, questionnaire, draft, is_new=is_new)


@routes.delete(
    PATH,
    scope="Questionnaire.Update",
    summary="Discard draft",
    description="The published version stays as it is; a new draft may begin with its definition.",
)
async def discard_draft(call: Call[None], db: Database) -> None:
    questionnaire = await access.lock(db, caller=call.caller, **call.ids)
    await discard(db, questionnaire=questionnaire, expect=call.expect)


@routes.post(
    "/q/questionnaire/validation",
    scope="Questionnaire.Read",
    answer=Validation,
    summary="Validate definition",
    description="Nothing is saved. Metadata that jumps ask for may be any: they belong to an application.",
    depth_max=DEPTH_MAX,
    status=200,
)
async def validate_definition(call: Call[Definition], db: Database) -> Answer:  # noqa: ARG001  as all handlers
    found = check(msgspec.structs.asdict(call.body), is_strict=call.strict, now=call.now)
    return Answer(Validation(problems=[Problem.of(one, message=str(one.message)) for one in found]))


@routes.get(
    "/q/questionnaire/{questionnaire_id}/version/{version_id}/diff/{compared_id}",
    scope="Questionnaire Version.Read",
    more_scopes=("Questionnaire.Read",),
    answer=VersionDifference,
    summary="Compare versions",
    description=(
        "Each change from the first version to the second, in a sentence and in members. `draft` in place of the "
        "second id compares with the draft, as far as it can be read."
    ),
    texts=("compared_id",),
)
async def compare_versions(call: Call[None], db: Database) -> Answer:
    questionnaire = await access.get(db, caller=call.caller, questionnaire_id=call.ids["questionnaire_id"])
    version_id, compared_id = call.ids["version_id"], call.ids["compared_id"]
    found = await compare(db, questionnaire=questionnaire, version_id=version_id, compared_id=compared_id)
    return Answer(
        VersionDifference(
            questionnaire_id=questionnaire.questionnaire_id,
            version_id=version_id,
            compared_id=compared_id,
            differences=[Difference.of(one) for one in found],
        )
    )


async def _saved(
    call: Call[Any], db: Database, questionnaire: Questionnaire, draft: DraftRecord, *, is_new: bool
) -> Answer:
    answer = await _answer(call, db, questionnaire, draft)
    if is_new:
        answer.status = 201
        answer.location = f"/q/questionnaire/{questionnaire.questionnaire_id}/draft"
    return answer


async def _answer(call: Call[Any], db: Database, questionnaire: Questionnaire, draft: DraftRecord) -> Answer:
    examined = await examine(db, questionnaire=questionnaire, draft=draft)
    estimate = length(examined.definition)
    shown = Draft.of(
        draft,
        call.zone,
        definition=drafts.shown(draft.definition),
        problems=[Problem.of(one, message=str(one.message)) for one in examined.findings.found],
        length_seconds=estimate.seconds,
        screens=estimate.screens,
    )
    return Answer(shown, version=draft.revision)
