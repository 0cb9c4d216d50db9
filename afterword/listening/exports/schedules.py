"""Exports on a timetable: what goes where and when, and the log of its runs.

A schedule has one open run at most. A run that fails is begun again after a while that doubles, at its next time at
the latest; after some failures in a row the users hear of it.
"""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Final, Literal
from uuid import UUID

import msgspec
from msgspec import Meta

from afterword import errors, ids
from afterword.asking.questionnaires import access
from afterword.core.figures.periods import Every, next_run
from afterword.core.organizations.access import Caller
from afterword.core.wire import times
from afterword.core.wire.lists import Page, Rows
from afterword.core.wire.site import Site
from afterword.errors import FieldError
from afterword.events import service as events
from afterword.events.service import NewEvent
from afterword.kit import db as databases, sealing
from afterword.kit.db import Database, Pool
from afterword.kit.db.columns import columns_of
from afterword.kit.db.leases import Leases
from afterword.kit.nouns import service as nouns
from afterword.kit.nouns.api import routes_of
from afterword.kit.nouns.declaration import Change, Computed, Editable, Given, Hidden, Noun, Record, Screens
from afterword.kit.nouns.structs import shown_as
from afterword.kit.texts import Marked, Texts
from afterword.kit.transport import http, stores
from afterword.kit.transport.stores import Failed, Kind, Target
from afterword.kit.ui.text import WEEKDAY_OPTIONS
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call
from afterword.listening.exports import service
from afterword.listening.exports.formats import missing_extra

PATH: Final = "/export/schedule"
SCHEDULES_MAX: Final = 50  # of an organization
RETRY_SECONDS: Final = 600  # after the first failure: servers lock accounts after wrong passwords
TOLD_FAILURES: Final = 3  # in a row
KEPT_DAYS: Final = 90
_PATH: Final = re.compile(r"/?[A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*", re.ASCII)
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}", re.ASCII)
OF_KIND: Final[Mapping[str, tuple[str, ...]]] = {
    "folder": ("path",), "s3": ("endpoint", "region", "bucket", "path", "access_key", "secret"),
    "sftp": ("host", "port", "path", "username", "secret"),
}  # fmt: skip
"""The members about the destination, in the order of a form."""
_OPTIONAL: Final = frozenset({"region", "port", "secret"})
_OF_SOME: Final = frozenset(name for names in OF_KIND.values() for name in names)
_SERVER: Final = frozenset({"endpoint", "access_key", "host", "port", "username"})
"""Whoever changes it gives the secret."""
_ANEW: Final = _SERVER | {
    "bucket", "region", "path", "format", "locale", "filter", "include_incomplete", "include_metadata",
    "include_recipient",
}  # fmt: skip
_WHEN: Final = frozenset({"active", "every", "day", "hour"})

PROBLEM: Final = "Why it failed. " + " ".join(f"`{code}`: {text}" for code, text in stores.PROBLEMS.items())
Problem = Annotated[str | None, Meta(description=PROBLEM)]
Day = Annotated[int, Meta(ge=1, le=7)]
Hour = Annotated[int, Meta(ge=0, le=23)]
Port = Annotated[int, Meta(ge=1, le=65535)]
Text200 = Annotated[str, Meta(min_length=1, max_length=200, examples=["afterword/delivery"])]
HostKey = Annotated[str, Meta(min_length=1, max_length=2_000, extra=fields.LINE)]
Secret = Annotated[str, Meta(min_length=1, max_length=10_000)]
STAYS: Final[Marked] = "For SFTP the password or a private key. It is never shown. Empty: the stored one stays."
Line320 = Annotated[str, Meta(min_length=1, max_length=320, extra=fields.LINE)]
Format = Literal["csv", "parquet", "sav"]
FORMATS: Final = (("parquet", "Parquet"), ("csv", "CSV"), ("sav", "SPSS"))
DESTINATIONS: Final[tuple[tuple[str, Marked], ...]] = (
    ("folder", "A folder of this server"),
    ("s3", "S3-compatible storage"),
    ("sftp", "SFTP"),
)
EVERY: Final[tuple[tuple[str, Marked], ...]] = (
    ("hourly", "Every hour"),
    ("daily", "Every day"),
    ("weekly", "Every week"),
)


class ExportSchedule(Record, kw_only=True):
    """The responses of a questionnaire, which a worker writes to a store by a timetable, and how that goes."""

    schedule_id: fields.Id
    title: Annotated[fields.Text100, Editable("Title", "For your colleagues.")]
    questionnaire_id: Annotated[fields.Id, Editable("Questionnaire", "", "choice", once=True)]
    active: Annotated[bool, Editable("It runs", "", "switch")] = True
    every: Annotated[Every, Editable("How often", "", "choice", EVERY, holds="fixed")] = "daily"
    day: Annotated[Day, Editable("Day, where it runs every week", "", "choice", WEEKDAY_OPTIONS)] = 1
    hour: Annotated[Hour, Editable("Hour", "From 0 to 23, in the time zone of the organization.", "number")] = 3
    format: Annotated[Format, Editable("Format", "", "choice", FORMATS, holds="fixed")] = "csv"
    locale: Annotated[fields.LocaleNormal | None, Editable(shown=str | None, holds="fixed")] = None
    filter: Annotated[dict[str, Any] | None, Editable()] = None
    include_incomplete: Annotated[bool, Editable("With responses that are not complete", "", "switch")] = True
    include_metadata: Annotated[bool, Editable("With the metadata that you may read", "", "switch")] = True
    include_recipient: Annotated[bool, Editable("With addresses and order keys", "", "switch")] = False
    destination: Annotated[Kind, Editable("Destination", "", "choice", DESTINATIONS, once=True, holds="fixed")]
    path: Annotated[Text200, Editable("Folder", "Such as afterword/delivery. No other export may write into it.")]
    endpoint: Annotated[fields.Url | None, Editable("Endpoint", "Such as https://s3.eu-central-1.amazonaws.com")] = None
    bucket: Annotated[Line320 | None, Editable("Bucket")] = None
    region: Annotated[Line320 | None, Editable("Region", "Empty where the store has none.")] = None
    access_key: Annotated[Line320 | None, Editable("ID of the access key", holds="account")] = None
    host: Annotated[Line320 | None, Editable("Server", "Such as files.shop.example", holds="account")] = None
    port: Annotated[Port | None, Editable("Port", "Empty: 22.", "number")] = None
    username: Annotated[Line320 | None, Editable("User name", holds="account")] = None
    host_key: Annotated[HostKey | None, Editable(holds="account")] = None
    secret: Annotated[Secret | None, Given("Secret", STAYS, "area")] = None
    has_secret: Annotated[bool, Computed("t.sealed_secret is not null")] = False
    sealed_secret: Annotated[bytes | None, Hidden(holds="sealed")] = None
    scopes: Annotated[list[str], Hidden(holds="fixed")]  # those of the values that its files hold
    next_time: datetime | None
    last_time: datetime | None  # of the last run that went well
    problem: Problem
    problem_time: datetime | None
    reply: str | None
    failures: int


async def _check(change: Change[ExportSchedule]) -> None:
    """A change of the data or of their place begins anew: the next run writes all of it."""
    caller, columns = change.caller, change.columns
    caller.require_real()
    caller.require("Questionnaire Instance.Read")
    kind: Kind = change.after("destination")
    errors.check([*_wrong_members(change, kind), *_wrong_values(change, kind)])
    _seal(change)
    try:
        questionnaire = await access.get(change.db, caller=caller, questionnaire_id=change.after("questionnaire_id"))
    except errors.NotFound as refusal:
        raise errors.Invalid.at("/questionnaire_id", "unknown_id", refusal.detail) from None
    await service.check_filter(change.db, caller=caller, questionnaire=questionnaire, document=change.after("filter"))
    wanted = {name: change.after(name) for name in ("include_metadata", "include_recipient")}
    columns["scopes"] = service.scopes_of(caller, wanted)
    if change.before is None or _WHEN & columns.keys():
        when = {name: change.after(name) for name in ("every", "day", "hour")}
        zone = times.zone_of(caller.time_zone)
        columns["next_time"] = next_run(change.now, **when, zone=zone) if change.after("active") else None
    if change.before is not None and (_ANEW & columns.keys() or columns["scopes"] != change.before.scopes):
        await _update_to_begin_anew(change.db, organization_id=caller.organization_id, schedule_id=change.key)


def _wrong_members(change: Change[ExportSchedule], kind: Kind) -> list[FieldError]:
    """The members that a destination of this kind needs, and those that only others have."""
    if change.before is not None and {"host", "port"} & change.columns.keys():
        change.columns.setdefault("host_key", None)  # of the server of before
    own = {*OF_KIND[kind], *(("host_key",) if kind == "sftp" else ())}
    missing = [name for name in OF_KIND[kind] if name not in _OPTIONAL and change.after(name) is None]
    others = sorted(name for name in {*_OF_SOME, "host_key"} - own if change.after(name) is not None)
    found = [FieldError("required", "This kind of destination needs it.", pointer=f"/{name}") for name in missing]
    text = "This kind of destination has none."
    return [*found, *(FieldError("unknown_value", text, pointer=f"/{name}") for name in others)]


def _wrong_values(change: Change[ExportSchedule], kind: Kind) -> list[FieldError]:
    found: list[tuple[str, str | None]] = []
    columns, networks = change.columns, change.site.networks
    if kind == "folder" and not change.site.export_folder:
        text = "This installation has no folder for exports: whoever runs it sets AFTERWORD_EXPORT_FOLDER."
        found.append(("destination", text))
    if kind == "sftp" and not stores.has_sftp():
        found.append(("destination", "SFTP needs the extra “sftp”: pip install 'afterword[sftp]'."))
    if "path" in columns and (not _PATH.fullmatch(path := columns["path"]) or (path[0] == "/" and kind != "sftp")):
        text = "A path has names with / between them. A name has letters, digits, - and _; a dot may not come first."
        found.append(("path", text))
    if endpoint := columns.get("endpoint"):
        query = "It has no query." if "?" in endpoint else None
        found.append(("endpoint", http.check_url(endpoint, networks) or query))
    if columns.get("host"):
        found.append(("host", http.check_host(columns["host"], networks)))
    names = [name for name in ("bucket", "region") if columns.get(name) and not _NAME.fullmatch(columns[name])]
    found += [(name, "It has letters, digits, dots and hyphens.") for name in names]
    if columns.get("host_key"):
        try:
            stores.fingerprint_of(columns["host_key"])
        except ValueError:
            found.append(("host_key", "This is no public key, such as ssh-ed25519 AAAA…"))
    found.append(("format", missing_extra(change.after("format"))))
    return [FieldError("invalid_format", text, pointer=f"/{name}") for name, text in found if text]


def _seal(change: Change[ExportSchedule]) -> None:
    """Whoever moves it to another server or user gives the secret again, so as not to learn it."""
    columns, has_secret = change.columns, change.before is not None and change.before.sealed_secret is not None
    secret = columns.pop("secret", None)
    if secret is not None:
        context = seal_context(change.caller.organization_id, change.key)
        text = secret.replace("\r\n", "\n")  # as forms send a private key
        columns["sealed_secret"] = sealing.seal(text, secret=change.site.secret, context=context)
    elif change.after("destination") != "folder" and (not has_secret or _SERVER & columns.keys()):
        message = "Give the secret. It is asked for again where the server or the user changes."
        raise errors.Invalid.at("/secret", "required", message)


def seal_context(organization_id: str, schedule_id: str) -> str:
    return f"export schedule:{organization_id}:{schedule_id}"


def _row(words: Texts, one: ExportSchedule) -> dict[str, str]:
    return {
        "state": words("off") if not one.active else words("Failed") if one.problem else "",
        "more": f"{words(dict(EVERY)[one.every])} · {dict(FORMATS)[one.format]} · {address_of(one)}",
    }


def address_of(one: ExportSchedule) -> str:
    """As a person reads it."""
    place = {"s3": f"{one.endpoint}/{one.bucket}/", "sftp": f"sftp://{one.username}@{one.host}/", "folder": ""}
    return place[one.destination] + one.path.lstrip("/")


SCHEDULE = Noun(
    record=ExportSchedule,
    table="export_schedule",
    one="export schedule",
    many="export schedules",
    tag="Questionnaire Exports",
    path=PATH,
    scope="Questionnaire Export",
    about_create="What is exported, where to and when. `secret` is stored sealed, and shown to nobody.",
    about_update="Changes of a schedule. Another destination, filter or format lets the next run write all of it.",
    about={
        "create": "Needs Questionnaire Instance.Read. Files hold the values that your token may read. `folder`: below "
        "the folder of the installation. `s3`: `endpoint`, `bucket`, `access_key` and `secret`. `sftp`: `host`, "
        "`username`, `secret`, and `host_key` before the first run.",
        "delete": "Files that were written stay where they are.",
    },
    rights={"update": "Create"},
    visible="""not $3::boolean and (cardinality($2::text[]) = 0 or exists (
    select from questionnaire q where q.organization_id = t.organization_id
      and q.questionnaire_id = t.questionnaire_id and q.owner_application_id = any($2)))""",
    most=SCHEDULES_MAX,
    filled=("sealed_secret", "scopes", "next_time"),
    filled_later=("sealed_secret", "scopes", "next_time"),
    check=_check,
    conflict=lambda _: errors.Invalid.at(
        "/path", "already_exists", "Another export on a timetable writes into this folder."
    ),
    screens=Screens(
        path="/console/settings/exports",
        title="Exports on a timetable",
        lead="Afterword writes the responses of a questionnaire to a store of yours, again and again.",
        new="New export on a timetable",
        empty="Nothing is exported on a timetable yet.",
        row=_row,
        proof=True,
        has_page=True,
        removal="Remove the export “{title}”?",
        removal_sentence="It no longer runs. Files that it wrote stay where they are.",
        removal_button="Remove the export",
    ),
)
routes = routes_of(SCHEDULE)


class RunRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A run: the days that changed, and how many of them are written."""

    organization_id: Annotated[str, Hidden()]
    run_id: fields.Id
    schedule_id: fields.Id
    state: Literal["queued", "running", "done", "failed", "cancelled"]
    day_count: int | None
    days_written: int
    file_count: int
    row_count: int
    bytes: int
    error: Problem
    reply: str | None
    attempts: Annotated[int, Hidden()]
    started_time: datetime | None
    created_time: datetime
    finished_time: datetime | None
    created_by: fields.Id | None


_COLUMNS: Final = columns_of(RunRecord)
RUNS: Final = Leases(
    record=RunRecord,
    table="export_run",
    id="run_id",
    columns=_COLUMNS,
    turn="turn_time",
    on_claim=", started_time = coalesce(started_time, $2)",
    on_release=", state = 'queued', turn_time = now()",
    on_end=", reply = $7",
)
ExportRun: Final = shown_as("ExportRun", RunRecord)


class ExportCheck(fields.Resource):
    """The outcome: `problem` is null where a small file was written and removed."""

    problem: Problem
    reply: str | None
    host_key: Annotated[str | None, Meta(description="The key that an SFTP server shows where another is confirmed.")]
    fingerprint: Annotated[str | None, Meta(description="Of `host_key`, as OpenSSH shows it.")]


@routes.list(
    f"{PATH}/{{schedule_id}}/run",
    answer=ExportRun,
    summary="Get the runs of an export schedule",
    description=f"Kept for {KEPT_DAYS} days.",
)
async def list_export_runs(call: Call[None], db: Database) -> Rows[RunRecord]:
    schedule = await nouns.get(SCHEDULE, db, caller=call.caller, key=call.ids["schedule_id"])
    return await list_run_records(db, **_key(schedule), page=call.page)


@routes.post(
    f"{PATH}/{{schedule_id}}/run",
    more_scopes=("Questionnaire Instance.Read",),
    answer=ExportRun,
    summary="Run an export schedule now",
    description="A worker begins it within some seconds. 409 while a run is under way.",
)
async def create_export_run(call: Call[None], db: Database) -> Answer:
    run = await run_now(db, caller=call.caller, schedule_id=call.ids["schedule_id"], now=call.now)
    return Answer(ExportRun.of(run, call.zone))


@routes.act(
    f"{PATH}/{{schedule_id}}/check",
    answer=ExportCheck,
    summary="Check the destination of an export schedule",
    description="Writes a small file and removes it. Of an SFTP server whose key nobody confirmed it tells the key.",
)
async def check_export_schedule(call: Call[None], pool: Pool) -> Answer:
    async with databases.connection(pool) as db:
        schedule = await nouns.get(SCHEDULE, db, caller=call.caller, key=call.ids["schedule_id"])
    return Answer(await check(schedule, site=call.site, now=call.now))


async def check(schedule: ExportSchedule, *, site: Site, now: datetime) -> ExportCheck:
    problem, reply, shown = None, "", None
    try:
        target = target_of(schedule, site)
        try:
            await stores.check(target, allowed=site.networks, now=now)
        except Failed as failed:
            problem, reply = failed.problem, failed.reply
            if problem in {"unknown_host_key", "wrong_host_key"}:
                shown = await stores.host_key_of(target, allowed=site.networks)
    except Failed as failed:
        problem, reply = failed.problem, failed.reply
    fingerprint = shown and stores.fingerprint_of(shown)
    return ExportCheck(problem=problem, reply=reply or None, host_key=shown, fingerprint=fingerprint)


async def run_now(db: Database, *, caller: Caller, schedule_id: str, now: datetime) -> RunRecord:
    """Raises NotFound, Conflict while a run is under way."""
    caller.require("Questionnaire Instance.Read")
    schedule = await nouns.get(SCHEDULE, db, caller=caller, key=schedule_id)
    run = await _insert_run(db, **_key(schedule), run_id=ids.ordered(now), now=now, by=caller.actor_id)
    if run is None:
        raise errors.Conflict("A run of this export is under way.")
    return run


def target_of(schedule: ExportSchedule, site: Site) -> Target:
    """Raises Failed for a secret that cannot be opened."""
    secret = ""
    if schedule.sealed_secret is not None:
        context = seal_context(schedule.organization_id, schedule.schedule_id)
        try:
            secret = sealing.unseal(schedule.sealed_secret, secret=site.secret, context=context)
        except sealing.Unreadable as error:
            raise Failed("secret_lost") from error
    if schedule.destination == "folder" and not site.export_folder:
        raise Failed("no_folder")
    own: dict[str, Any] = {"folder": f"{site.export_folder}/{schedule.organization_id}", "secret": secret}
    shared = {name: getattr(schedule, name) for name in Target.__dataclass_fields__.keys() - own.keys()}
    return Target(**shared, **own)


async def begin_due(db: Database, *, now: datetime, limit: int) -> int:
    """Begin the runs that are due; one that is still under way is not begun twice."""
    due = await _claim_due(db, now=now, limit=limit)
    for organization_id, schedule_id, active, time_zone, every, day, hour in due:
        key = {"organization_id": organization_id, "schedule_id": schedule_id}
        zone = times.zone_of(time_zone)
        next_time = next_run(now, every=every, day=day, hour=hour, zone=zone) if active else None
        await _insert_run(db, **key, run_id=ids.ordered(now), now=now, by=None)
        await _update_next_time(db, **key, next_time=next_time)
    return len(due)


async def end(db: Database, *, run: RunRecord, owner: UUID, failed: Failed | None, now: datetime) -> None:
    """Note how it went. Failures in a row put the next run nearer, and users hear of lasting ones."""
    problem, reply = (failed.problem, failed.reply or None) if failed else (None, None)
    state = "failed" if failed else "done"
    if not await RUNS.end(db, job=run, owner=owner, state=state, now=now, error=problem, values=(reply,)):
        return
    key = {"organization_id": run.organization_id, "schedule_id": run.schedule_id}
    if await _settle_schedule(db, **key, problem=problem, reply=reply, now=now) == TOLD_FAILURES:
        schedule = await nouns.find(SCHEDULE, db, organization_id=run.organization_id, key=run.schedule_id)
        assert schedule is not None  # noqa: S101  it has runs
        data = {name: value for name, value in nouns.columns_of(SCHEDULE, schedule).items() if name != "sealed_secret"}
        event = NewEvent.of(schedule, "export_schedule.failed", schedule.schedule_id, data, now=now)
        await events.record(db, events=[event])


def _key(schedule: ExportSchedule) -> dict[str, str]:
    return {"organization_id": schedule.organization_id, "schedule_id": schedule.schedule_id}


async def list_run_records(db: Database, *, organization_id: str, schedule_id: str, page: Page) -> Rows[RunRecord]:
    return await db.records(RunRecord).fetch_list(
        f"select {_COLUMNS} from export_run where organization_id = $1 and schedule_id = $2",
        *(organization_id, schedule_id),
        page=page,
    )


async def _insert_run(
    db: Database, *, organization_id: str, schedule_id: str, run_id: str, now: datetime, by: str | None
) -> RunRecord | None:
    """None while another one is under way."""
    return await db.records(RunRecord).fetch_row(
        f"""insert into export_run (organization_id, run_id, schedule_id, created_time, turn_time, created_by)
           values ($1, $2, $3, $4, $4, $5)
           on conflict (organization_id, schedule_id) where state in ('queued', 'running') do nothing
           returning {_COLUMNS}""",
        *(organization_id, run_id, schedule_id, now, by),
    )


async def _claim_due(db: Database, *, now: datetime, limit: int) -> list[tuple[str, str, bool, str, Every, int, int]]:
    """Those that are due, with what their next time follows from; locked until the transaction ends."""
    return await db.fetch_tuples(
        """select s.organization_id, s.schedule_id, s.active, o.time_zone, s.every, s.day, s.hour
           from export_schedule s join organization o on o.organization_id = s.organization_id
           where s.next_time <= $1 order by s.next_time limit $2 for update of s skip locked""",
        *(now, limit),
    )


async def _update_next_time(
    db: Database, *, organization_id: str, schedule_id: str, next_time: datetime | None
) -> None:
    await db.execute(
        "update export_schedule set next_time = $3 where organization_id = $1 and schedule_id = $2",
        *(organization_id, schedule_id, next_time),
    )


async def _settle_schedule(
    db: Database, *, organization_id: str, schedule_id: str, problem: str | None, reply: str | None, now: datetime
) -> int:
    """Note the outcome of a run; returns the failures in a row."""
    return await db.fetch_value(
        """update export_schedule set problem = $3, reply = $4,
             problem_time = case when $3::text is not null then coalesce(problem_time, $5) end,
             last_time = case when $3 is null then $5 else last_time end,
             failures = case when $3 is null then 0 else failures + 1 end,
             next_time = case when $3 is null or not active then next_time
               else least(next_time, $5::timestamptz + make_interval(secs => $6 * 2 ^ least(failures, 10))) end
           where organization_id = $1 and schedule_id = $2 returning failures""",
        *(organization_id, schedule_id, problem, reply, now, RETRY_SECONDS),
    )


async def _update_to_begin_anew(db: Database, *, organization_id: str, schedule_id: str) -> None:
    """Forget what was written, and cancel the run that is under way."""
    await db.execute(
        """with ended as (
             update export_run set state = 'cancelled', finished_time = now(), owner = null, lease_until = null,
               version = version + 1
             where organization_id = $1 and schedule_id = $2 and state in ('queued', 'running')),
           forgotten as (
             delete from export_day where organization_id = $1 and schedule_id = $2)
           update export_schedule set problem = null, problem_time = null, reply = null, failures = 0
           where organization_id = $1 and schedule_id = $2""",
        *(organization_id, schedule_id),
    )
