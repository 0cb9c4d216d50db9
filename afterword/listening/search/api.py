"""Finds a few things of each kind that the caller may read; each kind needs the scope that its list needs."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from afterword.asking.instances import responders
from afterword.core.organizations.access import Caller
from afterword.core.questionnaires.metadata import name_of
from afterword.core.text.words import read_query
from afterword.core.wire.lists import Page
from afterword.kit.db import Database
from afterword.kit.db.columns import within
from afterword.kit.nouns.structs import shown_as
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call, Routes
from afterword.listening.responses import service as responses
from afterword.listening.responses.service import Filter
from afterword.sending.queue import lists
from afterword.sending.queue.lists import RequestedItems
from afterword.tenants import audit

LOOKED_AT_MAX: Final = 1_000  # questionnaires and alerts, the newest


Kind = Literal["responder", "questionnaire_instance", "queue_item", "alert_instance", "questionnaire"]
FOUND_MAX: Final = 5  # of each kind
# Kinds without data, and those of which a limited caller sees its part.
OF_LIMITED: Final = frozenset({"Questionnaire Instance.Read", "Alert Instance.Read", "Questionnaire.Read"})
CHARACTERS_MIN: Final = 3
CHARACTERS_MAX: Final = 200
COMMENT_CHARACTERS_MAX: Final = 200


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """A thing that was found."""

    kind: Annotated[Kind, Meta(description="The resource.")]
    id: Annotated[str, Meta(description="Its id, for the GET of the resource.")]
    title: Annotated[str, Meta(description="A name, an address, an order key or a title.")]
    detail: Annotated[str | None, Meta(description="More of it, such as the beginning of a comment.")] = None
    time: Annotated[datetime | None, Meta(description="When it was answered, sent, opened or created.")] = None


async def find(db: Database, *, caller: Caller, text: str, secret: bytes, now: datetime) -> list[Hit]:
    """Up to FOUND_MAX of each kind; nothing for a text of fewer than CHARACTERS_MIN characters."""
    text = text.strip()
    if not CHARACTERS_MIN <= len(text) <= CHARACTERS_MAX:
        return []
    scopes = caller.scopes if caller.limit is None else caller.scopes & OF_LIMITED
    people = await _people(db, caller, text, now) if "Responder.Read" in scopes else []
    answered = await _responses(db, caller, text) if "Questionnaire Instance.Read" in scopes else []
    waiting = await _items(db, caller, text, secret) if "Queue.Read" in scopes else []
    cases = await _list_cases(db, caller, text, [*people, *answered]) if "Alert Instance.Read" in scopes else []
    questionnaires = await _list_questionnaires(db, caller, text) if "Questionnaire.Read" in scopes else []
    await audit.record(db, caller=caller, action="searched", thing_kind="responder", thing_id=None, now=now)
    return [*people, *answered, *waiting, *cases, *questionnaires]


async def _people(db: Database, caller: Caller, text: str, now: datetime) -> list[Hit]:
    page = Page.first(responders.RESPONDERS, limit=FOUND_MAX)
    found = await responders.find(db, caller=caller, search=text, page=page)
    views = await responders.views_of(db, caller=caller, responders=found.items, now=now)
    hits: list[Hit] = []
    for one in found.items:
        view = views[one.responder_id]
        addresses, name = ", ".join(each.identifier for each in view.identifiers), name_of(view.values or {})
        title, detail = (name, addresses) if name else (addresses, None)
        hits.append(Hit(kind="responder", id=one.responder_id, title=title, detail=detail))
    return hits


async def _responses(db: Database, caller: Caller, text: str) -> list[Hit]:
    search = responses.search_of(caller, read_query(text))
    if search is None:
        return []
    chosen = Filter(only=caller.only, search=search, test=caller.test)
    found = await responses.find(db, responses.RequestedResponses(caller=caller, chosen=chosen), limit=FOUND_MAX)
    return [
        Hit(
            kind="questionnaire_instance",
            id=row.instance_id,
            title=row.external_reference or row.questionnaire_name,
            detail=(row.comment or row.questionnaire_name)[:COMMENT_CHARACTERS_MAX],
            time=row.submitted_time,
        )
        for row in found.rows
    ]


async def _items(db: Database, caller: Caller, text: str, secret: bytes) -> list[Hit]:
    """Those with this reference or order key; without one, those to this address."""
    wanted = RequestedItems(external_reference=text, with_order_key=True)
    found = await lists.list_items(db, caller=caller, wanted=wanted, limit=FOUND_MAX)
    if not found.items:
        wanted = RequestedItems(identifier=text)
        found = await lists.list_items(db, caller=caller, wanted=wanted, limit=FOUND_MAX, secret=secret)
    return [
        Hit(
            kind="queue_item",
            id=one.item_id,
            title=one.external_reference or one.responder_channel_identifier,
            detail=f"{one.questionnaire_name}: {one.pipeline_title}",
            time=one.send_time,
        )
        for one in found.items
    ]


async def _list_cases(db: Database, caller: Caller, text: str, hits: Sequence[Hit]) -> list[Hit]:
    """The newest cases of these people, of these responses, and of alerts with such a title."""
    rows = await db.fetch(
        f"""with found as (
             select alert_instance_id from alert_instance where organization_id = $1 and responder_id = any($4::text[])
             union
             select alert_instance_id from alert_instance where organization_id = $1 and instance_id = any($5::text[])
             union
             select n.alert_instance_id from (
               select alert_id, title from alert where organization_id = $1 order by created_time desc limit $8) a
             cross join lateral (
               select alert_instance_id from alert_instance where organization_id = $1 and alert_id = a.alert_id
               order by created_time desc, alert_instance_id limit $7) n
             where a.title ilike $6)
           select c.alert_instance_id as id, a.title, q.display_name as detail, c.created_time as time
           from found join alert_instance c on c.organization_id = $1 and c.alert_instance_id = found.alert_instance_id
             join alert a on a.organization_id = $1 and a.alert_id = c.alert_id
             left join questionnaire q on q.organization_id = $1 and q.questionnaire_id = c.questionnaire_id
           where not $3::boolean and (cardinality($2::text[]) = 0 or a.application_id = any($2))
             and {within("c.instance_id", "$9")}
           order by c.created_time desc, c.alert_instance_id limit $7""",
        *(caller.organization_id, list(caller.application_ids), caller.test),
        [hit.id for hit in hits if hit.kind == "responder"],
        [hit.id for hit in hits if hit.kind == "questionnaire_instance"],
        *(_pattern(text), FOUND_MAX, LOOKED_AT_MAX, caller.only),
    )
    return [Hit(kind="alert_instance", **row) for row in rows]


async def _list_questionnaires(db: Database, caller: Caller, text: str) -> list[Hit]:
    rows = await db.fetch(
        """select q.questionnaire_id as id, q.display_name as title, q.title as detail, q.created_time as time
           from (select questionnaire_id, display_name, title, created_time from questionnaire
                 where organization_id = $1 and (cardinality($2::text[]) = 0 or owner_application_id = any($2))
                 order by created_time desc limit $5) q
           where q.display_name ilike $3 or q.title ilike $3 order by q.created_time desc limit $4""",
        *(caller.organization_id, list(caller.application_ids), _pattern(text), FOUND_MAX, LOOKED_AT_MAX),
    )
    return [Hit(kind="questionnaire", **row) for row in rows]


def _pattern(text: str) -> str:
    plain = text.replace("\\", r"\\").replace("%", r"\%").replace("_", r"\_")
    return f"%{plain}%"


routes = Routes(tag="Search", scope="Questionnaire")


class SearchQuery(fields.Request):
    """The text to search for."""

    q: Annotated[
        str,
        Meta(
            max_length=CHARACTERS_MAX,
            examples=["order-1042"],
            description="From three characters on: a name, an address, the whole key of an order, words, a title.",
        ),
    ] = ""


SearchHit: Final = shown_as("SearchHit", Hit)


class SearchResult(fields.Answer):
    """The things that were found, by kind."""

    results: Annotated[list[SearchHit], Meta(description="At most five of each kind.")]


@routes.get(
    "/search",
    for_limited="part",
    answer=SearchResult,
    query=SearchQuery,
    is_long=True,
    summary="Search everything",
    description=(
        "Up to five each of people, responses, queue items, cases and questionnaires. Each kind needs the scope of its "
        "list: Responder.Read, Questionnaire Instance.Read, Queue.Read, Alert Instance.Read."
    ),
)
async def search(call: Call[Any], db: Database) -> Answer:
    found = await find(db, caller=call.caller, text=call.query.q, secret=call.site.secret, now=call.now)
    return Answer(SearchResult(results=[SearchHit.of(hit, call.zone) for hit in found]))
