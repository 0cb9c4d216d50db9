"""Files of LimeSurvey: what is refused, and the two forms that say the same."""

import pytest

from afterword import errors
from afterword.core import foreign
from afterword.core.foreign import limesurvey
from tests.core.foreign.lss import Q, survey, table
from tests.core.foreign.qsf import asked


class TestRefused:
    @pytest.mark.parametrize(
        ("content", "told"),
        [
            (survey([Q("a", "S")])[:-40], "not a whole survey"),
            (b'<!DOCTYPE x [<!ENTITY a "b">]>' + survey([Q("a", "S")]), "document type"),
            (survey([Q("a", "S")]).replace(b"Survey</Lime", b"Group</Lime"), "part of a survey"),
            (survey([]), "no question"),
            (survey([Q(f"q{n}", "X") for n in range(1_001)]), "At most 1,000 questions"),
            (survey([Q("a", "M", rows={f"r{n}": "x" for n in range(501)})]), "each of 500 rows"),
            (survey([Q("a", "S", text="\xe9")]).decode().encode("latin-1"), "not UTF-8"),
            (b"class\ttype/scale\tname\trelevance\n", "not a whole survey"),
        ],
        ids=["cut", "doctype", "group", "empty", "many questions", "many rows", "latin-1", "empty table"],
    )
    def test_file(self, content: bytes, told: str) -> None:
        with pytest.raises((errors.Invalid, errors.Malformed)) as refused:
            foreign.read(content)
        assert told in str(refused.value)

    def test_too_large(self) -> None:
        with pytest.raises(errors.TooLarge, match="5,000,000"):
            foreign.read(b"<document>" + b" " * 50_000_000)

    def test_deep(self) -> None:
        content = b"<document><LimeSurveyDocType>Survey</LimeSurveyDocType>" + b"<a>" * 40
        with pytest.raises(errors.Invalid, match="nested"):
            foreign.read(content)


class TestTable:
    ROWS = (
        {"class": "S", "name": "language", "text": "en"},
        {"class": "S", "name": "additional_languages", "text": "el"},
        {"class": "SL", "name": "surveyls_title", "text": "Bakery", "language": "en"},
        {"class": "G", "name": "Page", "relevance": "1", "language": "en"},
        {"class": "Q", "type/scale": "L", "name": "a", "relevance": "1", "text": "Which?", "language": "en",
            "mandatory": "Y", "other": "Y"},
        {"class": "A", "type/scale": "0", "name": "A1", "text": "Bread", "language": "en"},
        {"class": "A", "type/scale": "0", "name": "A2", "text": "Cake", "language": "en"},
        {"class": "Q", "type/scale": "M", "name": "b", "relevance": "a == 'A2'", "text": "Also?", "language": "en",
            "array_filter": "a"},
        {"class": "SQ", "type/scale": "0", "name": "x", "text": "X", "language": "en"},
        {"class": "SQ", "type/scale": "0", "name": "y", "text": "Y", "language": "en"},
        {"class": "G", "name": "Σελίδα", "relevance": "1", "language": "el"},
        {"class": "Q", "type/scale": "L", "name": "a", "relevance": "1", "text": "Ποιο;", "language": "el"},
        {"class": "A", "type/scale": "0", "name": "A1", "text": "Ψωμί", "language": "el"},
        {"class": "A", "type/scale": "0", "name": "A2", "text": "Κέικ", "language": "el"},
    )  # fmt: skip

    def test_the_same_as_the_structure(self) -> None:
        form, made = foreign.read(table(*self.ROWS))
        assert limesurvey.TABLE is form
        first, second = asked(made)
        assert (["en", "el"], "Bakery") == (made.document["locales"], made.document["title"])
        assert "Σελίδα" == made.document["groups"][0]["translations"]["el"]["title"]
        assert (True, ["Bread", "Cake", "Other"]) == (first["required"], [one["label"] for one in first["choices"]])
        assert {"1": "Ψωμί", "2": "Κέικ", "3": "Άλλο"} == first["translations"]["el"]["choices"]
        assert {"subject": "question:a", "operator": "equal", "value": 2} == second["show_if"]
        assert ["left_out"] == [one.outcome for one in made.lines if (one.kind, one.place) == ("setting", "b")]

    def test_commas_are_not_this_form(self) -> None:
        with pytest.raises(errors.Invalid, match="cannot read this file"):
            foreign.read(table(*self.ROWS, separator=","))
