"""The record of a queue item and its columns, for the stores of all parts that read whole items."""

from collections.abc import Mapping
from datetime import datetime
from operator import itemgetter
from typing import Any, Final, LiteralString, final

import msgspec

from afterword.core.scheduling.lanes import LaneKey
from afterword.core.scheduling.statuses import PUBLIC_ITEM, PublicItem
from afterword.core.wire.times import Instant
from afterword.kit.db import Row
from afterword.kit.db.columns import columns_of

ItemKey = tuple[str, str]  # organization_id, item_id
LeaseKey = tuple[str, str, int]  # organization_id, item_id, epoch

_PUBLIC: Final[Mapping[int, PublicItem]] = {status.value: public for status, public in PUBLIC_ITEM.items()}


class ShownItem(msgspec.Struct, frozen=True):
    """The members of a queue item that clients see; a struct, because dataclasses take 20 times as long in lists."""

    item_id: str
    previous_item_id: str | None
    questionnaire_id: str
    responder_id: str | None
    responder_channel_identifier: str
    questionnaire_instance_id: str | None
    previous_questionnaire_instance_id: str | None
    status: int
    pipeline_id: str
    locale: str | None
    send_time: Instant
    send_offset_minutes: int
    dispatched_time: Instant | None
    result: str | None
    attempts: int
    created_time: Instant
    updated_time: Instant
    anonymized_time: Instant | None
    created_by: str | None
    updated_by: str | None
    external_reference: str | None
    source: str
    reason: str | None
    test: bool
    metadata: dict[str, dict[str, str]]

    @property
    def status_id(self) -> PublicItem:
        return _PUBLIC[self.status]

    @property
    def retry_attempts(self) -> int | None:
        """Null until the first retry, then how many there were."""
        return self.attempts - 1 if self.attempts > 1 else None


@final
class QueueItem(ShownItem, frozen=True):
    send_time: datetime
    dispatched_time: datetime | None
    created_time: datetime
    updated_time: datetime
    anonymized_time: datetime | None
    organization_id: str
    address_key: bytes
    due_time: datetime
    not_after: datetime
    epoch: int
    throttled: int
    version: int

    @property
    def as_event(self) -> dict[str, Any]:
        """The members that an event keeps, equal to `EVENT_COLUMNS`."""
        return {name: getattr(self, name) for name in ShownItem.__struct_fields__ if name not in UNLOGGED}

    @classmethod
    def of(cls, row: Row) -> "QueueItem":
        return cls(*_values(row))


class DecidedItem(msgspec.Struct, frozen=True):
    """The members of an item that decisions need."""

    organization_id: str
    item_id: str
    questionnaire_id: str
    pipeline_id: str
    responder_channel_identifier: str
    address_key: bytes
    locale: str | None
    metadata: dict[str, dict[str, str]]
    due_time: datetime
    not_after: datetime
    reason: str | None
    previous_item_id: str | None
    source: str
    test: bool


Candidate = DecidedItem | QueueItem


class WaitingItem(DecidedItem, frozen=True):
    """A scheduled item of the address of another one. `is_open`: its lane is open."""

    is_open: bool


class Claimed(DecidedItem, frozen=True):
    epoch: int
    send_time: datetime
    attempts: int
    attempts_max: int
    throttled: int
    resend_after_seconds: int | None
    previous_questionnaire_instance_id: str | None
    questionnaire_instance_id: str | None
    reminder_number: int | None
    external_reference: str | None
    limited: bool
    database_now: datetime

    @property
    def key(self) -> ItemKey:
        return self.organization_id, self.item_id

    @property
    def lease_key(self) -> LeaseKey:
        return self.organization_id, self.item_id, self.epoch

    @property
    def lane(self) -> LaneKey:
        return self.organization_id, self.pipeline_id


# Texts without a rule of their own: rows keep them as given, PATCH changes them, erasing a person removes them.
TEXT_COLUMNS: Final[LiteralString] = "locale"
TEXTS: Final = tuple(name.strip() for name in TEXT_COLUMNS.split(","))
LISTED_COLUMNS: Final = columns_of(ShownItem, without=("reason", "result"))  # a list computes them
UNLOGGED: Final = ("metadata",)  # values about people, which need scopes of their own
EVENT_COLUMNS: Final = columns_of(ShownItem, without=UNLOGGED)  # the members that an event keeps
ITEM_COLUMNS: Final = columns_of(QueueItem)
# A worker reads these of an item that it claims; its record has the database's time besides.
DECIDED_COLUMNS: Final = columns_of(DecidedItem)
CLAIMED_COLUMNS: Final = columns_of(Claimed, without=("database_now",))
# Adds the outcomes of the attempts in `closed` to their totals. In shards, so that workers seldom wait for a row.
COUNTED: Final[LiteralString] = """counted as (
             insert into attempt_total (outcome, shard, total)
             select outcome, pg_backend_pid() % 16, count(*) from closed group by outcome order by outcome
             on conflict (outcome, shard) do update set total = attempt_total.total + excluded.total)"""

_values: Final = itemgetter(*QueueItem.__struct_fields__)
