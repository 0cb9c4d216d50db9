"""The outbox: what would have been sent, for developers and demonstrations. Mounted only while no mail leaves.

It shows addresses, so it takes the key that the demo prints, or a request of this very machine; see `kit.web.loopback`.
"""

import re
from collections.abc import Sequence
from datetime import datetime
from email import message_from_bytes, policy
from typing import Annotated, Any, Final, LiteralString
from urllib.parse import urlencode

import msgspec
from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response

from afterword import errors, ids
from afterword.core.organizations.access import Caller
from afterword.core.wire.lists import Page, Rows
from afterword.kit import db
from afterword.kit.db import Database
from afterword.kit.nouns.declaration import Hidden
from afterword.kit.nouns.structs import shown_as
from afterword.kit.texts import texts
from afterword.kit.transport import mime
from afterword.kit.transport.base import SMS, WEBHOOK, Message
from afterword.kit.web import fields, html, loopback, public, static
from afterword.kit.web.mails import mail_page
from afterword.kit.web.operations import Answer, Call, Routes
from afterword.kit.web.routing import Pages
from afterword.sending.queue.records import VALUE_SCOPES


class OutboxMessageRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A message that was kept in place of being sent."""

    organization_id: Annotated[str, Hidden()]
    message_id: fields.Id
    channel_id: fields.ChannelId
    pipeline_id: fields.Id | None  # None for a message that is about no pipeline
    questionnaire_id: Annotated[str | None, Hidden()]
    pipeline_title: Annotated[str | None, Hidden()]
    responder_channel_identifier: str
    subject: str | None
    test: bool
    created_time: datetime


class WholeMessage(OutboxMessageRecord, frozen=True, kw_only=True):
    """`content` is the whole mail, or the text of what is no mail. `item_id` and `instance_id`: while they are kept.

    The instance of a test message has the id of the message.
    """

    content: bytes
    item_id: str | None
    instance_id: str | None


_COLUMNS: Final[LiteralString] = """m.organization_id, m.message_id, m.channel_id, m.pipeline_id,
  p.questionnaire_id, p.title as pipeline_title, m.recipient as responder_channel_identifier, m.subject,
  m.test, m.created_time"""
_WHOLE: Final[LiteralString] = f"""select {_COLUMNS}, m.content, q.item_id, i.instance_id
  from outbox_message m
  left join pipeline p on p.organization_id = m.organization_id and p.pipeline_id = m.pipeline_id
  left join queue_item q on q.organization_id = m.organization_id and q.item_id = m.item_id and q.deleted_time is null
  left join questionnaire_instance i on i.organization_id = m.organization_id
    and i.instance_id = coalesce(q.questionnaire_instance_id, m.item_id) and i.deleted_time is null"""
# Mails to users hold links that log in: the operator alone sees them. An older release does not say which they are.
_VISIBLE: Final[LiteralString] = """m.organization_id = $1 and not coalesce(m.to_user, m.pipeline_id is null)
  and (m.test or not $3) and (cardinality($2::text[]) = 0
  or exists (select from questionnaire n where n.organization_id = p.organization_id
    and n.questionnaire_id = p.questionnaire_id and n.owner_application_id = any($2)))"""


async def insert_message(db: Database, *, message: Message) -> None:  # any tenant: the message names its own
    """Keep a message of an item, or a test message, in place of sending it; the same again replaces it.

    Of a mail the whole is kept, of others the text.
    """
    await db.execute(
        """insert into outbox_message (organization_id, message_id, item_id, channel_id, recipient, subject, content,
             pipeline_id, test,
             to_user)
           select $1, $2, $2, $3, $4, $5, $6, coalesce(q.pipeline_id, t.pipeline_id),
             coalesce(q.test, t.captured, false), $7
           from (select) one
           left join queue_item q on q.organization_id = $1 and q.item_id = $2
           left join trial t on t.organization_id = $1 and t.trial_id = $2
           on conflict (organization_id, message_id) do update
           set recipient = excluded.recipient, subject = excluded.subject, content = excluded.content""",
        *(message.organization_id, message.item_id, message.channel_id, message.recipient, message.subject),
        *(_kept(message), message.to_user),
    )


async def list_captured(
    db: Database, *, organization_id: str, application_ids: Sequence[str], test_only: bool, page: Page
) -> Rows[OutboxMessageRecord]:
    return await db.records(OutboxMessageRecord).fetch_list(
        f"""select {_COLUMNS} from outbox_message m
           left join pipeline p on p.organization_id = m.organization_id and p.pipeline_id = m.pipeline_id
           where {_VISIBLE}""",
        *(organization_id, list(application_ids), test_only),
        page=page,
    )


async def _get_captured(
    db: Database, *, organization_id: str, application_ids: Sequence[str], test_only: bool, message_id: str
) -> WholeMessage | None:
    return await db.records(WholeMessage).fetch_row(
        f"{_WHOLE} where {_VISIBLE} and m.message_id = $4",
        *(organization_id, list(application_ids), test_only, message_id),
    )


async def get_has_message(db: Database, *, organization_id: str, message_id: str) -> bool:
    return await db.fetch_value(
        "select exists (select from outbox_message where organization_id = $1 and message_id = $2)",
        *(organization_id, message_id),
    )


async def get_message_record(  # any tenant: a page of the installation's operator
    db: Database, *, message_id: str
) -> WholeMessage | None:
    return await db.records(WholeMessage).fetch_row(
        f"{_WHOLE} where m.message_id = $1 order by m.created_time limit 1", message_id
    )


async def list_message_records(  # any tenant: a page of the installation's operator
    db: Database, *, limit: int, offset: int = 0
) -> list[OutboxMessageRecord]:
    return await db.records(OutboxMessageRecord).fetch(
        f"""select {_COLUMNS} from outbox_message m
           left join pipeline p on p.organization_id = m.organization_id and p.pipeline_id = m.pipeline_id
           order by m.created_time desc limit $1 offset $2""",
        *(limit, offset),
    )


KEPT_DAYS: Final = 30
SHOWN_HEADERS: Final = ("From", "To", "Reply-To", "Subject", "Date", "List-Unsubscribe", "List-Unsubscribe-Post")


class Content(msgspec.Struct, frozen=True):
    """A kept message taken apart: headers worth seeing, the page of a mail and its plain text."""

    headers: list[tuple[str, str]]
    html: str
    text: str


async def get(db: Database, *, caller: Caller, message_id: str) -> WholeMessage:
    """The message with its content, which shows values; raises NotFound, and Forbidden without their scopes."""
    for scope in VALUE_SCOPES.values():
        caller.require(scope)
    found = await _get_captured(db, **caller.reach, message_id=message_id)
    return errors.found(found, "There is no such message.")


def content_of(message: WholeMessage) -> Content:
    mail = message_from_bytes(message.content, policy=policy.default)
    if "From" not in mail:
        return Content([], "", message.content.decode("utf-8", "replace"))
    headers = [(name, str(mail[name])) for name in SHOWN_HEADERS if mail[name] is not None]
    return Content(headers, _part(mail.get_body(("html",))), _part(mail.get_body(("plain",))))


def _kept(message: Message) -> bytes:
    if message.channel_id in {SMS, WEBHOOK}:
        return message.text.encode()
    try:
        return mime.build(message)
    except ValueError:  # the address of another channel, which is no mailbox
        return f"{message.subject}\n\n{message.text}".encode()


def _part(part: Any) -> str:
    return str(part.get_content()) if part is not None else ""


PATH: Final = "/q/outbox"
KEPT: Final = f"Those of the last {KEPT_DAYS} days."

routes = Routes(tag="Queue", scope="Queue")


OutboxMessage: Final = shown_as("OutboxMessage", OutboxMessageRecord)
OUTBOX_MESSAGES: Final = fields.listing_of(OutboxMessage)


class OutboxContent(fields.Resource):
    """A kept message with its content."""

    message_id: fields.Id
    item_id: fields.Id | None
    channel_id: fields.ChannelId
    pipeline_id: fields.Id | None
    responder_channel_identifier: str
    subject: str | None
    text: Annotated[str, Meta(description="The plain text: of an SMS all of it, of a webhook its body.")]
    html: Annotated[str | None, Meta(description="The page of a mail; null for other channels.")]
    collection_url: Annotated[str | None, Meta(description="The page to answer as the recipient; null: there is none.")]
    test: bool
    created_time: fields.DateTime


@routes.list(
    PATH,
    answer=OutboxMessage,
    listing=OUTBOX_MESSAGES,
    summary="Get the messages in the outbox",
    description=f"Messages of test items, and all where the installation has no mail server. {KEPT}",
)
async def list_messages(call: Call[None], db: Database) -> Rows[OutboxMessageRecord]:
    return await list_captured(db, **call.caller.reach, page=call.page)


@routes.get(
    f"{PATH}/{{message_id}}",
    more_scopes=tuple(VALUE_SCOPES.values()),
    answer=OutboxContent,
    summary="Get a message in the outbox",
    description="With its texts and the address at which its recipient would answer.",
)
async def get_message(call: Call[None], db: Database) -> Answer:
    found = await get(db, caller=call.caller, **call.ids)
    content = content_of(found)
    url = call.public_pages.collection_url(found.instance_id) if found.instance_id else None
    given = {"text": content.text, "html": content.html or None, "collection_url": url}
    return Answer(OutboxContent.of(found, call.zone, **given))


STYLE: Final = "public/outbox.css"
PAGE_MESSAGES: Final = 50
PAGE_MAX: Final = 1_000
_PAGE: Final = re.compile(r"[1-9][0-9]{0,3}\Z")

page_routes = Pages()  # mounted on demand


@page_routes.get("/outbox", for_people=True)
async def outbox_page(request: Request) -> Response:
    query = _admitted(request)
    wanted = request.query_params.get("page", "1")
    page = min(int(wanted), PAGE_MAX) if _PAGE.match(wanted) else 1
    async with db.connection(request.state.pool) as database:
        messages = await list_message_records(database, limit=PAGE_MESSAGES + 1, offset=(page - 1) * PAGE_MESSAGES)
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


@page_routes.get("/outbox/{message_id}", for_people=True)
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


@page_routes.get("/outbox/{message_id}/content", for_people=True)
async def message_content(request: Request) -> Response:
    _admitted(request)
    message, site = await _message(request), request.state.site
    return mail_page(content_of(message).html, pages=site.pages(message.organization_id))


async def _message(request: Request) -> WholeMessage:
    message_id: str = request.path_params["message_id"]
    message = None
    if ids.is_id(message_id):
        message = await db.load(request.state.pool, get_message_record, message_id=message_id)
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
