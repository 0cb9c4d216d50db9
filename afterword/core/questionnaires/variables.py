"""Variables in the texts of a definition: earlier answers and metadata, `{{ answer.branch | your branch }}`.

The syntax is that of messages. A question is named by its key or its id; of a contact a field follows:
`answer.who.name`.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Final
from urllib.parse import quote

import msgspec

from afterword.core.questionnaires import conditions, endings
from afterword.core.questionnaires.conditions import Node
from afterword.core.questionnaires.definition import GROUP_TEXTS, PAGES, Definition
from afterword.core.questionnaires.metadata import Declared
from afterword.core.questionnaires.question_types import Question
from afterword.core.questionnaires.questions import TEXTS
from afterword.core.reading.findings import Findings
from afterword.core.text import placeholders
from afterword.core.text.placeholders import Template

ANSWER: Final = "answer"
ORGANIZATION: Final = "organization"
AT_THE_END: Final = frozenset({"thank_you", "expired"})  # pages that know answers
NOTHING: Final = "…"  # in place of a text of variables alone that have no value
KNOWN: Final = (
    "Known are answer.QUESTION of earlier questions, questionnaire.NAME, responder.NAME and organization, each with an "
    "optional fallback: {{ answer.branch | your branch }}."
)


class AuthoredText(msgspec.Struct, frozen=True):
    """A text. `position`: of the first question whose answer it does not know."""

    path: str
    text: str
    position: int
    question_id: str | None = None


def fill(text: str, value_of: Callable[[str], str]) -> str:
    if "{{" not in text:
        return text
    template = _parsed(text)
    return template.fill({name: value_of(name) for name in template.names}) or NOTHING


def address(url: str, value_of: Callable[[str], str]) -> str:
    return "".join(
        [
            part if isinstance(part, str) else quote(value_of(part.name) or part.fallback, safe="")
            for part in _parsed(url).parts
        ]
    )


def question_of(definition: Definition, name: str) -> tuple[Question, str] | None:
    """The question of `answer.QUESTION` or `answer.QUESTION.FIELD`, and the field; None where there is none."""
    kind, _, rest = name.partition(".")
    key, _, part = rest.partition(".")
    found = next((one for one in definition.questions() if key in {one.question_id, one.key}), None)
    if kind != ANSWER or found is None or not found.is_answered or (part and part not in found.contact_fields):
        return None
    return found, part


def check(definition: Definition, declared: Declared, findings: Findings) -> None:
    """Add an error for each variable that there is not, and for undeclared metadata without a fallback."""
    known = {f"{kind}.{name}" for kind in placeholders.MAPS for name in getattr(declared, kind)}
    for place in places(definition):
        if "{{" not in place.text:
            continue
        problems = placeholders.check(
            place.text, declared=known, is_known=lambda name, at=place: _is_known(definition, name, at), known=KNOWN
        )
        for problem in problems:
            findings.error(place.path, problem.code, problem.message)
        if not problems and place.question_id and _is_of_same_page(definition, place):
            message = "The answer is given on the same page, so this text does not know it. Begin a new page."
            findings.warning(place.path, "variable_within_page", message)


def metadata_of(definition: Definition) -> dict[str, list[str | None]]:
    """By metadata, as `questionnaire.NAME`: the questions whose conditions or texts use it; None for other texts."""
    found: dict[str, dict[str | None, None]] = {}
    for condition, question_id in _conditions(definition):
        for leaf in conditions.leaves_of(condition):
            kind, _, name = leaf.subject.partition("_metadata:")
            if kind in placeholders.MAPS:
                found.setdefault(f"{kind}.{name}", {})[question_id] = None
    for place in places(definition):
        for name in _parsed(place.text).names if "{{" in place.text else ():
            if placeholders.is_metadata(name):
                found.setdefault(name, {})[place.question_id] = None
    return {name: list(uses) for name, uses in found.items()}


def places(definition: Definition) -> Iterator[AuthoredText]:
    count = len(definition.questions())
    for locale, page in definition.pages.items():
        for name in PAGES:
            yield from _place(f"/pages/{locale}", page, name, count if name in AT_THE_END else 0)
    yield from _of_endings(definition, count)
    position = 0
    for number, group in enumerate(definition.groups):
        path = f"/groups/{number}"
        for name in GROUP_TEXTS:
            yield from _place(path, group, name, position)
            for locale, texts in group.translations.items():
                yield from _place(f"{path}/translations/{locale}", texts, name, position)
        for index, question in enumerate(group.questions):
            below = f"{path}/questions/{index}"
            for name in TEXTS:
                yield from _place(below, question, name, position, question.question_id)
                for locale, translation in question.translations.items():
                    yield from _place(
                        f"{below}/translations/{locale}", translation, name, position, question.question_id
                    )
            position += 1


def _conditions(definition: Definition) -> Iterator[tuple[Node | None, str | None]]:
    for question in definition.questions():
        for condition in (question.show_if, *(jump.conditions for jump in question.jumps)):
            yield condition, question.question_id
    for ending in definition.endings:
        yield ending.conditions, None


def _of_endings(definition: Definition, position: int) -> Iterator[AuthoredText]:
    for number, ending in enumerate(definition.endings):
        path = f"/endings/{number}"
        for name in (*endings.TEXTS, *endings.ADDRESSES):
            yield from _place(path, ending, name, position)
        for locale, texts in ending.translations.items():
            for name in endings.TEXTS:
                yield from _place(f"{path}/translations/{locale}", texts, name, position)


def _place(
    path: str, texts: object, name: str, position: int, question_id: str | None = None
) -> Iterator[AuthoredText]:
    text = getattr(texts, name)
    if text:
        yield AuthoredText(f"{path}/{name}", text, position, question_id)


def _is_known(definition: Definition, name: str, place: AuthoredText) -> bool:
    if name == ORGANIZATION or placeholders.is_metadata(name):
        return True
    found = question_of(definition, name)
    return found is not None and definition.position(found[0].question_id) < place.position


def _is_of_same_page(definition: Definition, place: AuthoredText) -> bool:
    found = (question_of(definition, name) for name in _parsed(place.text).names)
    page = definition.group_of(place.question_id or "")
    return any(one is not None and one[0] in page.questions for one in found)


def _has_form(name: str) -> bool:
    return name == ORGANIZATION or name.startswith(f"{ANSWER}.") or placeholders.is_metadata(name)


_VARIABLE: Final = re.compile(r"\{\{([^{}|]{1,600})(\|[^{}]{0,400})?\}\}")


def with_titles(text: str, titles: Mapping[str, str]) -> str:
    """The text as people edit it: questions by their titles in place of their ids. `titles`: by id."""

    def one(match: re.Match[str]) -> str:
        kind, _, question_id = match[1].strip().partition(".")
        title = titles.get(question_id) if kind == ANSWER else None
        return match[0] if title is None else f"{{{{ {title} {match[2] or ''}}}}}"

    return _VARIABLE.sub(one, text)


def with_ids(text: str, titles: Mapping[str, str]) -> str:
    """The text as it is stored; an unknown title stays, and is a problem of the draft."""
    found = {" ".join(title.split()).casefold(): question_id for question_id, title in titles.items()}

    def one(match: re.Match[str]) -> str:
        question_id = found.get(" ".join(match[1].split()).casefold())
        return match[0] if question_id is None else f"{{{{ {ANSWER}.{question_id} {match[2] or ''}}}}}"

    return _VARIABLE.sub(one, text)


def plain_titles(titles: Mapping[str, str]) -> dict[str, str]:
    """Of these titles by id, those that name one question alone and have none of the signs of variables."""
    count = Counter(" ".join(title.split()).casefold() for title in titles.values())
    return {
        question_id: title
        for question_id, title in titles.items()
        if title and count[" ".join(title.split()).casefold()] == 1 and not set(title) & set("{}|\n")
    }


@lru_cache(maxsize=1_000)
def _parsed(text: str) -> Template:
    return placeholders.parse(text, _has_form)
