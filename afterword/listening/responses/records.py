"""A response as lists show it."""

from datetime import datetime
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from afterword.core.questionnaires.question_types import ScaleName
from afterword.kit.nouns.declaration import Hidden
from afterword.kit.web import fields

Band = Literal["detractor", "passive", "promoter"]


def about(text: str) -> Meta:
    return Meta(description=text)


class ResponseRow(msgspec.Struct, frozen=True):  # the columns of `_SHOWN`; a dataclass is slow to make
    """A response with what tells most of it, within seconds after it was given."""

    instance_id: fields.Id
    questionnaire_id: fields.Id
    questionnaire_name: Annotated[str, Hidden()]
    version_id: fields.Id
    submitted_time: datetime
    locale: str
    test: bool
    channel_id: int | None
    responder_id: fields.Id | None
    person: Annotated[str | None, Hidden()]  # an address
    external_reference: str | None
    response_import_id: Annotated[
        fields.Computed[fields.Id | None], about("The import that brought it from elsewhere; null: given here.")
    ]
    score_question_id: Annotated[fields.Id | None, about("The question with the score.")]
    score_kind: Annotated[ScaleName | None, about("The type of the question with the score.")]
    score: Annotated[
        int | None, about("Of the key question; else of the first answered of nps, csat, ces, smileys, rating.")
    ]
    score_max: Annotated[int | None, about("The highest of its scale.")]
    band: Annotated[Band | None, about("The segment of the score; of csat and ces the dissatisfied are detractors.")]
    comment: Annotated[
        fields.Computed[str | None], about("The first thousand characters of the first answer in words.")
    ]
    tags: Annotated[fields.Computed[list[str]], about("The first twenty, in order.")]
    alert_instance_id: Annotated[fields.Computed[fields.Id | None], about("The newest open case.")]
    is_unread: Annotated[bool, Hidden()]
