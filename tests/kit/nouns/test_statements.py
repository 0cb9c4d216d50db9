"""The statements of all nouns: to read, with the tenant in each, and run."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from afterword.core.wire.lists import Page
from afterword.kit import db
from afterword.kit.nouns import service, structs
from afterword.kit.nouns.declaration import Noun
from afterword.kit.nouns.statements import Statements, statements_of
from tests.conftest import House
from tests.kit.nouns.declared import all_nouns

SNAPSHOT: Final = Path(__file__).with_name("statements.sql")
NAMES: Final = tuple(name for name in Statements.__struct_fields__ if name != "leading")
each_noun = pytest.mark.parametrize("noun", all_nouns(), ids=lambda noun: noun.table)


def test_statements() -> None:
    """Every statement that the kit writes, to read in a difference; REWRITE_SNAPSHOTS=1 writes it anew."""
    parts = [
        f"-- {noun.table}: {name}\n{statement};\n"
        for noun in all_nouns()
        for name in NAMES
        if (statement := getattr(statements_of(noun), name))
    ]
    text = "\n".join(parts)
    if os.environ.get("REWRITE_SNAPSHOTS") == "1":
        SNAPSHOT.write_text(text, encoding="utf-8")
    assert SNAPSHOT.read_text(encoding="utf-8") == text, "the statements changed; see the head of this test"


@each_noun
def test_each_statement_names_the_tenant(noun: Noun[Any]) -> None:
    found = statements_of(noun)
    for name in NAMES:
        named = "(organization_id, " if name == "insert" else "t.organization_id = $1"
        assert named in (getattr(found, name) or named), name


@each_noun
async def test_rows_of_others_stay(noun: Noun[Any], pool: db.Pool, house: House) -> None:
    """Each statement runs, and for what is absent or another's it finds and changes nothing."""
    key, found = 999 if noun.has_number else "0" * 22, statements_of(noun)
    caller = replace(house.caller, organization_id="o" * 22)  # another, which has nothing
    async with db.transaction(pool) as database:
        now = database.clock.now()
        assert await service.find(noun, database, **caller.reach, key=key) is None
        assert await service.find(noun, database, **caller.reach, key=key, is_locked=True) is None
        for name, parent_id in (("list", None), ("list_of", "0" * 22)):
            if getattr(found, name) and "list" in noun.operations:
                page = Page.first(structs.listing_of(noun))
                rows = await service.rows(noun, database, **caller.reach, parent_id=parent_id, page=page)
                assert [] == list(rows.items)
        if found.count:
            assert 0 == await database.fetch_value(found.count, caller.organization_id)
        if found.update:
            values = (caller.organization_id, key, {}, *(now, caller.actor_id)[: noun.stamps_later])
            assert await database.fetch_row(found.update, *values) is None
        if found.delete:
            assert 0 == await database.execute(found.delete, caller.organization_id, key)
