import re
import shlex
from pathlib import Path

from cyclopts.exceptions import MissingArgumentError

from afterword import __main__

ROOT = Path(__file__).parents[3]
CODE = re.compile(r"^```.*?^```|^    .*?$|`[^`]+`", re.DOTALL | re.MULTILINE)
COMMAND = re.compile(r"(?<![\w/.@:-])(?<!role )afterword ([a-z]+)(?: ([a-z]+))?(?![\w/.@])")
LINE = re.compile(r"(?<![\w/@:-])(?<!role )afterword ([a-z][^`\n]*)")
PLACE = re.compile(r"<[a-z ]+>")  # of a name that the reader has
ENDS = {">", "|", "<", ";", "&&"}
GROUPS = {
    "account",
    "database",
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
    assert set() == {name for name, _ in found if name not in __main__.parser()}
    parts = {(name, part) for name, part in found if name in GROUPS and part}
    assert set() == {(name, part) for name, part in parts if part not in __main__.parser()[name]}


def test_options() -> None:
    """Commands are given as they stand in code, each with its options; a mention may leave out what it is about."""
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    codes = [code for page in pages for code in CODE.findall(page.read_text(encoding="utf-8"))]
    lines = {line for code in codes for line in LINE.findall(code.replace("\\\n", " "))}
    assert len(lines) > 60
    for line in lines:
        words = shlex.split(PLACE.sub("NAME", line).replace(')"', ""), comments=True)
        command = words[: next((at for at, word in enumerate(words) if word in ENDS), len(words))]
        try:
            __main__.parser().parse_args(command, exit_on_error=False, print_error=False)
        except MissingArgumentError:
            assert not any(word.startswith("--") for word in command), line
