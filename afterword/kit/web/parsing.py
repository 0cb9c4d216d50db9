"""Reads bytes from the network as one JSON value, or refuses them. Nothing that fails here reaches a route."""

import asyncio
import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NoReturn, cast

from starlette.requests import ClientDisconnect
from starlette.types import Receive

from afterword import errors

BODY_BYTES_MAX = 1_048_576
BODY_SECONDS_MAX = 30
TARGET_BYTES_MAX = 16_384
DEPTH_MAX = 16
MEMBERS_MAX = 200
NAME_CHARACTERS_MAX = 255
INTEGER_DIGITS_MAX = 18
PIECE_BYTES = 16_384
BYTE_ORDER_MARK = b"\xef\xbb\xbf"

_JSON_TYPE = re.compile(r"application/(?:[a-z0-9!#$&^_.-]+\+)?json\Z", re.IGNORECASE)
_FORM_TYPE = re.compile(r"application/x-www-form-urlencoded\Z", re.IGNORECASE)
_SURROGATE = re.compile("[\ud800-\udfff]")
_STRUCTURE_ONLY: Final = bytes(code for code in range(256) if code not in b"{}[]:")
_AS_LISTS: Final = bytes.maketrans(b"{}", b"[]")
_WIDE: Final = re.compile(rb"\{:{%d,}" % (MEMBERS_MAX + 1))
_LEAF: Final = re.compile(rb"\{:*\}")
_ENTRIES_ONLY: Final = bytes(code for code in range(256) if code not in b"{}[],")
_LEAF_ENTRIES: Final = re.compile(rb"[\[{],*[\]}]")
_UTF8: Final = frozenset({"", "utf-8", "utf8"})


async def read_body(
    receive: Receive, headers: Mapping[str, str], *, bytes_max: int = BODY_BYTES_MAX, seconds_max: int | None = None
) -> bytes:
    """Read the body. Raises TooLarge (early), RequestTimeout, UnsupportedMedia for compression, ClientDisconnect."""
    limit = BODY_SECONDS_MAX if seconds_max is None else seconds_max
    encoding = headers.get("content-encoding", "identity").strip().lower()
    if encoding not in {"identity", ""}:
        raise errors.UnsupportedMedia(
            "Compressed bodies are not read; send it as it is.",
            "unsupported_encoding",
            headers={"Accept-Encoding": "identity"},
        )
    length = headers.get("content-length")
    if length is None and "transfer-encoding" not in headers:
        return b""
    if length is not None and length.isdecimal() and int(length[:20]) > bytes_max:
        raise _too_large(bytes_max)
    try:
        async with asyncio.timeout(limit):
            return await _receive_all(receive, bytes_max)
    except TimeoutError:
        raise errors.RequestTimeout(f"The body did not arrive within {limit} seconds.") from None


def is_json(content_type: str | None) -> bool:
    """True for JSON in UTF-8; raises UnsupportedMedia for another charset."""
    if content_type == "application/json":
        return True
    return _has_type(content_type or "", _JSON_TYPE)


def is_form(content_type: str | None) -> bool:
    """True for a form in UTF-8 and for no label; raises UnsupportedMedia for another charset."""
    return not content_type or _has_type(content_type, _FORM_TYPE)


def read_json(raw: bytes, *, depth_max: int = DEPTH_MAX) -> Any:
    """Parse one JSON value; raises Malformed with the code of the first limit that it breaks."""
    text = decode(raw.removeprefix(BYTE_ORDER_MARK), "body")
    if raw.count(b"{") + raw.count(b"[") > depth_max or raw.count(b":") > MEMBERS_MAX:
        _check_structure(raw, depth_max)
    try:
        value = _decoder.decode(text)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise errors.Malformed(f"The body is not one valid JSON value: {place}.") from None
    except (ValueError, RecursionError):
        raise errors.Malformed("The body is not one valid JSON value.") from None
    if "\\" in text:  # NUL and lone surrogates are valid JSON as escapes alone
        _check_texts(value)
    return value


def decode(raw: bytes, noun: str) -> str:
    """Decode UTF-8; raises Malformed."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        raise errors.Malformed(f"The {noun} is not valid UTF-8.", "malformed_encoding") from None


def count_entries(raw: bytes) -> int:
    """Count the entries of a JSON list without building it; overestimates a list nested deeper than DEPTH_MAX."""
    inside = _without_strings(raw).translate(None, _ENTRIES_ONLY)[1:-1]
    for _ in range(DEPTH_MAX):
        outer = _LEAF_ENTRIES.sub(b"", inside)
        if len(outer) == len(inside):  # flat: further passes change nothing
            break
        inside = outer
    return inside.count(b",") + 1


def check_text(text: str) -> str:
    """Refuse NUL and lone surrogates; returns the text."""
    if "\x00" in text:
        raise errors.Malformed("The character NUL is not allowed.", "nul_character")
    if _SURROGATE.search(text):
        raise errors.Malformed("A text contains one half of a surrogate pair.", "lone_surrogate")
    return text


def check_accept(accept: str | None, media_types: Sequence[str] = ("application/json",)) -> None:
    if accept is None or accept == "*/*" or accept in media_types or not accept.strip():
        return
    best: dict[str, float] = {}
    for part in accept.split(","):
        name, *parameters = (piece.strip().lower() for piece in part.split(";"))
        quality = next((parameter[2:] for parameter in parameters if parameter.startswith("q=")), "1")
        best[name] = _quality(quality)
    if not any(_admits(best, media_type) for media_type in media_types):
        raise errors.NotAcceptable(f"The answer is {' or '.join(media_types)}; Accept does not admit it.")


def _admits(best: Mapping[str, float], media_type: str) -> bool:
    family = media_type.partition("/")[0]
    for candidate in (media_type, f"{family}/*", "*/*"):  # the most specific range decides (RFC 9110, 12.5.1)
        if candidate in best:
            return best[candidate] > 0
    return False


def _quality(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 1.0


def _has_type(label: str, media_type: re.Pattern[str]) -> bool:
    given, *parameters = label.split(";")
    if media_type.match(given.strip()) is None:
        return False
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "charset":
            if value.strip().strip('"').lower() in _UTF8:
                break
            raise errors.UnsupportedMedia("Only UTF-8 is read.")
    return True


async def _receive_all(receive: Receive, bytes_max: int) -> bytes:
    chunks: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        chunk: bytes = message.get("body", b"")
        size += len(chunk)
        if size > bytes_max:
            raise _too_large(bytes_max)
        if not message.get("more_body", False):
            return b"".join([*chunks, chunk]) if chunks else chunk
        chunks.append(chunk)


def _too_large(bytes_max: int) -> errors.TooLarge:
    return errors.TooLarge(f"The body may have at most {bytes_max:,} bytes.")


def _check_structure(raw: bytes, depth_max: int) -> None:
    """Check depth and width before parsing: keep only the brackets, then delete leaf after leaf."""
    outside = _without_strings(raw).translate(None, _STRUCTURE_ONLY)
    lists = outside.replace(b":", b"").translate(_AS_LISTS)
    for _ in range(depth_max):
        lists = lists.replace(b"[]", b"")
    if b"[]" in lists or lists.count(b"[") > depth_max:
        raise errors.Malformed(f"Objects and lists may be nested {depth_max} deep.", "too_deep")
    if outside.count(b":") <= MEMBERS_MAX:
        return
    for _ in range(depth_max + 1):
        outside = outside.replace(b"[]", b"")
        if _WIDE.search(outside):
            raise _too_many_members()
        outside = _LEAF.sub(b"", outside)


def _without_strings(raw: bytes) -> bytes:
    """Drop all strings; in pieces, so that a million quotes do not become a million objects."""
    if b"\\" in raw:
        raw = raw.replace(b"\\\\", b"").replace(b'\\"', b"")
    found = bytearray()
    inside = False
    for start in range(0, len(raw), PIECE_BYTES):
        parts = raw[start : start + PIECE_BYTES].split(b'"')
        found += b"".join(parts[inside::2])
        inside ^= len(parts) % 2 == 0
    return bytes(found)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(pairs) > MEMBERS_MAX:
        raise _too_many_members()
    found = dict(pairs)
    if any(len(name) > NAME_CHARACTERS_MAX for name in found):
        raise name_too_long()
    if len(found) != len(pairs):
        twice = check_text(next(name for at, (name, _) in enumerate(pairs) if name in dict(pairs[:at])))
        raise errors.Malformed(f"The name “{twice}” stands twice in one object.", "duplicate_member")
    return found


def _integer(text: str) -> int:
    if len(text.lstrip("-")) > INTEGER_DIGITS_MAX:
        _refuse_number(text)
    return int(text)


def _number(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        _refuse_number(text)
    return number


def _refuse_number(_text: str) -> NoReturn:
    raise errors.Malformed(
        f"Integers may have {INTEGER_DIGITS_MAX} digits, other numbers must fit a double.", "number_out_of_range"
    )


# The standard library shows duplicate names before merging, and numbers before conversion.
_decoder: Final = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=_integer, parse_float=_number, parse_constant=_refuse_number
)


def _check_texts(value: Any) -> None:
    if isinstance(value, str):
        check_text(value)
    elif isinstance(value, dict):
        for name, entry in cast("dict[str, Any]", value).items():
            check_text(name)
            _check_texts(entry)
    elif isinstance(value, list):
        for entry in cast("list[Any]", value):
            _check_texts(entry)


def name_too_long() -> errors.Malformed:
    return errors.Malformed(f"Names may have {NAME_CHARACTERS_MAX} characters.", "name_too_long")


def _too_many_members() -> errors.Malformed:
    return errors.Malformed(f"An object may have {MEMBERS_MAX} members.", "too_many_members")
