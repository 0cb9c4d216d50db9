"""One repair for all rows with the same problem: what it changes, and that it leaves the rest as it was."""

import pytest

from afterword import errors
from afterword.core.wire import imports, tables
from afterword.core.wire.imports import Repair

TEXT = 'Phone,Note\n2101234567,1\nx,"a\nb"\n\n"1"x,2\n 2101234567 ,3\n+44 20 7946 0958,4\n12\n'


@pytest.mark.parametrize(
    ("repair", "expected", "count"),
    [
        (Repair(country="GR"), ["+302101234567", "x", "+302101234567", "+44 20 7946 0958"], 2),
        (Repair(every="y"), ["y", "y", "y", "y"], 4),
        (Repair({"x": "y", "2101234567": "z"}, country="GR"), ["z", "y", "z", "+44 20 7946 0958"], 3),
        (Repair({"a": "b"}, country="DE"), ["+492101234567", "x", "+492101234567", "+44 20 7946 0958"], 2),
        (Repair({"other": "y"}), ["2101234567", "x", " 2101234567 ", "+44 20 7946 0958"], 0),
    ],
)
def test_repaired(repair: Repair, expected: list[str], count: int) -> None:
    """The broken row and the short one are the same ones as before: nothing makes them whole."""
    text, found = imports.repaired_alike(TEXT, ",", column="Phone", numbers={1, 2, 3, 4, 5}, repair=repair)
    _, records = tables.read(text, ",")
    rows = [record.cells for record in records]
    whole = [cells for cells in rows if not isinstance(cells, tables.Fault)]
    assert count == found
    assert isinstance(rows[2], tables.Fault)
    assert len(rows) - 1 == len(whole)
    assert [*expected, "12"] == [cells[0] for cells in whole]
    assert [["1"], ["a\nb"], ["3"], ["4"], []] == [cells[1:] for cells in whole]


def test_other_rows_stay() -> None:
    text, count = imports.repaired_alike(TEXT, ",", column="Phone", numbers={2}, repair=Repair(every="y"))
    assert 1 == count
    assert 'Phone,Note\n2101234567,1\ny,"a\nb"\n"1"x,2\n 2101234567 ,3\n+44 20 7946 0958,4\n12\n' == text


def test_wrong_values() -> None:
    found = imports.wrong_values(TEXT, ",", column="Phone", numbers={1, 2, 3, 4})
    assert {"2101234567": 2, "x": 1} == dict(found)


def test_too_long() -> None:
    """A row that is kept only in part is not written back as if it were whole."""
    text = f'Phone,Note\n1,"{"é" * tables.RECORD_BYTES_MAX}"\n2,3\n'
    with pytest.raises(errors.Invalid) as caught:
        imports.repaired_alike(text, ",", column="Phone", numbers={2}, repair=Repair(every="4"))
    assert "Row 1 is too long" in caught.value.errors[0].message
