"""Calls to addresses that strangers typed, judged by the IP address of the connection and never by its name.

A name is resolved here, each of its addresses must be allowed, and the connection goes to exactly the judged one, with
TLS verified for the name. There are no redirects, no proxies of the environment, no reused connections (one that is
about to close could not tell whether it took a request), and limits on time, size and answers.
"""

import asyncio
import importlib
import ipaddress
import socket
import ssl
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Any, Final, Self

import httpx2
import msgspec

from afterword.core.messaging.networks import Address, NameServer, Network, is_allowed, is_open
from afterword.errors import Sentence

ANSWER_SECONDS: Final = 2.0  # of a question, over all name servers
QUESTIONS_MAX: Final = 30  # at once
RECORDS_MAX: Final = 20  # of an answer
RECORD_CHARACTERS_MAX: Final = 2_000
CACHED_MAX: Final = 2_000  # answers, each until its own end


class NotAsked(Exception):
    """No name server answered."""


class Resolver:
    """`servers`: those that are asked; none: the machine's own."""

    def __init__(self, servers: Sequence[NameServer] = ()) -> None:
        self._servers = tuple(servers)
        self._questions = asyncio.Semaphore(QUESTIONS_MAX)
        self._preparing = asyncio.Lock()
        self._dns: Any = None
        self._resolver: Any = None

    async def texts(self, name: str) -> list[str] | None:
        """The TXT records of a name, None where there is no such name. Raises NotAsked."""
        async with self._questions:
            resolver = await self._prepared()
            try:
                answer = await resolver.resolve(name, "TXT", search=False, lifetime=ANSWER_SECONDS)
            except self._dns.resolver.NXDOMAIN:
                return None
            except self._dns.resolver.NoAnswer:
                return []
            except (self._dns.exception.DNSException, OSError, UnicodeError) as error:
                raise NotAsked from error
        texts = sorted(b"".join(record.strings).decode("utf-8", "replace") for record in answer)
        return [text[:RECORD_CHARACTERS_MAX] for text in texts[:RECORDS_MAX] if text.isprintable()]

    async def _prepared(self) -> Any:
        async with self._preparing:
            if self._resolver is None:
                self._dns = await asyncio.to_thread(importlib.import_module, "dns")
                for part in ("asyncresolver", "nameserver", "exception"):
                    await asyncio.to_thread(importlib.import_module, f"dns.{part}")
                try:
                    resolver = self._dns.asyncresolver.Resolver(configure=not self._servers)
                except self._dns.resolver.NoResolverConfiguration as error:
                    raise NotAsked from error
                if self._servers:
                    resolver.nameservers = [self._dns.nameserver.Do53Nameserver(*each) for each in self._servers]
                resolver.cache = self._dns.resolver.LRUCache(CACHED_MAX)
                self._resolver = resolver
            return self._resolver


ANSWER_BYTES_MAX: Final = 64 * 1024
SECONDS_DEFAULT: Final = 15.0
LAST_LOOK_SECONDS: Final = 0.5
RESOLVE_SECONDS_MAX: Final = 5.0
CONNECT_SECONDS_MAX: Final = 5.0  # an address; the next one of the same name is tried after it
ADDRESSES_TRIED_MAX: Final = 3
RESOLVERS: Final = 16
URL_CHARACTERS_MAX: Final = 2048
PORTS: Final = {"https": 443, "http": 80}
_OURS: Final = frozenset({"content-length", "transfer-encoding", "te", "trailer", "upgrade", "expect", "keep-alive"})
_SENDING: Final = "http11.send_request_headers.started"  # a trace event of httpx2: connected, and nothing sent yet

BeforeSending = Callable[[], Awaitable[None]]


class Answer(msgspec.Struct, frozen=True):
    """A response: header names in lower case, the body truncated at 64 KB and never decompressed."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class CallFailed(Exception):
    """No answer; `reason` is a sentence without secrets."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class NotSent(CallFailed):
    """Nothing was sent: no such name, no connection, no trust."""


class Blocked(NotSent):
    """The address may not be called."""


class Untrusted(NotSent):
    """The server has no trusted certificate of that name."""


class NoAnswer(CallFailed):
    """The request was sent, at least in part, and no complete answer came: it may have been taken."""


class _Target(msgspec.Struct, frozen=True):
    """A URL, parsed once by the library that also calls it."""

    url: httpx2.URL
    scheme: str
    host: str
    port: int


class _Call(msgspec.Struct, frozen=True):
    method: str
    target: _Target
    headers: Mapping[str, str]
    content: bytes


class _Progress(msgspec.Struct):
    """Progress of a call, and its remaining time.

    A process that stood still runs its timers before it reads, so a call has a last look for what arrived meanwhile.
    Without it the outcome of each call under way would be unknown.
    """

    before_sending: BeforeSending | None
    limit: asyncio.Timeout
    seconds: float
    has_left: bool = False
    fault: BaseException | None = None
    _timer: asyncio.TimerHandle | None = None

    def begin(self) -> None:
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(self.seconds, lambda: self.limit.reschedule(loop.time() + LAST_LOOK_SECONDS))

    def end(self) -> None:
        """Its time does not matter any more, or not for now."""
        if self._timer is not None:
            self._timer.cancel()

    async def trace(self, name: str, _info: Mapping[str, Any]) -> None:
        if name != _SENDING or self.has_left:
            return
        if self.before_sending is not None:
            self.end()  # the caller's own step has its own limits
            self.limit.reschedule(None)
            try:
                await self.before_sending()
            except BaseException as fault:
                self.fault = fault
                raise
            self.begin()
        self.has_left = True


class Caller:
    """Makes guarded calls, many at once. `trust` replaces the system's authorities, for tests."""

    def __init__(self, *, allowed: Sequence[Network] = (), trust: ssl.SSLContext | None = None) -> None:
        self._allowed = tuple(allowed)
        self._trust = trust
        self._preparing = asyncio.Lock()
        # Threads of its own: a name server that never answers must not block other work in threads.
        self._resolvers = ThreadPoolExecutor(RESOLVERS, thread_name_prefix="resolve")

    async def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str],
        content: bytes,
        seconds: float = SECONDS_DEFAULT,
        before_sending: BeforeSending | None = None,
    ) -> Answer:
        """One call; raises NotSent, Blocked or NoAnswer.

        `before_sending` is awaited once the connection stands and before the first byte; its errors pass through, with
        nothing sent. `seconds` limit the time before it and the time after it.
        """
        target = _target_of(url)
        if target is None:
            raise Blocked("The address is not a web address that can be called.")
        _check_headers(method, headers)
        call = _Call(method, target, headers, content)
        limit = asyncio.timeout(None)
        progress = _Progress(before_sending, limit, seconds)
        try:
            async with limit:
                progress.begin()
                return await self._call(call, progress)
        except CallFailed:
            raise
        except (httpx2.HTTPError, OSError, ValueError) as error:  # TimeoutError is an OSError
            if error is progress.fault:
                raise
            if limit.expired():
                raise _late(progress) from error
            raise _meaning(progress, error) from error
        finally:
            progress.end()

    async def close(self) -> None:
        """End the threads that resolve names. No connection stays open between calls."""
        self._resolvers.shutdown(wait=False, cancel_futures=True)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _trusted(self) -> ssl.SSLContext:
        async with self._preparing:  # authorities take tens of ms to load: once, however many begin together
            if self._trust is None:
                self._trust = await asyncio.to_thread(ssl.create_default_context, ssl.Purpose.SERVER_AUTH)
        return self._trust

    async def _call(self, call: _Call, progress: _Progress) -> Answer:
        addresses = await self._judged(call.target)
        transport = httpx2.AsyncHTTPTransport(
            verify=await self._trusted(),
            trust_env=False,
            http2=False,
            retries=0,
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=0),
        )
        async with transport:
            for address in addresses[:-1]:
                try:
                    return await _exchange(transport, _request(call, address, progress))
                except (httpx2.ConnectError, httpx2.ConnectTimeout):
                    continue
            return await _exchange(transport, _request(call, addresses[-1], progress))

    async def _judged(self, target: _Target) -> list[Address]:
        """The addresses of the target, all of which may be called; raises Blocked or NotSent."""
        addresses = await open_addresses(target.host, target.port, allowed=self._allowed, resolvers=self._resolvers)
        if target.scheme == "http" and not all(is_allowed(address, self._allowed) for address in addresses):
            raise Blocked("Calls go over https, except into the networks that the operators allowed.")
        return addresses[:ADDRESSES_TRIED_MAX]


async def open_addresses(
    host: str, port: int, *, allowed: Sequence[Network], resolvers: Executor | None = None
) -> list[Address]:
    """The addresses of a host, all of which may be connected to; raises Blocked or NotSent."""
    addresses = await _resolve(host, port, resolvers)
    if not all(is_open(address, allowed) for address in addresses):
        raise Blocked(f"{host} has an address that may not be called.")
    return addresses


async def connect(host: str, port: int, *, allowed: Sequence[Network], seconds: float) -> socket.socket:
    """A connection to one of the host's addresses, all of which may be connected to; raises Blocked or NotSent."""
    for address in (await open_addresses(host, port, allowed=allowed))[:ADDRESSES_TRIED_MAX]:
        plain = socket.socket(socket.AF_INET if address.version == 4 else socket.AF_INET6)  # noqa: PLR2004
        plain.setblocking(False)
        try:
            async with asyncio.timeout(seconds):
                await asyncio.get_running_loop().sock_connect(plain, (str(address), port))
        except OSError:  # TimeoutError is one
            plain.close()
        except BaseException:
            plain.close()
            raise
        else:
            return plain
    raise NotSent("Nobody took the connection.")


def check_url(url: str, allowed: Sequence[Network]) -> str | None:
    """A sentence that refuses this address before it is saved; None if it may be tried.

    A name is not resolved here; its addresses are judged at each call.
    """
    target = _target_of(url)
    if target is None:
        return "It must be a web address, such as https://example.com/hook, without a name, a password or a fragment."
    address = _literal(target.host)
    if target.scheme == "http" and not (is_allowed(address, allowed) if address is not None else allowed):
        return "It must begin with https://."
    return check_host(target.host, allowed)


def check_host(host: str, allowed: Sequence[Network]) -> Sentence | None:
    """A sentence that refuses this host; None if it may be tried."""
    address = _literal(host)
    if address is not None:
        return None if is_open(address, allowed) else Sentence("Its address is not one of the open internet.")
    labels = host.rstrip(".").lower().split(".")
    if labels[-1] == "localhost" or (len(labels) == 1 and not allowed):
        return None if allowed else Sentence("Its name must be one of the open internet.")
    if labels[-1].isdecimal() or labels[-1].startswith("0x"):
        return Sentence("Its host must be a name, or an address in its usual form.")
    return None


def host_of(url: str) -> str | None:
    """Host of a URL, with the port if given; None for a URL that cannot be called."""
    target = _target_of(url)
    return None if target is None else target.url.netloc.decode("ascii")


def _target_of(url: str) -> _Target | None:
    if len(url) > URL_CHARACTERS_MAX or "\\" in url or any(c.isspace() or not c.isprintable() for c in url):
        return None
    try:
        parsed = httpx2.URL(url)
        host = parsed.raw_host.decode("ascii")
        port = PORTS.get(parsed.scheme, 0) if parsed.port is None else parsed.port
    except (httpx2.InvalidURL, ValueError, TypeError):
        return None
    if parsed.scheme not in PORTS or not host or parsed.userinfo or "@" in parsed.netloc.decode() or parsed.fragment:
        return None
    return _Target(parsed, parsed.scheme, host, port) if 1 <= port <= 65_535 else None  # noqa: PLR2004


def _literal(host: str) -> Address | None:
    try:
        return ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return None


async def _resolve(host: str, port: int, resolvers: Executor | None) -> list[Address]:
    address = _literal(host)
    if address is not None:
        return [address]
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(RESOLVE_SECONDS_MAX):
            found = await loop.run_in_executor(resolvers, _look_up, host, port)
    except (OSError, UnicodeError) as error:  # TimeoutError is one
        raise NotSent(f"{host} could not be found.") from error
    addresses = list(dict.fromkeys(ipaddress.ip_address(entry[4][0]) for entry in found))
    if not addresses:
        raise NotSent(f"{host} has no address.")
    return addresses


def _look_up(host: str, port: int) -> list[Any]:
    return socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)


def _check_headers(method: str, headers: Mapping[str, str]) -> None:
    """Refuse headers that the protocol would refuse only after the call began."""
    for text in (method, *headers):
        if not text or not text.isascii() or not all(c.isalnum() or c in "-_" for c in text):
            raise NotSent("The request has a header that cannot be sent.")
    for value in headers.values():
        if not value.isascii() or not value.isprintable():
            raise NotSent("The request has a header that cannot be sent.")


def _request(call: _Call, address: Address, progress: _Progress) -> httpx2.Request:
    """The request to the judged address; the name is only in Host and in the TLS handshake."""
    own = {"host": call.target.url.netloc.decode("ascii"), "connection": "close", "accept-encoding": "identity"}
    given = {name.lower(): value for name, value in call.headers.items() if name.lower() not in _OURS}
    return httpx2.Request(
        call.method,
        call.target.url.copy_with(host=str(address)),
        headers={"user-agent": "Afterword", **given, **own},
        content=call.content,
        extensions={
            "sni_hostname": call.target.host.strip("[]").rstrip("."),
            "trace": progress.trace,
            "timeout": {"connect": CONNECT_SECONDS_MAX},
        },
    )


async def _exchange(transport: httpx2.AsyncHTTPTransport, request: httpx2.Request) -> Answer:
    response = await transport.handle_async_request(request)
    try:
        body = bytearray()
        async for part in response.aiter_raw():
            body += part
            if len(body) >= ANSWER_BYTES_MAX:
                break
    finally:
        await response.aclose()
    headers = {name.lower(): value for name, value in response.headers.items()}
    return Answer(response.status_code, headers, bytes(body[:ANSWER_BYTES_MAX]))


def _late(progress: _Progress) -> CallFailed:
    if progress.has_left:
        return NoAnswer(f"No complete answer within {progress.seconds:g} seconds.")
    return NotSent(f"No connection within {progress.seconds:g} seconds.")


def _meaning(progress: _Progress, error: Exception) -> CallFailed:
    if progress.has_left:
        return NoAnswer("The connection broke before the answer was complete.")
    untrusted = verification_error(error)
    if untrusted is not None:
        return Untrusted(f"The certificate was not verified: {untrusted.verify_message}.")
    if isinstance(error, httpx2.ConnectTimeout | httpx2.ConnectError | OSError):
        return NotSent("Nobody took the connection.")
    return NotSent("The request could not be made.")


def verification_error(error: BaseException | None) -> ssl.SSLCertVerificationError | None:
    while error is not None and not isinstance(error, ssl.SSLCertVerificationError):
        error = error.__cause__ or error.__context__
    return error
