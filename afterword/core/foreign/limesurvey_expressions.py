"""Relevance of LimeSurvey as our conditions: comparisons of answers, `is_empty`, `count`, and, or, not.

`Q_A.NAOK == "Y" and !is_empty(age)`. A name is that of a question and its part (`Q_A`), or the older
`{survey}X{group}X{question}{part}`. What our conditions cannot say raises Unsaid.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Final, Literal

from afterword.core.foreign.parts import Condition, all_of, any_of, is_small, leaf, negated
from afterword.core.questionnaires.conditions import number_of

CHARACTERS_MAX: Final = 5_000
DEPTH_MAX: Final = 40
_TOKEN: Final = re.compile(
    r"""\s*(?:(?P<text>"[^"]*"|'[^']*')|(?P<name>\d+X\d+X\d+[\w.#:]*|[A-Za-z_][\w.:]*)|(?P<number>\d+(?:\.\d+)?|\.\d+)
    |(?P<sign>==|!=|<=|>=|&&|\|\||[<>!(),]))""",
    re.VERBOSE | re.ASCII,
)
_WORDS: Final = {
    "and": "&&",
    "or": "||",
    "not": "!",
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
}
_SWAPPED: Final = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_OPERATORS: Final = {
    "==": "equal", "!=": "not_equal", "<": "less", "<=": "less_equal", ">": "greater", ">=": "greater_equal",
}  # fmt: skip
_CLEAR: Final = frozenset(("intval", "floatval", "trim"))  # of their argument
_SUFFIX: Final = re.compile(r"\.(?:NAOK|code|value|valueNAOK|shown)\Z")


class Unsaid(Exception):
    """Our conditions cannot say this."""


@dataclass(frozen=True, slots=True)
class Target:
    """An answer that a name stands for. `values`: of choices by their codes; `value`: of one choice among several.

    `variable`: its name in texts, empty where a text cannot show it.
    """

    subject: str
    kind: Literal["choice", "several", "option", "yes_no", "number", "text", "date", "presence"]
    values: Mapping[str, int] = field(default_factory=dict[str, int])
    value: int = 0
    variable: str = ""


Find = Callable[[str], Sequence[Target]]
"""The targets of a name, without its suffix; several for all parts of a question (`that.Q`), none for a wrong name."""
Operand = Condition | bool | str | Decimal | tuple[Target, ...]


def condition_of(text: str, find: Find) -> Condition | bool:
    """The condition, or whether it always or never holds. Raises Unsaid."""
    if len(text) > CHARACTERS_MAX:
        raise Unsaid
    parser = _Parser(_tokens(text), find)
    found = _truth(parser.one_of())
    parser.expect("")
    if isinstance(found, dict) and not is_small(found):
        raise Unsaid
    return found


def _tokens(text: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    at, text = 0, text.strip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise Unsaid
        kind = match.lastgroup or ""
        word = match[kind]
        sign = _WORDS.get(word.lower()) if kind == "name" else None
        found.append(("sign", sign) if sign else (kind, word))
        at = match.end()
    return found


@dataclass(slots=True)
class _Parser:
    tokens: Sequence[tuple[str, str]]
    find: Find
    _at: int = 0
    _depth: int = 0

    def expect(self, sign: str) -> None:
        if self._sign() != sign or (not sign and self._at < len(self.tokens)):
            raise Unsaid
        self._at += 1

    def one_of(self) -> Operand:
        """Operands with `or` between them."""
        found = [self._all()]
        while self._take("||"):
            found.append(self._all())
        if len(found) == 1:
            return found[0]
        each = [_truth(one) for one in found]
        return any(one is True for one in each) or any_of(one for one in each if isinstance(one, dict)) or False

    def _all(self) -> Operand:
        found = [self._unary()]
        while self._take("&&"):
            found.append(self._unary())
        if len(found) == 1:
            return found[0]
        each = [_truth(one) for one in found]
        if any(one is False for one in each):
            return False
        return all_of(one for one in each if isinstance(one, dict)) or True

    def _unary(self) -> Operand:
        self._depth += 1
        if self._depth > DEPTH_MAX:
            raise Unsaid
        if self._take("!"):
            found = _truth(self._unary())
            made = negated(found) if isinstance(found, dict) else not found
        else:
            left = self._operand()
            sign = self._sign()
            made = left
            if sign in _OPERATORS:
                self._at += 1
                made = _compared(left, sign, self._operand())
        self._depth -= 1
        return made

    def _operand(self) -> Operand:
        kind, word = self.tokens[self._at] if self._at < len(self.tokens) else ("", "")
        self._at += 1
        if kind == "text":
            return word[1:-1]
        if kind == "number":
            return Decimal(word)
        if word == "(":
            found = self.one_of()
            self.expect(")")
            return found
        if kind != "name":
            raise Unsaid
        return self._call(word) if self._take("(") else self._named(word)

    def _call(self, name: str) -> Operand:
        arguments = [] if self._sign() == ")" else [self.one_of()]
        while self._take(","):
            arguments.append(self.one_of())
        self.expect(")")
        targets = tuple(one for each in arguments if isinstance(each, tuple) for one in each)
        if name in _CLEAR and len(arguments) == 1:
            return arguments[0]
        if name == "is_empty" and len(targets) == 1:
            return _is_empty(targets[0])
        if name == "count" and targets and all(isinstance(one, tuple) for one in arguments):
            return _Counted(targets)
        raise Unsaid

    def _named(self, name: str) -> Operand:
        if name.lower() in {"true", "false"}:
            return name.lower() == "true"
        found = tuple(self.find(_SUFFIX.sub("", name)))
        is_label = name.endswith(".shown") and any(one.values for one in found)
        if not found or is_label:
            raise Unsaid
        return found

    def _sign(self) -> str:
        kind, word = self.tokens[self._at] if self._at < len(self.tokens) else ("", "")
        return word if kind == "sign" else ""

    def _take(self, sign: str) -> bool:
        is_there = self._sign() == sign
        self._at += is_there
        return is_there


class _Counted(tuple[Target, ...]):
    """The number of these that have an answer."""

    __slots__ = ()


def _truth(operand: Operand) -> Condition | bool:
    """The operand as a condition."""
    match operand:
        case _Counted():
            return _compared_count(operand, ">", Decimal(0))
        case tuple():
            raise Unsaid  # whether an answer counts as true depends on its kind
        case str() | Decimal():
            return operand not in {"", "0", Decimal(0)}
        case _:
            return operand


def _compared(left: Operand, sign: str, right: Operand) -> Condition | bool:
    if isinstance(left, str | Decimal) and isinstance(right, tuple):
        left, sign, right = right, _SWAPPED[sign], left
    if not isinstance(left, tuple) or not isinstance(right, str | Decimal):
        raise Unsaid
    if isinstance(left, _Counted):
        return _compared_count(left, sign, right)
    if len(left) != 1:
        raise Unsaid
    return _compared_answer(left[0], sign, right)


def _compared_answer(target: Target, sign: str, value: str | Decimal) -> Condition | bool:
    if isinstance(value, str) and not value.strip():  # every answer is more than nothing
        if sign in {"==", "<="}:
            return _is_empty(target)
        return negated(_is_empty(target)) if sign in {"!=", ">", ">="} else False
    match target.kind:
        case "option" | "several" | "yes_no" if sign in {"==", "!="}:
            found = _ticked(target, str(value))
            return found if sign == "==" else negated(found)
        case "choice":
            return _compared_code(target, sign, str(value))
        case "number" | "date":
            if target.kind == "number" and number_of(str(value)) is None:
                raise Unsaid
            plain = number_of(str(value)) if target.kind == "number" else None
            given = str(value) if plain is None else int(plain) if plain == int(plain) else float(plain)
            return leaf(target.subject, _OPERATORS[sign], given)
        case "text" if sign in {"==", "!="}:
            return leaf(target.subject, _OPERATORS[sign], str(value))
        case _:
            raise Unsaid


def _ticked(target: Target, code: str) -> Condition:
    if target.kind == "several" and code in target.values:
        return leaf(target.subject, "contains", target.values[code])
    if target.kind == "option":
        if code != "Y":
            raise Unsaid
        return leaf(target.subject, "contains", target.value)
    if code not in {"Y", "N"}:
        raise Unsaid
    return leaf(target.subject, "equal", code == "Y")


def _compared_code(target: Target, sign: str, code: str) -> Condition:
    """Codes that are numbers are compared as such."""
    if sign in {"==", "!="}:
        if code not in target.values:
            raise Unsaid
        return leaf(target.subject, _OPERATORS[sign], target.values[code])
    bound, compare = number_of(code), {"<": "__lt__", "<=": "__le__", ">": "__gt__", ">=": "__ge__"}[sign]
    numbers = {number_of(each): value for each, value in target.values.items()}
    if bound is None or None in numbers:
        raise Unsaid
    found = [
        value for number, value in numbers.items() if number is not None and getattr(number, compare)(bound) is True
    ]
    condition = any_of(leaf(target.subject, "equal", value) for value in found)
    if condition is None:
        raise Unsaid
    return condition


def _is_empty(target: Target) -> Condition:
    if target.kind == "option":
        return leaf(target.subject, "not_contains", target.value)
    return leaf(target.subject, "is_empty")


def _compared_count(targets: Sequence[Target], sign: str, value: str | Decimal) -> Condition | bool:
    """Whether some, all or none have an answer; no other number can be asked for."""
    number = number_of(str(value))
    if number is None:
        raise Unsaid
    count = len(targets)
    empty = [_is_empty(one) for one in targets]
    least = {">": number + 1, ">=": number, "==": number, "!=": number}.get(sign)
    most = {"<": number - 1, "<=": number, "==": number}.get(sign)
    if (sign == "!=" and number == 0) or (least == 1 and most is None):
        return any_of(map(negated, empty)) or False
    if least == count and (most is None or most >= count):
        return all_of(map(negated, empty)) or True
    if most == 0:
        return all_of(empty) or True
    raise Unsaid
