"""Sends the mails that carry notices to users: claimed in one transaction, sent outside of any, settled in another."""

import asyncio
import random
from typing import Final

import structlog

from afterword import db, errors
from afterword.alerts.mails import service as mails
from afterword.alerts.mails.compose import compose
from afterword.alerts.mails.service import Outcome
from afterword.alerts.mails.store import Mail
from afterword.channels.base import Channel, Refused, Retry, Sent, Unknown
from afterword.core.scheduling.retries import JITTER_MAX, JITTER_MIN
from afterword.core.wire.site import Site
from afterword.db import Pool
from afterword.worker.waiting import wait

POLL_SECONDS: Final = 2.0
BATCH_MAILS_MAX: Final = 20
GRACE_SECONDS: Final = 6.0  # for what is being sent when the worker stops

logger: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)


class Notices:
    """Sends what is due, batch by batch, over the e-mail channel of the worker."""

    def __init__(self, *, pool: Pool, site: Site, channel: Channel, mail_from: str) -> None:
        self._pool = pool
        self._site = site
        self._channel = channel
        self._mail_from = mail_from

    async def run(self, stop: asyncio.Event) -> None:
        """Send until `stop`. A batch that is under way then is cut short; its mails are sent again by another."""
        while not stop.is_set():
            sending = asyncio.create_task(self.send_due())
            stopping = asyncio.create_task(stop.wait())
            try:
                await asyncio.wait({sending, stopping}, return_when=asyncio.FIRST_COMPLETED)
                if not sending.done():
                    await asyncio.wait({sending}, timeout=GRACE_SECONDS)
                count = await sending if sending.done() else 0
            except errors.Unavailable:
                count = 0
            except Exception:
                count = 0
                logger.exception("sending notices failed")
            finally:
                for task in (sending, stopping):
                    task.cancel()
                await asyncio.gather(sending, stopping, return_exceptions=True)
            if count < BATCH_MAILS_MAX:
                await wait(stop, POLL_SECONDS * _jitter())

    async def send_due(self) -> int:
        """Send one batch of what is due now; how many mails that was."""
        async with db.transaction(self._pool) as database:
            claimed = await mails.claim(database, now=database.clock.now(), limit=BATCH_MAILS_MAX)
        if not claimed:
            return 0
        outcomes = await asyncio.gather(*(self._send(mail) for mail in claimed))
        async with db.transaction(self._pool) as database:
            await mails.settle(database, outcomes=outcomes, now=database.clock.now(), jitter=_jitter())
        return len(claimed)

    async def _send(self, mail: Mail) -> tuple[Mail, Outcome, str]:
        if mail.email is None or not mail.notices:
            return mail, "refused", "The user is not active, or the notices are gone."
        try:
            async with asyncio.timeout(mails.SEND_SECONDS_MAX):
                outcome = await self._channel.send(
                    compose(
                        mail,
                        recipient=mail.email,
                        sender=self._mail_from,
                        site=self._site,
                        now=self._pool.clock.now(),
                    ),
                    begin=_begin,
                )
        except TimeoutError:
            return mail, "retry", "The mail server did not answer in time."
        except Exception:  # of one mail; the others of its batch went out and must be settled
            logger.exception("a notice could not be sent", mail_id=mail.mail_id)
            return mail, "retry", "Sending failed."
        match outcome:
            case Sent():
                return mail, "sent", ""
            case Refused(reason):
                return mail, "refused", reason
            # A notice that comes twice is better than none; its Message-ID is the same.
            case Retry(reason=reason) | Unknown(reason):
                return mail, "retry", reason


async def _begin() -> None:
    """Nothing to record before the point of no return: a repeat does no harm."""


def _jitter() -> float:
    return random.uniform(JITTER_MIN, JITTER_MAX)  # noqa: S311
