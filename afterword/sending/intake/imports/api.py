"""HTTP handlers of imports: send a file, watch it, list the outcome of each row."""

from typing import Any, Final

from msgspec.structs import replace

from afterword.core.questionnaires import conditions
from afterword.core.reading.findings import Findings, at_parameter
from afterword.core.wire import imports as core_imports, tables
from afterword.core.wire.imports import Cut
from afterword.core.wire.lists import Rows
from afterword.kit.db import Database
from afterword.kit.web import uploads
from afterword.kit.web.operations import Answer, Call, Routes
from afterword.kit.web.uploads import Upload
from afterword.sending.intake.imports import service
from afterword.sending.intake.imports.service import IMPORT_ROWS, Import, ImportQuery, ImportRow, row_of
from afterword.sending.pipelines import service as pipelines

PATH: Final = "/q/questionnaire/{questionnaire_id}/pipeline/{pipeline_id}/queue/import"
IMPORT: Final = "/q/import/{import_id}"
COLUMNS: Final = (
    "A CSV file with a header, in UTF-8 unless `encoding` says otherwise, at most 200,000 rows of at most 65,536 "
    "bytes; or a form with the file in it. "
    f"Columns: {', '.join(f'`{name}`' for name in service.FIELDS)}, "
    "`metadata.questionnaire.NAME`, `metadata.responder.NAME`; `map[E-mail]=responder_channel_identifier` takes a file "
    "with other names, `map[Notes]=` leaves a column out, and `map[*]=` all that have no meaning. Times to send may be "
    "written as people and spreadsheets write them. Each row is checked alone, as in a batch. `dry_run` checks all "
    "of them, asks the rules about each, and writes no item. A row whose reference a live item has is refused, or with "
    "`on_conflict` changes that item (which also needs `Queue.Update`) or is skipped."
)

routes = Routes(tag="Queue")


def _cut(upload: Upload, query: ImportQuery) -> tuple[Cut, str | None]:
    text, separator = tables.opened(tables.decode(upload.content, query.encoding), query.separator, query.map)
    readers = service.readers(text, separator=separator, mapping=query.map, date_order=query.date_order or "")
    fields = service.FIELDS
    findings, document = Findings(place=at_parameter), conditions.read_parameter(query.filter)
    only = core_imports.condition_on(text, separator, document, "/filter", findings)
    cut = core_imports.cut(text, fields=fields, separator=separator, mapping=query.map, readers=readers, only=only)
    if not cut.columns:  # its header is wrong
        cut = replace(cut, has_lines_above=tables.has_lines_above(text, separator))
    return cut, upload.file_name


@routes.list(PATH, scope="Queue.Read", answer=Import, summary="Get all imports of a pipeline")
async def list_imports(call: Call[None], db: Database) -> Rows[service.ImportRecord]:
    await pipelines.get(db, caller=call.caller, **call.ids)
    key = {"organization_id": call.caller.organization_id, "test_only": call.caller.test}
    return await service.list_imports(db, **key, **call.ids, page=call.page)


@routes.post(
    PATH,
    scope="Queue.Create",
    query=ImportQuery,
    uploads=("text/csv", uploads.FORM),
    prepare=_cut,
    answer=Import,
    summary="Import queue items from a file",
    description=COLUMNS,
    refusals=("application_inactive", "questionnaire_not_published", "unknown_column", "exclusive"),
)
async def create_import(call: Call[tuple[Cut, str | None]], db: Database) -> Answer:
    query: ImportQuery = call.query
    cut, file_name = call.body
    if query.on_conflict == "update":
        call.caller.require("Queue.Update")
    job = await service.create(
        db,
        caller=call.caller,
        **call.ids,
        cut=cut,
        file_name=file_name,
        dry_run=query.dry_run,
        on_conflict=query.on_conflict,
        strict=call.strict,
        secret=call.site.secret,
        now=call.now,
    )
    return Answer(record=job, location=f"/q/import/{job.import_id}")


@routes.get(IMPORT, scope="Queue.Read", answer=Import, summary="Get Import")
async def get_import(call: Call[None], db: Database) -> service.ImportRecord:
    return await service.get(db, caller=call.caller, import_id=call.ids["import_id"])


@routes.delete(
    IMPORT,
    scope="Queue.Delete",
    summary="Cancel Import",
    description="What is settled stays, no further row is read. One that has ended is forgotten, not its items.",
)
async def cancel_import(call: Call[None], db: Database) -> None:
    job = await service.get(db, caller=call.caller, import_id=call.ids["import_id"])
    call.expect(job.version)
    await service.delete(db, job=job, now=call.now)


@routes.post(
    f"{IMPORT}/resumption",
    scope="Queue.Create",
    answer=Import,
    status=200,
    summary="Resume Import",
    description="A failed import goes on where it stopped, while the rest of its file is kept.",
    refusals=("not_ready",),
)
async def resume_import(call: Call[Any], db: Database) -> service.ImportRecord:
    job = await service.get(db, caller=call.caller, import_id=call.ids["import_id"])
    return await service.resume(db, job=job, now=call.now)


@routes.list(
    f"{IMPORT}/row",
    scope="Queue.Read",
    answer=ImportRow,
    listing=IMPORT_ROWS,
    summary="Get all rows of an import",
    description="Those that are settled, from the first; `filter_by[EQUAL][State]=failed` shows what went wrong.",
)
async def list_import_rows(call: Call[None], db: Database) -> Answer:
    job = await service.get(db, caller=call.caller, import_id=call.ids["import_id"])
    rows = await service.list_import_rows(
        db, organization_id=job.organization_id, import_id=job.import_id, page=call.page
    )
    return Answer(rows.map(lambda row: row_of(row, site=call.site, request_id=call.request_id)))
