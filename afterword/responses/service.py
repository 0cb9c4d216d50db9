"""Responses of all questionnaires: which questions give a list its scores and words."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from afterword.core.organizations.access import Caller
from afterword.core.questionnaires.question_types import TYPES
from afterword.db import Database
from afterword.questionnaires import store as questionnaires_store
from afterword.responses.store import ListedQuestions

SCORES: Final = ("nps", "csat", "ces", "smileys", "rating")  # the first of them that was answered is shown
UNHAPPY: Final = ("detractor", "dissatisfied", "hard")
HAPPY: Final = ("promoter", "satisfied", "easy")
QUESTIONNAIRES_MAX: Final = 200


@dataclass(frozen=True, slots=True)
class Questions:
    """`listed` for the store; the type and the highest answer of each question with a score."""

    listed: ListedQuestions
    types: Mapping[str, str]
    highest: Mapping[str, int]

    def band(self, question_id: str, score: int) -> str:
        """`detractor`, `passive` or `promoter`, as the question's own segments have it; empty without segments."""
        for name, low, high in TYPES[self.types[question_id]].segments:
            if low <= score <= high:
                return _band(name)
        return ""

    def ranges(self, *, score: str = "", band: str = "") -> list[tuple[str, int, int]] | None:
        """Question, lowest and highest answer of this kind of score and this band; None where neither is asked for."""
        if not score and not band:
            return None
        return [
            (id_, low, high)
            for id_, kind in self.types.items()
            for name, low, high in TYPES[kind].segments
            if score in {"", kind} and band in {"", _band(name)}
        ]


def _band(segment: str) -> str:
    return "detractor" if segment in UNHAPPY else "promoter" if segment in HAPPY else "passive"


async def questions_of(db: Database, *, caller: Caller, questionnaire_id: str | None) -> Questions:
    """The questions of any version of one questionnaire, else of the newest ones that the caller reaches."""
    owners = await questionnaires_store.list_owners(
        db,
        organization_id=caller.organization_id,
        questionnaire_ids=[questionnaire_id] if questionnaire_id else None,
        application_ids=caller.application_ids,
        limit=QUESTIONNAIRES_MAX,
    )
    found = await questionnaires_store.list_question_types(
        db, organization_id=caller.organization_id, questionnaire_ids=list(owners)
    )
    scored = sorted((SCORES.index(kind), id_, kind, high) for id_, kind, _, high in found if kind in SCORES)
    fixed = {kind: TYPES[kind].scale for kind in SCORES}
    return Questions(
        listed=ListedQuestions(
            scores=[id_ for _, id_, _, _ in scored],
            texts=sorted(id_ for id_, kind, _, _ in found if kind == "text"),
        ),
        types={id_: kind for _, id_, kind, _ in scored},
        highest={id_: (scale[1] if (scale := fixed[kind]) else high or 0) for _, id_, kind, high in scored},
    )
