"""Conditions and jumps in the editor: their form, as sentences, and the newest responses that they would take.

The form has rows, or JSON for a tree that rows cannot show. Wrong ones are saved too.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from starlette.responses import Response

from afterword import errors
from afterword.asking.questionnaires.condition_rows import Row, Subjects, sentence_of, subjects_of, with_named
from afterword.asking.screens.outline import title_of
from afterword.asking.screens.questionnaires import Work
from afterword.console.conditions import Values, values_of
from afterword.console.screens import Visit
from afterword.core.questionnaires import conditions, editing
from afterword.core.questionnaires import definition as core_definition
from afterword.core.questionnaires.conditions import Node
from afterword.core.questionnaires.editing import Document, jumps_of
from afterword.core.reading.findings import Findings
from afterword.errors import Refusal
from afterword.kit.db import Database
from afterword.kit.texts import Texts
from afterword.kit.web import static
from afterword.listening.responses.passages import service
from afterword.listening.responses.passages.service import Passages


def page(
    visit: Visit,
    values: Values,
    known: Subjects,
    *,
    title: str,
    hint: str,
    remove: str,
    seen: str,
    refusal: Refusal | None,
    problems: Refusal | None,
    first: Row | None = None,
    **others: Any,
) -> Response:
    """`remove`: the label of the button that takes it out, if there is one. `first`: a row to begin with."""
    words = visit.words
    return visit.page(
        "jump.html",
        title=title,
        status=refusal.status if refusal else 200,
        refusal=refusal or problems,
        script=static.url("console/edit.js"),
        hint=hint,
        remove=remove,
        **values_of(words, values, known, first=first),
        seen=visit.form.text("seen") if isinstance(refusal, errors.Invalid) else seen,
        **{"theirs": "", "targets": (), "target": "", **others},
    )


def mark_of(value: object) -> str:
    """A digest of what is stored, by which a change of somebody else is noticed; empty for nothing."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16] if value else ""


def problems_of(
    work: Work, question_id: str, below: str, field: Callable[[list[str]], str], said: str
) -> Refusal | None:
    """The problems of a question below a pointer, at the fields that `field` names by the parts of the rest of it."""
    found = [
        errors.FieldError(one.code, one.message, pointer=f"/{field(one.path.removeprefix(path).split('/')[1:])}")
        for number, group in enumerate(editing.groups_of(work.draft.definition))
        for place, each in enumerate(editing.questions_of(group))
        if each.get("question_id") == question_id
        for path in [f"/groups/{number}/questions/{place}/{below}"]
        for one in work.findings
        if f"{one.path}/".startswith(f"{path}/")
    ]
    return errors.Invalid(said, errors=found) if found else None


END: Final = ""  # the target that ends the questionnaire


def subjects(words: Texts, work: Work, question_id: str, *, is_own: bool = True) -> Subjects:
    """Answers before this question, its own as “the answer” if it is one of them, and metadata."""
    definition = core_definition.read(work.draft.definition, Findings())
    order = [one.question_id for one in definition.questions()]
    passed = set(order[: order.index(question_id) + is_own]) if question_id in order else set(order)
    found = subjects_of(words, definitions=[definition], declared=work.declared)
    own = f"question:{question_id}"
    return {
        key: replace(one, text=words("the answer"), is_quoted=False) if key == own else one
        for key, one in found.items()
        if one.kind != "metric" and (not key.startswith("question:") or key.split(":")[1] in passed)
    }


def targets(words: Texts, document: Mapping[str, Any], question_id: str) -> list[tuple[str, str]]:
    order = editing.all_questions(document)
    at = next((n for n, one in enumerate(order) if one.get("question_id") == question_id), len(order))
    later = [(str(one.get("question_id")), title_of(words, one)) for one in order[at + 1 :]]
    return [*later, (END, words("the end"))]


def shown_sentence(words: Texts, work: Work, question: Document) -> str:
    condition = question.get("show_if")
    if condition is None:
        return words("Everybody is asked.")
    known = subjects(words, work, str(question["question_id"]), is_own=False)
    return words("Asked if {condition}.", condition=sentence_of(words, condition, with_named(known, condition)))


def sentences(words: Texts, work: Work, question: Document, *, path: str) -> list[dict[str, str]]:
    jumps = editing.jumps_of(question)
    if not jumps:
        return []
    known = subjects(words, work, str(question["question_id"]))
    return [
        {"url": f"{path}/jump/{number}", "text": _sentence(words, work, jump, known)}
        for number, jump in enumerate(jumps)
    ]


def _sentence(words: Texts, work: Work, jump: Document, known: Subjects) -> str:
    condition, target_id = jump.get("conditions"), jump.get("target_question_id")
    target = editing.question_of(work.draft.definition, str(target_id))
    title = title_of(words, target) if target else words("a question that is gone")
    if condition is None:
        return words("Always go to “{title}”.", title=title) if target_id else words("Always go to the end.")
    said = sentence_of(words, condition, with_named(known, condition))
    if target_id:
        return words("If {condition}, go to “{title}”.", condition=said, title=title)
    return words("If {condition}, go to the end.", condition=said)


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


async def matching_of(visit: Visit, db: Database, work: Work) -> Matching | None:
    """None where the reader may not read responses, or no response can be there."""
    if SCOPE not in visit.caller.scopes or work.published is None:
        return None
    found = await service.count(db, caller=visit.caller, questionnaire=work.questionnaire, definition=work.definition)
    return Matching(visit.words, work, found)


def is_counted(question: Document) -> bool:
    return bool(jumps_of(question)) or question.get("show_if") is not None
