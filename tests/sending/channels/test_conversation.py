"""A mail server: its address, connecting to it, and a conversation without a byte before the point of no return."""

import asyncio
import dataclasses
import inspect
from pathlib import Path

import aiosmtplib
import pytest
from aiosmtplib.protocol import SMTPProtocol
from msgspec.structs import replace

from afterword.kit.transport import http
from afterword.kit.transport.base import Fenced
from afterword.sending.channels.conversation import Login, Relay, parse_url, relay_of
from afterword.sending.channels.email import EmailChannel
from tests.kit.transport.test_ssrf import LOOPBACK
from tests.sending.channels.calls import Begin, kind
from tests.sending.channels.conftest import MESSAGE, Certificate
from tests.sending.channels.sink import Fault, Sink, say
from tests.sending.channels.test_email import LOGIN, SHORT, channel_to, until


async def test_body_that_the_kernel_never_took() -> None:
    message = replace(MESSAGE, html="ä" * 4_000_000)
    async with Sink(faults={"body": Fault("silence")}) as sink, channel_to(sink, patience=SHORT) as channel:
        assert "recipient" == kind(await channel.send(message, begin=Begin()))
    async with Sink(faults={"body": Fault("reset")}) as sink, channel_to(sink) as channel:
        assert "recipient" == kind(await channel.send(message, begin=Begin()))


async def test_hung_up_while_beginning() -> None:
    async def begin() -> None:
        await until(lambda: "gone" in done)

    async with Sink(faults={"body": Fault("drop")}) as sink, channel_to(sink) as channel:
        done: list[str] = []
        sending = asyncio.ensure_future(channel.send(MESSAGE, begin=begin))
        await until(lambda: any(command == "DATA" for command in sink.commands))
        done.append("gone")
        assert "recipient" == kind(await sending)
        assert 0 == sink.count


@pytest.mark.parametrize("fault", [Fenced(), ValueError("a bug"), ConnectionError("the database"), TimeoutError()])
async def test_what_begin_raises_passes_through_unsent(fault: BaseException) -> None:
    async with Sink() as sink, channel_to(sink) as channel:
        with pytest.raises(type(fault)) as raised:
            await channel.send(MESSAGE, begin=Begin(fault))
        assert fault is raised.value
        assert "sent" == kind(await channel.send(MESSAGE, begin=Begin()))
        assert 1 == sink.count
        assert 2 == sink.connections  # the first was cut in the middle of DATA


async def test_nothing_of_the_body_before_begin() -> None:
    async with Sink() as sink, channel_to(sink) as channel:
        seen: list[int] = []

        async def begin() -> None:
            seen.append(len(sink.commands))
            assert 0 == sink.count

        assert "sent" == kind(await channel.send(MESSAGE, begin=begin))
        assert [4] == seen  # EHLO MAIL RCPT DATA


async def test_answer_out_of_turn_never_passes_for_the_answer_to_the_dot() -> None:
    reply = say("354 Go ahead\r\n250 2.0.0 Ok: queued as NEVER")
    begin = Begin()
    async with Sink(faults={"data": reply}) as sink, channel_to(sink) as channel:
        assert "recipient" == kind(await channel.send(MESSAGE, begin=begin))
        assert (0, 0) == (begin.count, sink.count)


def test_pinned_members_of_aiosmtplib() -> None:
    assert aiosmtplib.__version__.startswith("5.1.")
    assert aiosmtplib.SMTP().protocol is None
    assert inspect.iscoroutinefunction(SMTPProtocol._drain_helper)
    assert ["self", "timeout"] == list(inspect.signature(SMTPProtocol.read_response).parameters)


async def test_pinned_buffer_of_aiosmtplib() -> None:
    assert bytearray() == SMTPProtocol()._buffer


AUTHORITY = Path(__file__).parents[2] / "authority.pem"  # of another certificate


@pytest.mark.parametrize("url", ["", "smtp://no-such-host.invalid"])
async def test_nobody_there(url: str) -> None:
    async with Sink() as sink:
        pass
    async with channel_to(sink, url=url) as channel:
        assert "connection" == kind(await channel.send(MESSAGE, begin=Begin()))


@pytest.mark.parametrize("mechanisms", ["PLAIN LOGIN", "LOGIN", "CRAM-MD5 PLAIN"])
async def test_login(mechanisms: str) -> None:
    async with Sink(login=LOGIN, mechanisms=mechanisms) as sink:
        url = f"smtp://ann:s3cr3t@127.0.0.1:{sink.port}"
        async with channel_to(sink, url=url) as channel:
            assert "sent" == kind(await channel.send(MESSAGE, begin=Begin()))


async def test_wrong_password_is_tried_once() -> None:
    async with Sink(login=LOGIN) as sink:
        url = f"smtp://ann:wrong-s3cr3t@127.0.0.1:{sink.port}"
        async with channel_to(sink, url=url) as channel:
            outcome = await channel.send(MESSAGE, begin=Begin())
        assert "account" == kind(outcome)
        assert 1 == len([command for command in sink.commands if command.startswith("AUTH")])
        assert "wrong-s3cr3t" not in repr(outcome)


async def test_no_login_offered() -> None:
    async with Sink() as sink:
        url = f"smtp://ann:s3cr3t@127.0.0.1:{sink.port}"
        async with channel_to(sink, url=url) as channel:
            assert "account" == kind(await channel.send(MESSAGE, begin=Begin()))


@pytest.mark.parametrize(
    ("implicit", "option"), [(True, ""), (False, "?starttls=required"), (False, f"?ca={AUTHORITY}")]
)
async def test_certificate_is_verified(certificate: Certificate, *, implicit: bool, option: str) -> None:
    async with Sink(tls=certificate.context, implicit_tls=implicit) as sink:
        async with channel_to(sink, url=sink.url + option) as channel:
            outcome = await channel.send(MESSAGE, begin=Begin())
        assert "account" == kind(outcome)
        assert 0 == sink.count
        async with channel_to(sink, url=f"{sink.url}?ca={certificate.file}") as channel:
            assert "sent" == kind(await channel.send(MESSAGE, begin=Begin()))


@pytest.mark.parametrize(("host", "login"), [("127.0.0.1", ""), ("localhost", ""), ("127.0.0.2", "ann:s3cr3t@")])
async def test_an_offered_upgrade_on_this_machine_needs_no_authority(
    certificate: Certificate, host: str, login: str
) -> None:
    """Debian's Postfix offers STARTTLS with a certificate of its own; the mail never leaves the machine."""
    async with Sink(tls=certificate.context, login=LOGIN if login else None, host=host) as sink:
        async with channel_to(sink, url=f"smtp://{login}{host}:{sink.port}") as channel:
            assert "sent" == kind(await channel.send(MESSAGE, begin=Begin()))
        assert "STARTTLS" in sink.commands


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::ffff:127.0.0.1", "10.0.0.1", "169.254.169.254", "::1"])
async def test_only_open_networks(host: str) -> None:
    async with Sink() as sink:
        channel = EmailChannel(relay_of(Login(host=host, port=sink.port, security="none")), 1, networks=())
        assert "account" == kind(await channel.send(MESSAGE, begin=Begin()))
        await channel.close()
        assert ([], 0) == (sink.commands, sink.count)


async def test_allowed_network(certificate: Certificate, monkeypatch: pytest.MonkeyPatch) -> None:
    """The certificate is verified for the name, on a connection to the judged address."""
    monkeypatch.setattr(http, "_look_up", lambda _host, port: [(2, 1, 6, "", ("127.0.0.1", port))])
    async with Sink(tls=certificate.context, implicit_tls=True) as sink:
        relay = parse_url(f"{sink.url}?ca={certificate.file}")
        for host, expected in ((relay.host, "sent"), ("smtp.shop.example", "account")):
            channel = EmailChannel(dataclasses.replace(relay, host=host), 1, networks=LOOPBACK)
            assert expected == kind(await channel.send(MESSAGE, begin=Begin()))
            await channel.close()
    nobody = EmailChannel(sink.url, 1, networks=LOOPBACK)
    assert "connection" == kind(await nobody.send(MESSAGE, begin=Begin()))
    await nobody.close()


async def test_starttls_required_and_missing() -> None:
    async with Sink() as sink, channel_to(sink, url=f"{sink.url}?starttls=required") as channel:
        assert "account" == kind(await channel.send(MESSAGE, begin=Begin()))


async def test_starttls_never(certificate: Certificate) -> None:
    async with Sink(tls=certificate.context) as sink, channel_to(sink, url=f"{sink.url}?starttls=never") as channel:
        assert "sent" == kind(await channel.send(MESSAGE, begin=Begin()))
        assert "STARTTLS" not in sink.commands


async def test_no_tls_where_tls_was_expected() -> None:
    async with Sink() as sink, channel_to(sink, url=f"smtps://127.0.0.1:{sink.port}") as channel:
        assert "connection" == kind(await channel.send(MESSAGE, begin=Begin()))


PASSWORD = "s3cr3t-pass/word"  # a slash that should have been %2F


@pytest.mark.parametrize(
    "url",
    [
        "",
        "mail.example.org",
        f"http://user:{PASSWORD}@mail.example.org",
        f"smtp://user:{PASSWORD}@mail.example.org",
        f"smtp://user:{PASSWORD.replace('/', '%2F')}@mail.example.org:99999",
        f"smtp://user:{PASSWORD.replace('/', '%2F')}@mail.example.org:port",
        f"smtp://user:{PASSWORD.replace('/', '%2F')}@mail.example.org/path",
        f"smtp://user:{PASSWORD.replace('/', '%2F')}@mail.example.org?starttls=maybe",
        f"smtp://user:{PASSWORD.replace('/', '%2F')}@mail.example.org?verify=no",
        f"smtp://user:{PASSWORD.replace('/', '%2F')}@mail.example.org?ca=/no/such/file",
        f"smtp://:{PASSWORD.replace('/', '%2F')}@mail.example.org",
        "smtp://user:s3cr3t@[mail.example.org",
    ],
)
def test_refused_without_the_password(url: str) -> None:
    with pytest.raises(ValueError, match=r"mail server's address") as refused:
        parse_url(url)
    assert "s3cr3t" not in str(refused.value)
    assert "\n" not in str(refused.value)
    assert refused.value.__cause__ is None


@pytest.mark.parametrize(
    ("expected", "url"),
    [
        (("mail.example.org", 25, False, "offered", None, ""), "smtp://mail.example.org"),
        (("mail.example.org", 587, False, "offered", "ann", "pw"), "smtp://ann:pw@mail.example.org"),
        (("mail.example.org", 465, True, "offered", "ann", "pw"), "smtps://ann:pw@mail.example.org/"),
        (("mail.example.org", 2525, False, "required", None, ""), "smtp://mail.example.org:2525?starttls=required"),
        (
            ("mail.example.org", 587, False, "never", "a@b.c", "p/:@w"),
            "smtp://a%40b.c:p%2F%3A%40w@mail.example.org?starttls=never",
        ),
        (("::1", 25, False, "offered", None, ""), "smtp://[::1]"),
    ],
)
def test_read(expected: tuple[object, ...], url: str) -> None:
    relay = parse_url(url)
    assert expected == (relay.host, relay.port, relay.implicit_tls, relay.starttls, relay.username, relay.password)


def test_authority_file(tmp_path: Path) -> None:
    file = tmp_path / "ca.pem"
    file.touch()
    assert file == parse_url(f"smtps://mail.example.org?ca={file}").ca_file


@pytest.mark.parametrize(
    ("expected", "url"),
    [
        (True, "smtp://ann:pw@mail.example.org"),
        (False, "smtp://ann:pw@mail.example.org?starttls=never"),
        (False, "smtp://ann:pw@localhost"),
        (False, "smtp://mail.example.org"),
        (True, "smtp://mail.example.org?starttls=required"),
    ],
)
def test_password_needs_tls(expected: bool, url: str) -> None:  # noqa: FBT001
    assert expected is parse_url(url).needs_tls


def test_password_is_not_in_its_words() -> None:
    relay: Relay = parse_url("smtps://ann:s3cr3t@mail.example.org")
    assert "s3cr3t" not in repr(relay)
    assert "s3cr3t" not in relay.place
