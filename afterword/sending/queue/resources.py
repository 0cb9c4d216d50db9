"""Queue items as the wire shows them and takes them."""

from collections.abc import Sequence
from datetime import tzinfo
from typing import Annotated, Any, Final, Literal

from msgspec import Meta

from afterword.asking.instances.resources import LeafResult, ResponseMetadata
from afterword.core.questionnaires import conditions
from afterword.core.scheduling import decisions
from afterword.core.wire import times
from afterword.kit.web import fields
from afterword.kit.web.fields import UNSET, UnsetType

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
Verdict = Literal["go", "hold", "skip", "done"]


class QueueItemRequest(fields.Request):
    """A questionnaire to send: the address, the time, the metadata."""

    responder_channel_identifier: fields.Text320
    locale: fields.Locale | None = None
    send_time: fields.Moment | None = None
    metadata: fields.MetadataGroups | None = None
    external_reference: Reference | None = None
    test: bool = False


class BatchQuery(fields.Request):
    """Handling of taken references and of refused rows in a batch."""

    on_conflict: Literal["error", "update", "skip"] = "error"
    atomic: bool = False


class SimulationQuery(fields.Request):
    """Handling of taken references in a dry run."""

    on_conflict: Literal["error", "update", "skip"] = "error"


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
    QueueItem, order=(("send_time", "desc"),), more=("send_offset_minutes", "metadata")
)
shown_of: Final = QueueItem.row_reader("metadata")


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


class Attempt(fields.Resource):
    """One attempt to send an item; `outcome` is null while it is under way."""

    attempt: int
    begin_time: fields.DateTime
    finish_time: fields.DateTime | None
    channel_id: fields.ChannelId
    outcome: Literal["accepted", "accepted_late", "retry", "throttled", "refused", "unknown"] | None
    reply_code: int | None
    reply: str | None
    provider_reference: str | None


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
    time_zone: str
    locale: str
    checks: list[Check]
    undeclared_metadata: list[str]
    pipeline_summary: Annotated[str, Meta(description="The pipeline as it is now, in sentences.")]


def checks_of(
    checks: Sequence[decisions.Check], *, zone: tzinfo, leaves: Sequence[conditions.LeafResult]
) -> list[Check]:
    """The results of the rules; `leaves` are those of the conditions."""
    shown = [LeafResult.of(leaf) for leaf in leaves]
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
