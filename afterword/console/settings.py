"""The pages of the settings by group, each with a line about it, and the pages that Find knows."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import msgspec

from afterword.kit.texts import Marked, Texts, tables_of

SETTINGS: Final = "/console/settings"


class ConsolePage(msgspec.Struct, frozen=True):
    """A page of the console. `found_by`: other words that somebody may search it by."""

    path: str
    title: Marked
    about: Marked
    found_by: str = ""


_TABLES: Final = tables_of(__name__)
GROUPS: Final[Sequence[tuple[str, Sequence[ConsolePage]]]] = [
    (group["title"], msgspec.convert(group["pages"], list[ConsolePage])) for group in _TABLES["groups"]
]
PAGES: Final = msgspec.convert(_TABLES["pages"], list[ConsolePage])
ALL: Final = (*PAGES, *(page for _, pages in GROUPS for page in pages))


def groups_of(words: Texts, may_open: Callable[[str], bool], here: str) -> Iterator[tuple[str, Sequence[Any]]]:
    """The title of each group with its pages, as far as the role opens them."""
    for title, pages in GROUPS:
        shown = [_shown(words, one, here) for one in pages if may_open(one.path)]
        if shown:
            yield words(title), shown


def found(words: Texts, may_open: Callable[[str], bool], text: str) -> list[dict[str, Any]]:
    """The pages whose title, line or other words have a word that begins with each word of the text."""
    wanted = text.casefold().split()
    shown = [_shown(words, one) for one in ALL if may_open(one.path)]
    return [page for page in shown if all(any(w.startswith(each) for w in page["words"].split()) for each in wanted)]


def _shown(words: Texts, page: ConsolePage, here: str = "") -> dict[str, Any]:
    title, about = words(page.title), words(page.about)
    return {
        "url": page.path,
        "text": title,
        "about": about,
        "words": f"{title} {about} {page.title} {page.found_by}".casefold().replace(",", ""),
        "is_current": page.path == f"{SETTINGS}/{here}",
    }
