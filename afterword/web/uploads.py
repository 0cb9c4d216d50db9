"""Files as bodies: as they are under their own label, or as the one file of a form (RFC 7578).

The other fields of the form are parameters.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from email.message import Message
from typing import Any, Final
from urllib.parse import urlencode

from afterword import errors
from afterword.web import edge, query

FORM: Final = "multipart/form-data"
PARTS_MAX: Final = 100
PART_HEAD_BYTES_MAX: Final = 4_096
FIELD_BYTES_MAX: Final = 65_536  # of all fields together
FILE_NAME_CHARACTERS_MAX: Final = 255
_BOUNDARY_CHARACTERS_MAX: Final = 70


@dataclass(frozen=True, slots=True)
class Upload:
    """A file, its name where the form told it, and the form's other fields, nested as those of a query."""

    content: bytes
    file_name: str | None = None
    fields: dict[str, Any] = field(default_factory=dict[str, Any])


def read(raw: bytes, content_type: str | None, *, media_types: Sequence[str]) -> Upload:
    """The file that a body is, an empty one for no body. Raises UnsupportedMedia, Malformed."""
    if not raw:
        return Upload(raw)
    label = _parsed(f"content-type: {content_type or ''}")
    kind = (content_type or "").partition(";")[0].strip().lower()
    if kind not in media_types:
        wanted = ", ".join(media_types)
        raise errors.UnsupportedMedia(f"This operation reads {wanted}.", headers={"Accept": wanted})
    if kind == FORM:
        boundary = label.get_boundary("")
        if not 1 <= len(boundary) <= _BOUNDARY_CHARACTERS_MAX or not boundary.isascii():
            raise _malformed("The form's label names no boundary.")
        return _of_form(raw, boundary.encode())
    charset = str(label.get_param("charset", "utf-8")).lower()
    if charset not in {"utf-8", "utf8", "us-ascii"}:
        raise errors.UnsupportedMedia("Only UTF-8 is read.")
    return Upload(raw)


def _of_form(raw: bytes, boundary: bytes) -> Upload:
    """The parts between the boundaries: one with a file name, any number of fields."""
    first, *parts = (b"\r\n" + raw).split(b"\r\n--" + boundary)
    if not parts or parts[-1].strip(b"\r\n \t") != b"--" or first.strip():
        raise _malformed("The form does not end with its boundary.")
    if len(parts) > PARTS_MAX:
        raise _malformed(f"A form may have {PARTS_MAX} parts.")
    files: list[tuple[bytes, str]] = []
    pairs: list[tuple[str, str]] = []
    for part in parts[:-1]:
        head, gap, content = part.lstrip(b" \t").partition(b"\r\n\r\n")
        if not gap or len(head) > PART_HEAD_BYTES_MAX:
            raise _malformed("A part of the form has no head.")
        told = _parsed(_text(head.strip(b"\r\n")))
        name, file_name = told.get_param("name", header="content-disposition"), told.get_filename()
        if not isinstance(name, str):
            raise _malformed("A part of the form has no name.")
        if file_name is None:
            pairs.append((name, _text(content)))
        else:
            files.append((content, file_name))
    if len(files) != 1:
        raise _malformed("The form must hold one file, no more and no fewer.")
    if sum(len(name) + len(value) for name, value in pairs) > FIELD_BYTES_MAX:
        raise _malformed(f"The form's fields may have {FIELD_BYTES_MAX:,} characters.")
    [(content, file_name)] = files
    return Upload(content, file_name_of(file_name), query.read(urlencode(pairs).encode(), code="malformed_form").values)


def file_name_of(given: str) -> str | None:
    """The last part of a path, printable; None where nothing of it is left."""
    last = given.replace("\\", "/").rpartition("/")[2]
    return "".join(filter(str.isprintable, last)).strip()[:FILE_NAME_CHARACTERS_MAX] or None


def _parsed(head: str) -> Message:
    found = Message()
    for line in head.splitlines():
        name, _, value = line.partition(":")
        if name.strip():
            found[name.strip()] = value.strip()
    return found


def _text(raw: bytes) -> str:
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        raise errors.Malformed("The form is not valid UTF-8.", "malformed_encoding") from None
    edge.check_text(text)
    return text


def _malformed(message: str) -> errors.Malformed:
    return errors.Malformed(message, "malformed_form")
