"""Variables in the texts of the editor: shown by the titles of questions, and offered to insert."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from afterword.console.questionnaires.questionnaires import Work
from afterword.core.questionnaires import editing, variables
from afterword.core.questionnaires.question_forms import Values
from afterword.core.questionnaires.question_types import TYPES
from afterword.core.questionnaires.questions import TEXTS
from afterword.core.text.placeholders import MAPS

OFFERED_MAX: Final = 60


@dataclass(frozen=True, slots=True)
class Inserts:
    """`titles`: of questions by id. `offered`: the names to insert."""

    titles: Mapping[str, str]
    offered: list[str]

    def shown(self, text: str) -> str:
        return variables.with_titles(text, self.titles)

    def stored(self, text: str) -> str:
        return variables.with_ids(text, self.titles)

    def shown_values(self, values: Values) -> Values:
        return {
            name: self.shown(value) if name in TEXTS and isinstance(value, str) else value
            for name, value in values.items()
        }

    def stored_fields(self, fields: Mapping[str, list[str]]) -> dict[str, list[str]]:
        return {
            name: [self.stored(one) for one in values] if name in TEXTS else values for name, values in fields.items()
        }


def inserts(work: Work, *, before: str | None = None) -> Inserts:
    """`before`: the question whose texts may have the answers of those before it; None: those of all."""
    document = work.draft.definition
    asked: dict[str, str] = {}
    earlier: list[str] = []
    is_earlier = True
    for one in (each for group in editing.groups_of(document) for each in editing.questions_of(group)):
        is_earlier = is_earlier and one.get("question_id") != before
        if _is_answered(one):
            asked[str(one.get("question_id"))] = " ".join(str(one.get("title") or "").split())
            earlier += [str(one.get("question_id"))] if is_earlier else []
    titles = variables.plain_titles(asked)
    known = [f"{kind}.{name}" for kind in MAPS for name in getattr(work.declared, kind)]
    names = [*(titles[one] for one in earlier if one in titles), *known, variables.ORGANIZATION]
    return Inserts(titles, names[:OFFERED_MAX])


def _is_answered(question: Mapping[str, Any]) -> bool:
    known = TYPES.get(str(question.get("type")))
    return known is not None and known.shape != "none"
