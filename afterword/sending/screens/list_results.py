"""Lists in five steps: the check and its faulty rows, the confirmation, the result."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, Final

from msgspec.structs import replace
from starlette.responses import Response

from afterword import errors
from afterword.asking.questionnaires.condition_rows import of_columns, sentence_of
from afterword.console.screens import Screens, Visit
from afterword.core.messaging.addresses import CHANNEL_SMS
from afterword.core.text import registers
from afterword.core.wire import imports, tables
from afterword.core.wire.imports import REFERENCE, VALUE_CHARACTERS_MAX, Repair, pointer_of
from afterword.core.wire.tables import ADDRESS, PROBLEM, UTF8, Reading
from afterword.errors import Sentence
from afterword.kit.db import Database
from afterword.kit.ui.lists import address, read_number
from afterword.kit.web import headers, html
from afterword.sending.intake import lists
from afterword.sending.intake.imports import service as imports_service
from afterword.sending.intake.imports.service import ImportRecord, ImportRowRecord
from afterword.sending.intake.lists import AddressList, Problem
from afterword.sending.pipelines.store import Pipeline
from afterword.sending.screens import pipelines, queue_items
from afterword.sending.screens.address_lists import LISTS, ONE, ROWS, checked, pipeline_of, staged, steps_of
from afterword.sending.screens.queue_items import SendingFilter, said
from afterword.tenants import audit

VALUES: Final = 20  # that a page shows, the most frequent ones
OWN_OF_A_ROW: Final = (pointer_of(ADDRESS), pointer_of(REFERENCE))  # no two rows have the same
CELL: Final = re.compile(r"cell-(\d{1,6})-(\d{1,4})", re.ASCII)  # a field, by number of row and place of column

routes = Screens()


async def _rows_alike(visit: Visit, db: Database) -> tuple[AddressList, tuple[Problem, str, frozenset[int]]]:
    found = await lists.get(db, caller=visit.caller, list_id=visit.id("list_id"))
    return found, await lists.rows_of(db, caller=visit.caller, found=found, key=visit.query.get("kind", ""))


@routes.post(f"{ONE}/alike", scope="Queue.Create", again=(errors.Invalid, errors.TooLarge))
async def repair_alike(visit: Visit) -> Response:
    async with visit.read() as db:
        found, (problem, column, numbers) = await _rows_alike(visit, db)
    repair = _repair(visit, is_own=problem.kind.pointer in OWN_OF_A_ROW)
    mend = partial(imports.repaired_alike, column=column, numbers=numbers, repair=repair)
    content = await asyncio.to_thread(lists.mended, found, mend)
    await check_anew(visit, found, content)
    return html.redirect(f"{LISTS}/{found.list_id}/check?done=saved")


@routes.post(
    f"{ONE}/rows", scope="Queue.Create", again=(errors.Conflict, errors.Invalid, errors.TooLarge), at=f"{ONE}/check"
)
async def repair_rows(visit: Visit) -> Response:
    """Put the cells of a page of faulty rows in place of those in the file, and check it again."""
    found = await visit.find(lists.get)
    content = await asyncio.to_thread(lists.mended, found, partial(imports.repaired_cells, right=_cells(visit, found)))
    await check_anew(visit, found, content)
    return html.redirect(f"{LISTS}/{found.list_id}/check?done=saved")


def _cells(visit: Visit, of_list: AddressList) -> dict[int, dict[str, str]]:
    """The cells of a form by row and column. Raises Invalid for one that is too long, Conflict for an older check's."""
    if visit.form.text("check") != of_list.check_id or of_list.import_id is not None:
        raise errors.Conflict("The list was checked again meanwhile.")
    columns, found = sorted(of_list.mapping), dict[int, dict[str, str]]()
    for name in visit.form.values:
        if at := CELL.fullmatch(name):
            value = _value(visit, name)
            if int(at[2]) < len(columns):
                found.setdefault(int(at[1]), {})[columns[int(at[2])]] = value
    return found


def _value(visit: Visit, name: str) -> str:
    value = visit.form.text(name)
    if len(value) > VALUE_CHARACTERS_MAX:
        message = Sentence("A value has at most {n} characters here.", n=VALUE_CHARACTERS_MAX)
        raise errors.Invalid.at(f"/{name}", "too_long", message)
    return value


def _repair(visit: Visit, *, is_own: bool) -> Repair:
    """As it was typed; raises Invalid for what is too long or no country."""
    every, country = "" if is_own else _value(visit, "every"), visit.form.text("country")
    values = {visit.form.text(f"wrong{place}"): _value(visit, f"right{place}") for place in range(VALUES)}
    if country and country not in registers.countries():
        raise errors.Invalid.at("/country", "invalid_value", "Choose a country of the list.")
    return Repair({wrong: right for wrong, right in values.items() if right}, every, country)


def _fits(value: str) -> bool:
    """Whether a form gives it back as it is: line breaks change on the way."""
    return len(value) <= VALUE_CHARACTERS_MAX and value.isprintable()


@routes.get(f"{ONE}/alike", scope="Queue.Create")
async def _alike(visit: Visit, refusal: errors.Refusal | None = None) -> Response:
    words, form = visit.words, visit.form
    async with visit.read() as db:
        found, (problem, column, numbers) = await _rows_alike(visit, db)
        pipeline = await pipeline_of(visit, db, found)
    text = await asyncio.to_thread(lists.text_of, found, found.layout.reading)
    counts = await asyncio.to_thread(imports.wrong_values, text, found.separator, column=column, numbers=numbers)
    short = [pair for pair in counts.most_common() if _fits(pair[0])]
    is_phone = problem.kind.pointer == pointer_of(ADDRESS) and pipeline.channel_id == CHANNEL_SMS
    countries = sorted(((code, words.country_name(code)) for code in registers.countries()), key=lambda pair: pair[1])
    return visit.page(
        "list_alike.html",
        title=words.plural("Repair {n} row", "Repair {n} rows", len(numbers)),
        steps=steps_of(words),
        message=said(words, problem.kind),
        countries=[("", words("No change")), *countries] if is_phone else [],
        has_every=problem.kind.pointer not in OWN_OF_A_ROW,
        values=[(value, count, form.text(f"right{place}")) for place, (value, count) in enumerate(short[:VALUES])],
        value_max=VALUE_CHARACTERS_MAX,
        others=len(counts) - min(len(short), VALUES),
        chosen={"every": form.text("every"), "country": form.text("country")},
        action=f"{LISTS}/{found.list_id}/alike?kind={lists.key_of(problem)}",
        back=f"{LISTS}/{found.list_id}/check",
        refusal=refusal,
    )


REFRESH_SECONDS: Final = "2"


@routes.post(f"{ONE}/repair", scope="Queue.Create")
async def repair(visit: Visit) -> Response:
    """Before the import the corrected rows take the place of the faulty ones; after it they are a list of their own."""
    async with visit.read() as db:
        found = await lists.get(db, caller=visit.caller, list_id=visit.id("list_id"))
        problems = await lists.faulty_rows(db, caller=visit.caller, found=found)
    try:
        content = visit.form.file() or b""
        if found.import_id is not None:
            return await _stage_corrected(visit, found, content)
        content = await asyncio.to_thread(lists.repaired, found, content, problems.keys())
        await check_anew(visit, found, content)
    except (errors.Invalid, errors.Malformed, errors.TooLarge, errors.TooMany) as refusal:
        return await _check(visit, refusal)
    return html.redirect(f"{LISTS}/{found.list_id}/check?done=saved")


@routes.get(f"{ONE}/faulty", scope="Queue.Create")
async def download_faulty(visit: Visit) -> Response:
    async with visit.read() as db:
        found = await lists.get(db, caller=visit.caller, list_id=visit.id("list_id"))
        problems = await lists.faulty_rows(db, caller=visit.caller, found=found)
        await audit.record(
            db,
            caller=visit.caller,
            action="downloaded",
            thing_kind="queue_list",
            thing_id=found.list_id,
            now=visit.now,
            after={"rows": len(problems)},
        )
    reading = found.layout.reading
    text = await asyncio.to_thread(lists.text_of, found, reading)
    told = {row: " ".join(said(visit.words, kind) for kind in kinds) for row, kinds in problems.items()}
    content = await asyncio.to_thread(tables.faulty, text, reading, told)
    return Response(
        "\ufeff" + content,  # spreadsheets open it
        media_type="text/csv; charset=utf-8",
        headers=headers.saved_as("faulty-rows.csv"),
    )


@routes.get(f"{ONE}/confirm", scope="Queue.Create")
async def confirm_page(visit: Visit, db: Database) -> Response:
    words = visit.words
    found = await lists.get(db, caller=visit.caller, list_id=visit.id("list_id"))
    job = await _job(visit, db, found.check_id)
    pipeline = await pipeline_of(visit, db, found)
    here = f"{LISTS}/{found.list_id}"
    if found.import_id:
        return html.redirect(f"{here}/result")
    if job is None or job.state != "done":
        return html.redirect(f"{here}/check")
    count = job.rows_created + job.rows_updated  # as the result counts them: the rules decide again when each is due
    return visit.page(
        "list_confirm.html",
        title=words.plural("Schedule {n} message", "Schedule {n} messages", count),
        steps=steps_of(words),
        job=job,
        reasons=_reasons(visit, job),
        only=_only(visit, found),
        pipeline=pipeline.title,
        pipeline_url=pipelines.url_of(pipeline),
        is_off=pipeline.paused,
        first=visit.moment(job.first_time and max(job.first_time, visit.now)),
        count=count,
        action=f"{here}/confirm",
        back=f"{here}/check",
    )


@routes.post(f"{ONE}/confirm", scope="Queue.Create")
async def confirm(visit: Visit) -> Response:
    found = await visit.find(lists.get)
    text = await asyncio.to_thread(lists.text_of, found, found.layout.reading)
    cut = await asyncio.to_thread(lists.cut, text, found.layout)
    async with visit.write() as db:
        await lists.confirm(db, caller=visit.caller, found=found, cut=cut, secret=visit.site.secret, now=visit.now)
    return html.redirect(f"{LISTS}/{found.list_id}/result")


@routes.get(f"{ONE}/result", scope="Queue.Read")
async def result_page(visit: Visit, db: Database) -> Response:
    found = await lists.get(db, caller=visit.caller, list_id=visit.id("list_id"))
    job = await _job(visit, db, found.import_id)
    pipeline = await pipeline_of(visit, db, found)
    if job is None:
        return html.redirect(f"{LISTS}/{found.list_id}/check")
    told = await _failed(visit, db, job, f"{LISTS}/{found.list_id}/result")
    more = {"messages_url": SendingFilter(pipeline=pipeline.pipeline_id, tab="waiting").url()}
    if job.rows_created and visit.may_open(queue_items.NEW_ACT):
        more["act_url"] = address(queue_items.NEW_ACT, **{"import": job.import_id})
    return _progress(visit, found, job, pipeline, step=5, **told, **more)


@routes.post(f"{ONE}/resume", scope="Queue.Create")
async def resume(visit: Visit, db: Database) -> Response:
    found = await lists.get(db, caller=visit.caller, list_id=visit.id("list_id"))
    job = await _job(visit, db, found.import_id or found.check_id)
    if job is not None:
        await imports_service.resume(db, job=job, now=visit.now)
    return html.redirect(f"{LISTS}/{found.list_id}/{'result' if found.import_id else 'check'}")


@routes.get(f"{ONE}/stop", scope="Queue.Delete")
async def confirm_stop(visit: Visit, db: Database) -> Response:
    words = visit.words
    found = await lists.get(db, caller=visit.caller, list_id=visit.id("list_id"))
    job = await _job(visit, db, found.import_id)
    here = f"{LISTS}/{found.list_id}"
    if job is not None and not job.has_ended:
        rest = job.rows_total - job.rows_done
        return visit.confirm(
            title=words("Stop the import?"),
            sentences=[
                words.plural(
                    "{n} row is not read yet and is left out.", "{n} rows are not read yet and are left out.", rest
                ),
                words("Messages already scheduled stay."),
            ],
            button=words("Stop the import"),
            back=f"{here}/result",
        )
    return visit.confirm(
        title=words("Delete this list?"),
        sentences=[
            words("The file and the results of its check are deleted. Messages already scheduled stay."),
        ],
        button=words("Delete the list"),
        back=f"{here}/{'result' if found.import_id else 'check'}",
    )


@routes.post(f"{ONE}/stop", scope="Queue.Delete")
async def stop(visit: Visit, db: Database) -> Response:
    found = await lists.get(db, caller=visit.caller, list_id=visit.id("list_id"))
    job = await _job(visit, db, found.import_id)
    if job is not None and not job.has_ended:
        await imports_service.delete(db, job=job, now=visit.now)
        return html.redirect(f"{LISTS}/{found.list_id}/result")
    await lists.delete(db, caller=visit.caller, found=found, now=visit.now)
    return html.redirect(f"{LISTS}?done=removed")


async def check_anew(visit: Visit, found: AddressList, content: bytes) -> None:
    """Check a repaired file, which is in UTF-8 and has a header, in place of the one before."""
    layout = replace(found.layout, reading=Reading(UTF8, found.separator, has_header=True))
    packed = await asyncio.to_thread(lists.packed, content)
    given = {"on_conflict": found.on_conflict, "guessed": found.mapping, "content": packed}
    await checked(visit, found, content.decode(), layout=layout, **given)


async def _stage_corrected(visit: Visit, found: AddressList, content: bytes) -> Response:
    read = await asyncio.to_thread(lists.read_file, content)
    read = read._replace(reading=replace(read.reading, rows_below=0))
    path = {"questionnaire_id": found.questionnaire_id, "pipeline_id": found.pipeline_id}
    return await staged(visit, read, {**found.mapping, PROBLEM: ""}, **path)


async def _job(visit: Visit, db: Database, import_id: str | None) -> ImportRecord | None:
    return await imports_service.get(db, caller=visit.caller, import_id=import_id) if import_id else None


async def _failed(visit: Visit, db: Database, job: ImportRecord, here: str) -> dict[str, Any]:
    """A page of the rows that failed, the address of the next one, and the problems, the most frequent first."""
    if not job.rows_failed:
        return {"failed": [], "next_url": "", "kinds": []}
    after, key = visit.query.get("after", ""), {"organization_id": job.organization_id, "import_id": job.import_id}
    rows = await imports_service.list_failed_rows(db, **key, after=read_number(after) or 0, limit=ROWS + 1)
    next_url = f"{here}?after={rows[ROWS - 1].row}#faulty" if len(rows) > ROWS else ""
    return {"failed": rows[:ROWS], "next_url": next_url, "kinds": await lists.list_problems(db, **key)}


@routes.get(f"{ONE}/check", scope="Queue.Read")
async def _check(visit: Visit, refusal: errors.Refusal | None = None) -> Response:
    async with visit.read() as db:
        found = await lists.get(db, caller=visit.caller, list_id=visit.id("list_id"))
        job = await _job(visit, db, found.check_id)
        pipeline = await pipeline_of(visit, db, found)
        told = await _failed(visit, db, job, f"{LISTS}/{found.list_id}/check") if job else {}
    here = f"{LISTS}/{found.list_id}"
    if found.import_id and refusal is None:
        return html.redirect(f"{here}/result")
    if job is None:
        return html.redirect(f"{here}/columns" if "Queue.Create" in visit.caller.scopes else LISTS)
    cells: Mapping[int, Mapping[str, str]] = {}
    if told["failed"] and job.has_ended and found.content is not None and "Queue.Create" in visit.caller.scopes:
        text = await asyncio.to_thread(lists.text_of, found, found.layout.reading)
        cells = await asyncio.to_thread(imports.cells_of, text, found.separator, {one.row for one in told["failed"]})
    return _progress(visit, found, job, pipeline, step=3, **told, cells=cells, refusal=refusal)


def _fields(
    visit: Visit, found: AddressList, row: ImportRowRecord, cells: Mapping[str, str]
) -> list[tuple[str, str, str]]:
    """Name, column and value of the fields for what is wrong in a row: as it stands, or as it was sent."""
    places = {column: place for place, column in enumerate(sorted(found.mapping))}
    columns = dict.fromkeys(lists.column_of(found, Problem(kind, 1)) for kind in row.kinds)
    named = [
        (f"cell-{row.row}-{places[one]}", one) for one in columns if one is not None and _fits(cells.get(one, "\n"))
    ]
    return [(name, column, visit.form.text(name) or cells[column].strip()) for name, column in named]


def _progress(
    visit: Visit,
    found: AddressList,
    job: ImportRecord,
    pipeline: Pipeline,
    *,
    step: int,
    failed: Sequence[ImportRowRecord],
    next_url: str,
    kinds: Sequence[Problem],
    cells: Mapping[int, Mapping[str, str]] = MappingProxyType({}),
    refusal: errors.Refusal | None = None,
    **more: Any,
) -> Response:
    """The page of a check or of an import: how far it is, its counts, its faulty rows."""
    words, here = visit.words, f"{LISTS}/{found.list_id}"
    may_repair = "Queue.Create" in visit.caller.scopes and job.has_ended and bool(job.rows_failed)
    is_alike = may_repair and job.dry_run and found.content is not None
    response = visit.page(
        "list_result.html",
        title=words("Check") if job.dry_run else words("Result"),
        steps=steps_of(words),
        step=step,
        job=job,
        file_name=found.file_name or words("Pasted rows"),
        pipeline=pipeline.title,
        reasons=_reasons(visit, job),
        only=_only(visit, found),
        failed=[
            {
                "line": one.line or one.row,
                "wrong": [said(words, kind) for kind in one.kinds],
                "cells": _fields(visit, found, one, cells.get(one.row, {})),
            }
            for one in failed
        ],
        rows_url=f"{here}/rows" if cells else "",
        check_id=found.check_id,
        value_max=VALUE_CHARACTERS_MAX,
        kinds=[
            (
                said(words, one.kind),
                one.count,
                address(f"{here}/alike", kind=lists.key_of(one)) if is_alike and lists.column_of(found, one) else "",
            )
            for one in kinds
        ],
        found=found,
        next_url=next_url,
        first_url=f"{here}/{'check' if job.dry_run else 'result'}" if "after" in visit.query else "",
        may_repair=may_repair,
        is_kept=found.content is not None,
        here=here,
        refusal=refusal,
        **more,
    )
    if not job.has_ended:
        response.headers["Refresh"] = REFRESH_SECONDS
    return response


def _only(visit: Visit, found: AddressList) -> str:
    """The condition of the rows that are sent, as a sentence; empty without one."""
    return sentence_of(visit.words, found.conditions, of_columns(found.mapping)) if found.conditions else ""


def _reasons(visit: Visit, job: ImportRecord) -> list[tuple[int, str]]:
    """The rows that a rule would not send, by its reason, the most frequent first."""
    ordered = sorted(job.reasons.items(), key=lambda pair: -pair[1])
    return [(count, queue_items.reason_text(visit.words, reason)) for reason, count in ordered]
