"""Surveys of SurveyJS, written and read again."""

import json
from typing import Any

from afterword.core.foreign import surveyjs_written
from tests.core.foreign.forms import Taken, came_back, every, keyed, question

MEMBERS = (
    "type", "title", "description", "required", "choices", "translations", "style", "randomize", "choices_min",
    "choices_max", "rank_max", "length_max", "multiline", "number_min", "number_max", "decimals", "date_min",
    "date_max", "contact_fields", "file_types", "files_max", "bytes_max", "low_label", "high_label",
)  # fmt: skip


def test_every_type_comes_back() -> None:
    """All but two: SurveyJS has no CSAT and no CES, which are ratings there."""
    source = every()
    written = surveyjs_written.written(source)
    made = Taken(written.content)
    assert {
        "csat": {"type": ("csat", "rating"), "style": (None, "numbers")},
        "ces": {"type": ("ces", "rating"), "style": (None, "numbers")},
        "words": {"title": ("Why {{ answer.single | that }}?", "Why {{ answer.single | … }}?")},
    } == came_back(source, made, [one for one in MEMBERS if one != "translations"])
    assert ["csat", "ces"] == [line.key for line in written.lines]
    assert source.definition.locales == made.definition.locales
    assert ("Every <type> & kind", "All of them") == (source.own.title, made.settings["description"])
    assert "Όλα" == made.definition.translations["el"].title


def test_languages_rows_and_conditions_come_back() -> None:
    source, made = every(), Taken(surveyjs_written.written(every()).content)
    before = {one.key: one.translations for one in source.definition.questions() if one.translations}
    after = {one.key: one.translations for one in made.definition.questions() if one.translations}
    assert "Γεια" == after.pop("welcome")["el"].title
    titles = {key: texts["el"].title for key, texts in before.items()}
    assert titles == {key: texts["el"].title for key, texts in after.items()}
    assert {3: "Τρία", 1: "Ένα", 7: "Άλλο"} == after["single"]["el"].choices
    assert [("speed", "Speed"), ("price_now", "Price")] == [(row.key, row.label) for row in made["grid"].rows]
    for key in ("yes", "words", "line", "dec", "clock", "who", "photo"):
        assert keyed(source.definition, question(source, key).show_if) == made.show_if(key), key


def test_the_end_comes_back() -> None:
    first, last = Taken(surveyjs_written.written(every()).content).definition.endings
    assert ("Great", "So & so", "Shop") == (first.title, first.text, first.button_label)
    assert "https://shop.example/?a=1&b=2" == first.button_url
    assert ("Τέλεια", "Μαγαζί") == (first.translations["el"].title, first.translations["el"].button_label)
    assert ("Bye", None) == (last.text, last.conditions)


def test_what_the_file_says() -> None:
    survey: dict[str, Any] = json.loads(surveyjs_written.written(every()).content)
    elements = {one["name"]: one for page in survey["pages"] for one in page["elements"]}
    assert {"default": "Would you {x}?", "el": "Θα"} == elements["nps"]["title"]
    assert [{"value": 7, "text": {"default": "Else", "el": "Άλλο"}, "showCommentArea": True}] == elements["single"][
        "choices"
    ][2:]
    assert "!(({yes} = true) and ({nps} < 7))" == elements["line"]["visibleIf"]
    assert "<p>Read &lt;this&gt; ]]&gt; now</p><p>More</p>" == elements["note"]["html"]
    assert "({who.name} notempty) or ({words} = 'it\\'s')" == elements["photo"]["visibleIf"]
