"""Posted pages: what is refused, what is blank, numbers and dates as people write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterword.core.answers import values
from afterword.core.answers import values as answer_forms
from afterword.core.answers.values import Given, InvalidAnswer, read_date, read_number
from afterword.core.questionnaires.question_types import TYPES
from tests.core.answers.questions import question


class TestReadForm:
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
            answer_forms.read_form(question(type_name), {"q_Q": values})
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
            answer_forms.read_form(question(type_name), {f"q_Q_{name}": [text] for name, text in fields.items()})
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
        assert answer == answer_forms.read_form(question(type_name), fields)


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
        answer = answer_forms.read_form(asked, {"q_Q": texts, **{f"q_Q_{name}": one for name, one in fields.items()}})
    except InvalidAnswer:
        return
    assert answer is None or answer == values.check(asked, answer.value, answer.other_text)
