"""The request and answer structs of alerts, their statuses, cases and comments."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from afterword.kit.web import fields
from afterword.kit.web.fields import UNSET, UnsetType

Trigger = Literal["submitted", "completed", "schedule", "call_back"]
Severity = Literal["low", "normal", "high", "critical"]
Color = Annotated[str, Meta(extra=fields.COLOR, examples=["#1a6b72"])]
StatusId = Annotated[int, Meta(ge=1, le=999_999_999)]
Ids = Annotated[list[fields.Id], Meta(max_length=100)]
ChatIds = Annotated[list[fields.Id], Meta(max_length=10)]
ChatUrls = Annotated[list[fields.Url], Meta(max_length=10)]
DueHours = Annotated[int, Meta(ge=1, le=720)]
FoldHours = Annotated[int, Meta(ge=0, le=720)]
Position = Annotated[int, Meta(ge=0, le=1_000_000)]
Text5000 = Annotated[str, Meta(min_length=1, max_length=5000)]
Subject = Annotated[
    str, Meta(min_length=1, max_length=300, extra=fields.LINE, examples=["questionnaire_metadata:store"])
]
Number = Annotated[str, Meta(min_length=1, max_length=50, extra=fields.LINE, examples=["+30 210 1234567"])]
Choice = Annotated[str, Meta(min_length=1, max_length=100, extra=fields.LINE, examples=["Late delivery"])]
Description500 = Annotated[str, Meta(max_length=500)]


def unique(given: list[str]) -> list[str]:
    return list(dict.fromkeys(given))


class AssignmentChoice(fields.Request):
    """The users for cases whose field has this value."""

    value: fields.Text200
    user_ids: Annotated[list[fields.Id], Meta(min_length=1, max_length=20)]


class Assignment(fields.Request):
    """Owners of new cases by the value of a field, as conditions name it; `user_ids`: for all other cases.

    Of several users the one with the fewest open cases gets it.
    """

    subject: Subject | None = None
    choices: Annotated[list[AssignmentChoice], Meta(max_length=50)] = msgspec.field(
        default_factory=list[AssignmentChoice]
    )
    user_ids: Annotated[list[fields.Id], Meta(max_length=50)] = msgspec.field(default_factory=list[str])


class AlertInstanceUpdate(fields.Request):
    """Changes of a case."""

    status_id: StatusId | UnsetType = UNSET
    assigned_user_id: fields.Id | UnsetType | None = UNSET
    severity: Severity | UnsetType = UNSET
    due_time: fields.Moment | UnsetType | None = UNSET
    waiting: bool | UnsetType = UNSET
    call_back_time: fields.Moment | UnsetType | None = UNSET
    call_back_number: Number | UnsetType | None = UNSET
    cause: Choice | UnsetType | None = UNSET
    remedy: Choice | UnsetType | None = UNSET


class AlertMessageRequest(fields.Request):
    """A reply to the customer by mail, and changes of the case that go with it."""

    subject: fields.Text200
    body: Annotated[str, Meta(min_length=1, max_length=20_000)]
    waiting: bool | UnsetType = UNSET
    status_id: StatusId | UnsetType = UNSET
    cause: Choice | UnsetType | None = UNSET
    remedy: Choice | UnsetType | None = UNSET


class AlertCommentRequest(fields.Request):
    """A comment on a case."""

    body: Text5000


class AlertCommentUpdate(fields.Request):
    """The new text of the caller's own comment."""

    body: Text5000 | UnsetType = UNSET
