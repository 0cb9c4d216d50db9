"""The path of one instance: the questions that it gets, their pages, the next page after each answer, and the score."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final

import msgspec
from msgspec.structs import replace

from afterword.core.answers.values import Given, facts_of
from afterword.core.questionnaires import conditions, endings
from afterword.core.questionnaires.conditions import Facts
from afterword.core.questionnaires.definition import Definition, Group
from afterword.core.questionnaires.endings import Ending
from afterword.core.questionnaires.metadata import SCORE
from afterword.core.questionnaires.question_types import Question
from afterword.core.questionnaires.visuals import Layout
from afterword.core.reading.documents import is_array, is_object

PERCENT: Final = 100
SCORE_FACT: Final = f"questionnaire_metadata:{SCORE}"


def draw_questions(definition: Definition, *, draw: Callable[[], float], takes_files: bool = True) -> list[str]:
    """The ids of the questions that one instance gets, in order.

    `draw` gives a number from 0 up to but not including 1, and is called once per question of less than 100 %.
    """
    drawn = (question for question in definition.enabled if _is_drawn(question, draw))
    return [question.question_id for question in drawn if takes_files or question.shape != "files"]


def asked_of(definition: Definition, *, drawn: Collection[str]) -> set[str]:
    """The ids that an instance of another version, with these `drawn` questions, would get of this definition."""
    return {
        question.question_id
        for question in definition.enabled
        if question.display_probability >= PERCENT or not question.is_answered or question.question_id in drawn
    }


def _is_drawn(question: Question, draw: Callable[[], float]) -> bool:
    if question.display_probability >= PERCENT or not question.is_answered:
        return True
    return draw() * PERCENT < question.display_probability


class PageSequence(msgspec.Struct, frozen=True, dict=True):
    """The pages of `question_ids`, numbered from 1; jumps and hidden questions skip numbers and never shift them."""

    definition: Definition
    question_ids: Collection[str]
    answers: Mapping[str, Given]
    facts: Facts = msgspec.field(default_factory=dict[str, object])  # of the metadata
    layout: Layout = "by_group"

    @cached_property
    def pages(self) -> list[tuple[Question, ...]]:
        """All questions page by page. By question, a statement shares the page of the question that follows it."""
        groups = [
            [question for question in group.questions if question.question_id in self.question_ids]
            for group in self.definition.groups
        ]
        match self.layout:
            case "by_group":
                found = groups
            case "by_question":
                found = [page for group in groups for page in _one_by_one(group)]
            case "one_page":
                found = [[question for group in groups for question in group]]
        return [tuple(page) for page in found if page]

    @cached_property
    def numbers(self) -> dict[str, int]:
        return {question.question_id: number for number, page in enumerate(self.pages, 1) for question in page}

    @cached_property
    def reachable(self) -> dict[int, tuple[Question, ...]]:
        """The shown questions of the pages that the answers lead through, by number.

        Within a page no jump hides anything after the question at which the path enters it: what follows may still
        change.
        """
        found: dict[int, tuple[Question, ...]] = {}
        hidden = self.hidden
        for question in self.path:
            number = self.numbers[question.question_id]
            if number not in found:
                page = self.pages[number - 1]
                found[number] = tuple(one for one in page[page.index(question) :] if one.question_id not in hidden)
        return found

    @cached_property
    def path(self) -> list[Question]:
        return [question for question, _ in self._way]

    @property
    def steps(self) -> list[tuple[str, int | None]]:
        return [(question.question_id, jump) for question, jump in self._way]

    @cached_property
    def _way(self) -> list[tuple[Question, int | None]]:
        """The questions that the answers lead through, each with the number of its first jump that holds."""
        known, hidden = self._decided
        found: list[tuple[Question, int | None]] = []
        next_id: str | None = None  # the target of a jump, which is a later question
        for question in self.definition.questions():
            question_id = question.question_id
            next_id = None if question_id == next_id else next_id
            if next_id is not None or question_id not in self.question_ids or question_id in hidden:
                continue
            holding = (n for n, jump in enumerate(question.jumps) if conditions.matches(jump.conditions, known))
            jump = next(holding, None)
            found.append((question, jump))
            if jump is not None:
                next_id = question.jumps[jump].target_question_id
                if next_id is None:
                    break
        return found

    def questions_on(self, number: int) -> tuple[Question, ...]:
        return self.reachable.get(number, ())

    def group_on(self, number: int) -> Group | None:
        """The group of a page's first question; None where the answers do not lead there."""
        shown = self.questions_on(number)
        return self.definition.group_of(shown[0].question_id) if shown else None

    @property
    def total(self) -> int:
        """The number of pages, skipped ones included."""
        return len(self.pages)

    @property
    def end(self) -> int:
        """The number of the page after the last one, which has only the button to send."""
        return self.total + 1

    def at(self, number: int) -> int:
        """The page to show for a requested number: itself, else the nearest reachable one before it, else the first."""
        if number > self.total:
            return self.end
        return max((one for one in self.reachable if one <= number), default=min(self.reachable, default=self.end))

    def before(self, number: int) -> int | None:
        return max((one for one in self.reachable if one < number), default=None)

    def after(self, number: int) -> int:
        """The next page; `end` after the last one."""
        return min((one for one in self.reachable if one > number), default=self.end)

    def is_last(self, number: int) -> bool:
        shown = self.questions_on(number)
        may_lead_on = any(question.jumps for question in shown) or self._may_show(shown)
        return number == self.total or (self.after(number) == self.end and not may_lead_on)

    def missing(self, number: int | None = None) -> list[str]:
        """The ids of required questions on the path (of one page, if a number is given) without an answer."""
        return [
            question.question_id
            for question in self.path
            if question.is_required
            and question.question_id not in self.answers
            and number in {None, self.numbers[question.question_id]}
        ]

    def ending(self, pools: Collection[str] | None = None) -> Ending | None:
        """The ending after these answers, as `endings.chosen` has it; None: the text `thank_you`."""
        return endings.chosen(self.definition.endings, self._known, pools=pools)

    @property
    def possible_endings(self) -> list[Ending]:
        return list(endings.holding(self.definition.endings, self._known))

    @property
    def quotas(self) -> list[Ending]:
        return endings.quotas(self.definition.endings, self._known)

    def answered(self, changes: Mapping[str, Given | None]) -> "PageSequence":
        after: dict[str, Given | None] = {**self.answers, **changes}
        return replace(self, answers={question_id: given for question_id, given in after.items() if given is not None})

    @property
    def hidden(self) -> frozenset[str]:
        """The ids of the questions whose condition does not hold; an answer to one of them counts as none."""
        return self._decided[1]

    @property
    def _known(self) -> Facts:
        return self._decided[0]

    @cached_property
    def _decided(self) -> tuple[Facts, frozenset[str]]:
        """The facts of the answers and the score so far, and the hidden questions; each depends on those before it."""
        known, hidden, total = dict(self.facts), set[str](), 0
        questions = self.definition.questions()
        has_points = any(question.has_points for question in questions)
        for question in questions:
            if question.show_if is not None and not conditions.matches(question.show_if, known):
                hidden.add(question.question_id)
            elif (given := self.answers.get(question.question_id)) is not None:
                known |= facts_of(question, given.value)
                total += points(question, given.value) if has_points else 0
            if has_points:
                known[SCORE_FACT] = total
        return known, frozenset(hidden)

    def _may_show(self, questions: Sequence[Question]) -> bool:
        subjects = {f"question:{one.question_id}" for one in questions}
        waiting = (question for page in self.pages for question in page if question.question_id in self.hidden)
        leaves = (leaf for question in waiting for leaf in conditions.leaves_of(question.show_if))
        return any(":".join(leaf.subject.split(":")[:2]) in subjects for leaf in leaves)


def _one_by_one(questions: Sequence[Question]) -> Iterator[list[Question]]:
    """Pages of one question each, the statements before it included; those after the last question on their own."""
    page: list[Question] = []
    for question in questions:
        page.append(question)
        if question.is_answered:
            yield page
            page = []
    yield page


def points(question: Question, value: object) -> int:
    if question.scored:
        return int(value) if isinstance(value, int) else 0
    chosen = value.values() if is_object(value) else value if is_array(value) else [value]
    return sum(choice.points or 0 for one in chosen if (choice := question.choice(one)))


def score(definition: Definition, answers: Mapping[str, Given], hidden: Collection[str] = ()) -> int | None:
    """The sum of all answers but those of hidden questions; None where no question has points."""
    scoring = [question for question in definition.questions() if question.has_points]
    if not scoring:
        return None
    given = [(one, answers[one.question_id]) for one in scoring if one.question_id in answers]
    return sum(points(question, answer.value) for question, answer in given if question.question_id not in hidden)
