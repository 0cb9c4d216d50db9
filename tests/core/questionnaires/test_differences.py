"""The difference of two definitions: none between equal ones, and each change with its place and sentence."""

import copy
from typing import Any, Final

import pytest
from hypothesis import given, settings, strategies as st

from afterword.core.questionnaires import definition, differences, drafts
from afterword.core.questionnaires.differences import MEMBERS, SENTENCES
from afterword.core.questionnaires.question_types import Question
from afterword.core.questionnaires.questions import TEXTS
from afterword.core.reading.findings import Findings
from tests.core.questionnaires.test_definition import DELETE, REASONS, SCORE, changed, document, give_id, places

EARLIER: Final = definition.document_of(definition.parse(document(), give_id=give_id))
MATRIX: Final[dict[str, Any]] = {
    "question_id": "m" * 22,
    "type": "matrix",
    "title": "Parts",
    "rows": [{"row_id": "r" * 22, "label": "Speed"}, {"row_id": "s" * 22, "label": "Price"}],
    "choices": [{"value": 1, "label": "Bad"}, {"value": 2, "label": "Good"}],
}


def edited(*path: str | int, to: object, whole: dict[str, Any] | None = None) -> dict[str, Any]:
    return changed(*path, to=to, of=whole or EARLIER)


def between(earlier: dict[str, Any], later: dict[str, Any]) -> list[differences.Difference]:
    return differences.differences(definition.parse(earlier), definition.parse(later))


@pytest.mark.parametrize(
    ("path", "to", "kind", "sentence"),
    [
        ((*SCORE, "title"), "How now?", "question_text_changed", "Of the question “How now?”, the title changed (en)."),
        ((*SCORE, "translations", "el", "title"), "Πώς;", "question_text_changed",
         "Of the question “How likely?”, the title changed (el)."),
        ((*SCORE, "required"), False, "question_optional", "The question “How likely?” may be left unanswered."),
        ((*SCORE, "enabled"), False, "question_disabled", "The question “How likely?” is no longer asked."),
        ((*SCORE, "type"), "csat", "question_retyped",
         "The question “How likely?” has another type: csat in place of nps."),
        ((*SCORE, "jumps"), [], "jumps_changed", "The question “How likely?” leads elsewhere."),
        ((*REASONS, "show_if"), {"all": []}, "show_if_added",
         "The question “Which?” is asked only under a condition."),
        ((*REASONS, "choices", 0, "label"), "Uno", "choice_renamed",
         "A choice of “Which?” is called “Uno” in place of “One”."),
        ((*REASONS, "choices", 1), DELETE, "choice_removed", "“Which?” has the choice “Two” no more."),
        ((*REASONS, "choices", 4, "exclusive"), False, "choice_changed",
         "Of “Which?”, the exclusion of other choices of the choice “None” changed."),
        ((*REASONS, "translations", "el", "choices", "1"), "Ένας", "choice_translated",
         "Of “Which?”, the choice “One” has another text (el)."),
        ((*REASONS, "choices_max"), 2, "question_changed",
         "Of the question “Which?”, the maximum number of choices changed."),
        (("groups", 0, "title"), "Start", "group_text_changed", "Of the page “Start”, the title changed (en)."),
        (("groups", 1, "enabled"), False, "group_disabled", "The page “2” is no longer shown."),
        (("groups", 1), DELETE, "group_removed", "The page “2” is gone."),
        (("pages", "en", "welcome"), "Hello", "page_changed",
         "Around the questions, the text before the questions changed (en)."),
        (("translations", "el", "title"), "Άλλο", "questionnaire_text_changed",
         "Of the questionnaire, the title changed (el)."),
    ],
)  # fmt: skip
def test_one_change(path: tuple[str | int, ...], to: object, kind: str, sentence: str) -> None:
    later = edited(*path, to=to)
    if kind == "group_removed":
        later = edited(*SCORE, "jumps", to=[], whole=later)
    found = between(EARLIER, later)
    assert (kind, sentence) in [(one.kind, one.sentence) for one in found]
    if kind not in {"group_removed", "choice_removed"}:
        assert ["/" + "/".join(map(str, path))] == [one.path for one in found]


def test_added_moved_and_parts() -> None:
    later = copy.deepcopy(EARLIER)
    questions: list[Any] = later["groups"][1]["questions"]  # pyrefly: ignore[bad-index]
    questions.reverse()
    questions.append(copy.deepcopy(MATRIX))
    found = between(EARLIER, later)
    assert ["question_moved", "question_added"] == [one.kind for one in found]
    assert ["The question “Parts” is new."] == [one.sentence for one in found if one.kind == "question_added"]
    assert {"question_moved", "question_removed"} == {one.kind for one in between(later, EARLIER)}
    rows = edited("groups", 1, "questions", 2, "rows", to=[{"row_id": "s" * 22, "label": "Cost"}], whole=later)
    assert ["row_removed", "row_renamed"] == [one.kind for one in between(later, rows)]
    turned = edited("groups", 1, "questions", 2, "rows", to=MATRIX["rows"][::-1], whole=later)
    assert [("rows_moved", ["r" * 22, "s" * 22])] == [(one.kind, one.before) for one in between(later, turned)]


def test_groups_move_with_their_questions() -> None:
    later = edited(*SCORE, "jumps", to=[])
    turned = edited("groups", to=later["groups"][::-1], whole=later)
    assert ["group_moved"] == [one.kind for one in between(later, turned)]
    other = edited("default_locale", to="el", whole=edited("locales", to=["el"], whole=later))
    other = edited("translations", to={}, whole=other)
    found = [one.kind for one in differences.differences(definition.parse(later), definition.read(other, Findings()))]
    assert ["default_locale_changed", "locale_removed"] == found[:2]


def test_every_member_is_compared() -> None:
    of_its_own = {
        "question_id", "key", "code", "type", "required", "enabled", "show_if", "jumps", "translations", "choices",
        "rows", "removed_choices",  # no part of a definition
    }  # fmt: skip
    compared = {*TEXTS, *differences.OF_ALL_TYPES, *differences.OF_TYPES, *of_its_own}
    assert compared == set(Question.__struct_fields__)
    assert {*TEXTS, *differences.OF_ALL_TYPES, *differences.OF_TYPES} <= MEMBERS.keys()


@settings(max_examples=60)
@given(path=st.sampled_from(places(EARLIER)), to=st.sampled_from((DELETE, "x", 3, 70, True, False, None, [], {})))
def test_every_change_is_told(path: tuple[str | int, ...], to: object) -> None:
    """Definitions that differ in more than keys and empty translations have differences, both ways, with sentences."""
    later = edited(*path, to=to)
    try:
        new = definition.parse(later)
    except definition.InvalidDefinition:
        return
    old = definition.parse(EARLIER)
    forth, back = differences.differences(old, new), differences.differences(new, old)
    is_same = _content(definition.document_of(old)) == _content(definition.document_of(new))
    assert (is_same, is_same) == (not forth, not back)
    assert all(one.sentence and one.kind in SENTENCES for one in [*forth, *back])


def _content(document: Any) -> Any:
    """Without keys of files, and without languages that have no text."""
    if isinstance(document, dict):
        members = {name: _content(each) for name, each in drafts.shown(document).items() if name != "key"}
        return {name: each for name, each in members.items() if each not in ({}, None)}
    return [_content(each) for each in document] if isinstance(document, list) else document
