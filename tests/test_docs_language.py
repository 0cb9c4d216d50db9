"""Documents in plain words: no retired terms, short sentences, the actor first, links that lead somewhere."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
RETIRED = (
    "door", "the road", "one road", "same road", "house rule", "into the house", "the desk", "late truth", "wake-up",
    "wakeup", "combiner", "the ear", "the speaker", "wished for", "the slice", "a slice",
)  # fmt: skip
AVERAGE_WORDS_MAX = 20
SENTENCE_WORDS_MAX = 40
FIRST_WORD = re.compile(r"[*\"“(]*(What|Who|Whose|Whom|How|That)\b")
NO_PROSE = re.compile(r"^\s*```.*?^\s*```|<!--.*?-->", re.DOTALL | re.MULTILINE)
ITEM = re.compile(r"\s*(?:[-*]|\d+\.)\s+")
SENTENCE_END = re.compile(r"(?<=[.!?])[\"”*)]*\s+")
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]*)(?:#([^)\s]+))?\)")


def pages() -> Iterator[Path]:
    """The documents for users and engineers; the changelog and the decisions keep the words of their time."""
    yield from sorted(page for page in ROOT.glob("*.md") if page.name != "CHANGELOG.md")
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


@pytest.mark.parametrize("page", list(pages()), ids=lambda page: str(page.relative_to(ROOT)))
class TestPages:
    def test_retired_terms(self, page: Path) -> None:
        text = " ".join(page.read_text(encoding="utf-8").lower().split())
        assert [] == [term for term in RETIRED if re.search(rf"\b{re.escape(term)}s?\b", text)]

    def test_length(self, page: Path) -> None:
        found = sentences(page.read_text(encoding="utf-8"))
        assert found
        assert AVERAGE_WORDS_MAX >= sum(map(words, found)) / len(found)
        assert [] == [sentence for sentence in found if words(sentence) > SENTENCE_WORDS_MAX]

    def test_first_word(self, page: Path) -> None:
        found = sentences(page.read_text(encoding="utf-8"))
        assert [] == [sentence for sentence in found if FIRST_WORD.match(sentence)]


def test_what_a_sentence_is() -> None:
    page = "# Head\n\nOne two. Three\nfour five.\n\n- six seven\n\n| a | b |\n\n```sh\nskipped. code\n```\n\n    code\n"
    assert ["One two.", "Three four five.", "six seven"] == sentences(page)


def anchors(page: Path) -> set[str]:
    heads = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\s-]", "", head.lower()).strip().replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", list(pages()), ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for path, anchor in LINK.findall(NO_PROSE.sub("", page.read_text(encoding="utf-8"))):
        if "://" not in path:
            target = page.parent / path if path else page
            assert target.exists(), path
            assert not anchor or anchor in anchors(target), f"{path}#{anchor}"


def test_terms_of_the_glossary_are_unique() -> None:
    terms = re.findall(r"^- \*\*(.+?)\*\*", (ROOT / "docs/glossary.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert len(terms) > 60
    assert len(terms) == len({term.lower() for term in terms})
