"""Answers that were given elsewhere: how a request names them, and which of them fit a questionnaire."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeVar

from msgspec.structs import replace

from afterword.core.answers.values import Given, InvalidAnswer, check
from afterword.core.questionnaires.definition import Definition
from afterword.core.questionnaires.question_types import Question, Shape
from afterword.core.reading.documents import is_array, is_object
from afterword.core.reading.findings import escape
from afterword.core.reading.structs import Context
from afterword.errors import FieldError, Sentence

Name = TypeVar("Name", int, str)
ANSWERS_MAX: Final = 500
NAME_CHARACTERS_MAX: Final = 64
CHOSEN: Final[frozenset[Shape]] = frozenset({"choice", "choices", "ranking", "matrix"})
_NO_CHOICE: Final = "There is no choice with this value or label."


class NamedAnswer(NamedTuple):
    """`name`: the id or the key of a question."""

    name: str
    value: object
    other_text: str | None = None


def read_answers(value: object, pointer: str, context: Context) -> list[NamedAnswer]:
    """Reader of a map of values by question, or of a list of answers as other operations show them. Null is none."""
    if not (is_object(value) or is_array(value)):
        context.error(pointer, "wrong_type", "An object of questions and values is expected, or a list of answers.")
        return []
    if len(value) > ANSWERS_MAX:
        context.error(pointer, "too_many", Sentence("A response has at most {n} answers.", n=ANSWERS_MAX))
        return []
    if is_object(value):
        return [NamedAnswer(name, one) for name, one in value.items() if one is not None]
    found: list[NamedAnswer] = []
    for place, one in enumerate(value):
        answer = one if is_object(one) else {}
        name, text = answer.get("question_id") or answer.get("key"), answer.get("other_text")
        if not isinstance(name, str) or not (text is None or isinstance(text, str)):
            message = "An object with question_id or key, and value is expected."
            context.error(f"{pointer}/{place}", "wrong_type", message)
        elif answer.get("value") is not None:
            found.append(NamedAnswer(name, answer["value"], text))
    return found


class AnswerSheet:
    """The questions of a version as answers of other systems name them: by id, key or code; choices by code or label.

    Nothing is required, since another questionnaire asked.
    """

    def __init__(self, definition: Definition) -> None:
        self._questions: dict[str, Question] = {}
        self._labels: dict[str, Mapping[str, int]] = {}
        self._codes: dict[str, Mapping[str, int]] = {}
        self._rows: dict[str, Mapping[str, str]] = {}
        for one in definition.questions():
            question = replace(one, required=False)
            self._questions[one.question_id] = question
            for name in filter(None, (one.key, one.code)):
                self._questions.setdefault(name, question)
            if one.shape in CHOSEN:
                translated = [texts.choices.items() for texts in one.translations.values()]
                labels = [(choice.value, choice.label) for choice in one.choices]
                self._labels[one.question_id] = _unambiguous(labels + [each for texts in translated for each in texts])
                self._codes[one.question_id] = {choice.code: choice.value for choice in one.choices if choice.code}
            if one.rows:
                texts_of = {row.row_id: (row.row_id, row.key, row.code, row.label) for row in one.rows}
                named = [(row_id, text) for row_id, texts in texts_of.items() for text in texts if text]
                translated_rows = [each for texts in one.translations.values() for each in texts.rows.items()]
                self._rows[one.question_id] = _unambiguous(named + translated_rows)

    def read(self, given: Sequence[NamedAnswer]) -> tuple[dict[str, Given], list[FieldError]]:
        """The answers that fit, by the ids of their questions, and what is wrong with the others."""
        found: dict[str, Given] = {}
        wrong: list[FieldError] = []
        for one in given:
            question = self._questions.get(one.name)
            try:
                answer = self._check(question, one)
            except InvalidAnswer as error:
                pointer = f"/answers/{escape(one.name[:NAME_CHARACTERS_MAX])}"
                wrong.append(FieldError(error.code, error.message, pointer=pointer))
                continue
            if question is not None and found.setdefault(question.question_id, answer) is not answer:
                pointer = f"/answers/{escape(one.name)}"
                wrong.append(FieldError("duplicate", "This question is answered twice.", pointer=pointer))
        return found, wrong

    def _check(self, question: Question | None, given: NamedAnswer) -> Given:
        if question is None:
            raise InvalidAnswer("unknown_id", "The questionnaire has no question with this id or key.")
        if question.shape == "files":
            raise InvalidAnswer("unknown_value", "Files cannot be imported.")
        value = self._chosen(question, given.value) if question.shape in CHOSEN else given.value
        return check(question, value, given.other_text)

    def _chosen(self, question: Question, value: Any) -> object:
        """The value with the numbers of choices in the place of their labels. Raises InvalidAnswer."""
        if is_array(value):
            return [self._value(question, one) for one in value]
        if not is_object(value):
            return self._value(question, value)
        rows, given = self._rows.get(question.question_id, {}), [pair for pair in value.items() if pair[1] is not None]
        return {rows.get(_folded(name), name): self._value(question, one) for name, one in given}

    def _value(self, question: Question, value: object) -> object:
        if not isinstance(value, str):
            return value
        found = self._codes[question.question_id].get(value) or self._labels[question.question_id].get(_folded(value))
        if found is None:
            raise InvalidAnswer("unknown_value", _NO_CHOICE)
        return found


def _unambiguous(named: Sequence[tuple[Name, str]]) -> dict[str, Name]:
    """The one thing that each text names; texts that name several are left out."""
    found: dict[str, set[Name]] = {}
    for name, text in named:
        found.setdefault(_folded(text), set()).add(name)
    return {text: next(iter(names)) for text, names in found.items() if len(names) == 1}


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()
