"""SMS by SMPP 3.4. Needs the extra `smpp`, which is imported when it is used.

Each account has one bound session in a worker process, opened with the first message. It returns delivery receipts.
"""

import asyncio
import contextlib
import functools
import re
import secrets
import sys
import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, NamedTuple

import msgspec
import structlog

from afterword.core.messaging import segments
from afterword.core.messaging.networks import Network
from afterword.kit.transport.base import Begin, Message, Outcome, Refused, Retry, Sent, Unknown, read_settings
from afterword.kit.transport.http import Blocked, NotSent, open_addresses
from afterword.kit.transport.mime import Kind, Report, folded, worded

if TYPE_CHECKING:
    import smpp34

MISSING: Final = "SMPP needs the extra “smpp”: pip install 'afterword[smpp]'."
CONNECT_SECONDS: Final = 10.0
ANSWER_SECONDS: Final = 30.0  # of each part
# Waits before a later part that was not taken is submitted again. Its first parts are out, so it is worth a minute.
PART_PAUSES: Final = (1.0, 2.0, 4.0, 8.0, 15.0, 30.0)
UNBIND_SECONDS: Final = 5.0
RETURN_SECONDS: Final = 0.01  # between two looks whether the library's threads have left Python
INBOUND_MAX: Final = 1_000
DATA_CODING: Final[Mapping[segments.Encoding, int]] = {"gsm7": 0x00, "ucs2": 0x08}
WITH_HEADER: Final = 0x40  # esm_class: the message begins with a user data header
RECEIPT_MASK: Final = 0x3C
RECEIPT: Final = 0x04

# command_status (SMPP 3.4, 5.1.3) of an answer that refuses; others are refusals of this message.
THROTTLED: Final = frozenset({0x14, 0x58})
OURS: Final = frozenset({0x04, 0x0A, 0x0D, 0x0E, 0x0F, 0x15, 0x48, 0x49, 0x53})
LATER: Final = frozenset({0x08, 0x45, 0x64, 0xFF})
# The texts and numbers of a receipt's state (appendix B and 5.2.28).
STATES: Final[Mapping[str, Kind]] = {
    "ENROUTE": "accepted", "ACCEPTD": "accepted", "DELIVRD": "delivered", "EXPIRED": "failed", "DELETED": "failed",
    "UNDELIV": "failed", "REJECTD": "failed",
}  # fmt: skip
NUMBERS: Final = ("", "ENROUTE", "DELIVRD", "EXPIRED", "DELETED", "UNDELIV", "ACCEPTD", "", "REJECTD")
_MEMBER: Final = re.compile(r"\b(id|stat|err):([A-Za-z0-9_.:-]{1,65})", re.IGNORECASE)

Reporter = Callable[[Sequence[Report]], Awaitable[None]]

logger: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)


class Account(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A login at an SMSC. `long`: how several parts travel. `receipt_ids`: their base, where answers have the other."""

    host: Annotated[str, msgspec.Meta(min_length=1, max_length=253)]
    port: Annotated[int, msgspec.Meta(ge=1, le=65535)] = 2775
    system_id: Annotated[str, msgspec.Meta(min_length=1, max_length=15)]
    password: Annotated[str, msgspec.Meta(max_length=100)]
    system_type: Annotated[str, msgspec.Meta(max_length=12)] = ""
    tls: bool = False
    sender: Annotated[str, msgspec.Meta(min_length=1, max_length=20)]
    long: Literal["udh", "payload"] = "udh"
    receipts: bool = True
    receipt_ids: Literal["hex", "decimal"] | None = None
    no_address: Annotated[list[str], msgspec.Meta(max_length=100)] = []  # codes of a receipt: no such number


class Piece(NamedTuple):
    """One submit_sm of a text; `is_payload`: a whole text of several parts, in message_payload."""

    octets: bytes
    esm_class: int
    coding: int
    is_payload: bool = False


class SmppChannel:
    """One login. Nothing is repeated after an unknown outcome: SMPP has no identity that an SMSC must honour."""

    def __init__(
        self,
        account: Account,
        *,
        slots: int,
        report: Reporter,
        answer_seconds: float = ANSWER_SECONDS,
        part_pauses: Sequence[float] = PART_PAUSES,
        networks: Sequence[Network] | None = None,
    ) -> None:
        """`networks`: the private ones that the SMSC may be in; None: it may be anywhere.

        Raises ValueError with a sentence where the extra is missing.
        """
        self._networks = networks
        self._smpp = library()
        self._account = account
        self._slots = slots
        self._report = report
        self._answer_seconds = answer_seconds
        self._part_pauses = part_pauses
        self._binding = asyncio.Lock()
        self._client: smpp34.Client | None = None
        self._session: smpp34.Smsc | None = None
        self._reader: asyncio.Task[None] | None = None

    async def send(self, message: Message, *, begin: Begin) -> Outcome:
        try:
            session = await self._bound()
        except Blocked as error:
            return Retry("account", error.reason)
        except NotSent as error:
            return Retry("connection", error.reason)
        except (self._smpp.SmppError, OSError) as error:
            # The library reports a refused login as a bind that timed out, so it counts for the breaker.
            return Retry("connection", f"No session at the SMSC: {_worded(error)}")
        await begin()
        return await self._submit(session, message)

    async def close(self) -> None:
        """End the session, and wait until no thread of the library runs in Python, so that the interpreter may end."""
        async with self._binding:
            await self._let_go()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(UNBIND_SECONDS):
                await _returned()

    async def _submit(self, session: "smpp34.Smsc", message: Message) -> Outcome:
        """Submit part after part. After the first part a failure is unknown: the phone may show some of the text.

        A refused part is known not to be taken, so a later one is submitted again alone, as the same part.
        """
        reference, parts = "", pieces(message.text, self._account.long)
        for number, part in enumerate(parts):
            is_last = number == len(parts) - 1
            for pause in (*(self._part_pauses if number else ()), None):
                try:
                    async with asyncio.timeout(self._answer_seconds):
                        answer = await self._hand_over(session, message, part, is_last=is_last)
                except (self._smpp.SmppError, OSError) as error:  # TimeoutError is one
                    self._session = None  # its state is unknown
                    return Unknown(f"no answer of the SMSC to submit_sm: {_worded(error)}")
                if answer.is_success or pause is None or answer.command_status not in THROTTLED | LATER:
                    break
                await asyncio.sleep(pause)
            if not answer.is_success:
                refused = _refusal(answer.command_status)
                place = f"part {number + 1} of {len(parts)}, the parts before it were taken"
                return refused if number == 0 else Unknown(f"{refused.reason} for {place}")
            reference = answer.message_id or reference
        return Sent(reference or None, 0, f"submit_sm_resp, {len(parts)} parts" if len(parts) > 1 else "submit_sm_resp")

    async def _hand_over(
        self, session: "smpp34.Smsc", message: Message, part: Piece, *, is_last: bool
    ) -> "smpp34.SubmitSmResp":
        sender = self._account.sender
        ton, npi = type_of(sender)
        return await session.submit_sm(
            message.recipient.removeprefix("+"),
            b"" if part.is_payload else part.octets,
            source_addr=sender.removeprefix("+"),
            source_addr_ton=ton,
            source_addr_npi=npi,
            dest_addr_ton=1,
            dest_addr_npi=1,
            esm_class=part.esm_class,
            data_coding=part.coding,
            registered_delivery=1 if self._account.receipts and is_last else 0,
            tlvs=[self._smpp.Tlv(self._smpp.TLV_MESSAGE_PAYLOAD, part.octets)] if part.is_payload else [],
        )

    async def _bound(self) -> "smpp34.Smsc":
        async with self._binding:
            if self._session is not None and self._client is not None and await self._client.is_alive():
                return self._session
            await self._let_go()
            account = self._account
            self._client = client = self._smpp.Client(
                await self._host(),
                account.port,
                account.system_id,
                account.password,
                bind_type="TRX",
                system_type=account.system_type,
                tls=account.tls,
                window_size=self._slots,
                inbound_capacity=INBOUND_MAX,
                connect_timeout_ms=int(CONNECT_SECONDS * 1000),
            )
            async with asyncio.timeout(CONNECT_SECONDS * 2):
                self._session = session = await client.connect()
            self._reader = asyncio.create_task(self._read(session))
            return session

    async def _host(self) -> str:
        """The host, or the judged address of it; TLS needs the name, and proves it. Raises Blocked, NotSent."""
        account = self._account
        if self._networks is None:
            return account.host
        addresses = await open_addresses(account.host, account.port, allowed=self._networks)
        return account.host if account.tls else str(addresses[0])

    async def _let_go(self) -> None:
        """End the previous session, and take its receipts, which the SMSC does not repeat."""
        session, client, reader = self._session, self._client, self._reader
        self._session = self._client = self._reader = None
        with contextlib.suppress(self._smpp.SmppError, OSError):
            async with asyncio.timeout(UNBIND_SECONDS):
                if session is not None:
                    await session.unbind()
                    if reader is not None:
                        await asyncio.wait([reader])  # it ends with the session
        if reader is not None:
            reader.cancel()
            await asyncio.gather(reader, return_exceptions=True)
        with contextlib.suppress(self._smpp.SmppError, OSError):
            async with asyncio.timeout(UNBIND_SECONDS):
                if client is not None:
                    await client.stop()

    async def _read(self, session: "smpp34.Smsc") -> None:
        """Take receipts until the session ends; the next message opens another."""
        while True:
            event: Any = await session.next()
            if isinstance(event, self._smpp.Disconnected):
                if self._session is session:
                    self._session = None
                return
            report = self._receipt(event)
            if report is None:
                if event.esm_class & RECEIPT_MASK == RECEIPT:
                    logger.info("a delivery receipt without an id or a state that is known", host=self._account.host)
                continue
            try:
                await self._report([report])
            except Exception:
                logger.exception("a delivery receipt could not be taken")

    def _receipt(self, event: "smpp34.DeliverSmEvent") -> Report | None:
        if event.esm_class & RECEIPT_MASK != RECEIPT:
            return None  # a message to us
        tlvs = {one.tag: one for one in event.tlvs}
        reference, state = tlvs.get(self._smpp.TLV_RECEIPTED_MESSAGE_ID), tlvs.get(self._smpp.TLV_MESSAGE_STATE)
        return receipt_of(
            event.short_message,
            reference=reference.as_string() if reference is not None else None,
            state=state.as_int() if state is not None else None,
            no_address=self._account.no_address,
            base=self._account.receipt_ids,
        )


async def _returned() -> None:
    """Wait until no thread that Python did not start is in Python, but those that were there before the library.

    The library gives an answer from a thread of its own, which is still on its way out of Python when we have it. An
    interpreter that ends meanwhile ends that thread amid native code, and the process crashes (before Python 3.14).
    """
    while _foreign_threads() - _earlier_threads():  # noqa: ASYNC110  there is no event for it
        await asyncio.sleep(RETURN_SECONDS)


def _foreign_threads() -> set[int]:
    inside = sys._current_frames()  # noqa: SLF001
    return inside.keys() - {thread.ident for thread in threading.enumerate()}


@functools.cache
def _earlier_threads() -> set[int]:
    return _foreign_threads()


def library() -> Any:
    """The module of the extra; raises ValueError with a sentence where it is missing."""
    _earlier_threads()  # while none is the library's
    try:
        import smpp34  # noqa: PLC0415  an extra
    except ImportError:
        raise ValueError(MISSING) from None
    return smpp34


def pieces(text: str, long: Literal["udh", "payload"]) -> list[Piece]:
    parts = segments.split(text)
    whole, encoding = segments.encode(text)
    coding = DATA_CODING[encoding]
    if len(parts) == 1 or long == "payload":
        return [Piece(whole, 0, coding, is_payload=len(parts) > 1)]
    mark = secrets.randbelow(256)  # names the message among the few that one phone assembles at a time
    encoded = [part.encode("utf-16-be") if encoding == "ucs2" else segments.encode(part)[0] for part in parts]
    return [
        Piece(bytes([5, 0, 3, mark, len(parts), number]) + octets, WITH_HEADER, coding)
        for number, octets in enumerate(encoded, start=1)
    ]


def receipt_of(
    octets: bytes,
    *,
    reference: str | None = None,
    state: int | None = None,
    no_address: Sequence[str] = (),
    base: Literal["hex", "decimal"] | None = None,
) -> Report | None:
    """The report of a receipt, by its parameters, else by the usual text (appendix B); None when it names nothing."""
    members: dict[str, str] = {}
    for key, value in _MEMBER.findall(octets[:1000].decode("latin-1")):
        members.setdefault(key.lower(), value)  # behind them stands the beginning of our own text
    reference = reference or members.get("id")
    if base is not None:
        reference = _in_other_base(members.get("id") or reference or "", base)
    name = NUMBERS[state] if state is not None and 0 <= state < len(NUMBERS) else members.get("stat", "").upper()
    kind = STATES.get(name)
    if not reference or kind is None:
        return None
    code = members.get("err", "")
    return Report(
        kind=kind,
        is_hard=kind == "failed" and folded(code) in map(folded, no_address),
        provider_reference=reference[:65],
        code=code[:40],
        text=worded(name),
    )


def settings_of(document: Mapping[str, Any]) -> Account:
    """The login, checked. Raises ValueError with a sentence that quotes no value."""
    account = read_settings(document, Account)
    library()
    return account


def type_of(sender: str) -> tuple[int, int]:
    """Type and plan of a sender's address: a name, an international number, or a short code."""
    if not sender.removeprefix("+").isdecimal():
        return 5, 0
    return (1, 1) if sender.startswith("+") else (3, 0)


def _in_other_base(reference: str, base: Literal["hex", "decimal"]) -> str:
    """An id of this base in the other one; the id itself where it is no number."""
    try:
        return f"{int(reference):x}" if base == "decimal" else str(int(reference, 16))
    except ValueError:
        return reference


def _refusal(status: int) -> Retry | Refused:
    reason = f"SMPP status 0x{status:08X}"
    if status in THROTTLED:
        return Retry("throttle", reason)
    if status in OURS:
        return Retry("account", reason)
    if status in LATER:
        return Retry("recipient", reason)
    return Refused(reason)


def _worded(error: Exception) -> str:
    return worded(str(error)) or type(error).__name__
