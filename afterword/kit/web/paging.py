"""Lists: page mode and cursor mode, signed cursors, envelopes, `Link`.

The runner reads filter_by, order_by, pagination, limit and cursor into `call.page`, the store hands the page to
`Database.fetch_list`, and the runner renders the Rows that come back.
"""

import asyncio
import base64
import hashlib
import hmac
import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any, Final, cast
from urllib.parse import quote

import msgspec

from afterword import errors
from afterword.core import keys
from afterword.core.reading import structs
from afterword.core.reading.structs import Context, Reader, integer_reader
from afterword.core.wire.lists import Kind, Listing, Order, Page, Rows
from afterword.kit.web import parsing, query
from afterword.kit.web.operations import Route
from afterword.kit.web.query import Parameters

LINES: Final = "application/x-ndjson"
READ: Final = f"application/json, {LINES}"
BODY_BYTES_MAX: Final = 33_554_432
RECORD_BYTES_MAX: Final = 65_536
ROWS_PER_REQUEST: Final = 100  # that count as one request of the rate limit
ROWS_A_TURN: Final = 200  # then the event loop is yielded: some 5 ms
COMMAS_MAX: Final = 500_000  # keeps the pieces of a hostile list small

_SPACE: Final = re.compile(r"[ \t\r\n]*")
_pieces = msgspec.json.Decoder(list[msgspec.Raw])
_encode = msgspec.json.Encoder(order="deterministic").encode


class Records(msgspec.Struct, frozen=True):
    pieces: Sequence[bytes | msgspec.Raw]
    is_lax: bool

    @property
    def requests(self) -> int:
        return max(1, -(-len(self.pieces) // ROWS_PER_REQUEST))


def split(raw: bytes, content_type: str | None, *, rows_max: int) -> Records:
    """Split a body; raises Malformed, UnsupportedMedia, TooLarge for too many, Invalid for none or no list."""
    is_lines = (content_type or "").partition(";")[0].strip().lower() == LINES
    is_json = not is_lines and parsing.is_json(content_type)
    raw = raw.removeprefix(parsing.BYTE_ORDER_MARK)
    if not is_lines and not is_json and not (parsing.is_form(content_type) and (query.looks_like_json(raw) or not raw)):
        raise errors.UnsupportedMedia(f"This operation reads {READ}, in UTF-8.", headers={"Accept": READ})
    pieces = _lines_of(raw, rows_max) if is_lines else _entries_of(raw, rows_max)
    if not pieces:
        raise errors.Invalid.at("", "too_few", "At least 1 record is expected.")
    if len(pieces) > rows_max:
        raise _too_many(rows_max)
    return Records(pieces, not is_lines and not is_json)


async def read(
    records: Records,
    route: Route,
    context: Context,
    *,
    read_only: frozenset[str],
    note: Callable[[bytes], object] | None = None,
) -> list[msgspec.Struct | errors.Invalid]:
    """Read each record as the route's Struct, or as an Invalid; `note` gets the canonical bytes."""
    found: list[msgspec.Struct | errors.Invalid] = []
    for index, piece in enumerate(records.pieces):
        if index % ROWS_A_TURN == ROWS_A_TURN - 1:
            await asyncio.sleep(0)
        row = _read_row(bytes(piece), route, context, read_only)
        found.append(row)
        if note is not None:
            note(bytes(piece) if isinstance(row, errors.Invalid) else _encode(row))
    return found


def _read_row(raw: bytes, route: Route, context: Context, read_only: frozenset[str]) -> msgspec.Struct | errors.Invalid:
    if len(raw) > RECORD_BYTES_MAX:
        return errors.Invalid.at("", "too_long", f"A record may have at most {RECORD_BYTES_MAX:,} bytes.")
    try:
        document = parsing.read_json(raw, depth_max=route.depth_max)
    except errors.Malformed as refusal:
        return errors.Invalid.at("", "invalid_format", refusal.detail.replace("The body", "The record"))
    assert route.body is not None, "a route with rows_max has a body"  # noqa: S101
    return structs.read_row(route.body, document, context, read_only=read_only)


def _lines_of(raw: bytes, rows_max: int) -> list[bytes]:
    raw = raw.strip()
    if raw.count(b"\n") >= rows_max:
        raise _too_many(rows_max)
    return [line for line in raw.split(b"\n") if line.strip()]


def _entries_of(raw: bytes, rows_max: int) -> Sequence[bytes | msgspec.Raw]:
    if not raw:
        return ()
    has_many = raw.count(b",") > COMMAS_MAX
    if has_many and parsing.count_entries(raw) > rows_max:
        raise _too_many(rows_max)
    try:
        return _pieces.decode(raw)
    except msgspec.ValidationError:  # JSON, but no list
        raise errors.Invalid.at("", "wrong_type", "A list is expected.") from None
    except (ValueError, RecursionError):
        if has_many:
            raise errors.Malformed("The body is not one valid JSON list.") from None
    return _split_slowly(raw, rows_max)


def _split_slowly(raw: bytes, rows_max: int) -> list[bytes]:
    """Split with the standard library, which accepts NaN and lone surrogates, so that only their record is refused."""
    text = parsing.decode(raw, "body")
    decode = json.JSONDecoder().raw_decode
    found: list[bytes] = []
    position = _after_space(text, _after_space(text, 0) + 1)
    try:
        while True:
            if len(found) > rows_max:
                raise _too_many(rows_max)
            _, end = decode(text, position)
            found.append(text[position:end].encode())
            position = _after_space(text, end)
            if text[position] == "]" and _after_space(text, position + 1) == len(text):
                return found
            if text[position] != ",":
                raise json.JSONDecodeError("", text, position)
            position = _after_space(text, position + 1)
    except (ValueError, RecursionError, IndexError) as error:
        at = error if isinstance(error, json.JSONDecodeError) else json.JSONDecodeError("", text, position)
        raise errors.Malformed(f"The body is not one valid JSON list: line {at.lineno}, column {at.colno}.") from None


def _after_space(text: str, position: int) -> int:
    space = _SPACE.match(text, position)
    return position if space is None else space.end()


def _too_many(rows_max: int) -> errors.TooLarge:
    return errors.TooLarge(f"At most {rows_max:,} records may be sent at once.")


LIMIT_MAX = 500
LIMIT_DEFAULT = 50
LIMIT_DEFAULT_ARRAY = 100
PER_PAGE_MAX = 500
PER_PAGE_DEFAULT = 10
ROWS_DEEP_MAX = 100_000
CURSOR_CHARACTERS_MAX = 512
FIELDS_MAX = 200  # names of `response_fields`
SEAL_BYTES = 12
PARAMETERS: Final = frozenset({"pagination", "limit", "cursor", "filter_by", "order_by", "fields", "response_fields"})

STARS: Final = frozenset({"*", "**", "***"})  # "all members", as old clients say it

_LIMIT: Final = integer_reader(1, LIMIT_MAX)
_PAGE: Final = integer_reader(1, 10**9)
_PER_PAGE: Final = integer_reader(1, PER_PAGE_MAX)
_TYPES: Final[Mapping[Kind, Any]] = {"time": datetime | None, "date": date | None}


class PageRequest(msgspec.Struct, frozen=True):
    page: Page
    number: int | None  # of the page; None in cursor mode
    binding: bytes  # what a cursor of this list is sealed with
    path: str  # the list's own address
    parameters: Parameters
    made: datetime | None = None  # the moment up to which the maker of the cursor knew what was committed


class ListReader:
    def __init__(self, listing: Listing, *, shape: str, secret: bytes, own: Collection[str] = ()) -> None:
        """`own`: the route's own query parameters, which narrow its list as filters do."""
        self._columns = query.Columns(listing)
        self._listing = listing
        self._is_array = shape == "array"
        self._is_log = shape == "cursor"  # read by cursor only, named `after`
        self._secret = secret
        self._own = frozenset(own)
        self.parameters = PARAMETERS | {"after"} if self._is_log else PARAMETERS

    def read(self, parameters: Parameters, context: Context, *, path: str) -> PageRequest:
        values = parameters.values
        order = query.read_order(values.get("order_by"), parameters, self._columns, context)
        filters = query.read_filter(values.get("filter_by"), self._columns, context)
        binding = self._binding(path, values, order)
        pagination = values.get("pagination")
        if self._has_pages(values):
            number, per_page, with_results = _page_mode(pagination, context)
            offset = (number - 1) * per_page
            page = Page(self._listing, order, filters, limit=per_page, offset=offset, with_results=with_results)
            return PageRequest(page, number, binding, path, parameters)
        if pagination is not None:
            message = "This list has cursors alone." if self._is_log else "Either pagination, or limit and cursor."
            context.error("/pagination", "exclusive", message)
        default = LIMIT_DEFAULT_ARRAY if self._is_array else LIMIT_DEFAULT
        limit = _read(_LIMIT, values.get("limit"), "/limit", context, default)
        name = "after" if self._is_log and "after" in values else "cursor"
        if name == "after" and "cursor" in values:
            context.error("/cursor", "exclusive", "Either after or cursor.")
        after, made = self._open(values.get(name), f"/{name}", order, binding, context)
        # A client without a limit may assume that it has all rows, so it gets the total.
        is_whole = self._is_array and "limit" not in values and after is None
        page = Page(self._listing, order, filters, limit=limit, after=after, with_total=is_whole)
        return PageRequest(page, None, binding, path, parameters, made)

    def _has_pages(self, values: Mapping[str, Any]) -> bool:
        if self._is_log or "limit" in values or "cursor" in values:
            return False
        return values.get("pagination") is not None or not self._is_array

    def envelope(
        self, requested: PageRequest, rows: Rows[Any], items: Sequence[Any], cursor: str | None
    ) -> dict[str, Any]:
        page = requested.page
        total = rows.total
        last = None if total is None else max(1, -(-total // page.limit))
        return {
            "page": requested.number,
            "max_per_page": page.limit,
            "last_page": last,
            "total_results": total,
            "results": items,
            "next_cursor": cursor,
        }

    def next_cursor(self, requested: PageRequest, rows: Rows[Any], *, made: int) -> str | None:
        """Cursor after the last row; None at the end. `made`: Unix seconds; a copy that is older refuses it."""
        return None if rows.next_key is None else self._seal(rows.next_key, requested, made)

    def next_target(self, requested: PageRequest, rows: Rows[Any], cursor: str | None) -> str | None:
        """Path and query of the next page or of `cursor`, with all other parameters; None at the end or if too long."""
        page = requested.page
        if requested.number is not None:
            more = rows.has_more if rows.total is None else page.offset + page.limit < rows.total
            if not more:
                return None
            changed: dict[tuple[str, ...], str] = {("pagination", "page"): str(requested.number + 1)}
        elif rows.has_more and cursor is not None:
            changed = {("after" if self._is_log else "cursor",): cursor, ("limit",): str(page.limit)}
        else:
            return None
        dropped = {*changed, ("cursor",)}
        kept = [(path, text) for path, text in requested.parameters.pairs if path not in dropped]
        target = "&".join(f"{_name_of(path)}={quote(text, safe='')}" for path, text in [*kept, *changed.items()])
        # A body on GET may have more parameters than fit in an address.
        return f"{requested.path}?{target}" if len(target) <= parsing.TARGET_BYTES_MAX else None

    def _binding(self, path: str, values: Mapping[str, Any], order: Sequence[Order]) -> bytes:
        if self._is_log:  # a cursor of a log is independent of filters
            return _binding_of([path, _steps_of(order)])
        own = {name: values[name] for name in self._own if values.get(name) is not None}
        return _binding_of([path, values.get("filter_by") or None, own, _steps_of(order)])

    def _seal(self, key: Sequence[object], requested: PageRequest, made: int) -> str:
        if self._is_log and tuple(requested.page.order) == self._listing.default_order:
            return _seal(key[-1:], binding=requested.binding, secret=self._secret)  # a copy looks for its event
        return _seal(key, binding=requested.binding, secret=self._secret, made=made)

    def _open(
        self, cursor: object, pointer: str, order: Sequence[Order], binding: bytes, context: Context
    ) -> tuple[tuple[object, ...] | None, datetime | None]:
        if cursor is None:
            return None, None
        try:
            return _unsealed(cursor, order, binding=binding, secret=self._secret)
        except ValueError:
            context.error(pointer, "invalid_cursor", "This cursor is not of this list, filter and order; start again.")
            return None, None


def seal_entry(entry_id: str, *, path: str, listing: Listing, secret: bytes) -> str:
    """Cursor of one entry of a log for the list at `path` in its default order: the entry's id."""
    return _seal([entry_id], binding=_binding_of([path, _steps_of(listing.default_order)]), secret=secret)


def open_entry(cursor: str, *, path: str, listing: Listing, secret: bytes) -> str:
    """The id of a log's entry; raises ValueError for anything but a cursor of this log in its default order."""
    order = listing.default_order
    key, _ = _unsealed(cursor, order, binding=_binding_of([path, _steps_of(order)]), secret=secret)
    return str(key[-1])


def _steps_of(order: Sequence[Order]) -> list[tuple[str, str]]:
    return [(step.column.name, step.direction) for step in order]


def _binding_of(what: list[object]) -> bytes:
    return hashlib.sha256(_encode(what)).digest()


def _seal(key: Sequence[object], *, binding: bytes, secret: bytes, made: int | None = None) -> str:
    payload, more = _encode(key), b"" if made is None else b"\n%d" % made
    if (len(payload) + len(more) + SEAL_BYTES) * 4 // 3 + 3 > CURSOR_CHARACTERS_MAX:
        payload = _encode(key[-1:])  # the id suffices: the rest is looked up
    payload += more
    return base64.urlsafe_b64encode(_seal_of(payload, binding, secret) + payload).rstrip(b"=").decode()


def _unsealed(
    cursor: object, order: Sequence[Order], *, binding: bytes, secret: bytes
) -> tuple[tuple[object, ...], datetime | None]:
    if not isinstance(cursor, str) or len(cursor) > CURSOR_CHARACTERS_MAX:
        raise ValueError
    raw = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
    seal, payload = raw[:SEAL_BYTES], raw[SEAL_BYTES:]
    if keys.find(secret, lambda one: hmac.compare_digest(seal, _seal_of(payload, binding, one))) is None:
        raise ValueError
    payload, _, made = payload.partition(b"\n")
    values = cast("list[Any]", msgspec.json.decode(payload))
    kinds: list[Kind] = [*(step.column.kind for step in order), "id"]
    key = tuple(
        msgspec.convert(value, _TYPES.get(kind, object))
        for value, kind in zip(values, kinds[-len(values) :], strict=True)
    )
    return key, datetime.fromtimestamp(int(made), UTC) if made else None


def _seal_of(payload: bytes, binding: bytes, secret: bytes) -> bytes:
    return hmac.digest(secret, b"cursor" + binding + payload, "sha256")[:SEAL_BYTES]


def _page_mode(pagination: object, context: Context) -> tuple[int, int, bool]:
    if pagination in (None, []):
        pagination = {}
    if not isinstance(pagination, dict):
        context.error("/pagination", "wrong_type", "pagination[page]=1 is expected.")
        return 1, PER_PAGE_DEFAULT, True
    values = cast("dict[str, object]", pagination)
    number = _read(_PAGE, values.get("page"), "/pagination/page", context, 1)
    per_page = _read(_PER_PAGE, values.get("max_per_page"), "/pagination/max_per_page", context, PER_PAGE_DEFAULT)
    with_results = _flag(values.get("include_results"), "/pagination/include_results", context)
    if number * per_page > ROWS_DEEP_MAX:
        message = f"Pages end at row {ROWS_DEEP_MAX:,}; continue with limit and cursor, starting from next_cursor."
        context.error("/pagination/page", "page_too_deep", message)
    return number, per_page, with_results


def _read(reader: Reader, given: object, pointer: str, context: Context, default: int) -> int:
    return default if given is None else reader(given, pointer, context) or default


def _flag(given: object, pointer: str, context: Context) -> bool:
    if given is None:
        return True
    text = str(given).lower() if isinstance(given, (str, int)) else ""
    if text in {"1", "true", "0", "false"}:
        return text in {"1", "true"}
    context.error(pointer, "wrong_type", "0 or 1 is expected.")
    return True


def _name_of(path: tuple[str, ...]) -> str:
    first, *rest = (quote(step, safe="") for step in path)
    return first + "".join(f"%5B{step}%5D" for step in rest)


def response_fields(parameters: Mapping[str, Any], known: frozenset[str], context: Context) -> frozenset[str] | None:
    """Members requested by `response_fields` (or `fields` with names); None for all."""
    found: set[str] = set()
    for parameter in ("response_fields", "fields"):
        given = parameters.get(parameter)
        if given is None:
            continue
        names = [part.strip() for text in _texts(given) for part in text.split(",", FIELDS_MAX + 1) if part.strip()]
        if len(names) > FIELDS_MAX:
            context.error(f"/{parameter}", "too_many", f"At most {FIELDS_MAX} names are allowed.")
            continue
        if not known.union(STARS).issuperset(names):
            allowed = ", ".join(sorted(known))
            context.error(f"/{parameter}", "unknown_field", f"The answer has no such member. There are: {allowed}.")
        if STARS.isdisjoint(names):
            found.update(names)
    return frozenset(found) or None


def _texts(given: object) -> list[str]:
    if isinstance(given, str):
        return [given]
    if isinstance(given, dict):
        given = list(cast("dict[str, object]", given).values())
    entries = cast("list[object]", given)[: FIELDS_MAX + 1] if isinstance(given, list) else []
    return [text for text in entries if isinstance(text, str)]
