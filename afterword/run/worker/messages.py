"""Flights of messages that are no items: notices to users, replies to customers, test messages.

Each is claimed in one transaction, sent outside of any, and settled in another.
"""

import asyncio
from collections.abc import Sequence
from typing import Final

import structlog

from afterword import errors
from afterword.cases import messages
from afterword.core.scheduling.lanes import AccountKey
from afterword.core.wire.site import Site
from afterword.kit import db
from afterword.kit.db import Pool
from afterword.kit.transport.base import (
    EMAIL,
    LINK,
    OUTBOX,
    SMS,
    WEBHOOK,
    Channel,
    Message,
    Outcome,
    Refused,
    Retry,
    Sent,
    Unknown,
)
from afterword.run.worker.channels import ChannelRegistry, NoChannelError
from afterword.run.worker.flights import Flights, cause_of, jitter
from afterword.sending.intake import test_messages
from afterword.sending.intake.test_messages import TestMessage
from afterword.sending.messages.composing import SenderNotAllowed
from afterword.sending.queue import lanes
from afterword.tenants import mails

logger: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)


class Notices(Flights[mails.Mail]):
    name = "notices"
    slots = 20
    poll_seconds = 2.0
    grace_seconds = 6.0

    def __init__(self, *, pool: Pool, site: Site, channel: Channel, mail_from: str) -> None:
        super().__init__()
        self._pool = pool
        self._site = site
        self._channel = channel
        self._mail_from = mail_from

    async def claim(self, limit: int) -> tuple[Sequence[mails.Mail], bool]:
        async with db.transaction(self._pool) as database:
            claimed = await mails.claim(database, now=database.clock.now(), limit=limit)
        return claimed, bool(claimed)

    async def serve(self, mail: mails.Mail) -> None:
        outcome, reason = await self._send(mail)
        async with db.transaction(self._pool) as database:
            now = database.clock.now()
            await mails.settle(database, mail=mail, outcome=outcome, reason=reason, now=now, jitter=jitter())

    async def _send(self, mail: mails.Mail) -> tuple[mails.Outcome, str]:
        if mail.email is None or not (mail.notices or mail.purpose):
            return "refused", "The user is not active, or the notices are gone."
        try:
            async with asyncio.timeout(mails.SEND_SECONDS_MAX):
                now = self._pool.clock.now()
                message = mails.compose(mail, recipient=mail.email, sender=self._mail_from, site=self._site, now=now)
                outcome = await self._channel.send(message, begin=_begin)
        except TimeoutError:
            return "retry", "The mail server did not answer in time."
        except Exception:  # of one mail
            logger.exception("a notice could not be sent", mail_id=mail.mail_id)
            return "retry", "Sending failed."
        match outcome:
            case Sent():
                return "sent", ""
            case Refused(reason):
                return "refused", reason
            # A notice that comes twice is better than none; its Message-ID is the same.
            case Retry(reason=reason) | Unknown(reason):
                return "retry", reason


async def _begin() -> None:
    """Nothing to record before the point of no return: a repeat does no harm."""


class _LeaseLostError(Exception):
    """Somebody else has the mail."""


class CaseMessages(Flights[messages.Message]):
    name = "case messages"
    slots = 10
    poll_seconds = 1.0
    grace_seconds = 6.0

    def __init__(self, *, pool: Pool, site: Site, channels: ChannelRegistry, mail_from: str) -> None:
        super().__init__()
        self._pool = pool
        self._site = site
        self._channels = channels
        self._mail_from = mail_from

    async def claim(self, limit: int) -> tuple[Sequence[messages.Message], bool]:
        async with db.transaction(self._pool) as database:
            claimed = await messages.claim(database, now=database.clock.now(), limit=limit)
        return claimed, bool(claimed)

    async def serve(self, message: messages.Message) -> None:
        outcome, reason = await self._send(message)
        async with db.transaction(self._pool) as database:
            now = database.clock.now()
            await messages.settle(database, message=message, outcome=outcome, reason=reason, now=now, jitter=jitter())

    async def _send(self, message: messages.Message) -> tuple[messages.Outcome, str]:
        has_begun = False

        async def begin() -> None:
            nonlocal has_begun
            async with db.transaction(self._pool) as database:
                if not await messages.begin(database, message=message, now=database.clock.now()):
                    raise _LeaseLostError
            has_begun = True

        try:
            account, composed = await self._composed(message)
            async with asyncio.timeout(messages.SEND_SECONDS_MAX):
                await self._channels.refresh(account)
                async with self._channels.use(account, EMAIL, test_attempt=None) as channel:
                    return _outcome_of(await channel.send(composed, begin=begin))
        except errors.Unavailable:
            raise
        except (SenderNotAllowed, NoChannelError) as refusal:
            return "failed", str(refusal)
        except TimeoutError:
            reason = "No answer in time."
        except Exception as error:  # of one mail
            logger.exception("a reply could not be sent", message_id=message.message_id)
            reason = cause_of("Sending failed", error, message.address)
        return ("unknown" if has_begun else "retry"), reason

    async def _composed(self, message: messages.Message) -> tuple[AccountKey, Message]:
        async with db.connection(self._pool) as database:
            lane = (message.organization_id, message.pipeline_id or "")
            found = await lanes.list_settings(database, lanes=[lane])
            if not found:
                raise NoChannelError("account", "the pipeline is gone")
            answered = await messages.get_last_received(
                database, organization_id=message.organization_id, alert_instance_id=message.alert_instance_id
            )
            composed = messages.compose(
                message,
                settings=found[0],
                sender=self._mail_from,
                answered=answered,
                site=self._site,
                now=database.clock.now(),
            )
        return found[0].account, composed


def _outcome_of(outcome: Outcome) -> tuple[messages.Outcome, str]:
    match outcome:
        case Sent():
            return "sent", ""
        case Refused(reason):
            return "failed", reason
        case Retry(reason=reason):
            return "retry", reason
        case Unknown(reason):
            return "unknown", reason


CHANNEL_IDS: Final = (EMAIL, SMS, WEBHOOK, LINK, OUTBOX)


class TestMessages(Flights[TestMessage]):
    """Sends what is asked for over the accounts' channels; nothing is repeated, and no account learns from it."""

    name = "test messages"
    slots = 10  # one that hangs holds its own, and nobody else's test
    poll_seconds = 0.5
    grace_seconds = 6.0

    def __init__(self, *, pool: Pool, site: Site, channels: ChannelRegistry, mail_from: str) -> None:
        super().__init__()
        self._pool = pool
        self._site = site
        self._channels = channels
        self._mail_from = mail_from

    async def claim(self, limit: int) -> tuple[Sequence[TestMessage], bool]:
        async with db.transaction(self._pool) as database:
            claimed = await test_messages.claim_test_messages(
                database, channel_ids=CHANNEL_IDS, now=database.clock.now(), limit=limit
            )
        return claimed, bool(claimed)

    async def serve(self, test: TestMessage) -> None:
        message, outcome = None, None
        try:
            async with db.connection(self._pool) as database:
                message = await test_messages.compose(
                    database, test=test, sender=self._mail_from, site=self._site, now=database.clock.now()
                )
        except errors.Unavailable:
            raise
        except SenderNotAllowed as refusal:
            outcome = Refused(str(refusal))
        except Exception as error:
            logger.exception("rendering a test message failed", organization_id=test.organization_id)
            outcome = Retry("recipient", cause_of("Rendering failed", error, test.recipient))
        if message is not None:
            outcome = await self._outcome(test, message)
        if outcome is None:
            raise AssertionError("a message or the reason why there is none")
        async with db.transaction(self._pool) as database:
            await test_messages.settle(database, test=test, message=message, outcome=outcome, now=database.clock.now())

    async def _outcome(self, test: TestMessage, message: Message) -> Outcome:
        has_begun = False

        async def begin() -> None:
            nonlocal has_begun
            has_begun = True

        try:
            async with asyncio.timeout(test_messages.SEND_SECONDS_MAX):
                async with db.connection(self._pool) as database:
                    account = await test_messages.account_of(database, test=test)
                await self._channels.refresh(account)
                async with self._channels.use(
                    account, test.channel_id, test_attempt=1 if test.captured else None
                ) as channel:
                    return await channel.send(message, begin=begin)
        except NoChannelError as error:
            return Refused(error.reason)
        except TimeoutError:
            reason = "no answer in time"
        except Exception as error:
            logger.exception("sending a test message failed", organization_id=test.organization_id)
            reason = cause_of("Sending failed", error, test.recipient)
        return Unknown(reason) if has_begun else Retry("recipient", reason)
