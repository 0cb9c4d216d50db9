"""The dialect of existing clients: converts forms and mislabelled bodies to JSON.

Scalars of a form are strings, so the value is marked lax: its members give the types.
"""

from typing import Any, Final

import msgspec

from afterword import errors
from afterword.web import parsing, query

READ: Final = "application/json, application/x-www-form-urlencoded"


def read(raw: bytes, content_type: str | None, *, depth_max: int = parsing.DEPTH_MAX) -> tuple[Any, bool]:
    """Returns the value of a body (UNSET for none), and True where it is lax.

    Raises UnsupportedMedia for other labels than those of JSON and forms, Malformed for what the edge refuses.
    """
    if parsing.is_json(content_type):
        return parsing.read_json(raw, depth_max=depth_max), False
    if not parsing.is_form(content_type):
        raise errors.UnsupportedMedia("This operation reads application/json, in UTF-8.", headers={"Accept": READ})
    raw = raw.removeprefix(parsing.BYTE_ORDER_MARK)
    if looks_like_json(raw):
        return parsing.read_json(raw, depth_max=depth_max), True
    if not raw.strip():
        return msgspec.UNSET, True
    return query.read(raw, code="malformed_form").values, True


def looks_like_json(raw: bytes) -> bool:
    """True where the first byte after white space opens an object or a list."""
    return raw[:1] in {b"{", b"["} or raw.lstrip()[:1] in {b"{", b"["}
