"""Structures of surveys of LimeSurvey, written and read again."""

from xml.etree import ElementTree as ET

from afterword.core.foreign import limesurvey_written
from afterword.core.foreign.exports import Source
from tests.core.foreign.forms import Taken, came_back, every, keyed, leaf, question

MEMBERS = (
    "type", "title", "required", "choices", "randomize", "choices_min", "choices_max", "rank_max", "length_max",
    "multiline", "number_min", "number_max", "date_min", "date_max", "file_types", "files_max", "bytes_max",
)  # fmt: skip


def written() -> tuple[Source, Taken]:
    source = every()
    return source, Taken(limesurvey_written.written(source).content)


def test_every_type_comes_back() -> None:
    """All but those that LimeSurvey does not have: it has lists of numbers for scales, and fields for a contact."""
    source, made = written()
    found = came_back(source, made, MEMBERS)
    found.pop("clock", None)
    types = {key: pairs["type"] for key, pairs in found.items() if "type" in pairs}
    assert {
        "nps": ("nps", "single_choice"), "csat": ("csat", "rating"), "ces": ("ces", "single_choice"),
        "rating10": ("rating", "single_choice"), "faces": ("smileys", "rating"), "who": ("contact", None),
        "home": ("address", None),
    } == types  # fmt: skip
    others = {key: pairs for key, pairs in found.items() if key not in types}
    assert {"single", "words"} == set(others)
    assert [3, 1, 4] == [one.value for one in made["single"].choices]
    assert ["street", "city"] == [
        key.removeprefix("home_") for one in made.definition.questions() if (key := one.key or "").startswith("home")
    ]


def test_what_it_does_not_have_is_told() -> None:
    lines = limesurvey_written.written(every()).lines
    assert ["nps", "csat", "ces", "rating10", "faces", "slide", "who", "home", "ending"] == [
        line.place for line in lines
    ]
    assert "became a choice of the same numbers" in lines[0].sentences[0]
    assert "happy" in lines[-1].sentences[0]


def test_languages_rows_and_conditions_come_back() -> None:
    source, made = written()
    assert ("en", "el") == made.definition.locales
    assert {3: "Τρία", 1: "Ένα", 4: "Άλλο"} == made["single"].translations["el"].choices
    assert ["Ταχύτητα", "Τιμή"] == list(made["grid"].translations["el"].rows.values())
    for key in ("yes", "dec", "clock"):
        assert keyed(source.definition, question(source, key).show_if) == made.show_if(key)
    assert leaf("grid:speed", "equal", 1) == made.show_if("words")
    assert {"any": [leaf("who_name", "is_not_empty"), leaf("words", "equal", "it's")]} == made.show_if("photo")


def test_the_end_and_the_beginning() -> None:
    _, made = written()
    assert {"en": ("Hello", "Bye"), "el": ("Γεια", "Bye")} == {
        locale: (one.welcome, one.thank_you) for locale, one in made.definition.pages.items()
    }
    assert ("Every <type> & kind", "All of them") == (made.settings["title"], made.settings["description"])


def test_the_xml() -> None:
    content = limesurvey_written.written(every()).content
    document = ET.fromstring(content)  # noqa: S314  our own
    assert ["en", "el"] == [one.text for one in document.iter("language") if one.text in {"en", "el"}][:2]
    codes = [row.findtext("title") or "" for row in document.findall("questions/rows/row")]
    assert len(codes) == len({code.lower() for code in codes}) == 25
    assert all(code.isalnum() and code[0].isalpha() and len(code) <= 20 for code in codes)
    notes = [row.findtext("question") for row in document.findall("question_l10ns/rows/row")]
    assert "Read &lt;this&gt; ]]&gt; now" in notes
    assert "Why {single.shown}?" in notes
    for table in document.findall("*[rows]"):
        names = [one.text for one in table.findall("fields/fieldname")]
        assert all({cell.tag for cell in row} <= set(names) for row in table.findall("rows/row"))
