"""The e-mail channel: a bounded pool of conversations with one relay, and the check of its login."""

import asyncio
import ssl
from collections import deque
from collections.abc import Sequence

from afterword.core.messaging.addresses import InvalidAddress
from afterword.core.messaging.networks import Network
from afterword.kit.transport import mime
from afterword.kit.transport.base import Begin, Message, Outcome, Refused, Retry
from afterword.sending.channels.conversation import (
    Conversation,
    Envelope,
    NotOpenError,
    Relay,
    StaleError,
    Timeouts,
    dial,
    name_of,
    parse_url,
    trust_of,
)

MAILS_PER_CONNECTION_MAX = 100  # many relays close the connection then
IDLE_SECONDS = 30.0
SLOTS_DEFAULT = 10


class EmailChannel:
    """Sends by a relay over at most `slots` connections. Safe to cancel: a cut send cuts its connection.

    `networks`: the private ones that the relay may be in; None: it may be anywhere.
    """

    def __init__(
        self,
        relay: str | Relay,
        slots: int = SLOTS_DEFAULT,
        *,
        timeouts: Timeouts = Timeouts(),  # noqa: B008  frozen
        idle_seconds: float = IDLE_SECONDS,
        networks: Sequence[Network] | None = None,
    ) -> None:
        """Raises ValueError, without the password, for an address that `relay.parse_url` cannot read."""
        self._relay = parse_url(relay) if isinstance(relay, str) else relay
        self._networks = networks
        self._timeouts = timeouts
        self._idle_seconds = idle_seconds
        self._slots = asyncio.Semaphore(slots)
        self._idle: deque[Conversation] = deque()  # the latest used at the right end
        self._identity: tuple[ssl.SSLContext, str] | None = None
        self._preparing = asyncio.Lock()
        self._leaving: set[asyncio.Task[None]] = set()
        self._sweep: asyncio.TimerHandle | None = None
        self._closed = False

    async def send(self, message: Message, *, begin: Begin) -> Outcome:
        """Send one mail; `begin()` is awaited after 354, before its first byte."""
        try:
            envelope = Envelope(mime.wire_address(message.sender), mime.wire_address(message.recipient))
            content = mime.build(message)
        except InvalidAddress as error:
            return Refused(str(error))
        async with self._slots:
            return await self._transmit(envelope, content, begin)

    async def close(self) -> None:
        """Quit every idle connection. A send still under way keeps its own and closes it afterwards."""
        self._closed = True
        if self._sweep is not None:
            self._sweep.cancel()
        while self._idle:
            self._leave(self._idle.pop())
        if self._leaving:
            await asyncio.wait(self._leaving)

    async def _transmit(self, envelope: Envelope, content: bytes, begin: Begin) -> Outcome:
        conversation = self._take()
        if conversation is not None:
            try:
                outcome = await conversation.transmit(envelope, content, begin=begin)
            except StaleError:
                conversation = None
            else:
                self._put(conversation)
                return outcome
        try:
            conversation = await self._open()
        except NotOpenError as error:
            return error.outcome
        try:
            return await conversation.transmit(envelope, content, begin=begin)
        finally:
            self._put(conversation)

    async def _open(self) -> Conversation:
        async with self._preparing:  # authorities take tens of ms to load: once, however many begin together
            if self._identity is None:
                self._identity = await asyncio.to_thread(trust_of, self._relay), await name_of(self._relay)
        trust, name = self._identity
        return await dial(self._relay, trust=trust, name=name, timeouts=self._timeouts, networks=self._networks)

    def _take(self) -> Conversation | None:
        while self._idle:
            conversation = self._idle.pop()
            if conversation.is_open:
                return conversation
        return None

    def _put(self, conversation: Conversation) -> None:
        if not conversation.is_open:
            return
        if self._closed or conversation.mails >= MAILS_PER_CONNECTION_MAX:
            self._leave(conversation)
            return
        loop = asyncio.get_running_loop()
        conversation.idle_since = loop.time()
        self._idle.append(conversation)
        if self._sweep is None:
            self._sweep = loop.call_later(self._idle_seconds, self._close_idle)

    def _close_idle(self) -> None:
        self._sweep = None
        loop = asyncio.get_running_loop()
        while self._idle and loop.time() - self._idle[0].idle_since >= self._idle_seconds:
            self._leave(self._idle.popleft())
        if self._idle:
            wait = self._idle[0].idle_since + self._idle_seconds - loop.time()
            self._sweep = loop.call_later(max(wait, 0.0), self._close_idle)

    def _leave(self, conversation: Conversation) -> None:
        task = asyncio.get_running_loop().create_task(conversation.leave())
        self._leaving.add(task)
        task.add_done_callback(self._leaving.discard)


class CannotLoginError(Exception):
    """The relay refused the connection or the login; the sentence says which."""


async def check_login(url: str, *, step_seconds: float = 15.0) -> str:
    """Connect, secure, log in, quit; sends no mail. One sentence about the result.

    Raises ValueError for an unreadable address and CannotLoginError, never with the password.
    """
    relay = parse_url(url)
    timeouts = Timeouts(step=step_seconds)
    try:
        trust, name = await asyncio.to_thread(trust_of, relay), await name_of(relay)
        conversation = await dial(relay, trust=trust, name=name, timeouts=timeouts)
    except NotOpenError as error:
        reason = error.outcome.reason if isinstance(error.outcome, Retry | Refused) else "no conversation"
        raise CannotLoginError(f"{relay.place}: {reason}") from None
    login = f"logged in as {relay.username}" if relay.username else "no login asked"
    sentence = f"{relay.place} answers, {conversation.security}, {login}"
    await conversation.leave()
    return sentence
