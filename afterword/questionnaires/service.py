"""Publishing questionnaires: a file is checked, and becomes a new immutable version if it says something new."""

import hashlib
from dataclasses import asdict, dataclass
from datetime import datetime
from importlib import resources

import msgspec

from afterword import errors, ids
from afterword.accounts import store as accounts_store
from afterword.core import definition as core_definition
from afterword.core.access import Caller
from afterword.core.definition import Definition, GiveId
from afterword.db import Database
from afterword.events import service as events
from afterword.questionnaires import files, store
from afterword.questionnaires.files import InvalidFile, Problem
from afterword.questionnaires.store import Questionnaire, Version

__all__ = ["LIBRARY", "Imported", "InvalidFile", "Problem", "import_file", "library_text", "stable_id"]

LIBRARY = ("after_delivery", "relationship", "support_case")
SLUG_CHARACTERS_MAX = 100
_ID_BITS = 128


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import came to. `created`: a new version was published; `warnings` are worth showing to the author."""

    questionnaire: Questionnaire
    version: Version
    created: bool
    warnings: tuple[Problem, ...] = ()


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
    """Publish a file's text as the questionnaire `slug` of an application, or as its next version.

    A file that says what the published version says makes no version. `actor` is who asked for it, None the
    operator. Raises InvalidFile with every fault, NotFound for an unknown application.
    """
    if await accounts_store.get_application(db, organization_id=organization_id, application_id=application_id) is None:
        raise errors.NotFound("There is no such application.")
    before = await _lock_by_slug(db, organization_id=organization_id, application_id=application_id, slug=slug)
    questionnaire_id = ids.ordered(now) if before is None else before.questionnaire_id
    published = await _published(db, before)
    file = files.read(
        text,
        give_id=giver(questionnaire_id, published.definition if published else None),
        default_locale=before and before.default_locale,
    )
    if before is None:
        before = await store.insert_questionnaire(
            db,
            organization_id=organization_id,
            questionnaire_id=questionnaire_id,
            application_id=application_id,
            slug=slug,
            settings=file.settings.columns,
            now=now,
            by=actor and actor.actor_id,
        )
        if before is None:
            raise errors.Conflict("Another import of this file is under way; try again.")
        await _record(db, before, "questionnaire.created", now=now, actor=actor)
    version = await _publish(db, before, published, file.definition, now=now, actor=actor)
    questionnaire = await _settle(db, before, file, version, now=now, actor=actor)
    return Imported(questionnaire, version, created=version is not published, warnings=file.warnings)


def library_text(name: str) -> str:
    """The text of one of the questionnaires that come with the product."""
    if name not in LIBRARY:
        raise errors.NotFound("There is no such questionnaire in the library.")
    return (resources.files("afterword.questionnaires") / "library" / f"{name}.yaml").read_text(encoding="utf-8")


def giver(questionnaire_id: str, published: Definition | None) -> GiveId:
    """Ids for the keys of a file: the published version's own, else derived from questionnaire and key.

    So an id survives every edit of texts, order and groups, and a question that was taken out and comes back under
    its key has its old id again, without a table of ids that would have to be kept.
    """
    known: dict[tuple[str, str], str] = {}
    for group in published.groups if published else ():
        if group.key is not None:
            known["group", group.key] = group.group_id
        known |= {("question", one.key): one.question_id for one in group.questions if one.key is not None}
    return lambda kind, key: known.get((kind, key)) or stable_id(questionnaire_id, kind, key)


def stable_id(questionnaire_id: str, kind: str, key: str) -> str:
    """The id that a key has from its first publication on: 128 bits of a digest."""
    digest = hashlib.sha256(f"{questionnaire_id}:{kind}:{key}".encode()).digest()
    return ids.base62(int.from_bytes(digest[: _ID_BITS // 8], "big"), ids.ID_CHARACTERS)


async def _lock_by_slug(db: Database, *, organization_id: str, application_id: str, slug: str) -> Questionnaire | None:
    if not 1 <= len(slug) <= SLUG_CHARACTERS_MAX:
        message = f"A name of 1 to {SLUG_CHARACTERS_MAX} characters is expected."
        code = "too_long" if slug else "too_short"
        raise errors.Invalid.of(errors.FieldError(code, message, parameter="slug"))
    return await store.get_questionnaire_by_slug(
        db, organization_id=organization_id, application_id=application_id, slug=slug
    )


async def _published(db: Database, questionnaire: Questionnaire | None) -> Version | None:
    if questionnaire is None or questionnaire.published_version_id is None:
        return None
    return await store.get_version(
        db, organization_id=questionnaire.organization_id, version_id=questionnaire.published_version_id
    )


async def _publish(
    db: Database,
    questionnaire: Questionnaire,
    published: Version | None,
    definition: Definition,
    *,
    now: datetime,
    actor: Caller | None,
) -> Version:
    """The next version, or the published one where nothing differs."""
    document = msgspec.json.encode(core_definition.document_of(definition), order="deterministic")
    if len(document) > core_definition.DEFINITION_BYTES_MAX:
        message = f"The definition is larger than {core_definition.DEFINITION_BYTES_MAX} bytes."
        raise InvalidFile([Problem(1, "groups", "/groups", "too_long", message)])
    checksum = f"sha256:{hashlib.sha256(document).hexdigest()}"
    if published is not None and published.checksum == checksum:
        return published
    count = await store.count_versions(
        db, organization_id=questionnaire.organization_id, questionnaire_id=questionnaire.questionnaire_id
    )
    return await store.insert_version(
        db,
        organization_id=questionnaire.organization_id,
        version_id=ids.ordered(now),
        questionnaire_id=questionnaire.questionnaire_id,
        number=count + 1,
        note=None,
        definition=definition,
        checksum=checksum,
        now=now,
        by=actor and actor.actor_id,
    )


async def _settle(
    db: Database, before: Questionnaire, file: files.File, version: Version, *, now: datetime, actor: Caller | None
) -> Questionnaire:
    """Point the questionnaire at its version and give it the file's settings; without a difference write nothing."""
    is_new = before.published_version_id != version.version_id
    columns = file.settings.columns
    if not is_new and all(getattr(before, name) == value for name, value in columns.items()):
        return before
    questionnaire = await store.update_questionnaire(
        db,
        organization_id=before.organization_id,
        questionnaire_id=before.questionnaire_id,
        settings=columns,
        published_version_id=version.version_id,
        now=now,
        by=actor and actor.actor_id,
    )
    type_name = "questionnaire.published" if is_new else "questionnaire.updated"
    await _record(db, questionnaire, type_name, now=now, actor=actor)
    return questionnaire


async def _record(
    db: Database, questionnaire: Questionnaire, type_name: str, *, now: datetime, actor: Caller | None
) -> None:
    event = events.NewEvent(
        organization_id=questionnaire.organization_id,
        event_id=ids.ordered(now),
        type=type_name,
        subject_id=questionnaire.questionnaire_id,
        subject_version=questionnaire.version,
        questionnaire_id=questionnaire.questionnaire_id,
        actor_kind="worker" if actor is None else actor.actor_kind,
        actor_id=actor and actor.actor_id,
        data=asdict(questionnaire),
    )
    await events.record(db, events=[event])
