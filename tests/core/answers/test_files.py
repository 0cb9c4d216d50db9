"""Files that answer a question: the kind by the content alone, safe names, and the answer that lists them."""

import io
import struct
import zipfile
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, strategies as st

from afterword.core.answers import files, values
from afterword.core.answers.files import NewFile, RefusedFile
from afterword.core.answers.values import Given, InvalidAnswer
from tests.core.answers.questions import question

PDF = b"%PDF-1.7\n1 0 obj\n%%EOF\n"
WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
ODS = "application/vnd.oasis.opendocument.spreadsheet"
ENTRY: dict[str, int | str] = {"file_id": "F1", "name": "a.pdf", "type": "application/pdf", "bytes": 9}


def archive(parts: Mapping[str, str], *, method: int = zipfile.ZIP_STORED) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", method) as made:
        for name, text in parts.items():
            made.writestr(name, text)
    return content.getvalue()


def long_directory(content: bytes, end: bytes) -> bytes:
    """An archive whose directory is longer than allowed, ended by a record that begins with `end`."""
    size, start = struct.unpack("<LL", content[-10:-2])
    directory = content[start : start + size] * (files.DIRECTORY_BYTES_MAX // size + 1)
    return content[:start] + directory + end + struct.pack("<HHLLH", 1, 1, len(directory), 1, 0)


DOCX = archive({"[Content_Types].xml": "<a/>", "word/document.xml": "<a/>"}, method=zipfile.ZIP_DEFLATED)


@pytest.mark.parametrize(
    ("content", "family"),
    [
        (b"", ("text", "text/plain")),  # an empty one is refused before
        (b"MZ\x90\x00", None),
        (b"\x7fELF\x02", None),
        (b"%PDF-1.7 and no end", None),
        (b"<!doctype html><script>alert(1)</script>", None),
        (b" \n<svg xmlns='x'/>", None),
        (b"\xef\xbb\xbf<?xml version='1.0'?>", None),
        (b"#!/bin/sh\nrm -r .", None),
        (b"{\\rtf1 }", None),
        ("Größe".encode("latin-1"), None),
        (archive({"a.exe": "MZ"}), None),
        (archive({"[Content_Types].xml": "<a/>", "word/document.xml": "", "word/vbaProject.bin": ""}), None),
        (archive({"mimetype": ODS, "Basic/Standard/a.xml": ""}), None),
        (archive({"mimetype": "application/java-archive"}), None),
        (long_directory(DOCX, b"PK\x05\x06\0\0\0\0"), None),
        (long_directory(DOCX, b"PK\x05\x06PK\x05\x06"), None),  # hides its length from who looks for the last mark
        (archive({"mimetype": ODS}, method=zipfile.ZIP_DEFLATED), None),
        (b"PK\x03\x04" + b"x" * 50, None),
        (DOCX[:-30], None),
        (DOCX.replace(b"PK\x01\x02", b"PK\x01\x03"), None),
        (b"\xff\xd8\xff\xe0", ("picture", "")),
        (b"RIFF\x00\x00\x00\x00WEBP", ("picture", "")),
        (PDF, ("pdf", "application/pdf")),
        (DOCX, ("document", WORD)),
        (archive({"mimetype": ODS, "content.xml": "<a/>"}), ("spreadsheet", ODS)),
        ("name;größe\r\n=1+1;2".encode(), ("text", "text/plain")),
    ],
)
def test_family(content: bytes, family: tuple[str, str] | None) -> None:
    assert family == files.family_of(content)


@given(st.binary(max_size=60), st.sampled_from([b"", b"PK\x03\x04", b"%PDF-", b"RIFF"]))
def test_any_bytes_have_a_known_family_or_none(content: bytes, begin: bytes) -> None:
    family, media_type = files.family_of(begin + content) or ("text", "text/plain")
    assert family in files.ENDINGS
    assert not media_type or media_type in files.EXTENSIONS


@pytest.mark.parametrize(
    ("given_name", "name"),
    [
        ("../../etc/passwd", "passwd.pdf"),
        ("C:\\temp\\Rechnung März.PDF", "Rechnung März.pdf"),
        ("invoice.pdf.exe", "invoice.pdf.pdf"),
        ("gpj\u202eexe.\x00pdf", "gpjexe.pdf"),
        ("<b>\"';.html", "<b>\"';.pdf"),
        (".htaccess", "htaccess.pdf"),
        ("", "file.pdf"),
        ("x" * 300, "x" * 96 + ".pdf"),
    ],
)
def test_name(given_name: str, name: str) -> None:
    assert name == files.name_of(given_name, "application/pdf")


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ("a.pdf", "wrong_type"),
        ([], "too_few"),
        (["a.pdf"], "wrong_type"),
        ([{**ENTRY, "more": 1}], "wrong_type"),
        ([{**ENTRY, "bytes": True}], "wrong_type"),
        ([{**ENTRY, "type": "text/html"}], "unknown_value"),
        ([{**ENTRY, "bytes": 0}], "unknown_value"),
        ([ENTRY, ENTRY], "duplicate"),
        ([{**ENTRY, "file_id": str(one)} for one in range(3)], "too_many"),
    ],
)
def test_refused(value: Any, code: str) -> None:
    with pytest.raises(InvalidAnswer) as refusal:
        values.check(question("file"), value)
    assert code == refusal.value.code


def test_kept_removed_and_added() -> None:
    asked, stored = question("file"), Given([ENTRY])
    new = NewFile(file_id="F2", name="b.pdf", media_type="application/pdf", content=b"12", content_hash=b"")
    added = values.read_files(asked, {}, stored=stored, received=[new, RefusedFile("c.exe", "wrong_kind")])
    assert Given([ENTRY, {**ENTRY, "file_id": "F2", "name": "b.pdf", "bytes": 2}]) == added
    assert Given([ENTRY]) == values.read_files(asked, {"q_Q_remove": ["F9"]}, stored=stored, received=())
    assert values.read_files(asked, {"q_Q_remove": ["F1"]}, stored=stored, received=()) is None
    assert "a.pdf" == values.label(asked, [ENTRY], "en")
