"""The page about questionnaire files agrees with the file format."""

import re
from pathlib import Path

import pytest

from afterword.asking.questionnaires import files, service
from afterword.core.questionnaires.question_types import TYPES

PAGE = Path(__file__).parents[3].joinpath("docs/questionnaires.md").read_text(encoding="utf-8")
QUESTIONS = [block for block in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL) if block.startswith("- ")]
HEAD = "display_name: Example\ndefault_locale: en\nlocales: [en, el]\ngroups:\n  - key: first\n    questions:\n"


@pytest.mark.parametrize("block", QUESTIONS)
def test_examples(block: str) -> None:
    text = HEAD + "".join(f"      {line}\n" for line in block.splitlines())
    file = files.read(text, give_id=service.giver("Q" * 22, None))
    assert len(re.findall(r"^- ", block, re.MULTILINE)) == len(file.definition.questions())


@pytest.mark.parametrize("name", TYPES)
def test_every_type_is_listed(name: str) -> None:
    row = next(line for line in PAGE.splitlines() if line.startswith(f"| `{name}` |"))
    for field in TYPES[name].fields:
        assert f"`{field}`" in row


def test_endings() -> None:
    block = next(each for each in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL) if each.startswith("endings:"))
    question = "      - {key: delivery_csat, type: csat, title: How satisfied are you?}\n"
    file = files.read(HEAD + question + block, give_id=service.giver("Q" * 22, None))
    assert ["We are glad", None] == [one.title for one in file.definition.endings]
