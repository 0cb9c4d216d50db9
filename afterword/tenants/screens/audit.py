"""The audit log: one sentence for each entry, filters as links, and the values behind it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any, Final, get_args
from zoneinfo import ZoneInfo

from msgspec.structs import replace
from starlette.responses import Response

from afterword import ids
from afterword.console.screens import Database, Screens, Visit, download
from afterword.core.figures.templates import TEMPLATES
from afterword.core.wire.lists import Criterion, Page
from afterword.kit import db as databases
from afterword.kit.texts import Marked, Texts, tables_of
from afterword.kit.ui.lists import Filter, Listing, Tab, address, one_of, parameter, read_key
from afterword.kit.ui.text import actor_text, near_moment
from afterword.tenants import audit
from afterword.tenants.audit import Entry
from afterword.tenants.organizations.users import USERS, list_users
from afterword.tenants.screens import members as settings

AUDIT: Final = "/console/settings/audit"
ROWS: Final = 30  # each with the members that it changed
FIELDS_NAMED_MAX: Final = 3
VALUE_CHARACTERS_MAX: Final = 60
ID_CHARACTERS_MAX: Final = 100
LOGIN: Final = "login"
YEAR_MIN, YEAR_MAX = 1970, 9998
# Name in the address -> text, actions, kinds; empty: all.
GROUPS: Final[Mapping[str, tuple[Marked, tuple[str, ...], tuple[str, ...]]]] = {
    "": ("All", (), ()),
    "changes": ("Changes", ("created", "changed", "deleted", "published", "updated", "aborted", "written_to"), ()),
    "readings": ("Views and downloads", get_args(audit.Reading), ()),
    "logins": ("Log-ins", (), (LOGIN,)),
}
_TABLES: Final = tables_of(__name__)
KINDS: Final[Mapping[str, Marked]] = _TABLES["kinds"]
ACTIONS: Final[Mapping[str, Marked]] = _TABLES["actions"]
FIELDS: Final[Mapping[str, Marked]] = _TABLES["fields"]
PAGES: Final[Mapping[str, str]] = {
    "user": "/console/settings/people/", "token": "/console/settings/tokens/", "alert_instance": "/console/cases/",
    "questionnaire_instance": "/console/responses/", "report": "/console/reports/saved/",
    "questionnaire": "/console/questionnaires/", "erasure": "/console/people/erasure/",
}  # fmt: skip

routes = Screens()


def _day(text: str) -> date | None:
    try:
        found = date.fromisoformat(text)
    except ValueError:
        return None
    return found if YEAR_MIN <= found.year <= YEAR_MAX else None


@dataclass(frozen=True)
class AuditFilter(Filter):
    path = AUDIT

    group: str = one_of(GROUPS)
    actor: str = parameter(ID_CHARACTERS_MAX)
    kind: str = one_of(KINDS)
    thing: str = parameter(ID_CHARACTERS_MAX)
    first: str = parameter(read=lambda day: day if _day(day) else "")  # days, of the person's time zone
    last: str = parameter(read=lambda day: day if _day(day) else "")
    after: str = parameter(60)

    def file_url(self, file_format: str) -> str:
        return address(f"{AUDIT}/file", self.query, format=file_format, after="")


def history_url(kind: str, thing_id: str) -> str:
    return AuditFilter(kind=kind, thing=thing_id).url()


@routes.get(AUDIT + "/file", scope="Audit.Read")
async def audit_file(visit: Visit) -> Response:
    choice = AuditFilter.read(visit.query)
    _, actions, kinds = GROUPS[choice.group]
    file = await audit.file_of(
        databases.on_demand(visit.pool),
        caller=visit.caller,
        criteria=_criteria(visit, choice),
        file_format="jsonl" if visit.query.get("format") == "jsonl" else "csv",
        zone=ZoneInfo(visit.zone),
        now=visit.now,
        thing_kinds=kinds,
        actions=actions,
    )
    return download(file)


@routes.get(AUDIT, scope="Audit.Read")
async def audit_page(visit: Visit, db: Database) -> Response:
    visit.caller.require_whole()
    words, choice = visit.words, AuditFilter.read(visit.query)
    _, actions, kinds = GROUPS[choice.group]
    page = replace(
        Page.first(audit.ENTRIES, limit=ROWS), criteria=tuple(_criteria(visit, choice)), after=read_key(choice.after)
    )
    found = await audit.list_entries(
        db, organization_id=visit.caller.organization_id, page=page, actions=actions, thing_kinds=kinds
    )
    everybody = Page.first(USERS, limit=settings.LISTED_MAX)
    users = await list_users(db, organization_id=visit.caller.organization_id, page=everybody, with_service=True)
    last = found.items[-1] if found.has_more else None
    listed = Listing(
        rows=[_row(visit, choice, entry) for entry in found.items],
        empty=words("No entries of this kind yet."),
        tabs=[
            Tab(url=choice.url(group=name), text=words(text), is_current=name == choice.group)
            for name, (text, _, _) in GROUPS.items()
        ],
        filters=_filters(words, choice, found.items),
        clear_url=AuditFilter(group=choice.group).url(),
        **choice.pages((last.created_time, last.entry_id) if last else None),
        export_url=choice.file_url("csv"),
    )
    return visit.page(
        "audit.html",
        title=words("Audit log"),
        list=listed,
        choice=choice,
        lines_url=choice.file_url("jsonl") if found.items else "",
        users=[("", words("Everybody")), *((one.user_id, one.display_name or one.email) for one in users.items)],
    )


def sentence_of(words: Texts, entry: Entry) -> str:
    actor, thing = _actor(words, entry), _thing(words, entry)
    changed = sorted((entry.after or entry.before or {}).keys()) if entry.action == "changed" else []
    if not changed:
        text = ACTIONS.get(entry.action)
        if text is None:
            return words("{actor}: {action}, {thing}.", actor=actor, action=_plain(entry.action), thing=thing)
        return words(text, actor=actor, thing=thing)
    fields = [(words(FIELDS[name]) if name in FIELDS else _plain(name)) for name in changed[:FIELDS_NAMED_MAX]]
    if len(changed) > FIELDS_NAMED_MAX:
        fields.append(words("{n} more", n=len(changed) - FIELDS_NAMED_MAX))
    told = {"actor": actor, "field": ", ".join(fields), "thing": thing}
    before, after = ((values or {}).get(changed[0]) for values in (entry.before, entry.after))
    if len(changed) > 1 or not _is_short(before) or not _is_short(after):
        return words("{actor} changed {field} of {thing}.", **told)
    return words(
        "{actor} changed {field} of {thing} from {before} to {after}.",
        **told,
        before=_value(words, before),
        after=_value(words, after),
    )


def _criteria(visit: Visit, choice: AuditFilter) -> list[Criterion]:
    chosen = {"actor_id": choice.actor, "thing_kind": choice.kind, "thing_id": choice.thing}
    first, last = _day(choice.first), _day(choice.last)
    midnight = time(tzinfo=ZoneInfo(visit.zone))
    return audit.criteria_of(
        chosen,
        start=datetime.combine(first, midnight) if first else None,
        end=datetime.combine(last, midnight) + timedelta(days=1) if last else None,
    )


def _filters(words: Texts, choice: AuditFilter, entries: list[Entry]) -> list[tuple[str, str]]:
    """The filters in force, named by the first entry that they left."""
    first = entries[0] if entries else None
    found: list[tuple[str, str]] = []
    if choice.actor:
        name = _actor(words, first) if first else choice.actor
        found.append((words("By {actor}", actor=name), choice.url(actor="")))
    if choice.kind or choice.thing:
        name = _thing(words, first) if first and choice.thing else words(KINDS[choice.kind]) if choice.kind else ""
        found.append((words("About {thing}", thing=name or choice.thing), choice.url(kind="", thing="")))
    if choice.first:
        found.append((words("From {day}", day=words.day(choice.first)), choice.url(first="")))
    if choice.last:
        found.append((words("To {day}", day=words.day(choice.last)), choice.url(last="")))
    return found


def _row(visit: Visit, choice: AuditFilter, entry: Entry) -> dict[str, Any]:
    words = visit.words
    names: list[str] = sorted({**(entry.before or {}), **(entry.after or {})})
    page = PAGES.get(entry.thing_kind)
    return {
        "when": near_moment(words, entry.created_time, now=visit.now, zone=visit.zone),
        "sentence": sentence_of(words, entry),
        "place": ", ".join(
            filter(None, (words("Unknown device") if entry.device == "?" else entry.device, entry.network))
        ),
        "values": [
            (
                name if name not in FIELDS else "",
                words(FIELDS.get(name, "")),
                *(_value(words, (each or {}).get(name)) for each in (entry.before, entry.after)),
            )
            for name in names
        ],
        "actor_url": choice.url(actor=entry.actor_id or "") if entry.actor_id and not choice.actor else "",
        "history_url": history_url(entry.thing_kind, entry.thing_id) if entry.thing_id and not choice.thing else "",
        "url": f"{page}{entry.thing_id}" if page and entry.thing_id else "",
    }


def _actor(words: Texts, entry: Entry) -> str:
    name = actor_text(words, entry.actor_kind, entry.actor_name)
    is_user = entry.actor_kind == "user"
    role = next((text for role, text, _ in settings.ROLES if is_user and role == entry.actor_role), "")
    return f"{name} ({words(role)})" if role else name


def _thing(words: Texts, entry: Entry) -> str:
    kind = words(KINDS[entry.thing_kind]) if entry.thing_kind in KINDS else _plain(entry.thing_kind)
    ready = TEMPLATES.get(entry.thing_name or "") if entry.thing_kind == "report" and not entry.thing_id else None
    title = words.said(ready.title) if ready else entry.thing_name
    name = words("“{title}”", title=title) if entry.thing_kind != "organization" else ""
    return f"{kind} {name}" if entry.thing_name and name else kind


def _is_short(value: object) -> bool:
    text = str(value)
    is_told = len(text) <= VALUE_CHARACTERS_MAX and text != "—" and not ids.is_id(text)
    return is_told and not isinstance(value, dict | list)


def _value(words: Texts, value: object) -> str:
    if value is None:
        return words("nothing")
    if isinstance(value, bool):
        return words("yes") if value else words("no")
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


def _plain(name: str) -> str:
    return name.replace("_", " ")
