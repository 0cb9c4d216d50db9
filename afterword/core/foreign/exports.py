"""Questionnaires written for other systems: what the writers share, and the list of them.

Jumps become conditions of the questions that they pass over, since the others have no jumps between pages. A line of
the report tells each thing that the other system cannot hold.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import reduce
from itertools import islice
from typing import Final

import msgspec

from afterword.core.foreign.parts import OPPOSITES, POSITIVE, Kind, Line
from afterword.core.questionnaires import conditions
from afterword.core.questionnaires.conditions import All, AnyOf, Leaf, Node, Not
from afterword.core.questionnaires.definition import Definition, Texts
from afterword.core.questionnaires.question_types import Question, Translation
from afterword.core.text import placeholders
from afterword.core.text.locales import Marked
from afterword.errors import Sentence

NOT_HELD: Final = "{name} has no place for these parts of it: {parts}."
PAGES: Final = {"closed": "the text when it is closed", "expired": "the text when the link has expired"}
PARTS: Final[tuple[Marked, ...]] = ("points", "the share of people", "pictures", "slider", "labels of the ends")
QUOTA: Final[Marked] = "the quota of {name}"
NOT_WRITTEN: Final = "{name} cannot express this condition, so it is left out."
NO_SCORE: Final = "{name} has no question of this kind, so it became a choice of the same numbers."
NO_FIELDS: Final = "{name} has no question of this kind, so it became a text for each field."
WORDS_STAND: Final = "{name} does not know this value, so the words for a missing value stand there: {value}."
ANYTHING: Final = re.compile(r"(?s:.+)")
LEAVES_MAX: Final = 200
TOO_LONG: Final = Leaf("", "")  # in place of a condition of more comparisons, which nobody can write


class Unwritable(ValueError):
    """The other system cannot express this condition."""


class Written(msgspec.Struct, frozen=True):
    content: bytes
    lines: tuple[Line, ...]


class Source(msgspec.Struct, frozen=True):
    """A questionnaire to write, with its own texts in the default language."""

    definition: Definition
    own: Texts
    display_name: str


@dataclass(slots=True)
class Writer:
    """`name`: of the other system. `names`: of questions and rows there, by our ids."""

    source: Source
    name: str
    names: dict[str, str] = field(default_factory=dict[str, str])
    lines: list[Line] = field(default_factory=list[Line])

    @property
    def definition(self) -> Definition:
        return self.source.definition

    def own(self, locale: str) -> Texts:
        """The questionnaire's own texts in a language, else in the default one."""
        found, default = self.definition.texts(locale), self.source.own
        return Texts(found.title or default.title, found.description or default.description)

    def say(self, kind: Kind, thing: Question | None, sentence: Sentence) -> None:
        key, title = (thing.key or thing.question_id, thing.plain_title[:120]) if thing else (kind, "")
        self.lines.append(Line(kind, "changed", key, title, (sentence,), key, whole=False))

    def lost(self, question: Question, *parts: str, has_points: bool) -> None:
        """Says what no other system holds of a question, and these parts; empty names are left out."""
        points = "points" if has_points else ""
        share = "the share of people" if question.display_probability < 100 else ""  # noqa: PLR2004
        pictures = "pictures" if any(choice.picture for choice in question.choices) else ""
        self.not_held("question", question, (points, share, pictures, *parts))

    def not_held(self, kind: Kind, thing: Question | None, parts: Iterable[str]) -> None:
        """Says which of these parts are not held; empty names are left out."""
        if found := [Sentence.of(part) for part in parts if part]:
            listed = reduce(lambda before, part: Sentence("{before}, {part}", before=before, part=part), found)
            self.say(kind, thing, Sentence(NOT_HELD, name=self.name, parts=listed))

    def texts(self, thing: object, name: str) -> dict[str, str]:
        """A text of a question, group or ending by language, the default first."""
        found = {self.definition.default_locale: getattr(thing, name)}
        found |= {locale: getattr(one, name) for locale, one in getattr(thing, "translations", {}).items()}
        return {locale: text for locale, text in found.items() if text}

    def labels(self, question: Question, group: str, value: int | str, label: str) -> dict[str, str]:
        found: dict[str, str] = {self.definition.default_locale: label}
        for locale, one in question.translations.items():
            found |= {locale: text} if (text := _label(one, group, value)) else {}
        return found

    def pages(self, name: str) -> dict[str, str]:
        """One of the texts around the questions by language."""
        found = {locale: getattr(one, name) for locale, one in self.definition.pages.items()}
        return {locale: text for locale, text in found.items() if text}

    def piped(self, text: str, variable: Callable[[str], str | None], literal: Callable[[str], str] = str) -> str:
        """The text with the other system's variables; `variable` gives that of ours, None where there is none.

        `literal`: how words are written that are no variable.
        """
        made: list[str] = []
        for part in placeholders.parse(text, lambda _: True).parts if "{{" in text else [text]:
            found = literal(part) if isinstance(part, str) else variable(part.name)
            if found is None and not isinstance(part, str):
                self.say("text", None, Sentence(WORDS_STAND, name=self.name, value=part.name))
                found = literal(part.fallback)
            made.append(found or "")
        return "".join(made)

    def of_answer(self, variable: str) -> tuple[Question, str] | None:
        """The question of `answer.KEY`, and the field that follows."""
        kind, _, rest = variable.partition(".")
        key, _, part = rest.partition(".")
        found = next((one for one in self.definition.questions() if key in {one.key, one.question_id}), None)
        return None if kind != "answer" or found is None else (found, part)

    def condition(self, thing: Question | None, node: Node | None, leaf: Callable[[Leaf], str]) -> str | None:
        """A condition in the words of the other system; None, with its line, where it cannot be said there."""
        if node is None:
            return None
        try:
            return expression(node, leaf)
        except Unwritable:
            self.say("condition", thing, Sentence(NOT_WRITTEN, name=self.name))
            return None

    def subject(self, leaf: Leaf) -> tuple[Question, str]:
        """The question of a comparison, and the id of the row or the field. Raises Unwritable."""
        kind, _, rest = leaf.subject.partition(":")
        question_id, _, part = rest.partition(":")
        found = self.definition.question(question_id)
        if kind != "question" or found is None:
            raise Unwritable
        return found, part


def code_of(question: Question, value: object, allowed: re.Pattern[str] = ANYTHING) -> object:
    """The code that a choice had, where the other system takes it; else its value."""
    choice = question.choice(value)
    return choice.code if choice and choice.code and allowed.fullmatch(choice.code) else value


def _label(texts: Translation, group: str, value: int | str) -> str | None:
    found: Mapping[int | str, str] = getattr(texts, group)
    return found.get(value)


def expression(node: Node, leaf: Callable[[Leaf], str]) -> str:
    """Both systems join by `and` and `or`, and negate by `!`. Raises Unwritable."""
    match node:
        case Leaf():
            return leaf(node)
        case Not(inside):
            return f"!({expression(inside, leaf)})"
        case All(nodes) | AnyOf(nodes):
            if not nodes:
                raise Unwritable
            word = " and " if isinstance(node, All) else " or "
            return word.join(f"({expression(one, leaf)})" if len(nodes) > 1 else expression(one, leaf) for one in nodes)


def shown_when(definition: Definition) -> dict[str, Node | None]:
    """By question the condition on which it is asked: its own, and that no jump passes over it."""
    found: dict[str, Node | None] = {}
    asked = definition.questions()
    for place, question in enumerate(asked):
        passed: list[Node] = []
        for earlier in asked[:place]:
            passed += _passed(definition, earlier, place, found[earlier.question_id])
        own = [question.show_if] if question.show_if is not None else []
        node = _all([*own, *map(_not, passed)])
        is_long = node is not None and next(islice(_leaves(node), LEAVES_MAX, None), None) is not None
        found[question.question_id] = TOO_LONG if is_long else node
    return found


def _leaves(node: Node) -> Iterator[Leaf]:
    """The comparisons one by one, as there may be more than anybody could count."""
    match node:
        case Leaf():
            yield node
        case Not(inside):
            yield from _leaves(inside)
        case All(nodes) | AnyOf(nodes):
            for one in nodes:
                yield from _leaves(one)


def _passed(definition: Definition, question: Question, place: int, shown: Node | None) -> list[Node]:
    """On which conditions a jump of `question` passes over the question at this place."""
    found: list[Node] = []
    before: list[Node] = []
    for jump in question.jumps:
        target = jump.target_question_id
        over = target is None or definition.position(target) > place
        if over:
            found.append(_all([*map(_not, before), *_certain(question, jump.conditions, shown)]) or All(()))
        if jump.conditions is None:
            break
        before += [] if over else [jump.conditions]
    return found


def _certain(question: Question, condition: Node | None, shown: Node | None) -> list[Node]:
    """The condition of a jump, and that the question was asked, unless its answer says so."""
    subject = f"question:{question.question_id}"
    own = [condition] if condition is not None else []
    if any(leaf.subject == subject and leaf.operator in POSITIVE for leaf in conditions.leaves_of(condition)):
        return own
    if shown is None:
        return own
    return [Leaf(subject, "is_not_empty") if question.is_required else shown, *own]


def _all(nodes: list[Node]) -> Node | None:
    flat = [each for one in nodes for each in (one.nodes if isinstance(one, All) and one.nodes else [one])]
    return None if not flat else flat[0] if len(flat) == 1 else All(tuple(flat))


def _not(node: Node) -> Node:
    """The opposite, as one comparison where there is such a one: conditions must not be nested deep."""
    match node:
        case Leaf(subject, operator, value) if operator in OPPOSITES:
            return Leaf(subject, OPPOSITES[operator], value)
        case Not(inside):
            return inside
        case _:
            return Not(node)
