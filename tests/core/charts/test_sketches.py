"""The small picture of a questionnaire: a line and an outline for each question, within its frame."""

import re

from afterword.asking.questionnaires.library import service as library
from afterword.core import charts
from afterword.core.questionnaires.definition import Definition, Group
from tests.core.answers.questions import question


def of(*kinds: str) -> charts.Sketch:
    questions = tuple(question(kind, f"q{number}") for number, kind in enumerate(kinds))
    groups = (Group(group_id="g", questions=questions),)
    return charts.sketch(Definition(default_locale="en", locales=("en",), groups=groups))


def test_each_question_has_its_outline() -> None:
    assert (1, 11) == boxes(of("nps"))
    assert (2, 6) == boxes(of("csat", "text"))
    assert (1, 0) == boxes(of("statement"))
    assert (0, 0) == boxes(of())


def test_only_as_many_as_there_is_room_for() -> None:
    assert boxes(of(*["nps"] * 50)) == boxes(of(*["nps"] * 5))


def test_library() -> None:
    drawn = {name: charts.sketch(library.get(name).definition) for name in library.NAMES}
    for name, one in drawn.items():
        assert one.texts, name
        for y, height in re.findall(r"M\d+ (\d+)h\d+v(\d+)", one.texts + one.answers):
            assert int(y) + int(height) <= charts.SKETCH_HEIGHT, name
    assert len(drawn) - 2 <= len(set(drawn.values()))


def boxes(drawn: charts.Sketch) -> tuple[int, int]:
    return drawn.texts.count("M"), drawn.answers.count("M")
