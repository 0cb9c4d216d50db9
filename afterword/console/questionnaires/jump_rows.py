"""Conditions and jumps of a question: as sentences with whole texts, and the questions that they may name."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from afterword.console.questionnaires.outline import title_of
from afterword.console.questionnaires.questionnaires import Work
from afterword.core.questionnaires import definition as core_definition
from afterword.core.questionnaires import editing
from afterword.core.questionnaires.editing import Document
from afterword.core.reading.findings import Findings
from afterword.questionnaires.condition_rows import Subjects, sentence_of, subjects_of, with_named
from afterword.texts import Texts

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
    order = [one for group in editing.groups_of(document) for one in editing.questions_of(group)]
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
