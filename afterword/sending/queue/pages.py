"""The outbox: what would have been sent, for developers and demonstrations. Mounted only while no mail leaves.

It shows addresses, so it takes the key that the demo prints, or a request of this very machine; see `kit.web.loopback`.
"""

import re
from typing import Final
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response

from afterword import errors, ids
from afterword.kit import db
from afterword.kit.texts import texts
from afterword.kit.web import html, loopback, public, static
from afterword.kit.web.mails import mail_page
from afterword.kit.web.routing import Pages
from afterword.sending.queue import outbox
from afterword.sending.queue.outbox import OutboxMessageRecord, WholeMessage, content_of

STYLE: Final = "public/outbox.css"
PAGE_MESSAGES: Final = 50
PAGE_MAX: Final = 1_000
_PAGE: Final = re.compile(r"[1-9][0-9]{0,3}\Z")

routes = Pages()  # mounted on demand


@routes.get("/outbox", for_people=True)
async def outbox_page(request: Request) -> Response:
    query = _admitted(request)
    wanted = request.query_params.get("page", "1")
    page = min(int(wanted), PAGE_MAX) if _PAGE.match(wanted) else 1
    async with db.connection(request.state.pool) as database:
        messages = await outbox.list_message_records(
            database, limit=PAGE_MESSAGES + 1, offset=(page - 1) * PAGE_MESSAGES
        )
    return public.page(
        "outbox.html",
        words=texts(public.DOMAIN, "en"),
        outbox_style_url=static.url(STYLE),
        title="Outbox",
        query=query,
        messages=[_line(message) for message in messages[:PAGE_MESSAGES]],
        newer=_address("/outbox", request, page=page - 1) if page > 1 else "",
        older=_address("/outbox", request, page=page + 1) if len(messages) > PAGE_MESSAGES else "",
    )


@routes.get("/outbox/{message_id}", for_people=True)
async def message_page(request: Request) -> Response:
    query = _admitted(request)
    message = await _message(request)
    preview = content_of(message)
    return public.page(
        "outbox_message.html",
        words=texts(public.DOMAIN, "en"),
        headers={"Content-Security-Policy": f"{html.CONTENT_SECURITY_POLICY}; frame-src 'self'"},
        outbox_style_url=static.url(STYLE),
        title=message.subject or "A message",
        query=query,
        message=_line(message),
        preview=preview,
    )


@routes.get("/outbox/{message_id}/content", for_people=True)
async def message_content(request: Request) -> Response:
    _admitted(request)
    message, site = await _message(request), request.state.site
    return mail_page(content_of(message).html, pages=site.pages(message.organization_id))


async def _message(request: Request) -> WholeMessage:
    message_id: str = request.path_params["message_id"]
    message = None
    if ids.is_id(message_id):
        async with db.connection(request.state.pool) as database:
            message = await outbox.get_message_record(database, message_id=message_id)
    return errors.found(message, "There is no such message.")


def _admitted(request: Request) -> str:
    """The query that carries the key on, or nothing where none is needed. Raises NotFound for everybody else."""
    if not loopback.is_admitted(request, "outbox"):
        raise errors.NotFound("There is no such page.")
    key = request.query_params.get("key")
    return "" if key is None else "?" + urlencode({"key": key})


def _address(path: str, request: Request, **query: object) -> str:
    key = request.query_params.get("key")
    return f"{path}?{urlencode({**query, **({'key': key} if key else {})})}"


def _line(message: OutboxMessageRecord) -> dict[str, object]:
    return {
        "id": message.message_id,
        "subject": message.subject or "(no subject)",
        "recipient": message.responder_channel_identifier,
        "time": message.created_time.isoformat(timespec="seconds"),
        "shown_time": f"{message.created_time:%Y-%m-%d %H:%M:%S} UTC",
    }
