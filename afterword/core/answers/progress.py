"""The answers of one instance: which questions are dealt, which pages they stand on, which page comes next.

One answer alone is with `answer_values.py` (JSON) and `answer_forms.py` (a posted page).
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from afterword.core.answers.forms import field_name, read_form
from afterword.core.answers.values import Given, InvalidAnswer, Value, check, facts_of, label, segment
from afterword.core.questionnaires import conditions
from afterword.core.questionnaires.definition import Definition, Group
from afterword.core.questionnaires.questions import Question

__all__ = [
    "Given",
    "InvalidAnswer",
    "Page",
    "Value",
    "check",
    "draw_questions",
    "facts_of",
    "field_name",
    "label",
    "missing_required",
    "pages",
    "path",
    "read_form",
    "segment",
]

PERCENT = 100

Answers: TypeAlias = Mapping[str, Given]
Layout = Literal["by_group", "by_question", "one_page"]
LAYOUTS: Final[tuple[Layout, ...]] = ("by_group", "by_question", "one_page")


@dataclass(frozen=True, slots=True)
class Page:
    """One page of an instance: those of its questions that are shown, in order, and the group of the first.

    `number` counts from 1 among all pages that were dealt, so that a jump skips numbers and never shifts them.
    """

    number: int
    group: Group
    questions: tuple[Question, ...]

    @property
    def group_id(self) -> str:
        """The id of the group that it begins in."""
        return self.group.group_id


def draw_questions(definition: Definition, *, draw: Callable[[], float]) -> list[str]:
    """The ids of the questions that one instance gets, in order.

    `draw` gives a number from 0 up to but not including 1, and is called once per question of less than 100 %.
    """
    return [
        question.question_id
        for group in definition.groups
        if group.enabled
        for question in group.questions
        if question.enabled and _is_drawn(question, draw)
    ]


def layout(
    definition: Definition, question_ids: Collection[str], arranged: Layout = "by_group"
) -> list[tuple[Question, ...]]:
    """The dealt questions page by page. By question, a statement stands with the question that follows it."""
    everything = [
        [question for question in group.questions if question.question_id in question_ids]
        for group in definition.groups
    ]
    match arranged:
        case "by_group":
            found = everything
        case "by_question":
            found = [page for group in everything for page in _one_by_one(group)]
        case "one_page":
            found = [[question for group in everything for question in group]]
    return [tuple(page) for page in found if page]


def pages(
    definition: Definition,
    question_ids: Collection[str],
    answers: Answers,
    *,
    metadata: conditions.Facts = conditions.NO_FACTS,
    arranged: Layout = "by_group",
) -> list[Page]:
    """The pages on the way of these answers, from the first to the end. `metadata`: further facts for conditions.

    Within a page nothing is hidden after the question at which the way enters it: what follows may still change.
    """
    facts = _facts(definition, answers, metadata)
    every = layout(definition, question_ids, arranged)
    places = {
        question.question_id: (number, place)
        for number, page in enumerate(every, 1)
        for place, question in enumerate(page)
    }
    found: list[Page] = []
    question = _first(definition, question_ids)
    while question is not None:
        number, place = places[question.question_id]
        shown = every[number - 1][place:]
        found.append(Page(number, definition.group_of(question.question_id), shown))
        question = _leave(definition, question_ids, shown, facts)
    return found


def path(
    definition: Definition,
    question_ids: Collection[str],
    answers: Answers,
    *,
    metadata: conditions.Facts = conditions.NO_FACTS,
) -> list[Question]:
    """The questions that these answers lead through, jumps inside pages included."""
    facts = _facts(definition, answers, metadata)
    found: list[Question] = []
    question = _first(definition, question_ids)
    while question is not None:
        found.append(question)
        question = _after(definition, question_ids, question, facts)
    return found


def missing_required(
    definition: Definition,
    question_ids: Collection[str],
    answers: Answers,
    *,
    among: Collection[str] | None = None,
    metadata: conditions.Facts = conditions.NO_FACTS,
) -> list[str]:
    """The ids of required questions on the way that have no answer; `among` these ids only, where they are given."""
    return [
        question.question_id
        for question in path(definition, question_ids, answers, metadata=metadata)
        if question.is_required
        and question.question_id not in answers
        and (among is None or question.question_id in among)
    ]


def _one_by_one(questions: Sequence[Question]) -> Iterator[list[Question]]:
    """Pages of one question each, the statements before it included; those behind the last question alone."""
    page: list[Question] = []
    for question in questions:
        page.append(question)
        if question.is_answered:
            yield page
            page = []
    yield page


def _is_drawn(question: Question, draw: Callable[[], float]) -> bool:
    if question.display_probability >= PERCENT or not question.is_answered:
        return True
    return draw() * PERCENT < question.display_probability


def _facts(definition: Definition, answers: Answers, metadata: conditions.Facts) -> dict[str, object]:
    facts = dict(metadata)
    for question_id, given in answers.items():
        question = definition.question(question_id)
        facts |= {} if question is None else facts_of(question, given.value)
    return facts


def _first(definition: Definition, question_ids: Collection[str]) -> Question | None:
    return next((question for question in definition.questions() if question.question_id in question_ids), None)


def _after(
    definition: Definition, question_ids: Collection[str], question: Question, facts: conditions.Facts
) -> Question | None:
    """The next dealt question: the target of the first jump that holds, or the one after a target that is not dealt."""
    everything = definition.questions()
    place = definition.place(question.question_id) + 1
    for jump in question.jumps:
        if conditions.matches(jump.conditions, facts):
            if jump.target_question_id is None:
                return None
            place = definition.place(jump.target_question_id)
            break
    return next((one for one in everything[place:] if one.question_id in question_ids), None)


def _leave(
    definition: Definition, question_ids: Collection[str], shown: Sequence[Question], facts: conditions.Facts
) -> Question | None:
    """The first question beyond a page, on the way that begins with the page's first question."""
    ids = {one.question_id for one in shown}
    question: Question | None = shown[0]
    while question is not None and question.question_id in ids:
        question = _after(definition, question_ids, question, facts)
    return question
