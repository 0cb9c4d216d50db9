"""Parts of an anonymous questionnaire that would tell whose answers they are."""

from collections.abc import Mapping
from typing import Final, Literal

from afterword.core.questionnaires import variables
from afterword.core.questionnaires.definition import Definition
from afterword.core.questionnaires.metadata import SCORE
from afterword.core.questionnaires.question_types import Question
from afterword.core.reading.findings import Findings
from afterword.errors import Sentence

Anonymity = Literal["invitation", "response"]
"""Of an instance of an anonymous questionnaire: what a person was sent, or answers of somebody."""
CODE: Final = "not_anonymous"
TYPES_KNOWN: Final = frozenset({"contact", "address", "file"})
ENDINGS: Final[Mapping[str, str]] = {
    "coupon_pool": "A coupon would be recorded with the response; an anonymous questionnaire cannot give one.",
    "responses_max": "Answers count only once they are mixed, so an anonymous questionnaire cannot have a quota.",
    "call_back": "A person who asks for a call is known; an anonymous questionnaire cannot offer one.",
}
EVERYBODY: Final = 100  # percent


def check(definition: Definition, findings: Findings) -> None:
    """Add an error for each of them; none where the questionnaire is not anonymous."""
    if not definition.anonymous:
        return
    paths: dict[str | None, str] = {None: "/anonymous"}
    for number, group in enumerate(definition.groups):
        for index, question in enumerate(group.questions):
            path = paths[question.question_id] = f"/groups/{number}/questions/{index}"
            _check_question(question, path, findings)
    for number, ending in enumerate(definition.endings):
        for member, message in ENDINGS.items():
            if getattr(ending, member) is not None:
                findings.error(f"/endings/{number}/{member}", CODE, message)
    for name, question_ids in variables.metadata_of(definition).items():
        if name == f"questionnaire.{SCORE}":
            continue
        for question_id in question_ids:
            text = "An anonymous questionnaire keeps no metadata, so nothing can depend on {name}. Ask for it."
            findings.error(paths[question_id], CODE, Sentence(text, name=name))


def _check_question(question: Question, path: str, findings: Findings) -> None:
    if question.type in TYPES_KNOWN:
        findings.error(f"{path}/type", CODE, "This type asks for what identifies a person.")
    if question.display_probability < EVERYBODY:
        message = "The invitation says who was drawn, so an anonymous questionnaire asks everybody the same questions."
        findings.error(f"{path}/display_probability", CODE, message)
