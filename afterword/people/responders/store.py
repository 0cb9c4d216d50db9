"""SQL of responders, their addresses and suppressions, with their records."""

from collections.abc import Sequence
from datetime import datetime
from operator import attrgetter, itemgetter
from typing import Annotated, Any, Final, Literal, final

import msgspec

from afterword.kit.db import Database, Row
from afterword.kit.db.columns import arrays, columns_of, qualified
from afterword.kit.nouns.declaration import FixedRecord, Hidden
from afterword.kit.web import fields

ResponderKey = tuple[str, str]  # organization_id, responder_id
AddressId = tuple[str, int, bytes]  # organization_id, channel_id, address_key


@final
class Responder(msgspec.Struct, frozen=True):
    """A person who is asked. `metadata` is name -> text."""

    organization_id: str
    responder_id: str
    locale: str | None
    time_zone: str | None
    metadata: dict[str, str]
    anonymized_time: datetime | None
    version: int
    created_time: datetime
    updated_time: datetime
    created_by: str | None
    updated_by: str | None

    @property
    def as_event(self) -> dict[str, Any]:
        """The data of an event: the row without metadata values."""
        return {name: getattr(self, name) for name in self.__struct_fields__ if name != "metadata"}

    @property
    def key(self) -> ResponderKey:
        return self.organization_id, self.responder_id


_COLUMNS: Final = columns_of(Responder)
_COLUMNS_R: Final = qualified(_COLUMNS, "r")
_values: Final = itemgetter(*Responder.__struct_fields__)
_SETTABLE: Final = ("organization_id", "responder_id", "locale", "time_zone", "metadata")
_inserted: Final = attrgetter(*_SETTABLE, "created_time", "created_by")
_updated: Final = attrgetter(*_SETTABLE, "updated_by")


class Address(msgspec.Struct, frozen=True):
    """A responder's address on a channel: `identifier` is its normal form, `address_key` its keyed hash."""

    organization_id: str
    channel_id: int
    address_key: bytes
    responder_id: str
    identifier: str
    unsubscribe_id: str

    @property
    def id(self) -> AddressId:
        return self.organization_id, self.channel_id, self.address_key


_ADDRESS_COLUMNS: Final = columns_of(Address)
_address_values: Final = attrgetter(*Address.__struct_fields__)


@final
class Recipient(msgspec.Struct, frozen=True):
    address: Address
    responder: Responder


class AddressFacts(msgspec.Struct, frozen=True):
    """The person of an address, its suppression in force, and the person's other addresses if they were asked for."""

    recipient: Recipient | None
    suppressed_reason: str | None
    suppressed_time: datetime | None
    others: Sequence[AddressId]


Reason = Literal["unsubscribed", "hard_bounce", "complaint", "blocked", "erased"]


class Suppression(FixedRecord, kw_only=True):
    """A suppressed address; `identifier` is its normal form, after erasure a keyed hash."""

    suppression_id: fields.Id
    channel_id: fields.ChannelId
    address_key: Annotated[bytes, Hidden(holds="ours")]
    identifier: str
    reason: Reason
    expires_time: datetime | None
    note: str | None

    @property
    def as_event(self) -> dict[str, Any]:
        """The data of an event: the row without the hash."""
        return {name: getattr(self, name) for name in self.__struct_fields__ if name not in {"address_key", "version"}}

    @property
    def key(self) -> AddressId:
        return self.organization_id, self.channel_id, self.address_key


SUPPRESSION_COLUMNS: Final = columns_of(Suppression)
_SUPPRESSION_COLUMNS_S: Final = qualified(SUPPRESSION_COLUMNS, "s")
_suppression_values: Final = attrgetter(*Suppression.__struct_fields__)


async def get_responder(db: Database, *, organization_id: str, responder_id: str) -> Responder | None:
    return await db.records(_responder).fetch_row(
        f"select {_COLUMNS} from responder where organization_id = $1 and responder_id = $2",
        organization_id,
        responder_id,
    )


async def list_responders(  # any tenant: a batch serves many
    db: Database, *, keys: Sequence[ResponderKey]
) -> list[Responder]:
    """The existing responders of these (organization_id, responder_id) pairs, in no order."""
    return await db.records(_responder).fetch(
        f"""select {_COLUMNS_R} from unnest($1::text[], $2::text[]) as w (organization_id, responder_id)
             join responder r on r.organization_id = w.organization_id and r.responder_id = w.responder_id""",
        *arrays(keys, 2),
    )


async def claim_responders(db: Database, *, keys: Sequence[ResponderKey]) -> list[Responder]:
    """As list_responders, locked in key order (so that two batches cannot deadlock) until the transaction ends."""
    return await db.records(_responder).fetch(
        f"""select {_COLUMNS} from responder
           where (organization_id, responder_id) in (select * from unnest($1::text[], $2::text[]))
           order by organization_id, responder_id for no key update""",
        *arrays(keys, 2),
    )


async def insert_responders(  # any tenant: a batch serves many
    db: Database, *, responders: Sequence[Responder]
) -> None:
    await db.execute(
        """insert into responder (organization_id, responder_id, locale, time_zone, metadata, created_time,
                                  updated_time, created_by, updated_by)
           select organization_id, responder_id, locale, time_zone, metadata, created_time, created_time, created_by,
                  created_by
           from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::jsonb[], $6::timestamptz[], $7::text[])
             as n (organization_id, responder_id, locale, time_zone, metadata, created_time, created_by)""",
        *arrays(map(_inserted, responders), 7),
    )


async def update_responders(  # any tenant: a batch serves many
    db: Database, *, responders: Sequence[Responder], now: datetime
) -> list[Responder]:
    """Write locale, time zone, metadata and `updated_by` of claimed responders; the rows after the change."""
    return await db.records(_responder).fetch(
        f"""update responder r
           set locale = n.locale, time_zone = n.time_zone, metadata = n.metadata, updated_by = n.updated_by,
               metadata_times = (r.metadata_times || coalesce((
                 select jsonb_object_agg(e.key, $7::timestamptz) from jsonb_each(n.metadata) e
                 where r.metadata -> e.key is distinct from e.value), '{{}}')) - array(
                 select k from jsonb_object_keys(r.metadata) k where not n.metadata ? k),
               updated_time = $7, version = r.version + 1
           from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::jsonb[], $6::text[])
             as n (organization_id, responder_id, locale, time_zone, metadata, updated_by)
           where r.organization_id = n.organization_id and r.responder_id = n.responder_id
           returning {_COLUMNS_R}""",
        *arrays(map(_updated, responders), 6),
        now,
    )


async def delete_responders(  # any tenant: a batch serves many
    db: Database, *, keys: Sequence[ResponderKey]
) -> None:
    """Delete responders that this transaction inserted needlessly, with their addresses."""
    await db.execute(
        """delete from responder
           where (organization_id, responder_id) in (select * from unnest($1::text[], $2::text[]))""",
        *arrays(keys, 2),
    )


async def list_addresses_of(  # any tenant: a batch serves many
    db: Database, *, addresses: Sequence[AddressId]
) -> list[Address]:
    """The addresses with these keys, in no order."""
    return await db.records(Address).fetch(
        f"""select {qualified(_ADDRESS_COLUMNS, "a")}
           from unnest($1::text[], $2::smallint[], $3::bytea[]) as w (organization_id, channel_id, address_key)
             join responder_address a on a.organization_id = w.organization_id and a.channel_id = w.channel_id
               and a.address_key = w.address_key""",
        *arrays(addresses, 3),
    )


async def list_recipients(  # any tenant: a batch serves many
    db: Database, *, addresses: Sequence[AddressId]
) -> list[Recipient]:
    return await db.records(_recipient).fetch(
        f"""select a.channel_id, a.address_key, a.identifier, a.unsubscribe_id, {_COLUMNS_R}
           from unnest($1::text[], $2::smallint[], $3::bytea[]) as w (organization_id, channel_id, address_key)
             cross join lateral (
               select {_ADDRESS_COLUMNS} from responder_address
               where organization_id = w.organization_id and channel_id = w.channel_id and address_key = w.address_key
               limit 1) a -- the limits: a plan that was made while the tables were small must probe by key as well
             cross join lateral (
               select {_COLUMNS} from responder
               where organization_id = a.organization_id and responder_id = a.responder_id limit 1) r""",
        *arrays(addresses, 3),
    )


async def list_address_facts(  # any tenant: a batch serves many
    db: Database, *, addresses: Sequence[AddressId], with_others: Sequence[bool], now: datetime
) -> dict[AddressId, AddressFacts]:
    """The facts of each of these addresses; `with_others`: of each, whether the person's other addresses are wanted."""
    rows = await db.fetch(
        f"""select w.place, a.channel_id, a.address_key, a.identifier, a.unsubscribe_id, {_COLUMNS_R},
             s.reason as suppressed_reason, s.created_time as suppressed_time, o.channel_ids, o.address_keys
           from unnest($1::text[], $2::smallint[], $3::bytea[], $4::bool[])
               with ordinality as w (organization_id, channel_id, address_key, with_others, place)
             left join lateral (
               select {_ADDRESS_COLUMNS} from responder_address
               where organization_id = w.organization_id and channel_id = w.channel_id and address_key = w.address_key
               limit 1) a on true -- the limits: a plan that was made while the tables were small must probe by key
             left join lateral (
               select {_COLUMNS} from responder
               where organization_id = a.organization_id and responder_id = a.responder_id limit 1) r on true
             left join lateral (
               select reason, created_time from suppression
               where organization_id = w.organization_id and channel_id = w.channel_id and address_key = w.address_key
                 and (expires_time is null or expires_time > $5) limit 1) s on true
             left join lateral (
               select array_agg(e.channel_id order by e.channel_id, e.address_key) as channel_ids,
                 array_agg(e.address_key order by e.channel_id, e.address_key) as address_keys
               from responder_address e
               where w.with_others and e.organization_id = a.organization_id and e.responder_id = a.responder_id
                 and e.address_key <> a.address_key) o on true""",
        *arrays(addresses, 3),
        list(with_others),
        now,
    )
    return {addresses[row["place"] - 1]: _facts(row) for row in rows}


async def list_addresses(db: Database, *, organization_id: str, responder_id: str) -> list[Address]:
    return await db.records(Address).fetch(
        f"""select {_ADDRESS_COLUMNS} from responder_address where organization_id = $1 and responder_id = $2
           order by channel_id, created_time, address_key""",
        organization_id,
        responder_id,
    )


async def insert_addresses(  # any tenant: a batch serves many
    db: Database, *, addresses: Sequence[Address], now: datetime
) -> int:
    """Insert the addresses whose key is free, after transactions with the same keys; returns the number inserted.

    In key order, so that two batches cannot deadlock.
    """
    ordered = sorted(addresses, key=lambda address: address.id)
    return await db.execute(
        f"""insert into responder_address ({_ADDRESS_COLUMNS}, created_time)
           select {_ADDRESS_COLUMNS}, $7
           from unnest($1::text[], $2::smallint[], $3::bytea[], $4::text[], $5::text[], $6::text[])
             with ordinality as n ({_ADDRESS_COLUMNS}, place)
           order by place
           on conflict do nothing""",
        *arrays(map(_address_values, ordered), 6),
        now,
    )


async def get_address_by_unsubscribe_id(  # any tenant: the link knows none
    db: Database, *, unsubscribe_id: str
) -> Address | None:
    return await db.records(Address).fetch_row(
        f"select {_ADDRESS_COLUMNS} from responder_address where unsubscribe_id = $1", unsubscribe_id
    )


async def list_suppressions_for(  # any tenant: a batch serves many
    db: Database, *, addresses: Sequence[AddressId], now: datetime
) -> list[Suppression]:
    """The suppressions in force of these (organization_id, channel_id, address_key), in no order."""
    return await db.records(Suppression).fetch(
        f"""select {_SUPPRESSION_COLUMNS_S}
           from unnest($1::text[], $2::smallint[], $3::bytea[]) as w (organization_id, channel_id, address_key)
             join suppression s on s.organization_id = w.organization_id and s.channel_id = w.channel_id
               and s.address_key = w.address_key
           where s.expires_time is null or s.expires_time > $4""",
        *arrays(addresses, 3),
        now,
    )


async def insert_suppressions(  # any tenant: a batch serves many
    db: Database, *, suppressions: Sequence[Suppression], now: datetime
) -> list[Suppression]:
    """Insert suppressions. An existing one changes only to last longer or for a stronger reason.

    Returns the rows written.
    """
    ordered = sorted(suppressions, key=lambda one: one.key)
    return await db.records(Suppression).fetch(
        f"""insert into suppression as s ({SUPPRESSION_COLUMNS})
           select {SUPPRESSION_COLUMNS}
           from unnest($1::text[], $2::timestamptz[], $3::bigint[], $4::text[], $5::text[], $6::smallint[],
                       $7::bytea[], $8::text[], $9::text[], $10::timestamptz[], $11::text[])
             with ordinality as n ({SUPPRESSION_COLUMNS}, place)
           order by place
           on conflict (organization_id, channel_id, address_key) do update
             set reason = excluded.reason, expires_time = excluded.expires_time, note = excluded.note,
                 created_time = excluded.created_time, created_by = excluded.created_by, version = s.version + 1,
                 identifier = excluded.identifier
             where s.expires_time <= $12
                or s.expires_time < coalesce(excluded.expires_time, 'infinity')
                or excluded.expires_time is null -- the stronger reason stays when the weaker one is lifted
                  and array_position('{{blocked,hard_bounce,unsubscribed,complaint,erased}}', excluded.reason)
                    > array_position('{{blocked,hard_bounce,unsubscribed,complaint,erased}}', s.reason)
           returning {_SUPPRESSION_COLUMNS_S}""",
        *arrays(map(_suppression_values, ordered), 11),
        now,
    )


def _recipient(row: Row) -> Recipient:
    responder = _responder(row)
    key = responder.organization_id, row["channel_id"], row["address_key"]
    return Recipient(Address(*key, responder.responder_id, row["identifier"], row["unsubscribe_id"]), responder)


def _facts(row: Row) -> AddressFacts:
    recipient = _recipient(row) if row["responder_id"] is not None else None
    others = zip(row["channel_ids"] or (), row["address_keys"] or (), strict=True)
    return AddressFacts(
        recipient,
        row["suppressed_reason"],
        row["suppressed_time"],
        [(row["organization_id"], *other) for other in others],
    )


def _responder(row: Row) -> Responder:
    return Responder(*_values(row))
