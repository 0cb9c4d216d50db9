"""Flights of messages that are no items: notices to users, replies to customers, test messages.

Each is claimed in one transaction, sent outside of any, and settled in another.
"""

import asyncio
from abc import abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from types import ModuleType
from typing import Any, ClassVar, Final, TypeVar

import structlog

from afterword import errors
from afterword.cases import mailboxes, messages
from afterword.core.scheduling.lanes import AccountKey
from afterword.core.wire.site import Site
from afterword.kit import db
from afterword.kit.db import Database, Pool
from afterword.kit.transport import http
from afterword.kit.transport.base import (
    EMAIL,
    LINK,
    OUTBOX,
    SMS,
    WEBHOOK,
    Begin,
    Channel,
    Message,
    Outcome,
    Refused,
    Retry,
    Sent,
    Unknown,
)
from afterword.run.worker.channels import ChannelRegistry, NoChannelError
from afterword.run.worker.flights import Flights, Repeat, cause_of, jitter, repeat
from afterword.sending.intake import test_messages
from afterword.sending.intake.test_messages import TestMessage
from afterword.sending.messages.composing import SenderNotAllowed
from afterword.sending.queue import lanes
from afterword.tenants import mails

logger: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)


CALL_SECONDS_MAX: Final = 50.0  # of a card or a note, with the calls before it
CHANNEL_IDS: Final = (EMAIL, SMS, WEBHOOK, LINK, OUTBOX)
Claimed = TypeVar("Claimed")


class _NothingToSendError(Exception):
    """There is nothing to send, for the reason that it gives."""


class _LeaseLostError(Exception):
    """Somebody else has the mail."""


class _Messages(Flights[Claimed]):
    """A kind of messages adds how they are claimed, composed, sent and settled."""

    grace_seconds = 6.0
    send_seconds_max: ClassVar[float]
    claims: Callable[..., Awaitable[Sequence[Claimed]]]

    def __init__(self, *, pool: Pool, site: Site, mail_from: str) -> None:
        super().__init__(pool=pool, site=site)
        self._mail_from = mail_from

    async def claim(self, limit: int) -> tuple[Sequence[Claimed], bool]:
        claimed = await db.change_by_key(self._pool, self.claim_due, limit)
        return claimed, bool(claimed)

    async def serve(self, claimed: Claimed) -> None:
        message, outcome = await self._try(claimed)
        await db.change(self._pool, self.settle, claimed, message, outcome)

    async def _try(self, claimed: Claimed) -> tuple[Message | None, Outcome]:
        message, has_begun = None, False

        async def begin() -> None:
            nonlocal has_begun
            await self.begin(claimed)
            has_begun = True

        try:
            async with asyncio.timeout(self.send_seconds_max):
                message = await db.load(self._pool, self.compose, claimed)
                return message, await self.send(claimed, message, begin)
        except errors.Unavailable:
            raise
        except (SenderNotAllowed, NoChannelError, _NothingToSendError) as refusal:
            return message, Refused(str(refusal))
        except TimeoutError:
            reason = "No answer in time."
        except Exception as error:  # of one message
            logger.exception("a message could not be sent", work=self.name)
            what = "Sending failed" if message else "Rendering failed"
            reason = cause_of(what, error, self.address_of(claimed))
        return message, Unknown(reason) if has_begun else Retry("recipient", reason)

    async def begin(self, claimed: Claimed, /) -> None:
        """Record that the message leaves now, where a repeat would do harm. Raises where it must not leave."""

    async def claim_due(self, database: Database, limit: int, /) -> Sequence[Claimed]:
        return await self.claims(database, now=database.clock.now(), limit=limit)

    @abstractmethod
    async def compose(self, database: Database, claimed: Claimed, /) -> Message: ...

    @abstractmethod
    async def send(self, claimed: Claimed, message: Message, begin: Begin, /) -> Outcome: ...

    @abstractmethod
    async def settle(self, database: Database, claimed: Claimed, message: Message | None, outcome: Outcome, /) -> None:
        """Record the outcome; `message` is None where it could not be composed."""

    def address_of(self, _claimed: Claimed, /) -> str:
        """The address of a person, which no log may have; empty where it goes to none."""
        return ""


def _told(outcome: Outcome) -> tuple[messages.Outcome, str]:
    match outcome:
        case Sent():
            return "sent", ""
        case Refused(reason):
            return "failed", reason
        case Retry(reason=reason):
            return "retry", reason
        case Unknown(reason):
            return "unknown", reason


class Notices(_Messages[mails.Mail]):
    name = "notices"
    slots = 20
    poll_seconds = 2.0
    send_seconds_max = mails.SEND_SECONDS_MAX
    claims = staticmethod(mails.claim_mails)

    def __init__(self, *, pool: Pool, site: Site, channel: Channel, mail_from: str) -> None:
        super().__init__(pool=pool, site=site, mail_from=mail_from)
        self._channel = channel

    async def compose(self, database: Database, mail: mails.Mail) -> Message:
        if mail.email is None or not (mail.notices or mail.purpose):
            raise _NothingToSendError("The user is not active, or the notices are gone.")
        now = database.clock.now()
        return mails.compose(mail, recipient=mail.email, sender=self._mail_from, site=self._site, now=now)

    async def send(self, _mail: mails.Mail, message: Message, begin: Begin) -> Outcome:
        return await self._channel.send(message, begin=begin)

    async def settle(self, database: Database, mail: mails.Mail, _message: Message | None, outcome: Outcome) -> None:
        told, reason = _told(outcome)
        # A notice that comes twice is better than none; its Message-ID is the same.
        told = "retry" if told == "unknown" else told
        now = database.clock.now()
        await mails.settle_mail(database, mail=mail, outcome=told, reason=reason, now=now, jitter=jitter())

    def address_of(self, mail: mails.Mail) -> str:
        return mail.email or ""


class Calls(_Messages[Any]):
    """Messages that leave by calls and not to people; a module claims, composes, sends and settles them."""

    slots = 20
    poll_seconds = 1.0
    send_seconds_max = CALL_SECONDS_MAX

    def __init__(self, work: ModuleType, *, pool: Pool, site: Site, caller: http.Caller | None = None) -> None:
        super().__init__(pool=pool, site=site, mail_from="")
        self.name = work.__name__.rpartition(".")[2]
        self._work, self.claims = work, work.claim_calls
        self._caller = caller or http.Caller(allowed=site.networks)

    async def run(self, stop: asyncio.Event, repeat: Repeat = repeat) -> None:
        async with self._caller:
            await super().run(stop, repeat)

    async def compose(self, database: Database, message: Any) -> Any:
        composed = await self._work.compose(database, message=message, site=self._site, now=database.clock.now())
        if composed is None:
            raise _NothingToSendError("The case or response is gone.")
        return composed

    async def send(self, message: Any, composed: Any, _begin: Begin) -> Outcome:
        return await self._work.send(self._caller, message, composed, site=self._site)

    async def settle(self, database: Database, message: Any, composed: Any, outcome: Outcome) -> None:
        now, was = database.clock.now(), composed is not None
        await self._work.settle(database, message=message, composed=was, outcome=outcome, now=now, jitter=jitter())


class _AccountMessages(_Messages[Claimed]):
    """Messages that leave through the account of a pipeline."""

    def __init__(self, *, pool: Pool, site: Site, channels: ChannelRegistry, mail_from: str) -> None:
        super().__init__(pool=pool, site=site, mail_from=mail_from)
        self._channels = channels

    async def send_through(
        self, account: AccountKey, channel_id: int, message: Message, begin: Begin, *, test_attempt: int | None = None
    ) -> Outcome:
        await self._channels.refresh(account)
        async with self._channels.use(account, channel_id, test_attempt=test_attempt) as channel:
            return await channel.send(message, begin=begin)


class CaseMessages(_AccountMessages[messages.Message]):
    name = "case messages"
    slots = 10
    poll_seconds = 1.0
    send_seconds_max = messages.SEND_SECONDS_MAX
    claims = staticmethod(messages.claim_due)

    async def compose(self, database: Database, message: messages.Message) -> Message:
        case = {"organization_id": message.organization_id, "alert_instance_id": message.alert_instance_id}
        return messages.compose(
            message,
            settings=await self._settings(database, message),
            feedback=await messages.get_feedback(database, **case),
            mailbox=(await mailboxes.get(database, organization_id=message.organization_id)).address,
            sender=self._mail_from,
            answered=await messages.list_answered(database, **case, limit=messages.EXCHANGED_MAX),
            site=self._site,
            now=database.clock.now(),
        )

    async def send(self, message: messages.Message, composed: Message, begin: Begin) -> Outcome:
        settings = await db.load(self._pool, self._settings, message)
        return await self.send_through(settings.account, EMAIL, composed, begin)

    async def begin(self, message: messages.Message) -> None:
        async with db.transaction(self._pool) as database:
            if not await messages.begin(database, message=message, now=database.clock.now()):
                raise _LeaseLostError

    async def settle(
        self, database: Database, message: messages.Message, _composed: Message | None, outcome: Outcome
    ) -> None:
        told, reason = _told(outcome)
        now = database.clock.now()
        await messages.settle(database, message=message, outcome=told, reason=reason, now=now, jitter=jitter())

    def address_of(self, message: messages.Message) -> str:
        return message.address

    async def _settings(self, database: Database, message: messages.Message) -> lanes.LaneSettings:
        lane = (message.organization_id, message.pipeline_id or "")
        found = await lanes.list_settings(database, lanes=[lane])
        if not found:
            raise _NothingToSendError("the pipeline is gone")
        return found[0]


class TestMessages(_AccountMessages[TestMessage]):
    """Sends what is asked for over the accounts' channels; nothing is repeated, and no account learns from it."""

    name = "test messages"
    slots = 10  # one that hangs holds its own, and nobody else's test
    poll_seconds = 0.5
    send_seconds_max = test_messages.SEND_SECONDS_MAX
    claims = staticmethod(partial(test_messages.claim_test_messages, channel_ids=CHANNEL_IDS))

    async def compose(self, database: Database, test: TestMessage) -> Message:
        sender, now = self._mail_from, database.clock.now()
        return await test_messages.compose(database, test=test, sender=sender, site=self._site, now=now)

    async def send(self, test: TestMessage, message: Message, begin: Begin) -> Outcome:
        account = await db.load(self._pool, test_messages.account_of, test=test)
        attempt = 1 if test.captured else None
        return await self.send_through(account, test.channel_id, message, begin, test_attempt=attempt)

    async def settle(self, database: Database, test: TestMessage, message: Message | None, outcome: Outcome) -> None:
        await test_messages.settle(database, test=test, message=message, outcome=outcome, now=database.clock.now())

    def address_of(self, test: TestMessage) -> str:
        return test.recipient
