"""Variables in authored texts: `{{ organization }}`, `{{ responder.first_name | Dear customer }}`.

A parser of literals on purpose: no expressions, no calls, no attributes, no loops. What is not a variable stays text.
"""

import re
from collections.abc import Callable, Collection, Mapping

import msgspec

from afterword.errors import FieldError, Sentence

TEXT_CHARACTERS_MAX = 100_000
SUBJECT_CHARACTERS_MAX = 200
BUTTON_CHARACTERS_MAX = 60
REASON_CHARACTERS_MAX = 500
FOOTER_CHARACTERS_MAX = 1_000
MESSAGE_TEXTS = {
    "subject": SUBJECT_CHARACTERS_MAX, "body": TEXT_CHARACTERS_MAX, "button": BUTTON_CHARACTERS_MAX,
    "reason": REASON_CHARACTERS_MAX, "footer": FOOTER_CHARACTERS_MAX,
}  # fmt: skip
"""The texts of a message, each with its limit."""
PLACEHOLDERS_MAX = 100
FALLBACK_CHARACTERS_MAX = 200
VALUE_CHARACTERS_MAX = 4_096
FILLED_CHARACTERS_MAX = 1_000_000
assert PLACEHOLDERS_MAX * VALUE_CHARACTERS_MAX + TEXT_CHARACTERS_MAX < FILLED_CHARACTERS_MAX  # noqa: S101

VARIABLES = ("organization", "questionnaire", "link", "unsubscribe_link")
ITEM_VARIABLES = ("item.recipient", "item.external_reference", "item.send_date", "item.valid_until")
ITEM_NAMES = frozenset(ITEM_VARIABLES)
MAPS = ("responder", "questionnaire")  # metadata, by name
KNOWN = (
    "Known are " + ", ".join((*VARIABLES, *ITEM_VARIABLES)) + ", responder.NAME and questionnaire.NAME, "
    "each with an optional fallback: {{ responder.first_name | Dear customer }}."
)
NAMES_SHOWN_MAX = 30  # of declared metadata, in a refusal

# Bounded repeats and no nesting: linear on any input.
_PLACEHOLDER = re.compile(r"\{\{([^{}]{0,400})\}\}")
_NAME = re.compile(r"\s*([a-z_]{1,32}(?:\.[A-Za-z0-9_]{1,64}){0,2})\s*(?:\|(.*))?\Z", re.DOTALL)
_METADATA = re.compile(rf"(?:{'|'.join(MAPS)})\.[A-Za-z][A-Za-z0-9_]{{0,63}}\Z")

IsKnown = Callable[[str], bool]  # whether texts of a kind have a variable of this name


class Variable(msgspec.Struct, frozen=True):
    """A variable: its name (`link`, `responder.first_name`) and the text used when it has no value."""

    name: str
    fallback: str = ""


Piece = str | Variable


class Template(msgspec.Struct, frozen=True):
    """An authored text, taken apart once."""

    parts: tuple[Piece, ...]

    def fill(self, values: Mapping[str, str]) -> str:
        """The text with its variables; one without a value gives its fallback, else nothing."""
        return "".join([part if isinstance(part, str) else value_of(part, values) for part in self.parts])

    @property
    def names(self) -> frozenset[str]:
        return frozenset(part.name for part in self.parts if isinstance(part, Variable))


def value_of(variable: Variable, values: Mapping[str, str]) -> str:
    """The value of a variable: a text of this dictionary, cut at its limit."""
    return values.get(variable.name, "").strip()[:VALUE_CHARACTERS_MAX] or variable.fallback


def values_of(
    *, fixed: Mapping[str, str], responder: Mapping[str, str], questionnaire: Mapping[str, str]
) -> dict[str, str]:
    """One flat dictionary: the fixed variables (`item.…` among them), and the metadata of both maps by prefix."""
    values = {f"responder.{name}": value for name, value in responder.items()}
    values.update({f"questionnaire.{name}": value for name, value in questionnaire.items()})
    values.update(fixed)
    return values


def is_of_messages(name: str) -> bool:
    return name in VARIABLES or name in ITEM_NAMES or is_metadata(name)


def is_metadata(name: str) -> bool:
    return bool(_METADATA.match(name))


def plain(text: str) -> str:
    """The text with the fallbacks of all its variables, whatever their names; "…" for those without one."""
    if "{{" not in text:
        return text
    parts = parse(text, lambda _: True).parts
    return "".join([part if isinstance(part, str) else part.fallback or "…" for part in parts])


def parse(text: str, is_known: IsKnown = is_of_messages) -> Template:
    """Take a text apart. Anything that is no known variable, or one too many, stays as written.

    Raises ValueError beyond TEXT_CHARACTERS_MAX.
    """
    if len(text) > TEXT_CHARACTERS_MAX:
        raise ValueError(f"A text has at most {TEXT_CHARACTERS_MAX} characters.")
    parts: list[Piece] = []
    end = found = 0
    for match in _PLACEHOLDER.finditer(text):
        variable = _variable(match.group(1), is_known)
        if variable is None or found == PLACEHOLDERS_MAX:
            continue
        found += 1
        if match.start() > end:
            parts.append(text[end : match.start()])
        parts.append(variable)
        end = match.end()
    if end < len(text):
        parts.append(text[end:])
    return Template(tuple(parts))


def check(
    text: str,
    *,
    characters_max: int = TEXT_CHARACTERS_MAX,
    declared: Collection[str] | None = None,
    is_known: IsKnown = is_of_messages,
    known: str = KNOWN,
) -> list[FieldError]:
    """Everything that forbids saving this text: length, unknown variables, too many, left-over braces.

    `declared`: the known metadata, as `responder.NAME`; another name needs a fallback, since it may be misspelt. None:
    names are not checked. `known`: a sentence of the variables that there are.
    """
    if len(text) > characters_max:
        return [FieldError("too_long", Sentence("At most {n} characters.", n=characters_max))]
    problems: list[FieldError] = []
    matches = list(_PLACEHOLDER.finditer(text))
    if len(matches) > PLACEHOLDERS_MAX:
        problems.append(FieldError("too_many", Sentence("At most {n} variables.", n=PLACEHOLDERS_MAX)))
    unknown = [
        match.group(1).strip() for match in matches[:PLACEHOLDERS_MAX] if _variable(match.group(1), is_known) is None
    ]
    problems += [
        FieldError(
            "unknown_value",
            Sentence("There is no variable “{name}”. {known}", name=name[:60], known=Sentence.of(known)),
        )
        for name in dict.fromkeys(unknown)
    ]
    if "{{" in _PLACEHOLDER.sub("", text):
        problems.append(
            FieldError("unknown_value", Sentence("A “{{{{” is not closed by “}}}}”. {known}", known=Sentence.of(known)))
        )
    if declared is not None:
        found = [_variable(match.group(1), is_known) for match in matches[:PLACEHOLDERS_MAX]]
        bare = [one.name for one in found if one is not None and not one.fallback and is_metadata(one.name)]
        problems += [
            FieldError("unknown_value", _undeclared(name, declared))
            for name in dict.fromkeys(bare)
            if name not in declared
        ]
    return problems


def _undeclared(name: str, declared: Collection[str]) -> str:
    kind = name.partition(".")[0]
    known = sorted(one for one in declared if one.startswith(f"{kind}."))
    names = ", ".join(known[:NAMES_SHOWN_MAX])
    if not known:
        told = Sentence("None is declared yet.")
    elif len(known) > NAMES_SHOWN_MAX:
        told = Sentence("Declared are {names} and {n} more.", names=names, n=len(known) - NAMES_SHOWN_MAX)
    else:
        told = Sentence("Declared are {names}.", names=names)
    text = "“{name}” is not declared: declare it, or say what stands there instead: {{{{ {name} | … }}}}. {told}"
    return Sentence(text, name=name, told=told)


def _variable(inside: str, is_known: IsKnown) -> Variable | None:
    match = _NAME.match(inside)
    if match is None:
        return None
    name, fallback = match.groups()
    fallback = (fallback or "").strip().strip("\"'").strip()
    return Variable(name, fallback) if is_known(name) and len(fallback) <= FALLBACK_CHARACTERS_MAX else None
