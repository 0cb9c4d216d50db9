"""Parses queries and forms with PHP nesting, `a[b][c]=v`, `a[]=v`, `a[0]=v`, strictly into maps and lists.

Existing clients send forms and mislabelled JSON. Both become the value that JSON would give, marked lax: scalars of a
form are strings, and their members give the types.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, cast
from urllib.parse import unquote_to_bytes

import msgspec

from afterword import errors
from afterword.kit.web import parsing

READ: Final = "application/json, application/x-www-form-urlencoded"
PAIRS_MAX = 1000
BRACKETS_MAX = 8

_BROKEN_PERCENT: Final = re.compile(rb"%(?![0-9A-Fa-f]{2})")


@dataclass(slots=True)
class Parameters:
    """Nested values (all strings), and the pairs in their order of appearance."""

    values: dict[str, Any] = field(default_factory=dict[str, Any])
    pairs: list[tuple[tuple[str, ...], str]] = field(default_factory=list[tuple[tuple[str, ...], str]])


def read(raw: bytes, *, code: str = "malformed_query") -> Parameters:
    """Parse `raw`; `a[]` becomes a list, `a[0]` a map with the keys 0, 1, … (see `structs.as_list`).

    Raises Malformed: `code` for brackets that do not close, a name that is both value and map, too many pairs;
    `duplicate_member` for a name twice, `malformed_encoding`, `nul_character`, and the limits on names and members.
    """
    found = Parameters()
    if not raw:
        return found
    if raw.count(b"&") >= PAIRS_MAX:
        raise errors.Malformed(f"There may be {PAIRS_MAX:,} pairs.", code)
    for part in raw.split(b"&"):
        if not part:
            continue
        name, _, value = part.partition(b"=")
        path, text = _path_of(_text_of(name, code), code), _text_of(value, code)
        found.pairs.append((path, text))
        _put(found.values, path, text, code)
    return found


def _text_of(raw: bytes, code: str) -> str:
    raw = raw.replace(b"+", b" ")
    if b"%" in raw:
        if _BROKEN_PERCENT.search(raw):
            raise errors.Malformed("A percent sign must be followed by two hexadecimal digits.", code)
        raw = unquote_to_bytes(raw)
    return parsing.check_text(parsing.decode(raw, "text behind the percent signs"))


def _path_of(name: str, code: str) -> tuple[str, ...]:
    base, bracket, rest = name.partition("[")
    if not base or "]" in base:
        raise errors.Malformed("A name or a bracket is missing.", code)
    if len(name) > parsing.NAME_CHARACTERS_MAX * 2 or len(base) > parsing.NAME_CHARACTERS_MAX:
        raise parsing.name_too_long()
    if bracket and not rest.endswith("]"):
        raise errors.Malformed("A bracket is not closed.", code)
    path = (base, *rest[:-1].split("][")) if bracket else (base,)
    if len(path) > BRACKETS_MAX + 1 or any("[" in step or "]" in step for step in path):
        raise errors.Malformed(f"Brackets must close, and may be {BRACKETS_MAX} deep.", code)
    if any(len(step) > parsing.NAME_CHARACTERS_MAX for step in path):
        raise parsing.name_too_long()
    return path


def _put(values: dict[str, Any], path: tuple[str, ...], text: str, code: str) -> None:
    """Add the text. `a[][b]=v` makes a new entry each time, as PHP reads it."""
    here: Any = values
    for step, following in zip(path, (*path[1:], None), strict=True):
        new: Any = text if following is None else {} if following else []
        if isinstance(here, list) != (step == ""):
            raise _both(code)
        if not step:
            here.append(new)
        elif step not in here:
            if len(here) >= parsing.MEMBERS_MAX:
                raise errors.Malformed(f"A map may have {parsing.MEMBERS_MAX} members.", "too_many_members")
            here[step] = new
        elif type(here[step]) is not type(new):
            raise _both(code)
        elif following is None:
            raise errors.Malformed("A name stands twice.", "duplicate_member")
        here = here[step] if step else new


def _both(code: str) -> errors.Malformed:
    return errors.Malformed("A name is both a value and a map, or both a list and a map.", code)


def merge(parameters: Parameters | None, document: Mapping[str, Any]) -> Parameters:
    """Add the members of a GET's body: they are parameters too, but the query wins where both give one."""
    parameters = parameters or Parameters()
    for name, value in document.items():
        if name not in parameters.values:
            parameters.values[name] = value
            parameters.pairs.extend(_pairs_of((name,), value))
    return parameters


def _pairs_of(path: tuple[str, ...], value: object) -> list[tuple[tuple[str, ...], str]]:
    if isinstance(value, dict):
        steps = cast("dict[str, object]", value).items()
    elif isinstance(value, list):
        steps = [(str(index), entry) for index, entry in enumerate(cast("list[object]", value))]
    else:
        return [(path, _scalar_text(value))]
    return [pair for step, entry in steps for pair in _pairs_of((*path, step), entry)]


def _scalar_text(value: object) -> str:
    if value is None:
        return ""
    return str(int(value)) if isinstance(value, bool) else str(value)


def read_body(raw: bytes, content_type: str | None, *, depth_max: int = parsing.DEPTH_MAX) -> tuple[Any, bool]:
    """Returns UNSET for no body, and True where it is lax. Raises UnsupportedMedia for other labels, Malformed."""
    if parsing.is_json(content_type):
        return parsing.read_json(raw, depth_max=depth_max), False
    if not parsing.is_form(content_type):
        raise errors.UnsupportedMedia(
            "Send JSON in UTF-8 with the header Content-Type: application/json.", headers={"Accept": READ}
        )
    raw = raw.removeprefix(parsing.BYTE_ORDER_MARK)
    if looks_like_json(raw):
        return parsing.read_json(raw, depth_max=depth_max), True
    if not raw.strip():
        return msgspec.UNSET, True
    return read(raw, code="malformed_form").values, True


def looks_like_json(raw: bytes) -> bool:
    return raw[:1] in {b"{", b"["} or raw.lstrip()[:1] in {b"{", b"["}
