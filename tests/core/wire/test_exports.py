"""The columns and cells of exports, and what spreadsheets must not take for formulas."""

import csv
import io
import re
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, strategies as st

from afterword.core.questionnaires import definition as core_definition
from afterword.core.questionnaires.definition import Definition
from afterword.core.wire import exports
from afterword.core.wire.exports import FIXED, ExportTable, Response, guarded

NPS, SINGLE, MATRIX, CONTACT, TEXT = (f"Q{n}".ljust(22, "0") for n in range(5))
ROWS = tuple(f"R{n}".ljust(22, "0") for n in range(2))
SECONDS_MAX = 5.0
STARTED = datetime(2026, 11, 21, 12, tzinfo=UTC)


def definition(*questions: dict[str, Any]) -> Definition:
    return core_definition.parse(
        {
            "default_locale": "en",
            "locales": ["en", "el"],
            "groups": [{"group_id": "G".ljust(22, "0"), "questions": list(questions)}],
        }
    )


QUESTIONS: list[dict[str, Any]] = [
    {"question_id": NPS, "type": "nps", "title": "How likely?"},
    {
        "question_id": SINGLE,
        "type": "single_choice",
        "title": "Why?",
        "display_name": "Reason",
        "choices": [{"value": 1, "label": "Price"}, {"value": 2, "label": "Other", "other": True}],
        "translations": {"el": {"choices": {"1": "Τιμή"}}},
    },
    {
        "question_id": MATRIX,
        "type": "matrix",
        "title": "How good?",
        "rows": [{"row_id": ROWS[0], "label": "Price"}, {"row_id": ROWS[1], "label": "Speed"}],
        "choices": [{"value": 1, "label": "Bad"}, {"value": 2, "label": "Good"}],
    },
    {"question_id": CONTACT, "type": "contact", "title": "Who?", "contact_fields": ["name", "email"]},
    {"question_id": TEXT, "type": "text", "title": "=1+1"},
]


def response(answers: dict[str, list[Any]], **metadata: Any) -> Response:
    return Response([f"{name}!" for name in FIXED], answers, **metadata)


class TestColumns:
    def test_what_only_older_versions_had(self) -> None:
        """A choice, a row or a field that was removed may have been answered before."""
        _, single, matrix, contact, _ = QUESTIONS
        newest = definition(
            {**single, "choices": [*single["choices"][:1], {"value": 3, "label": "Service"}]},
            {**matrix, "rows": matrix["rows"][1:]},
            {**contact, "contact_fields": ["email"]},
        )
        sheet = ExportTable([newest, definition(*QUESTIONS)], "en", values="labels", has_questionnaire_metadata=False,
                      has_responder_metadata=False)  # fmt: skip
        given = {SINGLE: [2, "Colour"], MATRIX: [dict.fromkeys(ROWS, 2), None], CONTACT: [{"name": "Ann"}, None]}
        row = dict(zip(sheet.headers, sheet.cells(response(given)), strict=True))
        assert ("Other", "Colour", "Good", "Good", "Ann", None) == tuple(
            row[name]
            for name in (
                "Reason",
                "Reason [other]",
                "How good?: Speed",
                "How good?: Price",
                "Who?: name",
                "Who?: email",
            )
        )

    def test_headers(self) -> None:
        sheet = ExportTable(
            [definition(*QUESTIONS)], "en", questionnaire_names={"store_id": "text"}, responder_names={"email": "text"}
        )
        assert [
            *FIXED,
            "How likely?",
            "Reason", "Reason [code]", "Reason [other]",
            "How good?: Price", "How good?: Price [code]", "How good?: Speed", "How good?: Speed [code]",
            "Who?: name", "Who?: email",
            "=1+1",
            "questionnaire.store_id", "questionnaire metadata, undeclared",
            "responder.email", "responder metadata, undeclared",
        ] == sheet.headers  # fmt: skip

    @pytest.mark.parametrize(
        ("values", "expected"),
        [
            ("both", ["Other", 2, "Speed"]),
            ("labels", ["Other", "Speed"]),
            ("codes", [2, "Speed"]),
        ],
    )
    def test_labels_and_codes(self, values: Any, expected: list[Any]) -> None:
        sheet = ExportTable([definition(QUESTIONS[1])], "en", values)
        cells = sheet.cells(response({SINGLE: [2, "Speed"]}))
        assert expected == cells[len(FIXED) : len(FIXED) + len(expected)]

    def test_language(self) -> None:
        sheet = ExportTable([definition(QUESTIONS[1])], "el", "labels")
        assert "Τιμή" == sheet.cells(response({SINGLE: [1, None]}))[len(FIXED)]

    def test_parts(self) -> None:
        sheet = ExportTable([definition(*QUESTIONS[2:4])], "en", "labels")
        cells = sheet.cells(
            response({MATRIX: [{ROWS[1]: 2}, None], CONTACT: [{"name": "Ann", "email": "ann@example.com"}, None]})
        )
        assert [None, "Good", "Ann", "ann@example.com"] == cells[len(FIXED) : len(FIXED) + 4]

    def test_addresses_times_and_yes_or_no(self) -> None:
        types = {NPS: "address", SINGLE: "time", TEXT: "date_time", CONTACT: "yes_no"}
        questions = [{"question_id": each, "type": kind, "title": kind} for each, kind in types.items()]
        sheet = ExportTable([definition(*questions)], "en", has_questionnaire_metadata=False,
                      has_responder_metadata=False)  # fmt: skip
        answers = {NPS: [{"street": "Main Street 1", "city": "Patras"}, None], SINGLE: ["09:30", None],
                   TEXT: ["2026-11-21T09:30", None], CONTACT: [True, None]}  # fmt: skip
        row = dict(zip(sheet.headers, sheet.cells(response(answers)), strict=True))
        assert ("Main Street 1", None, "Patras", None) == tuple(
            row[f"address: {each}"] for each in ("street", "postal_code", "city", "country")
        )
        assert ("09:30", "2026-11-21T09:30", True) == (row["time"], row["date_time"], row["yes_no"])

    def test_question_of_an_older_version(self) -> None:
        newest, oldest = definition(QUESTIONS[0]), definition(QUESTIONS[4], {**QUESTIONS[0], "title": "Before"})
        sheet = ExportTable([newest, oldest], "en", has_questionnaire_metadata=False, has_responder_metadata=False)
        assert [*FIXED, "How likely?", "=1+1"] == sheet.headers

    def test_undeclared_metadata_stands_together(self) -> None:
        sheet = ExportTable(
            [definition(QUESTIONS[0])], "en", questionnaire_names={"store_id": "text"}, has_responder_metadata=False
        )
        cells = sheet.cells(response({}, questionnaire_metadata={"store_id": "7", "b": "2", "a": "1"}))
        assert ["7", '{"a":"1","b":"2"}'] == cells[-2:]


class TestHeaders:
    @pytest.mark.parametrize(
        ("expected", "questions"),
        [
            (["Why?", "why? [b]", "Why? [c]"], [("Why?", "a"), ("why?", "b"), ("Why?", "c")]),
            (["Why?", "Why? (2)", "Why? (3)"], [("Why?", None), ("Why?", None), ("Why?", None)]),
            (["Why? (2)", "Why?", "Why? (3)"], [("Why? (2)", None), ("Why?", None), ("Why?", None)]),
            (["locale (2)", "Why?"], [("locale", "a"), ("Why?", "b")]),
        ],
    )
    def test_none_repeats(self, expected: list[str], questions: list[tuple[str, str | None]]) -> None:
        asked = [
            {"question_id": f"Q{n}".ljust(22, "0"), "type": "text", "title": title, **({"key": key} if key else {})}
            for n, (title, key) in enumerate(questions)
        ]
        sheet = ExportTable([definition(*asked)], "en", has_questionnaire_metadata=False, has_responder_metadata=False)
        assert expected == sheet.headers[len(FIXED) :]

    def test_a_mark_stays_when_the_order_changes(self) -> None:
        """A key belongs to its question; so a reader by the name goes on with the same column of a later file."""
        first, second, third = (
            {"question_id": f"Q{n}".ljust(22, "0"), "type": "text", "title": "Why?", "key": f"k{n}"} for n in range(3)
        )
        for asked in ([first, second, third], [first, third, second]):
            table = ExportTable([definition(*asked)], "en")
            row = dict(zip(table.headers, table.cells(response({third["question_id"]: ["c", None]})), strict=True))
            assert "c" == row["Why? [k2]"]


class TestSeveralInACell:
    @pytest.mark.parametrize(
        ("expected", "labels"),
        [
            ("Speed, Price", ["Speed", "Price"]),
            ('"Flour, rye", =Tools', ["Flour, rye", "=Tools"]),
            ('"a,b", c;d', ["a,b", "c;d"]),
            ('"""So"" so", b"c', ['"So" so', 'b"c']),
        ],
    )
    def test_labels_can_be_split(self, expected: str, labels: list[str]) -> None:
        choices = [{"value": n, "label": label} for n, label in enumerate(labels, 1)]
        for kind in ("multiple_choice", "ranking"):
            question = {"question_id": SINGLE, "type": kind, "title": "What?", "choices": choices}
            sheet = ExportTable([definition(question)], "en", "labels")
            given = response({SINGLE: [[1, 2], None]})
            assert expected == sheet.cells(given)[len(FIXED)]
            assert labels == next(csv.reader([expected], skipinitialspace=True))
            assert labels == sheet.document(given)["answers"][SINGLE]["labels"]

    def test_files(self) -> None:
        sheet = ExportTable([definition({"question_id": TEXT, "type": "file", "title": "Which?"})], "en")
        given = response({TEXT: [[{"name": "a;b.pdf"}, {"name": "c.pdf"}], None]})
        assert '"a;b.pdf";c.pdf' == sheet.cells(given)[len(FIXED)]


class TestDocument:
    def test_ok(self) -> None:
        sheet = ExportTable([definition(*QUESTIONS)], "en")
        document = sheet.document(response({NPS: [9, None], SINGLE: [2, "Speed"]}, responder_metadata={"a": "b"}))
        assert {
            NPS: {"type": "nps", "title": "How likely?", "value": 9},
            SINGLE: {"type": "single_choice", "title": "Why?", "value": 2, "label": "Other", "other_text": "Speed"},
        } == document["answers"]
        assert {"questionnaire": {}, "responder": {"a": "b"}} == document["metadata"]

    def test_without_metadata(self) -> None:
        sheet = ExportTable(
            [definition(*QUESTIONS)], "en", has_questionnaire_metadata=False, has_responder_metadata=False
        )
        assert "metadata" not in sheet.document(response({}))


class TestGuarded:
    @pytest.mark.parametrize(
        "text",
        ["=1", "+1", "-1", "@a", "\t1", "\r1", "\n1", "\0=1", "＝1", "＋1", "－1", "＠a", " =1", "'a"],  # noqa: RUF001
    )
    def test_formula(self, text: str) -> None:
        assert f"'{text}" == guarded(text)

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("fine;=cmd|'/c calc'!A0;x", "fine;'=cmd|''/c calc'!A0;x"),
            ('first\n=HYPERLINK("x")', 'first\n\'=HYPERLINK("x")'),
            ("a\t+1", "a\t'+1"),
            ("a\r\n@b", "a\r\n'@b"),
            ('a; "-1', "a; \"'-1"),
            ("a;'b", "a;''b"),
            ("\t=1", "'\t'=1"),
            ("a|\uff1d1", "a|'\uff1d1"),
        ],
    )
    def test_formula_behind_a_separator(self, text: str, expected: str) -> None:
        assert expected == guarded(text)

    @pytest.mark.parametrize("text", ["", "1", "a=1", "Ann", " Ann", "é", "1-2", "1;2", "good, -5 degrees", "a; b\nc"])
    def test_harmless(self, text: str) -> None:
        assert text == guarded(text)

    @given(st.text(alphabet=st.sampled_from("=+-@;|\t\r\n\"' ,a1\uff1d")) | st.text())
    def test_round_trip(self, text: str) -> None:
        """Whoever takes one apostrophe away where the documentation says so has the text again."""
        text = text.replace("\0", "")
        told = re.compile(r"(\A|[;|\t\r\n][\s\";|]*)'")
        assert text == told.sub(r"\1", guarded(text))

    @pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
    @given(text=st.text(alphabet=st.sampled_from("=+-@;|\t\r\n\"' ,a1\uff1d")))
    def test_behind_any_separator(self, separator: str, text: str) -> None:
        """No cell of a reader that cuts at another separator than ours begins a formula."""
        file = io.StringIO()
        csv.writer(file, lineterminator="\r\n").writerow(["id", guarded(text), "end"])
        for row in csv.reader(io.StringIO(file.getvalue(), newline=""), delimiter=separator):
            for cell in row:
                assert cell.lstrip(" ")[:1] not in {"=", "+", "-", "@", "\uff1d"}

    def test_many_separators_take_no_time(self) -> None:
        """A run of them is read once: read again from each of them, this would take minutes."""
        start = time.process_time()
        guarded("\n" * 200_000)
        assert time.process_time() - start < SECONDS_MAX


class TestCursor:
    def test_round_trip_with_an_overlap(self) -> None:
        assert STARTED - exports.OVERLAP == exports.read_cursor(exports.cursor_of(STARTED))

    @pytest.mark.parametrize("text", ["", "a", "é", "AAAA", "A" * 512, "____________"])
    def test_wrong(self, text: str) -> None:
        with pytest.raises(ValueError, match="no cursor"):
            exports.read_cursor(text)


@pytest.mark.parametrize(
    ("oldest", "reached", "expected"),
    [
        (None, STARTED, 0),
        (STARTED, STARTED, 0),
        (STARTED - timedelta(days=10), STARTED, 0),
        (STARTED - timedelta(days=10), STARTED - timedelta(days=5), 50),
        (STARTED - timedelta(days=10), STARTED - timedelta(days=10), 99),
    ],
)
def test_progress(oldest: datetime | None, reached: datetime, expected: int) -> None:
    assert expected == exports.progress(started=STARTED, oldest=oldest, reached=reached)
