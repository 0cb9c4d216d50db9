"""The route that tries a rule before it is saved."""

from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from afterword.cases.previews import service
from afterword.cases.resources import Assignment, Ids
from afterword.kit.db import Database
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call, Routes

PATH: Final = "/alert/preview"

routes = Routes(tag="Alerts")


class AlertPreviewRequest(fields.Request):
    """The part of a rule that decides which responses it matches."""

    application_id: fields.Id
    questionnaire_ids: Ids = msgspec.field(default_factory=list[str])
    trigger: Literal["submitted", "completed"] = "completed"
    conditions: dict[str, Any] | None = None
    assigned_user_id: fields.Id | None = None
    assignment: Assignment | None = None


class AlertPreviewOwner(fields.Resource):
    """The cases that a user would own; null: nobody."""

    user_id: fields.Id | None
    cases: Annotated[int, Meta(description="Those that would go to this user.")]


class AlertPreview(fields.Resource):
    """Of the newest `responses`, since `from_time`, `matched` would have been matched."""

    responses: int
    matched: int
    from_time: fields.DateTime | None
    owners: Annotated[
        list[AlertPreviewOwner],
        Meta(
            description=f"With `assignment`: of the newest {service.ASSIGNED_MAX} that matched, as if their cases were "
            "opened now."
        ),
    ]


@routes.post(
    PATH,
    scope="Alert.Create",
    body=AlertPreviewRequest,
    answer=AlertPreview,
    status=200,
    summary="Try an alert before it is saved",
    description=(
        f"Nothing is stored. The newest {service.RESPONSES_MAX:,} responses are looked at as they are now, without "
        f"tests, among the newest {service.SCANNED_MAX:,} of the organization. All is checked as on saving."
    ),
)
async def preview_alert(call: Call[AlertPreviewRequest], db: Database) -> Answer:
    columns = {
        **call.body.named(),
        "questionnaire_ids": list(dict.fromkeys(call.body.questionnaire_ids)),
        "assignment": msgspec.to_builtins(call.body.assignment),
    }
    found = await service.preview(db, caller=call.caller, columns=columns)
    owners = [AlertPreviewOwner.of(one) for one in found.owners]
    return Answer(AlertPreview.of(found, call.zone, owners=owners))
