"""Reads bodies of many records, a JSON array or lines of JSON; each record is checked for itself.

A record that breaks a limit or has wrong members becomes an Invalid and does not affect the others. A body that cannot
be split into records is refused as a whole.
"""

import asyncio
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from afterword import errors
from afterword.core.reading import structs
from afterword.core.reading.structs import Context
from afterword.kit.web import parsing, query
from afterword.kit.web.operations import Route

LINES: Final = "application/x-ndjson"
READ: Final = f"application/json, {LINES}"
BODY_BYTES_MAX: Final = 33_554_432
RECORD_BYTES_MAX: Final = 65_536
ROWS_PER_REQUEST: Final = 100  # that count as one request of the rate limit
ROWS_A_TURN: Final = 200  # then the event loop is yielded: some 5 ms
COMMAS_MAX: Final = 500_000  # keeps the pieces of a hostile list small

_SPACE: Final = re.compile(r"[ \t\r\n]*")
_pieces = msgspec.json.Decoder(list[msgspec.Raw])
_canonical = msgspec.json.Encoder(order="deterministic").encode


@dataclass(frozen=True, slots=True)
class Records:
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
            note(bytes(piece) if isinstance(row, errors.Invalid) else _canonical(row))
    return found


def _read_row(raw: bytes, route: Route, context: Context, read_only: frozenset[str]) -> msgspec.Struct | errors.Invalid:
    if len(raw) > RECORD_BYTES_MAX:
        return errors.Invalid.at("", "too_long", f"A record may have {RECORD_BYTES_MAX:,} bytes.")
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
            raise _no_list() from None
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
                raise _no_list()
            position = _after_space(text, position + 1)
    except (ValueError, RecursionError, IndexError):
        raise _no_list() from None


def _after_space(text: str, position: int) -> int:
    space = _SPACE.match(text, position)
    return position if space is None else space.end()


def _no_list() -> errors.Malformed:
    return errors.Malformed("The body is not one valid JSON list.")


def _too_many(rows_max: int) -> errors.TooLarge:
    return errors.TooLarge(f"At most {rows_max:,} records may be sent at once.")
