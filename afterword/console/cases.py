"""Cases: the list by due time, and the page where one is worked on."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from urllib.parse import urlencode

from starlette.responses import Response

from afterword import errors
from afterword.alerts.cases import service
from afterword.alerts.cases import store as cases_store
from afterword.alerts.resources import AlertStatus
from afterword.alerts.statuses import store as statuses_store
from afterword.alerts.work import store
from afterword.alerts.work.store import WorkItem
from afterword.console.answers import answers_of
from afterword.console.screens import Screens, Visit
from afterword.console.text import due_text
from afterword.core.wire.lists import Page
from afterword.db import Database
from afterword.organizations.users import api as users_api
from afterword.organizations.users import store as users_store
from afterword.web import fields, html

CASES: Final = "/console/cases"
TABS: Final[Mapping[str, str]] = {
    "open": "Open",
    "overdue": "Overdue",
    "mine": "Mine",
    "unassigned": "Without an owner",
    "closed": "Closed",
}
ROWS: Final = 50
NOTES_MAX: Final = 200
USERS_MAX: Final = 200
STATUSES_MAX: Final = 100
CLOSED: Final = timedelta(days=store.CLOSED_DAYS)
BODY_CHARACTERS_MAX: Final = 5_000
EPOCH: Final = datetime.fromtimestamp(0, UTC)
MICROS_DIGITS: Final = 18
SEVERITIES: Final[Mapping[str, str]] = {
    "low": "Low severity",
    "normal": "",
    "high": "High severity",
    "critical": "Critical",
}
SYSTEM_STATUSES: Final[Mapping[int, str]] = {1: "New", 2: "In progress", 3: "Closed", 4: "Dismissed"}
STATUSES: Final = fields.listing_of(AlertStatus, order=(("position", "asc"),), id="status_id")
USERS: Final = fields.listing_of(users_api.User)

routes = Screens()


@routes.get(CASES, scope="Alert Instance.Read")
async def list_cases(visit: Visit) -> Response:
    tab = visit.query.get("tab", "")
    tab = tab if tab in TABS else "open"
    async with visit.read() as db:
        counts = await cases_store.count_cases(db, **_reach(visit), user_id=visit.caller.user_id, now=visit.now)
        found = await _listed(visit, db, tab)
    rows = [_row(visit, one) for one in found[:ROWS]]
    last = found[ROWS - 1] if len(found) > ROWS else None
    return visit.page(
        "cases.html",
        title=visit.words("Cases"),
        tabs=[
            {
                "url": f"{CASES}?tab={name}",
                "text": visit.words(text),
                "count": counts.get(name),
                "is_current": name == tab,
            }
            for name, text in TABS.items()
        ],
        rows=rows,
        next_url=f"{CASES}?{urlencode({'tab': tab, 'after': _key_of(last, tab)})}" if last else "",
        first_url=f"{CASES}?tab={tab}" if "after" in visit.query else "",
        closed_days=store.CLOSED_DAYS,
        tab=tab,
    )


@routes.get("/console/cases/{alert_instance_id}", scope="Alert Instance.Read")
async def case_page(visit: Visit) -> Response:
    return await _page(visit)


@routes.post("/console/cases/{alert_instance_id}", scope="Alert Instance.Update")
async def change_case(visit: Visit) -> Response:
    """Change status and owner, unless somebody else was faster: then both versions are shown."""
    form = visit.form
    try:
        async with visit.write() as db:
            case = await service.update(
                db,
                caller=visit.caller,
                alert_instance_id=visit.id("alert_instance_id"),
                changes={
                    "status_id": _number(form.text("status_id")),
                    "assigned_user_id": form.text("assigned_user_id") or None,
                },
                now=visit.now,
                expect=_unchanged(form.text("version")),
            )
            if body := form.text("body")[:BODY_CHARACTERS_MAX]:
                await _comment(visit, db, body)
    except errors.Stale as stale:
        return await _page(visit, refusal=stale)
    done = "closed" if case.resolved_time is not None else "saved"
    return html.redirect(f"{CASES}/{case.alert_instance_id}?done={done}")


@routes.post("/console/cases/{alert_instance_id}/comment", scope="Alert Instance.Update")
async def comment(visit: Visit) -> Response:
    body = visit.form.text("body")
    if not 0 < len(body) <= BODY_CHARACTERS_MAX:
        wrong = visit.words("Write a comment of up to 5,000 characters.")
        return await _page(visit, refusal=errors.Invalid.at("/body", "too_long", wrong))
    async with visit.write() as db:
        await _comment(visit, db, body)
    return html.redirect(f"{CASES}/{visit.id('alert_instance_id')}?done=commented")


async def _comment(visit: Visit, db: Database, body: str) -> None:
    await service.comment(
        db, caller=visit.caller, alert_instance_id=visit.id("alert_instance_id"), body=body, now=visit.now
    )


async def _listed(visit: Visit, db: Database, tab: str) -> list[WorkItem]:
    time, _, key = visit.query.get("after", "").partition("_")
    moment = _moment(time)
    if tab == "closed":
        before, since = moment or visit.now, visit.now - CLOSED
        return await store.list_closed(db, **_reach(visit), before=before, since=since, limit=ROWS + 1)
    return await store.list_work(
        db,
        **_reach(visit),
        tab=tab,
        user_id=visit.caller.user_id,
        now=visit.now,
        after=(moment, key) if moment else None,
        limit=ROWS + 1,
    )


def _reach(visit: Visit) -> Any:
    return visit.caller.reach


def _moment(text: str) -> datetime | None:
    """The time of a key, which has it in microseconds."""
    if not text.isascii() or not text.isdigit() or len(text) > MICROS_DIGITS:
        return None
    latest = (store.NEVER - EPOCH) // timedelta(microseconds=1)
    return EPOCH + timedelta(microseconds=min(int(text), latest))


def _key_of(item: WorkItem, tab: str) -> str:
    time = item.resolved_time if tab == "closed" else item.due_time
    micros = ((time or store.NEVER) - EPOCH) // timedelta(microseconds=1)
    return f"{micros}_{item.alert_instance_id}"


def _row(visit: Visit, item: WorkItem) -> dict[str, Any]:
    words = visit.words
    return {
        "url": f"{CASES}/{item.alert_instance_id}",
        "item": item,
        "status": _status(visit, item.status_id, item.status_title),
        "severity": words(SEVERITIES[item.severity]),
        "due": due_text(words, item.due_time, now=visit.now, zone=visit.zone) if item.resolved_time is None else "",
        "is_late": item.resolved_time is None and item.due_time is not None and item.due_time < visit.now,
        "opened": words.moment(item.created_time, time_zone=visit.zone),
        "closed": words.moment(item.resolved_time, time_zone=visit.zone) if item.resolved_time else "",
    }


def _status(visit: Visit, status_id: int, title: str) -> str:
    """A status of the product in the reader's language, one of the organization's own as it is."""
    return visit.words(SYSTEM_STATUSES[status_id]) if status_id in SYSTEM_STATUSES else title


async def _page(visit: Visit, *, refusal: errors.Refusal | None = None) -> Response:
    organization_id, case_id = visit.caller.organization_id, visit.id("alert_instance_id")
    async with visit.read() as db:
        item = await store.get_work(db, **_reach(visit), alert_instance_id=case_id)
        if item is None:
            raise errors.NotFound("There is no such case.")
        notes = await store.list_notes(db, organization_id=organization_id, alert_instance_id=case_id, limit=NOTES_MAX)
        statuses = await statuses_store.list_statuses(
            db,
            organization_id=organization_id,
            application_ids=visit.caller.application_ids,
            page=Page.first(STATUSES, limit=STATUSES_MAX),
        )
        users = await users_store.list_users(
            db, organization_id=organization_id, page=Page.first(USERS, limit=USERS_MAX)
        )
        response = await answers_of(db, caller=visit.caller, instance_id=item.instance_id) if item.instance_id else None
    return visit.page(
        "case.html",
        title=item.alert_title,
        status=refusal.status if refusal else 200,
        row=_row(visit, item),
        item=item,
        response=response,
        notes=[
            {
                "author": one.author_name,
                "body": one.body,
                "when": visit.words.moment(one.created_time, time_zone=visit.zone),
            }
            for one in notes
        ],
        statuses=[(each.status_id, _status(visit, each.status_id, each.title)) for each in statuses.items],
        users=_owners(users.items),
        typed=visit.form.text("body"),
        chosen={
            "status_id": _number(visit.form.text("status_id")) or item.status_id,
            "user": visit.form.text("assigned_user_id") or item.assigned_user_id or "",
        },
        may_change="Alert Instance.Update" in visit.caller.scopes,
        refusal=refusal,
    )


def _owners(users: Sequence[users_store.User]) -> list[tuple[str, str]]:
    return [(each.user_id, each.display_name or each.email) for each in users if each.active]


def _unchanged(seen: str) -> errors.Expect:
    def expect(version: int) -> None:
        if str(version) != seen:
            raise errors.Stale(
                "Somebody changed this case in the meantime. It stands below with your choices: check and save again."
            )

    return expect


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0  # noqa: PLR2004  an integer
