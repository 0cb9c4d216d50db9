"""Names of columns behind the alias of their table."""

import pytest

from afterword.db.columns import qualified


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ("item_id", "i.item_id"),
        ("item_id, status", "i.item_id, i.status"),
        ("item_id,\n  status,  version", "i.item_id, i.status, i.version"),
    ],
)
def test_qualified(columns: str, expected: str) -> None:
    assert expected == qualified(columns, "i")  # pyright: ignore[reportArgumentType]  a test's own literals
