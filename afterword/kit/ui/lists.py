"""Lists: all that the macro `listing` shows around the rows, the addresses of its links, and the keys of its pages."""

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime, timedelta
from functools import cache, cached_property, lru_cache
from typing import Any, ClassVar, Final, Self, cast
from urllib.parse import quote_plus

import msgspec
from msgspec.structs import replace

from afterword import ids
from afterword.core.organizations.access import Part
from afterword.core.wire import lists as core_lists
from afterword.core.wire.lists import Criterion, Page, Rows
from afterword.kit.db import Database

ROWS: Final = 50
OFFERED_MAX: Final = 200
Read = Callable[..., Awaitable[Rows[Any]]]  # a store's function for a page of a list
SEARCH_CHARACTERS: Final = range(3, 320 + 1)  # of a text that people are searched by
EPOCH: Final = datetime.fromtimestamp(0, UTC)
MICROS_DIGITS: Final = 18
MICROS_MAX: Final = (datetime.max.replace(tzinfo=UTC) - EPOCH) // timedelta(microseconds=1)


class Tab(msgspec.Struct, frozen=True, kw_only=True):
    """`count`: a number, a text such as "1000+", or None for no count."""

    url: str
    text: str
    count: int | str | None = None
    is_current: bool = False


class Column(msgspec.Struct, frozen=True, kw_only=True):
    """The head of a table's column. `url` sorts by it; `order`: "ascending", "descending", or empty."""

    text: str
    url: str = ""
    order: str = ""
    is_number: bool = False


class Listing(msgspec.Struct, frozen=True, kw_only=True):
    """`columns`: rows are those of a table. `filters`: each text with the address without that filter.

    `found`: rows of all pages, "1000+" where they are not counted to the end. `empty`: the sentence for no rows,
    which says what to do first; `empty_link`: text and address for it.
    """

    rows: Sequence[Any]
    empty: str
    empty_link: tuple[str, str] | None = None
    columns: Sequence[Column] = ()
    tabs: Sequence[Tab] = ()
    filters: Sequence[tuple[str, str]] = ()
    clear_url: str = ""
    found: int | str | None = None
    note: str = ""
    next_url: str = ""
    first_url: str = ""
    export_url: str = ""


@dataclass(frozen=True)
class Filter:
    """The parameters of a list's address, each a member made by `parameter` or `one_of`.

    A value that a list does not know is its default. `after`: the key behind which the page begins.
    """

    path: ClassVar[str]

    @classmethod
    def read(cls, query: Mapping[str, str]) -> Self:
        return cls(**{one.name: one.read(query.get(one.parameter, "").strip()) for one in _members(cls)})

    @cached_property
    def query(self) -> Mapping[str, str]:
        """The parameters of the address that have not their default."""
        return self._query_of({})

    def _query_of(self, changed: Mapping[str, Any]) -> dict[str, str]:
        members = _members(type(self))
        values = [changed[one.name] if one.name in changed else getattr(self, one.name) for one in members]
        pairs = zip(members, values, strict=True)
        return {one.parameter: str(value) for one, value in pairs if value not in (one.default, "")}

    def url(self, below: str = "", /, **changed: Any) -> str:
        """The address of the first page with these changes, or of a page below it."""
        return address(f"{self.path}{f'/{below}' if below else ''}", self._query_of({**_FIRST_PAGE, **changed}))

    def pages(self, next_key: Any) -> dict[str, Any]:
        """The addresses of the rows behind this key, and of the first ones, as Listing has them."""
        next_url = self.url(after=key_of(*next_key)) if next_key else ""
        return {"next_url": next_url, "first_url": self.url() if self.query.get("after") else ""}


_FIRST_PAGE: Final = {"after": "", "since": ""}


class _Member(msgspec.Struct, frozen=True):
    name: str
    parameter: str
    default: Any
    read: Callable[[str], Any]


@cache
def _members(kind: type[Filter]) -> tuple[_Member, ...]:
    """Those of a class, whose look-up takes longer than an address."""
    return tuple(
        _Member(one.name, one.metadata["name"] or one.name, one.default, one.metadata["read"]) for one in fields(kind)
    )


def parameter(
    most: int = ids.ID_CHARACTERS, name: str = "", *, default: Any = "", read: Callable[[str], Any] | None = None
) -> Any:
    """A text of at most so many characters, or what `read` makes of it. `name`: where it is not the member's."""
    return field(default=default, metadata={"name": name, "read": read or (lambda value: value[:most])})


def one_of(values: Iterable[Any], default: Any = "", name: str = "") -> Any:
    """One of these values; another one is the default."""
    known = {str(value): value for value in values}
    return parameter(name=name, default=default, read=lambda value: known.get(value, default))


def address(path: str, query: Mapping[str, object] | None = None, /, **more: object) -> str:
    """The path with those of the values that are not empty."""
    chosen = {name: value for name, value in {**(query or {}), **more}.items() if value not in (None, "")}
    pairs = [
        f"{_quoted(name)}={_quoted(str(one))}"
        for name, value in chosen.items()
        for one in (value if isinstance(value, list | tuple) else (value,))
    ]
    return f"{path}?{'&'.join(pairs)}" if pairs else path


# The addresses of a page repeat their names and most of their values.
_quoted: Final = lru_cache(maxsize=4_096)(quote_plus)


def key_of(time: datetime, row_id: str) -> str:
    """The key of a row, behind which the next page begins: its time in microseconds, and its id."""
    return f"{(time - EPOCH) // timedelta(microseconds=1)}_{row_id}"


def read_key(text: str) -> tuple[datetime, str] | None:
    """The time and the id of a key; None for what is no key."""
    micros, _, row_id = text.partition("_")
    if not micros.isascii() or not micros.isdigit() or len(micros) > MICROS_DIGITS:
        return None
    return EPOCH + timedelta(microseconds=min(int(micros), MICROS_MAX)), row_id


def read_number(text: str, digits: int = 9) -> int | None:
    """The whole number that an address has as a text of at most so many digits; None for anything else."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= digits else None


def page_of(listing: core_lists.Listing, query: Mapping[str, str]) -> Page:
    """The page of a list by created time that the address asks for by `after`; the first one for what is no key."""
    return behind(Page.first(listing, limit=ROWS), query.get("after", ""))


def page_links(
    found: Rows[Any], query: Mapping[str, str], path: str, chosen: Mapping[str, object] | None = None, /, **more: object
) -> dict[str, Any]:
    """The addresses of the rows behind these, while there are more, and of the first ones, as Listing has them."""
    last = cast("tuple[datetime, str] | None", found.next_key)
    return {
        "next_url": address(path, chosen, after=key_of(*last), **more) if last else "",
        "first_url": address(path, chosen, **more) if "after" in query else "",
    }


def behind(page: Page, key: str) -> Page:
    """The page behind this key, in lists by created time; the first one for what is no key."""
    return replace(page, after=read_key(key))


async def offered(
    db: Database, rows: Read, listing: core_lists.Listing, part: Part, also: Collection[str] = ()
) -> list[Any]:
    """The newest rows, to choose from, and those with the ids `also`, which were chosen before."""
    page = Page.first(listing, limit=OFFERED_MAX)
    found = (await rows(db, **part, page=page)).items
    if missing := {one for one in also if ids.is_id(one)} - {getattr(one, listing.id) for one in found}:
        own = Criterion("IN", listing.id_column, [*missing])
        found += (await rows(db, **part, page=replace(page, criteria=(own,)))).items
    return found
