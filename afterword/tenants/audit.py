"""Writing to the audit log what no trigger sees: readings, searches, downloads, log-ins."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from datetime import datetime, timedelta, tzinfo
from typing import Any, Final, Literal

import msgspec
from msgspec.structs import replace

from afterword.core.organizations.access import Caller
from afterword.core.wire import tables
from afterword.core.wire.exports import guarded
from afterword.core.wire.lists import Criterion, Page, Rows
from afterword.kit.db import Database
from afterword.kit.nouns.structs import shown_as
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call, Download, Routes


class Entry(msgspec.Struct, frozen=True):
    """An act. Names are those of today; `before` and `after` have what changed, long and secret values as a dash."""

    entry_id: fields.Id
    created_time: datetime
    actor_kind: Literal["user", "token", "system", "command"]
    actor_id: fields.Id | None
    actor_name: fields.Computed[str | None]
    actor_role: str | None
    action: str
    thing_kind: str
    thing_id: str | None
    thing_name: fields.Computed[str | None]
    before: fields.Computed[dict[str, Any] | None]
    after: fields.Computed[dict[str, Any] | None]
    device: str | None
    network: str | None


class LogIn(msgspec.Struct, frozen=True):
    created_time: datetime
    action: str
    device: str | None
    network: str | None


async def _insert_entry(
    db: Database, *, organization_id: str, entry: Mapping[str, Any], now: datetime, unless_since: datetime | None
) -> None:
    """`entry`: columns. `unless_since`: no second entry of the same act of the same actor after that time."""
    await db.execute(
        """insert into audit_entry (organization_id, created_time, actor_kind, actor_id, actor_role, action, thing_kind,
             thing_id, thing_name, after)
           select $1, $2, n.actor_kind, n.actor_id, n.actor_role, n.action, n.thing_kind, n.thing_id, n.thing_name,
             n.after
           from jsonb_populate_record(null::audit_entry, $3) n
           where $4::timestamptz is null or not exists (
             select from audit_entry e where e.organization_id = $1 and e.thing_kind = n.thing_kind
               and e.thing_id = n.thing_id and e.created_time > $4 and e.action = n.action
               and e.actor_kind = n.actor_kind and e.actor_id = n.actor_id)""",
        *(organization_id, now, entry, unless_since),
    )


async def _insert_login_entries(  # any tenant: a login belongs to a person
    db: Database,
    *,
    login_id: str,
    action: str,
    now: datetime,
    organization_id: str | None = None,
    device: str | None = None,
    network: str | None = None,
) -> None:
    """One entry in this organization; None: in each that the person works for."""
    await db.execute(
        """insert into audit_entry (organization_id, created_time, actor_kind, actor_id, actor_role, action, thing_kind,
             thing_id, device, network)
           select organization_id, $5, 'user', user_id, role, $2, 'login', user_id, $3, $4 from organization_user
           where removed_time is null and (organization_id, user_id) in (
               select u.organization_id, u.user_id from organization_user u where u.login_id = $1
               union all
               select i.organization_id, i.user_id from login_identity i where i.login_id = $1)
             and ($6::text is null or organization_id = $6)""",
        *(login_id, action, device, network, now, organization_id),
    )


async def list_entries(
    db: Database, *, organization_id: str, page: Page, thing_kinds: Sequence[str] = (), actions: Sequence[str] = ()
) -> Rows[Entry]:
    """`thing_kinds`, `actions`: empty for all."""
    return await db.records(Entry).fetch_list(
        """select e.entry_id, e.created_time, e.actor_kind, e.actor_id, e.actor_role, e.action, e.thing_kind,
             e.thing_id, e.before, e.after, e.device, e.network,
             case e.actor_kind
               when 'user' then (select coalesce(u.display_name, nullif(concat_ws(' ', u.first_name, u.last_name), ''),
                 u.email) from organization_user u where u.organization_id = $1 and u.user_id = e.actor_id)
               when 'token' then (select t.title from token t where t.organization_id = $1 and t.token_id = e.actor_id)
             end as actor_name,
             case when e.thing_name is not null then e.thing_name
               when e.thing_kind in ('user', 'login') then (
                 select coalesce(u.display_name, nullif(concat_ws(' ', u.first_name, u.last_name), ''), u.email)
                 from organization_user u where u.organization_id = $1 and u.user_id = e.thing_id)
               when e.thing_kind = 'questionnaire' then (select q.display_name from questionnaire q
                 where q.organization_id = $1 and q.questionnaire_id = e.thing_id)
               when e.thing_kind = 'alert_instance' then (select a.title from alert_instance i
                 join alert a on a.organization_id = i.organization_id and a.alert_id = i.alert_id
                 where i.organization_id = $1 and i.alert_instance_id = e.thing_id)
             end as thing_name
           from audit_entry e
           where e.organization_id = $1 and (cardinality($2::text[]) = 0 or e.thing_kind = any($2))
             and (cardinality($3::text[]) = 0 or e.action = any($3))""",
        *(organization_id, list(thing_kinds), list(actions)),
        page=page,
    )


async def list_logins(db: Database, *, organization_id: str, user_id: str, limit: int) -> list[LogIn]:
    """A person's last ones, the newest first, refused ones too."""
    return await db.records(LogIn).fetch(
        """select created_time, action, device, network from audit_entry
           where organization_id = $1 and actor_id = $2 and thing_kind = 'login'
             and action in ('logged_in', 'logged_in_anew', 'login_failed')
           order by created_time desc, entry_id limit $3""",
        *(organization_id, user_id, limit),
    )


KEPT_DAYS: Final = 730
Reading = Literal["read", "searched", "downloaded", "exported"]  # what is noted of those who change nothing
NAME_CHARACTERS_MAX: Final = 200
record_login: Final = _insert_login_entries


async def record(
    db: Database,
    *,
    caller: Caller,
    action: Reading,
    thing_kind: str,
    thing_id: str | None,
    now: datetime,
    thing_name: str | None = None,
    after: Mapping[str, Any] | None = None,
    once_in: timedelta | None = None,
) -> None:
    """Note an act of the caller, such as `read` of a `responder`. `thing_name` and `after` hold nothing of a person.

    Without a transaction, as in the handler of a GET, the entry commits alone. `once_in`: one entry of repeated acts.
    """
    kind = caller.actor_kind
    entry = {
        "actor_kind": "system" if kind == "worker" else kind,
        "actor_id": caller.actor_id or None,
        "actor_role": caller.role if caller.user_id else None,
        "action": action,
        "thing_kind": thing_kind,
        "thing_id": thing_id,
        "thing_name": thing_name and thing_name[:NAME_CHARACTERS_MAX],
        "after": after,
    }
    unless_since = now - once_in if once_in else None
    await _insert_entry(db, organization_id=caller.organization_id, entry=entry, now=now, unless_since=unless_since)


async def prune_entries(db: Database, *, now: datetime, limit: int) -> int:  # any tenant: retention
    return await db.fetch_value("select prune_audit_entries($1, $2)", now - timedelta(days=KEPT_DAYS), limit)


Format = Literal["csv", "jsonl"]
MEDIA_TYPES: Final[dict[Format, str]] = {"csv": "text/csv; charset=utf-8", "jsonl": "application/x-ndjson"}
FILE_ENTRIES_MAX: Final = 100_000
PAGE_ENTRIES: Final = 1_000  # of a file, read at once

routes = Routes(tag="Audit", scope="Audit")


AuditEntry: Final = shown_as("AuditEntry", Entry)


ENTRIES: Final = fields.listing_of(AuditEntry)


class AuditFileQuery(fields.Request):
    """The form of a file, and the entries in it."""

    format: Format = "csv"
    actor_id: fields.Id | None = None
    action: fields.Text50 | None = None
    thing_kind: fields.Text50 | None = None
    thing_id: fields.Text100 | None = None
    from_time: fields.Moment | None = None
    to_time: fields.Moment | None = None


def criteria_of(equal: Mapping[str, str | None], *, start: datetime | None, end: datetime | None) -> list[Criterion]:
    """`equal`: values by the name of their column, empty for any."""
    columns = ENTRIES.columns
    found = [Criterion("EQUAL", columns[name], value) for name, value in equal.items() if value]
    found += [Criterion("GREATER_EQUAL", columns["created_time"], start)] if start else []
    found += [Criterion("LESS_THAN", columns["created_time"], end)] if end else []
    return found


@routes.list(
    "/audit",
    answer=AuditEntry,
    listing=ENTRIES,
    summary="Get the audit log",
    description="Newest first: changes with their author, log-ins and failed ones, readings of a person, downloads. "
    "Filter by `ActorId`, `Action`, `ThingKind`, `ThingId`, `CreatedTime`. Kept two years; entries cannot be changed.",
)
async def list_audit_entries(call: Call[None], db: Database) -> Rows[Entry]:
    call.caller.require_all()
    return await list_entries(db, organization_id=call.caller.organization_id, page=call.page)


@routes.get(
    "/audit/file",
    query=AuditFileQuery,
    media_types=tuple(MEDIA_TYPES.values()),
    summary="Get the audit log as a file",
    description="The newest 100,000 entries that match, as CSV or one JSON object a line, with the members of the "
    "list. The first entry is the download itself.",
)
async def get_audit_file(call: Call[None], db: Database) -> Answer:
    query: AuditFileQuery = call.query or AuditFileQuery()
    start, end = (time and time.instant for time in (query.from_time, query.to_time))
    equal = {name: getattr(query, name) for name in ("actor_id", "action", "thing_kind", "thing_id")}
    return Answer(
        download=await file_of(
            db,
            caller=call.caller,
            criteria=criteria_of(equal, start=start, end=end),
            file_format=query.format,
            zone=call.zone,
            now=call.now,
        )
    )


async def file_of(
    db: Database,
    *,
    caller: Caller,
    criteria: Sequence[Criterion],
    file_format: Format,
    zone: tzinfo,
    now: datetime,
    thing_kinds: Sequence[str] = (),
    actions: Sequence[str] = (),
) -> Download:
    """The entries, read page by page while they are sent; the first one is the download itself."""
    caller.require_all()
    page = replace(Page.first(ENTRIES), criteria=tuple(criteria))
    found = {"organization_id": caller.organization_id, "thing_kinds": thing_kinds, "actions": actions}
    await record(
        db,
        caller=caller,
        action="downloaded",
        thing_kind="audit",
        thing_id=None,
        after={"format": file_format, "filters": sorted({one.column.name for one in criteria})},
        now=now,
    )
    return Download(
        media_type=MEDIA_TYPES[file_format],
        file_name=f"audit-{now.astimezone(zone).date().isoformat()}.{file_format}",
        length=None,
        chunks=_chunks(db, page, found, file_format=file_format, zone=zone),
    )


async def _chunks(
    db: Database, page: Page, found: dict[str, Any], *, file_format: Format, zone: tzinfo
) -> AsyncGenerator[bytes, None]:
    if file_format == "csv":
        names = tables.csv_text([AuditEntry.__struct_fields__])
        yield names.encode("utf-8-sig")  # else spreadsheets guess another encoding
    left = FILE_ENTRIES_MAX
    while left > 0:
        rows = await list_entries(db, **found, page=replace(page, limit=min(PAGE_ENTRIES, left)))
        yield b"".join(_written(entry, file_format, zone) for entry in rows.items)
        if not rows.has_more:
            return
        last = rows.items[-1]
        page, left = replace(page, after=(last.created_time, last.entry_id)), left - len(rows.items)


def _written(entry: Entry, file_format: Format, zone: tzinfo) -> bytes:
    record = AuditEntry.of(entry, zone)
    if file_format == "jsonl":
        return msgspec.json.encode(record) + b"\n"
    cells = (getattr(record, name) for name in AuditEntry.__struct_fields__)
    texts = (msgspec.json.encode(each).decode() if isinstance(each, dict) else each for each in cells)
    return tables.csv_text([[guarded("" if text is None else str(text)) for text in texts]]).encode()
