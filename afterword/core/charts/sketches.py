"""A questionnaire as a small picture: a line for each text and the outlines of its answers, as paths of SVG."""

from dataclasses import dataclass
from typing import Final

from afterword.core.questionnaires.definition import Definition
from afterword.core.questionnaires.question_types import Question

WIDTH: Final = 120
HEIGHT: Final = 84
EDGE: Final = 8
CHOICES_DRAWN: Final = 3
SCALE_DRAWN_MAX: Final = 11
_INNER: Final = WIDTH - 2 * EDGE
_ROW: Final = 8


@dataclass(frozen=True, slots=True)
class Sketch:
    """`texts` are filled, `answers` are outlines."""

    texts: str
    answers: str


def sketch(definition: Definition) -> Sketch:
    """The first questions, as many as there is room for."""
    texts, answers, top = list[str](), list[str](), EDGE
    for question in definition.questions():
        drawn, height = _answer(question, top + _ROW)
        if top + _ROW + height > HEIGHT:
            break
        texts.append(_box(EDGE, top, min(_INNER, 30 + len(question.title)), 3))
        answers += drawn
        top += _ROW + height + (_ROW if height else 0)
    return Sketch("".join(texts), "".join(answers))


def _answer(question: Question, top: int) -> tuple[list[str], int]:
    match question.shape:
        case "none":
            return [], 0
        case "scale" | "yes_no":
            count = min(len(question.scale), SCALE_DRAWN_MAX) or 2
            step = min(_INNER // count, 24)
            return [_box(EDGE + step * n, top, step - 2, _ROW) for n in range(count)], _ROW
        case "choice" | "choices" | "ranking" | "matrix":
            count = min(len(question.rows or question.choices), CHOICES_DRAWN)
            lines = [_box(EDGE, top + _ROW * n, 5, 5) + _box(EDGE + 9, top + _ROW * n + 2, 40, 1) for n in range(count)]
            return lines, _ROW * count
        case _:
            height = 2 * _ROW if question.multiline else _ROW
            return [_box(EDGE, top, _INNER, height)], height


def _box(x: int, y: int, width: int, height: int) -> str:
    return f"M{x} {y}h{width}v{height}h-{width}z"
