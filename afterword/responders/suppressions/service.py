"""Suppresses addresses, singly or from a file, and lifts suppressions.

Lifting is allowed for every reason: a mailbox may work again, and a person who complained may ask for messages.
The event log keeps the actor and the reason.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from afterword import errors
from afterword.core.messaging.addresses import InvalidAddress, address_key, normalise
from afterword.core.organizations.access import Caller
from afterword.db import Database
from afterword.events import service as events
from afterword.events.service import Actor
from afterword.responders import service as responders
from afterword.responders.service import NewSuppression
from afterword.responders.store import Suppression
from afterword.responders.suppressions import store

Reason = Literal["unsubscribed", "hard_bounce", "complaint", "blocked", "erased"]
REASONS: Final[tuple[Reason, ...]] = ("unsubscribed", "hard_bounce", "complaint", "blocked", "erased")


class AlreadySuppressed(errors.Conflict):
    """The address is suppressed already, for as long and for as strong a reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SuppressionInput:
    """An address to suppress, as it was sent; `locale` gives the country of a national phone number."""

    channel_id: int
    identifier: str
    reason: Reason = "blocked"
    expires_time: datetime | None = None
    note: str | None = None
    locale: str | None = None


async def get(db: Database, *, caller: Caller, suppression_id: str, is_locked: bool = False) -> Suppression:
    """Raises NotFound, Forbidden."""
    require_reach(caller)
    found = await store.get_suppression(
        db, organization_id=caller.organization_id, suppression_id=suppression_id, is_locked=is_locked
    )
    return errors.found(found, "There is no such suppression.")


async def add(db: Database, *, caller: Caller, request: SuppressionInput, secret: bytes, now: datetime) -> Suppression:
    """Suppress the address, in its normal form.

    An existing suppression changes to last longer or for a stronger reason; if the request has
    neither, AlreadySuppressed. Raises Forbidden, and Invalid for what is no address of the channel or a time that has
    passed.
    """
    require_reach(caller)
    if request.expires_time is not None and request.expires_time <= now:
        raise errors.Invalid.at("/expires_time", "out_of_range", "That time has passed.")
    try:
        new = _new(request, organization_id=caller.organization_id, secret=secret)
    except InvalidAddress as error:
        raise errors.Invalid.at("/identifier", "invalid_address", error.message) from None
    written = await responders.suppress_addresses(db, suppressions=[new], now=now, actor=Actor.of(caller))
    if not written:
        raise AlreadySuppressed("This address is suppressed already.")
    return written[0]


async def add_many(
    db: Database, *, organization_id: str, requests: Sequence[SuppressionInput], secret: bytes, now: datetime
) -> tuple[int, list[tuple[int, str]]]:
    """As `add` for the rows of a file: the number of new or changed ones; index and error of invalid addresses."""
    new: list[NewSuppression] = []
    wrong: list[tuple[int, str]] = []
    for index, request in enumerate(requests):
        try:
            new.append(_new(request, organization_id=organization_id, secret=secret))
        except InvalidAddress as error:
            wrong.append((index, str(error)))
    written = await responders.suppress_addresses(db, suppressions=new, now=now)
    return len(written), wrong


async def lift(
    db: Database, *, caller: Caller, suppression_id: str, now: datetime, expect: errors.Expect = errors.ANY
) -> None:
    """Lift the suppression; raises NotFound and the errors of `expect`."""
    found = await get(db, caller=caller, suppression_id=suppression_id, is_locked=True)
    expect(found.version)
    await store.delete_suppression(db, organization_id=caller.organization_id, suppression_id=suppression_id)
    event = responders.suppression_event("suppression.deleted", found, now=now, actor=Actor.of(caller))
    await events.record(db, events=[event])


def require_reach(caller: Caller) -> None:
    """Raise Forbidden for limited callers: a suppression holds for all applications."""
    caller.require_whole()
    caller.require_real()


def _new(request: SuppressionInput, *, organization_id: str, secret: bytes) -> NewSuppression:
    """Raises InvalidAddress."""
    normal = normalise(request.channel_id, request.identifier, locale=request.locale)
    return NewSuppression(
        organization_id,
        request.channel_id,
        address_key(secret, request.channel_id, normal),
        normal,
        request.reason,
        expires_time=request.expires_time,
        note=request.note,
    )
