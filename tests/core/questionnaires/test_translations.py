"""Texts beside their translations: missing ones, those made for another text, and back into the definition."""

from typing import Any, Final

from hypothesis import given, settings, strategies as st
from msgspec.structs import replace

from afterword.core.questionnaires import definition, translations
from afterword.core.questionnaires.definition import Definition, Text, Texts, content, parse
from afterword.core.questionnaires.translations import with_languages
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


QUESTION = {
    "question_id": "Q" * 22, "type": "single_choice", "title": "Which?", "description": "Take one.\n\nOr none.",
    "choices": [{"value": 1, "label": "The first."}, {"value": 2, "label": "The other."}],
    "translations": {"ar": {"title": "أيهما؟"}},
}  # fmt: skip
DEFINITION = parse(
    {
        "default_locale": "en", "locales": ["en", "el", "ar"],
        "groups": [{"group_id": "G" * 22, "title": "A group.", "questions": [QUESTION]}],
        "pages": {"en": {"thank_you": "Thanks."}},
    }
)  # fmt: skip


def test_the_same_direction() -> None:
    assert DEFINITION is translations.readable(DEFINITION, "el")


def test_against_it() -> None:
    shown = translations.readable(DEFINITION, "ar")
    [group] = shown.groups
    [question] = group.questions
    assert ("\u2068A group.\u2069", None) == (group.title, group.description)
    assert ("\u2068Which?\u2069", "\u2068Take one.\u2069\n\n\u2068Or none.\u2069") == (
        question.title, question.description
    )  # fmt: skip
    assert ["\u2068The first.\u2069", "\u2068The other.\u2069"] == [choice.label for choice in question.choices]
    assert "أيهما؟" == question.translations["ar"].title
    assert ("\u2068Thanks.\u2069", None) == (shown.page_texts("ar").thank_you, shown.page_texts("ar").closed)


def shown(whole: Definition, locale: str) -> Any:
    ids = [question.question_id for question in whole.questions()]
    return content(whole, locale, question_ids=ids, instance_id="I", questionnaire_id="Q", version_id="V")


def test_turned_and_back() -> None:
    """A text that the new default lacks stays as it was."""
    whole, own = definition.parse(document(), give_id=give_id), Texts("Delivery", "Two questions")
    turned, title = with_languages(whole, own, default="el", kept=["en"])
    assert ("el", ("el", "en")) == (turned.default_locale, turned.locales)
    assert turned == definition.parse(definition.document_of(turned))
    assert (Texts("Παράδοση", "Two questions"), own) == (title, turned.texts("en"))
    for locale in ("en", "el"):
        assert shown(whole, locale) == shown(turned, locale)
    alone, _ = with_languages(whole, own, default="el", kept=[])
    assert (("el",), shown(whole, "el")) == (alone.locales, shown(alone, "el"))
    back, title = with_languages(turned, title, default="en", kept=whole.locales)
    assert (own, shown(whole, "el")) == (title, shown(back, "el"))
    assert whole == with_languages(whole, own, default="en", kept=["el"])[0] or whole.pages != turned.pages


def test_standard_translations() -> None:
    def text(key: str, source: str, target: str | None = None) -> Text:
        return Text(key, f"/{key}", "title", source, target)

    known = {"Good": "Gut", "Bad": "Schlecht"}
    after = [text("new", "Good"), text("own", "Mine"), text("done", "Good", "Prima")]
    assert {"/new": "Gut"} == translations.standard_after([], after, known)
    before = [text("same", "Good"), *(text(key, "Good", "Gut") for key in ("left", "back")), text("kept", "Good", "Ja")]
    after = [text("same", "Good"), text("left", "Mine", "Gut"), text("back", "Bad", "Gut"), text("kept", "Mine", "Ja")]
    assert {"/left": None, "/back": "Schlecht"} == translations.standard_after(before, after, known)
