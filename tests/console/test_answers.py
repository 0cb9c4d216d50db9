"""Answers in words: choices by their labels, in the language of the response, and nothing for who may not read them."""

from dataclasses import replace

from afterword.console.answers import answers_of
from afterword.console.screens import DOMAIN
from afterword.kit import db
from afterword.kit.texts import texts
from tests.listening.reports.conftest import (
    CHOICE,
    CONSENT,
    MANY,
    MATRIX,
    NPS,
    ROW,
    TEXT,
    House,
    house as house,  # noqa: PLC0414  a fixture
)

WORDS = texts(DOMAIN, "en")


async def test_in_words(house: House) -> None:
    async with db.connection(house.pool) as database:
        now = database.clock.now()
    given = {NPS: 3, CHOICE: 2, MANY: [1, 3], MATRIX: {ROW: 1}, TEXT: "Late again.", CONSENT: True}
    instance = await house.respond(given, now=now)
    async with db.connection(house.pool) as database:
        shown = await answers_of(database, caller=house.caller, instance_id=instance.instance_id, words=WORDS)
        reporting = replace(house.caller, scopes=frozenset({"Alert Instance.Read"}))
        assert await answers_of(database, caller=reporting, instance_id=instance.instance_id, words=WORDS) is None
        assert await answers_of(database, caller=house.caller, instance_id="0" * 22, words=WORDS) is None
    assert shown is not None
    assert [
        ("How likely?", "3", False),
        ("Which?", "Choice 2", False),
        ("Which all?", "Choice 1, Choice 3", False),
        ("Each", "Food: Choice 1", False),
        ("Why?", "Late again.", True),
        ("May we?", "Yes", False),
    ] == [(one.title, one.text, one.is_comment) for one in shown.answers]
