"""Conditions of Qualtrics (display logic, branches, skips) and the variables of its texts."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import unquote

from afterword.core.foreign import parts
from afterword.core.foreign.objects import Subject, comparison
from afterword.core.foreign.parts import Condition, leaf

PIPED: Final = re.compile(r"\$e\{(?:[^{}]|\$\{[^{}]{0,200}\}){0,300}\}|\$\{(\w{1,10})://([^{}]{1,300})\}")
_OPERAND: Final = re.compile(r"q://([^/]+)/(\w+)(?:/([\w~.-]+))?(?:/([\w~.-]+))?")
_NO_NAME: Final = re.compile(r"[^A-Za-z0-9_]+")
_OPERATORS: Final = {
    "Selected": "equal", "EqualTo": "equal", "NotSelected": "not_equal", "NotEqualTo": "not_equal",
    "GreaterThan": "greater", "GreaterThanOrEqual": "greater_equal", "LessThan": "less",
    "LessThanOrEqual": "less_equal", "Contains": "contains", "DoesNotContain": "not_contains",
    "MatchesRegex": "matches", "Empty": "is_empty", "NotEmpty": "is_not_empty",
}  # fmt: skip
_PEOPLE: Final = {"m://FirstName": "first_name", "m://LastName": "last_name"}  # of the contacts
_ALWAYS: Final[Condition] = {"all": []}


class UnknownError(Exception):
    """A condition has no counterpart."""


@dataclass(slots=True)
class Logic:
    """Knows what was read so far, since conditions ask for earlier answers alone.

    `subjects`: by the question's id, and the id of a row or "". `asked`: ids of questions; `always`: of those without
    a condition.
    """

    subjects: dict[tuple[str, str], Subject] = field(default_factory=dict[tuple[str, str], Subject])
    asked: set[str] = field(default_factory=set[str])
    always: set[str] = field(default_factory=set[str])

    def condition(self, logic: object) -> Condition | None:
        """The tree, None where it always holds. Raises UnknownError."""
        found = _joined([(lambda one=one: self._set(one), str(one.get("Type"))) for one in _numbered(logic)])
        if not parts.is_small(found):
            raise UnknownError
        return None if found == _ALWAYS else found

    def _set(self, logic: Mapping[str, Any]) -> Condition:
        return _joined([(lambda one=one: self._leaf(one), str(one.get("Conjuction"))) for one in _numbered(logic)])

    def _leaf(self, one: Mapping[str, Any]) -> Condition:
        kind, operator = str(one.get("LogicType")), _OPERATORS.get(str(one.get("Operator")), "")
        operand, value = unquote(str(one.get("LeftOperand") or one.get("Locator") or "")), one.get("RightOperand")
        match = _OPERAND.match(operand) if kind == "Question" else None
        question_id = match[1].partition("#")[0] if match else ""
        if match and one.get("Operator") == "Displayed" and question_id in self.always:
            return _ALWAYS
        if match and operator in {"not_equal", "is_empty"} and question_id not in self.asked:
            return _ALWAYS  # nobody has answered yet what comes later
        if match and operator:
            return self._of_answer(match, operator, value)
        if kind == "EmbeddedField" and operator and operand:
            return comparison(f"questionnaire_metadata:{name_of(operand)}", operator, value)
        if kind == "PanelData" and operator and operand in _PEOPLE:
            return comparison(f"responder_metadata:{_PEOPLE[operand]}", operator, value)
        raise UnknownError

    def _of_answer(self, match: "re.Match[str]", operator: str, value: object) -> Condition:
        question_id, what, first, second = (one or "" for one in match.groups())
        part, whole = self.subjects.get((question_id, first)), self.subjects.get((question_id, ""))
        found: Condition | None = None
        if what == "SelectableAnswer":  # of any row
            rows = [one for (name, row), one in self.subjects.items() if name == question_id and row]
            found = parts.any_of(each for one in rows if (each := one.chosen(first, "equal")))
            found = parts.negated(found) if found and operator == "not_equal" else found
        elif what in {"SelectableChoice", "SelectedChoices"} and (asked := part if second else whole):
            found = asked.chosen(second or first, operator)
        elif what.endswith("Recode") and (asked := part or whole) and str(value) in asked.codes:
            found = leaf(f"question:{asked.name}", operator, asked.codes[str(value)])
        elif what.endswith("EntryValue") and (asked := part if first else whole):  # else the text of a choice
            found = asked.compared(operator, value)
        if found is None:
            raise UnknownError
        return found

    def variable(self, match: "re.Match[str]") -> str | None:
        """The name of our variable in place of a match of PIPED."""
        kind, rest = match[1], match[2] or ""
        if kind == "e" and rest.startswith("Field/"):
            return f"questionnaire.{name_of(rest.removeprefix('Field/'))}"
        if kind == "m":
            return f"responder.{_PEOPLE[f'm://{rest}']}" if f"m://{rest}" in _PEOPLE else None
        question_id, what, *below = [*rest.split("/"), "", ""]
        is_answer = what.startswith(("ChoiceTextEntry", "ChoiceNumericEntry", "SelectedChoices", "ChoiceGroup"))
        found = self.subjects.get((question_id, below[0])) or self.subjects.get((question_id, ""))
        return found.variable if kind == "q" and is_answer and found else None

    def address(self, url: str) -> str:
        """An address with our variables; those that are not ours are taken out."""
        return PIPED.sub(lambda match: parts.variable(name, "-") if (name := self.variable(match)) else "", url)


def name_of(field_name: str) -> str:
    """A name of metadata that conditions and texts can have."""
    found = _NO_NAME.sub("_", field_name).strip("_")[:60]
    return found if found[:1].isalpha() else f"f_{found}"


def _joined(found: list[tuple[Callable[[], Condition], str]]) -> Condition:
    """Conditions with the word before each: those joined by “and” belong together more closely.

    One that is unknown does not matter beside one that always holds.
    """
    groups: list[list[Callable[[], Condition]]] = []
    for condition, joint in found:
        if not groups or joint in {"Or", "OrIf", "ElseIf"}:
            groups.append([])
        groups[-1].append(condition)
    made: list[Condition] = []
    for group in groups:
        try:
            made.append(parts.all_of(below for one in group if (below := one()) != _ALWAYS) or _ALWAYS)
        except UnknownError:
            continue
    if _ALWAYS in made:
        return _ALWAYS
    if not made or len(made) < len(groups):
        raise UnknownError
    return parts.any_of(made) or _ALWAYS


def _numbered(logic: object) -> list[Mapping[str, Any]]:
    """The entries “0”, “1” … of a map; its other members say how they are joined."""
    entries = logic.items() if isinstance(logic, dict) else ()
    return [one for name, one in entries if str(name).isdigit() and isinstance(one, dict)]
