"""Each type in the registry goes the whole way: defined, shown, answered, compared, counted, exported and edited."""

from typing import Any, Final

import msgspec
import pytest

from afterword.asking.instances import views
from afterword.asking.questionnaires import api
from afterword.asking.screens import question_form
from afterword.core.answers import values
from afterword.core.figures import reports
from afterword.core.questionnaires import conditions, definition, editing, questions
from afterword.core.questionnaires.flow import length
from afterword.core.questionnaires.question_types import TYPES, Question
from afterword.core.wire.exports import FIXED, ExportTable, Response
from afterword.kit.texts import texts
from afterword.kit.web import html

QUESTION_ID: Final = "Q" * 22
CHOICES: Final = {"choices": [{"value": 1, "label": "Good"}, {"value": 2, "label": "Bad"}]}
MEMBERS: Final[dict[str, dict[str, Any]]] = {
    **dict.fromkeys(("choice", "choices", "ranking"), CHOICES),
    "matrix": {**CHOICES, "rows": [{"row_id": "R" * 22, "label": "Speed"}]},
}
# By shape: the posted texts by part, the value that is read, and the cells of an export.
ANSWERS: Final[dict[str, tuple[dict[str | None, str], Any, list[Any]]]] = {
    "scale": ({None: "3"}, 3, [3]),
    "choice": ({None: "2"}, 2, ["Bad", 2]),
    "choices": ({None: "2"}, [2], ["Bad", "2"]),
    "yes_no": ({None: "1"}, True, [True]),
    "matrix": ({"R" * 22: "2"}, {"R" * 22: 2}, ["Bad", 2]),
    "ranking": ({"2": "1", "1": "2"}, [2, 1], ["Bad, Good", "2;1"]),
    "text": ({None: "Well"}, "Well", ["Well"]),
    "number": ({None: "7"}, 7, [7]),
    "date": ({None: "2026-11-21"}, "2026-11-21", ["2026-11-21"]),
    "time": ({None: "09:30"}, "09:30", ["09:30"]),
    "date_time": ({None: "2026-11-21T09:30"}, "2026-11-21T09:30", ["2026-11-21T09:30"]),
    "consent": ({None: "1"}, True, [True]),
}


def parsed(type_name: str) -> Question:
    shape = TYPES[type_name].shape
    document = {
        "question_id": QUESTION_ID,
        "type": type_name,
        "title": "How?",
        "required": shape != "none",
        **MEMBERS.get(shape, {}),
    }
    groups = [{"group_id": "G" * 22, "questions": [document]}]
    [found] = definition.parse({"default_locale": "en", "locales": ["en"], "groups": groups}).questions()
    return found


@pytest.mark.parametrize("type_name", TYPES)
def test_the_whole_way(type_name: str) -> None:
    question, known, words = parsed(type_name), TYPES[type_name], texts("pages", "en")
    document = questions.document_of(question)
    of_a_group = {"group_id": "G" * 22, "questionnaire_id": "N" * 22, "version_id": None, "position": 0}
    assert type_name == msgspec.convert({**document, **of_a_group}, api.Question).type

    view = views.view_of(question, shown=views.Shown(), texts=words)
    page = bytes(html.page("public/question.html", t=words, question=view).body).decode()
    assert "How?" in page

    form = question_form.fields(texts("console", "en"), document, editing.values_of(document))
    assert [*editing.fields_of(type_name)] == [one.name for one in form if one.label]
    assert {*known.fields} <= {one.name for one in form}
    assert known.label in dict(question_form.types(texts("console", "en"))).values()
    typed = {one.name: one.value if isinstance(one.value, list) else [one.value] for one in form}
    again = editing.question_from(document, {"type": [type_name], **typed}, known=document, new_id=str)
    groups = [{"group_id": "G" * 22, "questions": [again]}]
    assert question == definition.parse({"default_locale": "en", "locales": ["en"], "groups": groups}).questions()[0]


@pytest.mark.parametrize("type_name", [name for name, known in TYPES.items() if known.shape in ANSWERS])
def test_an_answer(type_name: str) -> None:
    question = parsed(type_name)
    posted, value, exported = ANSWERS[question.shape]
    fields = {values.field_name(QUESTION_ID, part): [text] for part, text in posted.items()}
    given = values.read_form(question, fields)
    assert given is not None
    assert value == given.value
    facts = values.facts_of(question, given.value)
    assert conditions.matches(conditions.Leaf(f"question:{QUESTION_ID}", "is_not_empty"), facts)
    if question.shape not in {"matrix", "ranking"}:
        assert conditions.matches(conditions.Leaf(f"question:{QUESTION_ID}", "equal", value), facts)
    groups = [{"group_id": "G" * 22, "questions": [questions.document_of(question)]}]
    whole = definition.parse({"default_locale": "en", "locales": ["en"], "groups": groups})
    table = ExportTable([whole], "en", has_questionnaire_metadata=False, has_responder_metadata=False)
    row = table.cells(Response([None] * len(FIXED), {QUESTION_ID: [value, None]}))
    assert exported == row[len(FIXED) :]
    assert length(whole).seconds >= TYPES[type_name].seconds
    if type_name in reports.GROUPING:
        assert str(value).lower() in reports.values_of(question)
    if question.shape == "scale":
        assert type_name in reports.NUMERIC & reports.DISTRIBUTED
