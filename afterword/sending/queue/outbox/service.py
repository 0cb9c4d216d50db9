"""Keeps messages in place of sending them, and shows them."""

from dataclasses import dataclass
from email import message_from_bytes, policy
from typing import Any, Final

from afterword import errors
from afterword.core.organizations.access import Caller
from afterword.kit.db import Database
from afterword.kit.transport import mime
from afterword.kit.transport.base import SMS, WEBHOOK, Message
from afterword.sending.queue.outbox import store
from afterword.sending.queue.outbox.store import WholeMessage
from afterword.sending.queue.service import VALUE_SCOPES

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
    await store.insert_message(
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
    found = await store.get_captured(db, **caller.reach, message_id=message_id)
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
