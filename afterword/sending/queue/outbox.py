"""Keeps messages in place of sending them, and shows them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from email import message_from_bytes, policy
from typing import Annotated, Any, Final, LiteralString

from msgspec import Meta

from afterword import errors
from afterword.core.organizations.access import Caller
from afterword.core.wire.lists import Page, Rows
from afterword.kit.db import Database
from afterword.kit.transport import mime
from afterword.kit.transport.base import SMS, WEBHOOK, Message
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call, Routes
from afterword.sending.queue.records import VALUE_SCOPES


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboxMessageRecord:
    """A message without its content. `pipeline_id`: None for a message that is about no pipeline."""

    organization_id: str
    message_id: str
    channel_id: int
    pipeline_id: str | None
    questionnaire_id: str | None
    pipeline_title: str | None
    responder_channel_identifier: str
    subject: str | None
    test: bool
    created_time: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeMessage(OutboxMessageRecord):
    """`content` is the whole mail, or the text of what is no mail. `item_id` and `instance_id`: while they are kept."""

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
  left join questionnaire_instance i on i.organization_id = q.organization_id
    and i.instance_id = q.questionnaire_instance_id and i.deleted_time is null"""
# Mails to users hold links that log in: the operator alone sees them. An older release does not say which they are.
_VISIBLE: Final[LiteralString] = """m.organization_id = $1 and not coalesce(m.to_user, m.pipeline_id is null)
  and (m.test or not $3) and (cardinality($2::text[]) = 0
  or exists (select from questionnaire n where n.organization_id = p.organization_id
    and n.questionnaire_id = p.questionnaire_id and n.owner_application_id = any($2)))"""


async def insert_message(
    db: Database,
    *,
    organization_id: str,
    item_id: str,
    channel_id: int,
    recipient: str,
    subject: str | None,
    content: bytes,
    to_user: bool,
) -> None:
    """Keep a message of an item, or a test message, in place of sending it; the same again replaces it."""
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
        *(organization_id, item_id, channel_id, recipient, subject, content, to_user),
    )


async def list_captured(
    db: Database, *, organization_id: str, application_ids: Sequence[str], test_only: bool, page: Page
) -> Rows[OutboxMessageRecord]:
    rows = await db.fetch_list(
        f"""select {_COLUMNS} from outbox_message m
           left join pipeline p on p.organization_id = m.organization_id and p.pipeline_id = m.pipeline_id
           where {_VISIBLE}""",
        *(organization_id, list(application_ids), test_only),
        page=page,
    )
    return rows.map(lambda row: OutboxMessageRecord(**row))


async def _get_captured(
    db: Database, *, organization_id: str, application_ids: Sequence[str], test_only: bool, message_id: str
) -> WholeMessage | None:
    row = await db.fetch_row(
        f"{_WHOLE} where {_VISIBLE} and m.message_id = $4",
        *(organization_id, list(application_ids), test_only, message_id),
    )
    return None if row is None else WholeMessage(**row)


async def get_has_message(db: Database, *, organization_id: str, message_id: str) -> bool:
    return await db.fetch_value(
        "select exists (select from outbox_message where organization_id = $1 and message_id = $2)",
        *(organization_id, message_id),
    )


async def get_message_record(  # any tenant: a page of the installation's operator
    db: Database, *, message_id: str
) -> WholeMessage | None:
    row = await db.fetch_row(f"{_WHOLE} where m.message_id = $1 order by m.created_time limit 1", message_id)
    return None if row is None else WholeMessage(**row)


async def list_message_records(  # any tenant: a page of the installation's operator
    db: Database, *, limit: int, offset: int = 0
) -> list[OutboxMessageRecord]:
    rows = await db.fetch(
        f"""select {_COLUMNS} from outbox_message m
           left join pipeline p on p.organization_id = m.organization_id and p.pipeline_id = m.pipeline_id
           order by m.created_time desc limit $1 offset $2""",
        *(limit, offset),
    )
    return [OutboxMessageRecord(**row) for row in rows]


KEPT_DAYS: Final = 30
SHOWN_HEADERS: Final = ("From", "To", "Reply-To", "Subject", "Date", "List-Unsubscribe", "List-Unsubscribe-Post")


@dataclass(frozen=True, slots=True)
class Content:
    """A kept message taken apart: headers worth seeing, the page of a mail and its plain text."""

    headers: list[tuple[str, str]]
    html: str
    text: str


async def capture(db: Database, *, message: Message) -> None:
    """Keep the whole mail, or the text of what is no mail."""
    await insert_message(
        db,
        organization_id=message.organization_id,
        item_id=message.item_id,
        channel_id=message.channel_id,
        recipient=message.recipient,
        subject=message.subject,
        content=_kept(message),
        to_user=message.to_user,
    )


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

routes = Routes(tag="Queue")


class OutboxMessage(fields.Resource):
    """A message that was kept in place of being sent."""

    message_id: fields.Id
    channel_id: fields.ChannelId
    pipeline_id: fields.Id | None
    responder_channel_identifier: str
    subject: str | None
    test: bool
    created_time: fields.DateTime


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
    scope="Queue.Read",
    answer=OutboxMessage,
    listing=OUTBOX_MESSAGES,
    summary="Get the messages in the outbox",
    description=f"Messages of test items, and all where the installation has no mail server. {KEPT}",
)
async def list_messages(call: Call[None], db: Database) -> Rows[OutboxMessageRecord]:
    return await list_captured(db, **call.caller.reach, page=call.page)


@routes.get(
    f"{PATH}/{{message_id}}",
    scope="Queue.Read",
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
