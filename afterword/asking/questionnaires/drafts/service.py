"""Saves, checks and discards drafts; `asking/questionnaires/service.py` publishes them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import msgspec

from afterword import errors, ids
from afterword.asking.coupons import pools as coupons
from afterword.asking.questionnaires import access
from afterword.asking.questionnaires import store as questionnaires_store
from afterword.asking.questionnaires.drafts import store
from afterword.asking.questionnaires.drafts.store import Draft
from afterword.asking.questionnaires.metadata import service as metadata_service
from afterword.asking.questionnaires.store import Questionnaire, Version
from afterword.core.organizations.access import Caller
from afterword.core.questionnaires import definition as core_definition
from afterword.core.questionnaires import dependencies, drafts, flow, translations, variables
from afterword.core.questionnaires.definition import Definition, Texts, texts_of
from afterword.core.questionnaires.differences import Difference, differences
from afterword.core.questionnaires.metadata import Declared
from afterword.core.questionnaires.translations import Sources
from afterword.core.reading.findings import Finding, Findings
from afterword.kit.db import Database
from afterword.tenants.organizations.assets import store as assets

DRAFT: Final = "draft"  # in place of a version's id
Change = Callable[[dict[str, Any]], dict[str, Any]]
NO_SOURCES: Final[Sources] = {}
_encode: Final = msgspec.json.Encoder(order="deterministic").encode


class NoDraft(errors.NotFound):
    """There is no draft; start with the published version's definition."""


async def get(db: Database, *, organization_id: str, questionnaire_id: str) -> Draft:
    """Raises NoDraft."""
    draft = await store.get_draft(db, organization_id=organization_id, questionnaire_id=questionnaire_id)
    if draft is None:
        raise NoDraft("This questionnaire has no draft.")
    return draft


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
) -> tuple[Draft, bool]:
    """Save a document as the draft and add missing ids; also returns whether it is the first draft.

    Problems do not prevent saving, except unknown members if `is_strict`. A valid document is stored in
    its full form; one that changes nothing keeps its revision. `questionnaire` is locked. Raises Stale, Invalid.
    `made_for`: see `core.questionnaires.translations.outdated_after`.
    """
    before = await store.get_draft(db, **questionnaire.key)
    expect(-1 if before is None else before.revision)
    known = await _known(db, questionnaire, before)
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
) -> tuple[Draft, bool]:
    """`questionnaire` is locked; also returns whether it is the first draft."""
    before = await store.get_draft(db, **questionnaire.key)
    expect(-1 if before is None else before.revision)
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


async def compare(db: Database, *, questionnaire: Questionnaire, version_id: str, compared_id: str) -> list[Difference]:
    earlier = (await version_of(db, questionnaire, version_id)).definition
    if compared_id == DRAFT:
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
) -> Draft:
    """Create the first draft of a questionnaire: a copy of `definition` without file keys, else an empty one.

    A copy has the ids of its template, so that reports join the answers of both.
    """
    locale = questionnaire.default_locale
    empty = {"default_locale": locale, "locales": [locale], "translations": {}, "groups": [], "pages": {}}
    return await store.insert_draft(
        db,
        **questionnaire.key,
        base_version_id=None,
        definition=empty if definition is None else drafts.shown(definition),
        now=now,
        by=by,
        translated_sources=None,
    )


async def settle(db: Database, *, draft: Draft, definition: Definition, version_id: str, now: datetime) -> None:
    document = core_definition.document_of(definition)
    if (draft.base_version_id, _encode(draft.definition)) != (version_id, _encode(document)):
        await store.insert_draft(
            db,
            organization_id=draft.organization_id,
            questionnaire_id=draft.questionnaire_id,
            base_version_id=version_id,
            definition=document,
            now=now,
            by=draft.updated_by,
        )


async def follow(db: Database, *, organization_id: str, questionnaire_id: str, version_id: str, now: datetime) -> None:
    """Move an unchanged draft to the version that a file published."""
    await store.update_base(
        db, organization_id=organization_id, questionnaire_id=questionnaire_id, version_id=version_id, now=now
    )


async def discard(db: Database, *, questionnaire: Questionnaire, expect: errors.Expect = errors.ANY) -> None:
    """Delete the draft; `questionnaire` is locked. Raises NoDraft, Stale."""
    expect((await get(db, **questionnaire.key)).revision)
    await store.delete_draft(db, **questionnaire.key)


def check(document: Mapping[str, object], *, is_strict: bool, now: datetime) -> list[Finding]:
    findings = Findings(strict=is_strict)
    prepared = drafts.prepared(document, known={}, new_id=lambda: ids.ordered(now))
    definition = core_definition.read(prepared, findings)
    _require_members(findings)
    check_size(prepared, findings)
    dependencies.check_anonymity(definition, findings)
    flow.warn(definition, findings)
    return findings.found


@dataclass(frozen=True, slots=True)
class Examined:
    """The readable part of a draft, the metadata that it may use, and its problems; errors prevent publication."""

    definition: Definition
    declared: Declared
    findings: Findings


async def examine(db: Database, *, questionnaire: Questionnaire, draft: Draft) -> Examined:
    findings = Findings()
    declared = await metadata_service.declared(
        db, organization_id=questionnaire.organization_id, application_id=questionnaire.owner_application_id
    )
    definition = core_definition.read(draft.definition, findings, declared=declared)
    check_size(draft.definition, findings)
    if definition.default_locale != questionnaire.default_locale:
        message = f"The default locale stays what it was at first: {questionnaire.default_locale}."
        findings.error("/default_locale", "read_only", message)
    key_question_id = questionnaire.key_question_id
    if key_question_id is not None and definition.question(key_question_id) is None:
        message = "The questionnaire's key_question_id is no question of these; set another one first."
        findings.error("/groups", "unknown_id", message)
    if draft.base_version_id != questionnaire.published_version_id:
        findings.warning("", "outdated", "Another version was published since this was saved; it would be replaced.")
    dependencies.check_anonymity(definition, findings)
    flow.warn(definition, findings)
    variables.check(definition, declared, findings)
    await _check_dependencies(db, questionnaire.organization_id, definition, findings)
    return Examined(definition, declared, findings)


async def _check_dependencies(db: Database, organization_id: str, definition: Definition, findings: Findings) -> None:
    keys, asset_ids = list(dependencies.pools_of(definition)), list(dependencies.pictures_of(definition))
    pools = await coupons.list_keys(db, organization_id=organization_id, keys=keys) if keys else set[str]()
    pictures = set[str]()
    if asset_ids:
        pictures = await assets.list_asset_ids(db, organization_id=organization_id, asset_ids=asset_ids)
    dependencies.check(definition, pools=pools, pictures=pictures, findings=findings)


def check_size(document: Mapping[str, Any], findings: Findings) -> None:
    if len(_encode(document)) > core_definition.DEFINITION_BYTES_MAX:
        message = f"A definition has at most {core_definition.DEFINITION_BYTES_MAX:,} bytes."
        findings.error("", "too_long", message)


async def _keep(
    db: Database,
    questionnaire: Questionnaire,
    before: Draft | None,
    definition: Mapping[str, object],
    *,
    sources: Sources,
    now: datetime,
    by: str | None,
) -> tuple[Draft, bool]:
    base = questionnaire.published_version_id
    if before is not None:
        stored = before.base_version_id, _encode(before.definition), before.translated_sources or {}
        if stored == (base, _encode(definition), sources):
            return before, False
    draft = await store.insert_draft(
        db, **questionnaire.key, base_version_id=base, definition=definition, now=now, by=by, translated_sources=sources
    )
    return draft, before is None


def _outdated(
    before: Mapping[str, object], after: Definition, questionnaire: Questionnaire, known: Sources, made_for: Sources
) -> dict[str, dict[str, str]]:
    earlier = core_definition.read(before, Findings())
    own = Texts(questionnaire.title, questionnaire.description)
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


async def _known(db: Database, questionnaire: Questionnaire, before: Draft | None) -> Mapping[str, object]:
    """The document to look up the keys of given ids in: the draft, else the published version."""
    if before is not None:
        return before.definition
    version = await access.published(db, questionnaire)
    return core_definition.document_of(version.definition) if version else {}


def _require_members(findings: Findings) -> None:
    """Of strict findings, raise those about unknown members."""
    unknown = [one for one in findings.errors if one.code == "unknown_member"] if findings.strict else []
    if unknown:
        raise errors.Invalid.of(*unknown)


async def begun(db: Database, *, questionnaire: Questionnaire) -> dict[str, Any]:
    """The definition to edit: the draft's; without a draft the published version's, from which one begins."""
    draft = await store.get_draft(db, **questionnaire.key)
    if draft is not None:
        return draft.definition
    version = await access.published(db, questionnaire)
    if version is None:
        return {"default_locale": questionnaire.default_locale, "groups": []}
    return core_definition.document_of(version.definition)


async def edit(db: Database, *, caller: Caller, questionnaire_id: str, change: Change, now: datetime) -> Draft:
    """Save the draft as `change` makes it of the definition that is stored now. Raises NotFound, and what it raises."""
    questionnaire = await access.lock(db, caller=caller, questionnaire_id=questionnaire_id)
    document = change(await begun(db, questionnaire=questionnaire))
    draft, _ = await save(
        db,
        questionnaire=questionnaire,
        document=document,
        caller=caller,
        is_strict=False,
        now=now,
    )
    return draft
