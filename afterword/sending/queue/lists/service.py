"""Items of all pipelines that a caller may see: one page of them, and their counts by status and reason."""

from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from afterword import errors
from afterword.core.messaging.addresses import CHANNEL_EMAIL, CHANNEL_SMS, InvalidAddress, address_key, normalise
from afterword.core.organizations.access import Caller
from afterword.core.scheduling.statuses import PUBLIC_ITEM, Item, PublicItem
from afterword.core.wire.lists import Rows
from afterword.core.wire.times import zone_of
from afterword.kit.db import Database
from afterword.sending.queue.lists import store
from afterword.sending.queue.lists.store import EARLIEST, LATEST, Filter, HourCount, Key, ListedItem, Overlap

COUNT_MAX: Final = 10_000  # of each status and reason; beyond it a count says "at least"
WEEK: Final = timedelta(days=7)
OVERLAP_DAYS: Final = 30
OVERLAP_ITEMS_MAX: Final = 500  # the newest of a pipeline whose people are looked at
OVERLAPS_MAX: Final = 5  # pipelines that are told
SCANNED_MAX: Final = 2_000  # items of one status and reason that a page looks at to find those of a pipeline


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemFilter:
    """The items that a caller asks for. None: not filtered. `reason` empty: those without one."""

    statuses: Sequence[PublicItem] = tuple(PublicItem)
    reason: str | None = None
    pipeline_id: str | None = None
    questionnaire_id: str | None = None
    application_id: str | None = None
    external_reference: str | None = None
    with_order_key: bool = False  # those with the reference in their metadata, too
    identifier: str | None = None  # an address of a person
    from_time: datetime | None = None
    to_time: datetime | None = None


@dataclass(frozen=True, slots=True)
class Count:
    """`is_capped`: there are more than `count`."""

    status_id: PublicItem
    reason: str | None
    count: int
    is_capped: bool


async def list_items(
    db: Database,
    *,
    caller: Caller,
    wanted: ItemFilter,
    after: Key | None = None,
    oldest_first: bool = False,
    limit: int,
    secret: bytes = b"",
) -> Rows[ListedItem]:
    """A page of the items; `secret` is needed to find an address. Raises Invalid `unknown_id`."""
    organization_id = caller.organization_id
    chosen = await _filter(db, caller=caller, wanted=wanted)
    if wanted.external_reference is not None:
        found = await store.list_items_by_reference(
            db,
            organization_id=organization_id,
            external_reference=wanted.external_reference,
            order_key=wanted.external_reference
            if wanted.with_order_key and "Questionnaire Value.Read" in caller.scopes
            else None,
            chosen=chosen,
        )
        return Rows(found[:limit])
    if wanted.identifier is not None:
        keys = [key for _, key in keys_of(wanted.identifier, secret=secret)]
        found = await store.list_items_by_address(db, organization_id=organization_id, address_keys=keys, chosen=chosen)
        return Rows(found[:limit])
    return await store.list_items(
        db,
        organization_id=organization_id,
        chosen=chosen,
        after=after,
        oldest_first=oldest_first,
        limit=limit,
        scanned=SCANNED_MAX,
    )


def keys_of(identifier: str, *, secret: bytes) -> list[tuple[int, bytes]]:
    """The channels on which this can be an address, each with the key of the address."""
    found: list[tuple[int, bytes]] = []
    for channel_id in (CHANNEL_EMAIL, CHANNEL_SMS):
        with suppress(InvalidAddress):
            found.append((channel_id, address_key(secret, channel_id, normalise(channel_id, identifier))))
    return found


async def key_of(db: Database, *, caller: Caller, item_id: str) -> Key:
    """The place of an item in the list. Raises Invalid `invalid_cursor` where it is gone."""
    key = await store.get_key(db, organization_id=caller.organization_id, item_id=item_id)
    if key is None:
        message = "The item that this cursor stood on is gone; start again."
        raise errors.Invalid.of(errors.FieldError("invalid_cursor", message, parameter="after"))
    return key


async def unknown_of(db: Database, *, caller: Caller, wanted: ItemFilter) -> str | None:
    """The member of the wanted that names nothing the caller can see; None: there is none."""
    named = {name: getattr(wanted, name) for name in ("application_id", "questionnaire_id", "pipeline_id")}
    if not any(named.values()):
        return None
    return await store.get_unknown(db, **caller.part, **named)


async def count_items(db: Database, *, caller: Caller, wanted: ItemFilter, limit: int = COUNT_MAX) -> list[Count]:
    """The counts by status and reason, each up to `limit`. Raises Invalid `unknown_id`."""
    chosen = await _filter(db, caller=caller, wanted=wanted)
    found = await store.count_items(db, organization_id=caller.organization_id, chosen=chosen, limit=limit)
    sums: dict[tuple[PublicItem, str], tuple[int, bool]] = defaultdict(lambda: (0, False))
    for one in found:
        key = (PUBLIC_ITEM[one.status], one.reason)
        count, is_capped = sums[key]
        sums[key] = (count + one.count, is_capped or one.is_capped)
    return [
        Count(status, reason or None, min(count, limit), is_capped or count > limit)
        for (status, reason), (count, is_capped) in sorted(sums.items())
    ]


async def list_overlaps(db: Database, *, caller: Caller, pipeline_id: str, now: datetime) -> list[Overlap]:
    """Other pipelines that wrote to the same people lately. Raises Invalid for a pipeline that is not there."""
    if await unknown_of(db, caller=caller, wanted=ItemFilter(pipeline_id=pipeline_id)) is not None:
        raise errors.Invalid.at("/pipeline_id", "unknown_id", "There is no such pipeline.")
    return await store.list_overlaps(
        db,
        **caller.reach,
        pipeline_id=pipeline_id,
        since=now - timedelta(days=OVERLAP_DAYS),
        sample_max=OVERLAP_ITEMS_MAX,
        limit=OVERLAPS_MAX,
    )


async def count_hours(
    db: Database, *, caller: Caller, wanted: ItemFilter, time_zone: str, now: datetime
) -> list[HourCount]:
    """The waiting items of a week by the hour in which they become due, from this hour on. Raises Invalid `unknown_id`.

    Each hour of the week occurs once: the last one is that before this hour.
    """
    local = now.astimezone(zone_of(time_zone)).replace(minute=0, second=0, microsecond=0)
    chosen = await _filter(db, caller=caller, wanted=replace(wanted, from_time=now, to_time=local + WEEK))
    return await store.count_hours(
        db, organization_id=caller.organization_id, chosen=chosen, time_zone=time_zone, limit=COUNT_MAX
    )


async def _filter(db: Database, *, caller: Caller, wanted: ItemFilter) -> Filter:
    """Raises Invalid `unknown_id`."""
    statuses, own, asked = set(wanted.statuses), caller.application_ids, wanted.application_id
    place = {"questionnaire_id": wanted.questionnaire_id, "pipeline_id": wanted.pipeline_id}
    organization_id = caller.organization_id
    pipeline_ids: list[str] | None = None
    if (unknown := await unknown_of(db, caller=caller, wanted=wanted)) is not None:
        message = "There is nothing with this id."
        raise errors.Invalid.of(errors.FieldError("unknown_id", message, parameter=unknown))
    if asked or own or any(place.values()):
        pipeline_ids = await store.list_pipeline_ids(
            db, organization_id=organization_id, application_ids=[asked] if asked else own, **place
        )
    return Filter(
        statuses=[status for status in Item if PUBLIC_ITEM[status] in statuses],
        reason=wanted.reason,
        pipeline_ids=pipeline_ids,
        from_time=wanted.from_time or EARLIEST,
        to_time=wanted.to_time or LATEST,
        test_only=caller.test,
    )
