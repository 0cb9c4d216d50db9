"""One open SMTP conversation: one mail after another, with a DATA phase of our own.

aiosmtplib's `data()` writes body and dot in one go, with no place for `begin()`; so DATA runs on its open protocol.
Of aiosmtplib's undocumented members this uses `SMTP.protocol`, `SMTPProtocol._drain_helper` and `_buffer`, all pinned
by a test.
"""

import asyncio
import contextlib
import ipaddress
import re
import socket
import ssl
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import Annotated, Final, Literal, get_args
from urllib.parse import parse_qsl, unquote, urlsplit

import aiosmtplib
import msgspec
from aiosmtplib.protocol import SMTPProtocol
from msgspec import Meta

from afterword.core.messaging.networks import Network
from afterword.core.messaging.refusals import SUPPRESSING, enhanced_of, judge
from afterword.errors import Sentence
from afterword.kit.transport import mime
from afterword.kit.transport.base import Begin, Cause, Outcome, Refused, Retry, Sent, Unknown, wrong_setting
from afterword.kit.transport.http import Blocked, NotSent, connect, verification_error

Starttls = Literal["offered", "required", "never"]
Security = Literal["tls", "starttls", "none"]
_PORTS: Final = {"smtp": 25, "smtps": 465}
_PORTS_OF: Final[dict[Security, int]] = {"tls": 465, "starttls": 587, "none": 25}
_PORT_LOGIN: Final = 587  # submission, RFC 6409: the default with a login
_OPTIONS: Final = ("starttls", "ca", "name")


@dataclass(frozen=True, slots=True)
class Relay:
    """Address of a relay. `implicit_tls`: from the first byte; otherwise `starttls` decides."""

    host: str
    port: int
    implicit_tls: bool
    starttls: Starttls
    username: str | None
    password: str = field(repr=False, default="")
    ca_file: Path | None = None  # besides the system's authorities
    name: str | None = None  # ours, as EHLO says it; null: the machine's

    @property
    def place(self) -> str:
        return f"{self.host}:{self.port}"

    @property
    def is_local(self) -> bool:
        try:
            return self.host == "localhost" or ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def is_verified(self) -> bool:
        """False for an upgrade that is only offered, on this machine, where mail may go in the clear as well.

        Mail servers offer it with a certificate that they made themselves, and some refuse mail without it.
        """
        return self.implicit_tls or self.starttls != "offered" or not self.is_local or self.ca_file is not None

    @property
    def needs_tls(self) -> bool:
        """A password does not travel in the clear, unless the address says `starttls=never` or stays on the machine."""
        return self.starttls == "required" or (
            self.starttls == "offered" and self.username is not None and not self.is_local
        )


class Login(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A relay in parts. Without a port: 465 with tls, 587 with starttls, 25 with none."""

    host: Annotated[str, Meta(min_length=1, max_length=253)]
    port: Annotated[int, Meta(ge=1, le=65535)] | None = None
    security: Security = "starttls"
    username: Annotated[str, Meta(max_length=320)] = ""
    password: Annotated[str, Meta(max_length=500)] = ""


def relay_of(login: Login) -> Relay:
    """Raises WrongSettings."""
    if not login.host.isascii() or not all(c.isalnum() or c in "-_.:" for c in login.host):
        raise wrong_setting("host", Sentence("The host must be a name such as smtp.example.com, or an address."))
    if login.password and not login.username:
        raise wrong_setting("username", Sentence("There is a password without a user name."))
    if login.username and login.security == "none":
        raise wrong_setting("security", Sentence("A password is never sent unencrypted: choose STARTTLS or TLS."))
    return Relay(
        host=login.host,
        port=login.port or _PORTS_OF[login.security],
        implicit_tls=login.security == "tls",
        starttls="never" if login.security == "none" else "required",
        username=login.username or None,
        password=login.password,
    )


def parse_url(url: str) -> Relay:
    """Read `smtp[s]://[user:password@]host[:port][?starttls=offered|required|never][&ca=FILE][&name=OUR-NAME]`.

    Raises ValueError with a sentence that repeats no secret.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise ValueError("The mail server's address cannot be read; its port must be a number below 65536.") from None
    if parts.scheme not in _PORTS:
        raise ValueError("The mail server's address must begin with smtp:// or smtps://.")
    if not parts.hostname or parts.path not in {"", "/"} or parts.fragment:
        raise ValueError(
            "The mail server's address must be smtp://user:password@host:port; "
            "write @ : / ? # in user or password as %40 %3A %2F %3F %23."
        )
    options = _options(parts.query)
    username = unquote(parts.username) if parts.username else None
    if username is None and parts.password:
        raise ValueError("The mail server's address has a password without a user.")
    ca_file = Path(options["ca"]) if options.get("ca") else None
    if ca_file is not None and not ca_file.is_file():
        raise ValueError("The file that “ca” names in the mail server's address cannot be found.")
    implicit_tls = parts.scheme == "smtps"
    return Relay(
        host=parts.hostname,
        port=port or (_PORT_LOGIN if username and not implicit_tls else _PORTS[parts.scheme]),
        implicit_tls=implicit_tls,
        starttls=_starttls(options.get("starttls", "offered")),
        username=username,
        password=unquote(parts.password or ""),
        ca_file=ca_file,
        name=options.get("name"),
    )


def _options(query: str) -> dict[str, str]:
    options = dict(parse_qsl(query, keep_blank_values=True))
    unknown = sorted(options.keys() - set(_OPTIONS))
    if unknown:
        raise ValueError(f"The mail server's address has an unknown option; known are {', '.join(_OPTIONS)}.")
    return options


def _starttls(value: str) -> Starttls:
    for known in get_args(Starttls):
        if value == known:
            return known
    raise ValueError("“starttls” in the mail server's address must be offered, required or never.")


GREYLIST_SECONDS = 300

_ACCOUNT_CODES: Final = frozenset({530, 535})
_CLOSING: Final = 421
_BUSY: Final = 454  # a throttle, but relays also answer it to those whom they do not know
_GREYLIST_CODES: Final = frozenset({450, 451})
_TRY_OTHER_LOGIN: Final = frozenset({504, 534, 538})  # about the mechanism, not the password; another may do

# "rate" as a word: separate, corporate and generated are not about speed; nor are loops and reputations. The quota of
# a day or an hour is a rate too, which some hosts refuse with 550, and so is Exchange Online's number of connections.
_THROTTLE_WORDS = re.compile(
    r"\brates?\b|\bratelimit|throttl|too many(?! (?:hops|received))|too much mail|\bdaily\b.*\b(?:limit|quota)\b"
    r"|\bexceeded\b.*\bper (?:minute|hour|day)\b|\bsender thread limit\b|\bconnections limit\b|SubmissionQuotaExceeded",
    re.IGNORECASE,
)
_REPUTATION_WORDS = re.compile(r"\b(?:complaint|bounce|spam) rates?\b", re.IGNORECASE)
_GREYLIST_WORDS = re.compile(r"gr[ea]y-?\s?list", re.IGNORECASE)
# A refusal of us: this relay does not carry our mail, not our sender's address, not from our machine or not without a
# login. All are bounded: a reply may be long.
_OUR_CODES: Final = frozenset({"4.1.7", "5.1.7", "4.1.8", "5.1.8", "5.2.252", "5.7.8", "5.7.25", "5.7.54", "5.7.57"})
_RELAY_WORDS = re.compile(
    r"\brelay(?:ing)?\b[^.;]{0,40}?\b(?:denied|prohibited|forbidden|disallowed|not (?:permitted|allowed|authori[sz]ed))"
    r"|\b(?:unable to|(?:not (?:permitted|allowed|authori[sz]ed) to)|cannot|can't|do(?:es)? not|don't|won't) relay\b"
    r"|\brcpthosts\b",
    re.IGNORECASE,
)
_OUR_WORDS = re.compile(
    r"\bsender (?:address |domain )?(?:rejected:|(?:is )?not (?:verified|allowed|authori[sz]ed|permitted|owned))"
    r"|\bsender verify (?:failed|callout)\b|\b(?:email|from) address (?:is )?not verified\b|\bmatch a verified sender\b"
    r"|\bnot a sender signature\b|\bSendAsDenied\b|\bpermissions to send as\b"
    r"|\bnot (?:authori[sz]ed|allowed|permitted) to (?:send (?:as|from)|use this (?:sender|from))\b"
    r"|\bclient (?:was |is )?not authenticated\b|\b(?:must|please) (?:first )?authenticate\b"
    r"|\bauthentication (?:is )?required\b|\brequires authentication\b|\bissue a starttls\b"
    r"|\bclient host rejected\b|\bhelo command rejected\b|\binvalid helo\b|\bunauthorized ip\b"
    r"|\bsending paused for this account\b|\byour (?:\w{1,20} )?account\b[^.;]{0,40}?\b(?:suspended|disabled|locked)",
    re.IGNORECASE,
)
_LIST_WORDS = re.compile(
    r"\b(?:block|black|deny)[ -]?list|\bblackhole\b|\b(?:rbl|dnsbl|spamhaus|spamcop)\b|\bblocked using\b|\bbanned\b",
    re.IGNORECASE,
)
_CLIENT_NAMES = re.compile(
    r"\bclient host\b|\byour (?:ip|host|server)\b|\bsending ip\b|(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w.])"
    r"|\[(?:ipv6:)?[0-9a-f]{0,4}:[0-9a-f:.]{2,40}\]",
    re.IGNORECASE,
)
# The relay asked the recipient's server before it answered, and quotes it; or this recipient takes mail of few people.
_RECIPIENT_WORDS = re.compile(
    r"\bsaid:|\bin reply to\b|\bin response to\b|\bcallout verification\b|\bresponse to \"|\bRESOLVER\.", re.IGNORECASE
)
_OF_THIS_MAIL: Final = frozenset({500, 502, 503, 504, 552, 555})  # to MAIL: its size, its options, the order
_JUDGED_CHARACTERS = 2_000
_REFERENCE = re.compile(
    r"\b(?:queued as|id=|queue id:?)\s*<?([A-Za-z0-9._+/=-]{4,100})|\bok:?\s+([A-Za-z0-9._-]{12,100})", re.IGNORECASE
)


class Phase(IntEnum):
    CONNECT = 1  # TCP, TLS, greeting, EHLO
    AUTH = 2
    MAIL = 3
    RCPT = 4
    DATA = 5  # up to 354
    BODY = 6  # begin() has committed; the dot is not handed over
    DOT = 7  # the point of no return


def classify(phase: Phase, code: int, text: str, *, recipient: str = "") -> Outcome:
    """The outcome of this reply in this phase. A positive reply is an outcome only after the dot."""
    reply = worded(code, text, recipient)
    kind = kind_of(code)
    if phase is Phase.DOT and kind == "done":
        return Sent(_reference(text), code, reply)
    if phase is Phase.DOT and kind == "odd":
        return Unknown(f"After the message came no answer that SMTP knows: {reply}")
    cause = _cause(phase, code, text)
    if kind == "never" and cause == "recipient":
        enhanced, is_gone = judge("", f"{code} {text}")
        is_known = enhanced in SUPPRESSING and phase in {Phase.RCPT, Phase.DOT}  # words alone do not count here
        return Refused(reply, code, suppress=is_gone and is_known)
    is_greylisting = code in _GREYLIST_CODES or enhanced_of(text) == "4.7.1" or bool(_GREYLIST_WORDS.search(text))
    if cause == "throttle":
        return Retry(cause, reply, code, domain=_throttling_domain(phase, code, text, recipient))
    return Retry(cause, reply, code, GREYLIST_SECONDS if cause == "recipient" and is_greylisting else None)


def _cause(phase: Phase, code: int, text: str) -> Cause:
    kind = kind_of(code)
    if kind in {"later", "never"}:
        is_ours = _is_about_us(phase, code, text)
        if _asks_for_less(code, text) or (code == _BUSY and not is_ours):
            return "throttle"
        if is_ours:  # a look-up may succeed later, so the breaker tries it again by itself
            return "account" if kind == "never" or _RELAY_WORDS.search(text[:_JUDGED_CHARACTERS]) else "connection"
    if phase is Phase.CONNECT or (phase is Phase.AUTH and kind != "never"):
        return "connection"
    if phase is Phase.AUTH or code in _ACCOUNT_CODES:
        return "account"
    if kind in {"later", "never"} or phase >= Phase.RCPT:
        return "recipient"
    return "connection"


def broken(phase: Phase, why: str) -> Outcome:
    if phase is Phase.DOT:
        return Unknown(f"No answer after the message: {why}")
    if phase <= Phase.MAIL:
        return Retry("connection", why)
    # From RCPT on this recipient or body may be the cause, so the attempt counts.
    return Retry("recipient", why)


def _asks_for_less(code: int, text: str) -> bool:
    if code == _CLOSING or enhanced_of(text) == "4.5.3":
        return True
    return bool(_THROTTLE_WORDS.search(_REPUTATION_WORDS.sub("", text)))


def _is_about_us(phase: Phase, code: int, text: str) -> bool:
    """True if the relay refuses the sender's address, our machine or our login: it would refuse any recipient.

    False for a recipient's server whose refusal the relay passes on. Past RCPT a content filter may say "blocked", so
    addresses of machines say nothing there.
    """
    text, enhanced = text[:_JUDGED_CHARACTERS], enhanced_of(text) or ""
    if phase is Phase.CONNECT and enhanced.startswith("5.7."):
        return True
    if phase is Phase.MAIL and kind_of(code) == "never":
        return code not in _OF_THIS_MAIL and not enhanced.startswith(("5.3.", "5.5.", "5.6."))
    if _RECIPIENT_WORDS.search(text):
        return False
    if enhanced in _OUR_CODES or _RELAY_WORDS.search(text) or _OUR_WORDS.search(text):
        return True
    return phase <= Phase.RCPT and bool(_LIST_WORDS.search(text) and _CLIENT_NAMES.search(text))


def _throttling_domain(phase: Phase, code: int, text: str, recipient: str) -> str | None:
    """The recipient's domain, if it asks for a lower rate itself: in answer to RCPT, or later by its name.

    421 closes the connection, so it is about the account.
    """
    domain = recipient.rpartition("@")[2].lower()
    if not domain or code == _CLOSING or phase < Phase.RCPT or _is_about_us(phase, code, text):
        return None
    is_named = re.search(rf"(?<![\w.-]){re.escape(domain)}(?![\w-])", text, re.IGNORECASE) is not None
    return domain if phase is Phase.RCPT or is_named else None


def worded(code: int, text: str, recipient: str = "") -> str:
    """A reply as it is kept: one line, addresses masked, at most 500 characters."""
    return mime.worded(f"{code if code > 0 else ''} {text}", recipient)


def kind_of(code: int) -> Literal["done", "later", "never", "odd"]:
    match code // 100:
        case 2:
            return "done"
        case 4:
            return "later"
        case 5:
            return "never"
        case _:
            return "odd"


def _reference(text: str) -> str | None:
    found = _REFERENCE.search(text)
    return (found.group(1) or found.group(2)) if found else None


FAREWELL_SECONDS = 5.0
LAST_LOOK_SECONDS = 0.5
FAULTS: Final = (aiosmtplib.SMTPException, OSError, asyncio.TimeoutError, ValueError)
_START_INPUT = 354
_REFUSED_FROM = 400


class Timeouts(msgspec.Struct, frozen=True):
    """Timeouts in seconds: a command, the body, the reply to the final dot (RFC 5321 4.5.3.2: 10 min)."""

    step: float = 60.0
    body: float = 180.0
    dot: float = 600.0


class Envelope(msgspec.Struct, frozen=True):
    sender: str
    recipient: str

    @property
    def needs_utf8(self) -> bool:
        return not (self.sender.isascii() and self.recipient.isascii())


class StaleError(Exception):
    """A connection that was used before was closed by the server meanwhile; a new one may do."""


class Conversation:
    """An open connection, ready for MAIL. One user at a time."""

    def __init__(self, client: aiosmtplib.SMTP, timeouts: Timeouts) -> None:
        self._client = client
        self._timeouts = timeouts
        self._needs_reset = False
        self.mails = 0
        self.idle_since = 0.0

    @property
    def is_open(self) -> bool:
        return self._client.is_connected

    @property
    def security(self) -> str:
        tls: ssl.SSLObject | None = self._client.get_transport_info("ssl_object")
        return str(tls.version()) if tls is not None else "no TLS"

    async def transmit(self, envelope: Envelope, content: bytes, *, begin: Begin) -> Outcome:
        """Send one mail. Awaits `begin()` between 354 and the first byte of the body; what it raises passes through.

        Raises StaleError if a connection used before broke at its first command. After anything but a proper reply
        the connection is gone.
        """
        refusal = await self._offer(envelope, len(content))
        if refusal is not None:
            return refusal
        # Reads from now on: an answer before the dot is an answer too.
        answer = asyncio.get_running_loop().create_task(_protocol_of(self._client).read_response())
        try:
            await begin()
        except BaseException:
            self.abort()
            raise
        else:
            return await self._hand_over(envelope, content, answer)
        finally:
            _forget(answer)

    async def leave(self) -> None:
        """Send QUIT and wait a moment for the answer; nothing depends on it."""
        with contextlib.suppress(*FAULTS):
            await self._client.quit(timeout=FAREWELL_SECONDS)
        self.abort()

    def abort(self) -> None:
        """Cut the connection, without QUIT and without waiting for unwritten bytes."""
        transport = self._client.transport
        if isinstance(transport, asyncio.WriteTransport):
            transport.abort()
        self._client.close()

    async def _offer(self, envelope: Envelope, size: int) -> Outcome | None:
        """MAIL, RCPT, DATA. None: 354 came, the server waits for the body."""
        options: list[bytes] = [b"SIZE=%d" % size] if self._client.supports_extension("size") else []
        if envelope.needs_utf8:
            if not self._client.supports_extension("smtputf8"):
                return Refused("The mail server cannot carry an address with letters beyond ASCII (SMTPUTF8).")
            options += [b"SMTPUTF8", b"BODY=8BITMIME"]
        used_before, self.mails = self.mails > 0, self.mails + 1
        phase, clock = Phase.MAIL, asyncio.get_running_loop().time
        try:
            await self._reset_if_needed()
            protocol = _protocol_of(self._client)
            async with asyncio.timeout(
                self._timeouts.step
            ) as limit:  # one for all three: each costs as much as a command
                for phase, command in (
                    (Phase.MAIL, (b"MAIL", b"FROM:<%b>" % envelope.sender.encode(), *options)),
                    (Phase.RCPT, (b"RCPT", b"TO:<%b>" % envelope.recipient.encode())),
                    (Phase.DATA, (b"DATA",)),
                ):
                    limit.reschedule(clock() + self._timeouts.step)
                    code, text = await protocol.execute_command(*command)
                    if not (code == _START_INPUT if phase is Phase.DATA else kind_of(code) == "done"):
                        return self._judged(phase, code, text, envelope)
            _refuse_leftovers(_protocol_of(self._client))
        except FAULTS as error:
            self.abort()
            if used_before and phase is Phase.MAIL:
                raise StaleError from error
            return broken(phase, why(error))
        except BaseException:
            self.abort()
            raise
        return None

    async def _hand_over(
        self, envelope: Envelope, content: bytes, answer: "asyncio.Task[aiosmtplib.SMTPResponse]"
    ) -> Outcome:
        """Body, dot, answer. After the dot is written, silence means an unknown outcome."""
        phase = Phase.BODY
        try:
            if not answer.done():
                protocol = _protocol_of(self._client)
                # RFC 5321 4.5.2; no mail of ours begins with a dot, and all end with CRLF.
                protocol.write(content.replace(b"\r\n.", b"\r\n.."))
                async with asyncio.timeout(self._timeouts.body):
                    await protocol._drain_helper()  # noqa: SLF001  see the file's head; until the kernel has every byte
                    await asyncio.sleep(0)  # the loop turns once, and notices an end of file or a reset
                if not answer.done():
                    protocol.write(b".\r\n")
                    phase = Phase.DOT
            code, text = await _answer_within(answer, self._timeouts.dot)
        except FAULTS as error:
            self.abort()
            return broken(phase, why(error))
        except BaseException:
            self.abort()
            raise
        return self._judged(phase, code, text, envelope)

    async def _reset_if_needed(self) -> None:
        if self._needs_reset:
            code, text = await self._client.execute_command(b"RSET")
            if code >= _REFUSED_FROM:
                raise aiosmtplib.SMTPResponseException(code, text)
            self._needs_reset = False

    def _judged(self, phase: Phase, code: int, text: str, envelope: Envelope) -> Outcome:
        """The outcome of a reply that ends this mail, good or bad; closes the connection where that is needed."""
        if phase is Phase.BODY and code < _REFUSED_FROM:
            outcome = broken(phase, f"The server answered before the end: {worded(code, text, envelope.recipient)}")
        else:
            outcome = classify(phase, code, text, recipient=envelope.recipient)
        in_step = kind_of(code) in {"later", "never"} or (phase is Phase.DOT and kind_of(code) == "done")
        if not in_step or phase is Phase.BODY or code == _CLOSING:
            self.abort()  # the server closes it, or the two sides disagree about its state
        self._needs_reset = code >= _REFUSED_FROM
        return outcome


def why(error: BaseException) -> str:
    match error:
        case aiosmtplib.SMTPResponseException():
            return f"The server spoke no SMTP: {worded(0, error.message)[:200]}"
        case TimeoutError() | asyncio.TimeoutError():
            return "The server kept silent."
        case ConnectionResetError() | BrokenPipeError() | aiosmtplib.SMTPServerDisconnected():
            return "The server hung up."
        case _:
            return worded(0, str(error))[:200] or type(error).__name__


async def _answer_within(answer: "asyncio.Task[aiosmtplib.SMTPResponse]", seconds: float) -> aiosmtplib.SMTPResponse:
    """The answer within so many seconds, else TimeoutError.

    A process that stood still runs its timers before it reads, so there is a last look for answers that arrived
    meanwhile. Without it the outcome of each mail whose dot was sent would be unknown, and it would be sent again.
    """
    for timeout in (seconds, LAST_LOOK_SECONDS):
        await asyncio.wait([answer], timeout=timeout)
        if answer.done():
            return answer.result()
    raise TimeoutError


def _protocol_of(client: aiosmtplib.SMTP) -> SMTPProtocol:
    if client.protocol is None:
        raise aiosmtplib.SMTPServerDisconnected("The server hung up before the message.")
    return client.protocol


def _refuse_leftovers(protocol: SMTPProtocol) -> None:
    """A second reply that came with 354 would later be taken for the answer to the dot."""
    if protocol._buffer:  # noqa: SLF001  see the file's head
        raise aiosmtplib.SMTPResponseException(-1, "an answer that nobody asked for")


def _forget(answer: "asyncio.Task[aiosmtplib.SMTPResponse]") -> None:
    """Cancel the wait for an answer, or a connection; its fault is retrieved so that it is not logged."""
    if answer.done() and not answer.cancelled():
        answer.exception()
    answer.cancel()


CONNECT_SECONDS = 30.0
_EHLO_UNKNOWN = frozenset({500, 502, 504})


class NotOpenError(Exception):
    """The conversation was not opened; `outcome` is the item's."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__()
        self.outcome = outcome


class _UntrustedError(Exception):
    """The server lacks what the relay's address requires: TLS, or a supported login."""


async def dial(
    relay: Relay, *, trust: ssl.SSLContext, name: str, timeouts: Timeouts, networks: Sequence[Network] | None = None
) -> Conversation:
    """A conversation that is ready for MAIL. Raises NotOpenError; Retry is its only kind of outcome.

    `networks`: the private ones that the relay may be in; None: it may be anywhere.
    """
    judged = None if networks is None else await _connected(relay, networks, seconds=timeouts.step)
    client = aiosmtplib.SMTP(
        hostname=relay.host,
        port=relay.port if judged is None else None,
        use_tls=relay.implicit_tls,
        start_tls=False,
        tls_context=trust,
        local_hostname=name,
        timeout=min(CONNECT_SECONDS, timeouts.step),
        sock=judged,
    )
    conversation = Conversation(client, timeouts)
    phase = Phase.CONNECT
    connecting = asyncio.create_task(client.connect())
    try:
        # Not awaited itself: within, Python 3.11's `wait_for` loses a cancellation that comes with the connection.
        await asyncio.wait([connecting])
        connecting.result()
        client.timeout = timeouts.step
        await _greet(client)
        await _secure(client, relay, trust)
        phase = Phase.AUTH
        if relay.username is not None:
            await _login(client, relay.username, relay.password)
    except (*FAULTS, _UntrustedError) as error:
        conversation.abort()
        raise NotOpenError(_meaning(phase, error)) from error
    except BaseException:
        connecting.add_done_callback(_forget)
        connecting.add_done_callback(lambda _: conversation.abort())
        connecting.cancel()
        conversation.abort()
        raise
    _hand_over_at_once(client)
    return conversation


async def _connected(relay: Relay, networks: Sequence[Network], *, seconds: float) -> socket.socket:
    """A connection to one of the relay's addresses, all of which are allowed. Raises NotOpenError."""
    try:
        return await connect(relay.host, relay.port, allowed=networks, seconds=min(CONNECT_SECONDS, seconds))
    except Blocked as error:
        raise NotOpenError(Retry("account", error.reason)) from error
    except NotSent as error:
        raise NotOpenError(broken(Phase.CONNECT, f"{relay.place}: {error.reason}")) from error


async def name_of(relay: Relay) -> str:
    """Our name in EHLO; cached, since the resolver may be slow."""
    if relay.name is not None:
        return relay.name
    name = await asyncio.to_thread(socket.getfqdn)
    return name if name.isascii() and "." in name else "[127.0.0.1]"


def trust_of(relay: Relay) -> ssl.SSLContext:
    """Verifies by the system's authorities, and by the relay's own file if it names one, where `is_verified`. Waits."""
    context = ssl.create_default_context(ssl.Purpose.SERVER_AUTH)
    if not relay.is_verified:
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    if relay.ca_file is not None:
        context.load_verify_locations(cafile=relay.ca_file)
    return context


async def _greet(client: aiosmtplib.SMTP) -> None:
    """EHLO, or HELO for a server that does not know it."""
    try:
        await client.ehlo()
    except aiosmtplib.SMTPHeloError as error:
        if error.code not in _EHLO_UNKNOWN or not client.is_connected:
            raise
        await client.helo()


async def _secure(client: aiosmtplib.SMTP, relay: Relay, trust: ssl.SSLContext) -> None:
    if relay.implicit_tls or relay.starttls == "never":
        return
    if client.supports_extension("starttls"):
        await client.starttls(tls_context=trust, server_hostname=relay.host)
        await _greet(client)
    elif relay.needs_tls:
        raise _UntrustedError(
            f"{relay.place} offers no STARTTLS, and nothing goes in the clear unless the address says starttls=never."
        )


async def _login(client: aiosmtplib.SMTP, username: str, password: str) -> None:
    """Try the mechanisms that both sides know until one succeeds or refuses the password.

    aiosmtplib's own `login` tries all of them, and servers that lock accounts would count three failures.
    """
    known = {"plain": client.auth_plain, "login": client.auth_login, "cram-md5": client.auth_crammd5}
    refusal: aiosmtplib.SMTPAuthenticationError | None = None
    for mechanism, attempt in known.items():
        if mechanism not in client.server_auth_methods:
            continue
        try:
            await attempt(username, password)
        except aiosmtplib.SMTPAuthenticationError as error:
            refusal = error
            if error.code not in _TRY_OTHER_LOGIN:
                raise
        else:
            return
    raise refusal or _UntrustedError("The server offers no login that we know (PLAIN, LOGIN, CRAM-MD5).")


def _hand_over_at_once(client: aiosmtplib.SMTP) -> None:
    """Let `drain` wait until the kernel has every byte, so that the dot is never written behind an unsent body."""
    transport = client.transport
    if isinstance(transport, asyncio.WriteTransport):
        transport.set_write_buffer_limits(high=0)


def _meaning(phase: Phase, error: BaseException) -> Outcome:
    untrusted = verification_error(error)
    if untrusted is not None:
        return Retry("account", f"The mail server's certificate was not verified: {untrusted.verify_message}.")
    match error:
        case _UntrustedError():
            return Retry("account", str(error))
        case aiosmtplib.SMTPResponseException() if error.code > 0:
            return classify(phase, error.code, error.message)
        case _:
            return broken(phase, why(error))
