"""Questionnaires: new ones and copies, their settings with the layout of their pages, and the archive.

The file of another system becomes a draft, and a page tells what became of it.
"""

import asyncio
from collections.abc import Mapping
from typing import Any, Final

import msgspec
from starlette.responses import Response

from afterword import errors
from afterword.asking.questionnaires import (
    access,
    api,
    drafts,
    exports,
    imports,
    library,
    service as questionnaires_service,
    visuals as themes,
)
from afterword.asking.questionnaires.visuals import Layers
from afterword.asking.screens import question_form, questionnaires
from afterword.asking.screens.questionnaires import NEW, ONE, PATH, length_text
from afterword.console.inputs import require_same, same_version, theirs_of
from afterword.console.removals import removal
from afterword.console.screens import Screens, Visit, download
from afterword.core import charts, foreign
from afterword.core.foreign.parts import BYTES_MAX, Line
from afterword.core.questionnaires import editing, visuals
from afterword.core.questionnaires.visuals import Layout, Theme
from afterword.kit.db import Database
from afterword.kit.texts import LANGUAGES, SOURCE_LANGUAGE, Marked, Texts
from afterword.kit.ui.lists import Column, Listing, Tab, address, read_number
from afterword.kit.ui.text import NOTHING
from afterword.kit.web import html
from afterword.tenants.organizations import checks
from afterword.tenants.screens import members as settings

UNUSED_SHOWN_MAX: Final = 20
LENGTHS: Final[Mapping[str, int]] = {"display_name": 200, "title": 500, "description": 2_000}
NUMBERS: Final[Mapping[str, tuple[int, int]]] = {
    "valid_days": (0, 3_650),
    "responses_max": (1, 10_000_000),
    "non_collapsed_questions_count": (0, 200),
}
WITHOUT_END: Final = ("valid_days", "non_collapsed_questions_count")  # an empty number means 0
TICKS: Final = ("active", "editable", "public_link", "desktop_collapsed", "credits_accountable")
LABELS: Final[Mapping[str, Marked]] = {
    "display_name": "Name", "title": "Title", "description": "Description",
    "valid_days": "Days until a link expires", "responses_max": "Close after this many responses",
    "key_question_id": "The question that lists of responses show",
    "non_collapsed_questions_count": "Questions shown first in a box", "active": "Open for sending and answering",
    "editable": "Customers can change their answers after sending them",
    "public_link": "Anyone with the public link can answer",
    "desktop_collapsed": "On wide screens, show the box as a button first",
    "credits_accountable": "Answers use credits of the plan",
}  # fmt: skip

REPORT: Final = f"{ONE}/import"
LINES: Final = 200  # of the report of an import, on one page
ENDINGS: Final = ",".join(ending for one in foreign.FORMATS for ending in one.endings)
OUTCOMES: Final[Mapping[str, Marked]] = {"taken": "taken", "changed": "taken differently", "left_out": "left out"}
SHOWS: Final[Mapping[str, Marked]] = {
    "": "All", "left_out": "Left out", "changed": "Taken differently", "taken": "Taken",
}  # fmt: skip
KINDS: Final[Mapping[str, Marked]] = {
    "question": "Question", "condition": "Condition", "ending": "Ending", "text": "Text", "setting": "Setting",
}  # fmt: skip

routes = Screens()


@routes.post(NEW, scope="Questionnaire.Create", again=(errors.Invalid,))
async def create(visit: Visit) -> Response:
    form, file = visit.form, None
    is_chosen = form.text("template") or form.text("library_name")
    if not is_chosen and (imported := await import_file(visit)) is not None:
        return imported
    errors.check(_length_errors(visit))
    made = await visit.change(
        questionnaires_service.create,
        caller=visit.caller,
        settings=msgspec.structs.asdict(
            api.QuestionnaireRequest(
                owner_application_id=form.text("application_id"),
                display_name=form.text("display_name"),
                template_questionnaire_id=form.text("template") or None,
                library_name=form.text("library_name") or None,
                file=(file := _file_of(visit)),
                default_locale=_locale_of(visit) if not file and not form.text("template") else None,
            )
        ),
        now=visit.now,
    )
    is_empty = not (form.text("template") or form.text("library_name") or file)
    return html.redirect(f"{PATH}/{made.questionnaire_id}{'/edit' if is_empty else ''}?done=made")


def _locale_of(visit: Visit) -> str | None:
    """The chosen language; None for that of the organization. Raises Invalid."""
    locale = visit.form.text("default_locale")
    if locale and locale not in LANGUAGES:
        raise errors.Invalid.at("/default_locale", "unknown_value", visit.words("There is no such language."))
    return locale or None


def _file_of(visit: Visit) -> str | None:
    """The text of the uploaded file. Raises Invalid."""
    content = visit.form.file()
    if not content:
        return None
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise errors.Invalid.at("/file", "invalid_format", visit.words("This file is not a text in UTF-8.")) from error


@routes.get(NEW, scope="Questionnaire.Create")
async def _new(visit: Visit, db: Database, refusal: errors.Refusal | None = None) -> Response:
    words, given = visit.words, visit.form if refusal else None
    template = given.text("template") if given else visit.query.get("copy", "")
    applications = await settings.applications_of(visit, db)
    found = await access.offered(db, visit.caller.part, also=[template])
    copied = next((one for one in found if one.questionnaire_id == template), None)
    name = words("Copy of {name}").replace("{name}", copied.display_name) if copied else ""
    return visit.page(
        "questionnaire_new.html",
        title=words("New questionnaire"),
        refusal=refusal,
        applications=[(one.application_id, one.display_name) for one in applications],
        application_id=given.text("application_id") if given else copied.owner_application_id if copied else "",
        file_types=f".yaml,.yml,application/yaml,{ENDINGS}",
        systems=f"Afterword (.yaml), {foreign.known()}",
        mb=BYTES_MAX // 1_000_000,
        is_brought="brought" in visit.query,
        templates=[("", NOTHING), *((one.questionnaire_id, one.display_name) for one in found)],
        copied=template,
        name=given.text("display_name") if given else name,
        languages=[("", words("your organization's")), *((one, words.language_name(one)) for one in LANGUAGES)],
        language=given.text("default_locale") if given else "",
        library=[_book(visit, one) for one in library.NAMES],
        book=given.text("library_name") if given else "",
    )


def _book(visit: Visit, name: str) -> dict[str, Any]:
    """A questionnaire of the library with the note why it is built so, in the reader's language where it is written."""
    entry, language = library.get(name), visit.words.language
    texts, given = entry.definition.texts(language), entry.settings
    note = entry.note.get(language) or entry.note[SOURCE_LANGUAGE]
    return {
        "name": name,
        "title": str(texts.title or given["title"] or given["display_name"]),
        "description": str(texts.description or given["description"] or ""),
        "note": note,
        "length": length_text(visit.words, entry.definition),
        "sketch": charts.sketch(entry.definition),
    }


@routes.get(f"{ONE}/file", scope="Questionnaire.Read")
async def download_file(visit: Visit) -> Response:
    name = next((one for one in exports.TARGETS if one == visit.query.get("format")), None)
    return download(await visit.load(exports.download, caller=visit.caller, **visit.ids, name=name))


@routes.get(f"{ONE}/files", scope="Questionnaire.Read")
async def list_files(visit: Visit) -> Response:
    """Our own file, and one for each other system with what it cannot hold."""
    found: list[dict[str, Any]] = []
    async with visit.read() as db:
        one = await access.get(db, caller=visit.caller, **visit.ids)
        for name, target in exports.TARGETS.items():
            made = await exports.written(db, caller=visit.caller, **visit.ids, name=name)
            lines = [(line.title, [visit.words.said(each) for each in line.sentences]) for line in made.lines]
            found.append({"name": name, "label": f"{target.label} (.{target.ending})", "lines": lines})
    title, path = visit.words("Download it as a file"), f"{PATH}/{one.questionnaire_id}"
    return visit.page("questionnaire_files.html", title=title, name=one.display_name, path=path, files=found)


@routes.post(f"{ONE}/settings", scope="Questionnaire.Update", again=(errors.Invalid, errors.Stale))
async def save_settings(visit: Visit, db: Database) -> Response:
    form, wrong = visit.form, _length_errors(visit)
    changes: dict[str, Any] = {name: form.text(name) == "1" for name in TICKS}
    changes |= {name: form.text(name) or None for name in ("title", "description", "key_question_id")}
    for name, (low, high) in NUMBERS.items():
        text = form.text(name)
        if text and not (text.isascii() and text.isdigit() and low <= int(text[:12]) <= high):
            said = visit.words("A number from {low} to {high}.", low=low, high=high)
            wrong.append(errors.FieldError("out_of_range", said, pointer=f"/{name}"))
        else:
            changes[name] = int(text) if text else 0 if name in WITHOUT_END else None
    errors.check(wrong)
    await questionnaires_service.change(
        db,
        caller=visit.caller,
        **visit.ids,
        settings={**changes, "display_name": form.text("display_name")},
        expect=same_version(visit),
        now=visit.now,
    )
    await save_layout(visit, db, **visit.ids)
    return html.redirect(f"{PATH}/{visit.id('questionnaire_id')}?done=saved")


@routes.get(f"{ONE}/settings", scope="Questionnaire.Update")
async def _settings(visit: Visit, db: Database, refusal: errors.Refusal | None = None) -> Response:
    words, form = visit.words, visit.form if refusal else None
    one = await access.get(db, caller=visit.caller, **visit.ids)
    layers = await themes.layers_of(db, caller=visit.caller, questionnaire_id=one.questionnaire_id)
    document = await drafts.begun(db, questionnaire=one)
    texts = {name: getattr(one, name) for name in (*LENGTHS, *NUMBERS, "key_question_id")}
    stored = {name: "" if value is None else str(value) for name, value in texts.items()}
    given = {name: form.text(name) for name in stored} if form else stored
    ticks = {name: getattr(one, name) for name in TICKS}
    ticked = {name: form.text(name) == "1" for name in TICKS} if form else ticks
    questions = _questions(words, document, one.key_question_id)
    look = layout_shown(visit, layers) if may_change(visit) else None
    if look and form:
        look |= {"layout": form.text("layout"), "show_progress": form.text("show_progress") == "1"}

    def shown_as(_: str, value: str | bool) -> str:  # noqa: FBT001  a tick
        if isinstance(value, bool):
            return words("yes") if value else words("no")
        return dict(questions).get(value, value)

    theirs = theirs_of(words, LABELS, {**stored, **ticks}, {**given, **ticked}, shown_as)
    return visit.page(
        "questionnaire_settings.html",
        title=words("Settings of “{name}”", name=one.display_name),
        refusal=refusal,
        path=f"{PATH}/{one.questionnaire_id}",
        version=one.version,
        value=given,
        ticked=ticked,
        label={name: words(text) for name, text in LABELS.items()},
        questions=questions,
        look=look,
        theirs=theirs if isinstance(refusal, errors.Stale) else [],
        has_visual=layers.visual_id is not None,
        unused=visuals.unused(layers.visual)[:UNUSED_SHOWN_MAX],
    )


def _questions(words: Texts, document: Mapping[str, Any], chosen: str | None) -> list[tuple[str, str]]:
    found = [
        (str(one.get("question_id")), questionnaires.title_of(words, one))
        for one in editing.all_questions(document)
        if questionnaires.is_answered(one)
    ]
    others = [] if not chosen or chosen in dict(found) else [(chosen, words("a deleted question"))]
    return [("", words("none")), *found, *others]


removal(
    routes,
    f"{ONE}/archive",
    scope="Questionnaire.Delete",
    title="Archive “{display_name}”?",
    sentences=[
        "Nothing more can be sent or answered: links already sent show that it is closed.",
        "It cannot be reopened. Its answers and versions stay, and it can be copied.",
    ],
    button="Archive",
    get=lambda visit: visit.find(access.get),
    remove=lambda visit, db: questionnaires_service.archive(db, caller=visit.caller, **visit.ids, now=visit.now),
    to=ONE,
    done="archived",
)


def _length_errors(visit: Visit) -> list[errors.FieldError]:
    found = [
        errors.FieldError("too_long", visit.words("At most {n} characters.", n=most), pointer=f"/{name}")
        for name, most in LENGTHS.items()
        if len(visit.form.text(name)) > most
    ]
    if not visit.form.text("display_name"):
        found.append(errors.FieldError("required", visit.words("Give it a name."), pointer="/display_name"))
    return found


LAYOUTS: Final[Mapping[Layout, Marked]] = {
    "by_group": "page by page, as in the outline",
    "by_question": "one question at a time",
    "one_page": "all on one page",
}
SCOPES: Final = frozenset({"Questionnaire Visual.Create", "Questionnaire Visual.Update"})


def may_change(visit: Visit) -> bool:
    return visit.caller.scopes >= SCOPES


def layout_shown(visit: Visit, layers: Layers) -> dict[str, Any]:
    theme, words = _theme_of(layers), visit.words
    return {
        "layout": theme.layout,
        "show_progress": theme.show_progress,
        "seen": _mark_of(layers),
        "layouts": [(name, words(text)) for name, text in LAYOUTS.items()],
    }


async def save_layout(visit: Visit, db: Database, *, questionnaire_id: str) -> None:
    """Of the fields of the form those that differ; a form without them changes nothing. Raises Stale, Invalid."""
    form = visit.form
    if not form.all("layout") or not may_change(visit):
        return
    layers = await themes.layers_of(db, caller=visit.caller, questionnaire_id=questionnaire_id)
    theme = _theme_of(layers)
    wanted: dict[str, object] = {"layout": form.text("layout"), "show_progress": form.text("show_progress") == "1"}
    changed = {name: value for name, value in wanted.items() if value != getattr(theme, name)}
    if not changed:
        return
    errors.check(visuals.read(changed)[1])  # a client may send what it likes, a form has choices
    require_same(visit, _mark_of(layers), "seen")
    key: dict[str, Any] = {"caller": visit.caller, "questionnaire_id": questionnaire_id, "now": visit.now}
    if layers.visual_id is None:
        columns = {"title": visit.words("Layout"), "active": True, "configuration": changed}
        await themes.create(db, **key, columns=columns)
    else:
        columns = {"configuration": {**(layers.visual or {}), **changed}}
        await themes.change(db, **key, visual_id=layers.visual_id, columns=columns)


def _theme_of(layers: Layers) -> Theme:
    return visuals.inherited(layers.organization, layers.application, layers.visual)


def _mark_of(layers: Layers) -> str:
    theme = _theme_of(layers)
    return question_form.mark_of([theme.layout, theme.show_progress])


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
    found, behind = foreign.Summary.of(lines), begin + LINES
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
