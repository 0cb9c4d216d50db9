"""Creates, changes, publishes (from a file or a draft) and archives questionnaires."""

import asyncio
import hashlib
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec
from msgspec.structs import asdict, replace

from afterword import errors, ids
from afterword.asking.questionnaires import access, drafts, files, library, metadata, store
from afterword.asking.questionnaires.files import InvalidFile, Problem
from afterword.asking.questionnaires.store import Questionnaire, Version
from afterword.core.organizations.access import Caller
from afterword.core.questionnaires import definition as core_definition, drafts as core_drafts
from afterword.core.questionnaires.definition import Definition, GiveId
from afterword.core.reading.findings import Findings
from afterword.core.text import locales
from afterword.errors import FieldError
from afterword.events import service as events
from afterword.kit.db import Database
from afterword.tenants.organizations import checks, service as accounts
from afterword.tenants.organizations.applications import get_application

SLUG_CHARACTERS_MAX = 100


class Archived(errors.Conflict):
    code_default = "questionnaire_inactive"


class NotReady(errors.Conflict):
    code_default = "not_ready"


class Imported(msgspec.Struct, frozen=True):
    """The result of an import. `created`: a new version was published; `warnings` are for the author."""

    questionnaire: Questionnaire
    version: Version
    created: bool
    warnings: tuple[Problem, ...] = ()


async def create(db: Database, *, caller: Caller, settings: Mapping[str, Any], now: datetime) -> Questionnaire:
    """Create a questionnaire with an empty draft, or with a copy of its template, of `library_name` or of `file`.

    `settings` are the columns that a client may set, all of them, and these two. Raises Invalid `unknown_id`,
    `unknown_value`, `exclusive`, and all errors of the file.
    """
    application_id = settings["owner_application_id"]
    pointer = "/owner_application_id"
    errors.check(await checks.reach_errors(db, caller=caller, application_id=application_id, pointer=pointer))
    template = await _template(db, caller=caller, questionnaire_id=settings["template_questionnaire_id"])
    if settings["library_name"] is not None:
        settings, template = await _from_library(db, caller=caller, settings=settings, now=now)
    if settings["file"] is not None:
        settings, template = await _from_file(settings, now=now)
    locale = _first_locale(settings["default_locale"], template, caller)
    _require_question(settings["key_question_id"], template)
    questionnaire = await _add(
        db,
        organization_id=caller.organization_id,
        questionnaire_id=ids.ordered(now),
        application_id=application_id,
        settings={**settings, "default_locale": locale, "locales": [locale]},
        now=now,
        actor=caller,
    )
    await drafts.begin(db, questionnaire=questionnaire, definition=template, now=now, by=caller.actor_id)
    return questionnaire


async def change(
    db: Database,
    *,
    caller: Caller,
    questionnaire_id: str,
    settings: Mapping[str, object],
    expect: errors.Expect = errors.ANY,
    now: datetime,
) -> Questionnaire:
    before = await access.lock(db, caller=caller, questionnaire_id=questionnaire_id)
    expect(before.version)
    if settings.get("key_question_id") not in {None, before.key_question_id}:
        _require_question(settings["key_question_id"], *await _editions(db, before))
    changed = {name: value for name, value in settings.items() if getattr(before, name) != value}
    if not changed:
        return before
    return await _update(db, before, changed, "questionnaire.updated", now=now, actor=caller)


async def archive(
    db: Database, *, caller: Caller, questionnaire_id: str, expect: errors.Expect = errors.ANY, now: datetime
) -> None:
    """Archive a questionnaire, which stays readable; repeating it changes nothing. Raises NotFound, Stale."""
    before = await access.lock(db, caller=caller, questionnaire_id=questionnaire_id)
    expect(before.version)
    if before.archived_time is None:
        await _update(db, before, {"archived_time": now}, "questionnaire.archived", now=now, actor=caller)


async def publish(
    db: Database, *, caller: Caller, questionnaire_id: str, note: str | None, now: datetime
) -> tuple[Version, bool]:
    """Also returns False if nothing differs. Raises Archived, NotReady, Invalid with every error of the draft."""
    before = await access.lock(db, caller=caller, questionnaire_id=questionnaire_id)
    if before.archived_time is not None:
        raise Archived("This questionnaire is archived.")
    draft = await drafts.get_draft_record(db, **before.key)
    if draft is None:
        raise NotReady("This questionnaire has no draft to publish.")
    examined = await drafts.examine(db, questionnaire=before, draft=draft)
    examined.findings.check()
    definition = examined.definition
    published = await access.published(db, before)
    version = await _publish(db, before, published, definition, note=note, now=now, actor=caller)
    await drafts.settle(db, draft=draft, definition=definition, version_id=version.version_id, now=now)
    if version is published:
        return version, False
    settings = {"published_version_id": version.version_id, "locales": list(definition.locales)}
    await _update(db, before, settings, "questionnaire.published", now=now, actor=caller)
    return version, True


async def import_file(
    db: Database,
    *,
    organization_id: str,
    application_id: str,
    text: str,
    slug: str,
    now: datetime,
    actor: Caller | None = None,
) -> Imported:
    """Publish a file as the questionnaire `slug` of an application, or as its next version.

    A file equal to the published version makes no version. `actor` is the caller, None the
    operator. Raises InvalidFile with every error, NotFound for an unknown application, Archived.
    """
    if await get_application(db, organization_id=organization_id, application_id=application_id) is None:
        raise errors.NotFound("There is no such application.")
    before = await _lock_by_slug(db, organization_id=organization_id, application_id=application_id, slug=slug)
    if before is not None and before.archived_time is not None:
        raise Archived("This questionnaire is archived.")
    questionnaire_id = ids.ordered(now) if before is None else before.questionnaire_id
    published = await access.published(db, before) if before else None
    declared = await metadata.declared(db, organization_id=organization_id, application_id=application_id)
    file = files.read(
        text,
        give_id=giver(questionnaire_id, published.definition if published else None),
        default_locale=before.default_locale if before else None,
        declared=declared,
    )
    if before is None:
        before = await _add(
            db,
            organization_id=organization_id,
            questionnaire_id=questionnaire_id,
            application_id=application_id,
            slug=slug,
            settings=file.settings,
            now=now,
            actor=actor,
        )
    version = await _publish(db, before, published, file.definition, note=None, now=now, actor=actor)
    questionnaire = await _settle(db, before, file, version, now=now, actor=actor)
    return Imported(questionnaire, version, created=version is not published, warnings=file.warnings)


async def create_from_file(
    db: Database,
    *,
    organization_id: str,
    application_id: str,
    text: str,
    slug: str | None,
    now: datetime,
    actor: Caller | None = None,
) -> tuple[Questionnaire, GiveId]:
    """A new questionnaire with the file as its draft, and the ids of the file's keys.

    `slug`: its name for further files, which must be free. Raises InvalidFile, NotFound for an unknown application,
    Conflict.
    """
    if await get_application(db, organization_id=organization_id, application_id=application_id) is None:
        raise errors.NotFound("There is no such application.")
    reach = {"organization_id": organization_id, "application_id": application_id}
    if slug is not None and await _lock_by_slug(db, **reach, slug=slug) is not None:
        message = (
            "There is a questionnaire of this name already. Change it in the console, or give the file another name."
        )
        raise errors.Conflict(message)
    questionnaire_id = ids.ordered(now)
    give_id = giver(questionnaire_id, None)
    declared = await metadata.declared(db, **reach)
    file = await asyncio.to_thread(files.read, text, give_id=give_id, declared=declared)
    questionnaire = await _add(
        db, **reach, questionnaire_id=questionnaire_id, slug=slug, settings=file.settings, now=now, actor=actor
    )
    definition = core_definition.document_of(file.definition)
    await drafts.begin(db, questionnaire=questionnaire, definition=definition, now=now, by=actor and actor.actor_id)
    return questionnaire, give_id


async def _add(db: Database, *, now: datetime, actor: Caller | None, **new: Any) -> Questionnaire:
    """A new questionnaire, of which the store is given these. Raises Conflict for a slug that is taken meanwhile."""
    made = await store.insert_questionnaire(db, **new, now=now, by=actor and actor.actor_id)
    if made is None:
        raise errors.Conflict("Another import of this file is under way; try again.")
    await _record(db, made, "questionnaire.created", now=now, actor=actor)
    return made


def giver(questionnaire_id: str, published: Definition | None) -> GiveId:
    """Ids for the keys of a file: the published version's, else derived from questionnaire and key.

    So an id survives every edit of texts, order and groups, and a question removed and added again with its key has
    its old id, without a table of ids.
    """
    known: dict[tuple[str, str], str] = {}
    for group in published.groups if published else ():
        if group.key is not None:
            known["group", group.key] = group.group_id
        known |= {("question", one.key): one.question_id for one in group.questions if one.key is not None}
        known |= {
            ("row", f"{one.key or one.question_id}.{row.key}"): row.row_id
            for one in group.questions
            for row in one.rows
            if row.key is not None
        }
    known |= {("ending", one.key): one.ending_id for one in (published.endings if published else ()) if one.key}
    return lambda kind, key: known.get((kind, key)) or ids.derived(f"{questionnaire_id}:{kind}:{key}")


async def _template(db: Database, *, caller: Caller, questionnaire_id: str | None) -> dict[str, Any] | None:
    """The ids stay, so that reports join the answers of both; the keys of its file do not."""
    if questionnaire_id is None:
        return None
    try:
        questionnaire = await access.get(db, caller=caller, questionnaire_id=questionnaire_id)
    except errors.NotFound:
        raise errors.Invalid.at("/template_questionnaire_id", "unknown_id", "There is no such questionnaire.") from None
    editions = await _editions(db, questionnaire)
    return core_drafts.shown(editions[0]) if editions else None


async def _from_library(
    db: Database, *, caller: Caller, settings: Mapping[str, Any], now: datetime
) -> tuple[dict[str, Any], dict[str, object]]:
    """The settings, filled up with those of the library, and the definition in the organization's languages."""
    name, wanted = settings["library_name"], settings["default_locale"]
    if settings["template_questionnaire_id"] is not None:
        raise errors.Invalid.at("/library_name", "exclusive", "Give this or `template_questionnaire_id`.")
    if name not in library.NAMES:
        raise errors.Invalid.at("/library_name", "unknown_id", "There is no such questionnaire in the library.")
    organization = await accounts.get_organization(db, organization_id=caller.organization_id)
    known = library.get(name).definition
    default = wanted or locales.match(caller.default_locale, known.locales, known.default_locale)
    found, definition = library.draft(
        name,
        new_id=lambda: ids.ordered(now),
        default_locale=default,
        locales=organization.locales if organization else (),
    )
    return {**settings, **{each: settings[each] or found[each] for each in found}}, definition


async def _from_file(settings: Mapping[str, Any], *, now: datetime) -> tuple[dict[str, Any], dict[str, object]]:
    if settings["template_questionnaire_id"] is not None or settings["library_name"] is not None:
        raise errors.Invalid.at(
            "/file", "exclusive", "Give this, `template_questionnaire_id` or `library_name`, one of them."
        )
    try:
        file = await asyncio.to_thread(files.read, settings["file"], give_id=giver(ids.ordered(now), None))
    except InvalidFile as invalid:
        wrong = [replace(one, pointer="/file") for one in invalid.errors]
        raise errors.Invalid(invalid.detail, errors=wrong) from invalid
    found = {name: file.settings[name] for name in files.SETTINGS if name != "display_name"}
    return {**settings, **found}, core_definition.document_of(file.definition)


async def written(db: Database, *, caller: Caller, questionnaire_id: str) -> str:
    """The file of its draft, or of its published version where no draft was begun. Raises NotFound."""
    questionnaire, document = await newest(db, caller=caller, questionnaire_id=questionnaire_id)
    settings = {name: getattr(questionnaire, name) for name in files.SETTINGS}
    return files.written(settings, document or {})


async def newest(db: Database, *, caller: Caller, questionnaire_id: str) -> tuple[Questionnaire, dict[str, Any] | None]:
    """The questionnaire and the document of its draft, else of its published version. Raises NotFound."""
    questionnaire = await access.get(db, caller=caller, questionnaire_id=questionnaire_id)
    editions = await _editions(db, questionnaire)
    return questionnaire, editions[-1] if editions else None


async def _editions(db: Database, questionnaire: Questionnaire) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    published = await access.published(db, questionnaire)
    if published is not None:
        found.append(core_definition.document_of(published.definition))
    draft = await drafts.get_draft_record(db, **questionnaire.key)
    return found if draft is None else [*found, draft.definition]


def _first_locale(requested: str | None, template: Mapping[str, Any] | None, caller: Caller) -> str:
    """The requested locale, which must be the template's, else the organization's."""
    locale = requested or (template or {}).get("default_locale") or locales.normalise(caller.default_locale)
    if template is not None and locale != template.get("default_locale"):
        raise errors.Invalid.at("/default_locale", "unknown_value", "A copy has the default locale of its template.")
    return str(locale)


def _require_question(question_id: object, *editions: Mapping[str, Any] | None) -> None:
    """Raise Invalid unless it is null or a question of one of the definitions."""
    known = {
        question.question_id
        for definition in editions
        if definition is not None
        for question in core_definition.read(definition, Findings()).questions()
    }
    if question_id is not None and question_id not in known:
        raise errors.Invalid.at("/key_question_id", "unknown_id", "There is no such question.")


async def _lock_by_slug(db: Database, *, organization_id: str, application_id: str, slug: str) -> Questionnaire | None:
    if not 1 <= len(slug) <= SLUG_CHARACTERS_MAX:
        message = f"A name of 1 to {SLUG_CHARACTERS_MAX} characters is expected."
        code = "too_long" if slug else "too_short"
        raise errors.Invalid.of(errors.FieldError(code, message, parameter="slug"))
    return await store.get_questionnaire_by_slug(
        db, organization_id=organization_id, application_id=application_id, slug=slug
    )


async def _publish(
    db: Database,
    questionnaire: Questionnaire,
    published: Version | None,
    definition: Definition,
    *,
    note: str | None,
    now: datetime,
    actor: Caller | None,
) -> Version:
    """The next version, or the published one if nothing differs."""
    plain = core_definition.document_of(definition)
    document = msgspec.json.encode(plain, order="deterministic")
    if len(document) > core_definition.DEFINITION_BYTES_MAX:
        message = f"The definition is larger than {core_definition.DEFINITION_BYTES_MAX} bytes."
        raise InvalidFile([Problem(1, "groups", "/groups", "too_long", message)])
    checksum = f"sha256:{hashlib.sha256(document).hexdigest()}"
    if published is not None and published.checksum == checksum:
        return published
    await _require_types(db, questionnaire, plain)
    count = await store.count_versions(db, **questionnaire.key)
    version = Version(
        **questionnaire.key,
        version_id=ids.ordered(now),
        number=count + 1,
        note=note,
        definition=definition,
        checksum=checksum,
        published_time=now,
        published_by=actor and actor.actor_id,
    )
    await store.insert_version(db, version=version)
    return version


async def _require_types(db: Database, questionnaire: Questionnaire, document: Mapping[str, Any]) -> None:
    """Raise Invalid for a question that had another type or scale, here or in the template.

    Reports add up the answers of all versions, and those of a copy and its template.
    """
    both = filter(None, [questionnaire.questionnaire_id, questionnaire.template_questionnaire_id])
    known = await store.list_question_types(
        db, organization_id=questionnaire.organization_id, questionnaire_ids=list(both)
    )
    published = {question_id for question_id, *_ in known}
    message = (
        "This question was published with another type or scale; the new one needs an id (in a file, a key) of its own."
    )
    wrong = [
        FieldError("read_only", message, pointer=f"/groups/{place}/questions/{index}/type")
        for place, group in enumerate(document["groups"])
        for index, one in enumerate(group["questions"])
        if one["question_id"] in published
        and (one["question_id"], one["type"], one.get("scale_min"), one.get("scale_max")) not in known
    ]
    errors.check(wrong)


async def _settle(
    db: Database, before: Questionnaire, file: files.File, version: Version, *, now: datetime, actor: Caller | None
) -> Questionnaire:
    is_new = before.published_version_id != version.version_id
    columns = file.settings
    if not is_new and all(getattr(before, name) == value for name, value in columns.items()):
        return before
    if is_new:
        await drafts.update_base(db, **before.key, version_id=version.version_id, now=now)
    type_name = "questionnaire.published" if is_new else "questionnaire.updated"
    settings = {**columns, "published_version_id": version.version_id}
    return await _update(db, before, settings, type_name, now=now, actor=actor)


async def _update(
    db: Database,
    before: Questionnaire,
    settings: Mapping[str, object],
    type_name: str,
    *,
    now: datetime,
    actor: Caller | None,
) -> Questionnaire:
    questionnaire = await store.update_questionnaire(
        db, **before.key, settings=settings, now=now, by=actor and actor.actor_id
    )
    await _record(db, questionnaire, type_name, now=now, actor=actor)
    return questionnaire


async def _record(
    db: Database, questionnaire: Questionnaire, type_name: str, *, now: datetime, actor: Caller | None
) -> None:
    event = events.NewEvent.of(
        questionnaire,
        type_name,
        questionnaire.questionnaire_id,
        asdict(questionnaire),
        now=now,
        actor=events.Actor.of(actor),
    )
    await events.record(db, events=[event])
