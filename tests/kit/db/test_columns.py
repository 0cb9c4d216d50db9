"""Names of columns, as a record has them and behind the alias of their table."""

import msgspec
import pytest

from afterword.kit.db.columns import columns_of, qualified


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ("item_id", "i.item_id"),
        ("item_id, status", "i.item_id, i.status"),
        ("item_id,\n  status,  version", "i.item_id, i.status, i.version"),
    ],
)
def test_qualified(columns: str, expected: str) -> None:
    assert expected == qualified(columns, "i")  # pyrefly: ignore[bad-argument-type]  a test's own literals


def test_columns_of() -> None:
    record = msgspec.defstruct("Record", [("item_id", str), ("status", int), ("result", str)])
    assert "item_id, status" == columns_of(record, without=("result",))
