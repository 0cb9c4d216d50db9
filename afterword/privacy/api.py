"""HTTP handlers of erasures: ask for one, and see how far it is."""

from typing import Annotated, Final

from msgspec import Meta, structs

from afterword.kit.db import Database
from afterword.kit.nouns.structs import shown_as
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call, Routes
from afterword.privacy import service

ERASURE: Final = "/q/responder/erasure"

routes = Routes(tag="Responders")


class ErasureRequest(fields.Request):
    """The mode of an erasure."""

    mode: service.Mode = "anonymize"
    suppress: bool = True
    reason: Annotated[str, Meta(max_length=500)] | None = None


Erasure: Final = shown_as("Erasure", service.Erasure)


@routes.post(
    "/q/responder/{responder_id}/erasure",
    scope="Responder.Delete",
    answer=Erasure,
    summary="Erase a person",
    description=(
        "What waits for the person is cancelled, then everything that is held is taken out, in the background. With "
        "`anonymize` scores stay in the counts, without person or text; with `erase` the responses go as well. With "
        "`suppress` a keyed hash of the addresses stays, so that the person is not asked again. While an erasure of "
        "the person runs, 409."
    ),
    refusals=("already_exists",),
)
async def erase_responder(call: Call[ErasureRequest], db: Database) -> Answer:
    responder_id = call.ids["responder_id"]
    made = await service.request(
        db, caller=call.caller, responder_id=responder_id, now=call.now, **structs.asdict(call.body)
    )
    return Answer(record=made, location=f"{ERASURE}/{made.erasure_id}")


@routes.get(
    f"{ERASURE}/{{erasure_id}}",
    scope="Responder.Read",
    answer=Erasure,
    summary="Get an erasure",
    description="It stays when the person is gone; nothing in it says who that was.",
)
async def get_erasure(call: Call[None], db: Database) -> service.Erasure:
    return await service.get_erasure(db, caller=call.caller, **call.ids)
