"""The values of variables in the texts of an answer page, in the reader's language."""

from dataclasses import replace
from datetime import date
from typing import Any, Final

from afterword.core.answers.values import Given, label
from afterword.core.questionnaires import directions, variables
from afterword.core.questionnaires.question_types import Question
from afterword.core.questionnaires.questions import TEXTS, localized
from afterword.core.reading.documents import is_array, is_object
from afterword.core.text import placeholders
from afterword.instances.answer_page import AnswerPage
from afterword.texts import Texts

VALUE_CHARACTERS_MAX: Final = 200  # of an answer in a sentence
CHOSEN: Final = frozenset({"choice", "choices", "ranking"})


def filled(answer_page: AnswerPage, text: str) -> str:
    return variables.fill(text, lambda name: directions.isolated(_value_of(answer_page, name)))


def filled_address(answer_page: AnswerPage, url: str) -> str:
    """The address with its variables percent-encoded: numbers in digits, other values as texts have them."""
    return variables.address(url, lambda name: _bare(answer_page, name))


def filled_question(answer_page: AnswerPage, question: Question) -> Question:
    """The question with its own texts filled; labels of choices and rows have no variables."""
    texts: dict[str, Any] = {
        name: filled(answer_page, text) for name in TEXTS if (text := getattr(question, name)) and "{{" in text
    }
    return replace(question, **texts) if texts else question


def _value_of(answer_page: AnswerPage, name: str) -> str:
    kind, _, rest = name.partition(".")
    if kind == variables.ORGANIZATION:
        return answer_page.head.brand
    if kind != variables.ANSWER:
        return _written(answer_page.sequence.facts.get(f"{kind}_metadata:{rest}"), answer_page.texts)
    sequence = answer_page.sequence
    question, part = variables.question_of(sequence.definition, name) or (None, "")
    if question is None or answer_page.hides_answers or question.question_id in sequence.hidden:
        return ""
    given = sequence.answers.get(question.question_id)
    return "" if given is None else _answer(question, given, part, answer_page.texts, answer_page.head.locale)


def _bare(answer_page: AnswerPage, name: str) -> str:
    kind, _, rest = name.partition(".")
    found, _ = variables.question_of(answer_page.sequence.definition, name) or (None, "")
    given = answer_page.sequence.answers.get(found.question_id) if found else None
    text = _value_of(answer_page, name)
    if text and found and given is not None and found.shape in {"scale", "number", "date", "date_time"}:
        return str(given.value)
    if answer_page.started is None or kind not in placeholders.MAPS:
        return text
    context = answer_page.context
    return (context.responder_metadata if kind == "responder" else context.instance.metadata).get(rest, "")


def _answer(question: Question, given: Given, part: str, texts: Texts, locale: str) -> str:
    value = given.value
    if question.shape == "contact":
        return _short(str(value.get(part or "name", ""))) if is_object(value) else ""
    if question.shape in {"matrix", "files"}:
        return _short(label(question, value, locale) or "")
    if question.shape in CHOSEN:
        shown, chosen = localized(question, locale), value if is_array(value) else [value]
        labels = [(one.other and given.other_text) or one.label for each in chosen if (one := shown.choice(each))]
        return _short(", ".join(labels))
    if question.shape in {"date", "date_time"} and isinstance(value, str):
        day, _, time = value.partition("T")
        return f"{texts.day(day)}, {time}" if time else texts.day(day)
    return _written(value, texts)


def _written(value: object, texts: Texts) -> str:
    """An answer or metadata, by its type; "" for none. Numbers of metadata keep their digits, as prices do."""
    match value:
        case None:
            return ""
        case bool():
            return texts("Yes") if value else texts("No")
        case date():
            return texts.day(value.isoformat())
        case int() | float():
            return texts.number(value)
        case _:
            return _short(" ".join(str(value).split()))


def _short(text: str) -> str:
    return text if len(text) <= VALUE_CHARACTERS_MAX else f"{text[:VALUE_CHARACTERS_MAX]}…"
