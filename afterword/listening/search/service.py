"""Finds a few things of each kind that the caller may read; each kind needs the scope that its list needs."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from afterword.asking.instances import responders
from afterword.core.organizations.access import Caller
from afterword.core.questionnaires.metadata import name_of
from afterword.core.text.words import read_query
from afterword.core.wire.lists import Page
from afterword.kit.db import Database
from afterword.listening.responses import service as responses
from afterword.listening.responses.store import Filter
from afterword.listening.search import store
from afterword.listening.search.store import Found
from afterword.people.responders import store as responders_store
from afterword.sending.queue import lists
from afterword.sending.queue.lists import RequestedItems
from afterword.tenants import audit

Kind = Literal["responder", "questionnaire_instance", "queue_item", "alert_instance", "questionnaire"]
FOUND_MAX: Final = 5  # of each kind
CHARACTERS_MIN: Final = 3
CHARACTERS_MAX: Final = 200
COMMENT_CHARACTERS_MAX: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """`title`: a name, an address or a title; `detail`: more of it; `time`: of the thing, None for people."""

    kind: Kind
    id: str
    title: str
    detail: str | None = None
    time: datetime | None = None


async def find(db: Database, *, caller: Caller, text: str, secret: bytes, now: datetime) -> list[Hit]:
    """Up to FOUND_MAX of each kind; nothing for a text of fewer than CHARACTERS_MIN characters."""
    text = text.strip()
    if not CHARACTERS_MIN <= len(text) <= CHARACTERS_MAX:
        return []
    scopes = caller.scopes
    people = await _people(db, caller, text, now) if "Responder.Read" in scopes else []
    answered = await _responses(db, caller, text) if "Questionnaire Instance.Read" in scopes else []
    waiting = await _items(db, caller, text, secret) if "Queue.Read" in scopes else []
    cases = await _cases(db, caller, text, [*people, *answered]) if "Alert Instance.Read" in scopes else []
    questionnaires = await _questionnaires(db, caller, text) if "Questionnaire.Read" in scopes else []
    await audit.record(db, caller=caller, action="searched", thing_kind="responder", thing_id=None, now=now)
    return [*people, *answered, *waiting, *cases, *questionnaires]


async def _people(db: Database, caller: Caller, text: str, now: datetime) -> list[Hit]:
    page = Page.first(responders.RESPONDERS, limit=FOUND_MAX)
    found = await responders.find(db, caller=caller, search=text, page=page)
    views = await responders.views_of(db, caller=caller, responders=found.items, now=now)
    keys = [(one.organization_id, one.responder_id) for one in found.items if one.is_whole]
    has_values = "Responder Value.Read" in caller.scopes
    known = await responders_store.list_responders(db, keys=keys) if keys and has_values else []
    names = {one.responder_id: name_of(one.metadata) for one in known}
    hits: list[Hit] = []
    for one in found.items:
        addresses = ", ".join(each.identifier for each in views[one.responder_id].identifiers)
        name = names.get(one.responder_id)
        title, detail = (name, addresses) if name else (addresses, None)
        hits.append(Hit(kind="responder", id=one.responder_id, title=title, detail=detail))
    return hits


async def _responses(db: Database, caller: Caller, text: str) -> list[Hit]:
    search = responses.search_of(caller, read_query(text))
    if search is None:
        return []
    chosen = Filter(search=search, test=caller.test)
    found = await responses.find(
        db, caller=caller, application_id=None, chosen=chosen, condition=None, after="", limit=FOUND_MAX
    )
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


async def _cases(db: Database, caller: Caller, text: str, hits: Sequence[Hit]) -> list[Hit]:
    found = await store.list_cases_of(
        db,
        **caller.reach,
        responder_ids=[hit.id for hit in hits if hit.kind == "responder"],
        instance_ids=[hit.id for hit in hits if hit.kind == "questionnaire_instance"],
        pattern=_pattern(text),
        limit=FOUND_MAX,
    )
    return [_hit("alert_instance", one) for one in found]


async def _questionnaires(db: Database, caller: Caller, text: str) -> list[Hit]:
    found = await store.list_questionnaires_by_title(db, **caller.part, pattern=_pattern(text), limit=FOUND_MAX)
    return [_hit("questionnaire", one) for one in found]


def _hit(kind: Kind, found: Found) -> Hit:
    return Hit(kind=kind, id=found.id, title=found.title, detail=found.detail, time=found.time)


def _pattern(text: str) -> str:
    plain = text.replace("\\", r"\\").replace("%", r"\%").replace("_", r"\_")
    return f"%{plain}%"
