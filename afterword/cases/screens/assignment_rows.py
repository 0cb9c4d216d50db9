"""The owner of new cases by a field, as rows of a form: a value and a person in each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from afterword.asking.questionnaires import condition_rows
from afterword.asking.questionnaires.condition_rows import BLANK_ROWS, Subjects
from afterword.console.screens import Form
from afterword.errors import FieldError
from afterword.kit.texts import Texts

ROWS_MAX: Final = 100
CANDIDATES_MAX: Final = 50
FAMILIES: Final = ("question:", "questionnaire_metadata:", "responder_metadata:")


@dataclass(frozen=True, slots=True)
class Draft:
    """`pairs`: of value and user; `candidate_ids`: users for all other cases."""

    field: str
    pairs: Sequence[tuple[str, str]]
    candidate_ids: Sequence[str]

    @property
    def shown_pairs(self) -> Sequence[tuple[str, str]]:
        filled = [pair for pair in self.pairs if any(pair)]
        return [*filled, *[("", "")] * min(BLANK_ROWS, ROWS_MAX - len(filled))]

    @property
    def is_empty(self) -> bool:
        return not (self.field or self.candidate_ids or any(map(any, self.pairs)))


def stored_draft(assignment: Mapping[str, Any] | None, subjects: Subjects) -> Draft:
    if assignment is None:
        return Draft("", (), ())
    subject = subjects.get(assignment["subject"])
    pairs = [
        (condition_rows.choice_text(choice["value"], subject), user_id)
        for choice in assignment["choices"]
        for user_id in choice["user_ids"]
    ]
    return Draft(assignment["subject"] or "", pairs, assignment["user_ids"])


def typed_draft(form: Form) -> Draft:
    pairs = [(form.text(f"of-{index}"), form.text(f"user-{index}")) for index in range(ROWS_MAX)]
    return Draft(form.text("field"), pairs, form.all("candidate_ids")[:CANDIDATES_MAX])


def errors_of(words: Texts, draft: Draft) -> list[FieldError]:
    """The rows with a value alone, or a person alone."""
    return [
        FieldError("required", words("Give a value and a person."), pointer=f"/{'user' if value else 'of'}-{index}")
        for index, (value, user_id) in enumerate(draft.shown_pairs)
        if bool(value) != bool(user_id)
    ]


def document_of(draft: Draft, subjects: Subjects) -> dict[str, Any] | None:
    """The assignment of the rows: several users beside one value share its cases."""
    if draft.is_empty:
        return None
    choices: dict[str, list[str]] = {}
    for text, user_id in draft.pairs:
        if text and user_id:
            choices.setdefault(condition_rows.choice_of(text, subjects.get(draft.field)), []).append(user_id)
    return {
        "subject": draft.field or None,
        "choices": [{"value": value, "user_ids": list(dict.fromkeys(users))} for value, users in choices.items()],
        "user_ids": list(dict.fromkeys(draft.candidate_ids)),
    }


def sentence_of(assignment: Mapping[str, Any] | None, subjects: Subjects, names: Mapping[str, str]) -> str:
    """The assignment in words; `names`: of users by their ids."""
    draft = stored_draft(assignment, subjects)
    pairs = [f"{value}: {names.get(user_id, user_id)}" for value, user_id in draft.pairs]
    return ", ".join([*pairs, *(names.get(user_id, user_id) for user_id in draft.candidate_ids)])
