"""The HTTP route of the uses of a question."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from afterword.kit.db import Database
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call, Routes
from afterword.listening.search.question_uses import service

routes = Routes(tag="Questions")


class QuestionUse(fields.Answer):
    """A place where a question is used."""

    kind: Annotated[
        Literal["key_question", "show_if", "jump", "ending", "alert", "sequence", "report"],
        Meta(
            description="Where: `jump` is another question, or the same, whose jumps lead to it or ask for it; "
            "`show_if` one that is shown by its answer, `ending` an ending that asks for it."
        ),
    ]
    id: Annotated[str, Meta(description="The id of the questionnaire, question, ending, alert, sequence or report.")]
    title: Annotated[str, Meta(description="Its title.")]


@routes.get(
    "/q/questionnaire/{questionnaire_id}/question/{question_id}/use",
    scope="Question.Read",
    answer=QuestionUse,
    shape="array",
    summary="Get uses of a question",
    description=(
        "In the draft, else the published version; and the alerts, sequences and saved reports that name it, each kind "
        "with the scope of its list: Alert.Read, Sequence.Read, Report.Read. At most 200."
    ),
)
async def list_uses(call: Call[None], db: Database) -> Answer:
    found = await service.find(db, caller=call.caller, **call.ids)
    return Answer([msgspec.convert({"kind": use.kind, "id": use.id, "title": use.title}, QuestionUse) for use in found])
