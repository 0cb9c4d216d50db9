"""The dialect of existing clients: a form, or a body without its right label, becomes the JSON that it stands for.

Behind this module everything is canonical but one thing: a lax value's scalars are typed by their members, because a
form knows texts alone.
"""

from typing import Any, Final

import msgspec

from afterword import errors
from afterword.web import edge, query

READ: Final = "application/json, application/x-www-form-urlencoded"


def read(raw: bytes, content_type: str | None, *, depth_max: int = edge.DEPTH_MAX) -> tuple[Any, bool]:
    """The value that a body is, UNSET for none, and whether it is lax.

    Raises UnsupportedMedia for other labels than those of JSON and forms, Malformed for what the edge refuses.
    """
    if edge.is_json(content_type):
        return edge.read_json(raw, depth_max=depth_max), False
    if not edge.is_form(content_type):
        raise errors.UnsupportedMedia("This operation reads application/json, in UTF-8.", headers={"Accept": READ})
    raw = raw.removeprefix(edge.BYTE_ORDER_MARK)
    if looks_like_json(raw):
        return edge.read_json(raw, depth_max=depth_max), True
    if not raw.strip():
        return msgspec.UNSET, True
    return query.read(raw, code="malformed_form").values, True


def looks_like_json(raw: bytes) -> bool:
    """Whether the first byte after white space opens an object or a list."""
    return raw[:1] in {b"{", b"["} or raw.lstrip()[:1] in {b"{", b"["}
