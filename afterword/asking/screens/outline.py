"""A definition as an outline, and its problems as links to where each is put right."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from afterword import ids
from afterword.core.questionnaires import editing, endings
from afterword.core.questionnaires.question_types import TYPES
from afterword.core.reading.documents import is_array, is_object
from afterword.core.reading.findings import Finding
from afterword.core.text import placeholders
from afterword.kit.texts import Marked, Texts

# Sentences in place of those of the API, by code and member; others are shown as they are.
SENTENCES: Final[Mapping[tuple[str, str], Marked]] = {
    ("required", "title"): "The text of the question is missing.",
    ("too_short", "title"): "The text of the question is missing.",
    ("too_few", "choices"): "At least two choices are needed.",
    ("required", "choices"): "At least two choices are needed.",
    ("too_few", "rows"): "At least one row is needed.",
    ("required", "rows"): "At least one row is needed.",
    ("too_few", "contact_fields"): "Tick at least one field.",
    ("too_few", "file_types"): "Tick at least one kind of files.",
    ("too_few", "questions"): "This page has no question.",
    ("required", "questions"): "This page has no question.",
    ("too_few", "groups"): "There is no question yet.",
    ("required", "groups"): "There is no question yet.",
    (
        "jump_within_page",
        "jumps",
    ): "The jump leads past questions of the same page, which stay visible. Begin a new page behind this question.",
    ("unreachable_question", ""): "No answers lead to this question: jumps pass over it, or its condition never holds.",
    ("unreachable_ending", ""): "Nobody sees this ending: the one without a condition before it holds for everybody.",
    ("not_anonymous", "type"): "This type asks for what identifies a person, and the questionnaire is anonymous.",
    (
        "not_anonymous",
        "display_probability",
    ): "An anonymous questionnaire asks everybody the same questions: an invitation says who was drawn.",
    (
        "not_anonymous",
        "coupon_pool",
    ): "An anonymous questionnaire cannot give a coupon, which is kept with the response.",
    ("not_anonymous", "call_back"): "An anonymous questionnaire cannot offer a call: the person would be known.",
    ("not_anonymous", "responses_max"): "An anonymous questionnaire cannot have a quota: its answers count later.",
    ("not_anonymous", ""): "A text or a condition uses a value from outside, and the questionnaire is anonymous.",
    (
        "not_anonymous",
        "anonymous",
    ): "A text or a condition uses a value from outside, and the questionnaire is anonymous.",
    ("outdated", ""): "Another version was published since this was saved; it would be replaced.",
}
_MISSING: Final = "missing_translation"
_NO_VARIABLE: Final = re.compile(rf"There is no variable “answer\.(\w{{{ids.ID_CHARACTERS}}})\b", re.ASCII)


@dataclass(frozen=True, slots=True)
class Problem:
    """`where`: the text of the question or page. `member`: the wrong one of the question, if it is one of those."""

    text: str
    url: str = ""
    where: str = ""
    is_error: bool = True
    question_id: str = ""
    member: str = ""


def rows_of(
    words: Texts, document: Mapping[str, Any], *, path: str, wrong: Iterable[Problem] = (), query: str = ""
) -> list[dict[str, Any]]:
    counts = Counter(one.question_id for one in wrong if one.is_error)
    return [
        {
            "id": group.get("group_id"),
            "title": placeholders.plain(str(group.get("title") or "")),
            "name": words("Page {n}", n=words.count(number)),
            "url": f"{path}/page/{group.get('group_id')}{query}",
            "questions": [
                {
                    "id": str(one.get("question_id")),
                    "url": f"{path}/{one.get('question_id')}{query}",
                    "title": title_of(words, one),
                    "type": type_name(words, str(one.get("type"))),
                    "is_required": one.get("required") is True and is_answered(one),
                    "is_off": one.get("enabled") is False,
                    "has_jumps": bool(editing.jumps_of(one)),
                    "has_condition": one.get("show_if") is not None,
                    "wrong": counts[str(one.get("question_id"))],
                }
                for one in editing.questions_of(group)
            ],
        }
        for number, group in enumerate(editing.groups_of(document), 1)
    ]


def type_name(words: Texts, name: str) -> str:
    return words(TYPES[name].label) if name in TYPES else name


def is_answered(question: Mapping[str, Any]) -> bool:
    known = TYPES.get(str(question.get("type")))
    return known is not None and known.is_answered


def title_of(words: Texts, question: Mapping[str, Any]) -> str:
    return placeholders.plain(str(question.get("title") or "")) or words("No text yet")


def ending_name(words: Texts, ending: Mapping[str, Any], number: int) -> str:
    title = str(ending.get("title") or ending.get("text") or "")
    return placeholders.plain(title)[: endings.EXCERPT_CHARACTERS] or words("Ending {n}", n=words.count(number))


def problems_of(words: Texts, document: Mapping[str, Any], findings: Sequence[Finding], *, path: str) -> list[Problem]:
    """The errors, then the warnings; missing translations are counted by language. `path`: of the questionnaire."""
    missing = Counter(locale for one in findings if one.code == _MISSING and (locale := _locale_of(one.path)))
    found = [_problem(words, document, one, path) for one in findings if one.code != _MISSING]
    found += [
        Problem(
            words.plural("{n} text is missing in {language}.", "{n} texts are missing in {language}.", count).replace(
                "{language}", words.language_name(locale)
            ),
            f"{path}/translations/{locale}?show=missing",
            is_error=False,
        )
        for locale, count in missing.items()
    ]
    return sorted(found, key=lambda one: not one.is_error)


def _problem(words: Texts, document: Mapping[str, Any], finding: Finding, path: str) -> Problem:
    first, *rest = finding.path[1:].split("/")
    is_error = finding.severity == "error"
    if first == "endings" and rest:
        ending = _at(document.get("endings"), rest[0])
        text, url = _sentence(words, document, finding, rest[-1]), f"{path}/edit/endings/{ending.get('ending_id')}"
        return Problem(text, url, placeholders.plain(str(ending.get("title") or "")) or words("Endings"), is_error)
    if first != "groups" or not rest:
        text = _sentence(words, document, finding, first)
        places = {"pages": "texts", "translations": "texts", "anonymous": "anonymity"}
        return Problem(text, f"{path}/edit/{places[first]}" if first in places else "", is_error=is_error)
    group = _at(document.get("groups"), rest[0])
    below = rest[1:]
    if len(below) < 2 or below[0] != "questions":  # noqa: PLR2004  the list and a place in it
        member = below[0] if below else ""
        url = f"{path}/edit/page/{group.get('group_id')}"
        return Problem(
            _sentence(words, document, finding, member),
            url,
            placeholders.plain(str(group.get("title") or "")),
            is_error,
        )
    question = _at(group.get("questions"), below[1])
    question_id, member = str(question.get("question_id")), below[2] if below[2:] else ""
    url = f"{path}/edit/{question_id}"
    if member == "jumps" and below[3:]:
        url = f"{url}/jump/{below[3]}"
    elif member == "show_if":
        url = f"{url}/condition"
    elif member == "translations" and below[3:]:
        url = f"{path}/translations/{below[3]}"
    elif member:
        url = f"{url}#{member}"
    return Problem(
        _sentence(words, document, finding, member), url, title_of(words, question), is_error, question_id, member
    )


def _sentence(words: Texts, document: Mapping[str, Any], finding: Finding, member: str) -> str:
    unknown = _NO_VARIABLE.match(finding.message)
    if unknown:  # ids are never shown
        question = editing.question_of(document, unknown[1])
        if question is None:
            return words("It shows the answer of a question that is gone.")
        return words("It shows the answer of “{title}”, which comes later.", title=title_of(words, question))
    return words.said(SENTENCES.get((finding.code, member), finding.message))


def _at(entries: object, place: str) -> Mapping[str, Any]:
    found = entries[int(place)] if is_array(entries) and place.isdigit() and int(place) < len(entries) else None
    return found if is_object(found) else {}


def _locale_of(pointer: str) -> str:
    """Of the pointer of a missing translation: `/pages/el/welcome`, `/groups/0/…/translations/el/title`."""
    parts = pointer.split("/")
    at = next((number for number, part in enumerate(parts) if part in {"pages", "translations"}), len(parts))
    return parts[at + 1] if parts[at + 1 :] else ""
