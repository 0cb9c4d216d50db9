"""Guarded calls: what they refuse, what they say of a call that failed, and what they never do."""

import asyncio
import ipaddress
import ssl
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from afterword.kit.transport import http
from afterword.kit.transport.base import Fenced
from afterword.kit.transport.http import (
    Answer,
    Blocked,
    Caller,
    NoAnswer,
    NotAsked,
    NotSent,
    Resolver,
    Untrusted,
    check_url,
)
from tests.kit.transport.name_server import name_server
from tests.sending.channels import receiver as receivers
from tests.sending.channels.conftest import Certificate
from tests.sending.channels.receiver import Receiver, Reply, Way, closed_port

LOOPBACK = (ipaddress.ip_network("127.0.0.0/8"),)
SECONDS = 10.0


@asynccontextmanager
async def caller(trust: ssl.SSLContext | None = None, *, is_closed: bool = False) -> AsyncGenerator[Caller]:
    made = Caller(allowed=() if is_closed else LOOPBACK, trust=trust)
    try:
        yield made
    finally:
        await made.close()


async def post(url: str, *, trust: ssl.SSLContext | None = None, seconds: float = SECONDS, **more: Any) -> Answer:
    async with caller(trust) as made:
        return await made.request("POST", url, headers={"X-One": "1"}, content=b"hello", seconds=seconds, **more)


class TestRefused:
    @pytest.mark.parametrize(
        "url", ["", "x", "ftp://example.com", "https://", "https://a:b@example.com", "https://a\\b"]
    )
    async def test_not_an_address(self, url: str) -> None:
        with pytest.raises(Blocked):
            await post(url)

    async def test_private(self) -> None:
        async with Receiver() as receiver, caller(is_closed=True) as made:
            with pytest.raises(Blocked, match="may not be called"):
                await made.request("GET", receiver.url, headers={}, content=b"")
        assert 0 == receiver.connections

    async def test_one_private_address_among_public_ones(self, monkeypatch: pytest.MonkeyPatch) -> None:
        _resolve_to(monkeypatch, "8.8.8.8", "127.0.0.1")
        async with caller(is_closed=True) as made:
            with pytest.raises(Blocked):
                await made.request("GET", "https://two.example", headers={}, content=b"")

    async def test_http_outside(self, monkeypatch: pytest.MonkeyPatch) -> None:
        _resolve_to(monkeypatch, "8.8.8.8")
        with pytest.raises(Blocked, match="https"):
            await post("http://one.example")

    @pytest.mark.parametrize("header", ["a\r\nx: y", "ä", "\x00"])
    async def test_headers_that_break_out(self, header: str) -> None:
        async with Receiver() as receiver, caller() as made:
            with pytest.raises(NotSent, match="header"):
                await made.request("POST", receiver.url, headers={"X-Key": header}, content=b"")
        assert 0 == receiver.connections


class TestNotSent:
    async def test_no_such_name(self) -> None:
        with pytest.raises(NotSent, match="could not be found"):
            await post("https://nobody.invalid/")

    async def test_nobody_there(self) -> None:
        with closed_port() as port, pytest.raises(NotSent, match="Nobody took"):
            await post(f"http://127.0.0.1:{port}/")

    async def test_a_stranger_with_a_certificate(self, certificate: Certificate) -> None:
        async with Receiver(tls=certificate.context) as receiver:
            with pytest.raises(Untrusted, match="certificate was not verified"):
                await post(receiver.url)
        assert [] == receiver.given

    async def test_the_wrong_name(self, certificate: Certificate, monkeypatch: pytest.MonkeyPatch) -> None:
        _resolve_to(monkeypatch, "127.0.0.1")
        async with Receiver(tls=certificate.context) as receiver:
            with pytest.raises(Untrusted, match="certificate was not verified"):
                await post(f"https://bank.example:{receiver.port}/", trust=_trust(certificate))
        assert [] == receiver.given

    async def test_no_connection_in_time(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(http, "_resolve", _never)
        with pytest.raises(NotSent, match="No connection within"):
            await post("https://slow.example", seconds=0.05)

    async def test_what_the_last_step_raises_passes_and_nothing_is_sent(self) -> None:
        async def fenced() -> None:
            raise Fenced

        async with Receiver() as receiver:
            with pytest.raises(Fenced):
                await post(receiver.url, before_sending=fenced)
            assert [] == receiver.given

    async def test_an_error_of_the_last_step_is_not_ours(self) -> None:
        async def broken() -> None:
            raise ConnectionResetError

        async with Receiver() as receiver:
            with pytest.raises(ConnectionResetError):
                await post(receiver.url, before_sending=broken)


class TestNoAnswer:
    @pytest.mark.parametrize("way", ["drop", "reset", "half", "garbage"])
    async def test_broken(self, way: Way) -> None:
        async with Receiver(Reply(way=way)) as receiver:
            with pytest.raises(NoAnswer):
                await post(receiver.url)
            assert 1 == len(receiver.given)

    async def test_silence(self) -> None:
        async with Receiver(Reply(way="silence")) as receiver:
            with pytest.raises(NoAnswer, match="seconds"):
                await post(receiver.url, seconds=0.2)

    async def test_a_body_that_breaks_off(self) -> None:
        async with Receiver(Reply(body=b"short", headers={"content-length": "100"})) as receiver:
            with pytest.raises(NoAnswer):
                await post(receiver.url)


class TestAnswered:
    async def test_ok(self) -> None:
        async with Receiver(Reply(202, b"taken", {"X-Their": "2"})) as receiver:
            answer = await post(f"{receiver.url}/a?b=c%20d")
        assert (202, b"taken", "2") == (answer.status, answer.body, answer.headers["x-their"])
        (given,) = receiver.given
        assert ("POST", "/a?b=c%20d", b"hello", "1") == (given.method, given.target, given.body, given.headers["x-one"])
        assert f"127.0.0.1:{receiver.port}" == given.headers["host"]

    async def test_over_tls_by_the_judged_address(self, certificate: Certificate) -> None:
        async with Receiver(tls=certificate.context) as receiver:
            answer = await post(receiver.url, trust=_trust(certificate))
        assert 200 == answer.status

    async def test_the_name_is_told_and_the_judged_address_called(self, monkeypatch: pytest.MonkeyPatch) -> None:
        _resolve_to(monkeypatch, "127.0.0.1")
        async with Receiver() as receiver:
            await post(f"http://shop.example:{receiver.port}/")
        assert f"shop.example:{receiver.port}" == receiver.given[0].headers["host"]

    async def test_the_next_address_where_one_is_dead(self, monkeypatch: pytest.MonkeyPatch) -> None:
        _resolve_to(monkeypatch, "127.0.0.9", "127.0.0.1")
        async with Receiver() as receiver:
            answer = await post(f"http://shop.example:{receiver.port}/")
        assert 200 == answer.status

    async def test_no_redirect(self) -> None:
        async with Receiver() as other, Receiver(Reply(302, headers={"location": other.url})) as receiver:
            answer = await post(receiver.url)
        assert (302, 0) == (answer.status, other.connections)

    async def test_no_proxy_of_the_environment(self, monkeypatch: pytest.MonkeyPatch) -> None:
        async with Receiver() as proxy, Receiver() as receiver:
            for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
                monkeypatch.setenv(name, proxy.url)
            await post(receiver.url)
        assert (0, 1) == (proxy.connections, receiver.connections)

    async def test_a_large_answer_is_cut(self) -> None:
        async with Receiver(Reply(body=b"x" * 200_000)) as receiver:
            answer = await post(receiver.url)
        assert http.ANSWER_BYTES_MAX == len(answer.body)

    async def test_a_packed_answer_stays_packed(self) -> None:
        async with Receiver(Reply(body=b"\x1f\x8b not gzip", headers={"content-encoding": "gzip"})) as receiver:
            answer = await post(receiver.url)
        assert b"\x1f\x8b not gzip" == answer.body

    async def test_every_call_has_a_connection_of_its_own(self) -> None:
        async with Receiver() as receiver, caller() as made:
            for _ in range(3):
                await made.request("GET", receiver.url, headers={}, content=b"")
        assert 3 == receiver.connections

    async def test_the_last_step_comes_before_the_first_byte(self) -> None:
        async with Receiver() as receiver:

            async def look() -> None:
                assert (1, 0) == (receiver.connections, len(receiver.given))

            await post(receiver.url, before_sending=look)
        assert 1 == len(receiver.given)

    async def test_the_last_step_may_take_longer_than_the_call(self) -> None:
        async with Receiver() as receiver:
            await post(receiver.url, seconds=1.0, before_sending=lambda: asyncio.sleep(1.2))
        assert 1 == len(receiver.given)


class TestCheckUrl:
    @pytest.mark.parametrize(
        "url",
        ["", "mail", "http://shop.example", "https://127.0.0.1", "https://[::1]/", "https://10.0.0.1", "https://localhost",
         "https://2130706433", "https://0x7f.0.0.0x1", "https://intranet", "https://u:p@shop.example", "https://s.example/#x",
         "https://[::ffff:127.0.0.1]", "https://[64:ff9b::7f00:1]", "https://169.254.169.254/latest", "https://x.example:0"],
    )  # fmt: skip
    def test_refused(self, url: str) -> None:
        assert check_url(url, ()) is not None

    @pytest.mark.parametrize("url", ["https://shop.example", "https://shop.example:8443/a?b=c", "https://8.8.8.8/x"])
    def test_taken(self, url: str) -> None:
        assert check_url(url, ()) is None

    def test_allowed_networks(self) -> None:
        assert check_url("http://127.0.0.1:8080/x", LOOPBACK) is None
        assert check_url("http://10.0.0.1/x", LOOPBACK) is not None


def _trust(certificate: Certificate) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(certificate.file))


def _resolve_to(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> None:
    found = [(None, None, None, "", (address, 0)) for address in addresses]
    look_up: Callable[[str, int], list[Any]] = lambda _host, _port: found  # noqa: E731
    monkeypatch.setattr(http, "_look_up", look_up)


async def _never(*_given: object) -> None:
    await asyncio.Event().wait()


async def test_answer_that_came_while_the_process_stood_still(monkeypatch: pytest.MonkeyPatch) -> None:
    """When it goes on, the limit of time has passed and the answer is there, unread: the answer counts."""
    say = receivers._say

    async def say_and_stand_still(reply: Reply, writer: asyncio.StreamWriter) -> None:
        await say(reply, writer)
        time.sleep(1.2)  # noqa: ASYNC251  that is the fault

    monkeypatch.setattr(receivers, "_say", say_and_stand_still)
    async with Receiver() as receiver:
        assert 200 == (await post(receiver.url, seconds=1.0)).status


async def test_texts() -> None:
    long = "v=DKIM1; p=" + "A" * 400
    async with name_server(
        {"shop.example": ["v=spf1 -all", "x"], "long.example": [long], "none.example": []}
    ) as server:
        asking = Resolver([("127.0.0.1", server.port)])
        assert ["v=spf1 -all", "x"] == await asking.texts("shop.example")
        assert [long] == await asking.texts("long.example")
        assert [] == await asking.texts("none.example")
        assert None is await asking.texts("absent.example")
        assert ["v=spf1 -all", "x"] == await asking.texts("SHOP.example")
        assert 1 == server.asked.count("shop.example")


async def test_nobody_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "ANSWER_SECONDS", 0.2)
    async with name_server({}, "slow.example") as server:
        asking = Resolver([("127.0.0.1", server.port)])
        for name in ("slow.example", "a" * 64 + ".example", "a..example"):
            with pytest.raises(NotAsked):
                await asking.texts(name)
