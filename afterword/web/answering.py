"""Renders a handler's result as status, headers and content: envelopes, ETags, narrowed members, files."""

from collections.abc import Mapping, Sequence
from datetime import tzinfo
from typing import Any, cast

import msgspec

from afterword.core.wire.lists import Rows
from afterword.core.wire.site import Site
from afterword.web import headers, paging
from afterword.web.fields import Resource
from afterword.web.headers import Header
from afterword.web.operations import Answer, Download, Route, etag_of

Sent = tuple[int, list[Header], bytes | Download]

_encode = msgspec.json.Encoder().encode


class Renderer:
    def __init__(self, route: Route, site: Site, lists: paging.ListReader | None) -> None:
        self._route = route
        self._site = site
        self._lists = lists
        self._reads = route.method == "GET"
        self._is_single = route.shape == "one"

    def answer_of(self, result: Any, zone: tzinfo) -> Answer:
        answer = result if isinstance(result, Answer) else Answer(record=result)
        record, resource = answer.record, cast("type[Resource]", self._route.answer)
        if isinstance(record, Rows):
            answer.value = resource.of_rows(cast("Rows[Any]", record), zone)
        elif record is not None:
            answer.value, answer.version = resource.of(record, zone), record.version
        return answer

    def render(
        self,
        answer: Answer,
        *,
        sent: Mapping[str, str],
        requested: paging.PageRequest | None,
        members: frozenset[str] | None,
    ) -> Sent:
        more = [headers.VARY, *(headers.header(name, value) for name, value in answer.headers.items())]
        if answer.location is not None:
            more.append((b"location", self._site.api(answer.location).encode()))
        status = answer.status or self._route.status
        if answer.value is None and answer.download is None:
            more.append(headers.NO_STORE)
            if status != 204:  # noqa: PLR2004
                more.append((b"content-length", b"0"))
            return status, more, b""
        if answer.version is not None:
            etag = etag_of(answer.version)
            more.append((b"etag", etag.encode()))
            given = sent.get("if-none-match")
            if given is not None and self._reads and headers.matches(given, etag):
                return 304, [*more, headers.NO_CACHE], b""
        if answer.download is not None:
            return status, [*more, *_file_headers(answer.download)], answer.download
        if "Cache-Control" not in answer.headers:
            more.append(headers.NO_CACHE if self._is_single else headers.NO_STORE)
        shown = self._shown(answer.value, more, requested, members)
        content = _encode(shown)
        more.append(headers.JSON)
        more.append((b"content-length", b"%d" % len(content)))
        return status, more, content

    def _shown(
        self, value: object, more: list[Header], requested: paging.PageRequest | None, members: frozenset[str] | None
    ) -> object:
        if isinstance(value, msgspec.Struct):
            return value if members is None else _some_of(value, members)
        if not isinstance(value, Rows):
            return _narrowed(cast("Sequence[msgspec.Struct]", value), members)
        rows = cast("Rows[msgspec.Struct]", value)
        items = _narrowed(rows.items, members)
        if self._lists is None or requested is None:
            return items
        following = self._lists.next_target(requested, rows)
        if following is not None:
            more.append(headers.header("link", f'<{self._site.public_url}{following}>; rel="next"'))
        match self._route.shape:
            case "envelope":
                return self._lists.envelope(requested, rows, items)
            case "cursor":
                return {"results": items, "next_cursor": self._lists.next_cursor(requested, rows)}
            case _:
                if rows.total is not None:
                    more.append(headers.header("x-total-count", str(rows.total)))
                return items


def _narrowed(items: Sequence[msgspec.Struct], members: frozenset[str] | None) -> Sequence[object]:
    return items if members is None else [_some_of(item, members) for item in items]


def _some_of(value: msgspec.Struct, members: frozenset[str]) -> dict[str, object]:
    return {name: getattr(value, name) for name in value.__struct_fields__ if name in members}


def _file_headers(file: Download) -> list[Header]:
    found = [
        headers.header("content-type", file.media_type),
        headers.header("content-disposition", headers.attachment(file.file_name)),
        headers.SANDBOX,
        headers.NO_STORE,
    ]
    return found if file.length is None else [*found, (b"content-length", b"%d" % file.length)]
