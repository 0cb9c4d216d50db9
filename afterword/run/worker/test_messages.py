"""Sends test messages: taken in one transaction, sent outside of any, what came of it written in another."""

import asyncio
from collections.abc import Sequence
from typing import Final

import structlog

from afterword import errors
from afterword.core.wire.site import Site
from afterword.kit import db
from afterword.kit.db import Pool
from afterword.kit.transport.base import EMAIL, LINK, OUTBOX, SMS, WEBHOOK, Message, Outcome, Refused, Retry, Unknown
from afterword.run.worker.channels import ChannelRegistry, NoChannelError
from afterword.run.worker.flights import Flights, cause_of
from afterword.sending.intake import test_messages
from afterword.sending.intake.test_messages import TestMessage
from afterword.sending.messages.email import SenderNotAllowed

CHANNEL_IDS: Final = (EMAIL, SMS, WEBHOOK, LINK, OUTBOX)

logger: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)


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
            claimed = await test_messages.claim(
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
