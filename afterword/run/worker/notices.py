"""Sends the mails that carry notices to users: claimed in one transaction, sent outside of any, settled in another."""

import asyncio
from collections.abc import Sequence

import structlog

from afterword.core.wire.site import Site
from afterword.kit import db
from afterword.kit.db import Pool
from afterword.kit.transport.base import Channel, Refused, Retry, Sent, Unknown
from afterword.run.worker.flights import Flights, jitter
from afterword.tenants import mails
from afterword.tenants.mails import Mail, Outcome, compose

logger: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)


class Notices(Flights[Mail]):
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

    async def claim(self, limit: int) -> tuple[Sequence[Mail], bool]:
        async with db.transaction(self._pool) as database:
            claimed = await mails.claim(database, now=database.clock.now(), limit=limit)
        return claimed, bool(claimed)

    async def serve(self, mail: Mail) -> None:
        outcome, reason = await self._send(mail)
        async with db.transaction(self._pool) as database:
            now = database.clock.now()
            await mails.settle(database, mail=mail, outcome=outcome, reason=reason, now=now, jitter=jitter())

    async def _send(self, mail: Mail) -> tuple[Outcome, str]:
        if mail.email is None or not (mail.notices or mail.purpose):
            return "refused", "The user is not active, or the notices are gone."
        try:
            async with asyncio.timeout(mails.SEND_SECONDS_MAX):
                now = self._pool.clock.now()
                message = compose(mail, recipient=mail.email, sender=self._mail_from, site=self._site, now=now)
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
