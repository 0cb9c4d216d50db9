"""Builds the bytes of a mail by hand: `email.message` takes 1.4 ms for what is here some dozen microseconds.

RFC 5322 (headers), 2045 (quoted-printable), 2047 (encoded words), 6532 (UTF-8 addresses), 8058 (one-click), 3834.
"""

import re
from base64 import b64encode
from binascii import b2a_qp
from datetime import datetime
from email.utils import format_datetime
from functools import lru_cache
from typing import Final, Literal

import msgspec

from afterword.core.messaging import addresses
from afterword.kit.transport.base import EMAIL, Message

Kind = Literal["accepted", "delivered", "failed", "bounced", "complained", "unsubscribed"]

# The kinds about one message; `unsubscribed` is about all.
KINDS: Final[tuple[Kind, ...]] = ("accepted", "delivered", "failed", "bounced", "complained")
REPORTS_MAX: Final = 500  # of one callback or one message; more are not read
TEXT_CHARACTERS_MAX: Final = 500
CODE_CHARACTERS_MAX: Final = 40
REFERENCE_CHARACTERS_MAX: Final = 255


class Unsigned(Exception):
    """The signature is missing, wrong, too old or of another key; the sentence says which."""


class Unreadable(Exception):
    """The content is no report; the sentence says why and quotes nothing."""


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that happened to one message.

    `accepted`: the provider took it; `delivered`: it arrived; `failed` (SMS) and `bounced` (mail): it did not, because
    the address does not exist if `is_hard`; `complained`: the person called it spam; `unsubscribed`: the person wrote
    STOP, which is about the number in `recipient` and about no message. The message is identified by `item_id`, else by
    the provider's `provider_reference`, else by `recipient`. `code`, `text` and `time` are the provider's own. A report
    that is not `is_proven` (a mail that anybody may have written) is kept in the log and does nothing else.
    """

    kind: Kind
    is_hard: bool = False
    item_id: str | None = None
    provider_reference: str | None = None
    recipient: str | None = None
    code: str = ""
    text: str = ""
    time: datetime | None = None
    is_proven: bool = True


def folded(reference: str) -> str:
    """An id or code in one spelling: SMSCs write the same one with other case, or with zeros before it."""
    return reference.casefold().lstrip("0") or reference[:1]


def worded(text: str, *known: str) -> str:
    """A provider's text as it is kept: one line, addresses masked, at most 500 characters."""
    line = " ".join("".join(mark if mark.isprintable() else " " for mark in text[: 4 * TEXT_CHARACTERS_MAX]).split())
    return addresses.mask(line, *known)[:TEXT_CHARACTERS_MAX]


LINE_CHARACTERS_MAX = 76
FOLD: Final = "\r\n "
SOFT_BREAK: Final = b"=\r\n"
BASE64_FROM = 1.15  # bytes a character: where base64 becomes the shorter of the two encodings
ADDRESS_CHARACTERS_MAX = 254  # RFC 5321 4.5.3.1.3, without the brackets
HEADER_CHARACTERS_MAX = 2_000  # longer texts are cut
WORDS_KEPT_MAX: Final = 200
_WORD_BYTES_MAX: Final = 45  # =?utf-8?b?…?= stays within 75 characters (RFC 2047 2)

_OWN_HEADERS: Final = frozenset(
    {"from", "to", "cc", "bcc", "reply-to", "subject", "date", "message-id", "mime-version", "auto-submitted", "sender"}
)
# Controls, line and paragraph separators, lone surrogates: nothing that could end a header line anywhere.
_UNFIT = re.compile("[\x00-\x20\x7f-\xa0\u2028\u2029\ud800-\udfff]+")
_HEADER_NAME = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,60}\Z")
_PLAIN_ADDRESS = re.compile(
    r"(?!')[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*"
    r"@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)*[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\Z"
)


def wire_address(text: str) -> str:
    """The address as envelope and header carry it: a domain in ASCII, a local part beyond ASCII only if it must.

    Raises addresses.InvalidAddress for everything that is not exactly one address.
    """
    if len(text) <= ADDRESS_CHARACTERS_MAX and _PLAIN_ADDRESS.match(text):
        return text
    return addresses.normalise(EMAIL, text)


def build(message: Message) -> bytes:
    """The whole mail with CRLF line ends, lines of at most 76 characters, 7 bits unless an address is not ASCII.

    Raises addresses.InvalidAddress for a recipient, sender or reply_to that is no address.
    """
    sender = wire_address(message.sender)
    boundary = f"=_{message.item_id}"  # quoted-printable never contains “=_”
    lines = [
        _mailbox("From", message.sender_name, sender),
        f"To: {wire_address(message.recipient)}",
        header("Subject", message.subject),
        f"Date: {format_datetime(message.composed_time)}",
        f"Message-ID: {message_id(message.item_id, sender)}",
        "MIME-Version: 1.0",
        *([] if message.by_person else ["Auto-Submitted: auto-generated"]),
    ]
    if message.reply_to:
        lines.insert(2, f"Reply-To: {wire_address(message.reply_to)}")
    lines += [header(name, value) for name, value in message.headers.items() if name.lower() not in _OWN_HEADERS]
    lines.append(f'Content-Type: multipart/alternative; boundary="{boundary}"')
    opening = "\r\n".join(lines).encode("utf-8")
    return b"".join(
        (
            opening,
            f"\r\n\r\n--{boundary}\r\n".encode(),
            _part("plain", message.text),
            f"\r\n--{boundary}\r\n".encode(),
            _part("html", message.html, message.html_quoted),
            f"\r\n--{boundary}--\r\n".encode(),
        )
    )


def message_id(item_id: str, sender: str) -> str:
    """The Message-ID of a mail, with its brackets. Raises addresses.InvalidAddress for a sender that is no address."""
    return f"<{item_id}@{wire_address(sender).rpartition('@')[2]}>"


def header(name: str, value: str) -> str:
    """One header field, folded; no value can add a second one."""
    if not _HEADER_NAME.match(name):
        raise ValueError("A header's name is letters, digits and hyphens.")
    text = one_line(value)[:HEADER_CHARACTERS_MAX]
    fits = len(name) + 2 + len(text) <= LINE_CHARACTERS_MAX
    # A subject longer than a line becomes encoded words; what programs read, such as URLs, stays whole, a word a line.
    is_for_programs = name != "Subject" and max(map(len, text.split(" "))) < 900  # noqa: PLR2004  998 a line
    if (fits or is_for_programs) and text.isascii() and "=?" not in text:
        return f"{name}: {text if fits else FOLD.join(text.split(' '))}"
    return f"{name}: {_encoded_words(text, len(name) + 2)}"


def one_line(text: str) -> str:
    """Text without controls, line ends and lone surrogates: each run of them, and of spaces, is one space."""
    return _UNFIT.sub(" ", text).strip()


def _mailbox(name: str, display: str | None, address: str) -> str:
    shown = one_line(display or "")[:HEADER_CHARACTERS_MAX]
    if not shown:
        return f"{name}: {address}"
    quoted = shown.replace("\\", "\\\\").replace('"', '\\"')
    if shown.isascii() and "=?" not in shown and len(quoted) + len(address) < LINE_CHARACTERS_MAX - 12:
        return f'{name}: "{quoted}" <{address}>'
    return f"{name}: {_encoded_words(shown, len(name) + 2)}\r\n <{address}>"


@lru_cache(maxsize=WORDS_KEPT_MAX)  # many mails have one subject and one sender
def _encoded_words(text: str, taken: int) -> str:
    """RFC 2047 words of base64, none torn inside a character, each on a line of its own."""
    words: list[str] = []
    chunk = bytearray()
    room = _WORD_BYTES_MAX - (taken * 3 // 4 if taken < 40 else 0)  # noqa: PLR2004  the first shares its line
    for character in text:
        encoded = character.encode("utf-8", "replace")
        if len(chunk) + len(encoded) > room:
            words.append(b64encode(chunk).decode("ascii"))
            chunk.clear()
            room = _WORD_BYTES_MAX
        chunk += encoded
    words.append(b64encode(chunk).decode("ascii"))
    return FOLD.join(f"=?utf-8?b?{word}?=" for word in words)


def _part(kind: str, text: str, quoted: bytes = b"") -> bytes:
    """One alternative. `quoted`: the text as quoted-printable, where somebody has it."""
    lines = b"" if quoted else "\r\n".join(text.splitlines()).encode("utf-8", "replace")
    if not quoted and is_shorter_as_base64(text):
        encoding, encoded = "base64", _base64_lines(lines)
    else:
        encoding, encoded = "quoted-printable", quoted or _quoted(lines)
    opening = f"Content-Type: text/{kind}; charset=utf-8\r\nContent-Transfer-Encoding: {encoding}\r\n\r\n"
    return opening.encode() + encoded


def is_shorter_as_base64(text: str) -> bool:
    """True of many letters beyond ASCII, such as Greek: each takes six bytes in quoted-printable."""
    return len(text.encode("utf-8", "replace")) > len(text) * BASE64_FROM


def quoted_piece(text: str) -> bytes:
    """A piece of a text as quoted-printable, on lines of its own: a soft break ends it."""
    lines = "\r\n".join(f"{text}\0".splitlines())[:-1]  # the zero keeps a line end that is the last
    return _quoted(lines.encode("utf-8", "replace")) + SOFT_BREAK


def _quoted(lines: bytes) -> bytes:
    return b2a_qp(lines, istext=True).replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")  # soft breaks come as LF


def _base64_lines(body: bytes) -> bytes:
    encoded = b64encode(body)
    width = LINE_CHARACTERS_MAX
    return b"\r\n".join([encoded[start : start + width] for start in range(0, len(encoded), width)])
