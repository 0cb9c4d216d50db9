"""Texts, variables and headers in docs/messages.md are those of the code."""

import json
import re
from pathlib import Path

from afterword.core.questionnaires import metadata
from afterword.core.text import placeholders
from afterword.kit.transport import mime
from tests.sending.messages.test_email import (
    Pipeline,
    compose,
    fresh_cache as fresh_cache,  # noqa: PLC0414  a fixture
)

PAGE = Path(__file__).parents[3].joinpath("docs/messages.md").read_text(encoding="utf-8")


def test_the_example_can_be_saved_and_filled() -> None:
    [block] = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    texts = json.loads(block)
    declared = {f"{kind}.{name}" for kind in metadata.KINDS for name in getattr(metadata.GLOBAL, kind)}
    for text in (texts["message_subject"], texts["message_body"], *texts["messages"]["el"].values()):
        assert [] == placeholders.check(text, declared=declared)
    pipeline = Pipeline(message_subject=texts["message_subject"], message_body=texts["message_body"])
    assert "Ann, how was it?" == compose(pipeline=pipeline, responder={"first_name": "Ann"}).subject
    assert "Hello, how was it?" == compose(pipeline=pipeline).subject


def test_every_variable_stands_there() -> None:
    table = PAGE.partition("### Variables")[2].partition("### Languages")[0]
    rows = set(re.findall(r"^\| `([a-zA-Z_.]+)` \|", table, re.MULTILINE))
    assert {*placeholders.VARIABLES, *placeholders.ITEM_VARIABLES, "responder.NAME", "questionnaire.NAME"} == rows


def test_every_header_stands_there() -> None:
    head = mime.build(compose()).partition(b"\r\n\r\n")[0].decode()
    names = [line.partition(":")[0] for line in head.split("\r\n") if not line.startswith(" ")]
    usual = {"From", "To", "Subject", "MIME-Version", "Content-Type"}
    assert set() == {name for name in names if f"`{name}" not in PAGE} - usual


def test_the_limits_stand_there() -> None:
    for limit in (
        f"{placeholders.SUBJECT_CHARACTERS_MAX} characters a subject",
        f"{placeholders.TEXT_CHARACTERS_MAX:,} a body",
        f"{placeholders.PLACEHOLDERS_MAX} variables a text",
        f"{placeholders.VALUE_CHARACTERS_MAX:,} characters a value",
    ):
        assert limit in " ".join(PAGE.split())
