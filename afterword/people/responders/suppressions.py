"""Suppressions, the do-not-contact list: addresses are added singly or from a file, and lifted.

Lifting is allowed for every reason: a mailbox may work again, and a person who complained may ask for messages.
The event log keeps the actor and the reason.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Final

from msgspec import Meta

from afterword import errors
from afterword.core.messaging.addresses import IDENTIFIER_CHARACTERS_MAX, InvalidAddress, address_key, normalise
from afterword.core.organizations.access import Caller
from afterword.events import service as events
from afterword.events.service import Actor
from afterword.kit.db import Database
from afterword.kit.nouns import service as nouns
from afterword.kit.nouns.api import route_of
from afterword.kit.nouns.declaration import Change, Noun
from afterword.kit.nouns.structs import resource_of
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call, Routes
from afterword.people.responders import service as responders
from afterword.people.responders.service import NewSuppression
from afterword.people.responders.store import Reason, Suppression

REASONS: Final[tuple[Reason, ...]] = ("unsubscribed", "hard_bounce", "complaint", "blocked", "erased")


class SuppressionRequest(fields.Request):
    """An address to suppress."""

    channel_id: fields.ChannelId
    identifier: Annotated[str, Meta(min_length=1, max_length=IDENTIFIER_CHARACTERS_MAX, examples=["ann@example.com"])]
    reason: Reason = "blocked"
    expires_time: fields.Moment | None = None
    note: Annotated[str, Meta(max_length=500)] | None = None


async def _lift(change: Change[Suppression], _options: Mapping[str, Any]) -> None:
    await nouns.delete_row(SUPPRESSION, change)
    actor = Actor.of(change.caller)
    event = responders.suppression_event("suppression.deleted", change.row, now=change.now, actor=actor)
    await events.record(change.db, events=[event])


SUPPRESSION = Noun(
    record=Suppression,
    table="suppression",
    one="suppression",
    many="suppressions",
    tag="Suppressions",
    path="/suppression",
    scope="Suppression",
    about={
        "list": "Those that have expired included: they show `expires_time`, and suppress nothing any more.",
        "delete": (
            "The address is written to again, whatever the reason was; the event `suppression.deleted` keeps it."
        ),
    },
    names={"delete": "lift_suppression"},
    summaries={"get": "Get a suppression", "delete": "Lift a suppression"},
    operations=("list", "get", "delete"),
    shape="envelope",
    shows_organization=True,
    allow=lambda caller, _operation: caller.require_all(),  # a suppression holds for all applications
    delete=_lift,
)
routes = Routes(tag=SUPPRESSION.tag)
routes.all.append(route_of(SUPPRESSION, "list"))


@routes.post(
    SUPPRESSION.path,
    scope="Suppression.Create",
    answer=resource_of(SUPPRESSION),
    summary="Suppress an address",
    description=(
        "Nothing more is sent to it on that channel. Compared by its normal form, kept as it was sent. One that is "
        "suppressed already takes a longer time and a stronger reason (blocked, hard_bounce, unsubscribed, complaint, "
        "erased); where neither is new, 409."
    ),
    refusals=("already_exists",),
)
async def suppress_address(call: Call[SuppressionRequest], db: Database) -> Answer:
    made = await add(db, caller=call.caller, request=call.body, secret=call.site.secret, now=call.now)
    return Answer(record=made, location=f"{SUPPRESSION.path}/{made.suppression_id}")


routes.all += [route_of(SUPPRESSION, "get"), route_of(SUPPRESSION, "delete")]


async def add(
    db: Database, *, caller: Caller, request: SuppressionRequest, secret: bytes, now: datetime
) -> Suppression:
    """Suppress the address, in its normal form.

    An existing suppression changes to last longer or for a stronger reason; if the request has
    neither, Conflict. Raises Forbidden, and Invalid for what is no address of the channel or a time that has
    passed.
    """
    caller.require_all()
    if request.expires_time is not None and request.expires_time.instant <= now:
        raise errors.Invalid.at("/expires_time", "out_of_range", "That time has passed.")
    try:
        new = _new(request, organization_id=caller.organization_id, locale=caller.default_locale, secret=secret)
    except InvalidAddress as error:
        raise errors.Invalid.at("/identifier", "invalid_address", error.message) from None
    written = await responders.suppress_addresses(db, suppressions=[new], now=now, actor=Actor.of(caller))
    if not written:
        raise errors.Conflict("This address is suppressed already.")
    return written[0]


async def add_many(
    db: Database,
    *,
    organization_id: str,
    requests: Sequence[SuppressionRequest],
    locale: str | None,
    secret: bytes,
    now: datetime,
) -> tuple[int, list[tuple[int, str]]]:
    """As `add` for the rows of a file: the number of new or changed ones; index and error of invalid addresses."""
    new: list[NewSuppression] = []
    wrong: list[tuple[int, str]] = []
    for index, request in enumerate(requests):
        try:
            new.append(_new(request, organization_id=organization_id, locale=locale, secret=secret))
        except InvalidAddress as error:
            wrong.append((index, str(error)))
    written = await responders.suppress_addresses(db, suppressions=new, now=now)
    return len(written), wrong


def _new(request: SuppressionRequest, *, organization_id: str, locale: str | None, secret: bytes) -> NewSuppression:
    """`locale` gives the country of a national phone number. Raises InvalidAddress."""
    normal = normalise(request.channel_id, request.identifier, locale=locale)
    return NewSuppression(
        organization_id,
        request.channel_id,
        address_key(secret, request.channel_id, normal),
        normal,
        request.reason,
        expires_time=request.expires_time and request.expires_time.instant,
        note=request.note,
    )
