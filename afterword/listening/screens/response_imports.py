"""Past responses in five steps: the file, its columns, the check, the confirmation, the result. And all imports."""

import asyncio
from functools import partial
from typing import Any, Final

from starlette.responses import Response

from afterword import errors
from afterword.asking.questionnaires import access
from afterword.console.answers import text_of
from afterword.console.response_list import PERIODS, RESPONSES, ResponseFilter
from afterword.console.screens import Screens, Visit
from afterword.core.wire.lists import Page
from afterword.core.wire.response_columns import ASK, Table
from afterword.errors import FieldError, Sentence
from afterword.kit.db import Database
from afterword.kit.texts import Marked
from afterword.kit.ui.lists import ROWS, behind, page_links, read_number
from afterword.kit.web import fields, html
from afterword.listening.imports import api, service as imports, store, uploads
from afterword.listening.imports.files import SAMPLE_ROWS
from afterword.listening.imports.service import Checked, Work
from afterword.listening.imports.store import ResponseImportRecord
from afterword.listening.imports.uploads import FROM_START, ResponseUpload
from afterword.sending.screens.address_lists import FORMAT_TEXTS, steps_of, titles_of
from afterword.sending.screens.list_results import REFRESH_SECONDS
from afterword.sending.screens.queue_items import said

IMPORTS: Final = f"{RESPONSES}/imports"
NEW: Final = f"{IMPORTS}/new"
ONE: Final = f"{IMPORTS}/{{response_import_id}}"
READ: Final = "Questionnaire Instance.Read"
CREATE: Final = "Questionnaire Instance.Create"
DELETE: Final = "Questionnaire Instance.Delete"
LISTED: Final = fields.listing_of(api.ResponseImport)
OPTIONS_MAX: Final = 30_000  # of all selects of a page
SHOWN: Final = 5  # rows as they would be stored
COLUMNS, CHECK, CONFIRM, RESULT = 2, 3, 4, 5
STEPS: Final = {COLUMNS: "/columns", CHECK: "/check", CONFIRM: "/confirm", RESULT: ""}
PERIOD: Final = str(PERIODS[-1])  # most are old
ASKED: Final[Marked] = "Column “{column}”: say what it means, or leave it out."

routes = Screens()


@routes.get(IMPORTS, scope=READ)
async def list_imports(visit: Visit) -> Response:
    page = behind(Page.first(LISTED, limit=ROWS), visit.query.get("after", ""))
    found = await visit.load(store.list_response_imports, **visit.caller.reach, page=page)
    links = page_links(found, visit.query, IMPORTS)
    return visit.page("response_imports.html", title=visit.words("Imports"), rows=found.items, zone=visit.zone, **links)


@routes.get(NEW, scope=CREATE)
async def _new(visit: Visit, refusal: errors.Refusal | None = None) -> Response:
    value = visit.form.text("questionnaire") or visit.query.get("questionnaire", "")
    found = await visit.load(access.offered, visit.caller.part, also=[value])
    return visit.page(
        "response_import_new.html",
        title=visit.words("Import past responses"),
        steps=steps_of(visit.words),
        questionnaires=[(one.questionnaire_id, one.display_name) for one in found if one.published_version_id],
        value=value,
        refusal=refusal,
    )


@routes.post(NEW, scope=CREATE, again=(errors.Invalid, errors.Malformed, errors.TooLarge, errors.NotFound))
async def stage(visit: Visit) -> Response:
    read = await asyncio.to_thread(uploads.read_file, visit.form.file() or b"")
    of_file: dict[str, Any] = {"file_name": visit.form.file_names.get("file"), "read": read}
    questionnaire_id = visit.form.text("questionnaire")
    job = await visit.change(
        uploads.stage, caller=visit.caller, questionnaire_id=questionnaire_id, **of_file, now=visit.now
    )
    return html.redirect(f"{IMPORTS}/{job.response_import_id}/columns")


async def _opened(visit: Visit, db: Database) -> tuple[ResponseUpload, Work, Table]:
    """The file, what it is checked by, and its first rows. Raises FileGone, and Conflict once it is confirmed."""
    job = await imports.get(db, caller=visit.caller, **visit.ids)
    upload = await uploads.get_upload(db, **job.key)
    if job.state != "open" or (upload is not None and upload.confirmed):
        raise errors.Conflict("This file is being imported, or was.")
    return await _read(visit, db, job, upload)


async def _read(
    visit: Visit, db: Database, job: ResponseImportRecord, upload: ResponseUpload | None
) -> tuple[ResponseUpload, Work, Table]:
    cells = await uploads.get_cells(db, **job.key, number=0)
    upload = errors.found(upload, "The file is no longer kept. Send it again.")
    named = {"caller": visit.caller, "questionnaire_id": job.questionnaire_id}
    work = await imports.open_work(db, **named, job=None, now=visit.now)
    return upload, work, Table(upload.names, cells[:SAMPLE_ROWS])


def _given(visit: Visit, upload: ResponseUpload) -> dict[str, str]:
    """The meanings of the form, else those of the file."""
    fields_ = {name: f"column{place}" for place, name in enumerate(upload.names)}
    return {name: visit.form.text(one) for name, one in fields_.items()} if visit.form.values else upload.meanings


@routes.get(f"{ONE}/columns", scope=CREATE)
async def _columns(visit: Visit, refusal: errors.Refusal | None = None) -> Response:
    upload, work, table = await visit.reading(_opened)
    known, meanings = uploads.known_columns(work), _given(visit, upload)
    titles = known.titles() | titles_of(visit.words, work.declared)
    if len(titles) * len(meanings) > OPTIONS_MAX:  # then parts of questions stand where they are meant alone
        titles = {one: text for one, text in titles.items() if one.count(".") == 1 or one in meanings.values()}
    return visit.page(
        "response_import_columns.html",
        title=visit.words("Columns"),
        steps=steps_of(visit.words),
        questionnaire=work.questionnaire.display_name,
        columns=[(f"column{at}", name, table.cells(at)[:3], meanings[name]) for at, name in enumerate(table.names)],
        titles=titles,
        dates=[(name, visit.words(FORMAT_TEXTS[name])) for name in ("day", "month")],
        has_dates=any(known.date_order(table.cells(place)) == ASK for place in range(len(table.names))),
        order=visit.form.text("dates") or next(filter(None, upload.orders.values()), ""),
        refusal=refusal,
    )


@routes.post(f"{ONE}/columns", scope=CREATE, again=(errors.Invalid,))
async def check(visit: Visit, db: Database) -> Response:
    upload, work, table = await _opened(visit, db)
    known, given = uploads.known_columns(work), _given(visit, upload)
    unsaid = [(place, name) for place, name in enumerate(table.names) if given[name] == ASK]
    errors.check([FieldError("required", Sentence(ASKED, column=n), pointer=f"/column{at}") for at, n in unsaid])
    meanings = await asyncio.to_thread(known.chosen, table, given)
    orders = await asyncio.to_thread(known.orders, table, meanings, visit.form.text("dates"))
    choices = {name: each for name, each in upload.choices.items() if upload.meanings[name] == meanings[name]}
    read = {"meanings": meanings, "orders": orders, "choices": choices}
    await uploads.update_upload(db, upload=upload, **FROM_START, **read)
    return html.redirect(visit.request.url.path.replace("/columns", "/check"))


@routes.post(f"{ONE}/check", scope=CREATE)
async def say_values(visit: Visit, db: Database) -> Response:
    """Check it again with what stands for values that fit no question; those that stay empty are refused as before."""
    upload, _, _ = await _opened(visit, db)
    choices = {name: dict(each) for name, each in upload.choices.items()}
    for place, (name, value) in enumerate((name, one) for name, each in upload.unknown.items() for one in each):
        if right := visit.form.text(f"right{place}", uploads.VALUE_CHARACTERS_MAX):
            choices.setdefault(name, {})[value] = right
    await uploads.update_upload(db, upload=upload, **FROM_START, choices=choices)
    return html.redirect(visit.request.url.path)


@routes.post(f"{ONE}/confirm", scope=CREATE)
async def confirm(visit: Visit, db: Database) -> Response:
    upload, _, _ = await _opened(visit, db)
    if upload.state != "done":
        raise errors.Conflict("The rows are not checked yet.")
    await uploads.update_upload(db, upload=upload, **FROM_START, confirmed=True)
    return html.redirect(f"{IMPORTS}/{upload.response_import_id}")


@routes.post(f"{ONE}/resume", scope=CREATE)
async def resume(visit: Visit, db: Database) -> Response:
    job = await imports.get(db, caller=visit.caller, **visit.ids)
    if (upload := await uploads.get_upload(db, **job.key)) and upload.state == "failed":
        await uploads.update_upload(db, upload=upload, state="queued", error=None)
    return html.redirect(f"{IMPORTS}/{job.response_import_id}")


def _stored(visit: Visit, work: Work, row: Checked) -> dict[str, Any]:
    given, locale, words = row.content.answers, row.content.locale, visit.words
    asked = [(one, given[one.question_id]) for one in work.version.definition.questions() if one.question_id in given]
    texts = [(one.plain_title, text_of(one, each.value, each.other_text, locale, words)) for one, each in asked]
    state = words("complete") if row.content.completed else words("partial")
    facts = [row.external_id, state, words.language_name(locale), *filter(None, row.person.metadata.values())]
    return {"when": words.moment(row.submitted, time_zone=visit.zone), "facts": facts, "answers": texts}


async def _show(visit: Visit, db: Database, step: int) -> Response:
    """The check, the confirmation or the result of an import; of a file that is at another step that one."""
    job = await imports.get(db, caller=visit.caller, **visit.ids)
    upload, here = await uploads.get_upload(db, **job.key), f"{IMPORTS}/{job.response_import_id}"
    may_go_on = CREATE in visit.caller.scopes
    place = RESULT if upload is None or upload.confirmed else COLUMNS if upload.state == "new" else CHECK
    place = place if may_go_on and job.state == "open" else RESULT
    if step != place and (step, place) != (CONFIRM, CHECK):
        return html.redirect(f"{here}{STEPS[place]}")
    preview, options = list[Any](), dict[str, list[str]]()
    if upload is not None and step == CHECK and upload.state == "done":
        upload, work, table = await _read(visit, db, job, upload)
        rows = await asyncio.to_thread(uploads.read_rows, work, upload, job.file_name or "", 0, table.rows)
        preview = [_stored(visit, work, row) for row in rows if isinstance(row, Checked)][:SHOWN]
        known = uploads.known_columns(work)
        options = {name: known.options(upload.meanings[name]) for name in upload.unknown}
    after = visit.query.get("after", "")
    faulty = await uploads.list_faulty_rows(db, **job.key, after=read_number(after) or 0, limit=ROWS + 1)
    response = visit.page(
        "response_import.html",
        title=job.title or job.file_name or visit.words("Import"),
        steps=steps_of(visit.words),
        step=step,
        here=here,
        job=job,
        upload=upload,
        preview=preview,
        options=options,
        zone=visit.zone,
        faulty=[(number, [said(visit.words, kind) for kind in kinds]) for number, kinds in faulty[:ROWS]],
        next_url=f"?after={faulty[ROWS - 1][0]}" if len(faulty) > ROWS else "",
        first_url="?" if after else "",
        responses_url=ResponseFilter(imported=job.response_import_id, period=PERIOD).url(),
    )
    if job.state == "removing" or (upload is not None and upload.state == "queued"):
        response.headers["Refresh"] = REFRESH_SECONDS
    return response


for _step, _scope in ((CHECK, CREATE), (CONFIRM, CREATE), (RESULT, READ)):
    routes.get(f"{ONE}{STEPS[_step]}", scope=_scope)(partial(_show, step=_step))


@routes.get(f"{ONE}/removal", scope=DELETE)
async def confirm_removal(visit: Visit) -> Response:
    words, job = visit.words, await visit.find(imports.get)
    count = job.rows_created - job.rows_removed
    removed = words.plural("{n} response is removed.", "{n} responses are removed.", count)
    kept = words("People stay, as do responses of people under a legal hold. The file can then be imported again.")
    title, button = words("Remove this import?"), words("Remove the import")
    return visit.confirm(title=title, sentences=[removed, kept], button=button)


@routes.post(f"{ONE}/removal", scope=DELETE)
async def remove(visit: Visit, db: Database) -> Response:
    job = await imports.remove(db, caller=visit.caller, **visit.ids, now=visit.now)
    return html.redirect(f"{IMPORTS}/{job.response_import_id}")
