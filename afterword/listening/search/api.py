"""The HTTP route of the search."""

from typing import Annotated, Any, Literal

from msgspec import Meta

from afterword.kit.db import Database
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call, Routes
from afterword.listening.search import service

routes = Routes(tag="Search")


class SearchQuery(fields.Request):
    """The text to search for."""

    q: Annotated[
        str,
        Meta(
            max_length=service.CHARACTERS_MAX,
            examples=["order-1042"],
            description="From three characters on: a name, an address, the whole key of an order, words, a title.",
        ),
    ] = ""


class SearchHit(fields.Resource):
    """A thing that was found."""

    kind: Annotated[
        Literal["responder", "questionnaire_instance", "queue_item", "alert_instance", "questionnaire"],
        Meta(description="The resource."),
    ]
    id: Annotated[str, Meta(description="Its id, for the GET of the resource.")]
    title: Annotated[str, Meta(description="A name, an address, an order key or a title.")]
    detail: Annotated[str | None, Meta(description="More of it, such as the beginning of a comment.")]
    time: Annotated[fields.DateTime | None, Meta(description="When it was answered, sent, opened or created.")]


class SearchResult(fields.Answer):
    """The things that were found, by kind."""

    results: Annotated[list[SearchHit], Meta(description="At most five of each kind.")]


@routes.get(
    "/search",
    scope="Questionnaire.Read",
    answer=SearchResult,
    query=SearchQuery,
    summary="Search everything",
    description=(
        "Up to five each of people, responses, queue items, cases and questionnaires. Each kind needs the scope of its "
        "list: Responder.Read, Questionnaire Instance.Read, Queue.Read, Alert Instance.Read."
    ),
)
async def search(call: Call[Any], db: Database) -> Answer:
    found = await service.find(db, caller=call.caller, text=call.query.q, secret=call.site.secret, now=call.now)
    return Answer(SearchResult(results=[SearchHit.of(hit, call.zone) for hit in found]))
