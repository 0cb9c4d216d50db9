"""A questionnaire of another system: its file is uploaded, becomes a draft, and a page tells what became of it."""

import asyncio
from collections.abc import Mapping
from typing import Any, Final

from starlette.responses import Response

from afterword import errors
from afterword.asking.questionnaires import access, imports
from afterword.asking.screens.questionnaires import ONE, PATH
from afterword.console.screens import Screens, Visit
from afterword.core import foreign
from afterword.core.foreign.parts import Line
from afterword.kit.texts import Marked
from afterword.kit.ui.lists import Column, Listing, Tab, address, read_number
from afterword.kit.web import html
from afterword.tenants.organizations import checks

REPORT: Final = f"{ONE}/import"
ROWS: Final = 200
ENDINGS: Final = ",".join(ending for one in foreign.FORMATS for ending in one.endings)
OUTCOMES: Final[Mapping[str, Marked]] = {"taken": "taken", "changed": "taken differently", "left_out": "left out"}
SHOWS: Final[Mapping[str, Marked]] = {
    "": "All", "left_out": "Left out", "changed": "Taken differently", "taken": "Taken",
}  # fmt: skip
KINDS: Final[Mapping[str, Marked]] = {
    "question": "Question", "condition": "Condition", "ending": "Ending", "text": "Text", "setting": "Setting",
}  # fmt: skip

routes = Screens()


async def import_file(visit: Visit) -> Response | None:
    """Makes an uploaded file of another system a draft, and leads to its report; None for any other file."""
    form, caller, content = visit.form, visit.caller, visit.form.file() or b""
    name = form.text("display_name") or (form.file_names.get("file") or "").rpartition(".")[0]
    try:
        if await asyncio.to_thread(foreign.format_of, content) is None:
            return None
        file = await asyncio.to_thread(imports.read, content, name=name)
    except (errors.TooLarge, errors.Malformed, errors.Invalid) as refusal:
        said = refusal.errors[0].message if refusal.errors else refusal.detail
        raise errors.Invalid.at("/file", "wrong", said) from refusal
    async with visit.write() as db:
        application_id = form.text("application_id")
        errors.check(await checks.reach_errors(db, caller=caller, application_id=application_id))
        key = {"organization_id": caller.organization_id, "application_id": application_id}
        made, _ = await imports.create(db, **key, file=file, now=visit.now, actor=caller)
    return html.redirect(f"{PATH}/{made.questionnaire_id}/import")


@routes.get(REPORT, scope="Questionnaire.Read")
async def report(visit: Visit) -> Response:
    words, show = visit.words, visit.query.get("show", "")
    async with visit.read() as db:
        one = await access.get(db, caller=visit.caller, questionnaire_id=visit.id("questionnaire_id"))
        name = errors.found(await imports.get_format(db, **one.key), "This questionnaire was begun here.")
        lines = await imports.get_lines(db, **one.key)
    path = f"{PATH}/{one.questionnaire_id}"
    chosen = [line for line in lines if show not in OUTCOMES or line.outcome == show]
    begin = read_number(visit.query.get("begin", "")) or 0
    found, behind = foreign.Summary.of(lines), begin + ROWS
    may_edit = "Questionnaire.Update" in visit.caller.scopes and one.archived_time is None
    return visit.page(
        "questionnaire_import.html",
        title=words("Import report, {name}", name=name),
        name=one.display_name,
        path=path,
        found=found,
        edit=[(words("Edit the questions"), f"{path}/edit")] if may_edit else [],
        list=Listing(
            rows=[_row(visit, line, path if may_edit else "") for line in chosen[begin:behind]],
            columns=[Column(text=words("In the file")), Column(text=words("Result")), Column(text=words("Why"))],
            tabs=[
                Tab(
                    url=address(f"{path}/import", show=key),
                    text=words(text),
                    count=sum(not key or line.outcome == key for line in lines),
                    is_current=key == show or (not key and show not in OUTCOMES),
                )
                for key, text in SHOWS.items()
            ],
            empty=words("There is nothing of this kind."),
            next_url=address(f"{path}/import", show=show, begin=behind) if chosen[behind:] else "",
            first_url=address(f"{path}/import", show=show) if begin else "",
        ),
    )


def _row(visit: Visit, line: Line, path: str) -> dict[str, Any]:
    """`path`: of the questionnaire, empty where the reader may not edit it."""
    place = "endings/" if line.kind == "ending" else ""
    return {
        "kind": visit.words(KINDS[line.kind]),
        "place": line.place,
        "title": line.title,
        "url": f"{path}/edit/{place}{line.key}" if path and line.key and line.outcome != "left_out" else "",
        "outcome": line.outcome,
        "result": visit.words(OUTCOMES[line.outcome]),
        "why": [visit.words.said(one) for one in line.sentences],
    }
