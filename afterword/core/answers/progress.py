"""The path of one instance: the questions that it gets, their pages, and the next page after each answer."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from afterword.core.answers.values import Given, facts_of
from afterword.core.questionnaires import conditions
from afterword.core.questionnaires.definition import Definition, Group
from afterword.core.questionnaires.question_types import Question
from afterword.core.questionnaires.visuals import Layout

PERCENT: Final = 100

Answers: TypeAlias = Mapping[str, Given]


@dataclass(frozen=True, slots=True)
class Page:
    """One page of an instance: those of its questions that are shown, in order, and the group of the first.

    `number` counts from 1 among all pages that were drawn, so that a jump skips numbers and never shifts them.
    """

    number: int
    group: Group
    questions: tuple[Question, ...]


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


def all_pages(
    definition: Definition, question_ids: Collection[str], layout: Layout = "by_group"
) -> list[tuple[Question, ...]]:
    """The drawn questions page by page. By question, a statement shares the page of the question that follows it."""
    groups = [
        [question for question in group.questions if question.question_id in question_ids]
        for group in definition.groups
    ]
    match layout:
        case "by_group":
            found = groups
        case "by_question":
            found = [page for group in groups for page in _one_by_one(group)]
        case "one_page":
            found = [[question for group in groups for question in group]]
    return [tuple(page) for page in found if page]


def pages(
    definition: Definition,
    question_ids: Collection[str],
    answers: Answers,
    *,
    metadata: conditions.Facts = conditions.NO_FACTS,
    layout: Layout = "by_group",
) -> list[Page]:
    """The pages on the path of these answers, from the first to the end. `metadata`: further facts for conditions.

    Within a page nothing is hidden after the question at which the path enters it: what follows may still change.
    """
    facts = _facts(definition, answers, metadata)
    every = all_pages(definition, question_ids, layout)
    positions = {
        question.question_id: (number, position)
        for number, page in enumerate(every, 1)
        for position, question in enumerate(page)
    }
    found: list[Page] = []
    question = _first(definition, question_ids)
    while question is not None:
        number, position = positions[question.question_id]
        shown = every[number - 1][position:]
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
    """The ids of required questions on the path that have no answer; `among` these ids only, where they are given."""
    return [
        question.question_id
        for question in path(definition, question_ids, answers, metadata=metadata)
        if question.is_required
        and question.question_id not in answers
        and (among is None or question.question_id in among)
    ]


def _one_by_one(questions: Sequence[Question]) -> Iterator[list[Question]]:
    """Pages of one question each, the statements before it included; those after the last question on their own."""
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
    """The next drawn question: the target of the first jump that holds, or the one after a target that is not drawn."""
    position = definition.position(question.question_id) + 1
    for jump in question.jumps:
        if conditions.matches(jump.conditions, facts):
            if jump.target_question_id is None:
                return None
            position = definition.position(jump.target_question_id)
            break
    return next((one for one in definition.questions()[position:] if one.question_id in question_ids), None)


def _leave(
    definition: Definition, question_ids: Collection[str], shown: Sequence[Question], facts: conditions.Facts
) -> Question | None:
    """The first question beyond a page, on the path that begins with the page's first question."""
    ids = {one.question_id for one in shown}
    question: Question | None = shown[0]
    while question is not None and question.question_id in ids:
        question = _after(definition, question_ids, question, facts)
    return question
