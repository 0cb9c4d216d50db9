"""Alert instances (cases): open, repeat, update, resolve; and the comments on them."""

import math
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, TypedDict, Unpack

from msgspec.structs import replace

from afterword import errors, ids
from afterword.asking.instances.triggers import Response
from afterword.cases import history, rules, settings
from afterword.cases.alert_instances import store
from afterword.cases.alert_instances.store import Case, Comment
from afterword.cases.rules import Alert
from afterword.core.messaging import addresses, alerts as core_alerts, reply_text
from afterword.core.messaging.alerts import Match
from afterword.core.organizations.access import Caller
from afterword.core.scheduling import windows
from afterword.core.scheduling.windows import Calendar
from afterword.events import service as events
from afterword.events.service import Actor, NewEvent
from afterword.kit.db import Database


def event(case: Case, kind: str, *, now: datetime, caller: Caller | None = None, **more: object) -> NewEvent:
    """An event of the caller, or of the worker, without answers and numbers: the log outlives their erasure."""
    data: Mapping[str, Any] = {
        **{name: getattr(case, name) for name in Case.__struct_fields__},
        "matched": [{**leaf, "actual": None} for leaf in case.matched],
        "call_back_number": None,
        "call_back_note": None,
        **more,
    }
    actor = Actor.of(caller)
    return NewEvent.of(case, f"alert_instance.{kind}", case.alert_instance_id, data, now=now, actor=actor)


def of_update(before: Case, after: Case, *, caller: Caller, now: datetime) -> list[NewEvent]:
    """The events of a change: another assignee, another status, resolved or reopened."""
    kinds: list[str] = []
    if after.assigned_user_id != before.assigned_user_id:
        kinds.append("assigned")
    if after.status_id != before.status_id:
        kinds.append("status_changed")
    kinds += crossing(after, was_resolved=before.resolved_time is not None)
    return [event(after, kind, now=now, caller=caller) for kind in kinds]


def crossing(case: Case, *, was_resolved: bool) -> tuple[str, ...]:
    if (case.resolved_time is not None) == was_resolved:
        return ()
    return ("reopened",) if was_resolved else ("resolved",)


NO_CASE: Final = "There is no such alert instance."
STATUS_MOVES_MAX: Final = 10_000  # cases that one removal of a status may move
MENTIONABLE_MAX: Final = 1_000  # users


async def get(db: Database, *, caller: Caller, alert_instance_id: str, is_locked: bool = False) -> Case:
    case = await store.get_case(db, **caller.sight, alert_instance_id=alert_instance_id, is_locked=is_locked)
    return errors.found(case, NO_CASE)


def visible(case: Case, caller: Caller) -> Case:
    """The case without the telephone number and the note for a caller who may not read addresses of people."""
    return case if "Responder.Read" in caller.scopes else replace(case, call_back_number=None, call_back_note=None)


async def update(
    db: Database,
    *,
    caller: Caller,
    alert_instance_id: str,
    changes: Mapping[str, Any],
    now: datetime,
    expect: errors.Expect = errors.ANY,
) -> Case:
    """Change the named members: `store.SETTABLE`, and `waiting`, which stops the clock until it is false.

    A closing status sets `resolved_time` and `resolved_by`, any other clears them; it and a new due time end the
    waiting. Raises NotFound, Invalid (`unknown_id`, `invalid_format`), and what `expect` raises.
    """
    before = await get(db, caller=caller, alert_instance_id=alert_instance_id, is_locked=True)
    expect(before.version)
    columns = {name: changes.get(name, getattr(before, name)) for name in store.SETTABLE}
    if columns["call_back_number"] not in {None, before.call_back_number}:
        columns["call_back_number"] = _dialled(columns["call_back_number"])
    resolved_time, resolved_by = before.resolved_time, before.resolved_by
    application_id = await store.get_application_id(
        db, organization_id=before.organization_id, alert_id=before.alert_id
    )
    if columns["status_id"] != before.status_id:
        closes = await rules.get_closes(
            db,
            organization_id=before.organization_id,
            status_id=columns["status_id"],
            application_id=application_id or "",
        )
        if closes is None:
            raise errors.Invalid.at("/status_id", "unknown_id", "There is no such alert status.")
        if not closes:
            resolved_time = resolved_by = None
        elif resolved_time is None:
            resolved_time, resolved_by = now, caller.actor_id or None
    if columns["assigned_user_id"] not in {None, before.assigned_user_id}:
        await _require_user(db, before, columns["assigned_user_id"], application_id=application_id or "")
    waits = bool(changes.get("waiting", before.waiting)) and resolved_time is None and not changes.get("due_time")
    closes = resolved_time is not None and before.resolved_time is None
    if columns["call_back_time"] != before.call_back_time:
        columns["call_back_until_time"] = None  # it was of the customer's wish
    columns |= await _clock(db, before, waits=waits, closes=closes, due_time=columns["due_time"], now=now)
    columns |= {"resolved_time": resolved_time, "resolved_by": resolved_by, "updated_by": caller.actor_id or None}
    after = await change(db, before=before, changes=columns, now=now)
    if after is None:
        return before
    await _count(db, changed=[(after, before.resolved_time is not None)])
    await history.record_change(db, before=before, after=after, caller=caller, now=now)
    await events.record(db, events=of_update(before, after, caller=caller, now=now))
    return after


def _dialled(number: str) -> str:
    try:
        return addresses.phone_text(number)
    except addresses.InvalidAddress as wrong:
        raise errors.Invalid.at("/call_back_number", "invalid_format", wrong.message) from None


async def change(db: Database, *, before: Case, changes: Mapping[str, Any], now: datetime) -> Case | None:
    """Change a case that the caller has locked, without history and events; None if nothing changes."""
    return await store.update_case(db, **before.key, changes=changes, now=now)


async def open_cases(db: Database, *, cases: Sequence[Case], now: datetime) -> None:
    """Insert new cases, count them with their alerts and record their events."""
    if not cases:
        return
    await store.insert_cases(db, cases=cases)
    counts = [(case.organization_id, case.alert_id, int(case.resolved_time is None)) for case in cases]
    await rules.settle_counts(db, counts=counts, triggered_time=now)
    await events.record(db, events=[event(case, "created", now=now) for case in cases])


def new_case(
    alert: Alert,
    *,
    response: Response | None,
    match: Match,
    owner_id: str | None,
    opens_closed: bool,
    calendar: Calendar,
    now: datetime,
) -> Case:
    return Case(
        organization_id=alert.organization_id,
        alert_instance_id=ids.ordered(now),
        alert_id=alert.alert_id,
        questionnaire_id=response.questionnaire_id if response else None,
        instance_id=response.instance_id if response else None,
        responder_id=response.responder_id if response else None,
        status_id=alert.status_id,
        assigned_user_id=owner_id,
        severity=alert.severity,
        due_time=windows.due_time(calendar, now=now, hours=alert.due_hours),
        matched=core_alerts.documents(match.leaves),
        resolved_time=now if opens_closed else None,
        created_time=now,
        updated_time=now,
    )


async def repeat(db: Database, *, repeats: Mapping[tuple[str, str], int], now: datetime) -> None:
    """Count repeats on open cases (organization, case) that the caller has locked, and record their events."""
    if not repeats:
        return
    triples = [(organization_id, case_id, more) for (organization_id, case_id), more in sorted(repeats.items())]
    cases = await store.update_repeated(db, repeats=triples, now=now)
    await rules.settle_counts(
        db, counts=[(case.organization_id, case.alert_id, 0) for case in cases], triggered_time=now
    )
    await events.record(db, events=[event(case, "repeated", now=now) for case in cases])


async def erase_answers(
    db: Database, *, responses: Sequence[tuple[str, str]], responders: Sequence[tuple[str, str]]
) -> None:
    """Remove the answers of deleted responses from cases, and the comments on cases of erased responders.

    The cases stay: they say nothing else about the person.
    """
    if responses or responders:
        await store.update_matched_to_blank(db, responses=responses, responders=responders)
    if responders:
        await store.delete_comments_on(db, responders=responders)


async def move_status(
    db: Database, *, caller: Caller, status_id: int, move_to: int, closes: bool, now: datetime
) -> None:
    """Move the cases with one status to another, and record an event of each. Raises Conflict."""
    key: dict[str, Any] = {"organization_id": caller.organization_id, "status_id": status_id}
    if await store.count_status_uses(db, **key, limit=STATUS_MOVES_MAX + 1) > STATUS_MOVES_MAX:
        message = f"More than {STATUS_MOVES_MAX:,} cases have this status; give some another one first."
        raise errors.Conflict(message, "in_use")
    moved = await store.update_status_to(
        db, **key, move_to=move_to, is_closing=closes, limit=STATUS_MOVES_MAX, now=now, updated_by=caller.actor_id
    )
    await _count(db, changed=moved)
    moves = [
        event(case, kind, now=now, caller=caller)
        for case, was_resolved in moved
        for kind in ("status_changed", *crossing(case, was_resolved=was_resolved))
    ]
    await events.record(db, events=moves)


async def comment(db: Database, *, caller: Caller, alert_instance_id: str, body: str, now: datetime) -> Comment:
    """Comment on a case; colleagues whom it mentions are told. Raises NotFound."""
    case = await get(db, caller=caller, alert_instance_id=alert_instance_id, is_locked=True)
    written = Comment(
        organization_id=case.organization_id,
        comment_id=ids.ordered(now),
        alert_instance_id=alert_instance_id,
        author_id=caller.actor_id,
        user_id=caller.user_id,
        body=body,
        version=1,
        created_time=now,
        updated_time=now,
    )
    await store.insert_comment(db, comment=written)
    after = await store.update_comments_count(db, **case.key, more=1, now=now)
    mentioned = sorted(await _mentioned(db, case, body)) if "@" in body else []
    more = {"comment_id": written.comment_id, "mentioned_user_ids": mentioned}
    kinds = ("commented", "mentioned") if mentioned else ("commented",)
    written_events = [event(errors.found(after, NO_CASE), kind, now=now, caller=caller, **more) for kind in kinds]
    await events.record(db, events=written_events)
    return written


class CommentPath(TypedDict):
    alert_instance_id: str
    comment_id: str


async def update_comment(
    db: Database,
    *,
    caller: Caller,
    body: str | None,
    now: datetime,
    expect: errors.Expect = errors.ANY,
    **path: Unpack[CommentPath],
) -> Comment:
    """Change the caller's own comment. Raises NotFound, Forbidden (another's), and what `expect` raises."""
    before = await _own_comment(db, caller, expect, **path)
    if body is None:
        return before
    return await store.update_comment(db, organization_id=before.organization_id, **path, body=body, now=now) or before


async def delete_comment(
    db: Database, *, caller: Caller, now: datetime, expect: errors.Expect = errors.ANY, **path: Unpack[CommentPath]
) -> None:
    """Delete the caller's own comment. Raises NotFound, Forbidden (another's), and what `expect` raises."""
    written = await _own_comment(db, caller, expect, **path)
    key = {"organization_id": written.organization_id, "alert_instance_id": written.alert_instance_id}
    await store.delete_comment(db, **key, comment_id=written.comment_id)
    await store.update_comments_count(db, **key, more=-1, now=now)


async def _clock(
    db: Database, case: Case, *, waits: bool, closes: bool, due_time: datetime | None, now: datetime
) -> Mapping[str, Any]:
    """The columns of a case's clock when it begins to wait, goes on or is closed."""
    if waits == case.waiting and not closes:
        return {}
    calendar = await settings.calendar_of(db, organization_id=case.organization_id)
    if waits:
        left = None if due_time is None else windows.left(calendar, now=now, due=due_time)
        seconds = None if left is None else math.ceil(left.total_seconds())  # of a second begun, all: nobody loses time
        return {"waiting_since": now, "due_left_seconds": seconds, "due_time": None}
    columns: dict[str, Any] = {}
    if case.waiting_since is not None:
        if due_time is None and case.due_left_seconds is not None:
            left = timedelta(seconds=case.due_left_seconds)
            due_time = windows.due_again(calendar, now=now, left=left)
        waited = case.waited_seconds + _seconds(windows.between(calendar, case.waiting_since, now))
        columns = {"waiting_since": None, "due_left_seconds": None, "due_time": due_time, "waited_seconds": waited}
    if closes:
        since_opening = _seconds(windows.between(calendar, case.created_time, now))
        columns["work_seconds"] = max(0, since_opening - columns.get("waited_seconds", case.waited_seconds))
    return columns


def _seconds(span: timedelta) -> int:
    return span // timedelta(seconds=1)


async def _require_user(db: Database, case: Case, user_id: str, *, application_id: str) -> None:
    known = await rules.list_user_ids(
        db,
        organization_id=case.organization_id,
        application_id=application_id,
        among=[user_id],
        instance_id=case.instance_id or "",
    )
    if not known:
        message = "There is no such user, or this case is not one that the user may see."
        raise errors.Invalid.at("/assigned_user_id", "unknown_id", message)


async def _mentioned(db: Database, case: Case, body: str) -> set[str]:
    application_id = await store.get_application_id(db, organization_id=case.organization_id, alert_id=case.alert_id)
    people = await store.list_names(
        db, organization_id=case.organization_id, application_id=application_id or "", limit=MENTIONABLE_MAX
    )
    return reply_text.mentioned(body, people)


async def _count(db: Database, *, changed: Sequence[tuple[Case, bool]]) -> None:
    """Count the alerts' open cases anew; `changed`: each case after the change, and True if it was resolved before."""
    counts = [
        (case.organization_id, case.alert_id, 1 if case.resolved_time is None else -1)
        for case, was_resolved in changed
        if crossing(case, was_resolved=was_resolved)
    ]
    await rules.settle_counts(db, counts=counts)


async def _own_comment(db: Database, caller: Caller, expect: errors.Expect, **path: Unpack[CommentPath]) -> Comment:
    # The case is locked, which also serializes changes of its comments.
    case = await get(db, caller=caller, alert_instance_id=path["alert_instance_id"], is_locked=True)
    found = await store.get_comment(db, organization_id=case.organization_id, **path)
    written = errors.found(found, "There is no such comment.")
    if written.author_id != caller.actor_id:
        raise errors.Forbidden("Somebody else wrote this; only they can change it.")
    expect(written.version)
    return written
