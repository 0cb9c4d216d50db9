"""Small files of Formbricks, SurveyJS and XLSForm, and what is read of them."""

import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import xlsxwriter

from afterword import ids
from afterword.asking.questionnaires import files
from afterword.core import foreign
from afterword.core.foreign.exports import Source
from afterword.core.foreign.parts import Line
from afterword.core.questionnaires import conditions
from afterword.core.questionnaires.definition import Definition, Texts
from afterword.core.questionnaires.metadata import GLOBAL
from afterword.core.questionnaires.question_types import Question


class Taken:
    """A file that was read, as a questionnaire that passed the check of our files."""

    def __init__(self, content: bytes) -> None:
        _, made = foreign.read(content)
        self.lines: Sequence[Line] = made.lines
        texts = {"display_name": "x", **{name: made.document.pop(name, None) for name in ("title", "description")}}
        text = files.written(texts, made.document)
        file = files.read(text, give_id=lambda kind, key: ids.derived(f"{kind}:{key}"), declared=GLOBAL)
        self.definition: Definition = file.definition
        self.settings = file.settings

    def __getitem__(self, key: str) -> Question:
        return next(one for one in self.definition.questions() if one.key == key)

    def line(self, place: str, kind: str = "question") -> Line:
        return next(one for one in self.lines if one.place == place and one.kind == kind)

    def told(self, place: str, kind: str = "question") -> str:
        return " ".join(self.line(place, kind).sentences)

    def condition(self, node: conditions.Node | None) -> object:
        return keyed(self.definition, node)

    def show_if(self, key: str) -> object:
        return self.condition(self[key].show_if)

    def jumps(self, key: str) -> list[tuple[str | None, object]]:
        keys = {one.question_id: one.key for one in self.definition.questions()}
        return [(keys.get(one.target_question_id or ""), self.condition(one.conditions)) for one in self[key].jumps]


def keyed(definition: Definition, node: conditions.Node | None) -> object:
    """A condition with the keys of questions and rows in place of their ids."""
    text = json.dumps(conditions.document_of(node))
    for one in definition.questions():
        text = text.replace(one.question_id, one.key or "")
        for row in one.rows:
            text = text.replace(row.row_id, row.key or "")
    return json.loads(text)


def question(source: Source, key: str) -> Question:
    return next(one for one in source.definition.questions() if one.key == key)


def every() -> Source:
    """A questionnaire with a question of every type, to be written for other systems."""
    text = Path(__file__).with_name("every.yaml").read_text(encoding="utf-8")
    file = files.read(text, give_id=lambda kind, key: ids.derived(f"{kind}:{key}"))
    return Source(file.definition, Texts(file.settings["title"], file.settings["description"]), "Every type")


def came_back(source: Source, made: Taken, names: Sequence[str]) -> dict[str, dict[str, tuple[object, object]]]:
    """By question the members that differ after it was written and read: before and after; None where it is gone."""
    found: dict[str, dict[str, tuple[object, object]]] = {}
    after = {(one.key or "").replace("_", ""): one for one in made.definition.questions()}
    for one in source.definition.questions():
        other = after.get((one.key or "").replace("_", ""))
        pairs = {name: (getattr(one, name), getattr(other, name, None)) for name in names}
        if different := {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}:
            found[one.key or ""] = different
    return found


def choices(question: Question) -> list[tuple[int, str]]:
    return [(one.value, one.label) for one in question.choices]


def taken(document: object) -> Taken:
    return Taken(json.dumps(document).encode())


def leaf(key: str, operator: str, value: object = None) -> dict[str, object]:
    return {"subject": f"question:{key}", "operator": operator, **({} if value is None else {"value": value})}


def element(kind: str, name: str, **members: Any) -> dict[str, Any]:
    """An element of Formbricks, which stands in a block of its own name."""
    return {"id": name, "type": kind, "headline": {"default": f"About {name}"}, "required": False, **members}


def formbricks(*blocks: dict[str, Any] | list[dict[str, Any]], **members: Any) -> dict[str, Any]:
    """A survey of Formbricks; a list of elements is a block without logic."""
    made = [one if isinstance(one, dict) and "elements" in one else {"elements": one} for one in blocks]
    named = [{"id": f"b{number}", "name": f"Block {number}", **one} for number, one in enumerate(made, start=1)]
    return {"name": "Form", "blocks": named, "endings": [], **members}


def block(one: dict[str, Any], *logic: dict[str, Any]) -> dict[str, Any]:
    return {"elements": [one], "logic": list(logic)}


def both(english: str, greek: str) -> dict[str, str]:
    return {"default": english, "el": greek}


def rule(name: str, operator: str, value: object, target: str, **left: Any) -> dict[str, Any]:
    one: dict[str, Any] = {"leftOperand": {"type": "element", "value": name, **left}, "operator": operator}
    one |= {} if value is None else {"rightOperand": {"type": "static", "value": value}}
    actions = [{"objective": "jumpToBlock", "target": target}]
    return {"conditions": {"connector": "and", "conditions": [one]}, "actions": actions}


def surveyjs(*elements: dict[str, Any], **members: Any) -> dict[str, Any]:
    return {"pages": [{"name": "page1", "elements": list(elements)}], **members}


def xlsform(
    survey: Sequence[Mapping[str, object]],
    choices: Sequence[Mapping[str, object]] = (),
    settings: Mapping[str, object] | None = None,
) -> bytes:
    """A workbook with the columns that the rows name."""
    content = io.BytesIO()
    with xlsxwriter.Workbook(content) as book:
        for name, rows in (("survey", survey), ("choices", choices), ("settings", [settings or {}])):
            sheet = book.add_worksheet(name)
            columns = list(dict.fromkeys(key for row in rows for key in row))
            sheet.write_row(0, 0, columns)
            for number, row in enumerate(rows, start=1):
                sheet.write_row(number, 0, [row.get(key, "") for key in columns])
    return content.getvalue()


COLOURS: Final = (
    {"list_name": "c", "name": "red", "label": "Red"},
    {"list_name": "c", "name": "blue", "label": "Blue"},
)

WHICH, BREAD, CAKE = both("Which?", "Ποιο;"), both("Bread", "Ψωμί"), both("Cake", "Κέικ")
SAMPLES: Final[Mapping[str, bytes]] = {
    "formbricks": json.dumps(
        formbricks(
            block(
                element("multipleChoiceSingle", "a", headline=WHICH, required=True, choices=[
                    {"id": "x", "label": BREAD}, {"id": "y", "label": CAKE}]),
                rule("a", "equals", "x", "b2"),
            ),
            [element("openText", "b", headline=both("Why #recall:a/fallback:that#?", "Γιατί;"))],
            languages=[{"language": {"code": "en"}, "default": True}, {"language": {"code": "el"}}],
        )
    ).encode(),
    "surveyjs": json.dumps(
        surveyjs(
            {"type": "radiogroup", "name": "a", "title": WHICH,
                "choices": [{"value": 1, "text": BREAD}, {"value": 2, "text": CAKE}]},
            {"type": "comment", "name": "b", "title": both("Why {a}?", "Γιατί {a};"), "visibleIf": "{a} = 2"},
        )
    ).encode(),
    "xlsform": xlsform(
        [
            {"type": "select_one c", "name": "a", "label::English (en)": "Which?", "label::Ελληνικά": "Ποιο;"},
            {"type": "text", "name": "b", "label::English (en)": "Why ${a}?", "label::Ελληνικά": "Γιατί;",
                "relevant": "${a} = 'x'"},
        ],
        [
            {"list_name": "c", "name": "x", "label::English (en)": "Bread", "label::Ελληνικά": "Ψωμί"},
            {"list_name": "c", "name": "y", "label::English (en)": "Cake", "label::Ελληνικά": "Κέικ"},
        ],
        {"default_language": "English (en)"},
    ),
}  # fmt: skip
"""A file of each format with a condition, a second language and a choice with a code."""
