"""Documents in plain words: no retired terms, short sentences, the actor first, links that lead somewhere."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest
from babel.messages.pofile import read_po

ROOT = Path(__file__).parents[1]
RETIRED = (
    "door", "the road", "one road", "same road", "house rule", "into the house", "the desk", "late truth", "wake-up",
    "wakeup", "combiner", "the ear", "the speaker", "wished for", "the slice", "a slice",
)  # fmt: skip
PHRASES = (  # that only we understand; docs/glossary.md and the style of the code have the words
    "for what is none", "no matter", "or its own refusal", "as all of a draft", "that is none", "what is none",
)  # fmt: skip
PHRASES_ON_SCREENS = ("is there.", "has its new place", "take this one", "for its time")
AVERAGE_WORDS_MAX = 20
SENTENCE_WORDS_MAX = 40
FIRST_WORD = re.compile(r"[*\"“(]*(What|Who|Whose|Whom|How|That)\b")
NO_PROSE = re.compile(r"^\s*```.*?^\s*```|<!--.*?-->", re.DOTALL | re.MULTILINE)
ITEM = re.compile(r"\s*(?:[-*]|\d+\.)\s+")
SENTENCE_END = re.compile(r"(?<=[.!?])[\"”*)]*\s+")
SENTENCE_OR_ITEM_END = re.compile(rf"{SENTENCE_END.pattern}|;\s+")
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]*)(?:#([^)\s]+))?\)")


def pages() -> dict[Path, str]:
    """The documents for users and engineers; the changelog and the decisions keep the words of their time."""
    found = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "clients").glob("*/README.md")]
    return {page: page.read_text(encoding="utf-8") for page in found if page.name != "CHANGELOG.md"}


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


class TestPages:
    def test_retired_terms(self) -> None:
        terms = re.compile("|".join(rf"\b{re.escape(term)}s?\b" for term in RETIRED))
        found = {page: terms.findall(" ".join(text.lower().split())) for page, text in pages().items()}
        assert {} == {page: terms for page, terms in found.items() if terms}

    def test_sentences(self) -> None:
        for page, text in pages().items():
            found = sentences(text)
            assert AVERAGE_WORDS_MAX >= sum(map(words, found)) / len(found), page
            assert [] == [one for one in found if words(one) > SENTENCE_WORDS_MAX or FIRST_WORD.match(one)], page


def test_what_a_sentence_is() -> None:
    page = "# Head\n\nOne two. Three\nfour five.\n\n- six seven\n\n| a | b |\n\n```sh\nskipped. code\n```\n\n    code\n"
    assert ["One two.", "Three four five.", "six seven"] == sentences(page)


def anchors(page: Path) -> set[str]:
    heads = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\s-]", "", head.lower()).strip().replace(" ", "-") for head in heads}


def test_links_lead_somewhere() -> None:
    links = [(page, *link) for page, text in pages().items() for link in LINK.findall(NO_PROSE.sub("", text))]
    assert links
    for page, path, anchor in links:
        if "://" not in path:
            target = page.parent / path if path else page
            assert target.exists(), f"{page}: {path}"
            assert not anchor or anchor in anchors(target), f"{page}: {path}#{anchor}"


def prose_of_code(path: Path, terms: re.Pattern[str]) -> Iterator[str]:
    """The docstrings of a module, and its comments where one of the terms is in it: to find them takes long."""
    text = path.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            yield " ".join((ast.get_docstring(node) or "").split())
    if terms.search(text):
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                yield token.string.lstrip("# ")


def test_docstrings_and_comments() -> None:
    terms = re.compile("|".join(rf"\b{re.escape(term)}s?\b" for term in (*RETIRED, *PHRASES)))
    found = [
        f"{path.relative_to(ROOT)}: {text[:80]}"
        for path in sorted((ROOT / "afterword").rglob("*.py"))
        for text in prose_of_code(path, terms)
        if terms.search(text) or any(words(part) > SENTENCE_WORDS_MAX for part in SENTENCE_OR_ITEM_END.split(text))
    ]
    assert [] == found


@pytest.mark.parametrize("name", ["console", "pages", "mail", "notices"])
def test_texts_of_screens(name: str) -> None:
    with (ROOT / f"afterword/locale/el/LC_MESSAGES/{name}.po").open("rb") as file:
        texts = [str(one.id[0] if isinstance(one.id, tuple | list) else one.id) for one in read_po(file) if one.id]
    terms = re.compile("|".join(map(re.escape, PHRASES_ON_SCREENS)), re.IGNORECASE)
    assert [] == [text for text in texts if terms.search(text)]


def test_terms_of_the_glossary_are_unique() -> None:
    terms = re.findall(r"^- \*\*(.+?)\*\*", (ROOT / "docs/glossary.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert len(terms) > 60
    assert len(terms) == len({term.lower() for term in terms})
