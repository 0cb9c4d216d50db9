"""Texts beside their translations: missing ones, those made for another text, and back into the definition."""

from dataclasses import replace
from typing import Any, Final

from hypothesis import given, settings
from hypothesis import strategies as st

from afterword.core.questionnaires import definition, translations
from afterword.core.questionnaires.definition import Texts
from afterword.core.reading.findings import Findings
from tests.core.questionnaires.test_definition import document, give_id

OWN: Final = Texts("Delivery", None)
WHOLE: Final = definition.parse(document(), give_id=give_id)
DOCUMENT: Final = definition.document_of(WHOLE)


def texts(whole: Any = DOCUMENT, locale: str = "el") -> list[definition.Text]:
    return definition.texts_of(definition.read(whole, Findings()), locale, OWN)


def test_all_texts() -> None:
    found = {text.key.rpartition("/")[2]: text for text in texts() if text.question_id is None}
    assert {"title", "welcome", "thank_you"} == set(found)
    by_member = {(text.question_id, text.member): text for text in texts()}
    score, reasons, why = WHOLE.questions()
    assert ("How likely?", "Πόσο πιθανό;") == (
        by_member[score.question_id, "title"].source,
        by_member[score.question_id, "title"].target,
    )
    assert "Ένα" == by_member[reasons.question_id, "choices/1"].target
    states = {each: translations.state_of(text, {}) for each, text in by_member.items()}
    assert ("missing", "translated") == (states[why.question_id, "title"], states[reasons.question_id, "choices/1"])
    assert len(texts()) == len({text.key for text in texts()})


@settings(max_examples=40)
@given(st.data())
def test_saved_where_they_are_read(data: Any) -> None:
    """Any translations of any texts, of a language that there is or a new one, read back as they were written."""
    locale = data.draw(st.sampled_from(["el", "de"]))
    chosen = data.draw(st.lists(st.sampled_from(texts(locale=locale)), unique=True))
    words = st.sampled_from(["Σωστά", "x" * 30, None])
    targets = {text.key: data.draw(words) for text in chosen}
    changes = {text.path: targets[text.key] for text in chosen}
    after = translations.translated(DOCUMENT, locale, changes)
    assert DOCUMENT == definition.document_of(WHOLE), "the document itself stays"
    expected = {text.key: targets.get(text.key, text.target) for text in texts(locale=locale)}
    assert expected == {text.key: text.target for text in texts(after, locale)}
    assert not [one for one in _errors(after) if one.severity == "error"]


def _errors(whole: Any) -> list[Any]:
    findings = Findings()
    definition.read(whole, findings)
    return findings.found


def test_outdated() -> None:
    """A translation belongs to the text that it was saved with, until it is changed or confirmed."""
    before = [text for text in texts() if text.target]
    first, second = before[0], before[1]
    edited = [replace(first, source="Another"), *before[1:]]
    none: dict[str, str] = {}
    known = translations.outdated_after(before, edited, known=none, made_for=none)
    assert {first.key: first.source} == known
    assert "source_changed" == translations.state_of(edited[0], known)
    again = [replace(first, source="A third"), *before[1:]]
    assert known == translations.outdated_after(edited, again, known=known, made_for=none), "the first text counts"
    assert {} == translations.outdated_after(edited, before, known=known, made_for=none), "it is as it was"
    retranslated = [replace(edited[0], target="Άλλο"), *before[1:]]
    assert {} == translations.outdated_after(edited, retranslated, known=known, made_for=none)
    assert {} == translations.outdated_after(edited, edited, known=known, made_for={first.key: "Another"})
    late = translations.outdated_after(before, before, known=none, made_for={second.key: "An old file's"})
    assert {second.key: "An old file's"} == late
    gone = [replace(edited[0], target=None), *before[1:]]
    assert {} == translations.outdated_after(edited, gone, known=known, made_for=none)
    assert {} == translations.outdated_after([], before, known=none, made_for=none), "new ones are of their time"
