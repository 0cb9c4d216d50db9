"""Pipelines and queue items as the wire shows them and takes them."""

from datetime import datetime, time, tzinfo
from typing import Annotated, Any, Literal

from msgspec import Meta

from afterword.core import times
from afterword.queue import store
from afterword.queue.pipelines import store as pipelines_store
from afterword.web import fields
from afterword.web.fields import UNSET, UnsetType

Reference = Annotated[str, Meta(min_length=1, max_length=100, pattern=r"^[^\x00-\x1f\x7f-\x9f]+(?![\s\S])")]
StatusId = Literal[1, 2, 3, 4, 5, 6]
State = Literal["upcoming", "running", "paused", "ended"]


class QueueItemRequest(fields.Request):
    """What is to be sent, to whom and when."""

    responder_channel_identifier: fields.Text320
    locale: fields.Locale | None = None
    send_time: fields.Moment | None = None
    metadata: fields.MetadataGroups | None = None
    external_reference: Reference | None = None


class QueueItemUpdate(fields.Request):
    """What of an item may change while it is Pending; or `status_id` 5, which cancels. Other values do not act."""

    responder_channel_identifier: fields.Text320 | UnsetType = UNSET
    locale: fields.Locale | UnsetType | None = UNSET
    send_time: fields.Moment | UnsetType = UNSET
    metadata: fields.MetadataGroups | UnsetType = UNSET
    status_id: StatusId | UnsetType = UNSET
    result: str | UnsetType | None = UNSET


class QueueItem(fields.Answer):
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
    send_time: fields.DateTime
    dispatched_time: fields.DateTime | None
    result: str | None
    retry_attempts: int | None
    created_time: fields.DateTime
    updated_time: fields.DateTime
    anonymized_time: fields.DateTime | None
    created_by: fields.Id | None
    updated_by: fields.Id | None
    external_reference: str | None

    @classmethod
    def of(cls, item: store.ShownItem, zone: tzinfo) -> "QueueItem":
        """The item: `send_time` with the offset that was sent, recorded times in the organization's zone."""
        created_time = times.format_time(item.created_time, zone=zone)
        is_untouched = item.updated_time == item.created_time  # most of a list: its times are half of what a row costs
        return cls(  # by position, in the members' order: names would cost a third more of each row of a list
            item.item_id,
            item.previous_item_id,
            item.questionnaire_id,
            item.responder_id,
            item.responder_channel_identifier,
            item.questionnaire_instance_id,
            item.previous_questionnaire_instance_id,
            item.status_id.value,
            item.pipeline_id,
            item.locale,
            times.format_time(item.send_time, offset_minutes=item.send_offset_minutes),
            times.format_optional(item.dispatched_time, zone=zone),
            item.result,
            item.retry_attempts,
            created_time,
            created_time if is_untouched else times.format_time(item.updated_time, zone=zone),
            times.format_optional(item.anonymized_time, zone=zone),
            item.created_by,
            item.updated_by,
            item.external_reference,
        )


class Pipeline(fields.Answer):
    """How and when the items of a questionnaire are sent."""

    pipeline_id: fields.Id
    questionnaire_id: fields.Id
    application_id: fields.Id
    channel_id: int
    title: str
    description: str | None
    template_pipeline_id: fields.Id | None
    locale: str | None
    delay_cap_minutes: int
    delay_cap_hours: int
    delay_cap_days: int
    frequency_cap_minutes: int
    frequency_cap_hours: int
    frequency_cap_days: int
    message_subject: str | None
    message_body: str | None
    messages: dict[str, dict[str, str]]
    start_time: fields.DateTime | None
    end_time: fields.DateTime | None
    dispatch_start_time: str | None
    dispatch_end_time: str | None
    time_zone: str | None
    zone_of: str
    weekdays: list[int]
    conditions: dict[str, Any] | None
    sender_name: str | None
    sender_address: str | None
    reply_to: str | None
    max_retry_attempts: int
    not_after_days: int
    priority: int
    paused: bool
    if_outside: str
    if_capped: str
    policy_exempt: bool
    reminders: list[dict[str, Any]]
    target_url: str | None
    state: State
    created_time: fields.DateTime
    updated_time: fields.DateTime
    created_by: fields.Id | None
    updated_by: fields.Id | None

    @classmethod
    def of(cls, pipeline: pipelines_store.Pipeline, *, zone: tzinfo, now: datetime) -> "Pipeline":
        """The pipeline with its times in the organization's zone."""
        values: dict[str, Any] = {name: getattr(pipeline, name, None) for name in cls.__struct_fields__}
        values |= {
            "start_time": times.format_optional(pipeline.start_time, zone=zone),
            "end_time": times.format_optional(pipeline.end_time, zone=zone),
            "dispatch_start_time": _clock(pipeline.dispatch_start_time),
            "dispatch_end_time": _clock(pipeline.dispatch_end_time),
            "state": _state(pipeline, now),
            "created_time": times.format_time(pipeline.created_time, zone=zone),
            "updated_time": times.format_time(pipeline.updated_time, zone=zone),
        }
        return cls(**values)


def _clock(clock: time | None) -> str | None:
    return None if clock is None else f"{clock:%H:%M}"


def _state(pipeline: pipelines_store.Pipeline, now: datetime) -> State:
    if pipeline.end_time is not None and now >= pipeline.end_time:
        return "ended"
    if pipeline.paused:
        return "paused"
    if pipeline.start_time is not None and now < pipeline.start_time:
        return "upcoming"
    return "running"
