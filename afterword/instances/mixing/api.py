"""The HTTP route of answers that wait to be mixed."""

from typing import Annotated

from msgspec import Meta

from afterword.db import Database
from afterword.instances.mixing import store
from afterword.instances.mixing.service import TOGETHER_MIN
from afterword.questionnaires import access
from afterword.questionnaires import store as questionnaires_store
from afterword.web import fields
from afterword.web.operations import Answer, Call, Routes

routes = Routes(tag="Questionnaires")


class Anonymity(fields.Answer):
    """The anonymity of a questionnaire, and the answers to it that nobody can see yet."""

    anonymous: Annotated[bool, Meta(description="Whether invitations that are issued now are anonymous.")]
    waiting_count: Annotated[int, Meta(description="Answers that wait for those of others, of all versions.")]
    together_min: Annotated[int, Meta(description="So many answers to one version become responses at once.")]


@routes.get(
    "/q/questionnaire/{questionnaire_id}/anonymity",
    scope="Questionnaire.Read",
    answer=Anonymity,
    summary="Get anonymity of a questionnaire",
    description="Set it with `anonymous` in the draft. Instances keep that of the version with which they were issued.",
)
async def get_anonymity(call: Call[None], db: Database) -> Answer:
    questionnaire = await access.get(db, caller=call.caller, **call.ids)
    is_anonymous = False
    if questionnaire.published_version_id is not None:
        version = await questionnaires_store.get_version(
            db, organization_id=questionnaire.organization_id, version_id=questionnaire.published_version_id
        )
        is_anonymous = version.definition.anonymous
    return Answer(
        Anonymity(
            anonymous=is_anonymous,
            waiting_count=await store.count_waiting(db, **questionnaire.key),
            together_min=TOGETHER_MIN,
        )
    )
