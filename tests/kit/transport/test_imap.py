"""A mailbox by IMAP: what is refused, a hostile server, and Dovecot with TLS, STARTTLS, folders and large mails."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from afterword.core.messaging.networks import networks_of
from afterword.kit.transport import imap
from afterword.kit.transport.imap import Failed, Login, opened
from tests.dovecot import PASSWORDS, USER, Mailserver
from tests.journeys.processes import free_port
from tests.sending.channels.conftest import Certificate

HERE = networks_of("127.0.0.0/8")
SECONDS = 15.0
YESTERDAY = (datetime.now(UTC) - timedelta(days=1)).date()
MAIL = b"From: ann@example.com\r\nSubject: Hello\r\n\r\nThanks.\r\n"


def login_of(server: Mailserver | int, **changes: Any) -> Login:
    port = server if isinstance(server, int) else server.tls
    known = Login(host="127.0.0.1", port=port, security="tls", username=USER, password=PASSWORDS[USER], folder="INBOX")
    return replace(known, **changes)


async def problem_of(login: Login, *, allowed: Any = HERE, seconds: float = SECONDS) -> tuple[str, str]:
    with pytest.raises(Failed) as failed:
        async with opened(login, allowed=allowed, seconds=seconds):
            pass
    return failed.value.problem, failed.value.reply


class TestRefused:
    async def test_closed_network(self) -> None:
        assert ("blocked", "") == await problem_of(login_of(993), allowed=())

    async def test_nobody_listens(self) -> None:
        assert ("not_reached", "") == await problem_of(login_of(free_port()))
        assert ("not_reached", "") == await problem_of(login_of(993, host="nowhere.invalid"))

    async def test_unknown_authority(self, mailserver: Mailserver, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("SSL_CERT_FILE")
        problem, reply = await problem_of(login_of(mailserver))
        assert ("not_trusted", True) == (problem, "self-signed" in reply)

    async def test_another_name(self, mailserver: Mailserver) -> None:
        assert "not_trusted" == (await problem_of(login_of(mailserver, host="127.0.0.2")))[0]

    @pytest.mark.parametrize("security", ["tls", "starttls"])
    async def test_wrong_password(self, mailserver: Mailserver, security: str) -> None:
        login = login_of(getattr(mailserver, security), security=security, password="wrong")
        problem, reply = await problem_of(login)
        assert ("login_refused", True) == (problem, "Authentication failed" in reply)

    async def test_no_such_folder(self, mailserver: Mailserver) -> None:
        problem, reply = await problem_of(login_of(mailserver, folder="Απαντήσεις"))
        assert ("no_folder", True) == (problem, "doesn't exist" in reply)

    async def test_tls_where_none_is_spoken(self, mailserver: Mailserver) -> None:
        assert "no_answer" == (await problem_of(login_of(mailserver.starttls)))[0]


class TestDovecot:
    async def test_empty(self, mailserver: Mailserver) -> None:
        async with opened(login_of(mailserver), allowed=HERE, seconds=SECONDS) as session:
            assert 0 == session.count
            assert session.uid_validity > 0
            assert [] == await session.uids(after=0, since=YESTERDAY)

    @pytest.mark.parametrize(("security", "username"), [("tls", USER), ("starttls", USER), ("tls", "greek")])
    async def test_mails(self, mailserver: Mailserver, security: str, username: str) -> None:
        for name in (b"1", b"2"):
            mailserver.deliver(MAIL + name)
        login = login_of(
            getattr(mailserver, security), security=security, username=username, password=PASSWORDS[username]
        )
        async with opened(login, allowed=HERE, seconds=SECONDS) as session:
            first, second = await session.uids(after=0, since=YESTERDAY)
            assert {first: len(MAIL) + 1, second: len(MAIL) + 1} == await session.sizes([first, second])
            assert MAIL + b"2" == await session.mail(second, most=1_000)
            assert b"" == await session.mail(second + 1, most=1_000)
            assert [""] * 2 == [flags.replace("T", "") for flags in mailserver.flags()]
            await session.mark_seen(second)
            assert [second] == await session.uids(after=first, since=YESTERDAY)
            assert [] == await session.uids(after=second, since=YESTERDAY)
            assert [] == await session.uids(after=0, since=YESTERDAY + timedelta(days=3))
        assert ["", "S"] == mailserver.flags()

    async def test_large_mail(self, mailserver: Mailserver) -> None:
        """No more of it than was asked for comes, with every byte a line can have."""
        mailserver.deliver(MAIL + bytes(range(14, 256)) * 40_000)
        async with opened(login_of(mailserver), allowed=HERE, seconds=SECONDS) as session:
            [uid] = await session.uids(after=0, since=YESTERDAY)
            assert 2_000_000 == len(await session.mail(uid, most=2_000_000))

    async def test_reset(self, mailserver: Mailserver) -> None:
        mailserver.deliver(MAIL)
        found = set[int]()
        for _ in range(2):
            async with opened(login_of(mailserver), allowed=HERE, seconds=SECONDS) as session:
                found.add(session.uid_validity)
            mailserver.reset()
        assert 2 == len(found)


@asynccontextmanager
async def hostile(certificate: Certificate, lines: dict[str, bytes], *, is_open: bool = False) -> AsyncGenerator[int]:
    """A server that greets, and answers each command with what `lines` has for it, `%s` being its tag, else OK."""

    async def send(writer: asyncio.StreamWriter, answer: bytes) -> None:
        for _ in range(2_000 if answer.endswith(b"...") else 1):
            writer.write(answer.removesuffix(b"..."))
            await writer.drain()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await send(writer, lines.get("", b"* OK Hello\r\n"))
            while line := await reader.readline():
                tag, command, *more = line.split()
                name = (more[0] if command == b"UID" else command).decode()
                default = b"* CAPABILITY IMAP4rev1 STARTTLS\r\n" if name == "CAPABILITY" else b""
                await send(writer, lines.get(name, default + b"%s OK done\r\n").replace(b"%s", tag))
                if name == "STARTTLS" and b"NO" not in lines.get(name, b""):
                    await writer.start_tls(certificate.context)
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=None if is_open else certificate.context)
    async with server:
        yield server.sockets[0].getsockname()[1]


SELECTED = b"* 1 EXISTS\r\n* OK [UIDVALIDITY 7] ok\r\n%s OK [READ-WRITE] done\r\n"


async def first_mail(port: int) -> bytes:
    async with opened(login_of(port), allowed=HERE, seconds=2.0) as session:
        assert (7, 1) == (session.uid_validity, session.count)
        await session.uids(after=0, since=YESTERDAY)
        return await session.mail(1, most=10)


class TestHostile:
    @pytest.fixture(autouse=True)
    def trusted(self, certificate: Certificate, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate.file))

    @pytest.mark.parametrize(
        ("problem", "lines"),
        [
            ("no_answer", {"": b""}),  # nothing until the time is over
            ("no_answer", {"": b"* BYE Go away\r\n"}),
            ("no_answer", {"": b"HTTP/1.1 200 OK\r\n"}),
            ("too_large", {"": b"x" * 65_536 + b"..."}),
            ("too_large", {"LOGIN": b"* X " + b"x" * 60_000 + b"\r\n..."}),
            ("too_large", {"LOGIN": b"* 1 FETCH {99999999999}\r\n"}),
            ("no_answer", {"LOGIN": b"* 1 FETCH {" + b"9" * 5_000 + b"}\r\n"}),
            ("login_refused", {"LOGIN": b"%s NO [AUTHENTICATIONFAILED] Use an app password\r\n"}),
            ("no_answer", {"LOGIN": b"* BYE Too many\r\n"}),
            ("no_folder", {"SELECT": b"%s NO gone\r\n"}),
            ("no_answer", {"SELECT": b"%s OK done\r\n"}),
            ("no_answer", {"SELECT": b"* one EXISTS\r\n%s OK done\r\n"}),
            ("no_answer", {"SELECT": b"* x EXISTS\r\n* 9 EXISTS x\r\n%s OK done\r\n"}),
        ],
    )
    async def test_start(self, certificate: Certificate, problem: str, lines: dict[str, bytes]) -> None:
        async with hostile(certificate, lines) as port:
            assert problem == (await problem_of(login_of(port), seconds=2.0))[0]

    @pytest.mark.parametrize(
        ("problem", "name", "answer"),
        [
            ("too_large", "SEARCH", b"* SEARCH" + b" 1" * 30_000 + b"..."),
            ("no_answer", "FETCH", b"* 1 FETCH (UID 1 BODY[] " + b"(" * 50_000 + b"\r\n%s OK done\r\n"),
            ("no_answer", "FETCH", b"* 1 FETCH (UID 1 BODY[] {5}\r\nab"),
            ("too_large", "FETCH", b"* 1 FETCH (UID 1 BODY[] {70000}\r\n" + b"x" * 70_000 + b")\r\n..."),
        ],
    )
    async def test_step(self, certificate: Certificate, problem: str, name: str, answer: bytes) -> None:
        async with hostile(certificate, {"SELECT": SELECTED, name: answer}) as port:
            with pytest.raises(Failed) as failed:
                await first_mail(port)
            assert problem == failed.value.problem

    async def test_text_instead_of_a_mail(self, certificate: Certificate) -> None:
        lines = {
            "SELECT": SELECTED,
            "FETCH": b"* 1 FETCH (UID 1 BODY[] 5)\r\n* 9 FETCH (UID 9 BODY[] x)\r\n%s OK done\r\n",
        }
        async with hostile(certificate, lines) as port:
            assert b"" == await first_mail(port)

    @pytest.mark.parametrize(
        ("problem", "lines"),
        [
            ("no_tls", {"CAPABILITY": b"* CAPABILITY IMAP4rev1\r\n%s OK done\r\n"}),
            ("no_tls", {"STARTTLS": b"%s NO not now\r\n"}),
        ],
    )
    async def test_starttls(self, certificate: Certificate, problem: str, lines: dict[str, bytes]) -> None:
        async with hostile(certificate, lines, is_open=True) as port:
            assert problem == (await problem_of(login_of(port, security="starttls"), seconds=2.0))[0]

    async def test_data_before_tls(self, certificate: Certificate) -> None:
        """A machine in between could put an answer into the clear part, to be read as if it had come by TLS."""
        lines = {"STARTTLS": b"%s OK done\r\n* CAPABILITY IMAP4rev1\r\n"}
        async with hostile(certificate, lines, is_open=True) as port:
            problem, reply = await problem_of(login_of(port, security="starttls"))
        assert ("no_answer", True) == (problem, "before TLS began" in reply)
        async with (
            hostile(certificate, {"SELECT": SELECTED}, is_open=True) as port,
            opened(login_of(port, security="starttls"), allowed=HERE, seconds=SECONDS) as session,
        ):
            assert 1 == session.count

    async def test_the_reply_is_the_servers(self, certificate: Certificate) -> None:
        async with hostile(certificate, {"LOGIN": b"%s NO [AUTHENTICATIONFAILED] Use an app password\r\n"}) as port:
            _, reply = await problem_of(login_of(port))
        assert "[AUTHENTICATIONFAILED] Use an app password" == reply

    async def test_the_reply_is_a_line(self, certificate: Certificate) -> None:
        lines = {"LOGIN": b"%s NO " + b"\x01no\xff " * 200 + b"\r\n"}
        async with hostile(certificate, lines) as port:
            _, reply = await problem_of(login_of(port))
        assert len(reply) <= imap.REPLY_CHARACTERS_MAX
        assert "\x01" not in reply

    async def test_a_caller_who_goes_away_ends_the_thread(self, certificate: Certificate) -> None:
        async with hostile(certificate, {"LOGIN": b""}) as port:
            task = asyncio.create_task(problem_of(login_of(port)))
            done, _ = await asyncio.wait([task], timeout=0.5)
            assert not done
            task.cancel()
            await asyncio.wait([task])
        assert task.cancelled()
