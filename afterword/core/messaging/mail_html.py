"""The text of an HTML mail, line by line, with marks where a mail program quotes.

A tag ends at the next `>`, so time grows with the length alone. That of `html.parser` grows with its square for tags
and comments that nobody closes.
"""

import re
from html import unescape
from typing import Final

BEGUN: Final = "\x00"  # alone on a line: quoted text without marks follows
CITED: Final = "\x00>"
NESTED_MAX: Final = 200

_NAME: Final = re.compile(r"/?([a-z][a-z0-9]{0,20})", re.IGNORECASE)
_SPACE: Final = re.compile(r"[ \t\r\n\f]+")
_UNSEEN: Final = re.compile(
    r"<!--.*?(?:-->|\Z)|<(style|script|title)\b.*?(?:</\1[^<>]*>?|\Z)", re.IGNORECASE | re.DOTALL
)
_PRE: Final = re.compile(r"<pre\b.*?(?:</pre|\Z)", re.IGNORECASE | re.DOTALL)
_BLOCKS: Final = frozenset({
    "address", "article", "blockquote", "body", "br", "center", "dd", "div", "dl", "dt", "footer", "form", "h1", "h2",
    "h3", "h4", "h5", "h6", "header", "hr", "li", "main", "ol", "p", "pre", "section", "table", "tr", "ul",
})  # fmt: skip
_NESTED: Final = frozenset({"blockquote", "div"})
_QUOTES: Final = re.compile(
    r"\b(?:type|cite)\s*=|\bclass\s*=\s*[\"']?[^\"'>]*quote|border-left[a-z-]*\s*:(?!\s*(?:none|0))", re.IGNORECASE
)
_INTRODUCES: Final = re.compile(r"\bgmail_attr\b|\bmoz-cite-prefix\b|\bname\s*=\s*[\"']?quote\b", re.IGNORECASE)
_BEGINS: Final = re.compile(
    r"divRplyFwdMsg|appendonsend|OLK_SRC_BODY_SECTION|mail-editor-reference-message|\byahoo_quoted\b"
    r"|border:\s*none;\s*border-top:\s*solid #(?:E1E1E1|B5C4DF)",
    re.IGNORECASE,
)


def text_of(source: str) -> str:
    page = _Page()
    first, *pieces = _PRE.sub(lambda found: found[0].replace("\n", "<br>"), _UNSEEN.sub("", source)).split("<")
    page.line.append(unescape(first))
    for piece in pieces:
        tag, closes, text = piece.partition(">")
        while tag.count('"') % 2 and ">" in text:  # in the value of an attribute
            more, _, text = text.partition(">")
            tag = f"{tag}>{more}"
        found = _NAME.match(tag)
        if found and closes:
            page.tag(found[1].lower(), tag)
        elif not closes or tag[:1] not in {"!", "?", "/"}:
            text = f"<{piece}"
        page.line.append(unescape(text))
    page.end_line()
    return "\n".join(page.lines).strip("\n")


class _Page:
    def __init__(self) -> None:
        self.lines: list[str] = []
        self.line: list[str] = []
        self._open: list[tuple[str, str]] = [("", "")]  # names of tags, each with the mark of the lines in it

    def end_line(self, *, is_blank: bool = False) -> None:
        """End the line, if it has words; `is_blank`: also if it has none, unless one is there."""
        line, mark = _SPACE.sub(" ", "".join(self.line)).replace("\xa0", " ").strip(), self._open[-1][1]
        self.line.clear()
        if line or (is_blank and self.lines and self.lines[-1] != mark):
            self.lines.append(mark + line)

    def tag(self, name: str, tag: str) -> None:
        if name in _BLOCKS:
            self.end_line(is_blank=name == "br" or "\xa0" in self.line)
            if name == "p" and tag[0] != "/" and "MsoNormal" not in tag:
                self.end_line(is_blank=True)
        elif name in {"td", "th"} and tag[0] != "/":
            self.line.append(" ")
        if name in _NESTED:
            self._nest(name, tag)
        if tag[0] != "/" and _BEGINS.search(tag):
            self.end_line()
            self.lines.append(BEGUN)

    def _nest(self, name: str, tag: str) -> None:
        if tag[0] == "/":
            if any(name == one for one, _ in self._open):
                while self._open.pop()[0] != name:
                    pass
        elif len(self._open) < NESTED_MAX:
            is_cited = (_QUOTES if name == "blockquote" else _INTRODUCES).search(tag) is not None
            self._open.append((name, CITED if is_cited else self._open[-1][1]))
