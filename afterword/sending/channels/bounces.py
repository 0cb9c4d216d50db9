"""Reads returned mail: delivery reports (RFC 3464), complaints (RFC 5965), and bounces without a standard form.

Anybody may write such a mail. It is proven for an item only if it quotes the header with our proof
(`core.messaging.proofs`), not by the Message-ID alone. Such a bounce is never dropped: without a code it is a soft one.
The codes and words are judged in `core.messaging`. All lengths are limited before parsing, because the standard library
takes time by the square of the length of a header or a line.
An answer of a person is proven by its `References`.
"""

import email
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from email.errors import MessageError
from email.header import decode_header, make_header
from email.message import Message
from email.utils import getaddresses, parsedate_to_datetime
from typing import Any, Final

import msgspec

from afterword.core.messaging import mail_html, reply_text
from afterword.core.messaging.addresses import CHANNEL_EMAIL, IDENTIFIER_CHARACTERS_MAX, normal_or_none
from afterword.core.messaging.refusals import code_of, enhanced_of, judge
from afterword.core.messaging.reply_text import readable
from afterword.core.messaging.returned import (
    RECIPIENT_FIELDS,
    Fields,
    failed_in,
    groups_of,
    is_failure,
    is_waiting,
    parted,
    reason_in,
    typed,
)
from afterword.kit.transport.mime import CODE_CHARACTERS_MAX, Kind, Report, Unreadable, one_line, worded

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


class Answer(msgspec.Struct, frozen=True):
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


MAIL_BYTES_MAX: Final = 10_485_760
READ_BYTES_MAX: Final = 1_048_576  # a report and the quoted headers come first
FILE_LINES_MIN: Final = 1_300  # of base64, about 100 kB
LINES_MAX: Final = 50_000
LINE_CHARACTERS_MAX: Final = 1_000  # SMTP allows 998
PARTS_MAX: Final = 50
RECIPIENTS_MAX: Final = 100

_BOUNDARIES: Final = re.compile(rb"boundary\s{0,9}=|^content-type[ \t]*:\s{0,9}message/", re.IGNORECASE | re.MULTILINE)
_LINE_END: Final = re.compile(r"\r\n?|\n")
_PARAMETERS: Final = re.compile(
    r"^content-[a-z-]{1,40}[ \t]*:[^\n]*(?:\n[ \t][^\n]*)*", re.IGNORECASE | re.MULTILINE | re.ASCII
)
_BASE64: Final = re.compile(rb"[A-Za-z0-9+/]{60,76}\r?")
_PROOF: Final = re.compile(
    rf"^[> \t]*{reply_text.ITEM_HEADER}:[ \t]*(\S{{20,60}})[ \t]*\r?$", re.IGNORECASE | re.MULTILINE
)
_MESSAGE_ID: Final = re.compile(
    r"^[> \t]*(?:Original-)?Message-ID:[ \t]*(?:\r?\n[ \t]+)?<([0-9A-Za-z]{22})@", re.IGNORECASE | re.MULTILINE
)
_REFERENCE: Final = re.compile(r"<([0-9A-Za-z]{22})@")
_AUTOMATIC_SUBJECT: Final = re.compile(
    r"(?:auto[ -]?(?:matic(?: (?:reply|response))?|reply|response)|out of (?:the )?office|abwesen|vacation|on leave"
    r"|automatische antwort|r[ée]ponse automatique|respuesta autom[áa]tica|risposta automatica|αυτόματη απάντηση)",
    re.IGNORECASE,
)
# Reports and mails with UTF-8 (RFC 6533) become texts: the parser would lose a field that is not quite one.
_MESSAGE_TYPE: Final = re.compile(
    r"^(content-type[ \t]*:\s{0,9})message/(?:(?:global-)?(delivery-status|feedback-report)|global(?:-headers)?)\b",
    re.IGNORECASE | re.MULTILINE,
)
TEXT_TYPES: Final = frozenset({"text", "message", "multipart"})  # the last if its boundary is nowhere
STATUS_TYPE: Final = "text/delivery-status"
_UNDER_WAY: Final = ("delay", "defer", "relay", "expand")  # how such an action begins

PERSON: Final = "No report: a person's mail."
WAITING: Final = "A delivery report that something is still under way."
_HOSTS: Final = re.compile(r"mailer-?daemon|post_?master|mail ?delivery|microsoftexchange", re.IGNORECASE)


class Read(msgspec.Struct, frozen=True):
    """Result of reading a mail: `reports`, or `why` there are none; perhaps an `answer`."""

    reports: Sequence[Report]
    why: str = ""
    answer: Answer | None = None


def read(content: bytes, *, secret: bytes) -> Read:
    """The reports of one mail; raises Unreadable for content that is no mail or too large for returned mail."""
    if len(content) > MAIL_BYTES_MAX:
        raise Unreadable(f"The mail has more than {MAIL_BYTES_MAX:,} bytes.")
    try:
        return _read(_parsed(content), secret)
    except (LookupError, ValueError, TypeError, AttributeError, RecursionError, MessageError) as error:
        # The standard library's parser fails on some forgeries.
        raise Unreadable(f"The mail cannot be read ({type(error).__name__}).") from None


def _read(mail: Message, secret: bytes) -> Read:
    found = _Quoted.of(mail, secret)
    parts = list(_parts(mail))
    if complaint := _complaint(mail, parts, found):
        return complaint
    notice, quoted = _notice_and_quoted(parts)
    forms = [_text(part) for part in parts if part.get_content_type() == STATUS_TYPE]
    if not forms:
        if "final-recipient" in f"{notice}{quoted}".lower():
            forms = [f"{notice}\n\n{quoted}"]
        # People attach a mail and say that a parcel was not delivered. Programs write headers into a text, and codes.
        is_attached = any(part.get_content_maintype() == "message" for part in parts)
        is_told = is_failure(notice) and (code_of("", notice) != "" or "reply" in header(mail, "From").lower())
        is_likely = bool(forms) or (is_told and is_attached) or (found.is_proven and not is_attached)
        if other := _no_bounce(mail, secret, is_likely=is_likely):
            return other
    groups = [group for form in forms for group in groups_of(form) if not group.keys().isdisjoint(RECIPIENT_FIELDS)]
    reports = _deliveries(mail, groups, notice, found)
    if not reports and (groups or is_waiting(notice)):
        return Read((), WAITING)
    reports = reports or _formless(mail, notice, quoted, found)
    return Read(reports, "" if reports else "No report of a form that is known.")


def _no_bounce(mail: Message, secret: bytes, *, is_likely: bool) -> Read | None:
    """An automatic reply, or a person's mail; None for a bounce, which is `is_likely` by its words."""
    if _is_automatic(mail) and not mail["X-Failed-Recipients"]:
        return Read((), "An automatic reply.")
    if _is_by_host(mail):
        return None
    answer = answer_of(mail, sender=_address(header(mail, "From")), secret=secret)
    return Read((), PERSON, answer) if answer or not is_likely else None


def _is_by_host(mail: Message) -> bool:
    return (
        bool(mail["X-Failed-Recipients"] or _HOSTS.search(header(mail, "From")))
        or header(mail, "Return-Path").strip().lower() in {"<>", "<mailer-daemon>"}
        or mail.get_param("report-type") == "delivery-status"
    )


class _Quoted(msgspec.Struct, frozen=True):
    item_id: str | None
    is_proven: bool

    @classmethod
    def of(cls, mail: Message, secret: bytes) -> "_Quoted":
        item_id: str | None = None
        for text in _texts(mail):
            for proof in _PROOF.findall(text):
                if proven := reply_text.item_of(proof, secret):
                    return cls(proven, is_proven=True)
            if item_id is None and (named := _MESSAGE_ID.search(text)):
                item_id = named[1]
        if item_id is None and (named := _REFERENCE.search(f"{mail['In-Reply-To']} {mail['References']}")):
            item_id = named[1]
        return cls(item_id, is_proven=False)


def _parsed(content: bytes) -> Message:
    """The mail, with its lines limited in number and length. Raises Unreadable."""
    head = (content if len(content) <= READ_BYTES_MAX else _without_files(content))[:READ_BYTES_MAX]
    if head.startswith(b"From "):  # the line with which a pipe or a box begins
        head = re.split(rb"\r\n?|\n", head, maxsplit=1)[-1]
    if len(_BOUNDARIES.findall(head)) > PARTS_MAX:
        raise Unreadable(f"The mail has more than {PARTS_MAX} parts.")
    lines = _LINE_END.split(head.decode("ascii", "surrogateescape"), LINES_MAX)[:LINES_MAX]
    text = "\n".join(line[:LINE_CHARACTERS_MAX] for line in lines)
    text = _MESSAGE_TYPE.sub(lambda found: f"{found[1]}text/{found[2] or 'rfc822-headers'}", text)
    if any(len(header[0]) > HEADER_CHARACTERS_MAX for header in _PARAMETERS.finditer(text)):
        raise Unreadable(f"A header of the mail has more than {HEADER_CHARACTERS_MAX:,} characters.")
    mail = email.message_from_string(text)
    if not mail.keys():
        raise Unreadable("This is no mail: it has no headers.")
    return mail


def _without_files(content: bytes) -> bytes:
    """The mail without its long runs of base64, behind which words may stand; no text is so long."""
    kept: list[bytes] = []
    run: list[bytes] = []
    for line in content.split(b"\n"):
        if _BASE64.fullmatch(line):
            run.append(line)
            continue
        kept += run if len(run) <= FILE_LINES_MIN else ()
        kept.append(line)
        run = []
    return b"\n".join(kept)


def _complaint(mail: Message, parts: Sequence[Message], found: _Quoted) -> Read | None:
    """RFC 5965: one person called one mail spam; other feedback (`not-spam`, `virus`) is ignored.

    Hotmail has a form of its own: the mail attached, with the person's address in a header.
    """
    form = next((part for part in parts if part.get_content_type() == "text/feedback-report"), None)
    people = (header(part, "X-HmXmrOriginalRecipient") for part in mail.walk() if part is not mail)
    fields = {"original-rcpt-to": next(filter(None, people), ""), "feedback-type": "abuse"}
    if form is not None:
        fields = {name: text for group in groups_of(_text(form)) for name, text in group.items()}
    elif not fields["original-rcpt-to"]:
        return None
    kind = fields.get("feedback-type", "").lower()
    if kind not in {"abuse", "fraud"}:
        return Read((), "Feedback, but no complaint.")
    recipient = _address(fields.get("original-rcpt-to", ""))
    time = _time(fields.get("arrival-date") or fields.get("received-date"))
    return Read([_report(found, recipient, kind, fields.get("user-agent", ""), kind="complained", time=time)])


def _deliveries(mail: Message, groups: Sequence[Fields], notice: str, found: _Quoted) -> list[Report]:
    """RFC 3464: first the fields of the whole mail, then a group of fields for each recipient."""
    both = [[_address(typed(group.get(name, ""))) for name in RECIPIENT_FIELDS] for group in groups[:RECIPIENTS_MAX]]
    written = {one.lower() for pair in both for one in pair if one}
    is_open = any(enhanced_of(group.get("diagnostic-code", "")) is None for group in groups)
    told = failed_in(notice, written=written, ours=()) if is_open else {}
    reports: list[Report] = []
    for group, (original, final) in zip(groups, both, strict=False):
        action = group.get("action", "").lower()
        if action.startswith(_UNDER_WAY):
            continue
        recipient = original or final or _address(header(mail, "X-Failed-Recipients"))
        around = told.get((final or "").lower()) or told.get((recipient or "").lower(), "")
        if len(told) == len(groups) == 1:
            [around] = told.values()
        diagnostic = group.get("diagnostic-code", "")
        said = diagnostic.partition(";")[2] or diagnostic
        is_delivered = action.startswith("delivered")
        if not is_delivered and not said.strip(" 0123456789"):
            said = around
        code, is_gone = judge(group.get("status", ""), said, around)
        is_other = "final-recipient" in group and (final is None or _normal(original or final) != _normal(final))
        time = _time(group.get("last-attempt-date") or mail["Date"])
        kind = "delivered" if is_delivered else "bounced"
        reports.append(_report(found, recipient, code, said, kind=kind, time=time, is_hard=is_gone and not is_other))
    return reports


def _formless(mail: Message, notice: str, quoted: str, found: _Quoted) -> list[Report]:
    """A bounce without a standard form: each host has its own words."""
    named = _addresses([header(mail, "X-Failed-Recipients")])
    written = {*named, *(recipients := _addresses_in(quoted, "to", "cc", "delivered-to", "x-original-to"))}
    ours = _addresses([header(mail, "To"), header(mail, "From")])
    ours += _addresses_in(quoted, "from", "return-path", "sender", "reply-to")
    known = {"written": written, "ours": {*ours} - {*recipients}}
    failed = failed_in(notice, **known)
    if not failed and not named and not recipients:
        failed = failed_in(quoted, **known)  # some tell below the headers
    if not failed:
        unnamed = [""] if found.is_proven else []
        failed = dict.fromkeys(named or recipients[:1] or unnamed, reason_in(notice))
    reports: list[Report] = []
    for one, said in list(failed.items())[:RECIPIENTS_MAX]:
        code, is_hard = judge("", said)
        reports.append(_report(found, _address(one), code, said, is_hard=is_hard, time=_time(mail["Date"])))
    return reports


def _report(
    found: _Quoted,
    recipient: str | None,
    code: str,
    text: str,
    *,
    time: datetime | None,
    kind: Kind = "bounced",
    is_hard: bool = False,
) -> Report:
    """Hard only for an address that an item can have."""
    return Report(
        kind=kind,
        is_hard=is_hard and kind == "bounced" and (recipient is None or _normal(recipient) is not None),
        item_id=found.item_id,
        recipient=recipient,
        code=code[:CODE_CHARACTERS_MAX],
        text=worded(text, recipient or ""),
        time=time,
        is_proven=found.is_proven,
    )


def _parts(mail: Message) -> Iterator[Message]:
    """The parts of the mail that are no containers, of which a returned mail is one."""
    payload: Any = mail.get_payload()
    if mail.get_content_maintype() == "multipart" and isinstance(payload, list):
        for part in payload:
            yield from _parts(part)
    elif mail.get_content_maintype() in TEXT_TYPES:
        yield mail


def _texts(mail: Message) -> Iterator[str]:
    """Every text in the mail and in mails in it, with the headers of all parts: some put the returned ones there."""
    for part in mail.walk():
        if part is not mail:
            yield _headers_of(part)
        yield str(part.epilogue or "")[:TEXT_BYTES_MAX]
        if not part.is_multipart() and part.get_content_maintype() in TEXT_TYPES:
            yield _text(part)


def _headers_of(mail: Message) -> str:
    return utf8("".join(f"{name}: {value}\n" for name, value in mail.raw_items()))


def _notice_and_quoted(parts: Sequence[Message]) -> tuple[str, str]:
    """The words of the host, and the headers of the mail that it returns."""
    words: list[str] = []
    quoted: list[str] = []
    for part in sorted(parts, key=lambda part: part.get_content_subtype() == "html"):
        kind = part.get_content_type()
        if part.get_content_maintype() == "message":
            quoted += [_headers_of(inside) for inside in part.walk() if inside is not part][:1] or [_text(part)]
        elif kind.startswith("text/rfc822-header"):
            quoted.append(_text(part))
        elif kind != STATUS_TYPE and not (kind == "text/html" and words):
            above, below = parted(readable(mail_html.text_of(_text(part))) if kind == "text/html" else _text(part))
            words += [above] if above.strip() else []
            quoted.append(below)
    return "\n\n".join(words)[:TEXT_BYTES_MAX], "\n\n".join(quoted)[:TEXT_BYTES_MAX]


def _addresses_in(headers: str, *names: str) -> list[str]:
    fields = groups_of(headers[: 16 * HEADER_CHARACTERS_MAX])[:1]
    return _addresses([group[name][:HEADER_CHARACTERS_MAX] for group in fields for name in names if name in group])


def _addresses(fields: list[str]) -> list[str]:
    return [address.lower() for _, address in getaddresses(fields) if "@" in address]


def _text(part: Message) -> str:
    return decoded(part, TEXT_BYTES_MAX)


def _is_automatic(mail: Message) -> bool:
    """True for automatic replies (RFC 3834 and older headers), such as vacations and read receipts."""
    submitted = str(mail["Auto-Submitted"] or "no").partition(";")[0].strip().lower()
    is_host = bool(_HOSTS.search(str(mail["From"] or "")))
    return (
        (submitted == "auto-replied" and not is_host)
        or any(mail[name] for name in ("X-Autoreply", "X-Autorespond", "X-Auto-Response-Suppress") if not is_host)
        or str(mail["Precedence"] or "").strip().lower() == "auto_reply"
        or str(mail["X-Apple-Action"] or "").strip().lower() == "vacation"
        or mail.get_param("report-type") == "disposition-notification"
        or bool(_AUTOMATIC_SUBJECT.match(header(mail, "Subject").strip()))
    )


def _address(text: str) -> str | None:
    for _, address in getaddresses([text[: 2 * IDENTIFIER_CHARACTERS_MAX]]):
        if address.find("@") > 0 and address[0] not in "|/" and len(address) <= IDENTIFIER_CHARACTERS_MAX:
            return address
    return None


def _normal(address: str) -> str | None:
    normal = normal_or_none(CHANNEL_EMAIL, address.replace('"', ""))
    return normal and normal.lower()


def _time(field: object) -> datetime | None:
    try:
        time = parsedate_to_datetime(str(field)) if field else None
        return time if time is None or time.tzinfo else time.replace(tzinfo=UTC)
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
