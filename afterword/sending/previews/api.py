"""The HTTP interface of previews: gives the address of a draft's answer page."""

from datetime import UTC, datetime
from typing import Literal
from urllib.parse import urlencode

from afterword.core.wire import times
from afterword.kit.db import Database
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call, Routes
from afterword.sending.previews import service
from afterword.tenants.organizations.applications import Brand

routes = Routes(tag="Questionnaires")


class DraftPreviewRequest(fields.Request):
    """The view of the draft."""

    locale: fields.Locale | None = None
    question_id: fields.Id | None = None
    ending_id: fields.Id | None = None
    responder_id: fields.Id | None = None
    brand: Brand | None = None
    brand_level: Literal["organization", "application"] = "application"


class DraftPreview(fields.Answer):
    """The addresses of the answer page of a draft, and of its invitation mail."""

    url: str
    mail_url: str
    expires_time: fields.DateTime


@routes.post(
    "/q/questionnaire/{questionnaire_id}/draft/preview",
    scope="Questionnaire.Read",
    body=DraftPreviewRequest,
    answer=DraftPreview,
    summary="Preview draft",
    description=(
        "The answer page of the draft as it stands whenever the address is opened, for an hour. Nothing is stored and "
        "nothing counted. `responder_id` needs `Responder.Read`. `brand` is shown in place of the stored one of "
        "`brand_level`, to look at it before it is saved."
    ),
    status=200,
)
async def preview_draft(call: Call[DraftPreviewRequest], db: Database) -> Answer:
    body = call.body
    permission = await service.permit(
        db,
        caller=call.caller,
        **call.ids,
        question_id=body.question_id,
        ending_id=body.ending_id,
        responder_id=body.responder_id,
        brand=body.brand,
        brand_level=body.brand_level,
        now=call.now,
    )
    named = (("locale", body.locale), ("question", body.question_id), ("ending", body.ending_id))
    query = {name: value for name, value in named if value}
    address, asked = service.address_of(permission, site=call.site), f"?{urlencode(query)}" if query else ""
    expires_time = times.format_time(datetime.fromtimestamp(permission.ends, UTC), zone=call.zone)
    return Answer(DraftPreview(url=address + asked, mail_url=address + service.MAIL + asked, expires_time=expires_time))
