"""Files of translations: any text survives the way out and in, and no file can do more than be refused."""

import csv
import io
from typing import Final

import pytest
from hypothesis import given, strategies as st

from afterword import errors
from afterword.core.wire import translation_files as files
from afterword.core.wire.translation_files import Format, Row

BOMB: Final = (
    '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]>'
    '<xliff version="1.2">&b;</xliff>'
)
AWAY: Final = (
    '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>'
    '<xliff version="1.2"><trans-unit id="k"><target>&a;</target></trans-unit></xliff>'
)
UNIT: Final = '<trans-unit id="k"><source>Yes</source>{}</trans-unit>'
TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Cn")) | st.just("\n"), min_size=1).map(
    lambda text: text.replace("\ufffe", "").replace("\uffff", "") or "x"
)


def xliff(inner: str, *, language: str = "el", version: str = "1.2") -> bytes:
    return (
        f'<xliff version="{version}" xmlns="{files.NAMESPACE}"><file target-language="{language}"><body>{inner}</body>'
        "</file></xliff>"
    ).encode()


UTF16: Final = f'<?xml version="1.0" encoding="UTF-16"?>{xliff(UNIT.format("<target>Σωστά</target>")).decode()}'


@pytest.mark.parametrize("file_format", ["csv", "xliff"])
@given(texts=st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=4))
def test_out_and_in(file_format: Format, texts: list[tuple[str, str]]) -> None:
    rows = [Row(f"key/{n}", source, target, "translated") for n, (source, target) in enumerate(texts)]
    content = files.written(rows, file_format=file_format, name="Q", source="en", target="el")
    assert [(row.key, row.source, row.target) for row in rows] == [
        (row.key, row.source, row.target) for row in files.read(content, target="el")
    ]


def test_a_spreadsheet_reads_no_formula() -> None:
    rows = [Row("k", "=1+1", "'-2", "missing"), Row("l", None, None, "missing")]
    content = files.written(rows, file_format="csv", name="Q", source="en", target="el").decode("utf-8-sig")
    assert [["key", "source", "target", "state"], ["k", "'=1+1", "''-2", "missing"], ["l", "", "", "missing"]] == list(
        csv.reader(io.StringIO(content))
    )


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_as_spreadsheets_save_it(separator: str) -> None:
    text = "\ufeff" + separator.join(["key", "target", "note"]) + "\r\n" + separator.join(["k", "Σωστά", "x"]) + "\r\n"
    assert [Row("k", None, "Σωστά")] == files.read(text.encode(), target="el")


@pytest.mark.parametrize("encoding", ["cp1253", "utf-16"])
def test_as_older_spreadsheets_save_it(encoding: str) -> None:
    text = "key;source;target\r\nk;Yes;Σωστά\r\n"
    assert [Row("k", "Yes", "Σωστά")] == files.read(text.encode(encoding), target="el")
    german = "key;source;target\r\nk;Size;Größe der Schachtel\r\n"
    assert [Row("k", "Size", "Größe der Schachtel")] == files.read(german.encode("cp1252"), target="de")


@pytest.mark.parametrize(
    ("inner", "rows"),
    [
        (UNIT.format("<target>Σωστά</target>"), [Row("k", "Yes", "Σωστά")]),
        (UNIT.format("<target>Σω<g id='1'>στ</g>ά</target>"), [Row("k", "Yes", "Σωστά")]),
        (UNIT.format(""), [Row("k", "Yes", None)]),
        (UNIT.format("<alt-trans><target>Όχι</target></alt-trans>"), [Row("k", "Yes", None)]),
        (UNIT.format("<target>&lt;b&gt;&amp;</target>"), [Row("k", "Yes", "<b>&")]),
    ],
)
def test_of_the_tools_of_translators(inner: str, rows: list[Row]) -> None:
    assert rows == files.read(xliff(inner, language="el-GR"), target="el")
    assert rows == files.read(xliff(inner), target=None)


@pytest.mark.parametrize("content", [UTF16, "key,target\nk,Σωστά\n"])
@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf16(content: str, encoding: str) -> None:
    (row,) = files.read(f"\ufeff{content}".encode(encoding), target="el")
    assert ("k", "Σωστά") == (row.key, row.target)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf16_without_its_mark(encoding: str) -> None:
    assert "k" == files.read(UTF16.encode(encoding), target="el")[0].key


@pytest.mark.parametrize(
    ("state", "target", "expected"),
    [
        ("new", "Yes", Row("k", "Yes", None)),
        ("needs-translation", " Yes\n", Row("k", "Yes", None)),  # copied by the tool, and never touched
        ("needs-translation", "Σωστά", Row("k", "Yes", "Σωστά")),  # tools leave the state as it was
        ("new", "Σωστά", Row("k", "Yes", "Σωστά")),
        ("translated", "Yes", Row("k", "Yes", "Yes")),
        ("final", "Σωστά", Row("k", "Yes", "Σωστά")),
        ("signed-off", "Σωστά", Row("k", "Yes", "Σωστά")),
        ("needs-review-translation", "Σωστά", Row("k", "Yes", "Σωστά", "source_changed")),
        ("needs-review-l10n", "Yes", Row("k", "Yes", "Yes", "source_changed")),
        ("needs-adaptation", "Σωστά", Row("k", "Yes", "Σωστά", "source_changed")),
        ("x-own", "Σωστά", Row("k", "Yes", "Σωστά")),
    ],
)
def test_states(state: str, target: str, expected: Row) -> None:
    assert [expected] == files.read(xliff(UNIT.format(f'<target state="{state}">{target}</target>')), target="el")


def test_what_translators_see() -> None:
    rows = [
        Row("a", "Yes", "Σωστά", "translated", "Choice of the question “Again & again?”"),
        Row("b", "No", None, "missing"),
        Row("c", "Perhaps", "Ίσως", "source_changed"),
    ]
    units = files.written(rows, file_format="xliff", name="Q", source="en", target="el").decode().splitlines()[3:6]
    done, review = 'approved="yes"><source>Yes</source><target state="translated">', "needs-review-translation"
    note = "<note>Choice of the question “Again &amp; again?”</note>"
    assert [
        f'<trans-unit id="a" {done}Σωστά</target>{note}</trans-unit>',
        '<trans-unit id="b"><source>No</source><target state="needs-translation"></target></trans-unit>',
        f'<trans-unit id="c"><source>Perhaps</source><target state="{review}">Ίσως</target></trans-unit>',
    ] == units


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"<xliff version='2.0'></xliff>", "This is XLIFF 2.0. Save it as XLIFF 1.2."),
        (b"<xliff version='9'></xliff>", "This is not an XLIFF file."),
        (xliff(UNIT.format("") * 2), "The text k is there twice. Remove one of them."),
        (UTF16.encode("cp1253"), "The file is not UTF-8. Save it as UTF-8, and send it again."),
    ],
)
def test_refusal_says_why(content: bytes, said: str) -> None:
    with pytest.raises((errors.Malformed, errors.Invalid)) as refusal:
        files.read(content, target="el")
    assert said in refusal.value.detail


@pytest.mark.parametrize(
    "content",
    [
        BOMB.encode(),
        AWAY.encode(),
        xliff(UNIT.format(""), language="de"),
        b"<html></html>",
        b"<",
        xliff("<g>" * 40 + "</g>" * 40),
        xliff(UNIT.format("<target>&unknown;</target>")),
        xliff(UNIT.format(f"<target>{'x' * (files.CELL_CHARACTERS_MAX + 1)}</target>")),
        xliff(UNIT.format("") * (files.ROWS_MAX + 1)),
        b"",
        b"key\nx",
        b"a,b\n1,2\n",
        b'key,target\nk,"' + b"x" * 200_000 + b'"\n',
        "key,target\nk,Σωστά\nk,Όχι\n".encode(),
        b"key,target\nk,\xff\n",
    ],
)
def test_refused(content: bytes) -> None:
    with pytest.raises((errors.Malformed, errors.Invalid)):
        files.read(content, target="el")
