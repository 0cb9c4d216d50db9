"""The responder's way through the pages of one instance: which comes before, after and last. Pure."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from afterword.core.answers import progress as answers_rules
from afterword.core.answers.progress import Given, Layout, Page
from afterword.core.questionnaires.conditions import Facts
from afterword.core.questionnaires.definition import Definition


@dataclass(frozen=True)
class PageSequence:
    """The pages in order, numbered from 1 among all that were dealt: a jump skips numbers, it never shifts them."""

    definition: Definition
    dealt: Collection[str]
    answers: Mapping[str, Given]
    facts: Facts
    arranged: Layout = "by_group"

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of the page on which each question stands."""
        pages = answers_rules.layout(self.definition, self.dealt, self.arranged)
        return {question.question_id: number for number, page in enumerate(pages, 1) for question in page}

    @cached_property
    def way(self) -> dict[int, Page]:
        """The pages that the answers given so far lead through, by their number."""
        pages = answers_rules.pages(
            self.definition, self.dealt, self.answers, metadata=self.facts, arranged=self.arranged
        )
        return {page.number: page for page in pages}

    @property
    def total(self) -> int:
        """How many pages there are, those that jumps skip included."""
        return max(self.numbers.values(), default=0)

    @property
    def end(self) -> int:
        """The number of the page after the last one, which asks nothing but to send."""
        return self.total + 1

    def at(self, number: int) -> int:
        """The page to show for a wanted number: itself, else the nearest one before it on the way, else the first."""
        if number > self.total:
            return self.end
        return max((one for one in self.way if one <= number), default=min(self.way, default=self.end))

    def before(self, number: int) -> int | None:
        """The page to go back to."""
        return max((one for one in self.way if one < number), default=None)

    def after(self, number: int) -> int:
        """The page to go on to; `end` after the last one."""
        return min((one for one in self.way if one > number), default=self.end)

    def is_last(self, number: int) -> bool:
        """Whether the way ends here whatever is answered here."""
        has_jumps = any(question.jumps for question in self.way[number].questions)
        return number == self.total or (self.after(number) == self.end and not has_jumps)

    def of_question(self, question_id: str) -> int | None:
        """The number of the page on which a question stands."""
        return self.numbers.get(question_id)

    def missing(self, number: int | None = None) -> list[str]:
        """The required questions on the way (of one page, if a number is given) that have no answer."""
        among = None if number is None else {question.question_id for question in self.way[number].questions}
        return answers_rules.missing_required(
            self.definition, self.dealt, self.answers, among=among, metadata=self.facts
        )

    def answered(self, changes: Mapping[str, Given | None]) -> "PageSequence":
        """The way after a page was answered; None takes an answer back."""
        after: dict[str, Given | None] = {**self.answers, **changes}
        return replace(self, answers={question_id: given for question_id, given in after.items() if given is not None})
