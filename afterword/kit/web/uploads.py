"""Reads a file sent as a body: bare under its own media type, or as the one file of a form (RFC 7578).

The other fields of the form are parameters.
"""

from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import urlencode

import msgspec
from multipart import MultipartError, MultipartSegment, PushMultipartParser, parse_options_header

from afterword import errors
from afterword.kit.web import parsing, query

FORM: Final = "multipart/form-data"
LABEL_CHARACTERS_MAX: Final = 300  # of a Content-Type: a boundary has at most 70
PARTS_MAX: Final = 100
PART_HEADERS_MAX: Final = 8
PART_HEADER_BYTES_MAX: Final = 1_000
FIELD_BYTES_MAX: Final = 65_536  # of all fields together
FILE_NAME_CHARACTERS_MAX: Final = 255
_BOUNDARY_CHARACTERS_MAX: Final = 70


class Upload(msgspec.Struct, frozen=True):
    """A file, its name if given, and the form's other fields, nested as those of a query."""

    content: bytes
    file_name: str | None = None
    fields: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])


class Part(msgspec.Struct, frozen=True):
    """A part of a form: a file if it has a file name, else a field."""

    name: str
    content: bytes
    file_name: str | None


def is_form(content_type: str | None) -> bool:
    return (content_type or "").lower().startswith(FORM)


def read(raw: bytes, content_type: str | None, *, media_types: Sequence[str]) -> Upload:
    """Returns an empty file for no body. Raises UnsupportedMedia, Malformed."""
    if not raw:
        return Upload(raw)
    kind, options = _label_of(content_type)
    if kind not in media_types:
        expected = ", ".join(media_types)
        raise errors.UnsupportedMedia(f"This operation reads {expected}.", headers={"Accept": expected})
    if kind == FORM:
        return _of_form(read_parts(raw, content_type))
    if options.get("charset", "utf-8").lower() not in {"utf-8", "utf8", "us-ascii"}:
        raise errors.UnsupportedMedia("Only UTF-8 is read.")
    return Upload(raw)


def read_parts(raw: bytes, content_type: str | None, *, parts_max: int = PARTS_MAX) -> list[Part]:
    """Raises Malformed, also for a `Content-Type` that is too long or has no boundary."""
    _, options = _label_of(content_type)
    boundary = options.get("boundary", "")
    if not 1 <= len(boundary) <= _BOUNDARY_CHARACTERS_MAX or not boundary.isascii():
        raise _malformed("The form's label names no boundary.")
    parts: list[Part] = []
    content: list[bytes] = []
    name, file_name = "", None
    try:
        with PushMultipartParser(
            boundary,
            max_header_size=PART_HEADER_BYTES_MAX,
            max_header_count=PART_HEADERS_MAX,
            max_segment_count=parts_max,
            strict=True,
        ) as parser:
            for event in parser.parse(raw):
                if isinstance(event, MultipartSegment):
                    name, file_name = event.name or "", event.filename
                elif event is not None:
                    content.append(bytes(event))
                else:
                    parts.append(Part(name, b"".join(content), file_name))
                    content = []
    except MultipartError as error:
        raise _malformed(f"The form cannot be read: {error.args[0]}.") from error
    return parts


def _of_form(parts: Sequence[Part]) -> Upload:
    files = [part for part in parts if part.file_name is not None]
    pairs = [
        (parsing.check_text(part.name), parsing.check_text(parsing.decode(part.content, "form")))
        for part in parts
        if part.file_name is None
    ]
    if len(files) != 1:
        raise _malformed("The form must hold one file, no more and no fewer.")
    if sum(len(name) + len(value) for name, value in pairs) > FIELD_BYTES_MAX:
        raise _malformed(f"The form's fields may have {FIELD_BYTES_MAX:,} characters.")
    fields = query.read(urlencode(pairs).encode(), code="malformed_form").values
    return Upload(files[0].content, file_name_of(files[0].file_name or ""), fields)


def file_name_of(given: str) -> str | None:
    """Last segment of a path, printable characters only; None where nothing remains."""
    last = given.replace("\\", "/").rpartition("/")[2]
    return "".join(filter(str.isprintable, last)).strip()[:FILE_NAME_CHARACTERS_MAX] or None


def _label_of(content_type: str | None) -> tuple[str, dict[str, str]]:
    label = content_type or ""
    if len(label) > LABEL_CHARACTERS_MAX:
        raise errors.Malformed(f"Content-Type may have {LABEL_CHARACTERS_MAX} characters.", "malformed_header")
    kind, options = parse_options_header(label)
    return kind, options


def _malformed(message: str) -> errors.Malformed:
    return errors.Malformed(message, "malformed_form")
