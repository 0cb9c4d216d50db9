"""The record of a queue item and its columns, for the stores of all parts that read whole items."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, tzinfo
from operator import itemgetter
from typing import Annotated, Any, Final, Literal, LiteralString, final

import msgspec
from msgspec import Meta

from afterword.asking.instances.resources import LeafResult, ResponseMetadata
from afterword.core.organizations.access import Caller
from afterword.core.questionnaires import conditions
from afterword.core.scheduling import decisions
from afterword.core.scheduling.lanes import LaneKey
from afterword.core.scheduling.statuses import PUBLIC_ITEM, PublicItem
from afterword.core.wire import times
from afterword.core.wire.times import Instant
from afterword.kit.db import Row
from afterword.kit.db.columns import columns_of, qualified
from afterword.kit.nouns.structs import shown_as
from afterword.kit.web import fields
from afterword.kit.web.fields import UNSET, UnsetType

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
class QueueItemRecord(ShownItem, frozen=True):
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
    def of(cls, row: Row) -> "QueueItemRecord":
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


Candidate = DecidedItem | QueueItemRecord


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
# Those of them that the row of an event keeps in its column `item`; the others it has for all.
LOGGED_COLUMNS: Final = columns_of(ShownItem, without=(*UNLOGGED, "item_id", "questionnaire_id", "test"))
LOGGED: Final = qualified(LOGGED_COLUMNS, "item")
ITEM_COLUMNS: Final = columns_of(QueueItemRecord)
# A worker reads these of an item that it claims; its record has the database's time besides.
DECIDED_COLUMNS: Final = columns_of(DecidedItem)
CLAIMED_COLUMNS: Final = columns_of(Claimed, without=("database_now",))
# The server's, which a promotion changes at once (`pg_control_checkpoint` learns of it later); 0 on a standby.
TIMELINE: Final[LiteralString] = (
    "case when pg_is_in_recovery() then 0 "
    "else ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint end"
)
# Adds the outcomes of the attempts in `closed` to their totals. In shards, so that workers seldom wait for a row.
COUNTED: Final[LiteralString] = """counted as (
             insert into attempt_total (outcome, shard, total)
             select outcome, pg_backend_pid() % 16, count(*) from closed group by outcome order by outcome
             on conflict (outcome, shard) do update set total = attempt_total.total + excluded.total)"""

_values: Final = itemgetter(*QueueItemRecord.__struct_fields__)


REFERENCE_PATTERN: Final = r"^[^\x00-\x1f\x7f-\x9f]+(?![\s\S])"
Reference = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=100,
        pattern=REFERENCE_PATTERN,
        extra={"expected": "Control characters are not allowed."},
    ),
]
StatusId = Annotated[
    Literal[1, 2, 3, 4, 5, 6], fields.enum_names("Pending", "Processing", "Sent", "Failed", "Aborted", "Ignored")
]
STATUS_ABORTED: Final = 5
VALUE_SCOPES: Final = {"questionnaire": "Questionnaire Value.Read", "responder": "Responder Value.Read"}
NO_VALUES: Final = msgspec.Raw(b"{}")
Verdict = Literal["go", "hold", "skip", "done"]


class QueueItemRequest(fields.Request):
    """A questionnaire to send: the address, the time, the metadata."""

    responder_channel_identifier: fields.Text320
    locale: fields.Locale | None = None
    send_time: fields.Moment | None = None
    metadata: fields.MetadataGroups | None = None
    external_reference: Reference | None = None
    test: bool = False


class SimulationQuery(fields.Request):
    """Handling of taken references in a dry run."""

    on_conflict: Literal["error", "update", "skip"] = "error"


class BatchQuery(SimulationQuery):
    """Handling of taken references and of refused rows in a batch."""

    atomic: bool = False


class QueueItemUpdate(fields.Request):
    """The members that may change while an item is Pending; `status_id` 5 cancels it, other values do not act."""

    responder_channel_identifier: fields.Text320 | UnsetType = UNSET
    locale: fields.Locale | UnsetType | None = UNSET
    send_time: fields.Moment | UnsetType = UNSET
    metadata: fields.MetadataGroups | UnsetType = UNSET
    status_id: StatusId | UnsetType = UNSET
    result: str | UnsetType | None = UNSET


class QueueItem(fields.Resource):
    """A questionnaire that is to be sent, is being sent or was sent to one address."""

    item_id: fields.Id
    previous_item_id: fields.Id | None
    questionnaire_id: fields.Id
    responder_id: fields.Id | None
    responder_channel_identifier: str
    questionnaire_instance_id: fields.Id | None
    previous_questionnaire_instance_id: fields.Id | None
    status_id: StatusId
    pipeline_id: fields.Id
    locale: str | None
    send_time: Annotated[fields.DateTime, fields.offset_of("send_offset_minutes")]
    dispatched_time: fields.DateTime | None
    result: str | None
    retry_attempts: int | None
    created_time: fields.DateTime
    updated_time: fields.DateTime
    anonymized_time: fields.DateTime | None
    created_by: fields.Id | None
    updated_by: fields.Id | None
    external_reference: str | None
    source: str
    reason: str | None
    test: bool
    metadata: ResponseMetadata


QUEUE_ITEMS: Final = fields.listing_of(
    QueueItem, order=(("send_time", "desc"),), more=("metadata::text", "send_offset_minutes")
)


class StoredMetadata(msgspec.Struct):
    """The metadata of a row as text; nobody looks at the values."""

    questionnaire: msgspec.Raw = NO_VALUES
    responder: msgspec.Raw = NO_VALUES


_read_metadata: Final[Callable[[Any], Any]] = msgspec.json.Decoder(StoredMetadata).decode


def shown_of(rows: Sequence[Row], caller: Caller, zone: tzinfo) -> list[QueueItem]:
    """The items of rows, with the metadata that the caller's scopes open."""
    closed = [kind for kind, scope in VALUE_SCOPES.items() if scope not in caller.scopes]
    items = QueueItem.of_columns(rows, zone)
    for item in items:
        item.metadata = metadata = _read_metadata(item.metadata)
        for kind in closed:
            setattr(metadata, kind, NO_VALUES)
    return items


class BatchRow(fields.Answer):
    """The outcome of one row: 201 created, 200 changed or left as it was, 409 or 422 refused."""

    row: int
    status: int
    item_id: fields.Id | None
    external_reference: str | None
    problem: dict[str, Any] | None


class BatchResult(fields.Answer):
    """The outcomes of all rows, in their order."""

    results: list[BatchRow]
    created: int
    updated: int
    failed: int


class Check(fields.Answer):
    """The result of one rule."""

    rule: str
    passed: bool
    detail: str | None
    until_time: fields.DateTime | None
    leaves: list[LeafResult]


class SimulationRow(fields.Answer):
    """The forecast for one row. `segments` and `encoding` are of an SMS, which is paid by the segment."""

    row: int
    valid: bool
    verdict: Literal["go", "hold", "skip"] | None
    reason: str | None
    result: str | None
    planned_time: fields.DateTime | None
    time_zone: str | None
    locale: str | None
    responder_id: fields.Id | None
    checks: list[Check]
    subject: str | None
    body: str | None
    problem: dict[str, Any] | None
    segments: int | None
    encoding: Literal["gsm7", "ucs2"] | None


class Simulation(fields.Answer):
    """The forecasts for all rows, in their order."""

    results: list[SimulationRow]


class AttemptRecord(msgspec.Struct, frozen=True):
    """One attempt to send an item; `outcome` is null while it is under way."""

    attempt: int  # from 1
    begin_time: datetime
    finish_time: datetime | None
    channel_id: fields.ChannelId
    outcome: Literal["accepted", "accepted_late", "retry", "throttled", "refused", "unknown"] | None
    reply_code: int | None
    reply: str | None
    provider_reference: str | None


Attempt: Final = shown_as("Attempt", AttemptRecord)
ATTEMPTS: Final = fields.listing_of(Attempt, order=(("attempt", "asc"),), id="attempt_id")


class Trace(fields.Answer):
    """The decision about an item, rule by rule."""

    item_id: fields.Id
    status_id: StatusId
    decided_time: fields.DateTime
    verdict: Verdict
    reason: str | None
    result: str | None
    planned_time: fields.DateTime | None
    planned_local_time: str | None
    delay_summary: str | None
    time_zone: str
    locale: str
    checks: list[Check]
    undeclared_metadata: list[str]
    pipeline_summary: Annotated[str, Meta(description="The pipeline as it is now, in sentences.")]
    source_id: Annotated[fields.Id | None, Meta(description="The source whose event made the item, while it is kept.")]
    source_event_id: fields.Id | None


def checks_of(
    checks: Sequence[decisions.Check], *, zone: tzinfo, leaves: Sequence[conditions.LeafResult]
) -> list[Check]:
    """The results of the rules; `leaves` are those of the conditions."""
    shown = [LeafResult(**leaf.document) for leaf in leaves]
    return [
        Check(
            rule=each.rule,
            passed=each.verdict == "go",
            detail=each.text,
            until_time=times.format_optional(each.until, zone=zone),
            leaves=shown if each.rule == "conditions" else [],
        )
        for each in checks
    ]
