"""The types with parts or bounds of their own: what is refused, what reads back, ids of rows, one language shown."""

from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from afterword.core.questionnaires import definition, question_types, questions
from afterword.core.questionnaires.definition import Definition
from tests.core.questionnaires.test_definition import (
    JSON,
    changed,
    checked,
    document as whole_document,
    give_id,
    places,
)
from tests.sizes import size

COLUMNS = [{"value": 1, "label": "Good"}, {"value": 2, "label": "Fair"}, {"value": 3, "label": "Bad"}]
ROWS = [{"key": "speed", "label": "Speed"}, {"key": "price", "label": "Price"}]
PICTURE = f"/asset/{'a' * 22}/0123456789-640x480.jpg"


def many(number: int) -> list[dict[str, object]]:
    return [{"value": value, "label": f"Shop {value}"} for value in range(1, number + 1)]


def pictured(path: str) -> list[dict[str, Any]]:
    return [{**COLUMNS[0], "picture": path}, *COLUMNS[1:]]


def coded(*codes: str) -> list[dict[str, Any]]:
    return [{**one, "code": code} for one, code in zip(COLUMNS, codes, strict=False)] + COLUMNS[len(codes) :]


GOOD: dict[str, dict[str, Any]] = {
    "matrix": {"rows": ROWS, "choices": COLUMNS},
    "ranking": {"choices": COLUMNS, "rank_max": 2},
    "number": {"number_min": -1.5, "number_max": 100, "decimals": 1},
    "date": {"date_min": "2026-01-01", "date_max": "2026-12-31"},
    "consent": {},
    "single_choice": {"choices": COLUMNS, "style": "dropdown"},
    "yes_no": {},
    "time": {},
    "date_time": {"date_min": "2026-01-01"},
    "address": {"contact_fields": ["city", "country"]},
    "contact": {"contact_fields": ["email", "preferred_time"]},
    "file": {"file_types": ["pdf", "text"], "files_max": 3, "bytes_max": 1_000_000},
}


def document(type_name: str, **fields: object) -> dict[str, Any]:
    asked = {"key": "asked", "type": type_name, "title": "?", **GOOD[type_name], **fields}
    asked = {name: value for name, value in asked.items() if value is not None}
    after = {"key": "after", "type": "nps", "title": "And?"}
    return {
        "default_locale": "en",
        "locales": ["en", "el"],
        "groups": [{"key": "group", "questions": [asked, after]}],
    }


def parse(type_name: str, **fields: object) -> Definition:
    return definition.parse(document(type_name, **fields), give_id=give_id)


def found(type_name: str, **fields: object) -> list[tuple[str, str]]:
    findings = checked(document(type_name, **fields), give_id=give_id)
    below = "/groups/0/questions/0"
    return [(one.path.removeprefix(below), one.code) for one in findings if one.severity == "error"]


class TestRead:
    @pytest.mark.parametrize(
        ("type_name", "fields", "pointer", "code"),
        [
            ("matrix", {"rows": None}, "/rows", "required"),
            ("matrix", {"rows": []}, "/rows", "too_few"),
            ("matrix", {"rows": [{"key": f"r{n}", "label": "?"} for n in range(31)]}, "/rows", "too_many"),
            ("matrix", {"rows": {"a": "b"}}, "/rows", "wrong_type"),
            ("matrix", {"rows": [7]}, "/rows/0", "wrong_type"),
            ("matrix", {"rows": [{"key": "a"}]}, "/rows/0/label", "required"),
            ("matrix", {"rows": [{"label": "Speed"}]}, "/rows/0/key", "required"),
            ("matrix", {"rows": [{"key": "Speed", "label": "?"}]}, "/rows/0/key", "invalid_format"),
            ("matrix", {"rows": [{"row_id": "r1", "label": "?"}]}, "/rows/0/row_id", "invalid_format"),
            ("matrix", {"rows": [ROWS[0], ROWS[0]]}, "/rows/1/key", "duplicate"),
            ("matrix", {"rows": [{"row_id": "R" * 22, "label": "?"}] * 2}, "/rows/1/row_id", "duplicate"),
            ("matrix", {"rows": [{"key": "a", "label": "x" * 201}]}, "/rows/0/label", "too_long"),
            ("matrix", {"choices": None}, "/choices", "required"),
            ("matrix", {"choices": COLUMNS[:1]}, "/choices", "too_few"),
            ("matrix", {"choices": [{"value": n, "label": "?"} for n in range(1, 13)]}, "/choices", "too_many"),
            ("matrix", {"choices": [*COLUMNS[:2], {**COLUMNS[2], "other": True}]}, "/choices/2/other", "unknown_value"),
            (
                "matrix", {"translations": {"el": {"rows": {"size": "?"}}}},
                "/translations/el/rows/size", "unknown_member",
            ),
            ("matrix", {"translations": {"el": {"rows": {"speed": 7}}}}, "/translations/el/rows/speed", "wrong_type"),
            ("matrix", {"translations": {"el": {"rows": [7]}}}, "/translations/el/rows", "wrong_type"),
            (
                "matrix", {"translations": {"el": {"rows": {"speed": "a", give_id("row", "asked.speed"): "b"}}}},
                f"/translations/el/rows/{give_id('row', 'asked.speed')}", "duplicate",
            ),
            ("ranking", {"choices": [{"value": n, "label": "?"} for n in range(1, 22)]}, "/choices", "too_many"),
            (
                "ranking", {"choices": [COLUMNS[0], {**COLUMNS[1], "exclusive": True}]},
                "/choices/1/exclusive", "unknown_value",
            ),
            ("ranking", {"rank_max": 0}, "/rank_max", "out_of_range"),
            ("ranking", {"rank_max": 4}, "/rank_max", "out_of_range"),
            ("number", {"number_min": "1"}, "/number_min", "wrong_type"),
            ("number", {"number_min": True}, "/number_min", "wrong_type"),
            ("number", {"number_min": float("inf")}, "/number_min", "wrong_type"),
            ("number", {"number_max": 1e300}, "/number_max", "out_of_range"),
            ("number", {"number_max": 0.55}, "/number_max", "out_of_range"),
            ("number", {"number_min": 200}, "/number_min", "out_of_range"),
            ("number", {"decimals": 7}, "/decimals", "out_of_range"),
            ("number", {"decimals": -1}, "/decimals", "out_of_range"),
            ("date", {"date_min": "yesterday"}, "/date_min", "invalid_format"),
            ("date", {"date_max": "2026-02-30"}, "/date_max", "invalid_format"),
            ("date", {"date_max": 2026}, "/date_max", "invalid_format"),
            ("date", {"date_min": "2027-01-01"}, "/date_min", "out_of_range"),
            ("date_time", {"date_max": "2025-12-31"}, "/date_min", "out_of_range"),
            ("single_choice", {"style": "stars"}, "/style", "unknown_value"),
            ("single_choice", {"choices": many(501)}, "/choices", "too_many"),
            ("single_choice", {"choices": many(101), "style": None}, "/choices", "too_many"),
            ("single_choice", {"choices": pictured(PICTURE)}, "/style", "exclusive"),
            ("single_choice", {"choices": pictured("https://x.example/a.png")}, "/choices/0/picture", "invalid_format"),
            ("ranking", {"choices": pictured(PICTURE)}, "/choices/0/picture", "unknown_value"),
            ("single_choice", {"choices": coded("2")}, "/choices/1/value", "duplicate"),
            ("matrix", {"choices": coded("x", "x")}, "/choices/1/code", "duplicate"),
            ("ranking", {"choices": coded("x", "1")}, "/choices/1/code", "duplicate"),
            ("single_choice", {"choices": coded(" ")}, "/choices/0/code", "too_short"),
            ("matrix", {"rows": [{**ROWS[0], "code": "x" * 201}]}, "/rows/0/code", "too_long"),
            ("number", {"code": 7}, "/code", "wrong_type"),
            ("number", {"style": "dropdown"}, "/style", "unknown_value"),
            ("number", {"style": "slider", "number_max": None}, "/style", "required"),
            ("address", {"contact_fields": ["name"]}, "/contact_fields/0", "unknown_value"),
            ("contact", {"contact_fields": []}, "/contact_fields", "too_few"),
            ("contact", {"contact_fields": ["fax"]}, "/contact_fields/0", "unknown_value"),
            ("contact", {"contact_fields": ["name", "name"]}, "/contact_fields/1", "duplicate"),
            ("contact", {"contact_fields": [["name"]]}, "/contact_fields/0", "unknown_value"),
            ("contact", {"contact_fields": "name"}, "/contact_fields", "wrong_type"),
            ("file", {"file_types": ["svg"]}, "/file_types/0", "unknown_value"),
            ("file", {"file_types": []}, "/file_types", "too_few"),
            ("file", {"files_max": 6}, "/files_max", "out_of_range"),
            ("file", {"bytes_max": 10_485_761}, "/bytes_max", "out_of_range"),
        ],
    )  # fmt: skip
    def test_refused(self, type_name: str, fields: dict[str, object], pointer: str, code: str) -> None:
        assert (pointer, code) in found(type_name, **fields)

    def test_a_long_list_that_opens(self) -> None:
        assert 500 == len(parse("single_choice", choices=many(500)).questions()[0].choices)

    @pytest.mark.parametrize("type_name", GOOD)
    def test_reads_back(self, type_name: str) -> None:
        good = parse(type_name, required=True)
        assert good == definition.parse(definition.document_of(good))
        own = set(question_types.TYPES[type_name].fields)
        assert own - {"style"} <= questions.document_of(good.questions()[0]).keys()
        assert not own & questions.document_of(good.questions()[1]).keys()

    def test_defaults(self) -> None:
        assert ("name", "email") == parse("contact", contact_fields=None).questions()[0].contact_fields
        number = parse("number", number_min=None, number_max=None, decimals=None).questions()[0]
        assert (0, None, None) == (number.decimals, number.number_min, number.number_max)
        assert "style" not in questions.document_of(number), "what releases before it wrote is unchanged"
        slider = parse("number", style="slider").questions()[0]
        assert "slider" == questions.document_of(slider)["style"]
        assert "city" in parse("address", contact_fields=None).questions()[0].contact_fields
        assert 3 == parse("ranking", rank_max=None).questions()[0].ranks


class TestConditions:
    @pytest.mark.parametrize(
        ("type_name", "subject", "operator", "value"),
        [
            ("matrix", "question:asked:speed", "less", 2),
            ("matrix", "question:asked", "is_empty", None),
            ("ranking", "question:asked", "contains", 1),
            ("number", "question:asked", "greater", 0.5),
            ("date", "question:asked", "less", "2026-06-01"),
            ("consent", "question:asked", "equal", True),
            ("yes_no", "question:asked", "equal", False),
            ("time", "question:asked", "begins_with", "09"),
            ("address", "question:asked:city", "equal", "Kalamata"),
            ("contact", "question:asked:email", "ends_with", "@example.com"),
        ],
    )
    def test_ok(self, type_name: str, subject: str, operator: str, value: object) -> None:
        leaf = {"subject": subject, "operator": operator, **({} if value is None else {"value": value})}
        good = parse(type_name, jumps=[{"target_question_id": None, "conditions": leaf}])
        stored: Any = definition.document_of(good)
        kept = stored["groups"][0]["questions"][0]["jumps"][0]["conditions"]["subject"]
        assert kept.startswith(f"question:{give_id('question', 'asked')}")
        if subject.endswith("speed"):
            assert kept.endswith(give_id("row", "asked.speed"))
        assert good == definition.parse(stored)

    @pytest.mark.parametrize(
        ("type_name", "subject", "code"),
        [("matrix", "question:asked:size", "unknown_id"), ("matrix", "question:after:speed", "unknown_id"),
         ("contact", "question:asked:phone", "unknown_id"), ("matrix", "question:asked", "wrong_type")],
    )  # fmt: skip
    def test_refused(self, type_name: str, subject: str, code: str) -> None:
        leaf = {"subject": subject, "operator": "equal", "value": 1}
        assert code in {one for _, one in found(type_name, jumps=[{"target_question_id": None, "conditions": leaf}])}


class TestLocalized:
    TRANSLATIONS = {"el": {"title": "Πώς;", "choices": {"1": "Καλό"}, "rows": {"speed": "Ταχύτητα"}}}  # noqa: RUF012

    def test_rows(self) -> None:
        asked = parse("matrix", translations=self.TRANSLATIONS).questions()[0]
        shown = questions.localized(asked, "el")
        assert ["Ταχύτητα", "Price"] == [row.label for row in shown.rows]
        assert ["Καλό", "Fair", "Bad"] == [choice.label for choice in shown.choices]

    def test_rows_have_no_keys(self) -> None:
        good = parse("matrix")
        question_ids = [question.question_id for question in good.questions()]
        shown: Any = definition.content(
            good, "en", question_ids=question_ids, instance_id="I", questionnaire_id="Q", version_id="V"
        )
        first = shown["groups"][0]["questions"][0]
        assert {"row_id": give_id("row", "asked.speed"), "label": "Speed"} == first["rows"][0]

    def test_warnings(self) -> None:
        findings = checked(document("matrix", translations=self.TRANSLATIONS), give_id=give_id)
        missing = {one.path.rpartition("/el/")[2] for one in findings if one.code == "missing_translation"}
        assert {"choices/2", "choices/3", f"rows/{give_id('row', 'asked.price')}", "title"} == missing

    def test_rows_are_shuffled_and_columns_are_not(self) -> None:
        asked = parse("matrix", randomize=True).questions()[0]
        shown = [questions.localized(asked, "en", seed=f"instance{n}") for n in range(50)]
        assert 2 == len({tuple(row.row_id for row in one.rows) for one in shown})
        assert {(1, 2, 3)} == {tuple(choice.value for choice in one.choices) for one in shown}

    def test_choices_of_a_ranking_are_shuffled(self) -> None:
        asked = parse("ranking", randomize=True).questions()[0]
        orders = {
            tuple(choice.value for choice in questions.localized(asked, "en", seed=f"instance{n}").choices)
            for n in range(200)
        }
        assert 6 == len(orders)


ALL = {"default_locale": "en", "locales": ["en", "el"], "groups": [{"key": "group", "questions": [
    {"key": f"q_{name}", "type": name, "title": "?", **fields} for name, fields in GOOD.items()]}]}  # fmt: skip


@pytest.mark.parametrize("whole", [whole_document(), ALL], ids=["whole", "types"])
@settings(max_examples=size(100, 1_000))
@given(data=st.data(), to=JSON)
def test_one_place_turned_into_anything_is_read_or_reported(whole: dict[str, Any], data: Any, to: object) -> None:
    wrong = changed(*data.draw(st.sampled_from(places(whole))), to=to, of=whole)
    findings = checked(wrong, give_id=give_id)
    if not [one for one in findings if one.severity == "error"]:
        good = definition.parse(wrong, give_id=give_id)
        assert good == definition.parse(definition.document_of(good))


def test_codes_of_another_system() -> None:
    """They are kept as they are, also beside a value of the same digits, and nobody who answers sees them."""
    asked = parse(
        "matrix", code="Q7", choices=coded("1", "0", "A"), rows=[{**ROWS[0], "code": "SQ1"}, ROWS[1]]
    ).questions()[0]
    written: Any = questions.document_of(asked)
    assert ("Q7", ["1", "0", "A"]) == (written["code"], [one["code"] for one in written["choices"]])
    assert ["SQ1", None] == [one.get("code") for one in written["rows"]]
    shown = questions.document_of(questions.localized(asked, "el"))
    assert "code" not in shown
    assert "code" not in str(shown["choices"])
