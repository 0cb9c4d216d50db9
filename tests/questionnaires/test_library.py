"""The questionnaires that come with the product: complete in four languages, and fit to be read by a customer."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from afterword import errors
from afterword.core.questionnaires import content
from afterword.core.questionnaires.definition import PAGES, Definition
from afterword.core.text import locales
from afterword.questionnaires import files, service

LOCALES = ("en", "el", "de", "ar")
SCRIPTS = {"en": r"[a-z]", "el": r"[\u03ac-\u03ce]", "de": r"[a-zäöüß]", "ar": r"[\u0600-\u06ff]"}
FOREIGN = {"en": r"[\u0370-\u06ff]", "el": r"[a-z\u0600-\u06ff]", "de": r"[\u0370-\u06ff]", "ar": r"[a-z\u0370-\u03ff]"}


def read(name: str) -> files.File:
    return files.read(service.library_text(name), give_id=service.giver("Q" * 22, None))


def texts(file: files.File, locale: str) -> Iterator[str]:
    """Every text that a reader of one language sees."""
    definition: Definition = file.definition
    yield definition.texts(locale).title or file.settings["title"] or ""
    yield definition.texts(locale).description or file.settings["description"] or ""
    ids = [question.question_id for question in definition.questions()]
    shown: Any = content.content(
        definition, locale, question_ids=ids, instance_id="I", questionnaire_id="Q", version_id="V"
    )
    yield from (shown["pages"][name] for name in PAGES)
    for group in shown["groups"]:
        yield from (group[name] for name in ("title", "description") if group[name] is not None)
        for question in group["questions"]:
            names = ("title", "description", "low_label", "high_label")
            yield from (question[name] for name in names if question[name] is not None)
            yield from (choice["label"] for choice in question.get("choices", ()))


def test_unknown() -> None:
    with pytest.raises(errors.NotFound):
        service.library_text("../service")


@pytest.mark.parametrize("name", service.LIBRARY)
def test_without_any_warning(name: str) -> None:
    file = read(name)
    assert () == file.warnings
    assert LOCALES == file.definition.locales
    assert file.settings["key_question_id"] == file.definition.questions()[0].question_id


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("name", service.LIBRARY)
def test_every_text_in_its_language(name: str, locale: str) -> None:
    for text in texts(read(name), locale):
        assert re.search(SCRIPTS[locale], text.lower()), text
        assert not re.search(FOREIGN[locale], text.lower()), text


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("name", service.LIBRARY)
def test_plain_and_polite(name: str, locale: str) -> None:
    for text in texts(read(name), locale):
        assert not re.search(r"[!‼]|\.\.\.|  | $|\n", text), text
        assert "oops" not in text.lower()


@pytest.mark.parametrize("name", service.LIBRARY)
def test_scales_have_named_ends(name: str) -> None:
    for question in read(name).definition.questions():
        if question.scale:
            assert question.low_label
            assert question.high_label


@pytest.mark.parametrize(
    ("name", "types"),
    [
        ("after_delivery", ["csat", "multiple_choice", "text"]),
        ("relationship", ["nps", "text"]),
        ("support_case", ["ces", "single_choice", "text"]),
    ],
)
def test_what_each_asks(name: str, types: list[str]) -> None:
    questions = read(name).definition.questions()
    assert types == [question.type for question in questions]
    assert questions[0].required


def test_directions() -> None:
    assert ["ltr", "ltr", "ltr", "rtl"] == [locales.direction(locale) for locale in LOCALES]
