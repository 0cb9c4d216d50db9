"""Pipelines as the wire shows them and takes them."""

from datetime import datetime, time, tzinfo
from typing import Annotated, Any, Literal, cast

import msgspec
from msgspec import Meta

from afterword.core.messaging import placeholders as messages
from afterword.core.wire import times
from afterword.pipelines import store
from afterword.web import fields
from afterword.web.fields import UNSET, UnsetType

State = Literal["upcoming", "running", "paused", "ended"]
Minutes = Annotated[int, Meta(ge=0, le=59)]
Hours = Annotated[int, Meta(ge=0, le=23)]
Days = Annotated[int, Meta(ge=0, le=365)]
Clock = Annotated[str, Meta(extra=fields.CLOCK, examples=["09:00"])]
Line100 = Annotated[str, Meta(min_length=1, max_length=100, extra=fields.LINE)]
Subject = Annotated[str, Meta(min_length=1, max_length=messages.SUBJECT_CHARACTERS_MAX, extra=fields.LINE)]
Body = Annotated[str, Meta(min_length=1, max_length=messages.TEXT_CHARACTERS_MAX)]
Weekdays = Annotated[list[Annotated[int, Meta(ge=1, le=7)]], Meta(min_length=1, max_length=7)]


class MessageTexts(fields.Request):
    """The texts of a message in one language."""

    body: Body
    subject: Subject | None = None


class Reminder(fields.Request):
    """A message that follows an unanswered one, so long after it."""

    delay_days: Days = 0
    delay_hours: Hours = 0
    delay_minutes: Minutes = 0
    messages: dict[str, MessageTexts] = msgspec.field(default_factory=dict[str, MessageTexts])


Reminders = Annotated[list[Reminder], Meta(max_length=3)]


class PipelineFields(fields.Request):
    """The members of a new pipeline and of a change."""

    description: fields.Text2000 | UnsetType | None = UNSET
    locale: fields.Locale | UnsetType | None = UNSET
    delay_cap_minutes: Minutes | UnsetType = UNSET
    delay_cap_hours: Hours | UnsetType = UNSET
    delay_cap_days: Days | UnsetType = UNSET
    frequency_cap_minutes: Minutes | UnsetType = UNSET
    frequency_cap_hours: Hours | UnsetType = UNSET
    frequency_cap_days: Days | UnsetType = UNSET
    message_subject: Subject | UnsetType | None = UNSET
    message_body: Body | UnsetType | None = UNSET
    messages: dict[str, MessageTexts] | UnsetType = UNSET
    start_time: fields.Moment | UnsetType | None = UNSET
    end_time: fields.Moment | UnsetType | None = UNSET
    dispatch_start_time: Clock | UnsetType | None = UNSET
    dispatch_end_time: Clock | UnsetType | None = UNSET
    time_zone: fields.Zone | UnsetType | None = UNSET
    zone_of: Literal["recipient", "organization"] | UnsetType = UNSET
    weekdays: Weekdays | UnsetType = UNSET
    conditions: dict[str, Any] | UnsetType | None = UNSET
    sender_name: Line100 | UnsetType | None = UNSET
    sender_address: fields.Text320 | UnsetType | None = UNSET
    reply_to: fields.Text320 | UnsetType | None = UNSET
    max_retry_attempts: Annotated[int, Meta(ge=0, le=20)] | UnsetType = UNSET
    not_after_days: Annotated[int, Meta(ge=1, le=365)] | UnsetType = UNSET
    priority: Annotated[int, Meta(ge=0, le=9)] | UnsetType = UNSET
    paused: bool | UnsetType = UNSET
    if_outside: Literal["wait", "skip"] | UnsetType = UNSET
    if_capped: Literal["wait", "skip"] | UnsetType = UNSET
    policy_exempt: bool | UnsetType = UNSET
    on_holidays: Literal["wait", "send"] | UnsetType = UNSET
    reminders: Reminders | UnsetType = UNSET
    target_url: fields.Url | UnsetType | None = UNSET

    @property
    def given(self) -> dict[str, Any]:
        return {
            name: _column(name, value) for name in self.__struct_fields__ if (value := getattr(self, name)) is not UNSET
        }


class PipelineUpdate(PipelineFields, kw_only=True):
    """The members that may change; `paused` true holds its items at once, false releases them."""

    title: fields.Text200 | UnsetType = UNSET


class PipelineRequest(PipelineFields, kw_only=True):
    """A new pipeline. What is left out is copied from `template_pipeline_id`, else has its default."""

    channel_id: fields.ChannelId
    title: fields.Text200
    template_pipeline_id: fields.Id | None = None


class Pipeline(fields.Resource):
    """A pipeline: how and when the items of a questionnaire are sent."""

    pipeline_id: fields.Id
    questionnaire_id: fields.Id
    application_id: fields.Id
    channel_id: fields.ChannelId
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
    messages: dict[str, dict[str, str | None]]
    start_time: fields.DateTime | None
    end_time: fields.DateTime | None
    dispatch_start_time: Annotated[fields.ClockTime, fields.column("dispatch_start_clock")] | None
    dispatch_end_time: Annotated[fields.ClockTime, fields.column("dispatch_end_clock")] | None
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
    on_holidays: str
    reminders: list[dict[str, Any]]
    target_url: str | None
    state: fields.Computed[State]
    created_time: fields.DateTime
    updated_time: fields.DateTime
    created_by: fields.Id | None
    updated_by: fields.Id | None


def pipeline_of(pipeline: store.Pipeline, zone: tzinfo, now: datetime) -> Pipeline:
    return Pipeline.of(pipeline, zone, state=state_of(pipeline, now))


def state_of(pipeline: store.Pipeline, now: datetime) -> State:
    if pipeline.end_time is not None and now >= pipeline.end_time:
        return "ended"
    if pipeline.paused:
        return "paused"
    if pipeline.start_time is not None and now < pipeline.start_time:
        return "upcoming"
    return "running"


def _column(name: str, value: Any) -> Any:
    if isinstance(value, times.Moment):
        return value.instant
    if name in {"dispatch_start_time", "dispatch_end_time"} and value is not None:
        return time.fromisoformat(value)
    if name == "weekdays":
        return sorted(set(cast("list[int]", value)))
    if name in {"messages", "reminders"}:
        return msgspec.to_builtins(value)
    return value
