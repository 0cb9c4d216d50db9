"""Answers: what is refused for each type, their stored form, segments, labels, and the facts of conditions."""

from datetime import date
from typing import Any

import pytest
from hypothesis import given, strategies as st
from msgspec.structs import replace

from afterword.core.answers import values
from afterword.core.answers.progress import PageSequence
from afterword.core.answers.values import MARKS_MAX, Given, InvalidAnswer, clean, read_date, read_form, read_number
from afterword.core.questionnaires.conditions import Leaf
from afterword.core.questionnaires.question_types import TYPES, Jump, Question, Translation
from tests.core.answers.questions import pages_of, question


def code_of(asked: Question, value: object, other_text: str | None = None) -> str:
    with pytest.raises(InvalidAnswer) as refusal:
        values.check(asked, value, other_text)
    return refusal.value.code


class TestCheck:
    @pytest.mark.parametrize(
        ("type_name", "value", "code"),
        [
            ("nps", None, "wrong_type"),
            ("nps", "9", "wrong_type"),
            ("nps", 9.0, "wrong_type"),
            ("nps", True, "wrong_type"),
            ("nps", 11, "out_of_range"),
            ("nps", -1, "out_of_range"),
            ("csat", 0, "out_of_range"),
            ("csat", 6, "out_of_range"),
            ("ces", 8, "out_of_range"),
            ("rating", 11, "out_of_range"),
            ("smileys", 4, "out_of_range"),
            ("single_choice", 4, "unknown_value"),
            ("single_choice", [1], "wrong_type"),
            ("single_choice", "1", "wrong_type"),
            ("multiple_choice", 1, "wrong_type"),
            ("multiple_choice", [], "too_few"),
            ("multiple_choice", [1, 4], "unknown_value"),
            ("multiple_choice", [1, 1], "duplicate"),
            ("multiple_choice", [1, "2"], "wrong_type"),
            ("multiple_choice", [1, 9], "exclusive"),
            ("multiple_choice", [1] * 1000, "duplicate"),
            ("text", 7, "wrong_type"),
            ("text", " \n ", "too_short"),
            ("text", "\x00\x01", "too_short"),
            ("text", "x" * 11, "too_long"),
            ("statement", "anything", "unknown_value"),
            ("matrix", [1, 2], "wrong_type"),
            ("matrix", {}, "too_few"),
            ("matrix", {"r1": 4}, "unknown_value"),
            ("matrix", {"r1": "1"}, "wrong_type"),
            ("matrix", {"r1": None}, "wrong_type"),
            ("matrix", {"r1": 1, "r9": 1}, "unknown_value"),
            ("ranking", 1, "wrong_type"),
            ("ranking", [], "too_few"),
            ("ranking", [1, 1], "duplicate"),
            ("ranking", [1, 4], "unknown_value"),
            ("ranking", [True, 2], "wrong_type"),
            ("number", "7", "wrong_type"),
            ("number", True, "wrong_type"),
            ("number", float("nan"), "wrong_type"),
            ("number", float("inf"), "wrong_type"),
            ("number", 1.005, "invalid_format"),
            ("number", -0.01, "out_of_range"),
            ("number", 1000.01, "out_of_range"),
            ("number", 10**18, "too_long"),
            ("number", 1e300, "too_long"),
            ("number", 5e-324, "too_long"),
            ("date", 20260101, "wrong_type"),
            ("date", "2026-02-29", "invalid_format"),
            ("date", "20260101", "invalid_format"),
            ("date", "2026-01-01T00:00", "invalid_format"),
            ("date", "\u0662\u0660\u0662\u0666-\u0660\u0661-\u0660\u0661", "invalid_format"),
            ("date", "2025-12-31", "out_of_range"),
            ("date", "2027-01-01", "out_of_range"),
            ("time", 930, "wrong_type"),
            ("time", "24:00", "invalid_format"),
            ("time", "9:30", "invalid_format"),
            ("time", "09:30:00", "invalid_format"),
            ("date_time", "2026-01-01", "invalid_format"),
            ("date_time", "2026-02-29T10:00", "invalid_format"),
            ("date_time", "2026-01-01 10:00", "invalid_format"),
            ("date_time", "2026-01-01T10:00Z", "invalid_format"),
            ("date_time", "2025-12-31T23:59", "out_of_range"),
            ("date_time", ["2026-01-01T10:00"], "wrong_type"),
            ("yes_no", 1, "wrong_type"),
            ("yes_no", "true", "wrong_type"),
            ("address", {"name": "Ann"}, "unknown_value"),
            ("address", {"city": "x" * 321}, "too_long"),
            ("consent", 1, "wrong_type"),
            ("consent", "true", "wrong_type"),
            ("contact", "ann@example.com", "wrong_type"),
            ("contact", {}, "too_few"),
            ("contact", {"name": " "}, "too_few"),
            ("contact", {"name": 7}, "wrong_type"),
            ("contact", {"fax": "1"}, "unknown_value"),
            ("contact", {"preferred_time": "noon"}, "unknown_value"),  # not asked for here
            ("contact", {"name": "x" * 321}, "too_long"),
            ("contact", {"email": "ann at example"}, "invalid_address"),
            ("contact", {"phone": "call me"}, "invalid_address"),
            ("contact", {"phone": "12 34"}, "invalid_address"),
            ("contact", {"phone": "6.91235E+09"}, "invalid_address"),
            ("contact", {"phone": "6912345678.5"}, "invalid_address"),
            ("contact", {"email": "an\u200bn@example.com"}, "invalid_address"),
        ],
    )
    def test_refused(self, type_name: str, value: object, code: str) -> None:
        assert code == code_of(question(type_name), value)

    @pytest.mark.parametrize(
        ("type_name", "value", "part"),
        [
            ("matrix", {"r1": 1}, "r2"),
            ("consent", False, None),
            ("address", {"city": "Kalamata"}, "street"),
            ("contact", {"name": "Ann", "phone": "210 1234567"}, "email"),
            ("contact", {"name": "Ann", "email": " ", "phone": "210 1234567"}, "email"),
        ],
    )
    def test_required_means_all_of_it(self, type_name: str, value: object, part: str | None) -> None:
        with pytest.raises(InvalidAnswer) as refusal:
            values.check(question(type_name, required=True), value)
        assert ("required", part) == (refusal.value.code, refusal.value.part)
        assert values.check(question(type_name), value)

    def test_decimals(self) -> None:
        for decimals, text in ((0, "A whole number is expected."), (2, "At most 2 decimals are possible.")):
            for read in (values.check, lambda asked, value: read_form(asked, {"q_Q": [str(value)]})):
                with pytest.raises(InvalidAnswer, match=text):
                    read(question("number", decimals=decimals), 1.0055)

    def test_places_of_a_ranking(self) -> None:
        assert "too_many" == code_of(question("ranking", rank_max=2), [1, 2, 3])
        assert [3, 1] == values.check(question("ranking", rank_max=2), [3, 1]).value

    def test_bounds_of_choices(self) -> None:
        asked = question("multiple_choice", choices_min=2, choices_max=2)
        assert "too_few" == code_of(asked, [1])
        assert "too_many" == code_of(asked, [1, 2, 3])
        assert [1, 2] == values.check(asked, [1, 2]).value
        assert [9] == values.check(asked, [9]).value  # whoever says "none" need not say it twice

    def test_other_text_without_its_choice(self) -> None:
        assert "exclusive" == code_of(question("single_choice"), 1, "because")
        assert "exclusive" == code_of(question("nps"), 1, "because")
        assert "too_long" == code_of(question("single_choice"), 8, "x" * 501)

    @pytest.mark.parametrize(
        ("type_name", "value", "stored"),
        [
            ("nps", 0, 0),
            ("nps", 10, 10),
            ("rating", 0, 0),
            ("smileys", 3, 3),
            ("single_choice", 8, 8),
            ("multiple_choice", [3, 1], [1, 3]),
            ("text", "  a\r\nb ", "a\nb"),
            ("text", "a\u0000b\ud800", "ab"),
            ("text", "παράδοση", "παράδοση"),
            ("matrix", {"r2": 3, "r1": 1}, {"r1": 1, "r2": 3}),
            ("matrix", {"r2": 3}, {"r2": 3}),
            ("ranking", [3, 1, 2], [3, 1, 2]),
            ("ranking", [2], [2]),
            ("number", 0, 0),
            ("number", -0.0, 0),
            ("number", 12.5, 12.5),
            ("number", 1000.0, 1000),
            ("date", "2026-02-28", "2026-02-28"),
            ("consent", True, True),
            ("consent", False, False),
            ("time", "09:30", "09:30"),
            ("date_time", "2026-02-28T23:59", "2026-02-28T23:59"),
            ("yes_no", False, False),
            (
                "address",
                {"city": " Kalamata", "street": "Aristomenous 1"},
                {"street": "Aristomenous 1", "city": "Kalamata"},
            ),
            (
                "contact",
                {"email": " ann@example.com", "name": "Ann\nLee"},
                {"name": "Ann Lee", "email": "ann@example.com"},
            ),
            ("contact", {"name": "", "phone": "+30 (210) 123-4567"}, {"phone": "+30 (210) 123-4567"}),
            ("contact", {"phone": "\u202a+30\u00a0691\u2011234\u202f5678\u202c"}, {"phone": "+30 691-234 5678"}),
            ("contact", {"phone": "'6912345678.0"}, {"phone": "6912345678"}),
            ("contact", {"email": "\u202aAnn@example.com\u200b"}, {"email": "Ann@example.com"}),
            ("contact", {"email": "ann..shop@docomo.ne.jp"}, {"email": "ann..shop@docomo.ne.jp"}),
        ],
    )
    def test_ok(self, type_name: str, value: object, stored: object) -> None:
        assert Given(stored) == values.check(question(type_name), value)  # pyrefly: ignore[bad-argument-type]

    def test_one_line(self) -> None:
        assert "a b" == values.check(question("text", multiline=False), " a\n b").value

    def test_other_text(self) -> None:
        assert Given(8, "Rain") == values.check(question("single_choice"), 8, "  Rain ")
        assert Given([1, 8], "Rain") == values.check(question("multiple_choice"), [8, 1], "Rain")
        assert Given(8) == values.check(question("single_choice"), 8, " ")


class TestSegmentAndLabel:
    @pytest.mark.parametrize(
        ("type_name", "value", "segment"),
        [
            ("nps", 0, "detractor"), ("nps", 6, "detractor"), ("nps", 7, "passive"), ("nps", 8, "passive"),
            ("nps", 9, "promoter"), ("nps", 10, "promoter"), ("csat", 2, "dissatisfied"), ("csat", 3, "neutral"),
            ("csat", 4, "satisfied"), ("ces", 3, "hard"), ("ces", 4, "neutral"), ("ces", 5, "easy"),
            ("rating", 10, None), ("text", "text", None), ("single_choice", 1, None),
        ],
    )  # fmt: skip
    def test_segment(self, type_name: str, value: object, segment: str | None) -> None:
        assert segment == values.segment(question(type_name), value)

    @pytest.mark.parametrize("type_name", ["nps", "csat", "ces"])
    def test_every_score_has_one(self, type_name: str) -> None:
        asked = question(type_name)
        assert None not in {values.segment(asked, value) for value in asked.scale}
        assert len(TYPES[type_name].segments) == 3

    def test_label(self) -> None:
        asked = question("multiple_choice", translations={"el": Translation(choices={1: "Ένα"})})
        assert "Ένα, Two" == values.label(asked, [1, 2], "el")
        assert "Other" == values.label(question("single_choice"), 8, "en")
        assert values.label(question("nps"), 9, "en") is None
        assert values.label(asked, [77], "en") is None

    def test_label_of_several(self) -> None:
        texts = Translation(choices={1: "Ένα"}, rows={"r1": "Ταχύτητα"})
        matrix = question("matrix", translations={"el": texts}, randomize=True)
        assert "Ταχύτητα: Ένα, Price: Two" == values.label(matrix, {"r2": 2, "r1": 1}, "el")
        assert "Three, One" == values.label(question("ranking"), [3, 1], "en")
        for type_name, value in (("number", 1), ("date", "2026-01-01"), ("consent", True), ("contact", {"name": "1"})):
            assert values.label(question(type_name), value, "en") is None


class TestFacts:
    def test_by_type(self) -> None:
        assert {"question:Q": date(2026, 1, 1)} == values.facts_of(question("date"), "2026-01-01")
        assert {"question:Q": 1.5} == values.facts_of(question("number"), 1.5)
        assert {"question:Q": {"r1": 2}, "question:Q:r1": 2} == values.facts_of(question("matrix"), {"r1": 2})
        assert "a@b.c" == values.facts_of(question("contact"), {"email": "a@b.c"})["question:Q:email"]

    @pytest.mark.parametrize(
        ("type_name", "value", "subject", "operator", "wanted", "holds"),
        [
            ("matrix", {"r1": 1}, "question:a:r1", "less", 2, True),
            ("matrix", {"r1": 1}, "question:a:r2", "less", 2, False),
            ("matrix", {"r1": 1}, "question:a", "is_not_empty", None, True),
            ("ranking", [2, 1], "question:a", "contains", 1, True),
            ("number", 12.5, "question:a", "greater", 12, True),
            ("date", "2026-05-01", "question:a", "less", "2026-04-30", False),
            ("date", "2026-05-01", "question:a", "equal", "2026-05-01", True),
            ("consent", True, "question:a", "equal", True, True),
            ("yes_no", False, "question:a", "equal", False, True),
            ("time", "09:30", "question:a", "begins_with", "09", True),
            ("date_time", "2026-02-28T09:30", "question:a", "begins_with", "2026-02-28", True),
            ("address", {"city": "Kalamata"}, "question:a:city", "equal", "Kalamata", True),
            ("contact", {"email": "Ann@Example.com"}, "question:a:email", "ends_with", "@example.com", True),
        ],
    )
    def test_jumps_read_them(
        self,
        type_name: str,
        value: Any,
        subject: str,
        operator: str,
        wanted: object,
        holds: bool,  # noqa: FBT001
    ) -> None:
        jump = Jump(None, Leaf(subject, operator, wanted))
        whole = pages_of([question(type_name, "a", jumps=(jump,))], [question("nps", "b")])
        assert (["a"] if holds else ["a", "b"]) == [
            one.question_id for one in PageSequence(whole, ["a", "b"], {"a": Given(value)}).path
        ]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda below: st.lists(below, max_size=4) | st.dictionaries(st.text(max_size=3), below, max_size=2),
    max_leaves=5,
)


PARTS = st.dictionaries(
    st.sampled_from(["r1", "r2", "name", "email", "street", "city"]), st.integers(1, 3) | st.text(max_size=5)
)


TIMES = st.times().map(lambda time: f"{time:%H:%M}") | st.datetimes().map(lambda time: time.isoformat()[:16])
VALUES = TIMES | st.integers(0, 11) | st.lists(st.integers(1, 9), max_size=5) | PARTS | st.dates().map(str)


@given(type_name=st.sampled_from(list(TYPES)), value=JSON | VALUES)
def test_any_json_is_stored_the_same_twice_or_refused(type_name: str, value: object) -> None:
    asked = question(type_name)
    try:
        stored = values.check(asked, value)
    except InvalidAnswer:
        return
    assert stored == values.check(asked, stored.value)


@pytest.mark.parametrize(("type_name", "time"), [("date", ""), ("date_time", "T09:30")])
def test_years_before_1900_need_a_bound(type_name: str, time: str) -> None:
    for high in (None, "2026-12-31"):
        asked = replace(question(type_name), date_min=None, date_max=high)
        assert ["invalid_format"] * 2 == [code_of(asked, f"{day}{time}") for day in ("0026-11-21", "1899-12-31")]
        assert Given(f"1900-01-01{time}") == values.check(asked, f"1900-01-01{time}")
    for low, high in (("1700-01-01", None), (None, "1850-12-31")):
        asked = replace(question(type_name), date_min=low, date_max=high)
        assert Given(f"1849-11-21{time}") == values.check(asked, f"1849-11-21{time}")


@pytest.mark.parametrize(("marks", "kept"), [(1, 1), (MARKS_MAX, MARKS_MAX), (MARKS_MAX + 1, MARKS_MAX)])
def test_marks_in_a_row(marks: int, kept: int) -> None:
    mark = "\N{COMBINING GRAVE ACCENT}"
    assert f"a{mark * kept} b{mark}" == clean(f"a{mark * marks} b{mark}", multiline=True)


class TestForms:
    @pytest.mark.parametrize(
        ("type_name", "values", "code"),
        [
            ("nps", ["ten"], "wrong_type"),
            ("nps", ["\u0663"], "wrong_type"),  # digits of other scripts
            ("nps", ["1e1"], "wrong_type"),
            ("nps", ["99999999999999999999"], "wrong_type"),
            ("nps", ["11"], "out_of_range"),
            ("nps", ["1", "2"], "too_many"),
            ("single_choice", ["7"], "unknown_value"),
            ("multiple_choice", ["1", "9"], "exclusive"),
            ("text", ["x" * 11], "too_long"),
            ("number", ["twelve"], "wrong_type"),
            ("number", ["1,2,3"], "wrong_type"),
            ("number", ["1.0055"], "invalid_format"),
            ("number", ["-1"], "out_of_range"),
            ("number", ["9" * 15], "out_of_range"),
            ("number", ["9" * 16], "too_long"),
            ("number", ["1,000"], "ambiguous"),
            ("number", ["250.000"], "ambiguous"),
            ("number", ["1234,000"], "invalid_format"),
            ("number", ["4,9E+12"], "wrong_type"),
            ("date", ["tomorrow"], "invalid_format"),
            ("date", ["1/2/2026"], "invalid_format"),
            ("date", ["31.2.2026"], "invalid_format"),
            ("consent", ["yes"], "wrong_type"),
            ("yes_no", ["yes"], "wrong_type"),
            ("time", ["noon"], "invalid_format"),
            ("time", ["25:00"], "invalid_format"),
            ("date_time", ["2026-11-21"], "invalid_format"),
            ("date_time", ["2026-11-21 noon"], "invalid_format"),
        ],
    )
    def test_refused(self, type_name: str, values: list[str], code: str) -> None:
        with pytest.raises(InvalidAnswer) as refusal:
            read_form(question(type_name), {"q_Q": values})
        assert code == refusal.value.code

    @pytest.mark.parametrize(
        ("type_name", "fields", "code", "part"),
        [
            ("matrix", {"r1": "x"}, "wrong_type", "r1"),
            ("matrix", {"r2": "7"}, "unknown_value", "r2"),
            ("ranking", {"1": "0"}, "out_of_range", "1"),
            ("ranking", {"1": "4"}, "out_of_range", "1"),
            ("ranking", {"1": "first"}, "wrong_type", "1"),
            ("ranking", {"1": "2", "3": "2"}, "duplicate", "1"),
            ("contact", {"name": "Ann", "email": "ann"}, "invalid_address", "email"),
        ],
    )
    def test_refused_part(self, type_name: str, fields: dict[str, str], code: str, part: str) -> None:
        with pytest.raises(InvalidAnswer) as refusal:
            read_form(question(type_name), {f"q_Q_{name}": [text] for name, text in fields.items()})
        assert (code, part) == (refusal.value.code, refusal.value.part)

    @pytest.mark.parametrize(
        ("type_name", "fields", "answer"),
        [
            ("nps", {}, None),
            ("nps", {"q_Q": [""]}, None),
            ("nps", {"q_other": ["3"]}, None),
            ("nps", {"q_Q": ["7"]}, Given(7)),
            ("nps", {"q_Q": ["7", "7"]}, Given(7)),
            ("text", {"q_Q": ["  "]}, None),
            ("text", {"q_Q": ["\x00"]}, None),
            ("text", {"q_Q": [" fine "]}, Given("fine")),
            ("statement", {"q_Q": ["7"]}, None),
            ("multiple_choice", {"q_Q": ["3", "1", "3"]}, Given([1, 3])),
            ("multiple_choice", {"q_Q": []}, None),
            ("multiple_choice", {"q_Q": ["1"], "q_Q_other": ["Rain"]}, Given([1, 8], "Rain")),
            ("multiple_choice", {"q_Q_other": [" "]}, None),
            ("single_choice", {"q_Q": ["8"], "q_Q_other": ["Rain"]}, Given(8, "Rain")),
            ("single_choice", {"q_Q_other": ["Rain"]}, Given(8, "Rain")),
            ("single_choice", {"q_Q": ["1"], "q_Q_other": ["Rain"]}, Given(1)),
            ("matrix", {"q_Q": ["1"]}, None),
            ("matrix", {"q_Q_r1": [" "], "q_Q_r9": ["1"]}, None),
            ("matrix", {"q_Q_r2": ["3"], "q_Q_r1": ["1"]}, Given({"r1": 1, "r2": 3})),
            ("ranking", {"q_Q_1": [""], "q_Q_2": [""]}, None),
            ("ranking", {"q_Q_1": ["3"], "q_Q_2": ["1"], "q_Q_3": ["2"]}, Given([2, 3, 1])),
            ("ranking", {"q_Q_1": ["3"], "q_Q_2": ["1"]}, Given([2, 1])),  # a place left out closes
            ("number", {"q_Q": [" "]}, None),
            ("number", {"q_Q": ["12,50"]}, Given(12.5)),
            ("number", {"q_Q": ["12.00 \u20ac"]}, Given(12)),
            ("date", {"q_Q": ["2026-11-21"]}, Given("2026-11-21")),
            ("date", {"q_Q": ["21.11.2026"]}, Given("2026-11-21")),
            ("consent", {}, None),
            ("consent", {"q_Q": ["1"]}, Given(value=True)),
            ("consent", {"q_Q": ["0"]}, Given(value=False)),
            ("yes_no", {}, None),
            ("yes_no", {"q_Q": ["0"]}, Given(value=False)),
            ("time", {"q_Q": ["09:30"]}, Given("09:30")),
            ("time", {"q_Q": ["9.30"]}, Given("09:30")),
            ("time", {"q_Q": ["\u0669"]}, Given("09:00")),
            ("time", {"q_Q": ["09:30:59"]}, Given("09:30")),
            ("date_time", {"q_Q": ["2026-11-21T09:30"]}, Given("2026-11-21T09:30")),
            ("date_time", {"q_Q": ["21.11.2026 9:30"]}, Given("2026-11-21T09:30")),
            ("address", {"q_Q_city": ["Kalamata"], "q_Q_name": ["Ann"]}, Given({"city": "Kalamata"})),
            ("contact", {"q_Q_name": [" "], "q_Q_email": [""]}, None),
            ("contact", {"q_Q_name": ["Ann"], "q_Q_fax": ["1"]}, Given({"name": "Ann"})),
        ],
    )
    def test_ok(self, type_name: str, fields: dict[str, list[str]], answer: Given | None) -> None:
        assert answer == read_form(question(type_name), fields)


@pytest.mark.parametrize(
    ("text", "decimals", "english", "german"),
    [
        ("250,000", 0, 250_000, "ambiguous"), ("250,000", 2, 250_000, "ambiguous"), ("10,000", 0, 10_000, "ambiguous"),
        ("1,000", 0, 1000, "ambiguous"), ("1.000", 0, "ambiguous", 1000), ("1.000", 2, "ambiguous", 1000),
        ("1.000", 3, 1.0, "ambiguous"), ("1,000", 3, "ambiguous", 1.0), ("1,234", 0, 1234, "ambiguous"),
        ("250.00", 0, 250, 250), ("250,5", 1, 250.5, 250.5), ("1234.000", 0, "invalid_format", "invalid_format"),
        ("1,234.567", 2, "invalid_format", "invalid_format"), ("0,250", 3, 0.25, 0.25),
    ],
)  # fmt: skip
def test_thousands_by_language(text: str, decimals: int, english: float | str, german: float | str) -> None:
    def read(point: str) -> float | str:
        try:
            return read_number(text, decimals, point)
        except InvalidAnswer as refusal:
            return refusal.code

    assert (english, german) == (read("."), read(","))


@pytest.mark.parametrize(
    ("text", "day"),
    [("2026-11-21", "2026-11-21"), ("1.2.2026", "2026-02-01"), ("01. 02. 2026", "2026-02-01"),
     ("\u0662\u0660\u0662\u0666-11-21", "2026-11-21"),
     ("1/2/2026", "1/2/2026"), ("1.2.26", "1.2.26")],
)  # fmt: skip
def test_dates_as_people_write_them(text: str, day: str) -> None:
    assert day == read_date(text)


TEXTS = st.lists(
    st.text(max_size=12) | st.sampled_from(["0", "1", "8", "9", "1,5", "2026-05-01", "9:30", "2026-05-01T09:30"]),
    max_size=4,
)


@given(type_name=st.sampled_from(list(TYPES)), texts=TEXTS, fields=st.dictionaries(
    st.sampled_from(["other", "r1", "r2", "1", "2", "3", "name", "email", "phone", "city"]), TEXTS))  # fmt: skip
def test_any_form_is_what_json_would_be_or_refused(
    type_name: str, texts: list[str], fields: dict[str, list[str]]
) -> None:
    asked = question(type_name)
    try:
        answer = read_form(asked, {"q_Q": texts, **{f"q_Q_{name}": one for name, one in fields.items()}})
    except InvalidAnswer:
        return
    assert answer is None or answer == values.check(asked, answer.value, answer.other_text)
