"""The order of one instance's pages: which comes before, after and last. Pure."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from afterword.core.answers import progress as answers_rules
from afterword.core.answers.progress import Page
from afterword.core.answers.values import Given
from afterword.core.questionnaires.conditions import Facts
from afterword.core.questionnaires.definition import Definition
from afterword.core.questionnaires.question_types import Question
from afterword.core.questionnaires.visuals import Layout


@dataclass(frozen=True)
class PageSequence:
    """The pages of `question_ids`, numbered from 1; a jump skips numbers and never shifts them."""

    definition: Definition
    question_ids: Collection[str]
    answers: Mapping[str, Given]
    facts: Facts
    layout: Layout = "by_group"

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The page number of each question."""
        pages = answers_rules.all_pages(self.definition, self.question_ids, self.layout)
        return {question.question_id: number for number, page in enumerate(pages, 1) for question in page}

    @cached_property
    def reachable(self) -> dict[int, Page]:
        """The pages that the answers given so far lead through, by number."""
        pages = answers_rules.pages(
            self.definition, self.question_ids, self.answers, metadata=self.facts, layout=self.layout
        )
        return {page.number: page for page in pages}

    def questions_on(self, number: int) -> tuple[Question, ...]:
        """The questions shown on a page; none where the answers do not lead there."""
        return self.reachable[number].questions if number in self.reachable else ()

    @property
    def total(self) -> int:
        """The number of pages, skipped ones included."""
        return max(self.numbers.values(), default=0)

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
        """True if no answer on this page leads to another one."""
        has_jumps = any(question.jumps for question in self.questions_on(number))
        return number == self.total or (self.after(number) == self.end and not has_jumps)

    def of_question(self, question_id: str) -> int | None:
        return self.numbers.get(question_id)

    def missing(self, number: int | None = None) -> list[str]:
        """The required reachable questions (of one page, if a number is given) without an answer."""
        among = None if number is None else {question.question_id for question in self.questions_on(number)}
        return answers_rules.missing_required(
            self.definition, self.question_ids, self.answers, among=among, metadata=self.facts
        )

    def answered(self, changes: Mapping[str, Given | None]) -> "PageSequence":
        """The sequence after a page was answered; None removes an answer."""
        after: dict[str, Given | None] = {**self.answers, **changes}
        return replace(self, answers={question_id: given for question_id, given in after.items() if given is not None})
