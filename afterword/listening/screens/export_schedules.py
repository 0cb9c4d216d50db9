"""Settings: exports on a timetable. Their form by destination, the page of one with its runs, its check and its key."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from starlette.responses import Response

from afterword import errors
from afterword.asking.questionnaires import access, store as questionnaires
from afterword.console.inputs import Input, Options, document_of, form_page, read_as, same_version
from afterword.console.nouns import inputs_of, screens_of
from afterword.console.screens import Database, Visit
from afterword.kit.nouns import service as nouns, structs
from afterword.kit.nouns.declaration import version_of
from afterword.kit.texts import Marked
from afterword.kit.transport import stores
from afterword.kit.ui.lists import Listing, page_links, page_of
from afterword.kit.ui.text import NOTHING
from afterword.kit.web import fields, html
from afterword.listening.exports import schedules
from afterword.listening.exports.formats import missing_extra
from afterword.listening.exports.schedules import SCHEDULE, ExportCheck, ExportSchedule, RunRecord

PATH: Final = "/console/settings/exports"
ONE: Final = f"{PATH}/{{schedule_id}}"
RUNS: Final = fields.listing_of(schedules.ExportRun)
STATES: Final[Mapping[str, Marked]] = {
    "queued": "Waiting", "running": "Under way", "done": "Done", "failed": "Failed", "cancelled": "Cancelled",
}  # fmt: skip
HEAD: Final = ("title", "questionnaire_id", "destination")
REST: Final = (
    "format", "every", "day", "hour", "include_incomplete", "include_metadata", "include_recipient", "active",
)  # fmt: skip

routes = screens_of(SCHEDULE, without=("new", "edit"))


@routes.post(f"{PATH}/new", scope="Questionnaire Export.Create", proof=True, again=(errors.Invalid, errors.Forbidden))
async def create(visit: Visit, db: Database) -> Response:
    document = document_of(visit.form, _inputs(visit.form.text("destination")))
    request = read_as(structs.creation_of(SCHEDULE), document, visit)
    made = await nouns.create(SCHEDULE, db, columns=request.named(), **visit.acting)
    return html.redirect(f"{PATH}/{made.record.schedule_id}?done=saved")


@routes.get(f"{PATH}/new", scope="Questionnaire Export.Create", proof=True)
async def _new(visit: Visit, refusal: errors.Refusal | None = None) -> Response:
    """The form for a destination, once one is chosen."""
    words, kinds = visit.words, _kinds(visit)
    kind = visit.form.text("destination") or visit.query.get("destination", "")
    if kind not in kinds:
        rest = {"state": "", "when": "", "more": ""}
        return visit.page(
            "things.html",
            title=words("New export on a timetable"),
            lead=words("Where do the files go?"),
            list=Listing(
                rows=[{"url": f"{PATH}/new?destination={one}", "title": text, **rest} for one, text in kinds.items()],
                empty="",
            ),
        )
    options: Options = {**await _options(visit), "destination": [(kind, kinds[kind])]}
    blank: dict[str, Any] = dict.fromkeys((*HEAD, *schedules.OF_KIND[kind]), "")
    blank |= {"destination": kind, "format": options["format"][0][0]}
    return form_page(
        visit,
        title=words("New export on a timetable"),
        back=(words("Exports on a timetable"), PATH),
        inputs=_inputs(kind),
        stored=structs.creation_of(SCHEDULE)(**blank),
        refusal=refusal,
        options=options,
    )


@routes.post(
    f"{ONE}/edit",
    scope="Questionnaire Export.Create",
    proof=True,
    again=(errors.Invalid, errors.Forbidden, errors.Stale),
)
async def update(visit: Visit) -> Response:
    """An empty secret keeps the one that is stored."""
    row = await visit.row(SCHEDULE)
    document = document_of(visit.form, _inputs(row.destination, later=True))
    if not document.get("secret"):
        document.pop("secret", None)
    changes = read_as(structs.update_of(SCHEDULE), document, visit).named()
    async with visit.write() as db:
        key, expect = row.schedule_id, same_version(visit)
        await nouns.update(SCHEDULE, db, key=key, changes=changes, expect=expect, **visit.acting)
    return html.redirect(f"{PATH}/{row.schedule_id}?done=saved")


@routes.get(f"{ONE}/edit", scope="Questionnaire Export.Create")
async def _edit(visit: Visit, refusal: errors.Refusal | None = None) -> Response:
    row = await visit.row(SCHEDULE)
    return form_page(
        visit,
        title=row.title,
        back=(row.title, f"{PATH}/{row.schedule_id}"),
        inputs=_inputs(row.destination, later=True),
        stored=row,
        version=version_of(row),
        refusal=refusal,
        options=await _options(visit, row.questionnaire_id),
    )


@routes.post(f"{ONE}/run", scope="Questionnaire Export.Create", again=(errors.Conflict,), at=ONE)
async def run(visit: Visit) -> Response:
    await visit.change(schedules.run_now, caller=visit.caller, now=visit.now, **visit.ids)
    return html.redirect(f"{PATH}/{visit.id('schedule_id')}?done=started")


@routes.post(f"{ONE}/check", scope="Questionnaire Export.Create", proof=True)
async def check(visit: Visit) -> Response:
    row = await visit.row(SCHEDULE)
    return await _page(visit, found=await schedules.check(row, site=visit.site, now=visit.now))


@routes.post(f"{ONE}/host-key", scope="Questionnaire Export.Create", proof=True)
async def confirm_host_key(visit: Visit) -> Response:
    row, changes = await visit.row(SCHEDULE), {"host_key": visit.form.text("host_key")}
    async with visit.write() as db:
        await nouns.update(SCHEDULE, db, key=row.schedule_id, changes=changes, **visit.acting)
    return html.redirect(f"{PATH}/{row.schedule_id}?done=host_key")


@routes.get(ONE, scope="Questionnaire Export.Read")
async def _page(visit: Visit, refusal: errors.Refusal | None = None, found: ExportCheck | None = None) -> Response:
    words, row = visit.words, await visit.row(SCHEDULE)
    of_it = {"organization_id": row.organization_id}
    async with visit.read() as db:
        page = page_of(RUNS, visit.query)
        runs = await schedules.list_run_records(db, **of_it, schedule_id=row.schedule_id, page=page)
        asked = await questionnaires.get_questionnaire(db, **of_it, questionnaire_id=row.questionnaire_id)
    here = f"{PATH}/{row.schedule_id}"
    return visit.page(
        "export_schedule.html",
        title=row.title,
        schedule=row,
        here=here,
        refusal=refusal,
        facts=_facts(visit, row, asked.display_name),
        problem=words(stores.PROBLEMS[row.problem]) if row.problem else "",
        found=found,
        found_problem=words(stores.PROBLEMS[found.problem]) if found is not None and found.problem else "",
        may_change="Questionnaire Export.Create" in visit.caller.scopes,
        list=Listing(
            rows=[_run(visit, one) for one in runs.items],
            empty=words("No run yet."),
            **page_links(runs, visit.query, here),
        ),
    )


def _run(visit: Visit, one: RunRecord) -> dict[str, Any]:
    words = visit.words
    counts = [
        words.plural("{n} day", "{n} days", one.days_written),
        words.plural("{n} file", "{n} files", one.file_count),
        words.plural("{n} response", "{n} responses", one.row_count),
    ]
    if one.state == "running" and one.day_count:
        counts[0] = words("{done} of {all} days", done=one.days_written, all=one.day_count)
    return {
        "state": words(STATES[one.state]),
        "is_wrong": one.state == "failed",
        "when": words.moment(one.started_time or one.created_time, time_zone=visit.zone),
        "counts": " · ".join(counts) if one.day_count else words("Nothing has changed.") if one.state == "done" else "",
        "error": words(stores.PROBLEMS[one.error]) if one.error else "",
        "reply": one.reply or "",
    }


def _facts(visit: Visit, row: ExportSchedule, questionnaire: str) -> Sequence[tuple[str, str]]:
    words, zone = visit.words, visit.zone
    times = (row.next_time, row.last_time)
    next_time, last_time = (words.moment(each, time_zone=zone) if each else NOTHING for each in times)
    found = [
        (words("Questionnaire"), questionnaire),
        (words("Destination"), schedules.address_of(row)),
        (words("Format"), dict(schedules.FORMATS)[row.format]),
        (words("How often"), words(dict(schedules.EVERY)[row.every])),
        (words("Next run"), next_time),
        (words("Last good run"), last_time),
    ]
    if row.host_key is not None:
        found.append((words("Key of the server"), stores.fingerprint_of(row.host_key)))
    return found


def _kinds(visit: Visit) -> dict[str, str]:
    """The destinations that this installation has."""
    has = {"folder": bool(visit.site.export_folder), "s3": True, "sftp": stores.has_sftp()}
    return {kind: visit.words(text) for kind, text in schedules.DESTINATIONS if has[kind]}


def _inputs(kind: str, *, later: bool = False) -> tuple[Input, ...]:
    names = (*HEAD, *schedules.OF_KIND.get(kind, ("path",)), *REST)
    return inputs_of(SCHEDULE, later=later, names=names)


async def _options(visit: Visit, questionnaire_id: str = "") -> Options:
    found = await visit.load(access.offered, visit.caller.part, also=[questionnaire_id])
    return {
        "questionnaire_id": [(one.questionnaire_id, one.display_name) for one in found],
        "format": [(name, text) for name, text in schedules.FORMATS if not missing_extra(name)],
    }
