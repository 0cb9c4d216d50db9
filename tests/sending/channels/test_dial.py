"""Connecting to a mail server: unreachable hosts, certificates, logins."""

from dataclasses import replace
from pathlib import Path

import pytest

from afterword.kit.transport import http
from afterword.sending.channels.conversation import Login, parse_url, relay_of
from afterword.sending.channels.email import EmailChannel
from tests.kit.transport.test_ssrf import LOOPBACK
from tests.sending.channels.conftest import MESSAGE, Certificate
from tests.sending.channels.sink import Sink
from tests.sending.channels.test_email import LOGIN, Begin, channel_to, kind

AUTHORITY = Path(__file__).parents[2] / "authority.pem"  # of another certificate


async def test_nobody_there() -> None:
    async with Sink() as sink:
        url = sink.url
    channel = EmailChannel(url, 1)
    assert "connection" == kind(await channel.send(MESSAGE, begin=Begin()))
    await channel.close()


async def test_name_that_does_not_resolve() -> None:
    channel = EmailChannel("smtp://no-such-host.invalid", 1)
    assert "connection" == kind(await channel.send(MESSAGE, begin=Begin()))
    await channel.close()


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
            channel = EmailChannel(replace(relay, host=host), 1, networks=LOOPBACK)
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
