"""The HTTP routes of saved views."""

from typing import Annotated, Final

from msgspec import Meta

from afterword.db import Database
from afterword.responses.views import service
from afterword.web import fields
from afterword.web.operations import Answer, Call, Routes

PATH: Final = "/q/response/view"
routes = Routes(tag="Responses")


class ResponseViewRequest(fields.Request):
    """A filter of the list of responses, with a name."""

    title: Annotated[str, Meta(min_length=1, max_length=service.TITLE_CHARACTERS_MAX)]
    query: Annotated[
        str,
        Meta(max_length=service.QUERY_CHARACTERS_MAX, description="Of the console's address: `tab=unhappy&days=30`."),
    ]
    shared: Annotated[bool, Meta(description="Whether all users of the organization see it.")] = False


class ResponseView(fields.Resource):
    """A saved filter of the list of responses."""

    view_id: fields.Id
    user_id: fields.Id
    title: str
    query: Annotated[str, Meta(description="Of the console's address.")]
    shared: Annotated[bool, Meta(description="Whether all users of the organization see it.")]
    created_time: fields.DateTime


@routes.get(
    PATH,
    scope="Questionnaire Instance.Read",
    answer=ResponseView,
    shape="array",
    summary="Get all saved views of responses",
    description="The user's own, at most fifty, and those that others share.",
)
async def list_views(call: Call[None], db: Database) -> Answer:
    found = await service.list_views(db, caller=call.caller)
    return Answer([ResponseView.of(one, call.zone) for one in found])


@routes.post(
    PATH,
    scope="Questionnaire Instance.Read",
    body=ResponseViewRequest,
    answer=ResponseView,
    summary="Save a view of responses",
    description="For users alone: a token of the organization has no views.",
)
async def save_view(call: Call[ResponseViewRequest], db: Database) -> Answer:
    body = call.body
    made = await service.save(
        db, caller=call.caller, title=body.title, query=body.query, shared=body.shared, now=call.now
    )
    return Answer(ResponseView.of(made, call.zone), version=service.VERSION, location=f"{PATH}/{made.view_id}")


@routes.delete(f"{PATH}/{{view_id}}", scope="Questionnaire Instance.Read", summary="Remove a saved view")
async def remove_view(call: Call[None], db: Database) -> None:
    await service.remove(db, caller=call.caller, **call.ids, expect=call.expect)
