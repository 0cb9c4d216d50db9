"""SMPP against the extra's own server on this machine: what is handed over, what is refused, what comes back."""

import _thread
import asyncio
import sys
import threading
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
import smpp34

from afterword.core.messaging.networks import Network
from afterword.extras import smpp
from afterword.extras.smpp import Reporter, SmppChannel
from afterword.kit.transport.base import Fenced, Sent, Unknown
from afterword.kit.transport.mime import Report
from tests.extras.septets import decode_gsm7
from tests.journeys.processes import until
from tests.sending.channels.calls import Begin, kind, sms
from tests.sending.channels.receiver import closed_port

LIB: Any = smpp34  # its stub lacks the constants
DEADLINE_SECONDS = 20.0
HEADER_OCTETS = 6


@dataclass
class Smsc:
    """A carrier: keeps what it is given, and answers with `answer`: an id, a status, or nothing."""

    port: int
    answer: Callable[[Any, int], str | int | None] = lambda _event, number: f"m{number}"
    given: list[Any] = field(default_factory=list[Any])
    sessions: list[smpp34.Esme] = field(default_factory=list[smpp34.Esme])

    async def serve(self, server: smpp34.Server) -> None:
        while True:
            event = await server.next()
            if isinstance(event, smpp34.Esme):
                self.sessions.append(event)
            elif isinstance(event, smpp34.SubmitSmEvent):
                self.given.append(event)
                answer = self.answer(event, len(self.given))
                if isinstance(answer, str):
                    event.accept(answer)
                elif answer is not None:
                    event.reject(answer)


@asynccontextmanager
async def carrier(**more: Any) -> AsyncGenerator[Smsc]:
    server, port = await _start()
    smsc = Smsc(port, **more)
    serving = asyncio.create_task(smsc.serve(server))
    try:
        yield smsc
    finally:
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)
        await server.stop()


@asynccontextmanager
async def bound(
    port: int,
    *,
    reports: list[Report] | None = None,
    report: Reporter | None = None,
    answer_seconds: float = DEADLINE_SECONDS,
    part_pauses: Sequence[float] = (0.01, 0.02),
    networks: Sequence[Network] | None = None,
    **more: Any,
) -> AsyncGenerator[SmppChannel]:
    async def keep(found: Sequence[Report]) -> None:
        if reports is not None:
            reports.extend(found)

    settings = {"host": "127.0.0.1", "port": port, "system_id": "us", "password": "pw", "sender": "Shop", **more}
    channel = SmppChannel(
        smpp.settings_of(settings),
        slots=4,
        report=report or keep,
        answer_seconds=answer_seconds,
        part_pauses=part_pauses,
        networks=networks,
    )
    try:
        yield channel
    finally:
        await channel.close()


def text_of(given: Sequence[Any], encoding: str) -> str:
    """The text that a phone shows of these parts."""
    octets = [
        event.short_message[HEADER_OCTETS:] if event.esm_class & smpp.WITH_HEADER else event.short_message
        for event in given
    ]
    payloads = [tlv.value for event in given for tlv in event.tlvs if tlv.tag == LIB.TLV_MESSAGE_PAYLOAD]
    whole = payloads or octets
    if encoding == "ucs2":
        return "".join(part.decode("utf-16-be") for part in whole)
    return "".join(decode_gsm7(part) for part in whole)


class TestRefused:
    @pytest.mark.parametrize(
        "document", [{}, {"host": "x", "system_id": "u" * 16, "password": "", "sender": "S"}, {"host": "x", "more": 1}]
    )
    def test_settings(self, document: dict[str, Any]) -> None:
        with pytest.raises(ValueError):
            smpp.settings_of(document)

    def test_without_the_extra(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "smpp34", None)
        with pytest.raises(ValueError, match="needs the extra “smpp”"):
            smpp.settings_of({"host": "x", "system_id": "u", "password": "p", "sender": "S"})

    async def test_nobody_there(self) -> None:
        begin = Begin()
        with closed_port() as port:
            async with bound(port) as channel:
                assert "connection" == kind(await channel.send(sms(), begin=begin))
        assert 0 == begin.count

    async def test_a_closed_network(self) -> None:
        begin = Begin()
        async with carrier() as smsc:
            for host in ("127.0.0.1", "localhost"):
                async with bound(smsc.port, host=host, networks=()) as channel:
                    assert "account" == kind(await channel.send(sms(), begin=begin))
            assert [] == smsc.given
        assert 0 == begin.count

    async def test_login(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A refused one is a session that does not come about: the account rests, and nothing is counted."""
        monkeypatch.setattr(smpp, "CONNECT_SECONDS", 2.0)
        given: list[bytes] = []

        async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            given.append(head := await reader.readexactly(16))
            writer.write((17).to_bytes(4) + (0x80000009).to_bytes(4) + (0x0E).to_bytes(4) + head[12:] + b"\0")
            await writer.drain()
            writer.close()

        server = await asyncio.start_server(refuse, "127.0.0.1", 0)
        begin = Begin()
        async with bound(server.sockets[0].getsockname()[1]) as channel:
            assert ("connection", 0) == (kind(await channel.send(sms(), begin=begin)), begin.count)
        server.close()
        assert given

    async def test_fenced(self) -> None:
        async with carrier() as smsc, bound(smsc.port) as channel:
            with pytest.raises(Fenced):
                await channel.send(sms(), begin=Begin(Fenced()))
            assert [] == smsc.given

    @pytest.mark.parametrize(
        ("status", "expected"),
        [
            (LIB.ESME_RTHROTTLED, "throttle"), (LIB.ESME_RMSGQFUL, "throttle"),
            (LIB.ESME_RINVDSTADR, "refused"), (LIB.ESME_RINVSRCADR, "account"),
            (LIB.ESME_RSYSERR, "recipient"), (LIB.ESME_RINVMSGLEN, "refused"),
        ],
    )  # fmt: skip
    async def test_statuses(self, status: int, expected: str) -> None:
        async with carrier(answer=lambda _event, _number: status) as smsc, bound(smsc.port) as channel:
            assert expected == kind(await channel.send(sms(), begin=Begin()))


class TestUnknown:
    async def test_silence(self) -> None:
        held: list[Any] = []
        async with (
            carrier(answer=lambda event, _number: held.append(event)) as smsc,
            bound(smsc.port, answer_seconds=0.3) as channel,
        ):
            assert "unknown" == kind(await channel.send(sms(), begin=Begin()))

    async def test_a_session_that_ends_under_a_message(self) -> None:
        held: list[Any] = []
        async with carrier(answer=lambda event, _number: held.append(event)) as smsc, bound(smsc.port) as channel:
            sending = asyncio.create_task(channel.send(sms(), begin=Begin()))
            await until(lambda: bool(held))
            await smsc.sessions[0].unbind()
            assert "unknown" == kind(await sending)

    @pytest.mark.parametrize(("status", "submitted"), [(LIB.ESME_RTHROTTLED, 4), (LIB.ESME_RINVDSTADR, 2)])
    async def test_a_later_part_that_is_refused(self, status: int, submitted: int) -> None:
        """One that is asked for later is submitted again, but not for ever; the trace names the status."""

        def answer(_event: Any, number: int) -> str | int:
            return "m1" if number == 1 else status

        async with carrier(answer=answer) as smsc, bound(smsc.port) as channel:
            outcome = await channel.send(sms("a" * 161), begin=Begin())
        assert isinstance(outcome, Unknown)
        assert submitted == len(smsc.given)
        assert f"0x{status:08X} for part 2 of 2" in outcome.reason


class TestSent:
    @pytest.mark.parametrize("status", [LIB.ESME_RTHROTTLED, LIB.ESME_RMSGQFUL, LIB.ESME_RSYSERR, 0x45])
    @pytest.mark.parametrize("refused", [{2}, {3, 4}])
    async def test_a_later_part_that_is_not_taken_is_submitted_again_alone(
        self, status: int, refused: set[int]
    ) -> None:
        def answer(_event: Any, number: int) -> str | int:
            return status if number in refused else f"m{number}"

        text = "ή" * 150
        async with carrier(answer=answer) as smsc, bound(smsc.port) as channel:
            outcome = await channel.send(sms(text), begin=Begin())
        taken = [event for number, event in enumerate(smsc.given, start=1) if number not in refused]
        assert isinstance(outcome, Sent)
        assert (3, f"m{len(smsc.given)}") == (len(taken), outcome.reference)
        assert text == text_of(taken, "ucs2")
        assert 1 == len({event.short_message[3] for event in smsc.given})  # the same message for the phone
        assert [1, 2, 3] == [event.short_message[5] for event in taken]
        assert [0, 0, 1] == [event.registered_delivery for event in taken]

    @pytest.mark.parametrize(
        ("text", "encoding", "parts"),
        [
            ("How was it, €5?", "gsm7", 1), ("a" * 160, "gsm7", 1), ("a" * 161, "gsm7", 2), ("€" * 200, "gsm7", 3),
            ("Πώς ήταν;", "ucs2", 1), ("ή" * 70, "ucs2", 1), ("ή" * 71, "ucs2", 2), ("😀" * 70, "ucs2", 3),
        ],
    )  # fmt: skip
    @pytest.mark.parametrize("long", ["udh", "payload"])
    async def test_texts(self, text: str, encoding: str, parts: int, long: str) -> None:
        async with carrier() as smsc, bound(smsc.port, long=long) as channel:
            outcome = await channel.send(sms(text), begin=Begin())
        count = parts if long == "udh" else 1
        assert isinstance(outcome, Sent)
        # The reference is the last part's, whose receipt is asked for.
        assert (f"m{count}", count) == (outcome.reference, len(smsc.given))
        assert text == text_of(smsc.given, encoding)
        assert {0 if encoding == "gsm7" else 8} == {event.data_coding for event in smsc.given}
        assert [0] * (count - 1) + [1] == [event.registered_delivery for event in smsc.given]
        if long == "payload":
            assert [parts > 1] == [bool(event.tlvs) and not event.short_message for event in smsc.given]
        if count > 1:
            headers = [event.short_message[:HEADER_OCTETS] for event in smsc.given]
            assert 1 == len({header[3] for header in headers})
            assert [bytes([5, 0, 3, headers[0][3], count, n + 1]) for n in range(count)] == headers

    @pytest.mark.parametrize(("sender", "ton", "npi"), [("Shop", 5, 0), ("+306900000000", 1, 1), ("54321", 3, 0)])
    async def test_addresses(self, sender: str, ton: int, npi: int) -> None:
        async with carrier() as smsc, bound(smsc.port, sender=sender) as channel:
            await channel.send(sms(), begin=Begin())
        (event,) = smsc.given
        assert (sender.removeprefix("+"), ton, npi) == (event.source_addr, event.source_addr_ton, event.source_addr_npi)
        assert ("306912345678", 1, 1) == (event.destination_addr, event.dest_addr_ton, event.dest_addr_npi)

    async def test_one_session_for_many(self) -> None:
        async with carrier() as smsc, bound(smsc.port) as channel:
            outcomes = await asyncio.gather(*(channel.send(sms(), begin=Begin()) for _ in range(20)))
        assert (20, 1) == ([kind(one) for one in outcomes].count("sent"), len(smsc.sessions))

    async def test_another_session_after_one_has_ended(self) -> None:
        async with carrier() as smsc, bound(smsc.port) as channel:
            await channel.send(sms(), begin=Begin())
            await smsc.sessions[0].unbind()
            await until(lambda: channel._session is None)
            assert "sent" == kind(await channel.send(sms(), begin=Begin()))
            assert 2 == len(smsc.sessions)


class TestClose:
    async def test_the_process_ends_well(self) -> None:
        """A thread of the library that is still in Python when the interpreter ends would crash the process."""
        async with carrier() as smsc, asyncio.timeout(DEADLINE_SECONDS * 3):
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "tests.extras.smpp_process", str(smsc.port), stderr=asyncio.subprocess.PIPE
            )
            _, told = await process.communicate()
        assert (0, "") == (process.returncode, told.decode())

    async def test_threads_of_others_are_not_waited_for(self) -> None:
        """They may stay as long as the process: whoever embeds the worker has some."""
        inside, leave = threading.Event(), threading.Event()
        _thread.start_new_thread(lambda: (inside.set(), leave.wait()), ())
        try:
            await until(inside.is_set)  # another thread may be on its way out of the library meanwhile
            smpp._earlier_threads.cache_clear()
            async with carrier() as smsc, asyncio.timeout(smpp.UNBIND_SECONDS / 2), bound(smsc.port) as channel:
                assert isinstance(await channel.send(sms(), begin=Begin()), Sent)
        finally:
            leave.set()
            smpp._earlier_threads.cache_clear()

    async def test_what_the_session_still_gave_is_taken(self) -> None:
        taken: list[Report] = []
        entered, go = asyncio.Event(), asyncio.Event()

        async def report(found: Sequence[Report]) -> None:
            entered.set()
            await go.wait()
            taken.extend(found)

        async with carrier() as smsc, bound(smsc.port, report=report) as channel:
            await channel.send(sms(), begin=Begin())
            for text in (b"id:m1 stat:DELIVRD", b"id:m2 stat:DELIVRD", b"id:m3 stat:DELIVRD"):
                await smsc.sessions[0].deliver_sm("Shop", text, source_addr="3069", esm_class=0x04)
            await entered.wait()
            closing = asyncio.create_task(channel.close())
            await until(lambda: channel._session is None)  # it has begun
            go.set()
            await closing
        assert ["m1", "m2", "m3"] == [one.provider_reference for one in taken]


class TestReceipts:
    async def test_over_the_session(self) -> None:
        reports: list[Report] = []
        async with carrier() as smsc, bound(smsc.port, reports=reports, no_address=["001"]) as channel:
            await channel.send(sms(), begin=Begin())
            esme = smsc.sessions[0]
            await esme.deliver_sm("Shop", b"STOP", source_addr="306912345678")  # a person wrote
            text = b"id:m1 sub:001 dlvrd:000 submit date:2611211000 done date:2611211001 stat:UNDELIV err:001 text:How"
            await esme.deliver_sm("Shop", text, source_addr="306912345678", esm_class=0x04)
            tlvs = [smpp34.Tlv(LIB.TLV_RECEIPTED_MESSAGE_ID, b"m2\0"), smpp34.Tlv(LIB.TLV_MESSAGE_STATE, b"\x02")]
            await esme.deliver_sm("Shop", b"", source_addr="306912345678", esm_class=0x04, tlvs=tlvs)
            await until(lambda: len(reports) == 2)
        assert [("m1", "failed", True, "001"), ("m2", "delivered", False, "")] == [
            (one.provider_reference, one.kind, one.is_hard, one.code) for one in reports
        ]

    async def test_a_receipt_that_cannot_be_taken_ends_nothing(self) -> None:
        taken: list[Report] = []

        async def report(found: Sequence[Report]) -> None:
            taken.extend(found)
            if len(taken) == 1:
                raise OSError

        async with carrier() as smsc, bound(smsc.port, report=report) as channel:
            await channel.send(sms(), begin=Begin())
            for _ in range(2):
                await smsc.sessions[0].deliver_sm("Shop", b"id:m1 stat:DELIVRD", source_addr="3069", esm_class=0x04)
            await until(lambda: len(taken) == 2)

    @pytest.mark.parametrize(
        ("octets", "expected"),
        [
            (b"id:1 stat:DELIVRD err:000", ("1", "delivered", "000")), (b"ID stat", None), (b"", None),
            (b"\xff" * 900, None),
            (b"id:a-b.c stat:delivrd", ("a-b.c", "delivered", "")), (b"id:1 stat:UNKNOWN err:5", None),
            (b"ID:1 SUB:001 STAT:DELIVRD ERR:000 Text:id:9 stat:UNDELIV", ("1", "delivered", "000")),
            (b"id:1 stat:ACCEPTD", ("1", "accepted", "")), (b"id:1 stat:EXPIRED err:027", ("1", "failed", "027")),
        ],
    )  # fmt: skip
    def test_texts(self, octets: bytes, expected: tuple[str, str, str] | None) -> None:
        report = smpp.receipt_of(octets)
        assert expected == (report and (report.provider_reference, report.kind, report.code))

    @pytest.mark.parametrize(
        ("base", "octets", "reference", "expected"),
        [
            (None, b"id:1017 stat:DELIVRD", None, "1017"), (None, b"id:1017 stat:DELIVRD", "3F9", "3F9"),
            ("decimal", b"id:1017 stat:DELIVRD", None, "3f9"), ("decimal", b"id:0000001017 stat:DELIVRD", None, "3f9"),
            ("decimal", b"id:1017 stat:DELIVRD", "3F9", "3f9"), ("decimal", b"stat:DELIVRD", "1017", "3f9"),
            ("hex", b"id:3F9 stat:DELIVRD", None, "1017"), ("hex", b"id:a-b stat:DELIVRD", None, "a-b"),
        ],
    )  # fmt: skip
    def test_bases_of_ids(self, base: Any, octets: bytes, reference: str | None, expected: str) -> None:
        report = smpp.receipt_of(octets, reference=reference, base=base)
        assert expected == (report and report.provider_reference)

    @pytest.mark.parametrize(
        ("code", "is_hard"), [("1", True), ("001", True), ("0001", True), ("1b", True), ("10", False)]
    )
    def test_spellings_of_codes(self, code: str, *, is_hard: bool) -> None:
        report = smpp.receipt_of(f"id:1 stat:UNDELIV err:{code}".encode(), no_address=["001", "01B"])
        assert is_hard == (report and report.is_hard)


async def _start() -> tuple[smpp34.Server, int]:
    """A server at a port that was free; at another one where somebody was quicker."""
    async with asyncio.timeout(DEADLINE_SECONDS):
        while True:
            with closed_port() as port:
                pass
            server = smpp34.Server("127.0.0.1", port)
            try:
                await server.start()
            except smpp34.SmppError:
                continue
            return server, port
