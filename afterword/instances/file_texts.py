"""Sentences of an answer page about files: the kinds and sizes that a question takes, and why one was refused."""

from collections.abc import Mapping
from typing import Final

from afterword.core.answers.files import Received, Refusal, RefusedFile, accepted
from afterword.core.questionnaires.question_types import Question
from afterword.texts import Texts

SENTENCES: Final[Mapping[Refusal, str]] = {
    "empty": "“{name}” is empty.",
    "too_large": "“{name}” is too large: each file may have {size}.",
    "wrong_kind": "“{name}” is of another kind. Allowed: {types}.",
    "damaged": "“{name}” cannot be read: it may be damaged.",
    "harmful": "“{name}” was refused: it may be harmful.",
    "unchecked": "“{name}” could not be checked just now. Please try again in a few minutes.",
}


def refused(question: Question, received: Received, texts: Texts) -> str:
    """About the first file that was refused; "" for none."""
    for one in received:
        if isinstance(one, RefusedFile):
            types, size = allowed(question, texts)
            return texts(SENTENCES[one.refusal], name=one.name, types=types, size=size)
    return ""


def allowed(question: Question, texts: Texts) -> tuple[str, str]:
    """The kinds of files that a question takes, and the size of each."""
    kinds = dict.fromkeys(one.removeprefix(".").upper() for one in accepted(question) if one != ".jpeg")
    return ", ".join(kinds), written_size(question.bytes_max or 0, texts)


def written_size(size: int, texts: Texts) -> str:
    unit = 1_000 if size % 1_000 == 0 else 1_024  # limits are written in either, and are said as they were meant
    if size >= unit * unit:
        return f"{texts.number(round(size / unit / unit, 1))} MB"
    return f"{texts.number(max(1, round(size / unit)))} kB"
