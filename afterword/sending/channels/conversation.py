"""One open SMTP conversation: one mail after another, with a DATA phase of our own. Opening one is in `dial.py`.

aiosmtplib's `data()` writes body and dot in one go, with no place for `begin()`; so DATA runs on its open protocol.
Of aiosmtplib's undocumented members this uses `SMTP.protocol`, `SMTPProtocol._drain_helper` and `_buffer`, all pinned
by a test.
"""

import asyncio
import contextlib
import ssl
from dataclasses import dataclass
from typing import Final

import aiosmtplib
from aiosmtplib.protocol import SMTPProtocol

from afterword.kit.transport.base import Begin, Outcome, Refused
from afterword.sending.channels.replies import Phase, broken, classify, kind_of, worded

FAREWELL_SECONDS = 5.0
LAST_LOOK_SECONDS = 0.5
FAULTS: Final = (aiosmtplib.SMTPException, OSError, asyncio.TimeoutError, ValueError)
_START_INPUT = 354
_REFUSED_FROM = 400
_CLOSING = 421


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Timeouts in seconds: a command, the body, the reply to the final dot (RFC 5321 4.5.3.2: 10 min)."""

    step: float = 60.0
    body: float = 180.0
    dot: float = 600.0


@dataclass(frozen=True, slots=True)
class Envelope:
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
        phase = Phase.MAIL
        try:
            await self._reset_if_needed()
            for phase, command in (
                (Phase.MAIL, (b"MAIL", b"FROM:<%b>" % envelope.sender.encode(), *options)),
                (Phase.RCPT, (b"RCPT", b"TO:<%b>" % envelope.recipient.encode())),
                (Phase.DATA, (b"DATA",)),
            ):
                code, text = await self._client.execute_command(*command)
                if not _is_welcome(phase, code):
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
                protocol.write(_dot_stuffed(content))
                async with asyncio.timeout(self._timeouts.body):
                    await _drain(protocol)
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


async def _drain(protocol: SMTPProtocol) -> None:
    """Until the kernel has every byte: `dial` set the write buffer's limit to none."""
    await protocol._drain_helper()  # noqa: SLF001  see the file's head


def _refuse_leftovers(protocol: SMTPProtocol) -> None:
    """A second reply that came with 354 would later be taken for the answer to the dot."""
    if protocol._buffer:  # noqa: SLF001  see the file's head
        raise aiosmtplib.SMTPResponseException(-1, "an answer that nobody asked for")


def _is_welcome(phase: Phase, code: int) -> bool:
    return code == _START_INPUT if phase is Phase.DATA else kind_of(code) == "done"


def _dot_stuffed(content: bytes) -> bytes:
    """RFC 5321 4.5.2; no mail of ours begins with a dot, and all end with CRLF."""
    return content.replace(b"\r\n.", b"\r\n..")


def _forget(answer: "asyncio.Task[aiosmtplib.SMTPResponse]") -> None:
    """Cancel the wait for an answer; its fault, if any, is retrieved so that it is not logged."""
    if answer.done() and not answer.cancelled():
        answer.exception()
    answer.cancel()
