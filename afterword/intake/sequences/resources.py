"""Sequences as the wire shows them and takes them."""

from typing import Any, Literal

from afterword.web import fields
from afterword.web.fields import UNSET, UnsetType

Kind = Literal["manual", "recovery", "review"]
Trigger = Literal["submitted", "completed"]


class SequenceRequest(fields.Request):
    """Which responses put an item into which pipeline; no `conditions`: every response."""

    title: fields.Text200
    from_questionnaire_id: fields.Id
    pipeline_id: fields.Id
    kind: Kind = "manual"
    trigger: Trigger = "submitted"
    conditions: dict[str, Any] | None = None
    active: bool = True


class SequenceUpdate(fields.Request):
    """The members that may change; existing items stay as they are."""

    title: fields.Text200 | UnsetType = UNSET
    pipeline_id: fields.Id | UnsetType = UNSET
    trigger: Trigger | UnsetType = UNSET
    conditions: dict[str, Any] | UnsetType | None = UNSET
    active: bool | UnsetType = UNSET


class Sequence(fields.Resource):
    """A rule by which a response to one questionnaire puts an item into the queue of another."""

    sequence_id: fields.Id
    organization_id: fields.Id
    title: str
    kind: Kind
    from_questionnaire_id: fields.Id
    pipeline_id: fields.Id
    trigger: Trigger
    conditions: dict[str, Any] | None
    active: bool
    created_time: fields.DateTime
    updated_time: fields.DateTime
    created_by: fields.Id | None
    updated_by: fields.Id | None
