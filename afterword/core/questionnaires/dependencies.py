"""Coupon pools and pictures that a definition names, and parts of an anonymous one that would tell who answered."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Final, Literal

from afterword.core.questionnaires import variables
from afterword.core.questionnaires.definition import Definition
from afterword.core.questionnaires.metadata import SCORE
from afterword.core.questionnaires.question_types import TYPES, Question
from afterword.core.questionnaires.visuals import read_address
from afterword.core.reading.findings import Findings
from afterword.errors import Sentence


def pools_of(definition: Definition) -> Mapping[str, Sequence[str]]:
    """Paths by the key of the pool."""
    found = defaultdict[str, list[str]](list)
    for number, ending in enumerate(definition.endings):
        if ending.coupon_pool is not None:
            found[ending.coupon_pool].append(f"/endings/{number}/coupon_pool")
    return found


def pictures_of(definition: Definition) -> Mapping[str, Sequence[str]]:
    """Paths by the id of the asset."""
    found = defaultdict[str, list[str]](list)
    for group_index, group in enumerate(definition.groups):
        for index, question in enumerate(group.questions):
            for number, choice in enumerate(question.choices):
                picture = choice.picture and read_address(choice.picture)
                if picture:
                    path = f"/groups/{group_index}/questions/{index}/choices/{number}/picture"
                    found[picture.asset_id].append(path)
    return found


def check(definition: Definition, *, pools: Collection[str], pictures: Collection[str], findings: Findings) -> None:
    """Note what is missing. `pools`: the keys, and `pictures`: the ids, of those that exist."""
    for key, paths in pools_of(definition).items():
        if key not in pools:
            for path in paths:
                findings.error(path, "unknown_id", Sentence("There is no coupon pool with the key {key}.", key=key))
    for asset_id, paths in pictures_of(definition).items():
        if asset_id not in pictures:
            for path in paths:
                findings.error(path, "unknown_id", "There is no such picture any more. Choose another.")


Anonymity = Literal["invitation", "response"]
"""Of an instance of an anonymous questionnaire: what a person was sent, or answers of somebody."""
CODE: Final = "not_anonymous"
ENDINGS: Final[Mapping[str, str]] = {
    "coupon_pool": "A coupon would be recorded with the response; an anonymous questionnaire cannot give one.",
    "responses_max": "Answers count only once they are mixed, so an anonymous questionnaire cannot have a quota.",
    "call_back": "A person who asks for a call is known; an anonymous questionnaire cannot offer one.",
}
EVERYBODY: Final = 100  # percent


def check_anonymity(definition: Definition, findings: Findings) -> None:
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
    if TYPES[question.type].identifies:
        findings.error(f"{path}/type", CODE, "This type asks for what identifies a person.")
    if question.display_probability < EVERYBODY:
        message = "The invitation says who was drawn, so an anonymous questionnaire asks everybody the same questions."
        findings.error(f"{path}/display_probability", CODE, message)
