"""The responder's way through the pages of one instance: which comes before, after and last. Pure."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from afterword.core import answers as answers_rules
from afterword.core.answers import Given, Page
from afterword.core.conditions import Facts
from afterword.core.definition import Definition


@dataclass(frozen=True)
class Walk:
    """The pages in order, numbered from 1 among all that were dealt: a jump skips numbers, it never shifts them."""

    definition: Definition
    dealt: Collection[str]
    answers: Mapping[str, Given]
    facts: Facts

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of each page by its group's id."""
        groups = [
            group.group_id
            for group in self.definition.groups
            if any(question.question_id in self.dealt for question in group.questions)
        ]
        return {group_id: number for number, group_id in enumerate(groups, 1)}

    @cached_property
    def way(self) -> dict[int, Page]:
        """The pages that the answers given so far lead through, by their number."""
        pages = answers_rules.pages(self.definition, self.dealt, self.answers, metadata=self.facts)
        return {self.numbers[page.group_id]: page for page in pages}

    @property
    def total(self) -> int:
        """How many pages there are, those that jumps skip included."""
        return len(self.numbers)

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
        group = self.definition.group_of(question_id) if question_id in self.dealt else None
        return None if group is None else self.numbers[group.group_id]

    def missing(self, number: int | None = None) -> list[str]:
        """The required questions on the way (of one page, if a number is given) that have no answer."""
        group_id = None if number is None else self.way[number].group_id
        return answers_rules.missing_required(
            self.definition, self.dealt, self.answers, group_id=group_id, metadata=self.facts
        )

    def answered(self, changes: Mapping[str, Given | None]) -> "Walk":
        """The way after a page was answered; None takes an answer back."""
        after: dict[str, Given | None] = {**self.answers, **changes}
        return replace(self, answers={question_id: given for question_id, given in after.items() if given is not None})
