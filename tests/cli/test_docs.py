"""The commands that the documents name are there."""

import re
from pathlib import Path

from afterword import __main__

ROOT = Path(__file__).parents[2]
CODE = re.compile(r"^```.*?^```|^    .*?$|`[^`]+`", re.DOTALL | re.MULTILINE)
COMMAND = re.compile(r"(?<![\w/.@:-])(?<!role )afterword ([a-z]+)(?: ([a-z]+))?(?![\w/.@])")
GROUPS = {
    "account",
    "erasure",
    "inbound",
    "organization",
    "plan",
    "questionnaire",
    "queue",
    "sender",
    "suppression",
    "token",
}


def test_commands() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    codes = [code for page in pages for code in CODE.findall(page.read_text(encoding="utf-8"))]
    found = {command for code in codes for command in COMMAND.findall(code)}
    assert len(found) > 30
    assert set() == {name for name, _ in found if name not in __main__.app}
    parts = {(name, part) for name, part in found if name in GROUPS and part}
    assert set() == {(name, part) for name, part in parts if part not in __main__.app[name]}
