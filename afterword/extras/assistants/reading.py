"""Tools that read. None changes anything, and none lists addresses of people."""

import asyncio
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from afterword.core.figures.reports import Metric
from afterword.core.questionnaires.question_types import ScoreName
from afterword.extras.assistants.client import Api, Refused
from afterword.extras.assistants.tools import (
    STATUSES,
    Arguments,
    Cursor,
    Id,
    Limit,
    Moment,
    Page,
    declared,
    document_at,
)

TRACES_MAX: Final = 5
TIMELINE_ENTRIES: Final = 20
HISTORY_ENTRIES: Final = 50
ITEM_MEMBERS: Final = (
    "item_id,questionnaire_id,pipeline_id,questionnaire_instance_id,status_id,reason,result,locale,send_time,"
    "dispatched_time,source,test,created_time"
)
CASE_MEMBERS: Final = (
    "alert_instance_id,alert_id,questionnaire_id,instance_id,responder_id,status_id,assigned_user_id,severity,due_time,"
    "occurrences,comments_count,waiting,cause,remedy,resolved_time,created_time"
)

Statuses = Annotated[list[Annotated[int, Meta(ge=1, le=6)]], Meta(max_length=6, description=STATUSES)]
Words = Annotated[str, Meta(min_length=1, max_length=200)]
Span = Annotated[Moment, Meta(description="Where the span begins, inclusive.")]
Until = Annotated[Moment, Meta(description="Where the span ends, exclusive.")]


class Find(Arguments):
    text: Annotated[str, Meta(min_length=3, max_length=200, description="A name, an address, an order key or words.")]


class Questionnaire(Arguments):
    questionnaire_id: Id
    draft: Annotated[bool, Meta(description="True: the draft instead of the published version.")] = False


class Library(Arguments):
    library_name: Annotated[str, Meta(pattern="^[a-z][a-z0-9_]{0,99}$")] | None = None


class Items(Arguments):
    status_id: Statuses = msgspec.field(default_factory=list[int])
    reason: Annotated[str, Meta(max_length=50, description="A code, such as frequency_cap.")] | None = None
    pipeline_id: Id | None = None
    questionnaire_id: Id | None = None
    from_time: Span | None = None
    to_time: Until | None = None


class ItemPage(Items):
    oldest_first: bool = False
    limit: Limit = 20
    cursor: Cursor | None = None


class Item(Arguments):
    item_id: Id


class Person(Arguments):
    address: (
        Annotated[str, Meta(min_length=3, max_length=320, description="The person's e-mail address or number.")] | None
    ) = None
    order: (
        Annotated[str, Meta(min_length=3, max_length=100, description="The order, or another external reference.")]
        | None
    ) = None


class Message(Arguments):
    questionnaire_id: Id
    pipeline_id: Id
    locale: Annotated[str, Meta(max_length=35, description="A language, such as el.")] | None = None


class Responses(Arguments):
    questionnaire_id: Id | None = None
    from_time: Span | None = None
    to_time: Until | None = None
    only: Literal["comment", "unhappy"] | None = None
    band: Literal["promoter", "passive", "detractor"] | None = None
    tag: Annotated[str, Meta(min_length=1, max_length=50)] | None = None
    search: Annotated[Words, Meta(description="Beginnings of words, all of them; a phrase in quotes.")] | None = None


class ResponsePage(Responses):
    limit: Limit = 20
    cursor: Cursor | None = None


class Response(Arguments):
    instance_id: Id


class Comments(Responses):
    limit: Annotated[int, Meta(ge=1, le=100, description="The most words.")] = 40


class Overview(Arguments):
    days: Annotated[int, Meta(ge=1, le=366, description="So many days up to now.")] = 30


class Figures(Arguments):
    template: Annotated[
        Literal[ScoreName, "distribution", "funnel", "sending", "trend", "by_metadata", "drivers"],
        Meta(
            description="distribution needs question_id; trend needs metric; by_metadata needs metric and metadata; "
            "drivers needs outcome_question_id."
        ),
    ]
    questionnaire_id: Annotated[list[Id], Meta(min_length=1, max_length=10)]
    from_time: Span | None = None
    to_time: Until | None = None
    question_id: Id | None = None
    outcome_question_id: Id | None = None
    metric: Metric | None = None
    metadata: (
        Annotated[str, Meta(max_length=300, description="questionnaire_metadata:NAME or responder_metadata:NAME")]
        | None
    ) = None
    bucket: Literal["day", "week", "month", "quarter"] | None = None
    compare: Literal["none", "previous_period", "previous_year", "rest"] = "none"


class Cases(Page):
    open: Annotated[bool, Meta(description="True: only cases that are not closed.")] = True
    questionnaire_id: Id | None = None
    assigned_user_id: Id | None = None


class Case(Arguments):
    alert_instance_id: Id


async def _read_questionnaire(api: Api, asked: Questionnaire) -> Any:
    path = f"/q/questionnaire/{asked.questionnaire_id}"
    found = (await api.get(path)).document
    if asked.draft:
        return {"questionnaire": found, "draft": (await api.get(f"{path}/draft")).document}
    version_id = found["published_version_id"]
    version = None if version_id is None else (await api.get(f"{path}/version/{version_id}")).document
    return {"questionnaire": found, "published_version": version}


async def _read_library(api: Api, asked: Library) -> Any:
    return (await api.get("/library" if asked.library_name is None else f"/library/{asked.library_name}")).document


async def _explain_item(api: Api, asked: Item) -> Any:
    path = f"/q/queue/item/{asked.item_id}"
    item, trace, attempts = await asyncio.gather(*(api.get(f"{path}{part}") for part in ("", "/trace", "/attempt")))
    return {"item": item.document, "trace": trace.document, "attempts": attempts.document}


async def _explain_not_asked(api: Api, asked: Person) -> Any:
    """Items of the address or order with the newest traces; the person's record and timeline."""
    given = asked.address or asked.order
    if given is None or (asked.address and asked.order):
        raise Refused("Give either `address` or `order`.")
    by = {"responder_channel_identifier": asked.address, "external_reference": asked.order}
    items = (await api.get("/q/queue/item", {**by, "response_fields": ITEM_MEMBERS, "limit": 50})).document["results"]
    unsent = [item for item in items if item["dispatched_time"] is None][:TRACES_MAX]
    traces = await asyncio.gather(*(api.get(f"/q/queue/item/{item['item_id']}/trace") for item in unsent))
    people = (await api.get("/q/responder", {"search": given, "limit": 1})).document["results"]
    timeline: list[Any] = []
    for person in people:
        path = f"/q/responder/{person['responder_id']}/timeline"
        timeline = (await api.get(path, {"limit": TIMELINE_ENTRIES})).document["results"]
    return {
        "explanation": _explanation(items, unsent, timeline),
        "items": items,
        "traces": [trace.document for trace in traces],
        "person": people[0] if people else None,
        "timeline": timeline,
    }


def _explanation(items: list[Any], unsent: list[Any], timeline: list[Any]) -> str:
    if unsent:
        return "Items exist that were not sent. Each trace has the verdict, its reason, and the rules in their order."
    if items or any(entry["kind"] == "sent" for entry in timeline):
        return "The person was asked: see the items that were sent, and the timeline."
    if timeline:
        return "No item waits or was skipped. The timeline says what happened."
    return "No item has this address or order: nobody scheduled a questionnaire, or the person was forgotten."


async def _preview_message(api: Api, asked: Message) -> Any:
    path = f"/q/questionnaire/{asked.questionnaire_id}/pipeline/{asked.pipeline_id}/preview"
    shown = (await api.send("POST", path, {"locale": asked.locale})).document
    return {name: value for name, value in shown.items() if name != "html"}


async def _list_cases(api: Api, asked: Cases) -> Any:
    query = {
        "filter_by[NULL][ResolvedTime]": "null" if asked.open else None,
        "filter_by[EQUAL][QuestionnaireId]": asked.questionnaire_id,
        "filter_by[EQUAL][AssignedUserId]": asked.assigned_user_id,
        "order_by[DESC][]": "CreatedTime",
        "response_fields": CASE_MEMBERS,
        "limit": asked.limit,
        "cursor": asked.cursor,
    }
    return (await api.get("/alert/instance", query)).document


async def _read_case(api: Api, asked: Case) -> Any:
    path = f"/alert/instance/{asked.alert_instance_id}"
    case, history = await asyncio.gather(api.get(path), api.get(f"{path}/history", {"limit": HISTORY_ENTRIES}))
    return {"case": case.document, "history": history.document["results"]}


_EXPLAINED: Final = ("display_name", "description", "pipeline_summary", "explanation")

TOOLS: Final = (
    declared("find", Find, document_at("/search", names={"text": "q"}), own=()),
    declared("list_questionnaires", Page, document_at("/q/questionnaire"), own=None),
    declared("read_questionnaire", Questionnaire, _read_questionnaire, own=None),
    declared("read_library", Library, _read_library, own=None),
    declared("list_pipelines", Page, document_at("/q/pipeline"), own=None),
    declared("preview_message", Message, _preview_message, own=None),
    declared(
        "list_items",
        ItemPage,
        document_at("/q/queue/item", names={"cursor": "after"}, response_fields=ITEM_MEMBERS),
    ),
    declared("count_items", Items, document_at("/q/queue/count")),
    declared("explain_item", Item, _explain_item),
    declared("explain_not_asked", Person, _explain_not_asked, own=_EXPLAINED),
    declared("list_responses", ResponsePage, document_at("/q/response")),
    declared("read_response", Response, document_at("/q/instance/{instance_id}/response/content")),
    declared("count_words", Comments, document_at("/q/response/word")),
    declared("read_overview", Overview, document_at("/report/overview")),
    declared("read_figures", Figures, document_at("/report/template/{template}")),
    declared("list_cases", Cases, _list_cases),
    declared("read_case", Case, _read_case),
)
