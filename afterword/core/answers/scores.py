"""Points of answers: those of the chosen choices, the number on a scored scale, 1 for a scored yes."""

from collections.abc import Collection, Mapping

from afterword.core.answers.values import Given
from afterword.core.questionnaires.definition import Definition
from afterword.core.questionnaires.question_types import Question
from afterword.core.reading.documents import is_array, is_object


def points(question: Question, value: object) -> int:
    if question.scored:
        return int(value) if isinstance(value, int) else 0
    chosen = value.values() if is_object(value) else value if is_array(value) else [value]
    return sum(choice.points or 0 for one in chosen if (choice := question.choice(one)))


def score(definition: Definition, answers: Mapping[str, Given], hidden: Collection[str] = ()) -> int | None:
    """The sum of all answers but those of hidden questions; None where no question has points."""
    scoring = [question for question in definition.questions() if question.has_points]
    if not scoring:
        return None
    given = [(one, answers[one.question_id]) for one in scoring if one.question_id in answers]
    return sum(points(question, answer.value) for question, answer in given if question.question_id not in hidden)
