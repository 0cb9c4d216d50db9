"""Conditions of Qualtrics (display logic, branches, skips) and the variables of its texts."""

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final
from urllib.parse import unquote

import msgspec

from afterword.core.foreign import parts
from afterword.core.foreign.drafting import Draft, Subject, Unreadable, joined
from afterword.core.foreign.parts import NAMES, Condition, Entry, plain

PIPED: Final = re.compile(r"\$e\{(?:[^{}]|\$\{[^{}]{0,200}\}){0,300}\}|\$\{(\w{1,10})://([^{}]{1,300})\}")
_OPERAND: Final = re.compile(r"q://([^/]+)/(\w+)(?:/([\w~.-]+))?(?:/([\w~.-]+))?")
_COMPARED: Final = ("LeftOperand", "Operator", "RightOperand")
_NO_NAME: Final = re.compile(r"[^A-Za-z0-9_]+")
_OPERATORS: Final[Mapping[str, str]] = NAMES["qualtrics"]["operators"]
_PEOPLE: Final = {"m://FirstName": "first_name", "m://LastName": "last_name"}  # of the contacts
Expression = Mapping[str, Any]


class Logic(msgspec.Struct):
    """Reads conditions. The draft knows a row by both ids with a slash; `always`: ids of questions without one."""

    draft: Draft
    always: set[str] = msgspec.field(default_factory=set[str])

    def read(self, logic: object, place: str, key: str = "", *, is_possible: bool = True) -> Condition | None:
        """The condition, with its line; None where everybody is asked. `is_possible`: for what it is about."""
        entry = Entry("condition", place, _described(logic), key)

        def found() -> Condition | bool | None:
            condition = _read(logic, "Type", partial(_read, joint="Conjuction", below=self._expression))
            return condition if is_possible or condition is True else None

        condition = self.draft.condition(entry, found)
        return condition if isinstance(condition, dict) else None

    def _expression(self, one: Expression) -> Condition | bool:
        kind, operator = str(one.get("LogicType")), _OPERATORS.get(str(one.get("Operator")))
        operand, value = unquote(str(one.get("LeftOperand") or one.get("Locator") or "")), one.get("RightOperand")
        match = _OPERAND.match(operand) if kind == "Question" else None
        question_id = match[1].partition("#")[0] if match else ""
        if one.get("Operator") == "Displayed" and question_id in self.always:
            return True
        if operator is None:
            raise Unreadable
        if match and operator in {"not_equal", "not_contains", "is_empty"} and question_id not in self.draft.asked:
            return True  # nobody has answered yet what comes later
        if match:
            return self._compared(match, operator, value)
        if kind == "EmbeddedField" and operand:
            return Subject(f"questionnaire_metadata:{name_of(operand)}", "text").compared(operator, value)
        if kind == "PanelData" and operand in _PEOPLE:
            return Subject(f"responder_metadata:{_PEOPLE[operand]}", "text").compared(operator, value)
        raise Unreadable

    def _compared(self, match: "re.Match[str]", operator: str, value: object) -> Condition:
        question_id, what, first, second = (one or "" for one in match.groups())
        whole, row = self.draft.asked.get(question_id), self.draft.asked.get(f"{question_id}/{first}")
        if what == "SelectableAnswer":  # of any row
            rows = [one for name, one in self.draft.asked.items() if name.startswith(f"{question_id}/")]
            found = parts.any_of(one.compared("contains", first) for one in rows)
            if found is None:
                raise Unreadable
            return parts.negated(found) if operator == "not_contains" else found
        is_choice = what in {"SelectableChoice", "SelectedChoices"}
        if is_choice:
            asked, value = row if second else whole, second or first
        else:
            asked = row if first else whole  # the value of a choice is its text field
        if asked is None or not (value in asked.codes if is_choice else what.endswith("EntryValue")):
            raise Unreadable
        return asked.compared(operator, value)

    def variable(self, match: "re.Match[str]") -> str | None:
        """The name of our variable in place of a match of PIPED."""
        kind, rest = match[1], match[2] or ""
        if kind == "e" and rest.startswith("Field/"):
            return f"questionnaire.{name_of(rest.removeprefix('Field/'))}"
        if kind == "m":
            return f"responder.{_PEOPLE[f'm://{rest}']}" if f"m://{rest}" in _PEOPLE else None
        question_id, what, row, *_ = [*rest.split("/"), "", ""]
        is_answer = what.startswith(("ChoiceTextEntry", "ChoiceNumericEntry", "SelectedChoices", "ChoiceGroup"))
        found = self.draft.asked.get(f"{question_id}/{row}") or self.draft.asked.get(question_id)
        return found.variable if kind == "q" and is_answer and found else None

    def address(self, url: str) -> str:
        """An address with our variables; those that are not ours are taken out."""
        return PIPED.sub(lambda match: parts.variable(name, "-") if (name := self.variable(match)) else "", url)


def name_of(field_name: str) -> str:
    """A name of metadata that conditions and texts can have."""
    found = _NO_NAME.sub("_", field_name).strip("_")[:60]
    return found if found[:1].isalpha() else f"f_{found}"


def _read(logic: object, joint: str, below: Callable[[Expression], Condition | bool]) -> Condition | bool:
    """Entries, each with the word before it as `joint`: those joined by “and” belong together more closely."""
    groups: list[list[Callable[[], Condition | bool]]] = []
    for one in _numbered(logic):
        if not groups or str(one.get(joint)) in {"Or", "OrIf", "ElseIf"}:
            groups.append([])
        groups[-1].append(partial(below, one))
    return joined("or", [partial(joined, "and", group) for group in groups])


def _numbered(logic: object) -> list[Expression]:
    """The entries “0”, “1” … of a map; its other members say how they are joined."""
    entries = logic.items() if isinstance(logic, dict) else ()
    return [one for name, one in entries if str(name).isdigit() and isinstance(one, dict)]


def _described(logic: object) -> str:
    """The words in which the survey itself describes a condition, or else what it compares."""
    below = [one for expressions in _numbered(logic) for one in _numbered(expressions)]
    words = [[one["Description"]] if one.get("Description") else map(one.get, _COMPARED) for one in below]
    return " ".join(filter(None, (plain(one) for each in words for one in each)))
