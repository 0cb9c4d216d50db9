"""The editor of a questionnaire: the outline, one question at a time, new ones, places, copies and removals.

Beside the form is the preview: the draft's answer page in a frame, and the person as whom it is seen.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlencode

from starlette.responses import Response

from afterword import errors, ids
from afterword.asking.instances import responders
from afterword.asking.questionnaires import access, drafts, translations
from afterword.asking.questionnaires.drafts import Change
from afterword.asking.screens import question_form, questionnaires
from afterword.asking.screens.question_form import Matching, inserts
from afterword.asking.screens.questionnaires import ONE, PATH, UNFINISHED, Work, length_text, work_of
from afterword.console.answers import note_person
from afterword.console.screens import UNDONE, Screens, Undo, Visit, own_address
from afterword.core.questionnaires import editing, questions
from afterword.core.questionnaires.editing import Document, Values
from afterword.core.questionnaires.metadata import name_of
from afterword.core.questionnaires.question_types import FOLDED, TYPES
from afterword.core.wire.lists import Page
from afterword.kit.db import Database
from afterword.kit.texts import Texts, texts
from afterword.kit.ui.lists import ROWS, SEARCH_CHARACTERS, Column, Listing, address
from afterword.kit.ui.text import LIGHT, LOOKS, PHONE, SHADES, near_moment
from afterword.kit.web import html, public, static
from afterword.listening.search import question_uses
from afterword.privacy import profiles
from afterword.sending import previews
from afterword.tenants.organizations import assets
from afterword.tenants.screens.pictures import PICTURES

EDIT: Final = f"{ONE}/edit"
ADD: Final = f"{EDIT}/add"
QUESTION: Final = f"{EDIT}/{{question_id}}"
PICTURES_OFFERED_MAX: Final = 100
GONE: Final = "gone"  # in place of the mark of a question that somebody removed

LOCALE_CHARACTERS_MAX: Final = 35

routes = Screens()


def preview_pane(visit: Visit, work: Work, *, current: str) -> dict[str, Any]:
    """The values of the frame; none where there is nothing to show yet. `current`: the id of the question or ending.

    The chosen ones stand in the address, so that they stay from question to question.
    """
    definition, words = work.definition, visit.words
    if not definition.questions():
        return {}
    ends = int(visit.now.timestamp()) + previews.PREVIEW_SECONDS
    questionnaire, kept = work.questionnaire, kept_of(visit)
    person = kept.get("as") if may_choose_person(visit) else None
    permission = previews.Permission(
        questionnaire.organization_id, questionnaire.questionnaire_id, responder_id=person, ends=ends
    )
    note_person(visit, person)
    asked = kept.get("language", "")
    language = asked if asked in definition.locales else definition.default_locale
    shade = kept.get("shade", LIGHT)
    shown = {"locale": language, "scheme": shade}
    shown |= {"edit": "1"} if language == definition.default_locale else {}
    shown |= {"question": current} if definition.question(current) else {}
    shown |= {"ending": current} if current in {one.ending_id for one in definition.endings} else {}
    return {
        "url": f"{previews.address_of(permission, site=visit.site)}?{urlencode(shown)}",
        "language": language,
        "look": kept.get("look", PHONE),
        "shade": shade,
        "languages": [(one, words.language_name(one)) for one in definition.locales],
        "looks": [(name, words(text)) for name, text in LOOKS.items()],
        "shades": [(name, words(text)) for name, text in SHADES.items()],
        "query": address("", kept),
        "person_url": f"{work.path}/edit/person" if may_choose_person(visit) else "",
        "person": person or "",
    }


def may_choose_person(visit: Visit) -> bool:
    """A caller of some applications sees people in parts only, and the page would show the whole."""
    return {"Responder.Read", "Responder Value.Read"} <= visit.caller.scopes and not visit.caller.is_limited


def kept_of(visit: Visit) -> dict[str, str]:
    """The choices of the address that are not the usual ones."""
    chosen = {"language": visit.query.get("language", "")[:LOCALE_CHARACTERS_MAX]}
    chosen |= {name: visit.query.get(name, "") for name in ("look", "shade")}
    chosen["as"] = person if ids.is_id(person := visit.query.get("as", "")) else ""
    return {
        name: text
        for name, text in chosen.items()
        if text and text not in {PHONE, LIGHT} and (name in {"language", "as"} or text in {*LOOKS, *SHADES})
    }


@routes.get(f"{EDIT}/person", scope="Questionnaire.Update")
async def choose_person(visit: Visit, db: Database) -> Response:
    words, search = visit.words, visit.query.get("q", "").strip()
    visit.caller.require("Responder.Read")
    visit.caller.require("Responder Value.Read")
    is_searched = len(search) in SEARCH_CHARACTERS
    await access.get(db, caller=visit.caller, **visit.ids)
    page = Page.first(responders.RESPONDERS, limit=ROWS)
    found = await responders.find(db, caller=visit.caller, search=search if is_searched else None, page=page)
    views = await responders.views_of(db, caller=visit.caller, responders=found.items, now=visit.now)
    if is_searched:
        await profiles.note(db, caller=visit.caller, action="searched", now=visit.now)
    editor = address_of(visit)
    return visit.page(
        "preview_person.html",
        title=words("Preview as a person"),
        search=search,
        action=f"{editor}/person",
        back=editor,
        list=Listing(
            rows=[
                {
                    "url": address(editor, {"as": one.responder_id}),
                    "name": name_of(views[one.responder_id].values or {}) or words("Unknown person"),
                    "addresses": ", ".join(each.identifier for each in views[one.responder_id].identifiers),
                }
                for one in found.items
            ],
            columns=[Column(text=words("Name")), Column(text=words("Address"))],
            empty=words(
                "No one found. Enter an order key in full; for a name, the first letters of its words are enough."
            ),
        ),
    )


@routes.get(EDIT, scope="Questionnaire.Update")
async def outline_page(visit: Visit) -> Response:
    work = await visit.reading(work_of)
    return show(visit, work)


@routes.get(ADD, scope="Questionnaire.Update")
async def gallery_page(visit: Visit) -> Response:
    work = await visit.reading(work_of)
    return show(visit, work, title=visit.words("Add a question"), current="add")


@routes.post(ADD, scope="Questionnaire.Update")
async def add_question(visit: Visit) -> Response:
    form, new_id = visit.form, ids.ordered(visit.now)

    def change(document: Document) -> Document:
        if form.text("type") not in TYPES:
            raise errors.Invalid.at("/type", "unknown_value", visit.words("There is no such type of question."))
        before, after, say = document, form.text("after"), texts(public.DOMAIN, str(document.get("default_locale")))
        if form.text("what") == "page" or not editing.groups_of(document):
            after = ids.ordered(visit.now)
            document = editing.with_new_group(document, after)
        question = editing.standard(form.text("type"), new_id, say=say, new_id=lambda: ids.ordered(visit.now))
        return translations.with_standard(editing.placed(document, [question], after=after), before=before)

    await save(visit, change)
    return html.redirect(f"{address_of(visit)}/{new_id}#title")


@routes.post(f"{EDIT}/undo", scope="Questionnaire.Update")
async def undo_change(visit: Visit) -> Response:
    form = visit.form
    is_undone = await visit.change(
        drafts.undo, caller=visit.caller, **visit.ids, revision=form.text("revision"), now=visit.now
    )
    if not is_undone:
        raise errors.Conflict(visit.words("The draft has been changed since, so this can no longer be undone."))
    return visit.did(own_address(f"{address_of(visit)}{form.text('place')}"), UNDONE)


@routes.get(QUESTION, scope="Questionnaire.Update")
async def question_page(visit: Visit, db: Database) -> Response:
    work, pictures = await work_of(visit, db), await _pictures(visit, db)
    question = question_in(work, visit.id("question_id"))
    is_shown = "uncounted" not in visit.query  # else the answer to the script, which saves what is typed
    is_counted = question_form.is_counted(question) and is_shown
    counts = await question_form.matching_of(visit, db, work) if is_counted else None
    uses = await uses_of(visit, db, work, [question]) if is_shown else []
    # A question is judged once somebody has left it: by its button, for the script, or on the way to publishing it.
    is_judged = visit.query.get("done") == "saved" or not {"wrong", "uncounted"}.isdisjoint(visit.query)
    values = editing.values_of(question)
    return _question(visit, work, question, values, pictures=pictures, counts=counts, is_judged=is_judged, uses=uses)


@routes.post(QUESTION, scope="Questionnaire.Update")
async def save_question(visit: Visit) -> Response:
    """Wrong values are saved too, as problems of the draft; only a change of somebody else stops it."""
    question_id, seen = visit.id("question_id"), visit.form.text("seen")
    work = await visit.reading(work_of)
    known = known_of(work, question_id)
    typed = inserts(work, before=question_id).stored_fields(visit.form.values)
    typed |= {"type": [str(known["type"])]} if known else {}

    def typed_over(stored: Mapping[str, Any]) -> Document:
        return editing.question_from(stored, typed, known=known, new_id=lambda: ids.ordered(visit.now))

    def change(document: Document) -> Document:
        stored = editing.question_of(document, question_id)
        if stored is None and seen == GONE:
            stored = editing.blank(visit.form.text("type"), question_id)
            document = editing.placed(document, [stored], after="")
        elif stored is None or question_form.mark_of(editing.values_of(stored)) != seen:
            raise errors.Stale(
                visit.words("Someone changed this in the meantime. Compare below; saving again replaces their changes.")
            )
        return translations.with_standard(editing.with_question(document, typed_over(stored)), before=document)

    uncounted = "1" if visit.form.text("autosave") else None
    try:
        here = address(f"/{question_id}", kept_of(visit), uncounted=uncounted)
        return await save(visit, change, "saved", here)
    except errors.Stale as stale:
        async with visit.read() as db:
            work, pictures = await work_of(visit, db), await _pictures(visit, db)
        stored = editing.question_of(work.draft.definition, question_id)
        mine = typed_over(stored or editing.blank(visit.form.text("type"), question_id))
        return _question(visit, work, mine, editing.values_of(mine), stale=stale, stored=stored, pictures=pictures)


@routes.post(f"{QUESTION}/copy", scope="Questionnaire.Update")
async def copy_question(visit: Visit) -> Response:
    question_id, copy_id = visit.id("question_id"), ids.ordered(visit.now)

    def change(document: Document) -> Document:
        stored = errors.found(editing.question_of(document, question_id), "There is no such question.")
        copy = {**editing.copied(stored, new_id=lambda: ids.ordered(visit.now)), "question_id": copy_id}
        return editing.placed(document, [copy], after=question_id)

    return await save(visit, change, "copied", f"/{copy_id}", place=f"/{question_id}")


Changed = Callable[..., Document]


def movable(
    routes: Screens, path: str, name: str, moved: Changed, without: Changed, *, own: str = "", is_listed: bool = False
) -> None:
    """Register the targets that move a part of the draft, and remove it, by its id, the parameter `name` of `path`.

    `own`: the beginning of its place below the editor; `is_listed`: all parts of its kind stand there.
    """

    async def move(visit: Visit) -> Response:
        one, to = visit.id(name), visit.form.text("to")
        here = own if is_listed else address(f"{own}/{one}", kept_of(visit))
        return await save(visit, lambda document: moved(document, one, to=to), "moved", here)

    async def remove(visit: Visit) -> Response:
        one, then = visit.id(name), own if is_listed else ""
        return await save(visit, lambda document: without(document, one), "removed", then, place=f"{own}/{one}")

    routes.post(f"{path}/move", scope="Questionnaire.Update")(move)
    routes.post(f"{path}/removal", scope="Questionnaire.Update")(remove)


movable(routes, QUESTION, "question_id", editing.moved, editing.without_question)


async def save(visit: Visit, change: Change, done: str = "saved", then: str = "", *, place: str = "") -> Response:
    """Saves the draft as `change` makes it, goes to `then` below the editor, and offers to undo it.

    `place`: where undoing it leads, if not to `then`. What a script saves while somebody types is undone by typing.
    Raises Stale, Invalid.
    """
    here, undo = address_of(visit), None
    draft = await visit.change(
        drafts.edit, caller=visit.caller, questionnaire_id=visit.id("questionnaire_id"), change=change, now=visit.now
    )
    if draft.updated_time == visit.now and not visit.form.text("autosave"):
        undo = Undo(f"{here}/undo", {"revision": str(draft.revision), "place": place or then})
    return visit.did(f"{here}{then}", done, undo)


def address_of(visit: Visit) -> str:
    return f"{PATH}/{visit.id('questionnaire_id')}/edit"


def question_in(work: Work, question_id: str) -> Document:
    return errors.found(editing.question_of(work.draft.definition, question_id), "There is no such question.")


def show(visit: Visit, work: Work, *, title: str = "", **values: Any) -> Response:
    """The outline, and beside it what `values` say is open: a question, a page, the texts around, an ending or all."""
    words, problems, current = visit.words, work.problems(visit), values.get("current", "")
    saved = near_moment(words, work.draft.updated_time, now=visit.now, zone=visit.zone)
    pane = preview_pane(visit, work, current=current)
    names = ("refusal", "question", "page", "texts", "ending", "endings", "anonymity")
    open_values: dict[str, Any] = {**dict.fromkeys(names), "current": "", **values}
    return visit.page(
        "builder.html",
        title=title or words("Questions of “{name}”", name=work.questionnaire.display_name),
        name=work.questionnaire.display_name,
        path=work.path,
        problems=work.problems(visit, without=UNFINISHED),
        groups=questionnaires.rows_of(
            words, work.draft.definition, path=f"{work.path}/edit", wrong=problems, query=pane.get("query", "")
        ),
        types=question_form.types(words),
        gallery=question_form.gallery(words),
        where=_where(visit, work.draft.definition),
        length=length_text(words, work.definition),
        preview=pane,
        script=static.url("console/edit.js"),
        saved=words("Saved {moment}", moment=saved) if work.draft.revision >= 0 else "",
        **open_values,
    )


def _where(visit: Visit, document: Document) -> dict[str, str]:
    """The place at which the gallery adds a question: the id before it, a new page, or neither for the end."""
    words, after = visit.words, visit.query.get("after", "")
    if visit.query.get("what") == "page":
        return {"after": "", "what": "page", "text": words("on a new page")}
    found = {"": words("at the end"), **dict(_places(visit, document, editing.places_of(document, "")))}
    return {"after": after if after in found else "", "what": "", "text": found.get(after, found[""])}


def known_of(work: Work, question_id: str) -> Document | None:
    """The question as it was published: its type, and the values of its choices, stay."""
    found = work.published.question(question_id) if work.published else None
    return questions.document_of(found) if found else None


def _question(
    visit: Visit,
    work: Work,
    question: Document,
    values: Values,
    *,
    stale: errors.Stale | None = None,
    stored: Document | None = None,
    pictures: Sequence[tuple[str, str]] = (),
    counts: Matching | None = None,
    is_judged: bool = True,
    uses: Sequence[str] = (),
) -> Response:
    words, question_id = visit.words, str(question["question_id"])
    path, definition = f"{work.path}/edit/{question_id}", work.draft.definition
    theirs = editing.values_of(stored) if stored else {}
    seen = question_form.mark_of(theirs if stale else values) if stored or not stale else GONE
    known, places = known_of(work, question_id), editing.places_of(definition, question_id)
    insert = inserts(work, before=question_id)
    return show(
        visit,
        work,
        title=questionnaires.title_of(words, question),
        current=question_id,
        refusal=stale,
        question={
            "path": path,
            "seen": seen,
            "type": str(question.get("type")),
            "is_fixed": known is not None,
            "fields": question_form.fields(
                words,
                question,
                insert.shown_values(values),
                pages=texts(public.DOMAIN, str(definition.get("default_locale"))),
            ),
            "inserts": insert.offered,
            "more": FOLDED,
            "pictures": question_form.pictures(words, question, values, pictures),
            "wrong": question_form.wrong_of(question_id, work.problems(visit)) if is_judged else None,
            "theirs": question_form.differences(words, theirs, values) if stale else [],
            "asked": counts.of_condition(question) if counts else "",
            "shown": question_form.shown_sentence(words, work, question),
            "has_condition": question.get("show_if") is not None,
            "jumps": [
                {**one, "count": counts.of_jump(question, number) if counts else ""}
                for number, one in enumerate(question_form.sentences(words, work, question, path=path))
            ],
            "is_last": len(question_form.targets(words, definition, question_id)) == 1,
            "uses": uses,
            "place": editing.place_of(definition, question_id),
            "places": _places(visit, definition, places),
        },
    )


async def _pictures(visit: Visit, db: Database) -> list[tuple[str, str]]:
    if "Asset.Read" not in visit.caller.scopes:
        return []
    page = Page.first(PICTURES, limit=PICTURES_OFFERED_MAX)
    found = await assets.list_asset_records(db, organization_id=visit.caller.organization_id, page=page)
    return [(one.path, one.title or visit.words("Picture without a name")) for one in found.items]


def _places(visit: Visit, definition: Document, places: list[str]) -> list[tuple[str, str]]:
    words, texts = visit.words, dict[str, str]()
    for number, group in enumerate(editing.groups_of(definition), 1):
        page = words("Page {n}", n=number)
        texts[str(group.get("group_id"))] = words("at the beginning of {page}", page=page)
        for one in editing.questions_of(group):
            texts[str(one.get("question_id"))] = words("after “{title}”", title=questionnaires.title_of(words, one))
    return [(one, texts.get(one, "")) for one in places]


async def uses_of(visit: Visit, db: Database, work: Work, questions: Sequence[Document]) -> list[str]:
    """Jumps, conditions and texts, the question that lists show, alerts, sequences and saved reports."""
    words, found = visit.words, list[str]()
    ids = {str(one.get("question_id")) for one in questions}
    for question in questions:
        found += _uses_of(visit, work, str(question.get("question_id")), ids)
    if work.questionnaire.key_question_id in ids:
        found.append(words("Lists of responses show this question."))
    elsewhere = await question_uses.elsewhere(db, caller=visit.caller, question_ids=sorted(ids))
    for kind, text in (
        ("alert", words("The alert {titles} uses it.")),
        ("sequence", words("The sequence {titles} uses it.")),
        ("report", words("The saved report {titles} uses it.")),
    ):
        found.append(_filled(words, text, [one.title for one in elsewhere if one.kind == kind]))
    return [one for one in found if one]


def _uses_of(visit: Visit, work: Work, question_id: str, removed: set[str]) -> list[str]:
    """In this questionnaire; those in what is removed too do not count."""
    words, document = visit.words, work.draft.definition
    (leading, asking), piping = editing.uses_of(document, question_id), editing.piping_of(document, question_id)
    asking_endings = [one for one in editing.endings_of(document) if editing.names(one.get("conditions"), question_id)]
    asked, shown = ([_ending(visit, work, one) for one in each] for each in (asking_endings, piping.endings))
    pages = [words("Page {n}", n=number) for number in piping.groups]
    return [
        _of(words("The jump of {titles} leads to it."), visit, leading, removed),
        _of(words("A condition of {titles} asks for its answer."), visit, asking, removed),
        _filled(words, words("The ending {titles} asks for its answer."), asked),
        _of(words("The text of {titles} shows its answer."), visit, piping.questions, removed),
        _filled(words, words("The text of {titles} shows its answer."), pages),
        _filled(words, words("The ending {titles} shows its answer."), shown),
        words("A text around the questions shows its answer.") if piping.is_around else "",
    ]


def _ending(visit: Visit, work: Work, ending: Document) -> str:
    number = 1 + [one.get("ending_id") for one in editing.endings_of(work.draft.definition)].index(ending["ending_id"])
    return questionnaires.ending_name(visit.words, ending, number)


def _of(text: str, visit: Visit, questions: Sequence[Document], removed: set[str]) -> str:
    staying = [one for one in questions if one.get("question_id") not in removed]
    return _filled(visit.words, text, [questionnaires.title_of(visit.words, one) for one in staying])


def _filled(words: Texts, text: str, titles: Sequence[str]) -> str:
    return text.replace("{titles}", ", ".join(words("“{title}”", title=one) for one in titles)) if titles else ""
