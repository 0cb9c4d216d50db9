"""The HTTP routes of doubtful responses."""

from typing import Annotated, Final

from msgspec import Meta

from afterword.asking.instances.spam import service, store
from afterword.asking.instances.spam.service import Decision
from afterword.asking.instances.spam.store import State
from afterword.core.answers.suspicion import Flag
from afterword.kit.db import Database
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call, Routes

PATH: Final = "/q/response/doubtful"
routes = Routes(tag="Responses")


class DoubtfulQuery(fields.Request):
    """The doubtful responses that are listed."""

    state: Annotated[State, Meta(description="`marked`: never held back.")] = "held"
    flag: Annotated[Flag | None, Meta(description="Those with this sign.")] = None


class DoubtfulResponse(fields.Resource):
    """A response with signs of a machine or of haste."""

    instance_id: fields.Id
    questionnaire_id: fields.Id
    link_id: Annotated[fields.Id | None, Meta(description="The public link at which it began.")]
    submitted_time: Annotated[fields.DateTime, Meta(description="When its first answer came.")]
    flags: Annotated[fields.Computed[list[Flag]], Meta(description="The first three hold a response back.")]
    state: fields.Computed[State]


class JudgementRequest(fields.Request):
    """A judgement of responses that were held back."""

    instance_ids: Annotated[
        Annotated[list[fields.Id], Meta(min_length=1, max_length=service.JUDGED_MAX)],
        Meta(description="Each is judged that was held back and not judged so before."),
    ]
    judgement: Annotated[Decision, Meta(description="Can be reversed by the other one.")]


class JudgementResult(fields.Answer):
    """The outcome of a judgement."""

    count: Annotated[int, Meta(description="The responses that were not judged so before.")]


LISTING: Final = fields.listing_of(DoubtfulResponse, order=(("submitted_time", "desc"),))


@routes.list(
    PATH,
    scope="Questionnaire Instance.Read",
    answer=DoubtfulResponse,
    query=DoubtfulQuery,
    listing=LISTING,
    summary="Get all doubtful responses",
    description="`held` and `rejected` ones count nowhere, `accepted` and `marked` ones do.",
)
async def list_doubtful_responses(call: Call[None], db: Database) -> Answer:
    query: DoubtfulQuery = call.query
    rows = await store.list_doubtful(db, **call.caller.reach, state=query.state, flag=query.flag, page=call.page)
    return Answer(record=rows)


@routes.post(
    f"{PATH}/judgement",
    scope="Questionnaire Instance.Update",
    body=JudgementRequest,
    answer=JudgementResult,
    status=200,
    summary="Accept or reject responses that were held back",
    description="Accepted ones count from now on, with their own times, and get the events of a response. Responses "
    "that were never held back stay as they are.",
)
async def judge_responses(call: Call[JudgementRequest], db: Database) -> Answer:
    count = await service.judge(
        db, caller=call.caller, instance_ids=call.body.instance_ids, decision=call.body.judgement, now=call.now
    )
    return Answer(JudgementResult(count=count))
