"""The operations of all nouns: their limits."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import pytest
from msgspec.structs import replace

from afterword import errors
from afterword.kit import db
from afterword.kit.nouns import service
from afterword.kit.nouns.declaration import Change, Noun
from afterword.kit.nouns.service import is_of_all
from tests.conftest import SITE, House
from tests.kit.nouns.declared import all_nouns

each_created = pytest.mark.parametrize(
    "noun", [one for one in all_nouns() if "create" in one.operations], ids=lambda noun: noun.table
)


async def nothing(_change: Change[Any]) -> None: ...


@pytest.mark.parametrize("noun", [one for one in all_nouns() if one.most is not None], ids=lambda noun: noun.table)
async def test_too_many(noun: Noun[Any], pool: db.Pool, house: House) -> None:
    columns: Mapping[str, Any] = {}
    full = replace(noun, most=0, check=nothing)
    async with db.transaction(pool) as database:
        now = database.clock.now()
        with pytest.raises(errors.Invalid, match=f"at most 0 {noun.many}") as refusal:
            await service.create(full, database, caller=house.caller, columns=columns, site=SITE, now=now)
    assert [("", "too_many")] == [(one.pointer, one.code) for one in refusal.value.errors]


@pytest.mark.parametrize(
    ("reached", "application_id", "is_refused"),
    [((), None, False), ((), "a", False), (("a",), "a", False), (("a",), None, True)],
)
def test_of_the_whole_organization(
    house: House, reached: tuple[str, ...], application_id: str | None, is_refused: Any
) -> None:
    caller = dataclasses.replace(house.caller, application_ids=reached)
    assert is_refused == (is_of_all(caller, application_id) is not None)
