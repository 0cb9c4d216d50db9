"""The timeline of a person, and the rows of a copy of all that is held, read page by page."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final, Literal, TypeVar

from afterword.asking.instances.responders import service as responders
from afterword.asking.instances.store import Instance
from afterword.cases.messages.store import Message
from afterword.core.organizations.access import Caller
from afterword.core.wire.lists import Criterion, Listing, Page, Rows
from afterword.kit.db import Database
from afterword.privacy.profiles import store
from afterword.privacy.profiles.store import Answered, Entry
from afterword.sending.queue.records import QueueItem
from afterword.tenants.audit import service as audit

Row = TypeVar("Row")
READ_AT_ONCE: Final = 100
SEEN_IN: Final = timedelta(hours=1)


async def note(
    db: Database,
    *,
    caller: Caller,
    action: Literal["read", "searched", "downloaded"],
    now: datetime,
    responder_id: str | None = None,
) -> None:
    """Record in the audit log that somebody looks at a person, or searches."""
    await audit.record(db, caller=caller, action=action, thing_kind="responder", thing_id=responder_id, now=now)


async def note_seen(db: Database, *, caller: Caller, responder_id: str, now: datetime) -> None:
    """Record that a response, case or message showed a person: once an hour, as work on a case opens it often."""
    await audit.record(
        db, caller=caller, action="read", thing_kind="responder", thing_id=responder_id, now=now, once_in=SEEN_IN
    )


async def list_entries(db: Database, *, caller: Caller, responder_id: str, page: Page) -> Rows[Entry]:
    """The entries as far as the caller sees them. Raises NotFound."""
    found = await responders.get(db, caller=caller, responder_id=responder_id)
    return await entries_of(db, caller=caller, responder_id=responder_id, is_whole=found.is_whole, page=page)


async def entries_of(db: Database, *, caller: Caller, responder_id: str, is_whole: bool, page: Page) -> Rows[Entry]:
    """As `list_entries`, of a person whom the caller may see. `is_whole`: all that is held of the person."""
    rows = await store.list_entries(
        db,
        **caller.reach,
        responder_id=responder_id,
        has_addresses=is_whole,
        has_cases="Alert Instance.Read" in caller.scopes,
        has_values="Questionnaire Value.Read" in caller.scopes,
        page=page,
    )
    answered = [one.instance_id for one in rows.items if one.kind == "answered" and one.instance_id]
    if not answered:
        return rows
    found_answers = await store.list_answered(db, organization_id=caller.organization_id, instance_ids=answered)
    given = {one.instance_id: one for one in found_answers}
    return rows.map(lambda entry: _with_answers(entry, given.get(entry.instance_id or "")))


def _with_answers(entry: Entry, given: Answered | None) -> Entry:
    if given is None or entry.kind != "answered":
        return entry
    return replace(
        entry, score_question_id=given.score_question_id, score=given.score, band=given.band, comment=given.comment
    )


async def items_of(
    db: Database, *, organization_id: str, responder_id: str
) -> AsyncGenerator[tuple[QueueItem, datetime | None], None]:
    person = {"organization_id": organization_id, "responder_id": responder_id}
    after: str | None = ""
    while after is not None:
        found = await store.list_items(db, **person, after=after, limit=READ_AT_ONCE)
        for item in found:
            yield item
        after = found[-1][0].item_id if len(found) == READ_AT_ONCE else None


async def messages_of(db: Database, *, organization_id: str, responder_id: str) -> AsyncGenerator[Message, None]:
    person = {"organization_id": organization_id, "responder_id": responder_id}
    after: str | None = ""
    while after is not None:
        found = await store.list_messages(db, **person, after=after, limit=READ_AT_ONCE)
        for message in found:
            yield message
        after = found[-1].message_id if len(found) == READ_AT_ONCE else None


async def instances_of(
    db: Database, *, organization_id: str, responder_id: str
) -> AsyncGenerator[Sequence[Instance], None]:
    person = {"organization_id": organization_id, "responder_id": responder_id}
    after: str | None = ""
    while after is not None:
        found = await store.list_instances(db, **person, after=after, limit=READ_AT_ONCE)
        if found:
            yield found
        after = found[-1].instance_id if len(found) == READ_AT_ONCE else None


async def rows_of(
    read: Callable[..., Awaitable[Rows[Row]]], listing: Listing, *, among: dict[str, Any] | None = None, **given: Any
) -> AsyncGenerator[Row, None]:
    """All rows of a list that `read` gives by page; `among`: equal values by member."""
    criteria = tuple(Criterion("EQUAL", listing.columns[name], value) for name, value in (among or {}).items())
    page = replace(Page.first(listing, limit=READ_AT_ONCE), criteria=criteria)
    while True:
        rows = await read(**given, page=page)
        for row in rows.items:
            yield row
        if rows.next_key is None:
            return
        page = replace(page, after=rows.next_key)


async def counts(db: Database, *, caller: Caller, responder_id: str) -> dict[str, int]:
    """The number of entries of each kind, for the whole organization. Raises NotFound, Forbidden."""
    await responders.get(db, caller=caller, responder_id=responder_id)
    caller.require_whole()
    return await store.count_entries(db, organization_id=caller.organization_id, responder_id=responder_id)
