"""The HTTP routes of responses of all questionnaires."""

from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal, Unpack

from msgspec import Meta
from msgspec.structs import replace

from afterword import errors
from afterword.asking.links.public_links import LINK
from afterword.asking.questionnaires import store as questionnaires_store
from afterword.core.organizations.access import Caller, Part, values_of
from afterword.core.questionnaires.question_types import ScaleName
from afterword.core.text import words
from afterword.errors import FieldError
from afterword.kit.db import Database
from afterword.kit.nouns import service as nouns
from afterword.kit.nouns.structs import shown_as
from afterword.kit.ui.lists import key_of, read_key
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call, Routes
from afterword.listening.responses import service
from afterword.listening.responses.service import EVER, NEVER, Band, Filter, RequestedResponses, ResponseRow, Tab, about
from afterword.tenants.organizations import checks

TAG_CHARACTERS_MAX: Final = 50
FOUND_ROWS_MAX: Final = 100
routes = Routes(tag="Responses", scope="Questionnaire Instance")


class ResponseQuery(fields.Request):
    """The responses that are listed."""

    questionnaire_id: fields.Id | None = None
    application_id: fields.Id | None = None
    from_time: fields.Moment | None = None
    to_time: fields.Moment | None = None
    only: Annotated[
        Literal["comment", "unhappy"] | None, about("With words of the person; or of the band detractor.")
    ] = None
    band: Annotated[Band | None, about("The segment of the score.")] = None
    score_kind: Annotated[ScaleName | None, about("The type of the question with the score.")] = None
    tag: Annotated[
        Annotated[str, Meta(min_length=1, max_length=TAG_CHARACTERS_MAX)] | None, about("One of its tags.")
    ] = None
    channel_id: Annotated[
        Annotated[int, Meta(ge=0, le=32_767)] | None, about("0: opened by a link that was not sent.")
    ] = None
    link_id: Annotated[fields.Id | None, about("Those that began at a public link.")] = None
    imported: Annotated[bool | None, about("Those that an import brought from elsewhere, or all others.")] = None
    response_import_id: Annotated[fields.Id | None, about("Those of an import.")] = None
    search: Annotated[
        Annotated[str, Meta(min_length=1, max_length=words.QUERY_CHARACTERS_MAX)] | None,
        about("Beginnings of words, all of them; a phrase in quotes; a word behind a minus is excluded."),
    ] = None
    word: Annotated[
        Annotated[str, Meta(min_length=1, max_length=words.WORD_CHARACTERS_MAX)] | None,
        about("A whole word of the person, as the words of comments name it."),
    ] = None
    test: Annotated[bool, about("Responses to test messages instead of real ones.")] = False


class ResponseFilter(ResponseQuery, forbid_unknown_fields=True):
    """The filter of a list, with a condition over answers, metadata and tags; an unknown member is refused."""

    condition: Annotated[dict[str, Any] | None, about("all, any, not, or a comparison.")] = None


class ResponseSearch(ResponseFilter):
    """The responses that are searched for."""

    limit: Annotated[int, Meta(ge=1, le=FOUND_ROWS_MAX), about("The most results of a page.")] = 50
    cursor: Annotated[
        Annotated[str, Meta(min_length=1, max_length=60)] | None, about("The `next_cursor` of the page before.")
    ] = None


Response: Final = shown_as("Response", ResponseRow)


class FoundResponses(fields.Answer):
    """A page of a search. One that is not full may have others behind its `next_cursor`, which is null at the end."""

    results: Annotated[list[Response], about("The newest first.")]
    next_cursor: Annotated[str | None, about("Null at the end.")]


class ResponseCounts(fields.Answer):
    """The number of responses, by what they have in common; those without a score or band are in no part of it."""

    count: Annotated[int, about("All that match.")]
    is_part: Annotated[bool, about("There are older responses that were not counted.")]
    comment: Annotated[int, about("With words of the person.")]
    bands: Annotated[dict[str, int], about("By segment of the score.")]
    score_kinds: Annotated[dict[str, int], about("By type of the question with the score.")]
    channels: Annotated[dict[str, int], about("By number; 0: opened by a link that was not sent.")]
    questionnaires: Annotated[dict[str, int], about("By id.")]


@routes.list(
    "/q/response",
    answer=Response,
    query=ResponseQuery,
    listing=fields.listing_of(Response, order=(("submitted_time", "desc"),)),
    is_long=True,
    summary="Get all responses",
    description="Those of all questionnaires, the newest first. The case is the open one.",
)
async def list_responses(call: Call[None], db: Database) -> Answer:
    wanted = await requested_of(db, call.caller, call.query, is_query=True)
    return Answer(record=await service.list_response_page(db, **wanted.reach, chosen=wanted.chosen, page=call.page))


@routes.get(
    "/q/response/count",
    for_limited="part",
    answer=ResponseCounts,
    query=ResponseQuery,
    is_long=True,
    summary="Count responses",
    description="Counts by facet of the same filter, of the newest ten thousand responses.",
)
async def count_responses(call: Call[None], db: Database) -> Answer:
    wanted = await requested_of(db, call.caller, call.query, is_query=True)
    facets = await service.count_facets(db, **wanted.reach, chosen=wanted.chosen)

    def of(name: str) -> dict[str, int]:
        return {value: count for value, count in facets.by.get(name, {}).items() if value is not None}

    return Answer(
        ResponseCounts(
            count=facets.count,
            is_part=facets.is_part,
            comment=of("commented").get("true", 0),
            bands=of("band"),
            score_kinds=of("score"),
            channels=of("channel"),
            questionnaires=of("questionnaire"),
        )
    )


@routes.post(
    "/q/response/search",
    scope="Questionnaire Instance.Read",
    for_limited="part",
    answer=FoundResponses,
    status=200,
    summary="Search responses",
    description=(
        "The filter of the list, and a condition. "
        f"A page evaluates it for {service.CONDITION_SCANNED_MAX:,} responses at most."
    ),
)
async def search_responses(call: Call[ResponseSearch], db: Database) -> Answer:
    wanted, after = await requested_of(db, call.caller, call.body), ""
    if call.body.cursor is not None:
        if (place := read_key(call.body.cursor)) is None:
            raise errors.Invalid.at("/cursor", "invalid_cursor", "This is no cursor of a search.")
        moment, after = place
        chosen = replace(wanted.chosen, to_time=min(moment, wanted.chosen.to_time))
        wanted = replace(wanted, chosen=chosen)
    found = await service.find(db, wanted, after=after, limit=call.body.limit)
    return Answer(
        FoundResponses(
            results=[Response.of(row, call.zone) for row in found.rows],
            next_cursor=found.last and key_of(*found.last),
        )
    )


async def requested_of(
    db: Database,
    caller: Caller,
    asked: ResponseQuery,
    *,
    instance_ids: Sequence[str] = (),
    at: str = "",
    is_query: bool = False,
) -> RequestedResponses:
    """The responses that the filter of a client asks for.

    Raises Invalid: `unknown_id` for what it names that is not there or out of the caller's reach, and for a condition.
    `instance_ids`: further ids that it names. `at`: where the body has the filter. An instance without a response is
    known: it is among none that match.
    """
    wrong: list[FieldError] = []
    if asked.questionnaire_id is not None and not await questionnaires_store.list_owners(
        db, **caller.part, questionnaire_ids=[asked.questionnaire_id], limit=1
    ):
        wrong.append(FieldError("unknown_id", "There is no such questionnaire.", pointer=f"{at}/questionnaire_id"))
    if asked.application_id is not None:
        place = f"{at}/application_id"
        wrong += await checks.reach_errors(db, caller=caller, application_id=asked.application_id, pointer=place)
    if asked.link_id is not None and not await nouns.find(LINK, db, **caller.part, key=asked.link_id):
        wrong.append(FieldError("unknown_id", "There is no such public link.", pointer=f"{at}/link_id"))
    if asked.response_import_id is not None and not await _get_has_import(
        db, **caller.part, response_import_id=asked.response_import_id
    ):
        wrong.append(FieldError("unknown_id", "There is no such import.", pointer=f"{at}/response_import_id"))
    if sum(one is not None for one in (asked.link_id, asked.imported, asked.response_import_id)) > 1:
        message = "Only one of link_id, imported and response_import_id can be given."
        wrong.append(FieldError("exclusive", message, pointer=f"{at}/imported"))
    if instance_ids:
        known = await _list_known_ids(db, **caller.part, instance_ids=instance_ids)
        wrong += [
            FieldError("unknown_id", "There is no such instance.", pointer=f"/instance_ids/{index}")
            for index, instance_id in enumerate(instance_ids)
            if instance_id not in known
        ]
    if is_query:
        wrong = [FieldError(each.code, each.message, parameter=str(each.pointer).strip("/")) for each in wrong]
    errors.check(wrong)
    document = asked.condition if isinstance(asked, ResponseFilter) else None
    return RequestedResponses(
        caller=caller,
        chosen=_filter_of(caller, asked),
        application_id=asked.application_id,
        condition=service.read_condition(caller, document, path=f"{at}/condition"),
    )


def _filter_of(caller: Caller, asked: ResponseQuery) -> Filter:
    only: Tab = asked.only or "all"
    return Filter(
        only=caller.only,
        tab=only,
        questionnaire_id=asked.questionnaire_id,
        from_time=asked.from_time.instant if asked.from_time else EVER,
        to_time=asked.to_time.instant if asked.to_time else NEVER,
        tag=asked.tag,
        band=asked.band,
        score_kind=asked.score_kind,
        channel_id=asked.channel_id,
        link_id=asked.link_id,
        imported=asked.imported,
        response_import_id=asked.response_import_id,
        search=service.search_of(caller, words.read_query(asked.search or ""), asked.word or ""),
        test=asked.test or caller.test,
    )


async def _get_has_import(db: Database, *, response_import_id: str, **part: Unpack[Part]) -> bool:
    return await db.fetch_value(
        """select exists (select from response_import i
             join questionnaire q on q.organization_id = i.organization_id and q.questionnaire_id = i.questionnaire_id
             where i.organization_id = $1 and i.response_import_id = $3
               and (cardinality($2::text[]) = 0 or q.owner_application_id = any($2)))""",
        *(*values_of(part), response_import_id),
    )


async def _list_known_ids(db: Database, *, instance_ids: Sequence[str], **part: Unpack[Part]) -> set[str]:
    """Those of these ids that are instances of the applications, or without applications of any."""
    rows = await db.fetch(
        """select i.instance_id from questionnaire_instance i
           join questionnaire q on q.organization_id = i.organization_id and q.questionnaire_id = i.questionnaire_id
           where i.organization_id = $1 and i.instance_id = any($3)
             and (cardinality($2::text[]) = 0 or q.owner_application_id = any($2))""",
        *(*values_of(part), list(instance_ids)),
    )
    return {row["instance_id"] for row in rows}
