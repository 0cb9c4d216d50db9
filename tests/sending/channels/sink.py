"""A scripted SMTP server for tests: takes mail, or fails at a chosen phase in a chosen way.

Each accepted item_id goes to a file opened with O_APPEND *before* the 250: that file is the truth about the outside
world. Also a process of its own: `python -m tests.sending.channels.sink --file accepted --retry 0.02 --lost 0.005`.
"""

import argparse
import asyncio
import base64
import os
import random
import re
import socket
import ssl
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.message import EmailMessage
from email.parser import BytesParser
from email.policy import default
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

Phase = Literal["greeting", "ehlo", "starttls", "auth", "mail", "rcpt", "data", "body", "dot", "quit"]
# lost: accepts, writes it down, then hangs up without a word. hang: the same, then keeps silent. late: the same, then
# answers when the test sets `release`.
Way = Literal["drop", "reset", "silence", "garbage", "slow", "reply", "lost", "hang", "late"]

_MESSAGE_ID = re.compile(rb"^Message-ID: <([^@>]+)@", re.IGNORECASE | re.MULTILINE)
_OK = "250 2.0.0 Ok"


class _LeftError(Exception):
    """This side hung up."""


@dataclass
class Fault:
    """A fault of the sink, and the number of times it happens; None: always."""

    way: Way
    reply: str = ""
    times: int | None = None


def say(reply: str, times: int | None = None) -> Fault:
    """A fault that answers with this line instead."""
    return Fault("reply", reply, times)


@dataclass
class Mail:
    """One accepted mail."""

    sender: str
    recipients: list[str]
    content: bytes

    @property
    def item_id(self) -> str:
        found = _MESSAGE_ID.search(self.content)
        return found.group(1).decode() if found else ""

    @property
    def parsed(self) -> EmailMessage:
        message = BytesParser(policy=default).parsebytes(self.content)
        assert isinstance(message, EmailMessage)
        return message


@dataclass
class Sink:
    """`async with Sink() as sink: … sink.url`."""

    faults: Mapping[Phase, Fault] = field(default_factory=dict[Phase, Fault])
    file: Path | None = None
    login: tuple[str, str] | None = None
    tls: ssl.SSLContext | None = None
    implicit_tls: bool = False
    extensions: tuple[str, ...] = ("SIZE 10485760", "8BITMIME", "ENHANCEDSTATUSCODES")
    mechanisms: str = "PLAIN LOGIN"
    retry: float = 0.0  # shares of mails, drawn from `seed`
    lost: float = 0.0
    seed: int = 1
    pause: float = 0.0  # seconds that it takes over the answers to DATA and to the dot
    host: str = "127.0.0.1"
    port: int = 0
    keep: bool = True  # the mails, for tests that read them
    mails: list[Mail] = field(default_factory=list[Mail])
    commands: list[str] = field(default_factory=list[str])
    connections: int = 0
    count: int = 0

    @property
    def url(self) -> str:
        return f"{'smtps' if self.implicit_tls else 'smtp'}://{self.host}:{self.port}"

    async def __aenter__(self) -> Self:
        self.release = asyncio.Event()
        self._draw = random.Random(self.seed)  # noqa: S311
        self._tasks: set[asyncio.Task[None]] = set()
        self._output = os.open(self.file, os.O_APPEND | os.O_CREAT | os.O_WRONLY) if self.file else None
        self._server = await asyncio.start_server(
            self._serve, self.host, self.port, ssl=self.tls if self.implicit_tls else None, limit=2**16
        )
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._output is not None:
            os.close(self._output)

    def accept(self, mail: Mail) -> None:
        """Write it down; from here on the mail is out."""
        self.count += 1
        if self._output is not None:
            os.write(self._output, f"{mail.item_id}\n".encode())
        if self.keep:
            self.mails.append(mail)

    def fault(self, phase: Phase) -> Fault | None:
        fault = self.faults.get(phase)
        if fault is None or fault.times == 0:
            return None
        if fault.times is not None:
            fault.times -= 1
        return fault

    def drawn(self) -> Fault | None:
        """The fault of one mail after its dot, by the shares."""
        number = self._draw.random() if self.retry or self.lost else 1.0
        if number < self.lost:
            return Fault("lost")
        return say("451 4.3.0 Try again later") if number < self.lost + self.retry else None

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        try:
            await Session(self, reader, writer).run()
        except (_LeftError, ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._tasks.discard(task)
            writer.close()


class Session:
    """One connection to the sink."""

    def __init__(self, sink: Sink, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.sink, self.reader, self.writer = sink, reader, writer
        self.secured = sink.implicit_tls
        self.sender, self.recipients = "", list[str]()

    async def run(self) -> None:
        await self.answer("greeting", "220 sink ESMTP")
        while line := await self.reader.readline():
            text = line.decode("utf-8", "replace").rstrip("\r\n")
            self.sink.commands.append(text)
            verb = text.partition(" ")[0].upper()
            handler = getattr(self, f"on_{verb.lower()}", None)
            await (handler(text) if handler else self.write("502 5.5.2 What?"))

    async def on_ehlo(self, _text: str) -> None:
        lines = ["sink at your service", *self.sink.extensions]
        if self.sink.tls is not None and not self.secured:
            lines.append("STARTTLS")
        if self.sink.login is not None:
            lines.append(f"AUTH {self.sink.mechanisms}")
        await self.answer("ehlo", "\r\n".join([f"250-{line}" for line in lines[:-1]] + [f"250 {lines[-1]}"]))

    async def on_helo(self, _text: str) -> None:
        await self.write("250 sink")

    async def on_starttls(self, _text: str) -> None:
        await self.answer("starttls", "220 2.0.0 Go ahead")
        assert self.sink.tls is not None
        await self.writer.start_tls(self.sink.tls)
        self.secured = True

    async def on_auth(self, text: str) -> None:
        words = text.split()
        given = words[2] if len(words) > 2 else ""
        if words[1].upper() == "LOGIN":
            await self.write("334 UGFzc3dvcmQ6")
            given = base64.b64encode(
                b"\0" + base64.b64decode(given) + b"\0" + base64.b64decode((await self.reader.readline()).strip())
            ).decode()
        login = tuple(base64.b64decode(given).decode().split("\0")[1:])
        good = login == self.sink.login
        await self.answer("auth", "235 2.7.0 Welcome" if good else "535 5.7.8 Authentication credentials invalid")

    async def on_mail(self, text: str) -> None:
        self.sender = text[text.index("<") + 1 : text.index(">")]
        self.recipients = []
        await self.answer("mail", _OK)

    async def on_rcpt(self, text: str) -> None:
        if await self.answer("rcpt", "250 2.1.5 Ok"):
            self.recipients.append(text[text.index("<") + 1 : text.rindex(">")])

    async def on_data(self, _text: str) -> None:
        await asyncio.sleep(self.sink.pause)
        if not await self.answer("data", "354 End with a dot"):
            return
        if self.sink.faults.get("body", Fault("drop")).way in {"reply", "garbage", "slow"}:
            await self.reader.readline()  # speaks in the middle of the body
        spoiled = await self.disturb("body")
        lines: list[bytes] = []
        while (line := await self.reader.readline()) != b".\r\n":
            if not line:
                raise _LeftError  # the body broke off: nothing was accepted
            lines.append(line.removeprefix(b"."))
        mail = Mail(self.sender, self.recipients, b"".join(lines))
        if spoiled:
            return  # it has answered already
        fault = self.sink.fault("dot") or self.sink.drawn()
        if fault is None or fault.way in {"lost", "hang", "late"}:
            self.sink.accept(mail)
        await asyncio.sleep(self.sink.pause)
        if fault is not None and fault.way == "late":
            await self.sink.release.wait()
        if fault is None or fault.way == "late":
            await self.write(f"250 2.0.0 Ok: queued as {self.sink.count:08X}")
        else:
            await self.perform(fault)

    async def on_rset(self, _text: str) -> None:
        await self.write(_OK)

    async def on_noop(self, _text: str) -> None:
        await self.write(_OK)

    async def on_quit(self, _text: str) -> None:
        await self.answer("quit", "221 2.0.0 Bye")
        raise _LeftError

    async def answer(self, phase: Phase, reply: str) -> bool:
        """The reply, unless this phase is disturbed; whether it was a good one."""
        if await self.disturb(phase):
            return False
        await self.write(reply)
        return True

    async def disturb(self, phase: Phase) -> bool:
        fault = self.sink.fault(phase)
        if fault is not None:
            await self.perform(fault)
        return fault is not None

    async def perform(self, fault: Fault) -> None:
        match fault.way:
            case "reply":
                await self.write(fault.reply)
                if fault.reply.startswith("421"):
                    raise _LeftError
            case "garbage":
                await self.write("\x00\xff <html>hello</html>")
            case "silence" | "hang" | "late":
                await asyncio.Event().wait()
            case "slow":
                for character in "250 a very slow server" * 100:
                    self.writer.write(character.encode())
                    await asyncio.sleep(1)
            case "drop" | "lost":
                raise _LeftError
            case "reset":
                raw: socket.socket = self.writer.get_extra_info("socket")
                raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.writer.transport.abort()
                raise _LeftError

    async def write(self, reply: str) -> None:
        self.writer.write(f"{reply}\r\n".encode("latin-1", "replace"))
        await self.writer.drain()


async def main() -> None:
    """Run until killed; prints the port when ready."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--file", type=Path, required=True)
    parser.add_argument("--retry", type=float, default=0.0)
    parser.add_argument("--lost", type=float, default=0.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pause", type=float, default=0.0)
    given = parser.parse_args()
    async with Sink(
        file=given.file,
        retry=given.retry,
        lost=given.lost,
        seed=given.seed,
        pause=given.pause,
        host=given.host,
        port=given.port,
        keep=False,
    ) as sink:
        print(sink.port, flush=True)  # noqa: T201
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
