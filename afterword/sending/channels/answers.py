"""Answers of people to our mails, which their `References` prove."""

import re
from dataclasses import dataclass
from email.errors import MessageError
from email.header import decode_header, make_header
from email.message import Message
from typing import Any, Final

from afterword.core.messaging import mail_html, reply_text
from afterword.kit.transport.mime import one_line

KEY_CHARACTERS_MAX: Final = 500
NAMED_CHARACTERS_MAX: Final = 4_000  # of In-Reply-To and References
HEADER_CHARACTERS_MAX: Final = 2_000
FILES_MAX: Final = 20  # that are named
FILE_CHARACTERS_MAX: Final = 100
TEXT_BYTES_MAX: Final = 65_536
HTML_BYTES_MAX: Final = 262_144  # styles come before the words

_ANSWERED: Final = re.compile(r"<([0-9A-Za-z]{22}\.[0-9A-Za-z_-]{16})@")

_CHARSET: Final = re.compile(
    r"(?:iso-|utf-8|windows-|koi8|shift_jis|euc-|gb|big5|cp125|latin)"
)  # not those that take long


@dataclass(frozen=True, slots=True)
class Answer:
    """`message_id` names our mail. `key`: its own Message-ID. `text`: all of it, as `own_words` takes it."""

    message_id: str
    key: str
    sender: str
    subject: str
    text: str
    files: tuple[str, ...] = ()  # names of those attached, which are not kept

    @property
    def body(self) -> str:
        return reply_text.own_words(self.text)


def answer_of(mail: Message, *, sender: str | None, secret: bytes) -> Answer | None:
    named = _ANSWERED.findall(f"{mail['In-Reply-To']} {mail['References']}"[:NAMED_CHARACTERS_MAX])
    asked = next(filter(None, (reply_text.replied_to(one, secret) for one in reversed(named))), None)
    key = one_line(str(mail["Message-ID"] or ""))
    if asked is None or sender is None or not key:
        return None
    text, files = _text_of(mail)[:TEXT_BYTES_MAX], _files_of(mail)
    if not reply_text.readable(text):
        if not files:
            return None
        text = "\n".join(files)
    return Answer(asked, key[:KEY_CHARACTERS_MAX], sender, one_line(header(mail, "Subject")), text, files)


def _files_of(mail: Message) -> tuple[str, ...]:
    """The names of attached files, each behind a paper clip."""
    names = (part.get_filename() for part in mail.walk())
    return tuple(f"\N{PAPERCLIP} {one_line(name)[:FILE_CHARACTERS_MAX]}" for name in names if name)[:FILES_MAX]


def header(mail: Message, name: str) -> str:
    """A header as it was written, in UTF-8 (RFC 6532), with its encoded words read unless they are broken."""
    raw = next((value for key, value in mail.raw_items() if key.lower() == name.lower()), "")
    text = utf8(str(raw))[:HEADER_CHARACTERS_MAX]
    try:
        return str(make_header(decode_header(text))) if "=?" in text else text
    except (LookupError, ValueError, MessageError):
        return text


def utf8(text: str) -> str:
    """A text that was read as ASCII with surrogates."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _text_of(part: Message) -> str:
    """Texts of all parts, such as those around a picture; of alternatives the plain one, unless it is empty."""
    payload: Any = part.get_payload()
    if part.get_content_maintype() == "multipart" and isinstance(payload, list):
        is_choice = part.get_content_subtype() == "alternative"
        parts = sorted(payload, key=lambda one: is_choice and one.get_content_type() != "text/plain")
        texts = (text for one in parts if (text := _text_of(one)).strip())
        return next(texts, "") if is_choice else "\n".join(texts)
    if part.get_content_maintype() != "text" or part.get_filename() or part.get_content_disposition() == "attachment":
        return ""
    is_html = part.get_content_subtype() == "html"
    text = decoded(part, HTML_BYTES_MAX if is_html else TEXT_BYTES_MAX).replace("\x00", "")
    return mail_html.text_of(text) if is_html else text


def decoded(part: Message, most: int) -> str:
    """The text of a part, of at most so many bytes."""
    payload: Any = part.get_payload(decode=True)
    if payload is None and isinstance(raw := part.get_payload(), str):  # a container whose boundary is missing
        payload = raw.encode("utf-8", "surrogateescape")
    if not isinstance(payload, bytes):
        return ""
    charset = part.get_content_charset() or ""
    try:
        text = payload[:most].decode(charset if _CHARSET.match(charset) else "utf-8", "replace")
    except LookupError:
        text = payload[:most].decode("utf-8", "replace")
    return text.replace("\r\n", "\n")
