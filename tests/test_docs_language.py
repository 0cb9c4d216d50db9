"""Documents in plain words: no retired terms, short sentences, the actor first."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
RETIRED = (
    "door", "the road", "one road", "same road", "house rule", "into the house", "the desk", "late truth", "wake-up",
    "wakeup", "combiner", "the ear", "the speaker", "wished for", "the slice", "a slice",
)  # fmt: skip
PLAIN = (
    "README.md", "CONTRIBUTING.md", "SECURITY.md", "ARCHITECTURE.md", "docs/index.md", "docs/glossary.md",
    "docs/sending.md", "docs/operating.md", "docs/rules.md", "docs/webhooks.md",
)  # fmt: skip
AVERAGE_WORDS_MAX = 22
SENTENCE_WORDS_MAX = 40
FIRST_WORD = re.compile(r"[*\"“(]*(What|Who|Whose|Whom|How|That)\b")
NO_PROSE = re.compile(r"^\s*```.*?^\s*```|<!--.*?-->", re.DOTALL | re.MULTILINE)
ITEM = re.compile(r"\s*(?:[-*]|\d+\.)\s+")
SENTENCE_END = re.compile(r"(?<=[.!?])[\"”*)]*\s+")


def pages() -> Iterator[Path]:
    """All documents but those that tell of former times, and the specification, which is not ours to word."""
    yield from sorted(ROOT.glob("*.md"))
    yield from sorted((ROOT / "docs").glob("*.md"))
    yield from sorted((ROOT / "clients").glob("*/README.md"))


def paragraphs(text: str) -> Iterator[str]:
    """The prose of a page: paragraphs and list items, without code, tables and headings."""
    lines: list[str] = []
    for line in [*NO_PROSE.sub("\n", text).splitlines(), ""]:
        item = ITEM.match(line)
        is_prose = (
            bool(line.strip()) and not line.startswith(("#", "|")) and (bool(lines) or not line.startswith("    "))
        )
        if (item or not is_prose) and lines:
            yield " ".join(lines)
            lines = []
        if is_prose:
            lines.append(line[item.end() :] if item else line.strip())


def sentences(text: str) -> list[str]:
    return [part for paragraph in paragraphs(text) for part in SENTENCE_END.split(paragraph) if words(part)]


def words(sentence: str) -> int:
    return sum(1 for word in sentence.split() if re.search(r"\w", word))


@pytest.mark.parametrize("page", [page for page in pages() if page.name != "CHANGELOG.md"], ids=lambda page: page.name)
def test_retired_terms(page: Path) -> None:
    text = " ".join(page.read_text(encoding="utf-8").lower().split())
    assert [] == [term for term in RETIRED if re.search(rf"\b{re.escape(term)}s?\b", text)]


@pytest.mark.parametrize("name", PLAIN)
class TestPlainPages:
    def test_length(self, name: str) -> None:
        found = sentences((ROOT / name).read_text(encoding="utf-8"))
        assert len(found) > 5
        assert AVERAGE_WORDS_MAX >= sum(map(words, found)) / len(found)
        assert [] == [sentence for sentence in found if words(sentence) > SENTENCE_WORDS_MAX]

    def test_first_word(self, name: str) -> None:
        found = sentences((ROOT / name).read_text(encoding="utf-8"))
        assert [] == [sentence for sentence in found if FIRST_WORD.match(sentence)]


def test_what_a_sentence_is() -> None:
    page = "# Head\n\nOne two. Three\nfour five.\n\n- six seven\n\n| a | b |\n\n```sh\nskipped. code\n```\n\n    code\n"
    assert ["One two.", "Three four five.", "six seven"] == sentences(page)
