"""Files of past responses as the console keeps them: read into pieces, or refused with a sentence."""

import json
import zlib

import pytest

from afterword import errors
from afterword.core.wire import tables
from afterword.listening.imports import uploads


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b" ", "Choose a file."),
        (b"a,b\n", "The file has no rows."),
        (b"%PDF-1.7", "This is neither a CSV"),
        (b"PK\x03\x04 and nothing", "This workbook cannot be read"),
        (b"$FL2 and nothing more", "This SPSS file cannot be read"),
        (b"x\n" * 1_002, "A file may have 1,000 rows"),
        (",".join(f"c{place}" for place in range(tables.COLUMNS_MAX + 1)).encode() + b"\n1\n", "at most 500 columns"),
        (b'{"external_id": "\xff", "answers": {}}\n', "This is not valid JSON"),
    ],
)
def test_refused(monkeypatch: pytest.MonkeyPatch, content: bytes, text: str) -> None:
    monkeypatch.setattr(uploads, "ROWS_MAX", 1_000)
    with pytest.raises(errors.Refusal) as refused:
        uploads.read_file(content)
    assert text in f"{refused.value.detail} {refused.value.errors}"


def test_in_pieces() -> None:
    """A thousand rows each, without NUL, which the database does not take."""
    rows = [f"R-{place},a\x00b" for place in range(uploads.ROWS_A_STATEMENT + 1)]
    kind, table, pieces, count = uploads.read_file("\n".join(["Id,Why?", *rows]).encode())
    assert ("csv", ["Id", "Why?"], 2, len(rows)) == (kind, [*table.names], len(pieces), count)
    assert [[f"R-{count - 1}", "ab"]] == json.loads(zlib.decompress(pieces[1]))


def test_lines_of_json() -> None:
    """Each line is a cell beside its number, also where it has signs that other readers take for its end."""
    line = json.dumps({"external_id": "R\u2028", "answers": {}}, ensure_ascii=False)
    kind, table, [piece], count = uploads.read_file(f"{line}\n\n{line}\n".encode())
    assert ("json_lines", (), 2) == (kind, table.names, count)
    assert [[line, "1"], [line, "3"]] == json.loads(zlib.decompress(piece))
