"""The route of the versions of a pipeline."""

from datetime import tzinfo
from typing import Annotated, Final

from afterword.core.wire.lists import Rows
from afterword.kit.db import Database
from afterword.kit.texts import ISOLATE_END, ISOLATE_FIRST, SOURCE_LANGUAGE, texts
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call, Routes
from afterword.sending.pipelines import service as pipelines
from afterword.sending.pipelines.versions import service
from afterword.sending.pipelines.versions.service import Version

PATH: Final = "/q/questionnaire/{questionnaire_id}/pipeline/{pipeline_id}/version"

routes = Routes(tag="Pipelines")


class PipelineChange(fields.Answer):
    """A clause of the pipeline's sentences that a version changed. `before`: what it said, where that is known."""

    part: str
    after: str
    before: str | None


class PipelineVersion(fields.Resource):
    """A change of a pipeline, by whom, and in sentences; the oldest is its making."""

    version_id: Annotated[fields.Id, fields.named("entry_id")]
    created_time: fields.DateTime
    actor_kind: str
    actor_id: fields.Id | None
    action: str
    changes: fields.Computed[list[PipelineChange]]


VERSIONS: Final = fields.listing_of(PipelineVersion)


@routes.list(
    PATH,
    scope="Pipeline.Read",
    answer=PipelineVersion,
    listing=VERSIONS,
    summary="Get the versions of a pipeline",
    description=(
        "The newest first, with the clauses of `summary` that each changed. Kept two years, as the audit log is; "
        "changes before the newest 1,000 have no sentences. A PATCH with the members of before takes one back."
    ),
)
async def list_pipeline_versions(call: Call[None], db: Database) -> Answer:
    pipeline = await pipelines.get(db, caller=call.caller, **call.ids)
    found: Rows[Version] = await service.list_versions(db, pipeline=pipeline, page=call.page)
    zone = call.zone
    return Answer(found.map(lambda version: _shown(version, zone)))


def _shown(version: Version, zone: tzinfo) -> PipelineVersion:
    words = texts("console", SOURCE_LANGUAGE)
    changes = [
        PipelineChange(part=one.part, after=_plain(one.after), before=one.before and _plain(one.before))
        for one in service.differences_of(words, version, time_zone=str(zone))
    ]
    return PipelineVersion.of(version.entry, zone, changes=changes)


def _plain(text: str) -> str:
    return text.replace(ISOLATE_FIRST, "").replace(ISOLATE_END, "")
