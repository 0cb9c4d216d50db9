"""The HTTP interface of published versions; POST publishes the draft."""

from datetime import tzinfo
from typing import Annotated, Any, Final

from msgspec import Meta

from afterword.core.questionnaires import drafts
from afterword.db import Database
from afterword.questionnaires import access
from afterword.questionnaires import service as questionnaires
from afterword.questionnaires.versions import store
from afterword.web import fields
from afterword.web.operations import Answer, Call, Routes

routes = Routes(tag="Questionnaires")

VERSIONS: Final = "/q/questionnaire/{questionnaire_id}/version"
Note = Annotated[str, Meta(max_length=1000, examples=["Asks for the carrier"])]


class PublicationRequest(fields.Request):
    """The author's note on the new version."""

    note: Note | None = None


class QuestionnaireVersion(fields.Resource):
    """A published version; it never changes."""

    version_id: fields.Id
    questionnaire_id: fields.Id
    number: int
    note: str | None
    definition: dict[str, Any]
    checksum: str
    published_time: fields.DateTime
    published_by: fields.Id | None


@routes.list(
    VERSIONS,
    scope="Questionnaire Version.Read",
    answer=QuestionnaireVersion,
    shape="array",
    listing=fields.listing_of(QuestionnaireVersion, order=(("number", "desc"),)),
    summary="Get all questionnaire versions",
)
async def list_versions(call: Call[None], db: Database) -> Answer:
    questionnaire = await access.get(db, caller=call.caller, **call.ids)
    rows = await store.list_versions(db, **questionnaire.key, page=call.page)
    return Answer(rows.map(lambda version: _shown(version, call.zone)))


@routes.post(
    VERSIONS,
    scope="Questionnaire Version.Create",
    body=PublicationRequest,
    answer=QuestionnaireVersion,
    summary="Publish draft",
    description=(
        "The draft's errors refuse it, with pointers into the draft. One that says what the published version says "
        "makes no version: 200 and the published one."
    ),
    refusals=("not_ready", "questionnaire_inactive"),
    other_statuses=(200,),
)
async def publish_draft(call: Call[PublicationRequest], db: Database) -> Answer:
    version, is_new = await questionnaires.publish(
        db, caller=call.caller, **call.ids, note=call.body.note, now=call.now
    )
    path = f"/q/questionnaire/{version.questionnaire_id}/version/{version.version_id}"
    answer = await _one(call, db, version.version_id)
    answer.status, answer.location = (201, path) if is_new else (200, None)
    return answer


@routes.get(
    f"{VERSIONS}/{{version_id}}",
    scope="Questionnaire Version.Read",
    answer=QuestionnaireVersion,
    summary="Get questionnaire version",
)
async def get_version(call: Call[None], db: Database) -> Answer:
    await access.get(db, caller=call.caller, questionnaire_id=call.ids["questionnaire_id"])
    return await _one(call, db, call.ids["version_id"])


async def _one(call: Call[Any], db: Database, version_id: str) -> Answer:
    version = await store.get_version(
        db,
        organization_id=call.caller.organization_id,
        questionnaire_id=call.ids["questionnaire_id"],
        version_id=version_id,
    )
    return Answer(_shown(version, call.zone), version=version.number)


def _shown(version: store.PublishedVersion, zone: tzinfo) -> QuestionnaireVersion:
    return QuestionnaireVersion.of(version, zone, definition=drafts.shown(version.definition))
