"""Routes of pipelines."""

from typing import Any, Final

from afterword.asking.questionnaires import access
from afterword.kit.db import Database
from afterword.kit.web.operations import Answer, Call, Routes
from afterword.sending.pipelines import service, store
from afterword.sending.pipelines.resources import Pipeline, PipelineRequest, PipelineUpdate, pipeline_of

PATH: Final = "/q/questionnaire/{questionnaire_id}/pipeline"
NEEDS: Final = (
    "E-mail needs `message_subject` and `message_body`, SMS a `message_body` of at most 1,600 characters, a webhook "
    "`target_url`. Texts may use only known variables; conditions may ask for metadata alone."
)

routes = Routes(tag="Pipelines", scope="Pipeline")


@routes.list(PATH, answer=Pipeline, shape="array", summary="Get all questionnaire pipelines")
async def list_pipelines(call: Call[None], db: Database) -> Answer:
    await access.get(db, caller=call.caller, **call.ids)
    rows = await store.list_pipelines(db, organization_id=call.caller.organization_id, **call.ids, page=call.page)
    zone, now = call.zone, call.now
    return Answer(rows.map(lambda pipeline: pipeline_of(pipeline, zone, now)))


@routes.list("/q/pipeline", answer=Pipeline, summary="Get all pipelines")
async def list_all_pipelines(call: Call[None], db: Database) -> Answer:
    rows = await store.list_pipelines(db, **call.caller.part, page=call.page)
    zone, now = call.zone, call.now
    return Answer(rows.map(lambda pipeline: pipeline_of(pipeline, zone, now)))


@routes.post(
    PATH,
    answer=Pipeline,
    summary="Create a pipeline",
    description=f"{NEEDS} What is left out is copied from `template_pipeline_id`, else has its default.",
)
async def add_pipeline(call: Call[PipelineRequest], db: Database) -> Answer:
    pipeline = await service.add_pipeline(db, **call.ids, fields=call.body.given, **call.acting)
    location = f"/q/questionnaire/{pipeline.questionnaire_id}/pipeline/{pipeline.pipeline_id}"
    return _answer(call, pipeline, location=location)


@routes.get(f"{PATH}/{{pipeline_id}}", answer=Pipeline, summary="Get Pipeline")
async def get_pipeline(call: Call[None], db: Database) -> Answer:
    return _answer(call, await service.get(db, **call.ids, caller=call.caller))


@routes.patch(
    f"{PATH}/{{pipeline_id}}",
    answer=Pipeline,
    summary="Change, pause or resume a pipeline",
    description=f"`paused` acts at once: what is being sent ends, nothing more begins. {NEEDS}",
)
async def change_pipeline(call: Call[PipelineUpdate], db: Database) -> Answer:
    changes, expect = call.body.given, call.expect
    return _answer(call, await service.change_pipeline(db, **call.ids, changes=changes, expect=expect, **call.acting))


@routes.delete(
    f"{PATH}/{{pipeline_id}}",
    summary="Delete a pipeline",
    description="Refused while items of it are Pending or Processing. Those that have ended stay where they are.",
    refusals=("in_use",),
)
async def delete_pipeline(call: Call[None], db: Database) -> None:
    await service.delete_pipeline(db, **call.ids, caller=call.caller, expect=call.expect, now=call.now)


def _answer(call: Call[Any], pipeline: store.Pipeline, *, location: str | None = None) -> Answer:
    return Answer(pipeline_of(pipeline, call.zone, call.now), version=pipeline.version, location=location)
