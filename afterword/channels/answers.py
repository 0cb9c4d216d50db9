"""Answers of people to our mails, which their `References` prove."""

import re
from dataclasses import dataclass
from email.header import decode_header, make_header
from email.message import Message
from typing import Any, Final

from afterword.channels.mime import one_line
from afterword.core.messaging import proofs, reply_text

KEY_CHARACTERS_MAX: Final = 500
NAMED_CHARACTERS_MAX: Final = 4_000  # of In-Reply-To and References
TEXT_BYTES_MAX: Final = 65_536

_ANSWERED: Final = re.compile(r"<([0-9A-Za-z]{22}\.[0-9A-Za-z_-]{16})@")


@dataclass(frozen=True, slots=True)
class Answer:
    """`message_id` names our mail. `key`: its own Message-ID."""

    message_id: str
    key: str
    sender: str
    subject: str
    body: str


def answer_of(mail: Message, *, sender: str | None, secret: bytes) -> Answer | None:
    named = _ANSWERED.findall(f"{mail['In-Reply-To']} {mail['References']}"[:NAMED_CHARACTERS_MAX])
    asked = next(filter(None, (proofs.replied_to(one, secret) for one in reversed(named))), None)
    key = one_line(str(mail["Message-ID"] or ""))
    if asked is None or sender is None or not key:
        return None
    body = reply_text.own_words(_words_of(mail))
    try:
        subject = one_line(str(make_header(decode_header(str(mail["Subject"] or "")))))
    except (LookupError, ValueError):
        subject = ""
    return Answer(asked, key[:KEY_CHARACTERS_MAX], sender, subject, body) if body else None


def _words_of(mail: Message) -> str:
    """The text of a person's mail: the plain part, else the other one without its tags."""
    parts = [part for part in mail.walk() if part.get_content_maintype() == "text" and not part.get_filename()]
    parts.sort(key=lambda part: part.get_content_subtype() != "plain")
    if not parts:
        return ""
    payload: Any = parts[0].get_payload(decode=True)
    try:
        text = bytes(payload or b"")[:TEXT_BYTES_MAX].decode(parts[0].get_content_charset() or "utf-8", "replace")
    except LookupError:
        text = bytes(payload or b"")[:TEXT_BYTES_MAX].decode("utf-8", "replace")
    text = text.replace("\r\n", "\n").replace("\x00", "")
    return text if parts[0].get_content_subtype() == "plain" else reply_text.text_of_html(text)
