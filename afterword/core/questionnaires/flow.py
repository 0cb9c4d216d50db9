"""The ways through a questionnaire: which question can follow which, and the questions that nobody is shown.

Jumps that ask only for the answer of their own question, from a list or a scale, are tried with every answer, and so is
a question's own condition that asks for one such answer. Any other condition may be true or false.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from afterword.core.questionnaires import conditions
from afterword.core.questionnaires.conditions import Facts
from afterword.core.questionnaires.definition import Definition
from afterword.core.questionnaires.endings import Ending
from afterword.core.questionnaires.question_types import Jump, Question
from afterword.core.questionnaires.visuals import Layout
from afterword.core.reading.findings import Findings

PERCENT: Final = 100
CHOICES_TRIED_MAX: Final = 50


@dataclass(frozen=True, slots=True)
class Edge:
    """`source`: None for the start, `target`: None for the end. `jump`: its number from 0, None for “else go on”."""

    source: str | None
    target: str | None
    jump: int | None = None


@dataclass(frozen=True)
class Flow:
    """`nodes`: the ids of the questions that are asked at all, in order."""

    definition: Definition
    layout: Layout = "by_group"

    @cached_property
    def nodes(self) -> tuple[str, ...]:
        return tuple(
            question.question_id
            for group in self.definition.groups
            if group.enabled
            for question in group.questions
            if question.enabled
        )

    @cached_property
    def edges(self) -> tuple[Edge, ...]:
        return (Edge(None, self._from(0)), *(edge for node in self.nodes for edge in self._edges_of(node)))

    @cached_property
    def unreachable(self) -> tuple[str, ...]:
        """The questions that no answers lead to. What follows on a page is shown, whatever its questions jump over."""
        following: dict[str | None, set[str | None]] = {}
        for edge in self.edges:
            following.setdefault(edge.source, set()).add(edge.target)
        shown: set[str | None] = set()
        waiting: list[str | None] = [None]
        while waiting:
            found = following.get(waiting.pop(), set()) - shown - {None}
            shown |= found
            waiting += found
        return tuple(
            node
            for node in self.nodes
            if node not in self._asked or (node not in shown and not self._is_beside(node, shown))
        )

    def _is_beside(self, node: str, shown: set[str | None]) -> bool:
        if self.layout == "by_question":
            return False
        page = self.definition.group_of(node).questions if self.layout == "by_group" else self.definition.questions()
        ids = [question.question_id for question in page]
        return any(each in shown for each in ids[: ids.index(node)])

    def _edges_of(self, node: str) -> Iterator[Edge]:
        position = self.definition.position(node)
        question = self.definition.questions()[position]
        taken = _taken(question)
        if node not in self._asked:
            return
        if question.display_probability < PERCENT or question.show_if is not None:
            taken.add(None)
        for number, jump in enumerate(question.jumps):
            if number in taken:
                target = jump.target_question_id
                yield Edge(node, None if target is None else self._from(self.definition.position(target)), number)
        if None in taken:
            yield Edge(node, self._from(position + 1))

    def _from(self, position: int) -> str | None:
        """The first question that is asked from this position on."""
        rest = (question.question_id for question in self.definition.questions()[position:])
        return next((question_id for question_id in rest if question_id in self._asked), None)

    @cached_property
    def _asked(self) -> frozenset[str]:
        """The questions that some answers show."""
        return frozenset(node for node in self.nodes if self._may_be_shown(node))

    def _may_be_shown(self, node: str) -> bool:
        question = self.definition.question(node)
        leaves = conditions.leaves_of(question.show_if) if question else []
        subjects = {leaf.subject for leaf in leaves}
        asked = self.definition.question(leaves[0].subject.partition(":")[2]) if leaves else None
        values = _values(asked) if asked and len(subjects) == 1 else []
        if question is None or not values:
            return True
        facts: list[Facts] = [{}, *({leaves[0].subject: value} for value in values)]
        return any(conditions.matches(question.show_if, each) for each in facts)


def warn(definition: Definition, findings: Findings) -> None:
    """Add a warning for each question that nobody is shown."""
    unreachable = Flow(definition).unreachable
    for place, group in enumerate(definition.groups):
        for index, question in enumerate(group.questions):
            if question.question_id in unreachable:
                message = "No answers lead to this question: jumps pass over it, or its condition never holds."
                findings.warning(f"/groups/{place}/questions/{index}", "unreachable_question", message)


def used_by_endings(definition: Definition, question_id: str) -> list[Ending]:
    return [one for one in definition.endings if _asks_for(one.conditions, question_id)]


def used_by_jumps(definition: Definition, question_id: str) -> list[str]:
    return [
        question.question_id
        for question in definition.questions()
        if any(
            jump.target_question_id == question_id or _asks_for(jump.conditions, question_id) for jump in question.jumps
        )
    ]


def used_to_show(definition: Definition, question_id: str) -> list[str]:
    return [one.question_id for one in definition.questions() if _asks_for(one.show_if, question_id)]


def _asks_for(condition: conditions.Node | None, question_id: str) -> bool:
    return any(leaf.subject.split(":")[:2] == ["question", question_id] for leaf in conditions.leaves_of(condition))


def _taken(question: Question) -> set[int | None]:
    """The numbers of the jumps that some answer takes; None where some answer takes none of them."""
    answers = _answers(question)
    if answers is not None:
        return {_first(question.jumps, facts) for facts in answers}
    taken: set[int | None] = set()
    for number, jump in enumerate(question.jumps):
        taken.add(number)
        if conditions.matches(jump.conditions, {}) and not conditions.leaves_of(jump.conditions):
            return taken
    return {*taken, None}


def _first(jumps: Sequence[Jump], facts: Facts) -> int | None:
    return next((number for number, jump in enumerate(jumps) if conditions.matches(jump.conditions, facts)), None)


def _answers(question: Question) -> list[Facts] | None:
    """Every answer that the jumps can tell apart; None where they ask for more than one choice of this question."""
    subject = f"question:{question.question_id}"
    asked = {leaf.subject for jump in question.jumps for leaf in conditions.leaves_of(jump.conditions)}
    values = _values(question)
    if not values or not asked <= {subject}:
        return None
    return [*({subject: value} for value in values), *([] if question.is_required else [dict[str, object]()])]


def _values(question: Question) -> list[int]:
    """The answers to choose one from; none where there are too many to try, or other ones."""
    values = [choice.value for choice in question.choices] if question.shape == "choice" else [*question.scale]
    return values if len(values) <= CHOICES_TRIED_MAX else []
