"""An estimate of the length: seconds to answer, and screens of a phone, on the longest way through.

Seconds: all texts are read at 240 words a minute (Brysbaert 2019: 238 in English), and each answer takes the seconds of
its shape. Nobody has to answer an open question, and most do not: one that is not required counts a third. A question
that a share of people get counts that share. Screens: of 360 by 640 pixels. Heights were measured on the answer
page with the questionnaires of the library; the foot of a page does not count.
"""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

from afterword.core.questionnaires.definition import Definition, Group
from afterword.core.questionnaires.flow import PERCENT, Flow
from afterword.core.questionnaires.question_types import Question, Shape
from afterword.core.questionnaires.visuals import Layout

WORDS_A_SECOND: Final = 4
PAGE_SECONDS: Final = 2  # to find and press the button
ANSWER_SECONDS: Final[Mapping[Shape, float]] = {  # matrix: a row, ranking: a place, contact: a field
    "scale": 3, "choice": 3, "choices": 5, "matrix": 3, "ranking": 4, "text": 24, "number": 5, "date": 6, "time": 5,
    "date_time": 10, "yes_no": 3, "consent": 3, "contact": 6, "files": 30, "none": 0,
}  # fmt: skip
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


@dataclass(frozen=True, slots=True)
class Length:
    """`seconds` in steps of 5, at least 5; `screens` of a phone."""

    seconds: int
    screens: int

    @property
    def minutes(self) -> int:
        return max(1, math.ceil(self.seconds / 60))


def length(definition: Definition, layout: Layout = "by_group", *, drawn: Collection[str] | None = None) -> Length:
    """`drawn`: the ids of the questions that one person gets, else each counts by the share of people who get it."""
    flow = Flow(definition, layout)
    longest = _longest_way(flow, drawn)
    pages: list[list[Question]] = []
    for group in definition.groups:
        page = [one for one in group.questions if one.question_id in longest]
        if layout == "by_question":
            pages += [[one] for one in page]
        elif page and layout == "one_page" and pages:
            pages[0] += page
        elif page:
            pages.append(page)
    welcome = definition.page_texts(definition.default_locale).welcome
    seconds = _words(welcome) / WORDS_A_SECOND + PAGE_SECONDS * len(pages)
    seconds += sum(_group_words(group) for group in definition.groups if _is_asked(group, longest)) / WORDS_A_SECOND
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


def _is_asked(group: Group, question_ids: set[str]) -> bool:
    return any(one.question_id in question_ids for one in group.questions)


def _group_words(group: Group) -> int:
    return _words(group.title) + _words(group.description)


def reading_seconds(question: Question) -> float:
    choices = question.choices[: LOOKED_AT_MAX if question.style == "dropdown" else None]
    labels = [choice.label for choice in choices] + [row.label for row in question.rows]
    texts = (question.title, question.description, question.low_label, question.high_label, *labels)
    return sum(map(_words, texts)) / WORDS_A_SECOND


def _seconds(question: Question, drawn: Collection[str] | None) -> float:
    share = question.display_probability if drawn is None else PERCENT * (question.question_id in drawn)
    return (reading_seconds(question) + _answering(question)) * share / PERCENT


def _answering(question: Question) -> float:
    seconds = ANSWER_SECONDS[question.shape]
    match question.shape:
        case "matrix":
            return seconds * len(question.rows)
        case "ranking":
            return seconds * question.ranks
        case "contact":
            return seconds * len(question.contact_fields) * (1 if question.required else UNANSWERED_SHARE)
        case "text":
            return (LINE_SECONDS if question.multiline is False else seconds) * (
                1 if question.required else UNANSWERED_SHARE
            )
        case _:
            return seconds


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
