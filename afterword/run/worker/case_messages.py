"""Sends replies to customers of cases: claimed in one transaction, sent outside of any, settled in another."""

import asyncio
from collections.abc import Sequence

import structlog

from afterword import errors
from afterword.cases import messages
from afterword.cases.messages import Message, Outcome, compose
from afterword.core.scheduling.lanes import AccountKey
from afterword.core.wire.site import Site
from afterword.kit import db
from afterword.kit.db import Pool
from afterword.kit.transport import base
from afterword.kit.transport.base import EMAIL, Refused, Retry, Sent, Unknown
from afterword.run.worker.channels import ChannelRegistry, NoChannelError
from afterword.run.worker.flights import Flights, cause_of, jitter
from afterword.sending.messages.email import SenderNotAllowed
from afterword.sending.queue import lanes

logger: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)


class _LeaseLostError(Exception):
    """Somebody else has the mail."""


class CaseMessages(Flights[Message]):
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

    async def claim(self, limit: int) -> tuple[Sequence[Message], bool]:
        async with db.transaction(self._pool) as database:
            claimed = await messages.claim(database, now=database.clock.now(), limit=limit)
        return claimed, bool(claimed)

    async def serve(self, message: Message) -> None:
        outcome, reason = await self._send(message)
        async with db.transaction(self._pool) as database:
            now = database.clock.now()
            await messages.settle(database, message=message, outcome=outcome, reason=reason, now=now, jitter=jitter())

    async def _send(self, message: Message) -> tuple[Outcome, str]:
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

    async def _composed(self, message: Message) -> tuple[AccountKey, base.Message]:
        async with db.connection(self._pool) as database:
            lane = (message.organization_id, message.pipeline_id or "")
            found = await lanes.list_settings(database, lanes=[lane])
            if not found:
                raise NoChannelError("account", "the pipeline is gone")
            answered = await messages.get_last_received(
                database, organization_id=message.organization_id, alert_instance_id=message.alert_instance_id
            )
            composed = compose(
                message,
                settings=found[0],
                sender=self._mail_from,
                answered=answered,
                site=self._site,
                now=database.clock.now(),
            )
        return found[0].account, composed


def _outcome_of(outcome: base.Outcome) -> tuple[Outcome, str]:
    match outcome:
        case Sent():
            return "sent", ""
        case Refused(reason):
            return "failed", reason
        case Retry(reason=reason):
            return "retry", reason
        case Unknown(reason):
            return "unknown", reason
