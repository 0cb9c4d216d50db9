"""LimeSurvey: each type of question, and what people have stumbled over in its files."""

from typing import Any

import pytest

from afterword.core import foreign
from afterword.core.foreign.parts import Line, Read
from tests.core.foreign.lss import Q, survey
from tests.core.foreign.qsf import asked

YES_NO = {"Y": "Yes", "N": "No"}
ABC = {"A1": "Bread", "A2": "Cake", "A3": "Tart"}


def read(*groups: list[Q], **more: Any) -> Read:
    return foreign.read(survey(*groups, **more))[1]


def line_of(made: Read, place: str, kind: str = "question") -> Line:
    return next(one for one in made.lines if (one.kind, one.place) == (kind, place))


class TestTraps:
    @pytest.mark.parametrize("is_old", [True, False])
    def test_languages_in_rows_or_in_tables_of_their_own(self, *, is_old: bool) -> None:
        text, help_text = {"en": "Cake?", "de-informal": "Kuchen?"}, {"en": "Say it", "de-informal": "Sag es"}
        labels = {"A1": {"en": "Yes", "de-informal": "Ja"}, "A2": {"en": "No", "de-informal": "Nein"}}
        made = read([Q("a", "L", text, answers=labels, help=help_text)], languages=("en", "de-informal"), is_old=is_old)
        (question,) = asked(made)
        assert ["en", "de"] == made.document["locales"]
        assert ("Cake?", "Say it") == (question["title"], question["description"])
        assert {"de": {"title": "Kuchen?", "description": "Sag es", "choices": {"1": "Ja", "2": "Nein"}}} == question[
            "translations"
        ]

    def test_languages_that_there_are_not(self) -> None:
        made = read([Q("a", "S")], languages=("en", "nothing-at-all", "en-formal"))
        assert ["en"] == made.document["locales"]
        assert ["nothing-at-all", "en-formal"] == [
            one.place for one in made.lines if "language" in "".join(one.sentences)
        ]

    def test_more_languages_than_a_questionnaire_has(self) -> None:
        many = [f"{first}{second}" for first in "abcdefgh" for second in "aeiou"]
        made = read([Q("a", "S")], languages=many)
        assert 30 == len(made.document["locales"])
        assert 10 == sum(one.kind == "setting" for one in made.lines)

    def test_subquestions_among_the_questions(self) -> None:
        moved = survey([Q("a", "M", rows=ABC)], is_old=True).replace(b"</rows></questions>\n<subquestions><rows>", b"")
        moved = moved.replace(b"</subquestions>", b"</questions>")
        assert b"<subquestions>" not in moved
        (question,) = asked(foreign.read(moved)[1])
        assert ["Bread", "Cake", "Tart"] == [one["label"] for one in question["choices"]]

    def test_codes_begin_with_digits(self) -> None:
        made = read([Q("1", "F", rows={"1": "R", "2x": "S"}, answers=YES_NO)])
        (question,) = asked(made)
        assert ("q_1", ["r_1", "r_2x"]) == (question["key"], [one["key"] for one in question["rows"]])

    def test_codes_differ_by_case_alone(self) -> None:
        made = read([Q("Name", "S"), Q("name", "S")], [Q("c", "S", relevance='name == "Ann"')])
        assert ["name", "name_2", "c"] == [one["key"] for one in asked(made)]
        assert {"subject": "question:name_2", "operator": "equal", "value": "Ann"} == asked(made)[2]["show_if"]

    def test_long_titles_go_on_in_the_description(self) -> None:
        made = read([Q("a", "S", text=f"<p>{'word ' * 80}</p><p>{'more ' * 80}</p>", help="Help")])
        (question,) = asked(made)
        assert (399, True) == (len(question["title"]), question["description"].startswith("more more"))
        assert question["description"].endswith("\n\nHelp")
        assert ("taken", True) == (line_of(made, "a").outcome, line_of(made, "a").whole)
        cut = read([Q("a", "S", text="word " * 600)])
        assert ("changed", False) == (line_of(cut, "a").outcome, line_of(cut, "a").whole)

    @pytest.mark.parametrize("relevance", ["1", '"1"', "", "true"])
    def test_one_means_always(self, relevance: str) -> None:
        made = read([Q("a", "S", relevance=relevance)])
        assert ("show_if" not in asked(made)[0], 0) == (True, sum(one.kind == "condition" for one in made.lines))

    def test_zero_means_never(self) -> None:
        assert [False] == [one.get("enabled") for one in asked(read([Q("a", "S", relevance="0")]))]

    @pytest.mark.parametrize(
        "relevance", ['m_A2.NAOK == "Y"', '7X1X11A2.NAOK == "Y"', "m_A2 != ''", "!is_empty(m_A2)", "'Y' == m_A2.value"]
    )
    def test_each_choice_of_several_is_asked_for(self, relevance: str) -> None:
        made = read([Q("m", "M", rows=ABC)], [Q("b", "S", relevance=relevance)])
        assert {"subject": "question:m", "operator": "contains", "value": 2} == asked(made)[1]["show_if"]
        assert "taken" == line_of(made, "b", "condition").outcome

    def test_braces_are_piping(self) -> None:
        text = "Hello {who.shown}, {TOKEN:FIRSTNAME}, {7X1X11}, {sum(a, 1)}, {missing}, { no }, {{x}}"
        made = read([Q("who", "S"), Q("nums", "K", rows={"x": "X"})], [Q("b", "S", text=text)])
        title = asked(made)[2]["title"]
        assert (
            "Hello {{ answer.who | … }}, {{ responder.first_name | … }}, {{ answer.who | … }}, …, …, { no }, { …}"
            == title
        )
        found = line_of(made, "b", "text")
        assert ("changed", 3) == (found.outcome, len(found.sentences))
        assert line_of(made, "b").whole

    def test_other_is_a_flag(self) -> None:
        attributes = {"other_replace_text": "Something else"}
        made = read(
            [Q("a", "L", answers=ABC, other="Y"), Q("b", "M", rows=ABC, other="Y", attributes=attributes)],
            [Q("c", "S", relevance='a == "-oth-"'), Q("d", "S", text="{a_other} {b_other}", relevance='b_other != ""')],
        )
        first, second, third, fourth = asked(made)
        assert "{{ answer.a | … }} …" == fourth["title"]
        assert {"value": 4, "code": "-oth-", "label": "Other", "other": True} == first["choices"][-1]
        assert {"value": 4, "code": "-oth-", "label": "Something else", "other": True} == second["choices"][-1]
        assert {"subject": "question:a", "operator": "equal", "value": 4} == third["show_if"]
        assert {"subject": "question:b", "operator": "contains", "value": 4} == fourth["show_if"]

    def test_its_own_words_in_a_language_that_we_lack(self) -> None:
        made = read([Q("g", "G")], languages=("en", "de", "ka"))
        assert {"1": "Weiblich", "2": "Männlich"} == asked(made)[0]["translations"]["de"]["choices"]
        found = line_of(made, "g")
        assert (False, True) == (found.whole, any("ka" in one for one in found.sentences))


class TestConditions:
    def test_of_a_group_and_a_question(self) -> None:
        made = read([Q("a", "Y")], [Q("b", "S"), Q("c", "S", relevance="!is_empty(b)")], relevances=["1", 'a == "Y"'])
        yes = {"subject": "question:a", "operator": "equal", "value": True}
        _, second, third = asked(made)
        assert yes == second["show_if"]
        assert {"all": [yes, {"subject": "question:b", "operator": "is_not_empty"}]} == third["show_if"]
        assert (2, 2) == (
            foreign.Summary.of(made.lines).conditions_count,
            foreign.Summary.of(made.lines).whole_conditions_count,
        )

    @pytest.mark.parametrize(("relevance", "codes"), [("a > 1", [2, 3]), ("a.NAOK le '2'", [1, 2]), ("3 < a", None)])
    def test_codes_that_are_numbers(self, relevance: str, codes: list[int] | None) -> None:
        made = read([Q("a", "L", answers={"1": "Bad", "2": "So", "3": "Good"})], [Q("b", "S", relevance=relevance)])
        expected = {"subject": "question:a", "operator": "in", "value": codes}
        assert (expected if codes else None) == asked(made)[1].get("show_if")

    @pytest.mark.parametrize("relevance", ["q_r_1 == 'b'", "7X1X11r#1 == 'b'"])
    def test_of_the_second_scale(self, relevance: str) -> None:
        two = Q("q", "1", rows={"r": "R", "s": "S"}, answers=ABC, more_answers={"a": "Low", "b": "High"})
        made = read([two], [Q("b", "S", relevance=relevance)])
        assert {"subject": "question:q_2:r", "operator": "equal", "value": 2} == asked(made)[2]["show_if"]

    @pytest.mark.parametrize("relevance", ["count(that.m) > 0", "m_x == 'Y' or m_y ne ''"])
    def test_of_one_choice_among_several(self, relevance: str) -> None:
        made = read([Q("m", "M", rows={"x": "X", "y": "Y"})], [Q("b", "S", relevance=relevance)])
        assert "question:m" in str(asked(made)[1]["show_if"])

    @pytest.mark.parametrize(
        "relevance", ["b > 1", "a > b", "sum(a) > 2", "later == 'Y'", "a ===", "count(that.a) < 3"]
    )
    def test_that_cannot_be_said(self, relevance: str) -> None:
        made = read([Q("a", "S"), Q("b", "S", relevance=relevance), Q("later", "Y")])
        assert "show_if" not in asked(made)[1]
        found = line_of(made, "b", "condition")
        assert ("left_out", False, True) == (found.outcome, found.whole, relevance in found.sentences[0])

    def test_of_files_before_relevance(self) -> None:
        rows = "".join(
            f"<row><qid>12</qid><cqid>11</cqid><cfieldname>7X1X11</cfieldname><method>==</method><value>{code}</value>"
            f"<scenario>1</scenario></row>"
            for code in ("A1", "A3")
        )
        extra = f"<conditions><rows>{rows}</rows></conditions>"
        made = read([Q("a", "L", answers=ABC)], [Q("b", "S")], extra=extra)
        assert {"subject": "question:a", "operator": "in", "value": [1, 3]} == asked(made)[1]["show_if"]

    def test_filters_have_no_counterpart(self) -> None:
        filtered = {"array_filter": "a", "em_validation_q": "x > 1"}
        made = read([Q("a", "M", rows=ABC), Q("b", "M", rows=ABC, attributes=filtered, preg="/x/")])
        assert 3 == sum((one.kind, one.place, one.outcome) == ("setting", "b", "left_out") for one in made.lines)
        assert line_of(made, "b").whole


class TestAround:
    def test_texts_and_the_end(self) -> None:
        texts = {"title": "Bakery", "description": "<b>About</b>", "welcometext": "Hello", "endtext": "Bye {a}",
            "url": "https://bakery.example/", "urldescription": "To the bakery"}  # fmt: skip
        made = read([Q("a", "S")], texts=texts)
        document = made.document
        assert ("Bakery", "About") == (document["title"], document["description"])
        assert {"welcome": "Hello", "thank_you": "Bye {{ answer.a | … }}"} == document["pages"]["en"]
        assert [("https://bakery.example/", "To the bakery")] == [
            (one["button_url"], one["button_label"]) for one in document["endings"]
        ]
        plain = read([Q("a", "S")], texts={"url": "http://bakery.example/"})
        assert ([], "left_out") == (plain.document.get("endings", []), line_of(plain, "url", "ending").outcome)

    @pytest.mark.parametrize(("limit", "code", "count"), [("5", "A1", 1), ("0", "A1", 0), ("5", "A9", 0)])
    def test_quotas(self, limit: str, code: str, count: int) -> None:
        extra = (
            f"<quota><rows><row><id>1</id><name>Bread</name><qlimit>{limit}</qlimit><active>1</active></row></rows></quota>"
            "<quota_members><rows>"
            f"<row><qid>11</qid><quota_id>1</quota_id><code>{code}</code></row>"
            "<row><qid>12</qid><quota_id>1</quota_id><code>Y</code></row></rows></quota_members>"
            "<quota_languagesettings><rows><row><quotals_quota_id>1</quotals_quota_id>"
            "<quotals_language>en</quotals_language><quotals_message>Full</quotals_message></row></rows>"
            "</quota_languagesettings>"
        )
        made = read([Q("a", "L", answers=ABC), Q("b", "Y")], extra=extra)
        found = made.document.get("endings", [])
        assert count == len(found)
        if found:
            leaves = [("question:a", 1), ("question:b", True)]
            assert leaves == [(one["subject"], one["value"]) for one in found[0]["conditions"]["all"]]
            assert (5, "Full") == (found[0]["responses_max"], found[0]["text"])

    def test_required_and_hidden(self) -> None:
        made = read([Q("a", "S", mandatory="Y"), Q("b", "S", mandatory="S"), Q("c", "S", attributes={"hidden": "1"})])
        assert [(True, None), (True, None), (False, False)] == [
            (one["required"], one.get("enabled")) for one in asked(made)
        ]

    def test_more_fields_than_questions_fit(self) -> None:
        rows = {f"r{n}": f"Row {n}" for n in range(60)}
        made = read([*(Q(f"k{n}", "K", rows=rows) for n in range(4)), Q("s", "S")])
        assert (182, "text") == (len(asked(made)), asked(made)[0]["type"])
        assert "Row 59" in asked(made)[0]["description"]
        assert [False, True] == [line_of(made, one).whole for one in ("k0", "k3")]
