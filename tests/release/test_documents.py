"""`llms.txt`: every page of the navigation once, with its first sentences and its text."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from release import documents

ROOT = Path(__file__).parents[2]
ENTRY = re.compile(r"^- \[(.+?)\]\((\S+?)\): (.+)$", re.MULTILINE)


def test_every_page_stands_in_the_list(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "release.documents", str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    listed = (tmp_path / "llms.txt").read_text(encoding="utf-8")
    entries = ENTRY.findall(listed)
    pages = sorted(path.name for path in (ROOT / "docs").glob("*.md"))
    assert pages == sorted(page for _, page, _ in entries)
    assert f"llms.txt names {len(pages)} pages.\n" == ended.stdout
    assert listed.startswith("# Afterword\n\n> Customer-satisfaction questionnaires")
    assert "\n## Integrate\n\n- [A shop](integrate.md): For the developer of a shop's system. The shop needs" in listed
    for _, page, words in entries:
        assert words[-1] in ".!?", page
        assert (ROOT / "docs" / page).read_bytes() == (tmp_path / page).read_bytes()


def test_the_first_page_leads_to_every_other() -> None:
    linked = re.findall(r"\]\(([\w-]+\.md)\)", (ROOT / "docs" / "index.md").read_text(encoding="utf-8"))
    assert {path.name for path in (ROOT / "docs").glob("*.md")} - {"index.md"} == {*linked}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("# Head\n\nFor operators. More. Yet more.\n", "For operators. More."),
        ("# Head\n\n<!-- made -->\n\nSee [the\nAPI](api.md) first.\n\nMore.\n", "See the API first."),
        ("# Head\n\nNo end", "No end"),
    ],
)
def test_words(text: str, words: str) -> None:
    assert words == documents.words_of(text)
