"""Surveys as Qualtrics exports them, in small."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from afterword.core import foreign
from afterword.core.foreign.parts import Line, Read

Document = dict[str, Any]
ABC = {"1": "Bread", "2": "Cake", "3": "Tart"}


def q(name: str, kind: str, selector: str = "", sub: str = "", /, **more: Any) -> Document:
    """The payload of a question. `choices` and `answers`: labels by their ids, `force`: an answer is required."""
    payload: Document = {"QuestionID": name, "DataExportTag": name.lower(), "QuestionText": "Which?", "Language": []}
    payload |= {"QuestionType": kind, "Selector": selector, "SubSelector": sub or None}
    for member, name_there, order in (("choices", "Choices", "ChoiceOrder"), ("answers", "Answers", "AnswerOrder")):
        labels: Mapping[str, Any] = more.pop(member, {})
        shown = {key: one if isinstance(one, dict) else {"Display": one} for key, one in labels.items()}
        payload |= {name_there: shown, order: list(shown)}
    settings = {"ForceResponse": "ON" if more.pop("force", False) else "OFF", "ForceResponseType": "ON", "Type": "None"}
    return payload | {"Validation": {"Settings": settings | more.pop("rule", {})}} | more


def block(name: str, *elements: str | Document, kind: str = "Standard", **options: Any) -> Document:
    """A block of questions by their ids; "-" is a page break."""
    shown = [
        one
        if isinstance(one, dict)
        else {"Type": "Page Break"}
        if one == "-"
        else {"Type": "Question", "QuestionID": one}
        for one in elements
    ]
    return {"ID": f"BL_{name}", "Type": kind, "Description": name, "BlockElements": shown, "Options": options}


def branch(logic: Document, *below: Document) -> Document:
    return {"Type": "Branch", "FlowID": "FL_B", "BranchLogic": logic, "Flow": list(below)}


def shown(name: str) -> Document:
    return {"Type": "Block", "ID": f"BL_{name}", "FlowID": f"FL_{name}"}


def survey(
    *questions: Document,
    blocks: Sequence[Document] | Mapping[str, Document] = (),
    flow: Sequence[Document] = (),
    **more: Any,
) -> bytes:
    """A survey; without blocks all its questions lie in one."""
    entry = {"SurveyName": "After delivery", "SurveyLanguage": more.pop("language", "EN")}
    elements: list[Document] = [{"Element": "SQ", "Payload": one} for one in questions]
    blocks = blocks or [block("Main", *(one["QuestionID"] for one in questions))]
    elements += [{"Element": "BL", "Payload": blocks}, {"Element": "SO", "Payload": more.pop("options", {})}]
    if flow:
        elements.append({"Element": "FL", "Payload": {"Type": "Root", "Flow": flow}})
    return json.dumps({"SurveyEntry": entry, "SurveyElements": elements}).encode()


def leaf(operand: str, operator: str = "Selected", value: str | None = None, **more: Any) -> Document:
    found = {"LogicType": "Question", "LeftOperand": operand, "Operator": operator, "Type": "Expression"}
    return found | ({} if value is None else {"RightOperand": value}) | more


def logic(*sets: Sequence[Document], joints: Sequence[str] = ()) -> Document:
    """Sets of expressions, as nested maps with numbers for names."""
    found: Document = {"Type": "BooleanExpression", "inPage": False}
    for place, expressions in enumerate(sets):
        of_set: Document = {str(number): one for number, one in enumerate(expressions)}
        found[str(place)] = of_set | {"Type": [*joints, "If"][place - 1] if place else "If"}
    return found


def read(content: bytes) -> Read:
    return foreign.read(content)[1]


def asked(made: Read) -> list[Document]:
    return [one for group in made.document["groups"] for one in group["questions"]]


def line_of(made: Read, kind: str, place: str = "") -> Line:
    return next(one for one in made.lines if one.kind == kind and place in {"", one.place})


def told(made: Read, kind: str = "question", place: str = "") -> str:
    return " ".join(line_of(made, kind, place).sentences)
