"""Files of translations: any text survives the way out and in, and no file can do more than be refused."""

import csv
import io
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

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


@pytest.mark.parametrize(
    "content",
    [
        BOMB.encode(),
        AWAY.encode(),
        b"<xliff version='2.0'></xliff>",
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
        "key,target\nk,Σωστά\n".encode("utf-16"),
        b"key,target\nk,\xff\n",
    ],
)
def test_refused(content: bytes) -> None:
    with pytest.raises((errors.Malformed, errors.Invalid)):
        files.read(content, target="el")


def test_another_language() -> None:
    with pytest.raises(errors.Invalid):
        files.read(xliff(UNIT.format(""), language="de"), target="el")
