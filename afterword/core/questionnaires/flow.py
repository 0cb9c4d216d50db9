"""The ways through a questionnaire: which question can follow which, and the questions that nobody is shown.

Jumps that ask only for the answer of their own question, from a list or a scale, are tried with every answer, and so is
a question's own condition that asks for one such answer. Any other condition may be true or false.

`length` estimates the longest way. Seconds: all texts are read at 240 words a minute (Brysbaert 2019: 238 in English),
and each answer takes the seconds of its type. Nobody has to answer an open question, and most do not: one that is not
required counts a third. A question that a share of people get counts that share. Screens: of 360 by 640 pixels. Heights
were measured on the answer page with the questionnaires of the library; the foot of a page does not count.
"""

import math
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final, Literal

import msgspec

from afterword.core.questionnaires import conditions, variables
from afterword.core.questionnaires.conditions import Facts
from afterword.core.questionnaires.definition import Definition
from afterword.core.questionnaires.endings import Ending
from afterword.core.questionnaires.metadata import SCORE
from afterword.core.questionnaires.question_types import TYPES, Jump, Question, Shape
from afterword.core.questionnaires.visuals import read_address
from afterword.core.reading.findings import Findings
from afterword.errors import Sentence


def pools_of(definition: Definition) -> Mapping[str, Sequence[str]]:
    """Paths by the key of the pool."""
    found = defaultdict[str, list[str]](list)
    for number, ending in enumerate(definition.endings):
        if ending.coupon_pool is not None:
            found[ending.coupon_pool].append(f"/endings/{number}/coupon_pool")
    return found


def pictures_of(definition: Definition) -> Mapping[str, Sequence[str]]:
    """Paths by the id of the asset."""
    found = defaultdict[str, list[str]](list)
    for path, question in definition.placed:
        for number, choice in enumerate(question.choices):
            picture = choice.picture and read_address(choice.picture)
            if picture:
                found[picture.asset_id].append(f"{path}/choices/{number}/picture")
    return found


def check(definition: Definition, *, pools: Collection[str], pictures: Collection[str], findings: Findings) -> None:
    """Note what is missing. `pools`: the keys, and `pictures`: the ids, of those that exist."""
    for key, paths in pools_of(definition).items():
        if key not in pools:
            for path in paths:
                findings.error(path, "unknown_id", Sentence("There is no coupon pool with the key {key}.", key=key))
    for asset_id, paths in pictures_of(definition).items():
        if asset_id not in pictures:
            for path in paths:
                findings.error(path, "unknown_id", "There is no such picture any more. Choose another.")


Anonymity = Literal["invitation", "response"]
"""Of an instance of an anonymous questionnaire: what a person was sent, or answers of somebody."""
CODE: Final = "not_anonymous"
ENDINGS: Final[Mapping[str, str]] = {
    "coupon_pool": "A coupon would be recorded with the response; an anonymous questionnaire cannot give one.",
    "responses_max": "Answers count only once they are mixed, so an anonymous questionnaire cannot have a quota.",
    "call_back": "A person who asks for a call is known; an anonymous questionnaire cannot offer one.",
}
FACTS: Final = ("questionnaire_metadata:", "responder_metadata:")  # subjects that no answer changes
EVERYBODY: Final = 100  # percent


REVIEW_FOR_ALL: Final = (
    "Everybody is asked for a public review, or nobody: where answers decide which ending is shown, each ending has a "
    "review link, the last one without a condition too, or none has. Several countries and most review sites forbid to "
    "ask happy customers alone."
)


def check_reviews(definition: Definition, findings: Findings) -> None:
    """Note review links that only some people would see because of what they answered."""
    shown = [(number, one) for number, one in enumerate(definition.endings) if one.responses_max is None]
    linked = [number for number, one in shown if one.review_url]
    is_for_all = len(linked) == len(shown) and any(one.conditions is None for _, one in shown)
    subjects = {leaf.subject for _, one in shown for leaf in conditions.leaves_of(one.conditions)}
    if linked and not is_for_all and any(not one.startswith(FACTS) for one in subjects):
        findings.error(f"/endings/{linked[0]}/review_url", "exclusive", REVIEW_FOR_ALL)


def check_anonymity(definition: Definition, findings: Findings) -> None:
    if not definition.anonymous:
        return
    paths: dict[str | None, str] = {None: "/anonymous"}
    for path, question in definition.placed:
        paths[question.question_id] = path
        _check_question(question, path, findings)
    for number, ending in enumerate(definition.endings):
        for member, message in ENDINGS.items():
            if getattr(ending, member) is not None:
                findings.error(f"/endings/{number}/{member}", CODE, message)
    for name, question_ids in variables.metadata_of(definition).items():
        if name == f"questionnaire.{SCORE}":
            continue
        for question_id in question_ids:
            text = "An anonymous questionnaire keeps no metadata, so nothing can depend on {name}. Ask for it."
            findings.error(paths[question_id], CODE, Sentence(text, name=name))


def _check_question(question: Question, path: str, findings: Findings) -> None:
    if TYPES[question.type].identifies:
        findings.error(f"{path}/type", CODE, "This type asks for what identifies a person.")
    if question.display_probability < EVERYBODY:
        message = "The invitation says who was drawn, so an anonymous questionnaire asks everybody the same questions."
        findings.error(f"{path}/display_probability", CODE, message)


PERCENT: Final = 100
CHOICES_TRIED_MAX: Final = 50


class Edge(msgspec.Struct, frozen=True):
    """`source`: None for the start, `target`: None for the end. `jump`: its number from 0, None for “else go on”."""

    source: str | None
    target: str | None
    jump: int | None = None


class Flow(msgspec.Struct, frozen=True, dict=True):
    """`nodes`: the ids of the questions that are asked at all, in order. Each group is a page."""

    definition: Definition

    @cached_property
    def nodes(self) -> tuple[str, ...]:
        return tuple(question.question_id for question in self.definition.enabled)

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
        ids = [question.question_id for question in self.definition.group_of(node).questions]
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
        rest = (question.question_id for question in self.definition.questions()[position:])
        return next((question_id for question_id in rest if question_id in self._asked), None)

    @cached_property
    def _asked(self) -> frozenset[str]:
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
    unreachable = Flow(definition).unreachable
    for path, question in definition.placed:
        if question.question_id in unreachable:
            message = "No answers lead to this question: jumps pass over it, or its condition never holds."
            findings.warning(path, "unreachable_question", message)


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


WORDS_A_SECOND: Final = 4
PAGE_SECONDS: Final = 2  # to find and press the button
LINE_SECONDS: Final = 9  # a text of one line
UNANSWERED_SHARE: Final = 1 / 3
SCREEN_PIXELS: Final = 640
PAGE_PIXELS: Final = 320  # head and button
LINE_PIXELS: Final = 28
LINE_CHARACTERS: Final = 32
KEY_PIXELS: Final = 56  # a choice, a field, a row of keys
SPACE_PIXELS: Final = 32
LOOKED_AT_MAX: Final = 10  # choices of a dropdown: in a long list people look for theirs
COLUMNS_BESIDE: Final = 2  # choices of a matrix that stand side by side


class Length(msgspec.Struct, frozen=True):
    seconds: int
    screens: int

    @property
    def minutes(self) -> int:
        return max(1, math.ceil(self.seconds / 60))


def length(definition: Definition, *, drawn: Collection[str] | None = None) -> Length:
    """`drawn`: the ids of the questions that one person gets, else each counts by the share of people who get it."""
    longest = _longest_way(Flow(definition), drawn)
    asked = [group for group in definition.groups if any(one.question_id in longest for one in group.questions)]
    pages = [[one for one in group.questions if one.question_id in longest] for group in asked]
    welcome = definition.page_texts(definition.default_locale).welcome
    seconds = _words(welcome) / WORDS_A_SECOND + PAGE_SECONDS * len(pages)
    seconds += sum(_words(group.title) + _words(group.description) for group in asked) / WORDS_A_SECOND
    seconds += sum(_seconds(one, drawn) for page in pages for one in page)
    lines = _lines(welcome) * LINE_PIXELS
    screens = [
        math.ceil((PAGE_PIXELS + sum(_pixels(one) for one in page) + (0 if number else lines)) / SCREEN_PIXELS)
        for number, page in enumerate(pages)
    ]
    return Length(max(5, round(seconds / 5) * 5), sum(screens))


def _longest_way(flow: Flow, drawn: Collection[str] | None) -> set[str]:
    """The questions on the way that takes longest; jumps lead only forward, so the last questions come first."""
    best: dict[str | None, tuple[float, tuple[str, ...]]] = {None: (0, ())}
    following: dict[str | None, list[str | None]] = {}
    for edge in flow.edges:
        following.setdefault(edge.source, []).append(edge.target)
    for node in [*reversed(flow.nodes), None]:
        seconds, way = max(best[target] for target in following.get(node, [None]))
        question = None if node is None else flow.definition.question(node)
        best[node] = (
            (seconds, way) if question is None else (seconds + _seconds(question, drawn), (question.question_id, *way))
        )
    return {question_id for question_id in best[None][1] if drawn is None or question_id in drawn}


def reading_seconds(question: Question) -> float:
    choices = question.choices[: LOOKED_AT_MAX if question.style == "dropdown" else None]
    labels = [choice.label for choice in choices] + [row.label for row in question.rows]
    texts = (question.title, question.description, question.low_label, question.high_label, *labels)
    return sum(map(_words, texts)) / WORDS_A_SECOND


def _seconds(question: Question, drawn: Collection[str] | None) -> float:
    share = question.display_probability if drawn is None else PERCENT * (question.question_id in drawn)
    return (reading_seconds(question) + _answering(question)) * share / PERCENT


def _answering(question: Question) -> float:
    known = TYPES[question.type]
    seconds = LINE_SECONDS if question.multiline is False else known.seconds
    counts: Mapping[Shape, int] = {
        "matrix": len(question.rows),
        "ranking": question.ranks,
        "contact": len(question.contact_fields),
    }
    is_skipped = known.shape in {"text", "contact"} and not question.required
    return seconds * counts.get(known.shape, 1) * (UNANSWERED_SHARE if is_skipped else 1)


def _pixels(question: Question) -> int:
    texts = (_lines(question.title) + _lines(question.description)) * LINE_PIXELS + SPACE_PIXELS
    return texts + _control_pixels(question)


def _control_pixels(question: Question) -> int:
    choices = sum(KEY_PIXELS * (1 + one.other) + LINE_PIXELS * (_lines(one.label) - 1) for one in question.choices)
    columns = KEY_PIXELS * math.ceil(len(question.choices) / COLUMNS_BESIDE)
    heights: Mapping[Shape, int] = {
        "scale": KEY_PIXELS + LINE_PIXELS,
        "choice": KEY_PIXELS if question.style == "dropdown" else choices,
        "choices": choices,
        "yes_no": 2 * KEY_PIXELS,
        "ranking": choices,
        "matrix": sum(columns + LINE_PIXELS * (1 + _lines(row.label)) for row in question.rows),
        "text": KEY_PIXELS if question.multiline is False else 2 * KEY_PIXELS,
        "contact": (KEY_PIXELS + LINE_PIXELS) * len(question.contact_fields),
        "none": 0,
    }
    return heights.get(question.shape, KEY_PIXELS)


def _words(text: str | None) -> int:
    return len(text.split()) if text else 0


def _lines(text: str | None) -> int:
    return math.ceil(len(text) / LINE_CHARACTERS) if text else 0
