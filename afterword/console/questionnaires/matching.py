"""Sentences of the ways that the newest responses would take through the draft, under its questions and jumps."""

from dataclasses import dataclass
from typing import Final

from afterword.console.questionnaires.questionnaires import Work
from afterword.console.screens import Visit
from afterword.core.questionnaires import conditions
from afterword.core.questionnaires.conditions import Node
from afterword.core.questionnaires.editing import Document, jumps_of
from afterword.db import Database
from afterword.responses.passages import service
from afterword.responses.passages.service import Passages
from afterword.texts import Texts

SCOPE: Final = "Questionnaire Instance.Read"


@dataclass(frozen=True, slots=True)
class Matching:
    words: Texts
    work: Work
    found: Passages

    def of_jump(self, question: Document, number: int) -> str:
        """The number of answers that take a jump; empty where there is none to count, or the jump cannot be read."""
        known = self.work.definition.question(str(question.get("question_id")))
        if known is None or len(known.jumps) != len(jumps_of(question)) or number >= len(known.jumps):
            return ""
        asked = self.found.asked.get(known.question_id, 0)
        if self._is_unpublished(known.jumps[number].conditions):
            return self.words("It asks for what is not published yet, so it cannot be counted.")
        taken = self.found.jumps.get((known.question_id, number), 0)
        if not asked:
            return ""
        words = self.words
        return words("Of the last {all} answers, {n} would go there.", all=words.count(asked), n=words.count(taken))

    def of_condition(self, question: Document) -> str:
        """The number of responses that would be asked; empty without a condition."""
        known = self.work.definition.question(str(question.get("question_id")))
        if known is None or known.show_if is None:
            return ""
        if self._is_unpublished(known.show_if):
            return self.words("It asks for what is not published yet, so it cannot be counted.")
        asked = self.found.asked.get(known.question_id, 0)
        every, words = self.found.responses, self.words
        if not every:
            return ""
        return words("Of the last {all} responses, {n} would be asked.", all=words.count(every), n=words.count(asked))

    def _is_unpublished(self, condition: Node | None) -> bool:
        subjects = (leaf.subject.split(":") for leaf in conditions.leaves_of(condition))
        published = self.work.published
        return any(
            kind == "question" and (published is None or published.question(rest[0]) is None)
            for kind, *rest in subjects
        )


async def of(visit: Visit, db: Database, work: Work) -> Matching | None:
    """None where the reader may not read responses, or no response can be there."""
    if SCOPE not in visit.caller.scopes or work.published is None:
        return None
    found = await service.count(db, caller=visit.caller, questionnaire=work.questionnaire, definition=work.definition)
    return Matching(visit.words, work, found)


def is_counted(question: Document) -> bool:
    return bool(jumps_of(question)) or question.get("show_if") is not None
