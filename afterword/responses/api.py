"""The HTTP routes of responses of all questionnaires."""

from typing import Annotated, Final, Literal

from msgspec import Meta

from afterword.db import Database
from afterword.responses import service, store
from afterword.web import fields
from afterword.web.operations import Answer, Call, Routes

TAG_CHARACTERS_MAX: Final = 50
routes = Routes(tag="Responses")


def _about(text: str) -> Meta:
    return Meta(description=text)


class ResponseQuery(fields.Request):
    """The responses that are listed."""

    only: Annotated[
        Literal["comment", "unhappy"] | None,
        Meta(description="With words of the person; or with a score of a detractor, or of somebody dissatisfied."),
    ] = None
    tag: Annotated[str, Meta(min_length=1, max_length=TAG_CHARACTERS_MAX)] | None = None


class Response(fields.Resource):
    """A response with what tells most of it. `band`: by the segments of the question with the score."""

    instance_id: fields.Id
    questionnaire_id: fields.Id
    submitted_time: fields.DateTime
    locale: str
    channel_id: int | None
    responder_id: fields.Id | None
    external_reference: fields.Computed[str | None]
    score_question_id: Annotated[fields.Computed[fields.Id | None], _about("The question with the score.")]
    score: Annotated[
        fields.Computed[int | None], _about("The first answered question of nps, csat, ces, smileys, rating.")
    ]
    band: Annotated[
        fields.Computed[Literal["detractor", "passive", "promoter"] | None],
        _about("The segment of the score; of csat and ces the dissatisfied are detractors."),
    ]
    comment: Annotated[
        fields.Computed[str | None], _about("The first thousand characters of the first answer in words.")
    ]
    tags: Annotated[fields.Computed[list[str]], _about("The first twenty, in order.")]
    alert_instance_id: Annotated[fields.Computed[fields.Id | None], _about("The newest open case.")]


@routes.list(
    "/q/response",
    scope="Questionnaire Instance.Read",
    answer=Response,
    query=ResponseQuery,
    listing=fields.listing_of(Response, order=(("submitted_time", "desc"),)),
    summary="Get all responses",
    description="Those of all questionnaires, the newest first, without tests. The case is the open one.",
)
async def list_responses(call: Call[None], db: Database) -> Answer:
    questions = await service.questions_of(db, caller=call.caller, questionnaire_id=None)
    rows = await store.list_response_page(
        db,
        **call.caller.reach,
        questions=questions.listed,
        chosen=store.Filter(
            tag=call.query.tag,
            has_comment=call.query.only == "comment",
            ranges=questions.ranges(band="detractor") if call.query.only == "unhappy" else None,
        ),
        page=call.page,
    )
    return Answer(
        rows.map(
            lambda row: Response.of(
                row,
                call.zone,
                score_question_id=row.score[0] if row.score else None,
                score=row.score[1] if row.score else None,
                band=(questions.band(*row.score) or None) if row.score else None,
                alert_instance_id=row.case_id,
            )
        )
    )
