"""The questionnaires that come with the product: complete in their languages, fit to be read, and to begin with."""

import re
from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest

from afterword import errors
from afterword.asking.questionnaires import library
from afterword.core.answers.progress import PageSequence
from afterword.core.questionnaires import definition
from afterword.core.questionnaires.definition import PAGES, Definition
from afterword.core.questionnaires.flow import Flow
from afterword.core.text import locales
from afterword.kit.texts import CONSOLE_LANGUAGES
from tests.asking.questionnaires.http import Api, made

LOCALES = ("en", "el", "de", "ar")
SCRIPTS = {"en": r"[a-z]", "el": r"[\u03ac-\u03ce]", "de": r"[a-zäöüß]", "ar": r"[\u0600-\u06ff]"}
FOREIGN = {"en": r"[\u0370-\u06ff]", "el": r"[a-z\u0600-\u06ff]", "de": r"[\u0370-\u06ff]", "ar": r"[a-z\u0370-\u03ff]"}
WORDS_MAX, QUESTIONS_MAX, SECONDS_MAX, SCREENS_MAX = 20, 3, 60, 5

every_name = pytest.mark.parametrize("name", library.NAMES)


def texts(entry: library.Entry, locale: str) -> Iterator[str]:
    """Every text that a reader of one language sees."""
    asked: Definition = entry.definition
    yield asked.texts(locale).title or entry.settings["title"] or ""
    yield asked.texts(locale).description or entry.settings["description"] or ""
    ids = [question.question_id for question in asked.questions()]
    shown: Any = definition.content(
        asked, locale, question_ids=ids, instance_id="I", questionnaire_id="Q", version_id="V"
    )
    yield from (shown["pages"][name] for name in PAGES)
    for group in shown["groups"]:
        yield from (group[name] for name in ("title", "description") if group[name] is not None)
        for question in group["questions"]:
            names = ("title", "description", "low_label", "high_label")
            yield from (question[name] for name in names if question[name] is not None)
            yield from (part["label"] for name in ("choices", "rows") for part in question.get(name, ()))


def test_unknown() -> None:
    with pytest.raises(errors.NotFound):
        library.text("../service")


@every_name
def test_complete(name: str) -> None:
    """Every text is there in every language, plain and polite, and nothing keeps a reader from the end."""
    entry, asked = library.get(name), library.get(name).definition
    file = library.files.read(library.text(name), give_id=lambda _, key: key)
    assert () == file.warnings
    assert LOCALES == asked.locales
    for locale in asked.locales:
        for text in texts(entry, locale):
            if not re.fullmatch(r"[\d\s]+", text):
                assert re.search(SCRIPTS[locale], text.lower()), text
            assert not re.search(FOREIGN[locale], text.lower()), text
            assert not re.search(r"[!‼]|\.\.\.|  | $|\n", text), text
            assert "oops" not in text.lower()
    assert () == Flow(asked).unreachable
    assert {*CONSOLE_LANGUAGES} == library.notes()[name].keys()
    for locale, note in library.notes()[name].items():
        assert re.search(SCRIPTS.get(locale, r"[a-z]"), note)
        assert 20 <= len(note.split()) <= 60


@every_name
def test_as_good_practice_has_it(name: str) -> None:
    """The score comes first and must be answered; scales have named ends; words come at the end; it is short."""
    entry = library.get(name)
    first, *others = entry.definition.questions()
    assert (first.question_id, True) == (entry.settings["key_question_id"], first.required)
    assert sum(one.required for one in others) <= 1
    assert "text" in {one.type for one in others[-2:]}
    assert len(others) < QUESTIONS_MAX + 1
    assert entry.length.seconds <= SECONDS_MAX
    assert entry.length.screens <= SCREENS_MAX
    for question in entry.definition.questions():
        assert len(question.title.split()) <= WORDS_MAX
        assert " and " not in question.title, "one thing a question"
        if question.scale:
            assert question.low_label
            assert question.high_label
    assert 1 <= len(PageSequence(entry.definition, [one.question_id for one in entry.definition.questions()], {}).path)


def test_directions() -> None:
    assert ["ltr", "ltr", "ltr", "rtl"] == [locales.direction(locale) for locale in LOCALES]


@every_name
def test_in_other_languages(name: str) -> None:
    """With Greek as its default it reads in Greek, says the same in English, and has ids of its own."""
    numbers = count()
    wanted = {"new_id": lambda: f"{next(numbers):022}", "default_locale": "el", "locales": ["el", "en"]}
    settings, document = library.draft(name, **wanted)
    asked = definition.parse(document)
    assert ("el", ("el", "en")) == (asked.default_locale, asked.locales)
    entry = library.get(name)
    turned = library.Entry(name, {}, {**entry.settings, **settings}, asked, entry.length)
    for locale in ("el", "en"):
        assert sorted(texts(entry, locale)) == sorted(texts(turned, locale)), "shuffled by their ids"
    assert not {one.question_id for one in asked.questions()} & {
        one.question_id for one in entry.definition.questions()
    }
    assert ["el"] == library.draft(name, **{**wanted, "locales": ["el"]})[1]["locales"]
    with pytest.raises(errors.Invalid):
        library.draft(name, **{**wanted, "default_locale": "fr"})


async def test_over_http(api: Api) -> None:
    """Listed, shown, and taken as a draft that can be published as it is."""
    listed = (await api.get("/library")).json()
    assert list(library.NAMES) == [one["library_name"] for one in listed]
    shown = (await api.get("/library/restaurant_visit")).json()
    definition_ = shown.pop("definition")
    assert shown in listed
    assert (3, [*LOCALES]) == (shown["questions_count"], definition_["locales"])
    assert 404 == (await api.get("/library/nothing")).status_code
    body = {"owner_application_id": api.house.application_id, "display_name": "Mine"}
    for more, place, code in (
        ({"library_name": "nothing"}, "/library_name", "unknown_id"),
        ({"library_name": "event", "default_locale": "fr"}, "/default_locale", "unknown_value"),
        (
            {"library_name": "event", "template_questionnaire_id": api.house.questionnaire_id},
            "/library_name",
            "exclusive",
        ),
    ):
        assert [(place, code)] == api.wrong(await api.post("/q/questionnaire", body | more))
    questionnaire_id = await made(api, library_name="self_service", default_locale="el")
    path = f"/q/questionnaire/{questionnaire_id}"
    taken = (await api.get(path)).json()
    draft = (await api.get(f"{path}/draft")).json()
    assert ("Αυτό που μόλις κάνατε", "el", []) == (taken["title"], taken["default_locale"], draft["problems"])
    assert taken["key_question_id"] == draft["definition"]["groups"][0]["questions"][0]["question_id"]
    assert 201 == (await api.post(f"{path}/version")).status_code
