"""The HTTP route of quotas."""

from typing import Annotated

from msgspec import Meta

from afterword.core.questionnaires import endings
from afterword.db import Database
from afterword.instances.quotas import service
from afterword.questionnaires import access
from afterword.questionnaires import store as questionnaires_store
from afterword.web import fields
from afterword.web.operations import Answer, Call, Routes

routes = Routes(tag="Questionnaires")


class Quota(fields.Answer):
    """An ending with `responses_max`, and the complete responses that count toward it."""

    ending_id: Annotated[fields.Id, Meta(description="The ending, which is the quota's id in `full_quota_id` too.")]
    title: Annotated[str, Meta(description="Its title, else the beginning of its text.")]
    responses_max: Annotated[int, Meta(description="From this number on, people whose answers match see the ending.")]
    responses_count: Annotated[int, Meta(description="Complete responses that count toward it, up to `responses_max`.")]


@routes.get(
    "/q/questionnaire/{questionnaire_id}/quota",
    scope="Questionnaire.Read",
    answer=Quota,
    shape="array",
    summary="Get quotas of a questionnaire",
    description=(
        "Those of the published version. A response counts once it is complete, with the answers that it has then; "
        "tests, and those held back or rejected, do not."
    ),
)
async def list_quotas(call: Call[None], db: Database) -> Answer:
    questionnaire = await access.get(db, caller=call.caller, **call.ids)
    if questionnaire.published_version_id is None:
        return Answer([])
    version = await questionnaires_store.get_version(
        db, organization_id=questionnaire.organization_id, version_id=questionnaire.published_version_id
    )
    found = await service.places(db, organization_id=questionnaire.organization_id, definition=version.definition)
    return Answer(
        [
            Quota(
                ending_id=one.ending_id,
                title=endings.name_of(one),
                responses_max=one.responses_max or 0,
                responses_count=count,
            )
            for one, count in found
        ]
    )
