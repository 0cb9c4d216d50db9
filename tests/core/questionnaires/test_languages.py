"""A definition with another default language reads back, and says in each language what it said before."""

from typing import Any

from afterword.core.questionnaires import definition
from afterword.core.questionnaires.definition import Definition, Texts, content
from afterword.core.questionnaires.translations import with_languages
from tests.core.questionnaires.test_definition import document, give_id


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
