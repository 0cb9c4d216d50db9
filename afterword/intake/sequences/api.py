"""HTTP handlers of sequences."""

from typing import Final

from afterword.core.wire.lists import Rows
from afterword.db import Database
from afterword.intake.sequences import service, store
from afterword.intake.sequences.resources import Sequence, SequenceRequest, SequenceUpdate
from afterword.web.operations import Answer, Call, Routes

SEQUENCE: Final = "/q/sequence/{sequence_id}"
ABOUT: Final = (
    "The conditions are checked against the published questions of `from_questionnaire_id`, the declared metadata and "
    "tags. An item is made once for a response, for the address that its responder has on the pipeline's channel."
)

routes = Routes(tag="Sequences")


@routes.list("/q/sequence", scope="Sequence.Read", answer=Sequence, shape="array", summary="Get all sequences")
async def list_sequences(call: Call[None], db: Database) -> Rows[service.Rule]:
    return await store.list_sequences(db, **call.caller.part, page=call.page)


@routes.post(
    "/q/sequence",
    scope="Sequence.Create",
    body=SequenceRequest,
    answer=Sequence,
    summary="Create Sequence",
    description=ABOUT,
)
async def create_sequence(call: Call[SequenceRequest], db: Database) -> Answer:
    rule = await service.create(db, caller=call.caller, columns=call.body.named(), now=call.now)
    location = f"/q/sequence/{rule.sequence_id}"
    return Answer(record=rule, location=location)


@routes.get(SEQUENCE, scope="Sequence.Read", answer=Sequence, summary="Get Sequence")
async def get_sequence(call: Call[None], db: Database) -> service.Rule:
    return await service.get(db, caller=call.caller, **call.ids)


@routes.patch(
    SEQUENCE,
    scope="Sequence.Update",
    body=SequenceUpdate,
    answer=Sequence,
    summary="Update Sequence",
    description=ABOUT,
)
async def update_sequence(call: Call[SequenceUpdate], db: Database) -> service.Rule:
    return await service.update(
        db, caller=call.caller, **call.ids, changes=call.body.named(), now=call.now, expect=call.check_version
    )


@routes.delete(
    SEQUENCE,
    scope="Sequence.Delete",
    summary="Delete Sequence",
    description="It makes no more items; those that it made stay.",
)
async def delete_sequence(call: Call[None], db: Database) -> None:
    await service.delete(db, caller=call.caller, **call.ids, expect=call.check_version)
