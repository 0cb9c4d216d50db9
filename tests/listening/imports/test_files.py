"""Files of responses of other systems, read as tables: what cannot be read is refused, with its row."""

import io
import json
import time
from pathlib import Path
from typing import Any, BinaryIO

import openpyxl
import polars as pl
import pyreadstat
import pytest

from afterword import errors
from afterword.core.wire.response_columns import Table
from afterword.listening.imports import files

FORMBRICKS: dict[str, Any] = {
    "data": [
        {"id": "r1", "createdAt": "2026-05-01T10:00:00Z", "finished": True, "data": {"score": 9, "liked": ["a", "b"]},
         "contact": {"userId": "u7"}},
        {"id": "r2", "createdAt": "2026-05-02T10:00:00Z", "finished": False, "data": {"score": 3}, "contact": None,
         "tags": [], "ttc": {"score": 1200, "_total": 1200}},
    ]
}  # fmt: skip
TYPEFORM: dict[str, Any] = {
    "items": [
        {"response_id": "t1", "landed_at": "2026-05-01T10:00:00Z", "submitted_at": "2026-05-01T10:02:00Z",
         "hidden": {"store": "7"},
         "answers": [
             {"field": {"id": "x1", "ref": "score", "type": "nps"}, "type": "number", "number": 9},
             {"field": {"id": "x2", "ref": "why"}, "type": "choice", "choice": {"id": "c", "label": "Price"}},
             {"field": {"id": "x3", "ref": "liked"}, "type": "choices", "choices": {"labels": ["Price", "Speed"]}},
             {"field": {"ref": "both"}, "type": "choices", "choices": {"labels": ["Price"], "other": "Colour"}},
             {"field": {"ref": "free"}, "type": "choice", "choice": {"other": "Music"}},
             {"field": {"id": "x4"}, "type": "boolean", "boolean": False},
             {"field": {}, "type": "text", "text": "of no question"}]},
    ]
}  # fmt: skip


def read(path: Path, source: BinaryIO) -> tuple[Table, files.Rows]:
    kind = files.format_of(files.head_of(source))
    assert kind.read is not None
    return kind.read(path, source)


def rows_of(tmp_path: Path, content: bytes, name: str = "answers.csv") -> tuple[list[str], list[list[str]]]:
    path = tmp_path / name
    path.write_bytes(content)
    with path.open("rb") as source:
        table, rows = read(path, source)
        return [*table.names], [[*row] for row in rows]


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "required"),
        (b"%PDF-1.7", "malformed_encoding"),
        (b"$FL2 and nothing more", "invalid_format"),
        (b'{"data": 7}', "wrong_type"),
        (b'[{"a": 1}, 7]', "wrong_type"),
        (b'[{"a": 1}', "invalid_format"),
        (b'a,b\n1,"x\n2,y\n', "invalid_format"),
        (b"a,b\n1," + b"x" * (files.CELL_CHARACTERS_MAX + 1), "invalid_format"),
        (",".join(f"c{n}" for n in range(files.COLUMNS_MAX + 1)).encode() + b"\n1", "too_many"),
        (b"[" * 100_000, "invalid_format"),
        (b'{"a": ' * 100_000 + b"\n{}", "invalid_format"),
    ],
)
def test_what_cannot_be_read(tmp_path: Path, content: bytes, code: str) -> None:
    with pytest.raises(errors.Refusal) as refused:
        rows_of(tmp_path, content)
    codes = [one.code for one in refused.value.errors] or [refused.value.code]
    assert [code] == codes


def test_json_that_is_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "JSON_BYTES_MAX", 10)
    with pytest.raises(errors.TooLarge, match="at most 10 bytes"):
        rows_of(tmp_path, b'[{"a": 1234}]')


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1253"])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_csv(tmp_path: Path, encoding: str, separator: str) -> None:
    lines = [["Κλειδί", "Λόγος", "Λόγος"], ["1", f'"καλό{separator}φθηνό"', "φίλος"], [], ["2", '"Δύο\n λόγια"', ""]]
    text = "\r\n".join(separator.join(line) for line in lines)
    names, rows = rows_of(tmp_path, text.encode(encoding))
    assert ["Κλειδί", "Λόγος", "Λόγος (2)"] == names
    assert [["1", f"καλό{separator}φθηνό", "φίλος"], ["2", "Δύο\n λόγια", ""]] == rows


def test_columns_of_one_name(tmp_path: Path) -> None:
    """Each is numbered once: to try all numbers for each would take minutes."""
    begun = time.process_time()
    names, _ = rows_of(tmp_path, ",".join(["a", "a (3)", *"a" * (files.COLUMNS_MAX - 2)]).encode() + b"\n1")
    assert ["a", "a (3)", "a (2)", "a (4)"] == names[:4]
    assert files.COLUMNS_MAX == len(set(names))
    assert time.process_time() - begun < 10


def test_objects_in_objects(tmp_path: Path) -> None:
    names, rows = rows_of(tmp_path, b'[{"data": ' + b'{"data": ' * 300 + b'{"a": 1}' + b"}" * 301 + b"]", "a.json")
    assert (["data"], 1) == (names, len(rows))


def test_workbook(tmp_path: Path) -> None:
    book, content = openpyxl.Workbook(), io.BytesIO()
    assert book.active is not None
    for row in (["score", "When"], [9, "2026-05-01"], [None, "2026-05-02"]):
        book.active.append(row)
    book.save(content)
    names, rows = rows_of(tmp_path, content.getvalue(), "answers.xlsx")
    assert (["score", "When"], [["9", "2026-05-01"], ["", "2026-05-02"]]) == (names, rows)


def test_spss(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Labels stand for numbers, in more pieces than one, and the label of a variable beside its name."""
    monkeypatch.setattr(files, "SPSS_ROWS", 2)
    path = tmp_path / "answers.sav"
    frame = pl.DataFrame({"q1": [1.0, 2.0, None], "q2": ["φίλος", "", "λάθος"], "q3": [1.5, 2.0, 3.0]})
    pyreadstat.write_sav(
        frame, path, column_labels=["Why?", "Words", ""], variable_value_labels={"q1": {1: "Price", 2: "Speed"}}
    )
    with path.open("rb") as source:
        table, rows = read(path, source)
        found = [[*row] for row in rows]
    assert {"q1": "Why?", "q2": "Words"} == table.labels
    assert [["Price", "φίλος", "1.5"], ["Speed", "", "2"], ["", "λάθος", "3"]] == found


def test_json_of_formbricks(tmp_path: Path) -> None:
    names, rows = rows_of(tmp_path, json.dumps(FORMBRICKS).encode())
    assert ["id", "createdAt", "finished", "score", "liked", "contact.userId", "contact", "tags"] == names
    assert ["r1", "2026-05-01T10:00:00Z", "true", "9", '["a","b"]', "u7", "", ""] == rows[0]
    assert ["r2", "2026-05-02T10:00:00Z", "false", "3", "", "", "", ""] == rows[1]


def test_json_of_typeform(tmp_path: Path) -> None:
    names, rows = rows_of(tmp_path, json.dumps(TYPEFORM).encode())
    assert ["response_id", "landed_at", "submitted_at", "store", "score", "why", "liked", "both", "free", "x4"] == names
    [row] = rows
    assert ["7", "9", "Price", '["Price","Speed"]', '["Price","Colour"]', "Music", "false"] == row[3:]


def test_json_of_our_api(tmp_path: Path) -> None:
    """A list of responses as the API takes it, whose answers are lists too."""
    answers = [
        {"question_id": "score", "value": 9, "other_text": None},
        {"question_id": "colour", "value": 3, "other_text": "Pink"},
        {"question_id": "parts", "value": {"label": 1, "speed": 2}},
        {"value": 5},
    ]
    row = {"external_id": "7", "person": {"email": "ann@example.com"}, "answers": answers}
    names, rows = rows_of(tmp_path, json.dumps([row], indent=1).encode())
    assert ["external_id", "person.email", "score", "colour", "colour_other", "parts"] == names
    assert [["7", "ann@example.com", "9", "3", "Pink", '{"label":1,"speed":2}']] == [*rows]


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (b'{"external_id": "1", "answers": {}}\n{"external_id": "2"', "json_lines"),
        (b'\xef\xbb\xbf {"external_id": "1", "answers": []}', "json_lines"),
        (json.dumps(TYPEFORM).encode(), "json"),
        (b'{"data": [\n', "json"),
        (b'[{"external_id": "1", "answers": {}}]', "json"),
        (b"a,b\n1,2", "csv"),
        (b"", "csv"),
        (b"PK\x03\x04", "xlsx"),
        (b"$FL2@(#)", "sav"),
    ],
)
def test_format(head: bytes, expected: str) -> None:
    assert expected == files.format_of(head).name


def test_every_format_is_tried() -> None:
    """The first that fits is taken, and the last takes what none of the others does."""
    assert ["sav", "xlsx", "json_lines", "json", "csv"] == [one.name for one in files.FORMATS]
    assert [False, False, False, False, True] == [one.is_of(b"\x00") for one in files.FORMATS]
