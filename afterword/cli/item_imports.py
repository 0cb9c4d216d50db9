"""`afterword queue import`: a file of items, looked at, uploaded and worked off, with a worker's help or without."""

import asyncio
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

from afterword import db, errors
from afterword.cli import tokens
from afterword.core.organizations.access import Caller
from afterword.core.wire.lists import Criterion, Page
from afterword.core.wire.site import Site
from afterword.intake.imports import service, store
from afterword.intake.imports.resources import IMPORT_ROWS
from afterword.intake.imports.service import NewImport
from afterword.intake.imports.store import Import, ImportRow
from afterword.organizations.store import Organization
from afterword.web import rows, uploads
from afterword.worker.imports import Importer

POLL_SECONDS: Final = 0.5
FAILURES_SHOWN: Final = 10
EXIT_REFUSED: Final = 1  # and failed, cancelled
EXIT_ROWS: Final = 3  # done, but for rows that failed
EXIT_INTERRUPTED: Final = 130
SEPARATORS: Final[Mapping[str, str]] = {",": ",", ";": ";", "|": "|", "\t": "\t", "tab": "\t", "\\t": "\t"}

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportOptions:
    """What the command was given."""

    file: Path | None = None
    questionnaire_id: str | None = None
    pipeline_id: str | None = None
    domain: str | None = None
    resume: str | None = None
    dry_run: bool = False
    mapping: Sequence[str] = field(default_factory=tuple[str, ...])
    separator: str = ","
    on_conflict: Any = "error"


async def import_items(
    pool: db.Pool, *, site: Site, wanted: ImportOptions, tell: Tell, progress: Tell, stop: asyncio.Event
) -> int:
    """Do it until it is done or `stop` is set; the exit code. `progress` lines replace each other.

    Raises Invalid, NotFound and the other refusals of the service.
    """
    async with db.transaction(pool) as database:
        organization = await tokens.organization_of(database, wanted.domain)
    caller = caller_of(organization)
    if wanted.resume is not None:
        job = await _resumed(pool, caller=caller, import_id=wanted.resume)
    else:
        job = await _uploaded(pool, site=site, caller=caller, new=await _new(wanted), tell=tell)
    importer = Importer(pool, uuid4(), secret=site.secret)
    progress(_standing(job))
    while not job.has_ended and not stop.is_set():
        worked = await importer.work_one(job, stop)
        async with db.connection(pool) as database:
            job = await service.get(database, caller=caller, import_id=job.import_id)
        progress(_standing(job))
        if worked is None and not job.has_ended:  # a worker has it
            await _pause(stop)
    return await _end(pool, job=job, tell=tell)


def listen(stop: asyncio.Event) -> None:
    """Let Ctrl-C end the work between two pieces; a second one ends the command at once."""
    loop = asyncio.get_running_loop()

    def end() -> None:
        stop.set()
        loop.remove_signal_handler(signal.SIGINT)

    loop.add_signal_handler(signal.SIGINT, end)
    loop.add_signal_handler(signal.SIGTERM, stop.set)


def caller_of(organization: Organization) -> Caller:
    """The installation itself, for an organization of it."""
    return Caller(
        organization_id=organization.organization_id,
        token_id="",
        user_id=None,
        scopes=frozenset(),
        application_ids=(),
        domain=organization.domain,
        time_zone=organization.time_zone,
        default_locale=organization.default_locale,
    )


async def _new(wanted: ImportOptions) -> NewImport:
    if wanted.file is None or wanted.questionnaire_id is None or wanted.pipeline_id is None:
        raise errors.Invalid("Name a file, and with --questionnaire and --pipeline where its items go.")
    if wanted.separator not in SEPARATORS:
        raise errors.Invalid("The separator is one of , ; | tab.")
    wrong = [pair for pair in wanted.mapping if "=" not in pair]
    if wrong:
        raise errors.Invalid("--map takes NAME=COLUMN, or NAME= for a column to leave out.")
    return NewImport(
        questionnaire_id=wanted.questionnaire_id,
        pipeline_id=wanted.pipeline_id,
        cut=await asyncio.to_thread(
            service.cut,
            _content(wanted.file),
            separator=SEPARATORS[wanted.separator],
            mapping=dict(pair.split("=", 1) for pair in wanted.mapping),
        ),
        file_name=uploads.file_name_of(wanted.file.name),
        dry_run=wanted.dry_run,
        on_conflict=wanted.on_conflict,
    )


def _content(file: Path) -> bytes:
    try:
        with file.open("rb") as opened:
            content = opened.read(rows.BODY_BYTES_MAX + 1)
    except OSError as error:
        raise errors.Invalid(f"{file} cannot be read: {error.strerror}.") from error
    if len(content) > rows.BODY_BYTES_MAX:
        raise errors.Invalid(f"{file} has more than {rows.BODY_BYTES_MAX:,} bytes; import it in parts.")
    return content


async def _uploaded(pool: db.Pool, *, site: Site, caller: Caller, new: NewImport, tell: Tell) -> Import:
    """Show how the file is understood, and queue its import."""
    async with db.transaction(pool) as database:
        now = database.clock.now()
        try:
            seen = await service.preview(database, caller=caller, new=new, secret=site.secret, now=now)
        except errors.Invalid as refusal:
            wrong = [replace(error, message=f"{error.place}: {error.message}") for error in refusal.errors]
            raise errors.Invalid("The file's header cannot be used.", errors=wrong) from None
        for number, request in enumerate(seen.requests, start=1):
            tell(f"Row {number}: {_words(request)}")
        tell(
            f"{seen.rows_total:,} rows; of the first {seen.looked_at:,}, {seen.looked_at - len(seen.wrong):,} are good "
            f"and {len(seen.wrong):,} are not."
        )
        job = await service.create(database, caller=caller, new=new, secret=site.secret, now=now)
    tell(f"Import {job.import_id}{' (a dry run: nothing is written)' if job.dry_run else ''}")
    return job


async def _resumed(pool: db.Pool, *, caller: Caller, import_id: str) -> Import:
    async with db.transaction(pool) as database:
        job = await service.get(database, caller=caller, import_id=import_id)
        return await service.resume(database, job=job, now=database.clock.now())


async def _end(pool: db.Pool, *, job: Import, tell: Tell) -> int:
    if not job.has_ended:
        tell(f"{_standing(job)} A running worker goes on with it, and so does:")
        tell(f"  afterword queue import --resume {job.import_id}")
        return EXIT_INTERRUPTED
    created = "would be created" if job.dry_run else "created"
    tell(
        f"{job.state.capitalize()}: {job.rows_created:,} {created}, {job.rows_updated:,} updated, "
        f"{job.rows_skipped:,} skipped, {job.rows_failed:,} failed, of {job.rows_total:,} rows."
    )
    if job.error:
        tell(job.error)
    for row in await _failures(pool, job=job):
        tell(f"  Row {row.row:,}: {_reason(row)}")
    if job.rows_failed > FAILURES_SHOWN:
        tell(f"  All of them: GET /v3.2/q/import/{job.import_id}/row?filter_by[EQUAL][State]=failed")
    if job.state != "done":
        return EXIT_REFUSED
    return EXIT_ROWS if job.rows_failed else 0


async def _failures(pool: db.Pool, *, job: Import) -> list[ImportRow]:
    criterion = Criterion("EQUAL", IMPORT_ROWS.columns["state"], "failed")
    page = Page(IMPORT_ROWS, IMPORT_ROWS.default_order(), criteria=(criterion,), limit=FAILURES_SHOWN, with_total=False)
    async with db.connection(pool) as database:
        found = await store.list_rows(database, organization_id=job.organization_id, import_id=job.import_id, page=page)
    return found.items


def _reason(row: ImportRow) -> str:
    problem = row.problem or {}
    return " ".join(error["message"] for error in problem.get("errors", ())) or str(problem.get("detail", ""))


def _standing(job: Import) -> str:
    return f"{job.rows_done:,} of {job.rows_total:,} rows, {job.rows_failed:,} failed."


def _words(request: Mapping[str, Any]) -> str:
    """A request in one line, as it will be checked."""
    groups: Mapping[str, Mapping[str, str]] = request.get("metadata", {})
    flat = {name: value for name, value in request.items() if name != "metadata"}
    flat |= {f"{kind}.{name}": value for kind, values in groups.items() for name, value in values.items()}
    return ", ".join(f"{name}={value!r}" for name, value in flat.items())


async def _pause(stop: asyncio.Event) -> None:
    try:
        async with asyncio.timeout(POLL_SECONDS):
            await stop.wait()
    except TimeoutError:
        return
