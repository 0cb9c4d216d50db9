"""Sends test messages: taken in one transaction, sent outside of any, what came of it written in another."""

import asyncio
import random
from typing import Final

import structlog

from afterword import db, errors
from afterword.channels.base import EMAIL, LINK, OUTBOX, SMS, WEBHOOK, Message, Outcome, Refused, Retry, Unknown
from afterword.core.scheduling.retries import JITTER_MAX, JITTER_MIN
from afterword.core.wire.site import Site
from afterword.db import Pool
from afterword.intake.test_messages import service
from afterword.intake.test_messages.store import TestMessage
from afterword.messages.email import SenderNotAllowed
from afterword.worker.channels import ChannelRegistry, NoWayError
from afterword.worker.failures import cause_of
from afterword.worker.waiting import wait

POLL_SECONDS: Final = 0.5
CHANNEL_IDS: Final = (EMAIL, SMS, WEBHOOK, LINK, OUTBOX)
SLOTS: Final = 10  # one that hangs holds its own, and nobody else's test
GRACE_SECONDS: Final = 6.0  # for what is being sent when the worker stops

logger: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)


class Trials:
    """Sends what is asked for over the accounts' channels; nothing is repeated, and no account learns from it."""

    def __init__(self, *, pool: Pool, site: Site, ways: ChannelRegistry, mail_from: str) -> None:
        self._pool = pool
        self._site = site
        self._ways = ways
        self._mail_from = mail_from
        self._flights: set[asyncio.Task[None]] = set()

    async def run(self, stop: asyncio.Event) -> None:
        """Send until `stop`; what is under way then has a moment to end."""
        while not stop.is_set():
            count = 0
            try:
                count = await self.turn()
            except errors.Unavailable:
                pass
            except Exception:
                logger.exception("taking test messages failed")
            if not count:
                await wait(stop, POLL_SECONDS * random.uniform(JITTER_MIN, JITTER_MAX))  # noqa: S311
        if self._flights:
            await asyncio.wait(self._flights, timeout=GRACE_SECONDS)
        for flight in self._flights:
            flight.cancel()
        await asyncio.gather(*self._flights, return_exceptions=True)

    async def turn(self) -> int:
        """Begin to send what waits now, as far as there are slots; how many that was."""
        free = SLOTS - len(self._flights)
        if free <= 0:
            return 0
        async with db.transaction(self._pool) as database:
            trials = await service.claim(database, channel_ids=CHANNEL_IDS, now=database.clock.now(), limit=free)
        for trial in trials:
            flight = asyncio.create_task(self._send(trial))
            self._flights.add(flight)
            flight.add_done_callback(self._land)
        return len(trials)

    async def send_waiting(self) -> int:
        """Send what waits now, to the end; how many that was."""
        count = await self.turn()
        await asyncio.gather(*self._flights)
        return count

    def _land(self, flight: "asyncio.Task[None]") -> None:
        self._flights.discard(flight)
        if not flight.cancelled() and (error := flight.exception()) is not None:
            logger.error("a test message was not settled", exc_info=error)

    async def _send(self, trial: TestMessage) -> None:
        message, outcome = None, None
        try:
            async with db.connection(self._pool) as database:
                message = await service.compose(
                    database, trial=trial, sender=self._mail_from, site=self._site, now=database.clock.now()
                )
        except errors.Unavailable:
            raise
        except SenderNotAllowed as refusal:
            outcome = Refused(str(refusal))
        except Exception as error:
            logger.exception("rendering a test message failed", organization_id=trial.organization_id)
            outcome = Retry("recipient", cause_of("Rendering failed", error, trial.recipient))
        if message is not None:
            outcome = await self._outcome(trial, message)
        if outcome is None:
            raise AssertionError("a message or the reason why there is none")
        async with db.transaction(self._pool) as database:
            await service.settle(database, trial=trial, message=message, outcome=outcome, now=database.clock.now())

    async def _outcome(self, trial: TestMessage, message: Message) -> Outcome:
        has_begun = False

        async def begin() -> None:
            nonlocal has_begun
            has_begun = True

        try:
            async with asyncio.timeout(service.SEND_SECONDS_MAX):
                async with db.connection(self._pool) as database:
                    account = await service.account_of(database, trial=trial)
                await self._ways.look(account)
                async with self._ways.use(account, trial.channel_id) as channel:
                    return await channel.send(message, begin=begin)
        except NoWayError as error:
            return Refused(error.reason)
        except TimeoutError:
            reason = "no answer in time"
        except Exception as error:
            logger.exception("sending a test message failed", organization_id=trial.organization_id)
            reason = cause_of("Sending failed", error, trial.recipient)
        return Unknown(reason) if has_begun else Retry("recipient", reason)
