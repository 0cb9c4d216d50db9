"""Reads returned mail: delivery reports (RFC 3464), complaints (RFC 5965), and bounces without a standard form.

Anybody may write such a mail. It is proven for an item only if it quotes the header with our proof
(`core.messaging.proofs`), not by the Message-ID alone. Only codes that mean "this address does not exist" are hard, by
the table for SMTP replies. All lengths are limited before parsing, because the standard library and the detectors take
time by the square of the length of a header or a line.
"""

import email
import logging
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.message import Message
from email.utils import getaddresses, parsedate_to_datetime
from typing import Any, Final

from flufl.bounce import all_failures

from afterword.channels import answers, replies
from afterword.channels.answers import Answer
from afterword.channels.reports import CODE_CHARACTERS_MAX, Report, Unreadable, worded
from afterword.core.messaging import proofs
from afterword.core.messaging.addresses import IDENTIFIER_CHARACTERS_MAX

MAIL_BYTES_MAX: Final = 10_485_760
READ_BYTES_MAX: Final = 1_048_576  # a report and the quoted headers come first
LINES_MAX: Final = 50_000
LINE_CHARACTERS_MAX: Final = 1_000  # SMTP allows 998
HEADER_CHARACTERS_MAX: Final = 2_000  # of a header with parameters
PARTS_MAX: Final = 50
RECIPIENTS_MAX: Final = 100
TEXT_BYTES_MAX: Final = 65_536  # of a part, and of all text for the detectors
NEAR_CHARACTERS: Final = 1_500  # of the reason, behind an address

_BOUNDARIES: Final = re.compile(rb"boundary\s{0,9}=|^content-type:\s{0,9}message/", re.IGNORECASE | re.MULTILINE)
_LINE_END: Final = re.compile(r"\r\n?|\n")
_PARAMETERS: Final = re.compile(
    r"^content-[a-z-]{1,40}[ \t]*:[^\n]*(?:\n[ \t][^\n]*)*", re.IGNORECASE | re.MULTILINE | re.ASCII
)
_PROOF: Final = re.compile(rf"^[> \t]*{proofs.ITEM_HEADER}:[ \t]*(\S{{20,60}})[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)
_MESSAGE_ID: Final = re.compile(
    r"^[> \t]*(?:Original-)?Message-ID:[ \t]*(?:\r?\n[ \t]+)?<([0-9A-Za-z]{22})@", re.IGNORECASE | re.MULTILINE
)
_REFERENCE: Final = re.compile(r"<([0-9A-Za-z]{22})@")
_STATUS: Final = re.compile(r"\s*([245]\.\d{1,3}\.\d{1,3})\b")
_REPLY: Final = re.compile(r"(?<![\d.])([45]\d\d)(?:[ -]|$)")
_AUTOMATIC_SUBJECT: Final = re.compile(
    r"(?:auto(?:matic(?: reply)?|-?reply|-?response)|out of (?:the )?office|abwesen|vacation|on leave)", re.IGNORECASE
)
logging.getLogger("flufl.bounce").setLevel(logging.CRITICAL)  # it logs each forgery that a detector fails on

PERSON: Final = "No report: a person's mail."
_HOSTS: Final = re.compile(r"mailer-?daemon|postmaster|mail ?delivery|microsoftexchange", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Read:
    """Result of reading a mail: `reports`, or `why` there are none; perhaps an `answer`."""

    reports: Sequence[Report]
    why: str = ""
    answer: Answer | None = None


def read(content: bytes, *, secret: bytes) -> Read:
    """The reports of one mail; raises Unreadable for content that is no mail or too large for returned mail."""
    if len(content) > MAIL_BYTES_MAX:
        raise Unreadable(f"The mail has more than {MAIL_BYTES_MAX:,} bytes.")
    mail = _parsed(content)
    found = _Quoted.of(mail, secret)
    try:
        if forms := list(_parts(mail, "message/feedback-report")):
            return _complaint(forms[0], found)
        if forms := list(_parts(mail, "message/delivery-status")):
            return _deliveries(mail, forms, found)
        read = _formless(mail, found)
        return (
            replace(read, answer=answers.answer_of(mail, sender=_address(str(mail["From"] or "")), secret=secret))
            if read.why == PERSON
            else read
        )
    except (LookupError, ValueError, TypeError, AttributeError, RecursionError) as error:
        # The standard library's parser fails on some forgeries.
        raise Unreadable(f"The mail cannot be read ({type(error).__name__}).") from None


@dataclass(frozen=True, slots=True)
class _Quoted:
    item_id: str | None
    is_proven: bool

    @classmethod
    def of(cls, mail: Message, secret: bytes) -> "_Quoted":
        item_id: str | None = None
        for text in _texts(mail):
            for proof in _PROOF.findall(text):
                if proven := proofs.item_of(proof, secret):
                    return cls(proven, is_proven=True)
            if item_id is None and (named := _MESSAGE_ID.search(text)):
                item_id = named[1]
        if item_id is None and (named := _REFERENCE.search(f"{mail['In-Reply-To']} {mail['References']}")):
            item_id = named[1]
        return cls(item_id, is_proven=False)


def _parsed(content: bytes) -> Message:
    """Raises Unreadable."""
    head = content[:READ_BYTES_MAX]
    if head.startswith(b"From "):  # the line with which a pipe or a box begins
        head = head.partition(b"\n")[2]
    if len(_BOUNDARIES.findall(head)) > PARTS_MAX:
        raise Unreadable(f"The mail has more than {PARTS_MAX} parts.")
    try:
        mail = _message(head.decode("ascii", "surrogateescape"))
    except (LookupError, ValueError, TypeError, AttributeError, RecursionError):
        raise Unreadable("The mail cannot be read.") from None
    if not mail.keys():
        raise Unreadable("This is no mail: it has no headers.")
    return mail


def _message(text: str) -> Message:
    """A mail or a group of fields. Raises Unreadable for a header that would take too long."""
    text = _cut(text)
    if any(len(header[0]) > HEADER_CHARACTERS_MAX for header in _PARAMETERS.finditer(text)):
        raise Unreadable(f"A header of the mail has more than {HEADER_CHARACTERS_MAX:,} characters.")
    return email.message_from_string(text)


def _cut(text: str) -> str:
    """The text with its lines limited in number and length."""
    lines = _LINE_END.split(text, LINES_MAX)[:LINES_MAX]
    return "\n".join(line[:LINE_CHARACTERS_MAX] for line in lines)


def _complaint(form: Message, found: _Quoted) -> Read:
    """RFC 5965: one person called one mail spam; other feedback (`not-spam`, `virus`) is ignored."""
    fields = _fields(form)
    kind = str(fields["Feedback-Type"] or "").strip().lower()
    if kind not in {"abuse", "fraud"}:
        return Read((), "Feedback, but no complaint.")
    recipient = _address(str(fields["Original-Rcpt-To"] or ""))
    report = Report(
        kind="complained",
        item_id=found.item_id,
        recipient=recipient,
        code=kind,
        text=worded(str(fields["User-Agent"] or ""), recipient or ""),
        time=_time(fields["Arrival-Date"] or fields["Received-Date"]),
        is_proven=found.is_proven,
    )
    return Read([report])


def _deliveries(mail: Message, forms: Sequence[Message], found: _Quoted) -> Read:
    """RFC 3464: first the fields of the whole mail, then a group of fields for each recipient."""
    reports: list[Report] = []
    for form in forms:
        groups = [group for group in _groups(form) if group["Final-Recipient"] or group["Original-Recipient"]]
        for group in groups[:RECIPIENTS_MAX]:
            report = _delivery(mail, group, found)
            if report is not None:
                reports.append(report)
    return Read(reports, "" if reports else "A delivery report that something is still under way.")


def _delivery(mail: Message, group: Message, found: _Quoted) -> Report | None:
    action = str(group["Action"] or "").split("(")[0].strip().lower()
    if action not in {"failed", "delivered"}:  # delayed, relayed, expanded: not final
        return None
    diagnostic = str(group["Diagnostic-Code"] or "")
    code = _code(str(group["Status"] or ""), diagnostic)
    recipient = _typed_address(group["Original-Recipient"]) or _typed_address(group["Final-Recipient"])
    is_hard = action == "failed" and code in replies.SUPPRESSING
    return Report(
        kind="bounced" if action == "failed" else "delivered",
        is_hard=is_hard,
        item_id=found.item_id,
        recipient=recipient,
        code=code,
        text=worded(diagnostic.partition(";")[2] or diagnostic, recipient or ""),
        time=_time(group["Last-Attempt-Date"] or mail["Date"]),
        is_proven=found.is_proven,
    )


def _formless(mail: Message, found: _Quoted) -> Read:
    """A bounce without a standard form, such as those of qmail and Exim."""
    failed = _address(str(mail["X-Failed-Recipients"] or ""))
    if _is_automatic(mail) and not failed:
        return Read((), "An automatic reply.")
    if not failed and not _HOSTS.search(str(mail["From"] or "")) and str(mail["Return-Path"] or "").strip() != "<>":
        return Read((), PERSON)
    words = "\n".join(_texts(mail))[:TEXT_BYTES_MAX]
    _cut_parts(mail)
    try:
        temporary, permanent = all_failures(mail)
    except Exception:  # noqa: BLE001  twenty detectors of forms from the wild
        temporary, permanent = frozenset(), frozenset()
    recipients = [address.decode("utf-8", "replace") for address in sorted(permanent)[:RECIPIENTS_MAX]]
    if not recipients and temporary:
        return Read((), "A delivery report that something is still under way.")
    if not recipients and failed:
        recipients = [failed]
    if not recipients:
        return Read((), "No report of a form that is known.")
    return Read([_said(mail, recipient, words, found) for recipient in recipients])


def _cut_parts(mail: Message) -> None:
    left = TEXT_BYTES_MAX
    for part in mail.walk():
        payload: Any = part.get_payload(decode=True)
        if isinstance(payload, bytes):
            text = _cut(payload[:left].decode("utf-8", "replace"))
            left = max(0, left - len(payload))
            del part["Content-Transfer-Encoding"]
            part.set_payload(text, "utf-8" if not text.isascii() else None)


def _said(mail: Message, recipient: str, words: str, found: _Quoted) -> Report:
    """The host's text after the address."""
    place = max(words.find(recipient), 0)
    near = words[place : place + NEAR_CHARACTERS]
    near = _PROOF.split(near)[0].split("--- Below this line")[0].split("------ This is a copy")[0]
    code = _code("", near)
    return Report(
        kind="bounced",
        is_hard=code in replies.SUPPRESSING,
        item_id=found.item_id,
        recipient=_address(recipient),
        code=code,
        text=worded(near.removeprefix(recipient), recipient),
        time=_time(mail["Date"]),
        is_proven=found.is_proven,
    )


# Fields and texts ----------------------------------------------------------------------------------------------------


def _code(status: str, diagnostic: str) -> str:
    """The enhanced code: of `Status`, but if that is a bare "failed" (5.0.0), of the host's text."""
    own = _STATUS.match(status)
    said = replies.enhanced_of(diagnostic)
    code = own[1] if own else ""
    if said and (not code or code.endswith(".0.0")):
        code = said
    if not code and (reply := _REPLY.search(diagnostic)):
        code = reply[1]
    return code[:CODE_CHARACTERS_MAX]


def _parts(mail: Message, content_type: str) -> Iterator[Message]:
    """Parts of this type in the report itself, not in the quoted mail."""
    if mail.get_content_type() == content_type:
        yield mail
    elif mail.is_multipart() and mail.get_content_maintype() == "multipart":
        for part in _children(mail):
            yield from _parts(part, content_type)


def _children(mail: Message) -> list[Message]:
    payload: Any = mail.get_payload()
    return [part for part in payload if isinstance(part, Message)] if isinstance(payload, list) else []


def _groups(form: Message) -> list[Message]:
    if groups := _children(form):
        return groups
    return [_message(group) for group in _text(form).split("\n\n") if group.strip()]  # encoded


def _fields(form: Message) -> Message:
    inside = _children(form)
    return inside[0] if inside else _message(_text(form))


def _texts(mail: Message) -> Iterator[str]:
    """Every text in the mail, with the headers of quoted mail but not its own."""
    if mail.is_multipart():
        for part in _children(mail):
            if mail.get_content_maintype() == "message":
                yield "".join(f"{name}: {value}\n" for name, value in part.items())
            yield from _texts(part)
    elif mail.get_content_maintype() in {"text", "message"}:
        yield _text(mail)


def _text(part: Message) -> str:
    payload: Any = part.get_payload(decode=True)
    if not isinstance(payload, bytes):
        return ""
    return payload[:TEXT_BYTES_MAX].decode("utf-8", "replace").replace("\r\n", "\n")


def _is_automatic(mail: Message) -> bool:
    """True for automatic replies (RFC 3834 and older headers), such as vacations and read receipts."""
    submitted = str(mail["Auto-Submitted"] or "no").partition(";")[0].strip().lower()
    is_host = bool(_HOSTS.search(str(mail["From"] or "")))
    return (
        (submitted == "auto-replied" and not is_host)
        or any(mail[name] for name in ("X-Autoreply", "X-Autorespond", "X-Auto-Response-Suppress") if not is_host)
        or str(mail["Precedence"] or "").strip().lower() == "auto_reply"
        or mail.get_param("report-type") == "disposition-notification"
        or bool(_AUTOMATIC_SUBJECT.match(str(mail["Subject"] or "").strip()))
    )


def _typed_address(field: object) -> str | None:
    """`rfc822; ann@example.com`."""
    _, _, address = str(field or "").partition(";")
    return _address(address)


def _address(text: str) -> str | None:
    for _, address in getaddresses([text[: 2 * IDENTIFIER_CHARACTERS_MAX]]):
        if "@" in address and len(address) <= IDENTIFIER_CHARACTERS_MAX:
            return address
    return None


def _time(field: object) -> datetime | None:
    try:
        time = parsedate_to_datetime(str(field)) if field else None
        return time if time is None or time.tzinfo else time.replace(tzinfo=UTC)
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
