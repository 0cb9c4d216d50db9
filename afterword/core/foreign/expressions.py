"""Conditions of SurveyJS, XLSForm and LimeSurvey: one grammar with the words of each, read into trees of tuples.

    ("and" | "or", [trees]), ("not", tree), ("is", operator, operands), ("call", name, operands),
    ("name", text), ("value", text, number or boolean), ("list", operands)

Operators are those of our conditions, and `in`, `all_of`, `none_of` for several choices.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from afterword.core.foreign.parts import NAMES

CHARACTERS_MAX: Final = 4_000
DEPTH_MAX: Final = 20
Tree = tuple[Any, ...]

_COMPARISONS: Final[Mapping[str, str]] = {
    "=": "equal", "==": "equal", "!=": "not_equal", "<>": "not_equal",
    "<": "less", "<=": "less_equal", ">": "greater", ">=": "greater_equal",
}  # fmt: skip
_TOKEN: Final = re.compile(
    r"\s*(?:(?P<name>\$?\{[^{}]{1,300}\}|\d+X\d+X\d+[\w.#:]*)|(?P<text>'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")|(?P<number>\d+(?:\.\d+)?)"
    r"|(?P<word>[A-Za-z_][A-Za-z0-9_.:-]*)|(?P<sign><=|>=|==|!=|<>|&&|\|\||\*=|[-=<>!()\[\],.+*/%^]))"
)
_ESCAPED: Final = re.compile(r"\\(['\"])")


class Unreadable(ValueError):
    """The text is no condition that we know, or too long or deep."""


class Grammar(msgspec.Struct, frozen=True):
    """`between`: words that compare, as `contains`; `behind`: words that stand behind a name, as `empty`.

    `is_bare`: whether a word without signs around it is a name.
    """

    between: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])
    behind: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])
    is_bare: bool = False


SURVEYJS: Final = Grammar(NAMES["surveyjs"]["between"], NAMES["surveyjs"]["behind"])
XLSFORM: Final = Grammar()
LIMESURVEY: Final = Grammar(NAMES["limesurvey"]["between"], is_bare=True)


def read(text: str, grammar: Grammar) -> Tree:
    """The tree of a condition. Raises Unreadable."""
    if len(text) > CHARACTERS_MAX:
        raise Unreadable
    reader = _Reader(_tokens(text), grammar)
    tree = reader.any_of()
    if reader.tokens:
        raise Unreadable
    return tree


def _tokens(text: str) -> list[tuple[str, str]]:
    """The tokens in reverse order, so that the next one is popped."""
    found: list[tuple[str, str]] = []
    place, text = 0, text.rstrip()
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None or match.lastgroup is None:
            raise Unreadable
        found.append((match.lastgroup, match[match.lastgroup]))
        place = match.end()
    return found[::-1]


class _Reader(msgspec.Struct):
    tokens: list[tuple[str, str]]
    grammar: Grammar
    depth: int = 0

    def any_of(self) -> Tree:
        return self._deeper(
            lambda: self._joined("or", ("or", "||"), lambda: self._joined("and", ("and", "&&"), self._comparison))
        )

    def _deeper(self, part: Callable[[], Tree]) -> Tree:
        self.depth += 1
        if self.depth > DEPTH_MAX:
            raise Unreadable
        tree = part()
        self.depth -= 1
        return tree

    def _joined(self, kind: str, words: tuple[str, ...], part: Callable[[], Tree]) -> Tree:
        parts = [part()]
        while self._next_word() in words:
            self.tokens.pop()
            parts.append(part())
        return parts[0] if len(parts) == 1 else (kind, parts)

    def _comparison(self) -> Tree:
        left = self._operand()
        word = self._next_word()
        if word in self.grammar.behind:
            self.tokens.pop()
            return ("is", self.grammar.behind[word], [left])
        operator = _COMPARISONS.get(word) or self.grammar.between.get(word)
        if operator is None:
            return left
        self.tokens.pop()
        return ("is", operator, [left, self._operand()])

    def _operand(self) -> Tree:
        kind, text = self.tokens.pop() if self.tokens else ("", "")
        match kind, text:
            case "name", _:
                found = ("name", text.strip("${}").strip())
            case "text", _:
                found = ("value", _ESCAPED.sub(r"\1", text[1:-1]))
            case "number", _:
                found = ("value", float(text) if "." in text else int(text))
            case "sign", "-" if self.tokens and self.tokens[-1][0] == "number":
                found = ("value", -self._operand()[1])
            case "sign", ".":
                found = ("name", ".")
            case "sign", "(" | "[":
                inside = self._listed(")" if text == "(" else "]")
                found = inside[0] if text == "(" and len(inside) == 1 else ("list", inside)
            case _, "!" | "negate":
                found = ("not", self._deeper(self._comparison))
            case "word", _:
                found = self._word(text)
            case _:
                raise Unreadable
        return found

    def _word(self, text: str) -> Tree:
        if self._next_word() != "(":
            word = {"true": True, "false": False}.get(text.lower(), text)
            return ("name" if self.grammar.is_bare and word == text else "value", word)
        self.tokens.pop()
        inside = self._listed(")")
        if text in {"not", "true", "false"}:
            return ("not", inside[0]) if text == "not" and len(inside) == 1 else ("value", text == "true")
        return ("call", text, inside)

    def _listed(self, end: str) -> list[Tree]:
        found: list[Tree] = []
        while self._next_word() != end:
            found.append(self.any_of())
            if self._next_word() == ",":
                self.tokens.pop()
            elif self._next_word() != end:
                raise Unreadable
        self.tokens.pop()
        return found

    def _next_word(self) -> str:
        return self.tokens[-1][1].lower() if self.tokens and self.tokens[-1][0] in {"word", "sign"} else ""
