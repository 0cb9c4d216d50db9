"""Editions: the published version of a questionnaire, else the draft of one never published."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from afterword import errors, ids
from afterword.asking.questionnaires import access, drafts
from afterword.asking.questionnaires.store import Questionnaire
from afterword.core.questionnaires import definition as core_definition
from afterword.core.questionnaires.definition import Definition, Group
from afterword.core.reading.findings import Findings
from afterword.kit.db import Database


@dataclass(frozen=True, slots=True, kw_only=True)
class Edition:
    """A definition to show; `version_id` is None for the readable part of a `draft`."""

    organization_id: str
    questionnaire_id: str
    version_id: str | None
    definition: Definition
    revision: int
    draft: Mapping[str, object] | None


async def find(db: Database, *, questionnaire: Questionnaire) -> Edition | None:
    """The edition, or None without version and draft."""
    key = questionnaire.key
    version = await access.published(db, questionnaire)
    if version is not None:
        version_id, definition = version.version_id, version.definition
        return Edition(**key, version_id=version_id, definition=definition, revision=questionnaire.version, draft=None)
    draft = await drafts.get_draft_record(db, **key)
    if draft is None:
        return None
    definition = sound(core_definition.read(draft.definition, Findings()))
    document = core_definition.document_of(definition)
    return Edition(**key, version_id=None, definition=definition, revision=draft.revision, draft=document)


async def get(db: Database, *, questionnaire: Questionnaire) -> Edition:
    edition = await find(db, questionnaire=questionnaire)
    return errors.found(edition, "This questionnaire has neither a published version nor a draft.")


def sound(definition: Definition) -> Definition:
    """The definition without parts that have no valid id, or a repeated one; drafts may have them."""
    seen: set[str] = set()

    def is_new(identity: str) -> bool:
        if identity in seen or not ids.is_id(identity):
            return False
        seen.add(identity)
        return True

    groups: list[Group] = []
    for group in definition.groups:
        if is_new(group.group_id):
            asked = tuple(
                replace(question, rows=tuple(row for row in question.rows if is_new(row.row_id)))
                for question in group.questions
                if is_new(question.question_id)
            )
            groups.append(replace(group, questions=asked))
    endings = tuple(one for one in definition.endings if is_new(one.ending_id))
    return replace(definition, groups=tuple(groups), endings=endings)
