"""Pages of a questionnaire in its editor, the texts around its questions, and questions copied from others."""

from collections.abc import Mapping
from typing import Any, Final

from starlette.responses import Response

from afterword import errors, ids
from afterword.asking.instances import anonymity as anonymity_store
from afterword.asking.instances.anonymity import TOGETHER_MIN
from afterword.asking.questionnaires import access, drafts
from afterword.asking.screens import question_form, questionnaires
from afterword.asking.screens.builder import EDIT, address_of, movable, save, show, uses_of
from afterword.asking.screens.metadata_names import KINDS, METADATA, TYPES
from afterword.asking.screens.question_form import TextVariables, inserts
from afterword.asking.screens.questionnaires import Work, work_of
from afterword.console.inputs import require_same, theirs_of
from afterword.console.screens import Database, Marked, Screens, Visit
from afterword.core.questionnaires import editing, variables
from afterword.core.questionnaires.definition import PAGES
from afterword.core.questionnaires.editing import Document
from afterword.core.questionnaires.metadata import Kind
from afterword.core.reading.documents import is_object
from afterword.kit.web import html

PAGE: Final = f"{EDIT}/page/{{group_id}}"
TEXTS: Final = f"{EDIT}/texts"
OTHERS: Final = f"{EDIT}/others"
ANONYMITY: Final = f"{EDIT}/anonymity"
AROUND: Final[dict[str, Marked]] = {
    "welcome": "Before the questions",
    "thank_you": "After the last answer",
    "closed": "When it is closed",
    "expired": "When the link has expired",
}
LABELS: Final[dict[str, Marked]] = {"title": "Title", "description": "Help text", "enabled": "Shown to customers"}

routes = Screens()


@routes.post(TEXTS, scope="Questionnaire.Update", again=(errors.Stale,))
async def save_texts(visit: Visit) -> Response:
    typed = _typed(visit, inserts(await visit.reading(work_of)))

    def change(document: Document) -> Document:
        require_same(visit, question_form.mark_of(_texts_of(document)), "seen")
        locale, pages = str(document.get("default_locale")), document.get("pages")
        return {**document, "pages": {**(pages if is_object(pages) else {}), locale: typed}}

    return await save(visit, change, then="/texts")


@routes.get(TEXTS, scope="Questionnaire.Update")
async def _texts(visit: Visit, db: Database, refusal: errors.Refusal | None = None) -> Response:
    work = await work_of(visit, db)
    words, insert, stored = visit.words, inserts(work), _texts_of(work.draft.definition)
    values = _typed(visit, insert) if refusal else stored
    around = _around(stored), _around(values)
    texts = {
        "fields": [(name, words(AROUND[name]), insert.shown(text)) for name, text in around[1].items()],
        "inserts": insert.offered,
        "seen": question_form.mark_of(stored),
        "theirs": theirs_of(words, AROUND, *around, lambda _, text: insert.shown(text)) if refusal else [],
    }
    title = words("Texts around the questions")
    return show(visit, work, title=title, current="texts", refusal=refusal, texts=texts)


@routes.post(ANONYMITY, scope="Questionnaire.Update", again=(errors.Stale,))
async def save_anonymity(visit: Visit) -> Response:
    is_on = visit.form.text("anonymous") == "1"

    def change(document: Document) -> Document:
        require_same(visit, question_form.mark_of(document.get("anonymous") is True), "seen")
        return {**document, "anonymous": is_on}

    return await save(visit, change, then="/anonymity")


@routes.get(ANONYMITY, scope="Questionnaire.Update")
async def _anonymity(visit: Visit, db: Database, refusal: errors.Refusal | None = None) -> Response:
    work = await work_of(visit, db)
    waiting = await anonymity_store.count_waiting(db, **work.questionnaire.key)
    stored = work.draft.definition.get("anonymous") is True
    anonymity = {
        "is_on": visit.form.text("anonymous") == "1" if refusal else stored,
        "waiting": waiting,
        "together": TOGETHER_MIN,
        "seen": question_form.mark_of(stored),
    }
    title = visit.words("Anonymity")
    return show(visit, work, title=title, current="anonymity", refusal=refusal, anonymity=anonymity)


@routes.get(OTHERS, scope="Questionnaire.Update")
async def others_page(visit: Visit, db: Database) -> Response:
    words, chosen = visit.words, visit.query.get("from", "")[: ids.ID_CHARACTERS]
    one = await access.get(db, caller=visit.caller, **visit.ids)
    found = await access.offered(db, visit.caller.part, also=[chosen])
    others = [each for each in found if each.questionnaire_id != one.questionnaire_id]
    source = next((each for each in others if each.questionnaire_id == chosen), None)
    definition = await drafts.begun(db, questionnaire=source) if source else {}
    return visit.page(
        "builder_others.html",
        title=words("Copy questions of another questionnaire"),
        path=address_of(visit),
        others=[(each.questionnaire_id, each.display_name) for each in others],
        chosen=source.questionnaire_id if source else "",
        after=visit.query.get("after", "")[: ids.ID_CHARACTERS],
        questions=[
            (str(each.get("question_id")), questionnaires.title_of(words, each))
            for each in editing.all_questions(definition)
        ],
    )


@routes.post(OTHERS, scope="Questionnaire.Update")
async def copy_others(visit: Visit) -> Response:
    """Copies behind the question that was open, in the order of the other questionnaire."""
    form, chosen = visit.form, visit.form.ids("question")
    async with visit.read() as db:
        source = await access.get(db, caller=visit.caller, questionnaire_id=form.text("from"))
        definition = await drafts.begun(db, questionnaire=source)
    copies = [
        editing.copied(each, new_id=lambda: ids.ordered(visit.now))
        for each in editing.all_questions(definition)
        if each.get("question_id") in chosen
    ]

    def change(document: Document) -> Document:
        after = form.text("after")
        if not editing.groups_of(document):
            after = ids.ordered(visit.now)
            document = editing.with_new_group(document, after)
        return editing.placed(document, copies, after=after)

    return await save(visit, change, "copied") if copies else html.redirect(f"{address_of(visit)}/others")


@routes.post(PAGE, scope="Questionnaire.Update", again=(errors.Stale,))
async def save_group(visit: Visit) -> Response:
    group_id, work = visit.id("group_id"), await visit.reading(work_of)
    values = _typed_group(visit, _inserts_of(work, _group_in(visit, work.draft.definition)[0]))

    def change(document: Document) -> Document:
        require_same(visit, _mark_of(_group_in(visit, document)[0]), "seen")
        return editing.with_group(document, group_id, values)

    return await save(visit, change, then=f"/page/{group_id}")


@routes.get(PAGE, scope="Questionnaire.Update")
async def _group(visit: Visit, db: Database, refusal: errors.Refusal | None = None) -> Response:
    words, work = visit.words, await work_of(visit, db)
    group, number = _group_in(visit, work.draft.definition)
    questions = editing.questions_of(group)
    insert, stored = _inserts_of(work, group), _values_of(group)
    values = _typed_group(visit, insert) if refusal else stored

    def shown_as(name: str, value: object) -> str:
        if name == "enabled":
            return words("yes") if value else words("no")
        return insert.shown(str(value or ""))

    page = {
        "path": f"{work.path}/edit/page/{group['group_id']}",
        "title": insert.shown(str(values["title"] or "")),
        "description": insert.shown(str(values["description"] or "")),
        "inserts": insert.offered,
        "enabled": values["enabled"],
        "seen": _mark_of(group),
        "theirs": theirs_of(words, LABELS, stored, values, shown_as) if refusal else [],
        "uses": await uses_of(visit, db, work, questions),
        "questions": len(questions),
        "is_first": number == 1,
        "is_last": number == len(editing.groups_of(work.draft.definition)),
    }
    title = words("Page {n}", n=number)
    return show(visit, work, title=title, current=str(group["group_id"]), refusal=refusal, page=page)


movable(routes, PAGE, "group_id", editing.moved_group, editing.without_group, own="/page")


def _group_in(visit: Visit, document: Document) -> tuple[Document, int]:
    for number, group in enumerate(editing.groups_of(document), 1):
        if group.get("group_id") == visit.id("group_id"):
            return group, number
    raise errors.NotFound("There is no such page.")


def _typed_group(visit: Visit, insert: TextVariables) -> Document:
    texts = {name: insert.stored(visit.form.text(name)) or None for name in ("title", "description")}
    return {**texts, "enabled": visit.form.text("enabled") == "1"}


def _values_of(group: Document) -> Document:
    texts = {name: group.get(name) or None for name in ("title", "description")}
    return {**texts, "enabled": group.get("enabled") is not False}


def _mark_of(group: Document) -> str:
    """Empty for a page without texts that is shown: as it began."""
    values = _values_of(group)
    return "" if values == _values_of({}) else question_form.mark_of(values)


def _inserts_of(work: Work, group: Document) -> TextVariables:
    first = next(iter(editing.questions_of(group)), {})
    return inserts(work, before=first.get("question_id"))


def _around(texts: Mapping[str, Any]) -> dict[str, str]:
    return {name: str(texts.get(name) or "") for name in AROUND}


def _typed(visit: Visit, insert: TextVariables) -> dict[str, Any]:
    return {name: insert.stored(visit.form.text(name)) for name in PAGES if visit.form.text(name)}


def _texts_of(document: Document) -> dict[str, Any]:
    pages = document.get("pages")
    found = pages.get(str(document.get("default_locale"))) if is_object(pages) else None
    return {name: text for name, text in found.items() if text} if is_object(found) else {}


OUTSIDE: Final = f"{EDIT}/values"


@routes.get(OUTSIDE, scope="Questionnaire.Update")
async def values_page(visit: Visit) -> Response:
    words = visit.words
    work = await visit.reading(work_of)
    uses = variables.metadata_of(work.definition)
    declared = [(kind, name) for kind, _ in KINDS for name in getattr(work.declared, kind)]
    rows = [_value_row(visit, work, kind, name, uses.pop(f"{kind}.{name}", [])) for kind, name in declared]
    undeclared = [_value_row(visit, work, *_split(name), places) for name, places in uses.items()]
    link = visit.public_pages.public_link_url(work.questionnaire.questionnaire_id)
    return visit.page(
        "outside.html",
        title=words("Values from your system"),
        path=f"{work.path}/edit",
        rows=[*undeclared, *sorted(rows, key=lambda row: not row["uses"])],
        link="" if not work.questionnaire.public_link else link,
        new=f"{METADATA}/new" if "Metadata.Create" in visit.caller.scopes else "",
    )


def _value_row(visit: Visit, work: Work, kind: Kind, name: str, places: list[str | None]) -> dict[str, object]:
    words, known = visit.words, work.declared.get(kind, name)
    found = [(one, editing.question_of(work.draft.definition, one)) for one in places if one]
    return {
        "name": name,
        "title": known.title_in(words) if known else "",
        "type": words(dict(TYPES)[known.type]) if known else "",
        "kind": words(dict(KINDS)[kind]),
        "parameter": name if work.declared.kind_of(name) == kind else f"responder[{name}]",
        "uses": [
            {"url": f"{work.path}/edit/{one}", "text": questionnaires.title_of(words, question or {})}
            for one, question in found
        ]
        + ([{"url": f"{work.path}/edit/texts", "text": words("Texts around the questions")}] if None in places else []),
        "is_declared": known is not None,
    }


def _split(variable: str) -> tuple[Kind, str]:
    kind, _, name = variable.partition(".")
    return ("responder" if kind == "responder" else "questionnaire"), name
