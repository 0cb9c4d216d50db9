"""`llms.txt` of the site of documents: its pages by section, and their texts as Markdown beside the pages.

The list is made from the navigation in `zensical.toml`; each page is described by the first two sentences of its text.
The form is that of https://llmstxt.org.
"""

import re
import shutil
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[1]
SENTENCES: Final = re.compile(r"(.+?[.!?](?:\s.+?[.!?])?)(?:\s|$)", re.DOTALL)
LINK: Final = re.compile(r"\[([^\]]*)\]\([^)]*\)")


def write(site: Path, *, root: Path = ROOT) -> list[str]:
    """Write `llms.txt` and the texts that it names into `site`; returns the names of the pages."""
    project = tomllib.loads((root / "zensical.toml").read_text(encoding="utf-8"))["project"]
    docs = root / project["docs_dir"]
    lines = [f"# {project['site_name']}", "", f"> {project['site_description']}"]
    pages: list[str] = []
    for section, entries in _sections(project["nav"]):
        lines += ["", f"## {section}", ""]
        for title, page in entries.items():
            text = (docs / page).read_text(encoding="utf-8")
            lines.append(f"- [{title}]({page}): {words_of(text)}")
            shutil.copyfile(docs / page, site / page)
            pages.append(page)
    (site / "llms.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return pages


def words_of(text: str) -> str:
    """The first sentences of the first paragraph, without links."""
    paragraphs = [part for part in text.split("\n\n") if part and not part.startswith(("#", "<", "|", "---"))]
    found = SENTENCES.match(paragraphs[0])
    return LINK.sub(r"\1", " ".join((found[1] if found else paragraphs[0]).split()))


def _sections(nav: list[Mapping[str, Any]]) -> Iterator[tuple[str, Mapping[str, str]]]:
    for entry in nav:
        for name, inner in entry.items():
            yield name, {title: page for each in inner for title, page in each.items()}


if __name__ == "__main__":
    print(f"llms.txt names {len(write(Path(sys.argv[1])))} pages.")
