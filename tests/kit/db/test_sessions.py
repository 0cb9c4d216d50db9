"""Sessions for long work: no timeouts of requests, and a sentence where there is no database."""

from pathlib import Path

import pytest

from afterword import errors
from afterword.kit.db.hosts import open_session


async def test_away(scratch: Path) -> None:
    with pytest.raises(errors.Unavailable, match="cannot be used"):
        async with open_session(f"postgresql://nobody@/none?host={scratch}/absent"):
            raise AssertionError("there is none")


async def test_limits(pool_url: str) -> None:
    async with open_session(pool_url) as session:
        names = ("statement_timeout", "idle_in_transaction_session_timeout", "transaction_timeout", "datestyle")
        assert ["0", "0", "0", "ISO, MDY"] == [await session.fetchval(f"show {name}") for name in names]
