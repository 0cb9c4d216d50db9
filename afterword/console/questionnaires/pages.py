"""Pages of a questionnaire in its editor, the texts around its questions, and questions copied from others."""

from typing import Any, Final

from starlette.responses import Response

from afterword import errors, ids
from afterword.console.questionnaires import outline
from afterword.console.questionnaires import uses as builder_uses
from afterword.console.questionnaires.builder import EDIT, address_of, save, show
from afterword.console.questionnaires.inserts import Inserts, inserts
from afterword.console.questionnaires.questionnaires import LISTING, Work, work_of
from afterword.console.screens import Screens, Visit
from afterword.core.questionnaires import editing
from afterword.core.questionnaires.definition import PAGES
from afterword.core.questionnaires.editing import Document
from afterword.core.reading.documents import is_object
from afterword.core.wire.lists import Page
from afterword.db import Database
from afterword.instances.mixing import store as mixing
from afterword.instances.mixing.service import TOGETHER_MIN
from afterword.questionnaires import access, store
from afterword.questionnaires.drafts import editing as drafts
from afterword.questionnaires.store import Questionnaire
from afterword.web import html

PAGE: Final = f"{EDIT}/page/{{group_id}}"
TEXTS: Final = f"{EDIT}/texts"
OTHERS: Final = f"{EDIT}/others"
ANONYMITY: Final = f"{EDIT}/anonymity"
OTHERS_MAX: Final = 200
COPIED_MAX: Final = 50
AROUND: Final = {
    "welcome": "Before the questions",
    "thank_you": "After the last answer",
    "closed": "Where it is closed",
    "expired": "Where the link has ended",
}

routes = Screens()


@routes.get(TEXTS, scope="Questionnaire.Update")
async def texts_page(visit: Visit) -> Response:
    async with visit.read() as db:
        work = await work_of(visit, db)
    texts, insert = _texts_of(work.draft.definition), inserts(work)
    fields = [(name, visit.words(label), insert.shown(str(texts.get(name) or ""))) for name, label in AROUND.items()]
    title = visit.words("Texts around the questions")
    return show(visit, work, title=title, current="texts", texts=fields, inserts=insert.offered)


@routes.post(TEXTS, scope="Questionnaire.Update")
async def save_texts(visit: Visit) -> Response:
    async with visit.read() as db:
        insert = inserts(await work_of(visit, db))
    typed = {name: insert.stored(visit.form.text(name)) for name in PAGES if visit.form.text(name)}

    def change(document: Document) -> Document:
        locale, pages = str(document.get("default_locale")), document.get("pages")
        return {**document, "pages": {**(pages if is_object(pages) else {}), locale: typed}}

    await save(visit, change)
    return html.redirect(f"{address_of(visit)}/texts?done=saved")


@routes.get(ANONYMITY, scope="Questionnaire.Update")
async def anonymity_page(visit: Visit) -> Response:
    async with visit.read() as db:
        work = await work_of(visit, db)
        waiting = await mixing.count_waiting(db, **work.questionnaire.key)
    anonymity = {"is_on": work.draft.definition.get("anonymous") is True, "waiting": waiting, "together": TOGETHER_MIN}
    return show(visit, work, title=visit.words("Anonymity"), current="anonymity", anonymity=anonymity)


@routes.post(ANONYMITY, scope="Questionnaire.Update")
async def save_anonymity(visit: Visit) -> Response:
    is_on = visit.form.text("anonymous") == "1"
    await save(visit, lambda document: {**document, "anonymous": is_on})
    return html.redirect(f"{address_of(visit)}/anonymity?done=saved")


@routes.get(OTHERS, scope="Questionnaire.Update")
async def others_page(visit: Visit) -> Response:
    """The questions of another questionnaire, to tick."""
    words, chosen = visit.words, visit.query.get("from", "")[: ids.ID_CHARACTERS]
    async with visit.read() as db:
        one = await access.get(db, caller=visit.caller, questionnaire_id=visit.id("questionnaire_id"))
        found = await store.list_questionnaires(
            db,
            organization_id=visit.caller.organization_id,
            application_ids=visit.caller.application_ids,
            page=Page.first(LISTING, limit=OTHERS_MAX),
        )
        others = [each for each in found.items if each.questionnaire_id != one.questionnaire_id]
        source = next((each for each in others if each.questionnaire_id == chosen), None)
        definition = await _definition_of(db, source) if source else {}
    path = f"{address_of(visit)}"
    return visit.page(
        "builder_others.html",
        title=words("Copy questions of another questionnaire"),
        path=path,
        others=[(each.questionnaire_id, each.display_name) for each in others],
        chosen=source.questionnaire_id if source else "",
        after=visit.query.get("after", "")[: ids.ID_CHARACTERS],
        questions=[
            (str(each.get("question_id")), outline.title_of(words, each))
            for group in editing.groups_of(definition)
            for each in editing.questions_of(group)
        ],
    )


@routes.post(OTHERS, scope="Questionnaire.Update")
async def copy_others(visit: Visit) -> Response:
    """Copies behind the question that was open, in the order of the other questionnaire."""
    form = visit.form
    async with visit.read() as db:
        source = await access.get(db, caller=visit.caller, questionnaire_id=form.text("from"))
        definition = await _definition_of(db, source)
    copies = [
        editing.copied(each, new_id=lambda: ids.ordered(visit.now))
        for group in editing.groups_of(definition)
        for each in editing.questions_of(group)
        if each.get("question_id") in form.all("question")[:COPIED_MAX]
    ]

    def change(document: Document) -> Document:
        after = form.text("after")
        if not editing.groups_of(document):
            after = ids.ordered(visit.now)
            document = editing.with_new_group(document, after)
        return editing.placed(document, copies, after=after)

    if copies:
        await save(visit, change)
    return html.redirect(f"{address_of(visit)}?done=copied" if copies else f"{address_of(visit)}/others")


async def _definition_of(db: Database, questionnaire: Questionnaire) -> dict[str, Any]:
    return await drafts.begun(db, questionnaire=questionnaire)


@routes.get(PAGE, scope="Questionnaire.Update")
async def group_page(visit: Visit) -> Response:
    async with visit.read() as db:
        work = await work_of(visit, db)
    group, number = _group_in(visit, work.draft.definition)
    name = visit.words("Page {n}", n=visit.words.count(number))
    insert = _inserts_of(work, group)
    page = {
        "path": f"{work.path}/edit/page/{group['group_id']}",
        "title": insert.shown(str(group.get("title") or "")),
        "description": insert.shown(str(group.get("description") or "")),
        "inserts": insert.offered,
        "enabled": group.get("enabled") is not False,
        "is_first": number == 1,
        "is_last": number == len(editing.groups_of(work.draft.definition)),
    }
    return show(visit, work, title=name, current=str(group["group_id"]), page=page)


@routes.post(PAGE, scope="Questionnaire.Update")
async def save_group(visit: Visit) -> Response:
    form, group_id = visit.form, visit.id("group_id")
    async with visit.read() as db:
        work = await work_of(visit, db)
    insert = _inserts_of(work, _group_in(visit, work.draft.definition)[0])
    texts = {name: insert.stored(form.text(name)) or None for name in ("title", "description")}
    await save(
        visit,
        lambda document: editing.with_group(document, group_id, {**texts, "enabled": form.text("enabled") == "1"}),
    )
    return html.redirect(f"{address_of(visit)}/page/{group_id}?done=saved")


@routes.post(f"{PAGE}/move", scope="Questionnaire.Update")
async def move_group(visit: Visit) -> Response:
    group_id, to = visit.id("group_id"), visit.form.text("to")
    await save(visit, lambda document: editing.moved_group(document, group_id, to=to))
    return html.redirect(f"{address_of(visit)}/page/{group_id}?done=moved")


@routes.get(f"{PAGE}/removal", scope="Questionnaire.Update")
async def confirm_removal(visit: Visit) -> Response:
    words = visit.words
    async with visit.read() as db:
        work = await work_of(visit, db)
        group, number = _group_in(visit, work.draft.definition)
        questions = editing.questions_of(group)
        uses = await builder_uses.sentences(visit, db, work, questions) if questions else []
    back = f"{work.path}/edit/page/{group['group_id']}"
    return visit.confirm(
        title=words("Remove page {n}?", n=words.count(number)),
        sentences=[
            words.plural("Its {n} question goes with it.", "Its {n} questions go with it.", len(questions)),
            *uses,
        ],
        button=words("Remove the page"),
        action=f"{back}/removal",
        back=back,
    )


@routes.post(f"{PAGE}/removal", scope="Questionnaire.Update")
async def remove_group(visit: Visit) -> Response:
    group_id = visit.id("group_id")
    await save(visit, lambda document: editing.without_group(document, group_id))
    return html.redirect(f"{address_of(visit)}?done=removed")


def _group_in(visit: Visit, document: Document) -> tuple[Document, int]:
    for number, group in enumerate(editing.groups_of(document), 1):
        if group.get("group_id") == visit.id("group_id"):
            return group, number
    raise errors.NotFound("There is no such page.")


def _inserts_of(work: Work, group: Document) -> Inserts:
    first = next(iter(editing.questions_of(group)), {})
    return inserts(work, before=first.get("question_id"))


def _texts_of(document: Document) -> dict[str, Any]:
    pages = document.get("pages")
    found = pages.get(str(document.get("default_locale"))) if is_object(pages) else None
    return dict(found) if is_object(found) else {}
