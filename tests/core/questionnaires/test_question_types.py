"""The types of questions: their scales, the kinds that conditions compare, the fields of their documents."""

import pytest

from afterword.core.questionnaires import definition
from tests.core.answers.questions import question
from tests.core.questionnaires.test_definition import WHY, changed, give_id


class TestTypes:
    @pytest.mark.parametrize(
        ("type_name", "scale"),
        [("nps", range(11)), ("csat", range(1, 6)), ("ces", range(1, 8)), ("rating", range(1, 6)),
         ("smileys", range(1, 6)), ("text", range(0)), ("statement", range(0))],
    )  # fmt: skip
    def test_scale(self, type_name: str, scale: range) -> None:
        good = definition.parse(changed(*WHY, to={"key": "why", "type": type_name, "title": "?"}), give_id=give_id)
        assert scale == good.questions()[2].scale

    def test_a_rating_from_zero(self) -> None:
        rating = {"key": "why", "type": "rating", "title": "?", "scale_min": 0, "scale_max": 10, "style": "stars"}
        good = definition.parse(changed(*WHY, to=rating), give_id=give_id)
        assert range(11) == good.questions()[2].scale

    def test_a_statement_is_never_required(self) -> None:
        statement = {"key": "why", "type": "statement", "title": "Read this", "required": True}
        good = definition.parse(changed(*WHY, to=statement), give_id=give_id)
        assert not good.questions()[2].is_required


def test_kinds_name_an_answer_and_its_parts() -> None:
    assert {"Q": "presence", "Q:r1": "integer", "Q:r2": "integer"} == question("matrix").kinds
    assert {"name", "email", "phone"} == {name[2:] for name in question("contact").kinds if name != "Q"}
    assert {"Q": "date"} == question("date").kinds
