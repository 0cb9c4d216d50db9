"""Finds the uses of a question: in its questionnaire, in alerts, in sequences and in saved reports."""

from collections.abc import Sequence
from typing import Final

from afterword import errors
from afterword.asking.questionnaires import access, editions
from afterword.asking.questionnaires.drafts import store as drafts_store
from afterword.core.organizations.access import Caller
from afterword.core.questionnaires import definition as core_definition
from afterword.core.questionnaires import endings
from afterword.core.questionnaires.flow import used_by_endings, used_by_jumps, used_to_show
from afterword.core.reading.findings import Findings
from afterword.kit.db import Database
from afterword.listening.search.question_uses import store
from afterword.listening.search.question_uses.store import Use

SCOPES: Final = {"alert": "Alert.Read", "sequence": "Sequence.Read", "report": "Report.Read"}
USES_MAX: Final = 200


async def find(db: Database, *, caller: Caller, questionnaire_id: str, question_id: str) -> list[Use]:
    """Alerts, sequences and reports where the caller may read them. Raises NotFound for a question of no edition."""
    questionnaire = await access.get(db, caller=caller, questionnaire_id=questionnaire_id)
    draft = await drafts_store.get_draft(db, **questionnaire.key)
    edition = await editions.find(db, questionnaire=questionnaire)
    definitions = [editions.sound(core_definition.read(draft.definition, Findings()))] if draft else []
    definitions += [edition.definition] if edition else []
    found = [each for each in definitions if each.question(question_id) is not None]
    if not found:
        raise errors.NotFound("There is no such question.")
    definition = found[0]
    uses: list[Use] = []
    if questionnaire.key_question_id == question_id:
        uses.append(Use("key_question", questionnaire_id, questionnaire.display_name))
    for kind, using in (("show_if", used_to_show), ("jump", used_by_jumps)):
        asking = map(definition.question, using(definition, question_id))
        uses += [Use(kind, question.question_id, question.plain_title) for question in asking if question]
    uses += [Use("ending", one.ending_id, endings.name_of(one)) for one in used_by_endings(definition, question_id)]
    return uses + await elsewhere(db, caller=caller, question_ids=[question_id])


async def elsewhere(db: Database, *, caller: Caller, question_ids: Sequence[str]) -> list[Use]:
    """The alerts, sequences and saved reports that name any of the questions, where the caller may read them."""
    found = await store.list_question_uses(db, **caller.part, question_ids=question_ids, limit=USES_MAX)
    return [use for use in found if SCOPES[use.kind] in caller.scopes]
