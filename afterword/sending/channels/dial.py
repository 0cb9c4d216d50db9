"""Opens an SMTP conversation (connection, TLS, EHLO, login); a failure has the item's outcome."""

import asyncio
import socket
import ssl
from collections.abc import Sequence

import aiosmtplib

from afterword.core.messaging.networks import Network
from afterword.kit.transport.base import Outcome, Retry
from afterword.kit.transport.http import ADDRESSES_TRIED_MAX, Blocked, NotSent, open_addresses, verification_error
from afterword.sending.channels.conversation import FAULTS, Conversation, Timeouts, why
from afterword.sending.channels.relay import Relay
from afterword.sending.channels.replies import Phase, broken, classify, may_try_other_login

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
        connecting.add_done_callback(lambda task: _let_go(task, conversation))
        connecting.cancel()
        conversation.abort()
        raise
    _hand_over_at_once(client)
    return conversation


async def _connected(relay: Relay, networks: Sequence[Network], *, seconds: float) -> socket.socket:
    """A connection to one of the relay's addresses, all of which are allowed. Raises NotOpenError."""
    reason = "Nobody took the connection."
    try:
        for address in (await open_addresses(relay.host, relay.port, allowed=networks))[:ADDRESSES_TRIED_MAX]:
            plain = socket.socket(socket.AF_INET if address.version == 4 else socket.AF_INET6)  # noqa: PLR2004
            plain.setblocking(False)
            try:
                async with asyncio.timeout(min(CONNECT_SECONDS, seconds)):
                    await asyncio.get_running_loop().sock_connect(plain, (str(address), relay.port))
            except OSError:  # TimeoutError is one
                plain.close()
            except BaseException:
                plain.close()
                raise
            else:
                return plain
    except Blocked as error:
        raise NotOpenError(Retry("account", error.reason)) from error
    except NotSent as error:
        reason = error.reason
    raise NotOpenError(broken(Phase.CONNECT, f"{relay.place}: {reason}"))


def _let_go(connecting: "asyncio.Task[aiosmtplib.SMTPResponse]", conversation: Conversation) -> None:
    """Cut a connection that is no longer awaited; its fault is retrieved so that it is not logged."""
    if not connecting.cancelled():
        connecting.exception()
    conversation.abort()


async def trust_of(relay: Relay) -> ssl.SSLContext:
    """Verifies by the system's authorities, and by the relay's own file if it names one, where `is_verified`."""
    return await asyncio.to_thread(_trust, relay)


async def name_of(relay: Relay) -> str:
    """Our name in EHLO; cached, since the resolver may be slow."""
    if relay.name is not None:
        return relay.name
    name = await asyncio.to_thread(socket.getfqdn)
    return name if name.isascii() and "." in name else "[127.0.0.1]"


def _trust(relay: Relay) -> ssl.SSLContext:
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
            if not may_try_other_login(error.code):
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
