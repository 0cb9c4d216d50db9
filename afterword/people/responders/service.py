"""Finds, creates and updates responders, and suppresses their addresses."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Final, cast

import msgspec
from msgspec.structs import replace

from afterword import errors, ids
from afterword.core.messaging.addresses import CHANNEL_EMAIL, CHANNEL_SMS, address_key, normal_or_none
from afterword.core.questionnaires import metadata as rules
from afterword.core.text import locales
from afterword.events import service as events
from afterword.events.service import Actor, NewEvent
from afterword.kit.db import RETRY_AFTER_SECONDS, Database
from afterword.kit.web import fields
from afterword.people.responders import store
from afterword.people.responders.store import Address, AddressId, Recipient, Responder, ResponderKey, Suppression

ROUNDS_MAX: Final = 3


class ResponderInput(msgspec.Struct, frozen=True):
    """A request for a responder.

    Found by `responder_id` if given, else by the e-mail address, then the phone number of `metadata`, else
    by `identifier` on `channel_id`; a public link gives none of them and gets a new responder. `metadata` is merged by
    name, None removes. `locale` is stored if the responder has none, and gives the country of a national phone
    number.
    """

    organization_id: str
    channel_id: int | None = None
    identifier: str | None = None
    metadata: Mapping[str, str | None] = {}
    locale: str | None = None
    responder_id: str | None = None
    is_limited: bool = False
    """The caller may not change all responders: search by one address only, and change new responders only."""
    is_whole: bool = False
    """Only the limited caller asks this responder, so that metadata are merged nevertheless."""


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """The members of a PATCH; None removes a metadata value."""

    has_locale: bool = False
    locale: str | None = None
    has_time_zone: bool = False
    time_zone: str | None = None
    metadata: Mapping[str, str | None] = msgspec.field(default_factory=dict[str, str | None])


class Found(msgspec.Struct, frozen=True):
    """The responder of an input, as it is after the call, and its address on the requested channel.

    `metadata` are those of a limited input if they were not merged.
    `address`, `address_key` and `unsubscribe_id` are None if the input had no valid identifier.
    """

    responder_id: str
    locale: str | None
    time_zone: str | None
    metadata: Mapping[str, str]
    created: bool
    address: str | None
    address_key: bytes | None
    unsubscribe_id: str | None


class NewSuppression(msgspec.Struct, frozen=True):
    """An address to suppress; `normal` is its normal form."""

    organization_id: str
    channel_id: int
    address_key: bytes
    normal: str
    reason: store.Reason
    responder_id: str | None = None
    expires_time: datetime | None = None
    note: str | None = None


class _Key(msgspec.Struct, frozen=True):
    id: AddressId
    normal: str
    is_channel: bool


async def find_or_create(
    db: Database,
    *,
    inputs: Sequence[ResponderInput],
    now: datetime,
    secret: bytes,
    actor: Actor | None = None,
    known: Mapping[AddressId, Recipient | None] = MappingProxyType({}),
    tells: bool = True,
) -> list[Found]:
    """The responder of each input, in order, for a batch of any organizations, with few statements.

    Two transactions with the same new address create one responder: the second waits for the first's commit.
    `known`: addresses that this transaction has looked up, None for one without a responder. `tells`: events tell of
    what is made and changed. Raises Invalid `unknown_id` if a given `responder_id` does not exist in its organization,
    Unavailable if others were faster `ROUNDS_MAX` times.
    """
    search = _Search(inputs, [_keys(one, secret) for one in inputs], now, actor or Actor(), tells=tells)
    search.learn(recipient for recipient in known.values() if recipient is not None)
    search.absent = {key for key, recipient in known.items() if recipient is None}
    given = [(one.organization_id, one.responder_id) for one in inputs if one.responder_id]
    if given and set(given) - {row.key for row in await store.list_responders(db, keys=given)}:
        raise errors.Invalid.at("/responder_id", "unknown_id", "There is no such responder.")
    for _ in range(ROUNDS_MAX):
        await _look_up(db, search)
        planned = search.plan()
        if search.fresh:
            await store.insert_responders(db, responders=list(search.fresh.values()))
        if planned and await store.insert_addresses(db, addresses=planned, now=now) < len(planned):
            search.absent.clear()
            await _look_up(db, search)  # another transaction inserted them first; its rows are visible now
        else:
            search.add(planned)
        lost = search.give_up_lost(planned)
        if not lost:
            return await _finish(db, search)
        await store.delete_responders(db, keys=lost)
    raise errors.Unavailable(
        "Others are adding the same responders at the same moment.", headers={"Retry-After": str(RETRY_AFTER_SECONDS)}
    )


async def list_erased(db: Database, *, inputs: Sequence[ResponderInput], now: datetime, secret: bytes) -> set[int]:
    """The places of those inputs with an address of somebody who was erased."""
    places: dict[AddressId, list[int]] = {}
    for place, one in enumerate(inputs):
        for key in _keys(one, secret):
            places.setdefault(key.id, []).append(place)
    found = await store.list_suppressions_for(db, addresses=list(places), now=now) if places else []
    return {place for one in found if one.reason == "erased" for place in places[one.key]}


async def insert_again(
    db: Database, *, responders: Sequence[store.Responder], addresses: Sequence[store.Address], now: datetime
) -> None:
    """Insert people and addresses under their ids where a server that took over lacks them."""
    known = {row.key for row in await store.list_responders(db, keys=[one.key for one in responders])}
    gone = [one for one in responders if one.key not in known]
    if gone:
        await store.insert_responders(db, responders=gone)
    if addresses:
        await store.insert_addresses(db, addresses=addresses, now=now)


async def update(
    db: Database,
    *,
    organization_id: str,
    responder_id: str,
    change: Change,
    now: datetime,
    actor: Actor,
    expect: errors.Expect = errors.ANY,
) -> Responder:
    """Write the members of the change; without a difference nothing is written.

    `expect` (of `If-Match`) is called with the version of the locked row and may raise Stale. Raises NotFound, Invalid
    (`too_many`).
    """
    claimed = await store.claim_responders(db, keys=[(organization_id, responder_id)])
    if not claimed:
        raise errors.NotFound("There is no such responder.")
    before = claimed[0]
    expect(before.version)
    kept = {name for name, value in change.metadata.items() if value}
    if len((before.metadata.keys() - change.metadata.keys()) | kept) > rules.NAMES_MAX:
        raise errors.Invalid.at("/metadata", "too_many", f"A responder keeps at most {rules.NAMES_MAX} names.")
    after = replace(
        before,
        locale=change.locale if change.has_locale else before.locale,
        time_zone=change.time_zone if change.has_time_zone else before.time_zone,
        metadata=rules.merge(before.metadata, change.metadata),
    )
    if after == before:
        return before
    changed = await _update(db, [after], now, actor)
    return changed[0]


async def unsubscribe(db: Database, *, address: Address, now: datetime) -> None:
    """Suppress an address at its responder's wish; repeating it changes nothing."""
    new = NewSuppression(*address.id, address.identifier, "unsubscribed", responder_id=address.responder_id)
    await suppress_addresses(db, suppressions=[new], now=now, actor=Actor("responder", address.responder_id))


async def suppress_addresses(
    db: Database, *, suppressions: Sequence[NewSuppression], now: datetime, actor: Actor | None = None
) -> list[Suppression]:
    """Suppress addresses of any organizations; returns new and changed suppressions and records their events.

    A suppression in force changes only to last longer or for a stronger reason: an unsubscription
    outlasts a bounce that somebody lifts.
    """
    actor = actor or Actor()
    by_key = {(one.organization_id, one.channel_id, one.address_key): one for one in suppressions}
    if not by_key:
        return []
    rows = [
        Suppression(
            organization_id=one.organization_id,
            suppression_id=ids.ordered(now),
            channel_id=cast("fields.ChannelId", one.channel_id),
            address_key=one.address_key,
            identifier=one.normal,
            reason=one.reason,
            expires_time=one.expires_time,
            note=one.note,
            created_time=now,
            created_by=actor.id if actor.kind in {"user", "token"} else None,
            version=1,
        )
        for one in by_key.values()
    ]
    written = await store.insert_suppressions(db, suppressions=rows, now=now)
    await events.record(db, events=[event for row in written for event in _suppression_events(row, by_key, now, actor)])
    return written


class _Search:
    """The state of one find_or_create: the responder of each input, and the rows to insert."""

    def __init__(
        self,
        inputs: Sequence[ResponderInput],
        keys: Sequence[list[_Key]],
        now: datetime,
        actor: Actor,
        *,
        tells: bool = True,
    ) -> None:
        self.inputs, self.keys, self.now, self.actor, self.tells = inputs, keys, now, actor, tells
        self.chosen: list[str | None] = [one.responder_id for one in inputs]
        self.addresses: dict[AddressId, Address] = {}
        self.absent: set[AddressId] = set()  # without a responder when they were looked up
        self.rows: dict[ResponderKey, Responder] = {}  # existing before the call
        self.created: dict[ResponderKey, Responder] = {}
        self.fresh: dict[ResponderKey, Responder] = {}  # of this round

    def learn(self, recipients: Iterable[Recipient]) -> None:
        for recipient in recipients:
            self.addresses[recipient.address.id] = recipient.address
            self.rows[recipient.responder.key] = recipient.responder

    def add(self, addresses: Iterable[Address]) -> None:
        self.addresses.update({address.id: address for address in addresses})

    def unknown(self) -> list[AddressId]:
        return list({key.id for keys in self.keys for key in keys} - self.addresses.keys() - self.absent)

    def plan(self) -> list[Address]:
        """Choose a responder for each input without one; returns the addresses to insert."""
        planned: dict[AddressId, Address] = {}
        self.fresh = {}
        for index, (one, keys) in enumerate(zip(self.inputs, self.keys, strict=True)):
            responder_id = self.chosen[index] or self._known(keys, planned) or self._make(one)
            self.chosen[index] = responder_id
            for key in keys:
                if key.id not in self.addresses and key.id not in planned:
                    planned[key.id] = Address(*key.id, responder_id, key.normal, ids.secret())
            responder_key = one.organization_id, responder_id
            if responder_key in self.fresh:
                self.fresh[responder_key] = self.created[responder_key] = _merge(self.fresh[responder_key], [one])
        return list(planned.values())

    def give_up_lost(self, planned: Iterable[Address]) -> list[ResponderKey]:
        """Drop responders of this round whose address another transaction inserted first; returns them."""
        lost = {
            (address.organization_id, address.responder_id)
            for address in planned
            if self.addresses[address.id].responder_id != address.responder_id
        } & self.fresh.keys()
        for index, one in enumerate(self.inputs):
            if (one.organization_id, self.chosen[index]) in lost:
                self.chosen[index] = None
        for responder_key in lost:
            del self.created[responder_key]
        self.addresses = {
            key: address
            for key, address in self.addresses.items()
            if (address.organization_id, address.responder_id) not in lost
        }
        return sorted(lost)

    def by_responder(self) -> dict[ResponderKey, list[ResponderInput]]:
        found: dict[ResponderKey, list[ResponderInput]] = {}
        for one, responder_id in zip(self.inputs, self.chosen, strict=True):
            found.setdefault((one.organization_id, responder_id or ""), []).append(one)
        return found

    def channel_key(self, index: int) -> _Key | None:
        return next((key for key in self.keys[index] if key.is_channel), None)

    def _known(self, keys: Sequence[_Key], planned: Mapping[AddressId, Address]) -> str | None:
        for key in keys:
            if address := self.addresses.get(key.id) or planned.get(key.id):
                return address.responder_id
        return None

    def _make(self, one: ResponderInput) -> str:
        responder_id = ids.ordered(self.now)
        self.fresh[one.organization_id, responder_id] = self.created[one.organization_id, responder_id] = Responder(
            organization_id=one.organization_id,
            responder_id=responder_id,
            locale=None,
            time_zone=None,
            metadata={},
            anonymized_time=None,
            version=1,
            created_time=self.now,
            updated_time=self.now,
            created_by=self.actor.id,
            updated_by=self.actor.id,
        )
        return responder_id


def _keys(one: ResponderInput, secret: bytes) -> list[_Key]:
    """The addresses of an input, the strongest first: e-mail address, phone number, the channel's identifier."""
    channel = one.channel_id or 0, one.identifier
    texts = [(CHANNEL_EMAIL, one.metadata.get("email")), (CHANNEL_SMS, one.metadata.get("phone_number")), channel]
    keys: dict[AddressId, _Key] = {}
    for pair in dict.fromkeys(texts):  # mostly the channel's identifier is in the metadata too
        channel_id, text = pair
        normal = normal_or_none(channel_id, text, locale=one.locale) if channel_id and text else None
        if normal is None:
            continue  # an invalid address identifies nobody; it stays in the metadata
        key = one.organization_id, channel_id, address_key(secret, channel_id, normal)
        keys[key] = _Key(key, normal, is_channel=pair == channel)
    found = list(keys.values())
    if one.is_limited:
        return [key for key in found if key.is_channel] or found[:1]
    return found


async def _look_up(db: Database, search: _Search) -> None:
    if addresses := search.unknown():
        search.learn(await store.list_recipients(db, addresses=addresses))


async def _finish(db: Database, search: _Search) -> list[Found]:
    inputs = search.by_responder()
    rows = search.rows | search.created
    if unread := [key for key in inputs if key not in rows]:
        rows |= {row.key: row for row in await store.list_responders(db, keys=unread)}
    differing = [key for key in inputs if key not in search.created and _would_change(rows[key], inputs[key])]
    if differing:
        # Read again with a lock: merging into a row that another transaction changes would undo its change.
        claimed = await store.claim_responders(db, keys=differing)
        merged = [_merge(row, _merged(inputs[row.key])) for row in claimed]
        changed = await _update(db, merged, search.now, search.actor, tells=search.tells)
        rows |= {row.key: row for row in changed}
    told = search.created.values() if search.tells else ()
    created = [_event("responder.created", row.responder_id, row, search.now, search.actor) for row in told]
    await events.record(db, events=created)
    return [_found(search, index, rows) for index in range(len(search.inputs))]


async def _update(
    db: Database, rows: Sequence[Responder], now: datetime, actor: Actor, *, tells: bool = True
) -> list[Responder]:
    changed = await store.update_responders(db, responders=[replace(row, updated_by=actor.id) for row in rows], now=now)
    told = changed if tells else ()
    await events.record(db, events=[_event("responder.updated", row.responder_id, row, now, actor) for row in told])
    return changed


def _would_change(row: Responder, inputs: Sequence[ResponderInput]) -> bool:
    """True if these inputs would change the row; the common case, False, needs no merge."""
    known = row.metadata
    inputs = _merged(inputs)
    return (
        any(
            (one.locale and not row.locale and _locale(one.locale))
            or any((value or None) != known.get(name) for name, value in one.metadata.items())
            for one in inputs
        )
        and _merge(row, inputs) != row
    )


def _merged(inputs: Sequence[ResponderInput]) -> list[ResponderInput]:
    """The inputs that may change an existing responder."""
    return [one for one in inputs if one.is_whole or not one.is_limited]


def _merge(row: Responder, inputs: Sequence[ResponderInput]) -> Responder:
    metadata, locale = row.metadata, row.locale
    for one in inputs:
        metadata = rules.merge(metadata, one.metadata)
        locale = locale or _locale(one.locale)
    return replace(row, metadata=metadata, locale=locale)


def _found(search: _Search, index: int, rows: Mapping[ResponderKey, Responder]) -> Found:
    one = search.inputs[index]
    row = rows[one.organization_id, search.chosen[index] or ""]
    is_created = row.key in search.created
    is_merged = bool(_merged([one])) or is_created
    key = search.channel_key(index)
    return Found(
        responder_id=row.responder_id,
        locale=row.locale,
        time_zone=row.time_zone,
        metadata=row.metadata if is_merged else rules.merge({}, one.metadata),
        created=is_created,
        address=key.normal if key else None,
        address_key=key.id[2] if key else None,
        unsubscribe_id=search.addresses[key.id].unsubscribe_id if key else None,
    )


def _locale(tag: str | None) -> str | None:
    try:
        return locales.normalise(tag) if tag else None
    except locales.InvalidLocale:
        return None


def suppression_event(type_name: str, row: Suppression, *, now: datetime, actor: Actor) -> NewEvent:
    return _event(type_name, row.suppression_id, row, now, actor)


def _event(type_name: str, subject_id: str, row: Responder | Suppression, now: datetime, actor: Actor) -> NewEvent:
    return NewEvent.of(row, type_name, subject_id, row.as_event, now=now, actor=actor)


def _suppression_events(
    row: Suppression, by_key: Mapping[AddressId, NewSuppression], now: datetime, actor: Actor
) -> list[NewEvent]:
    """`suppression.created`, and `responder.unsubscribed` if the responder unsubscribed."""
    one = by_key[row.key]
    created = suppression_event("suppression.created", row, now=now, actor=actor)
    if row.reason != "unsubscribed" or one.responder_id is None:
        return [created]
    data = {"responder_id": one.responder_id, "channel_id": row.channel_id, "suppression_id": row.suppression_id}
    unsubscribed = replace(
        created,
        event_id=ids.ordered(now),
        type="responder.unsubscribed",
        subject_id=one.responder_id,
        subject_version=None,
        data={"organization_id": row.organization_id, **data},
    )
    return [created, unsubscribed]
