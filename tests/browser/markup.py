"""Parses a page of ours: its fields, its texts, its skeleton."""

from dataclasses import dataclass, field
from html.parser import HTMLParser


@dataclass
class Page:
    """`skeleton` is every tag with the names of its attributes; `fields` are the hidden ones."""

    skeleton: list[tuple[str, tuple[str, ...]]] = field(default_factory=list[tuple[str, tuple[str, ...]]])
    fields: dict[str, str] = field(default_factory=dict[str, str])
    links: list[str] = field(default_factory=list[str])
    text: str = ""
    data: dict[str, str] = field(default_factory=dict[str, str])


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.page = Page()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.page.skeleton.append((tag, tuple(sorted(values))))
        if values.get("type") == "hidden":
            self.page.fields[values["name"]] = values["value"]
        if tag == "form":
            self.page.data = values
        self.page.links += [values[name] for name in ("href", "src", "action") if name in values]

    def handle_data(self, data: str) -> None:
        self.page.text += data.replace("\u2068", "").replace("\u2069", "")


def read(document: str) -> Page:
    """The page that this document is."""
    reader = _Reader()
    reader.feed(document)
    reader.close()
    return reader.page
